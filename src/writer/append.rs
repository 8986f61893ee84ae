//! More vertices or edges of a type that is there already.
//!
//! The files that change are written under fresh names, and all others are copied there by the store: a link
//! on the local file system. So the graph changes in one moment, as with a type that is new.

use std::sync::Arc;

use datafusion::arrow::array::{Array, AsArray};
use datafusion::error::Result as DataFusionResult;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::execution::memory_pool::MemoryConsumer;
use futures::TryStreamExt;

use super::append_layout::AppendedEdges;
use super::edge_layout::{Triplet, offset_rows};
use super::edge_sink::EdgeSink;
use super::graph_writer::{GraphWriter, labels_position};
use super::keys::UniqueKeys;
use super::output::length;
use super::row_filter::{EdgeColumns, VertexFilter};
use super::stored::{StoredEdges, StoredVertices};
use super::vertex_sink::VertexSink;
use super::write_options::Written;
use crate::error::{GraphArError, Result};
use crate::format::{AdjListPaths, AlignedBy, EdgeInfo, VertexPaths, chunk_count};

impl GraphWriter {
    /// Appends vertices to a type that is there; their ids continue those of the type. The last chunk is
    /// rewritten if it is not full. The edges of the type get parts for the new vertices. Their primary keys are
    /// compared with all that there are, whose columns are read for that.
    ///
    /// # Errors
    /// If there is no such type, its last chunk cannot be read, or a key is there already; else as
    /// [`write_vertex_stream`](Self::write_vertex_stream).
    pub async fn append_vertices(
        &mut self,
        vertex_type: &str,
        rows: SendableRecordBatchStream,
    ) -> DataFusionResult<Written> {
        let stored = self.stored(vertex_type).await?;
        let (file, text, info) = self.begin_vertices(stored.info.clone()).await?;
        let size = info.chunk_size.max(1);
        let full = stored.count / size;
        let schema = rows.schema();
        let labels = labels_position(&info, &schema)?;
        let has_labels = stored.has_labels && !info.labels.is_empty();
        let mut sink = VertexSink::try_new(&file, &info, &schema, has_labels, full * size)?;
        self.copy_chunks(&stored, &info.prefix.clone().unwrap_or_default(), full)
            .await?;
        let mut filter = VertexFilter::open(&info, &schema, self.options(), Some(&stored)).await?;
        let keys = UniqueKeys::try_new(&info, &schema, self.options())?;
        let (mut rows, keys) = match filter {
            None => keys.watch(rows),
            Some(_) => (rows, keys),
        };
        let mut files = self.chunk_files();
        let rest = stored.count - full * size;
        if rest > 0 {
            let properties: Vec<_> = info.properties().collect();
            let mut columns = stored.properties(full, &properties).await?;
            if has_labels {
                columns.extend_from_slice(stored.labels(full).await?.columns());
            }
            sink.push_stored(&mut files, &columns, length(rest)).await?;
        }
        let reservation = MemoryConsumer::new("graphar vertices").register(&self.options().pool);
        while let Some(mut batch) = rows.try_next().await? {
            if let Some(filter) = &mut filter {
                batch = filter.apply(batch).await?;
            }
            let labels = labels.map(|column| batch.column(column).as_list::<i32>());
            if !has_labels && labels.is_some_and(|labels| !labels.values().is_empty()) {
                return Err(GraphArError::Unsupported {
                    path: stored.folder.to_string(),
                    feature: "a label of a new vertex, where those of the others are unknown,"
                        .to_owned(),
                    hint: String::new(),
                }
                .into());
            }
            let labels = labels.filter(|_| has_labels);
            sink.push(&mut files, &batch, labels).await?;
            reservation.try_resize(sink.bytes())?;
        }
        if filter.is_none() {
            keys.finish(Some(&stored)).await?;
        }
        let skipped = self.end_rejects(filter.map(|filter| filter.rejects))?;
        let mut written = self.end_vertices(file, text, &info, sink, files).await?;
        for edges in self.edges_of(vertex_type).await? {
            self.extend_edges(&edges, vertex_type, written.rows).await?;
        }
        written.rows -= stored.count;
        Ok(Written { skipped, ..written })
    }

    /// Copies chunks that stay as they are.
    async fn copy_chunks(&self, stored: &StoredVertices, prefix: &str, chunks: u64) -> Result<()> {
        let (old, new) = (stored.paths(), VertexPaths::new(prefix));
        let has_labels = stored.has_labels && !stored.info.labels.is_empty();
        for chunk in 0..chunks {
            for group in &stored.info.property_groups {
                let name = new.property_chunk(group, chunk);
                self.data()
                    .copy(&old.property_chunk(group, chunk), &name)
                    .await?;
            }
            if has_labels {
                let name = new.label_chunk(chunk);
                self.data().copy(&old.label_chunk(chunk), &name).await?;
            }
        }
        Ok(())
    }

