//! The writer of graphs: whole archives, or single element types of one that is there.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use datafusion::arrow::array::{AsArray, Int64Array, ListArray, RecordBatch};
use datafusion::arrow::datatypes::{DataType, Schema};
use datafusion::error::Result as DataFusionResult;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryPool, UnboundedMemoryPool};
use futures::TryStreamExt;
use object_store::ObjectStore;
use object_store::path::Path;

use super::chunk_files::ChunkFiles;
use super::columns::bad_input;
use super::edge_sink::EdgeSink;
use super::keys::UniqueKeys;
use super::output::{Folders, Output, length};
use super::payload::EncodeOptions;
use super::reject_file::{RejectFile, finish_all, remove_all};
use super::rejects::{OnError, Skipped};
use super::row_filter::{EdgeColumns, VertexFilter};
use super::stored::{StoredEdges, StoredVertices};
use super::target::{Change, Lock, Target, local_path};
use super::vertex_sink::VertexSink;
use crate::error::{GraphArError, Result};
use crate::format::{
    AdjacentList, EdgeInfo, GraphInfo, InfoVersion, LABELS, PropertyGroup, VertexInfo, VertexPaths,
    join_prefix, validate_graph,
};
use crate::storage::{Location, Stores};

/// How a writer works.
#[derive(Debug, Clone)]
pub struct WriteOptions {
    /// How Parquet chunks are encoded.
    pub encode: EncodeOptions,
    /// Chunks that are encoded at the same time.
    pub parallel: usize,
    /// Where memory that grows with the rows is accounted for.
    pub pool: Arc<dyn MemoryPool>,
    /// What becomes of rows of streams that cannot be written.
    pub on_error: OnError,
}

impl Default for WriteOptions {
    /// As many chunks at a time as there are processors, and no limit of memory.
    fn default() -> Self {
        Self {
            encode: EncodeOptions::default(),
            parallel: std::thread::available_parallelism().map_or(1, usize::from),
            pool: Arc::new(UnboundedMemoryPool::default()),
            on_error: OnError::Fail,
        }
    }
}

/// What was written of an element type.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Written {
    /// Vertices or edges.
    pub rows: u64,
    /// Chunk files.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Rows that were left out; none unless [`OnError`] says so.
    pub skipped: Skipped,
}

/// Writes element types of a graph, from streams of rows or rows in memory.
///
/// Vertex types come before the edge triplets that join them, since edges are checked against
/// the numbers of vertices. Nothing is visible before [`commit`](Self::commit), which replaces the graph info
/// after everything else is there: a writer that is dropped, or whose process ends, leaves the graph as it was,
/// and files that readers do not look at. The next writer of the same type removes them.
///
/// Vertices need memory for one chunk, and for each chunk that is encoded beside it. Edges are collected,
/// since every layout has them in another order: their properties and 12 bytes an edge, where there are
/// fewer than 2^32 vertices, and 8 bytes a vertex. Both are charged to the pool of the options.
///
/// Infos are written with their prefixes spelled out, each ending in a slash, and with version
/// `gar/v1` if they name none, as other readers of the format need it.
pub struct GraphWriter {
    data: Arc<Output>,
    infos: Output,
    pub(super) options: WriteOptions,
    graph: String,
    /// The graph that is changed; `None` for an archive that is new as a whole.
    pub(super) target: Option<Target>,
    locks: Vec<Lock>,
    folders: Folders,
    vertices: Vec<Vertices>,
    edges: Vec<Edges>,
    change: Change,
    /// Files of rows that were left out, to be finished.
    pub(super) rejected: Vec<RejectFile>,
    /// Local files that go if there is no commit.
    staged: Vec<PathBuf>,
}

impl Drop for GraphWriter {
    fn drop(&mut self) {
        for path in self.staged.drain(..) {
            // What cannot be removed now the next writer removes.
            let _ = match path.is_dir() {
                true => fs::remove_dir_all(&path),
                false => fs::remove_file(&path),
            };
        }
    }
}

/// A vertex type that is written but for its info file.
struct Vertices {
    file: String,
    text: String,
    info: VertexInfo,
    rows: u64,
    has_labels: bool,
}

