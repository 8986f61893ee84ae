//! The writer of graphs: whole archives, or single element types of one that is there.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use datafusion::arrow::array::{AsArray, Int64Array, ListArray, RecordBatch};
use datafusion::arrow::datatypes::{DataType, Schema};
use datafusion::error::Result as DataFusionResult;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::execution::memory_pool::MemoryConsumer;
use futures::TryStreamExt;
use object_store::ObjectStore;
use object_store::path::Path;

use super::columns::bad_input;
use super::edge_sink::EdgeSink;
use super::infos::{check_name, version};
use super::keys::UniqueKeys;
use super::output::{Folders, Output};
use super::reject_file::{RejectFile, finish_all, remove_all};
use super::row_filter::{EdgeColumns, VertexFilter};
use super::stored::{StoredEdges, StoredVertices};
use super::target::{Change, Lock, Target};
use super::vertex_sink::VertexSink;
use super::write_options::{WriteOptions, Written};
use crate::error::{GraphArError, Result};
use crate::format::{EdgeInfo, GraphInfo, LABELS, VertexInfo};
use crate::storage::{Location, Stores};

/// Writes element types of a graph, from streams of rows or rows in memory.
///
/// Vertex types come before the edge triplets that join them, since edges are checked against
/// the numbers of vertices. Nothing is visible before [`commit`](Self::commit), which replaces the graph info
/// after everything else is there: a writer that is dropped, or whose process ends, leaves the graph as it was,
/// and files that readers do not look at. The next writer of the same type removes them.
///
/// Vertices need memory for one chunk, and for each chunk that is encoded beside it. Edges are collected,
/// since every layout has them in another order: their properties and 12 bytes an edge, where there are
/// fewer than 2^32 vertices, and 8 bytes a vertex. Both are charged to the pool of the options. Edges of a stream
/// that do not fit go to temporary files if the options say where to, and a part of a layout at a time has to fit.
///
/// Infos are written with their prefixes spelled out, each ending in a slash, and with version
/// `gar/v1` if they name none, as other readers of the format need it.
pub struct GraphWriter {
    pub(super) data: Arc<Output>,
    pub(super) infos: Output,
    pub(super) options: WriteOptions,
    pub(super) graph: String,
    /// The graph that is changed; `None` for an archive that is new as a whole.
    pub(super) target: Option<Target>,
    pub(super) locks: Vec<Lock>,
    pub(super) folders: Folders,
    pub(super) vertices: Vec<Vertices>,
    pub(super) edges: Vec<Edges>,
    pub(super) change: Change,
    /// Files of rows that were left out, to be finished.
    pub(super) rejected: Vec<RejectFile>,
    /// Local files that go if there is no commit.
    pub(super) staged: Vec<PathBuf>,
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
pub(super) struct Vertices {
    pub(super) file: String,
    pub(super) text: String,
    pub(super) info: VertexInfo,
    pub(super) rows: u64,
    pub(super) has_labels: bool,
}

/// An edge triplet that is written but for its info file.
pub(super) struct Edges {
    pub(super) file: String,
    pub(super) text: String,
    pub(super) key: String,
}

impl GraphWriter {
    /// A writer of a new archive below `root`, whose files have the usual names: `vertex/<type>/` and
    /// `edge/<source>_<edge>_<destination>/`. Nothing is touched yet. Files of an older archive in
    /// the same place are overwritten one by one, so the folder should be empty.
    pub fn create(store: Arc<dyn ObjectStore>, root: Path, graph: &str) -> Self {
        let data = Output::new(Arc::clone(&store), root.clone());
        let infos = Output::new(store, root);
        Self::new(data, infos, WriteOptions::default(), graph.to_owned(), None)
    }

    fn new(
        data: Output,
        infos: Output,
        options: WriteOptions,
        graph: String,
        target: Option<Target>,
    ) -> Self {
        Self {
            data: Arc::new(data),
            infos,
            options,
            graph,
            target,
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
        let (data, infos) = (output(&target.root)?, output(&target.file.parent())?);
        let graph = target.name().to_owned();
        Ok(Self::new(data, infos, options, graph, Some(target)))
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
        let mut files = self.chunk_files();
        let rows = sink.finish_in_memory(&self.data, &mut files).await?;
        self.end_edges(file, text, &info, rows, files).await
    }

    /// Writes an edge triplet from a stream; see [`write_edges`](Self::write_edges). The columns `ends` hold the
    /// internal ids of source and destination as 64-bit integers.
    ///
    /// # Errors
    /// Those of the stream, that the memory pool has no room for the edges (for those of a single part, where they
    /// can be spilled), and as above.
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
        self.options.progress.enter("making it visible");
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