    /// Gives the layouts of edges parts for new vertices. `count` is how many there are now.
    async fn extend_edges(
        &mut self,
        stored: &StoredEdges,
        vertex_type: &str,
        count: u64,
    ) -> Result<()> {
        let info = plain_groups(stored)?;
        let (file, text, info, vertices) = self.begin_edges(info).await?;
        let mut files = self.chunk_files();
        for (number, list) in info.adj_lists.iter().enumerate() {
            let (aligned_type, known) = match list.layout.aligned_by() {
                AlignedBy::Source => (&info.src_type, vertices.0),
                AlignedBy::Destination => (&info.dst_type, vertices.1),
            };
            let count = if aligned_type == vertex_type {
                count
            } else {
                known
            };
            let paths = AdjListPaths::new(info.prefix.as_deref().unwrap_or_default(), list);
            let parts = stored.counts[number].rows.parts();
            for part in 0..parts {
                self.copy_part(stored, &info, number, part as u64).await?;
            }
            let part_size = info.part_size(list.layout);
            for part in parts as u64..chunk_count(count, part_size) {
                if list.layout.is_ordered() {
                    let rows = length(part_size);
                    let make = move || offset_rows(vec![0; rows + 1]);
                    files
                        .write(list.file_type, paths.offset_chunk(part), rows, make)
                        .await?;
                }
                self.data().put_count(&paths.edge_count(part), 0).await?;
            }
            self.data().put_count(&paths.vertex_count(), count).await?;
        }
        files.finish().await?;
        self.written_edges(file, text, &info);
        Ok(())
    }

    /// Copies the files of a part.
    pub(super) async fn copy_part(
        &self,
        stored: &StoredEdges,
        info: &EdgeInfo,
        layout: usize,
        part: u64,
    ) -> Result<()> {
        let (before, list) = (&stored.info.adj_lists[layout], &info.adj_lists[layout]);
        let old = stored.paths(before);
        let new = AdjListPaths::new(info.prefix.as_deref().unwrap_or_default(), list);
        let rows = stored.counts[layout].rows.part(length(part));
        let rows = rows.end - rows.start;
        let groups = stored.info.property_groups_of(before.layout);
        for chunk in 0..chunk_count(rows, info.chunk_size) {
            let name = new.adj_list_chunk(part, chunk);
            self.data()
                .copy(&old.adj_list_chunk(part, chunk), &name)
                .await?;
            for (before, group) in groups.iter().zip(&info.property_groups) {
                let name = new.property_chunk(group, part, chunk);
                self.data()
                    .copy(&old.property_chunk(before, part, chunk), &name)
                    .await?;
            }
        }
        if list.layout.is_ordered() {
            let name = new.offset_chunk(part);
            self.data().copy(&old.offset_chunk(part), &name).await?;
        }
        self.data().put_count(&new.edge_count(part), rows).await
    }

    /// Appends edges to a triplet that is there. The parts of each layout that get edges are rewritten.
    /// `ends` are the columns of the internal ids.
    ///
    /// # Errors
    /// If there is no such triplet, or a part cannot be read; else as
    /// [`write_edge_stream`](Self::write_edge_stream).
    pub async fn append_edges(
        &mut self,
        key: &str,
        ends: [usize; 2],
        rows: SendableRecordBatchStream,
    ) -> DataFusionResult<Written> {
        let stored = self.stored_edges(key).await?;
        let info = plain_groups(&stored)?;
        let (file, text, info, vertices) = self.begin_edges(info).await?;
        let mut sink = EdgeSink::try_new(&file, &info, vertices, &rows.schema())?;
        let ends = EdgeColumns::ids(ends, &rows.schema());
        let (memory, skipped) = self.collect_edges(&mut sink, &info, &ends, rows).await?;
        let (rows, selection) = (sink.rows(), Arc::clone(sink.selection()));
        let triplet = Triplet {
            info_file: &file,
            info: &info,
            vertices,
        };
        let mut files = self.chunk_files();
        let appended = AppendedEdges {
            stored: &stored,
            triplet,
            selection,
        };
        let mut new = sink.collected(memory).await?;
        for number in 0..info.adj_lists.len() {
            new = self
                .append_layout(&appended, number, new, &mut files)
                .await?;
        }
        let (files, bytes) = files.finish().await?;
        self.written_edges(file.clone(), text, &info);
        Ok(Written {
            rows,
            files,
            bytes,
            skipped,
        })
    }
}

/// The info with its property groups at the top level, where all layouts share them.
fn plain_groups(stored: &StoredEdges) -> Result<EdgeInfo> {
    let mut info = stored.info.clone();
    let mut groups = info
        .adj_lists
        .iter()
        .map(|list| info.property_groups_of(list.layout).to_vec());
    let first = groups.next().unwrap_or_default();
    if groups.any(|other| other != first) {
        return Err(GraphArError::Unsupported {
            path: stored.folder.to_string(),
            feature: format!(
                "appending to {}, whose layouts have different properties,",
                info.key()
            ),
            hint: ": write it anew by COPY".to_owned(),
        });
    }
    info.property_groups = first;
    for list in &mut info.adj_lists {
        list.property_groups.clear();
    }
    Ok(info)
}