/// An edge triplet that is written but for its info file.
struct Edges {
    file: String,
    text: String,
    key: String,
}

impl GraphWriter {
    /// A writer of a new archive below `root`, whose files have the usual names: `vertex/<type>/` and
    /// `edge/<source>_<edge>_<destination>/`. Nothing is touched yet. Files of an older archive in
    /// the same place are overwritten one by one, so the folder should be empty.
    pub fn create(store: Arc<dyn ObjectStore>, root: Path, graph: &str) -> Self {
        Self {
            data: Arc::new(Output::new(Arc::clone(&store), root.clone())),
            infos: Output::new(store, root),
            options: WriteOptions::default(),
            graph: graph.to_owned(),
            target: None,
            locks: vec![],
            folders: Folders::default(),
            vertices: vec![],
            edges: vec![],
            change: Change::default(),
            rejected: vec![],
            staged: vec![],
        }
    }

    /// A writer that adds or replaces element types of the graph at `location`, the path or URL of a
    /// `.graph.yml`. It need not be there: then the graph is made. Element types that are not written stay.
    ///
    /// All files get fresh names, whatever prefix an info states. Where the store has conditional writes, or is the local file system, two writers
    /// of the same graph do not get in each other's way: the types of both are there in the end, and of
    /// two that write the same type one fails in [`commit`](Self::commit).
    ///
    /// # Errors
    /// If the location is not that of a graph info, or what is there cannot be read.
    pub async fn open(location: &str, stores: &Stores, options: WriteOptions) -> Result<Self> {
        Self::open_at(Location::parse(location, stores)?, stores, options).await
    }

