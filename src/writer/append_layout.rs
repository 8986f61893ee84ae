//! More edges in one layout: the parts that get some are read and written anew, all others are copied.

use std::collections::BTreeSet;
use std::slice;
use std::sync::Arc;

use datafusion::arrow::array::{AsArray, Int64Array};
use datafusion::arrow::datatypes::Int64Type;
use datafusion::error::{DataFusionError, Result as DataFusionResult};
use datafusion::execution::memory_pool::MemoryReservation;

use super::chunk_files::ChunkFiles;
use super::columns::{Selection, batch_as};
use super::edge_buffer::{EdgeBuffer, EdgeRows};
use super::edge_layout::{Edges, Layout, Triplet, write_count};
use super::edge_sink::Collected;
use super::edge_spill::EdgeSpill;
use super::graph_writer::GraphWriter;
use super::spilled_edges::is_exhausted;
use super::stored::StoredEdges;
use crate::error::{GraphArError, Result};
use crate::format::EdgeInfo;

/// Edges that are added to a triplet.
pub(super) struct AppendedEdges<'a> {
    pub(super) stored: &'a StoredEdges,
    pub(super) triplet: Triplet<'a>,
    pub(super) selection: Arc<Selection>,
}

impl GraphWriter {
    /// Writes one layout with new edges, and gives them back for the next. They are spilled if the edges that are
    /// there do not fit into memory beside them.
    pub(super) async fn append_layout<'a>(
        &self,
        appended: &AppendedEdges<'a>,
        number: usize,
        new: Collected<'a>,
        files: &mut ChunkFiles,
    ) -> DataFusionResult<Collected<'a>> {
        let triplet = appended.triplet;
        let list = &triplet.info.adj_lists[number];
        let (end, size) = (
            list.layout.aligned_by(),
            triplet.info.part_size(list.layout),
        );
        let mut spilled = match new {
            Collected::Spilled(spilled) => spilled,
            Collected::Memory(new) => {
                let touched = new.end(end).parts(size);
                let mut all = self.with_stored(appended, number, &touched, &new).await;
                if all.as_ref().is_err_and(|(_, error)| is_exhausted(error)) {
                    // Chunks of the layout before that are being encoded still take memory.
                    files.drain().await?;
                    all = self.with_stored(appended, number, &touched, &new).await;
                }
                match (all, &self.options().spilling) {
                    (Ok(edges), _) => {
                        let layout = Layout::try_new(triplet, list, &Arc::new(edges))?;
                        self.write_parts(appended, number, &layout, &touched, files)
                            .await?;
                        layout.write_count(self.data()).await?;
                        return Ok(Collected::Memory(new));
                    }
                    (Err((_, error)), Some(spilling)) if is_exhausted(&error) => {
                        let pool = &self.options().pool;
                        let mut spill =
                            EdgeSpill::new(triplet, &appended.selection, spilling, pool);
                        let properties = new.properties();
                        let properties = match properties.num_columns() {
                            0 => &[],
                            _ => slice::from_ref(properties),
                        };
                        let (source, destination) = new.ends();
                        let rows = EdgeRows::new(source, destination, properties);
                        spill.add(&rows).await?;
                        spill.finish()?
                    }
                    (Err((_, error)), _) => return Err(error),
                }
            }
        };
        let mut groups = spilled.groups(number);
        while let Some(group) = groups.next(files).await? {
            let touched = group.edges().end(end).parts(size);
            let new = group.edges();
            let mut all = self.with_stored(appended, number, &touched, new).await;
            if all.as_ref().is_err_and(|(_, error)| is_exhausted(error)) {
                files.drain().await?;
                all = self.with_stored(appended, number, &touched, new).await;
            }
            let edges = match all {
                Ok(edges) => Arc::new(edges),
                Err((needed, error)) if is_exhausted(&error) => {
                    groups.split(group, needed, &error).await?;
                    continue;
                }
                Err((_, error)) => return Err(error),
            };
            let layout = Layout::of_parts(triplet, list, &edges, group.parts())?;
            drop(edges);
            self.write_parts(appended, number, &layout, &touched, files)
                .await?;
            groups.written(group);
        }
        let done = groups.finish();
        spilled.put_back(number, done);
        write_count(triplet.info, list, triplet.count(end), self.data()).await?;
        Ok(Collected::Spilled(spilled))
    }

    /// Writes the parts of a layout that get edges, and copies the others.
    async fn write_parts(
        &self,
        appended: &AppendedEdges<'_>,
        number: usize,
        layout: &Layout<'_>,
        touched: &BTreeSet<u64>,
        files: &mut ChunkFiles,
    ) -> Result<()> {
        let AppendedEdges {
            stored, triplet, ..
        } = appended;
        for part in layout.parts() {
            if touched.contains(&part) {
                layout.write_part(part, self.data(), files).await?;
            } else {
                self.copy_part(stored, triplet.info, number, part).await?;
            }
        }
        Ok(())
    }

    /// The edges that are there in some parts, then the new ones. An error comes with the bytes that were needed.
    async fn with_stored(
        &self,
        appended: &AppendedEdges<'_>,
        number: usize,
        parts: &BTreeSet<u64>,
        new: &Edges,
    ) -> Result<Edges, (usize, DataFusionError)> {
        let memory = self.edge_memory();
        let read = self.read_stored(appended, number, parts, new, &memory);
        let found = read.await.map_err(|(bytes, error)| {
            let known = new.memory().saturating_add(memory.size());
            (known.saturating_add(bytes), error)
        })?;
        let (buffer, kept) = found;
        let EdgeBuffer {
            source,
            destination,
            properties,
        } = buffer;
        let all = new
            .behind(source, destination, &properties, memory)
            .map_err(|error| (0, error.into()))?;
        drop(properties);
        all.shrink_memory(kept);
        Ok(all)
    }

    /// The edges that are there in some parts, and the bytes that they keep beside new ones.
    async fn read_stored(
        &self,
        appended: &AppendedEdges<'_>,
        number: usize,
        parts: &BTreeSet<u64>,
        new: &Edges,
        memory: &MemoryReservation,
    ) -> Result<(EdgeBuffer, usize), (usize, DataFusionError)> {
        let AppendedEdges {
            stored,
            triplet,
            selection,
        } = appended;
        let grow = |bytes: usize| memory.try_grow(bytes).map_err(|error| (bytes, error));
        let mut edges = EdgeBuffer::below(triplet.vertices);
        // The properties of the new edges come into one batch with those that are there.
        let mut kept = match new.properties().num_columns() {
            0 => 0,
            _ => new.properties().get_array_memory_size(),
        };
        grow(kept)?;
        for part in parts {
            let (chunks, columns) = stored
                .part(number, *part)
                .await
                .map_err(|error| (0, error.into()))?;
            for (chunk, columns) in chunks.iter().zip(columns) {
                let rows = chunk.num_rows();
                grow(rows.saturating_mul(edges.bytes_per_edge()))?;
                let ids = |column: usize| chunk.column(column).as_primitive::<Int64Type>();
                let (sources, destinations) = triplet.vertices;
                let added = extend(
                    &mut edges,
                    ids(0),
                    ids(1),
                    (sources, destinations),
                    triplet.info,
                );
                added.map_err(|error| (0, error.into()))?;
                if !columns.is_empty() {
                    let properties = batch_as(selection.schema(), &columns, rows)
                        .map_err(|error| (0, error.into()))?;
                    let bytes = properties.get_array_memory_size();
                    kept = kept.saturating_add(bytes);
                    grow(bytes.saturating_mul(2))?;
                    edges.properties.push(properties);
                }
            }
        }
        let ids = edges.source.len().saturating_mul(edges.bytes_per_edge());
        Ok((edges, kept.saturating_add(ids)))
    }
}

/// Stored ids; one outside its type means that the files contradict each other.
fn extend(
    edges: &mut EdgeBuffer,
    source: &Int64Array,
    destination: &Int64Array,
    vertices: (u64, u64),
    info: &EdgeInfo,
) -> Result<()> {
    let broken = |end: &str, ids: &Int64Array, count: u64, row: usize| {
        let found = ids.value(row).to_string();
        let expected = format!("an id below {count}");
        GraphArError::corrupt(format!("edges of {}", info.key()), end, expected, found)
    };
    let added = edges.source.extend(source, vertices.0);
    added.map_err(|row| broken("source", source, vertices.0, row))?;
    let added = edges.destination.extend(destination, vertices.1);
    added.map_err(|row| broken("destination", destination, vertices.1, row))
}