    /// The same for a place that is known.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub async fn open_at(file: Location, stores: &Stores, options: WriteOptions) -> Result<Self> {
        let target = Target::open(file, stores).await?;
        let output = |place: &Location| -> Result<Output> {
            Ok(Output::new(Arc::clone(place.store()), place.object_path()?))
        };
        Ok(Self {
            data: Arc::new(output(&target.root)?),
            infos: output(&target.file.parent())?,
            options,
            graph: target.name().to_owned(),
            target: Some(target),
            locks: vec![],
            folders: Folders::default(),
            vertices: vec![],
            edges: vec![],
            change: Change::default(),
            rejected: vec![],
            staged: vec![],
        })
    }

    /// Writes a vertex type; row `r` becomes the vertex with internal id `r`.
    ///
    /// `rows` has a column of every property's name, in any order; other columns are left out.
    /// Their types are those of [`Property::arrow_type`](crate::format::Property::arrow_type),
    /// with strings in any layout. `labels` holds the names of each vertex's labels, which the
    /// info must declare; without it no label chunks are written and readers take membership
    /// for unknown. Whether keys are unique is not checked.
    ///
    /// # Errors
    /// If the type was written before, the info contradicts itself, the rows do not have the
    /// declared columns, types and nullability, a value does not fit into the file type
    /// (see [`encode`](super::payload::encode)), or the store fails.
    pub async fn write_vertices(
        &mut self,
        info: VertexInfo,
        rows: &RecordBatch,
        labels: Option<&ListArray>,
    ) -> Result<Written> {
        let (file, text, info) = self.begin_vertices(info).await?;
        let schema = rows.schema();
        let mut sink = VertexSink::try_new(&file, &info, &schema, labels.is_some(), 0)?;
        let mut files = self.chunk_files();
        sink.push(&mut files, rows, labels).await?;
        self.end_vertices(file, text, &info, sink, files).await
    }

    /// Writes a vertex type from a stream; see [`write_vertices`](Self::write_vertices). The labels are in the
    /// column `_labels`, lists of strings, if there is one. Primary keys are checked to be unique, which takes
    /// memory for them.
    ///
    /// # Errors
    /// Those of the stream, two rows with the same key, and as above.
    pub async fn write_vertex_stream(
        &mut self,
        info: VertexInfo,
        rows: SendableRecordBatchStream,
    ) -> DataFusionResult<Written> {
        let (file, text, info) = self.begin_vertices(info).await?;
        let schema = rows.schema();
        let labels = labels_position(&info, &schema)?;
        let mut sink = VertexSink::try_new(&file, &info, &schema, labels.is_some(), 0)?;
        let mut filter = VertexFilter::open(&info, &schema, &self.options, None).await?;
        let keys = UniqueKeys::try_new(&info, &schema, &self.options)?;
        let (mut rows, keys) = match filter {
            None => keys.watch(rows),
            Some(_) => (rows, keys),
        };
        let mut files = self.chunk_files();
        let reservation = MemoryConsumer::new("graphar vertices").register(&self.options.pool);
        while let Some(mut batch) = rows.try_next().await? {
            if let Some(filter) = &mut filter {
                batch = filter.apply(batch).await?;
            }
            let labels = labels.map(|column| batch.column(column).as_list::<i32>());
            sink.push(&mut files, &batch, labels).await?;
            reservation.try_resize(sink.bytes())?;
        }
        keys.finish(None).await?;
        let skipped = self.end_rejects(filter.map(|filter| filter.rejects))?;
        let written = self.end_vertices(file, text, &info, sink, files).await?;
        Ok(Written { skipped, ..written })
    }

    /// Writes an edge triplet in every layout that the info lists; row `r` of the properties
    /// belongs to the edge from `source[r]` to `destination[r]`, which are internal ids.
    ///
    /// Ordered layouts are sorted by their aligned end. Within a vertex, and in unordered
    /// layouts within a part, edges keep the order of the rows. `properties` is found and
    /// checked like the rows of a vertex type, and may be without columns if there are no
    /// properties.
    ///
    /// # Errors
    /// If an end's vertex type was not written, or with another chunk size than the info
    /// says; if an id is null or beyond the vertices of its type (the error names row, id and
    /// number of vertices); else as for [`write_vertices`](Self::write_vertices).
    pub async fn write_edges(
        &mut self,
        info: EdgeInfo,
        source: &Int64Array,
        destination: &Int64Array,
        properties: &RecordBatch,
    ) -> Result<Written> {
        let (file, text, info, vertices) = self.begin_edges(info).await?;
        let mut sink = EdgeSink::try_new(&file, &info, vertices, &properties.schema())?;
        sink.push(source, destination, properties)?;
        self.end_edges(&file, text, &info, sink).await
    }

    /// Writes an edge triplet from a stream; see [`write_edges`](Self::write_edges). The columns `ends` hold the
    /// internal ids of source and destination as 64-bit integers.
    ///
    /// # Errors
    /// Those of the stream, that the memory pool has no room for the edges, and as above.
    pub async fn write_edge_stream(
        &mut self,
        info: EdgeInfo,
        ends: [usize; 2],
        rows: SendableRecordBatchStream,
    ) -> DataFusionResult<Written> {
        let ends = EdgeColumns::ids(ends, &rows.schema());
        self.write_edge_rows(info, &ends, rows).await
    }

    /// Writes the info files, the graph info last, and gives the latter's path inside the store:
    /// `<root>/<graph>.graph.yml`.
    ///
    /// # Errors
    /// If the name of the graph is empty or holds a slash, a name cannot be written to an info file, another
    /// writer has changed the same types meanwhile, or the store fails.
    pub async fn commit(mut self) -> Result<Path> {
        for Vertices { file, text, .. } in &self.vertices {
            self.infos.put(file, Bytes::from(text.clone())).await?;
        }
        for Edges { file, text, .. } in &self.edges {
            self.infos.put(file, Bytes::from(text.clone())).await?;
        }
        if let Some(target) = &self.target {
            let done = match finish_all(&mut self.rejected).await {
                Ok(()) => target.publish(&self.change).await,
                Err(error) => Err(error),
            };
            if let Err(error) = done {
                remove_all(&self.rejected).await;
                return Err(error);
            }
            self.staged.clear();
            return target.file.object_path();
        }
        let graph_file = format!("{}.graph.yml", self.graph);
        check_name(&graph_file, "name", &self.graph)?;
        let graph = GraphInfo {
            name: self.graph.clone(),
            version: Some(version()),
            vertices: self.vertices.iter().map(|v| v.file.clone()).collect(),
            edges: self.edges.iter().map(|e| e.file.clone()).collect(),
            ..GraphInfo::default()
        };
        let text = graph.to_yaml()?;
        finish_all(&mut self.rejected).await?;
        self.infos.put(&graph_file, Bytes::from(text)).await
    }

    /// How this writer works.
    pub fn options(&self) -> &WriteOptions {
        &self.options
    }

    /// The chunk size of a vertex type that was written before or is there already.
    ///
    /// # Errors
    /// If there is no such type.
    pub async fn chunk_size(&self, vertex_type: &str) -> Result<u64> {
        Ok(self.stored(vertex_type).await?.info.chunk_size)
    }

    /// The number of vertices of a type that was written before or is there already.
    ///
    /// # Errors
    /// If there is no such type, or its count is broken.
    pub async fn count(&self, vertex_type: &str) -> Result<u64> {
        Ok(self.stored(vertex_type).await?.count)
    }

    /// Says that a vertex type is going to be written in place of one that may be there. Edges that join
    /// vertices of the latter by their internal ids would join others: if there are such edges, they end
    /// to be with `drop`.
    ///
    /// # Errors
    /// If there are such edges, and they are not to be dropped.
    pub fn replace_vertices(&mut self, vertex_type: &str, drop: bool) -> Result<()> {
        let edges = self.target.iter().flat_map(Target::edge_infos);
        let used = edges.filter(|e| e.src_type == vertex_type || e.dst_type == vertex_type);
        let used: Vec<String> = used.map(EdgeInfo::key).collect();
        if used.is_empty() || drop {
            self.change.dropped.extend(used);
            return Ok(());
        }
        Err(GraphArError::Unsupported {
            path: self
                .target
                .as_ref()
                .map_or_else(String::new, |t| t.file.to_string()),
            feature: format!(
                "replacing vertex type '{vertex_type}', whose ids are the ends of {},",
                used.join(", ")
            ),
            hint: ": add vertices by INSERT, or drop these edges by OPTIONS ('edges' 'drop')"
                .to_owned(),
        })
    }

    /// A vertex type that was written before, or is there already.
    pub(super) async fn stored(&self, vertex_type: &str) -> Result<StoredVertices> {
        let mut written = self.vertices.iter();
        let written = written.find(|v| v.info.vertex_type == vertex_type);
        let Some(target) = &self.target else {
            return Err(self.unknown(vertex_type));
        };
        if let Some(written) = written {
            let prefix = written.info.prefix.as_deref().unwrap_or_default();
            return Ok(StoredVertices {
                info: written.info.clone(),
                folder: target.root.join(prefix),
                count: written.rows,
                has_labels: written.has_labels,
            });
        }
        let Some(found) = target.vertices(vertex_type).await else {
            return Err(self.unknown(vertex_type));
        };
        Ok(StoredVertices {
            info: found.info,
            folder: found.folder,
            count: found.count.map_err(GraphArError::Shared)?,
            has_labels: found.has_label_files,
        })
    }

    /// An edge triplet that is there already.
    pub(super) async fn stored_edges(&self, key: &str) -> Result<StoredEdges> {
        let infos: Vec<&EdgeInfo> = self.target.iter().flat_map(Target::edge_infos).collect();
        match (infos.iter().find(|info| info.key() == key), &self.target) {
            (Some(info), Some(target)) => target.edges(info).await,
            _ => Err(GraphArError::UnknownElement {
                kind: "edge triplet".to_owned(),
                name: key.to_owned(),
                candidates: infos.iter().map(|info| info.key()).collect(),
            }),
        }
    }

    /// The edge triplets of a vertex type that are there already.
    pub(super) async fn edges_of(&self, vertex_type: &str) -> Result<Vec<StoredEdges>> {
        let mut edges = vec![];
        if let Some(target) = &self.target {
            for info in target.edge_infos() {
                if info.src_type == vertex_type || info.dst_type == vertex_type {
                    edges.push(target.edges(info).await?);
                }
            }
        }
        Ok(edges)
    }

    /// Where chunk and count files go.
    pub(super) fn data(&self) -> &Output {
        &self.data
    }

    pub(super) fn chunk_files(&self) -> ChunkFiles {
        let WriteOptions {
            encode, parallel, ..
        } = &self.options;
        ChunkFiles::new(Arc::clone(&self.data), encode.clone(), *parallel)
    }

    /// A name that no other write has, where the graph may be there already.
    fn fresh(&self, name: &str) -> String {
        match &self.target {
            Some(target) => format!("{name}-{}", target.token),
            None => name.to_owned(),
        }
    }

    /// Checks and completes the info of a vertex type. Gives the name of its file, and its text.
    pub(super) async fn begin_vertices(
        &mut self,
        mut info: VertexInfo,
    ) -> Result<(String, String, VertexInfo)> {
        let name = info.vertex_type.clone();
        let file = format!("{}.vertex.yml", self.fresh(&name));
        check_name(&file, "type", &name)?;
        check_size(&file, "chunk_size", info.chunk_size)?;
        if self.vertices.iter().any(|v| v.info.vertex_type == name) {
            return Err(repeated(&file, "type", &name));
        }
        let folder = format!("vertex/{}", self.fresh(&name));
        info.prefix.take_if(|_| self.target.is_some());
        info.prefix = Some(spelled_out(info.prefix, format!("{folder}/")));
        spell_out_groups(&mut info.property_groups);
        info.version.get_or_insert_with(version);
        let text = info.to_yaml()?;
        VertexInfo::from_yaml(&text, &file)?;
        let named = [(file, info)];
        check_graph(&named, &[])?;
        let [(file, info)] = named;
        self.folders
            .check_free(&self.data, &file, &vertex_folders(&info))?;
        self.claim(&folder).await?;
        Ok((file, text, info))
    }

    pub(super) async fn end_vertices(
        &mut self,
        file: String,
        text: String,
        info: &VertexInfo,
        sink: VertexSink<'_>,
        mut files: ChunkFiles,
    ) -> Result<Written> {
        let has_labels = sink.has_labels();
        let rows = sink.finish(&mut files).await?;
        let (count, bytes) = files.finish().await?;
        let paths = VertexPaths::new(info.prefix.as_deref().unwrap_or_default());
        self.data.put_count(&paths.vertex_count(), rows).await?;
        self.folders.take(vertex_folders(info));
        self.change
            .vertices
            .push((info.vertex_type.clone(), file.clone()));
        self.vertices.push(Vertices {
            file,
            text,
            info: info.clone(),
            rows,
            has_labels,
        });
        Ok(Written {
            rows,
            files: count,
            bytes,
            skipped: Skipped::default(),
        })
    }

    /// Checks and completes the info of an edge triplet. Gives the name of its file, its text, and the numbers of
    /// vertices of the types that it joins.
    pub(super) async fn begin_edges(
        &mut self,
        mut info: EdgeInfo,
    ) -> Result<(String, String, EdgeInfo, (u64, u64))> {
        let key = info.key();
        let file = format!("{}.edge.yml", self.fresh(&key));
        self.check_edge_info(&file, &info)?;
        let source = (&info.src_type, "src_chunk_size", info.src_chunk_size);
        let destination = (&info.dst_type, "dst_chunk_size", info.dst_chunk_size);
        let source = self.vertex_count(&file, source).await?;
        let destination = self.vertex_count(&file, destination).await?;
        let folder = format!("edge/{}", self.fresh(&key));
        info.prefix.take_if(|_| self.target.is_some());
        info.prefix = Some(spelled_out(info.prefix, format!("{folder}/")));
        for list in &mut info.adj_lists {
            list.prefix = Some(spelled_out(list.prefix.take(), format!("{}/", list.layout)));
        }
        spell_out_groups(&mut info.property_groups);
        info.version.get_or_insert_with(version);
        let text = info.to_yaml()?;
        EdgeInfo::from_yaml(&text, &file)?;
        let named = [(file, info)];
        check_graph(&[], &named)?;
        let [(file, info)] = named;
        self.folders
            .check_free(&self.data, &file, &edge_folders(&info))?;
        self.claim(&folder).await?;
        Ok((file, text, info, (source, destination)))
    }

    pub(super) async fn end_edges(
        &mut self,
        file: &str,
        text: String,
        info: &EdgeInfo,
        sink: EdgeSink<'_>,
    ) -> Result<Written> {
        let mut files = self.chunk_files();
        let rows = sink.finish(&self.data, &mut files).await?;
        let (count, bytes) = files.finish().await?;
        self.written_edges(file.to_owned(), text, info);
        Ok(Written {
            rows,
            files: count,
            bytes,
            skipped: Skipped::default(),
        })
    }

    /// Remembers a triplet whose files are there.
    pub(super) fn written_edges(&mut self, file: String, text: String, info: &EdgeInfo) {
        self.folders.take(edge_folders(info));
        self.change.edges.push((info.key(), file.clone()));
        self.edges.push(Edges {
            file,
            text,
            key: info.key(),
        });
    }

    /// Tells other writers that the files of this folder are in use.
    async fn claim(&mut self, folder: &str) -> Result<()> {
        if let Some(target) = &self.target {
            let place = target.root.join(&format!("{folder}.lock"));
            self.locks.extend(Lock::claim(&place).await?);
            let name = folder.rsplit('/').next().unwrap_or(folder);
            let kind = folder.split('/').next().unwrap_or_default();
            let info = target.file.parent().join(&format!("{name}.{kind}.yml"));
            let places = [target.root.join(folder), info];
            self.staged.extend(places.iter().filter_map(local_path));
        }
        Ok(())
    }

    fn check_edge_info(&self, file: &str, info: &EdgeInfo) -> Result<()> {
        check_name(file, "edge_type", &info.edge_type)?;
        check_size(file, "chunk_size", info.chunk_size)?;
        let key = info.key();
        if self.edges.iter().any(|other| other.key == key) {
            return Err(repeated(file, "src_type, edge_type, dst_type", &key));
        }
        let bad = |element: &str, expected: &str, found: String| GraphArError::Metadata {
            path: file.to_owned(),
            element: element.to_owned(),
            expected: expected.to_owned(),
            found,
        };
        if info.adj_lists.is_empty() {
            return Err(bad("adj_lists", "at least one layout", "none".to_owned()));
        }
        for (
            i,
            AdjacentList {
                layout,
                property_groups,
                ..
            },
        ) in info.adj_lists.iter().enumerate()
        {
            if info.adj_lists[..i]
                .iter()
                .any(|other| other.layout == *layout)
            {
                return Err(bad(
                    "adj_lists",
                    "every layout at most once",
                    format!("{layout} twice"),
                ));
            }
            if !property_groups.is_empty() {
                let element = format!("adj_lists[{i}].property_groups");
                return Err(bad(
                    &element,
                    "none, as they stand at the top level",
                    "some".to_owned(),
                ));
            }
        }
        Ok(())
    }

    /// Number of vertices of a type, written before or there already, with this chunk size.
    async fn vertex_count(&mut self, file: &str, end: (&String, &str, u64)) -> Result<u64> {
        let (vertex_type, key, chunk_size) = end;
        let written = self.vertices.iter();
        let mut written = written.filter(|v| v.info.vertex_type == *vertex_type);
        let (known, rows) = match (written.next(), &self.target) {
            (Some(written), _) => (written.info.chunk_size, written.rows),
            (None, Some(_)) => {
                let found = self.stored(vertex_type).await?;
                self.change.needed.push(vertex_type.clone());
                (found.info.chunk_size, found.count)
            }
            (None, None) => return Err(self.unknown(vertex_type)),
        };
        // Parts of edges are vertex chunks, by number.
        if known != chunk_size {
            return Err(GraphArError::Metadata {
                path: file.to_owned(),
                element: key.to_owned(),
                expected: format!("{known}, the chunk_size of '{vertex_type}'"),
                found: chunk_size.to_string(),
            });
        }
        Ok(rows)
    }

    fn unknown(&self, vertex_type: &str) -> GraphArError {
        let written = self.vertices.iter().map(|v| v.info.vertex_type.clone());
        let there = self.target.iter().flat_map(Target::vertex_types);
        GraphArError::UnknownElement {
            kind: "vertex type".to_owned(),
            name: vertex_type.to_owned(),
            candidates: written.chain(there).collect(),
        }
    }
}

/// Where the labels of vertices stand in their rows.
pub(super) fn labels_position(info: &VertexInfo, rows: &Schema) -> Result<Option<usize>> {
    let Ok(position) = rows.index_of(LABELS) else {
        return Ok(None);
    };
    match rows.field(position).data_type() {
        DataType::List(_) => Ok(Some(position)),
        other => Err(bad_input(
            &info.vertex_type,
            format!("column '{LABELS}'"),
            "lists of strings",
            other.to_string(),
        )),
    }
}

/// The folders of a vertex type's chunks.
fn vertex_folders(info: &VertexInfo) -> Vec<String> {
    let prefix = info.prefix.as_deref().unwrap_or_default();
    let groups = info.property_groups.iter();
    let mut folders: Vec<_> = groups
        .map(|group| join_prefix(prefix, &group.folder()))
        .collect();
    if !info.labels.is_empty() {
        folders.push(join_prefix(prefix, "labels/"));
    }
    folders
}

/// The folders of an edge triplet's chunks.
fn edge_folders(info: &EdgeInfo) -> Vec<String> {
    let prefix = info.prefix.as_deref().unwrap_or_default();
    let mut folders = vec![];
    for list in &info.adj_lists {
        let folder = join_prefix(prefix, &list.folder());
        folders.push(join_prefix(&folder, "adj_list/"));
        if list.layout.is_ordered() {
            folders.push(join_prefix(&folder, "offset/"));
        }
        let groups = info.property_groups.iter();
        folders.extend(groups.map(|group| join_prefix(&folder, &group.folder())));
    }
    folders
}

/// The first thing that keeps a graph with these infos from being opened. Whether the infos
/// fit each other was checked against what is written.
fn check_graph(vertices: &[(String, VertexInfo)], edges: &[(String, EdgeInfo)]) -> Result<()> {
    let problems = validate_graph("", &GraphInfo::default(), vertices, edges);
    match problems.into_iter().find(|problem| problem.fatal) {
        Some(problem) => Err(problem.error),
        None => Ok(()),
    }
}

fn version() -> InfoVersion {
    InfoVersion::default()
}

/// The prefix to write: an empty one would have to be left out of the info file, where it
/// means the default, and some readers do not supply a slash at the end.
fn spelled_out(prefix: Option<String>, default: String) -> String {
    match prefix {
        Some(prefix) if prefix.ends_with('/') => prefix,
        Some(prefix) if !prefix.is_empty() => format!("{prefix}/"),
        _ => default,
    }
}

fn spell_out_groups(groups: &mut [PropertyGroup]) {
    for group in groups {
        group.prefix.take_if(|prefix| prefix.is_empty());
        group.prefix = Some(group.folder()).filter(|folder| !folder.is_empty());
    }
}

fn check_name(file: &str, element: &str, name: &str) -> Result<()> {
    if name.is_empty() || name.contains('/') {
        return Err(GraphArError::Metadata {
            path: file.to_owned(),
            element: element.to_owned(),
            expected: "a name, without a slash".to_owned(),
            found: format!("'{name}'"),
        });
    }
    Ok(())
}

fn check_size(file: &str, element: &str, size: u64) -> Result<()> {
    if length(size) == 0 {
        return Err(GraphArError::Metadata {
            path: file.to_owned(),
            element: element.to_owned(),
            expected: "at least 1".to_owned(),
            found: size.to_string(),
        });
    }
    Ok(())
}

fn repeated(file: &str, element: &str, name: &str) -> GraphArError {
    GraphArError::Metadata {
        path: file.to_owned(),
        element: element.to_owned(),
        expected: "a name that is not written yet".to_owned(),
        found: format!("'{name}' a second time"),
    }
}
