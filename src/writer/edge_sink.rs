//! One edge triplet: its edges are collected, then every layout is written.

use std::mem;
use std::sync::Arc;

use datafusion::arrow::array::{Array, Int64Array, RecordBatch};
use datafusion::arrow::datatypes::Schema;
use datafusion::error::Result as DataFusionResult;
use datafusion::execution::memory_pool::{MemoryPool, MemoryReservation};

use super::chunk_files::ChunkFiles;
use super::columns::{Selection, bad_input};
use super::edge_buffer::EdgeBuffer;
use super::edge_layout::{Edges, Layout, Triplet, write_count};
use super::edge_spill::EdgeSpill;
use super::output::Output;
use super::spilled_edges::SpilledEdges;
use super::spilling::Spilling;
use crate::error::Result;
use crate::format::EdgeInfo;

/// Edges of one triplet, collected before any of them can be written: each layout has them in another order.
pub(super) struct EdgeSink<'a> {
    triplet: Triplet<'a>,
    selection: Arc<Selection>,
    /// Edges in memory.
    edges: EdgeBuffer,
    /// Where edges go once they do not fit into memory.
    spill: Option<EdgeSpill<'a>>,
    rows: u64,
}

impl<'a> EdgeSink<'a> {
    /// A sink of properties of the schema `rows`.
    ///
    /// # Errors
    /// If the rows do not have the declared columns.
    pub(super) fn try_new(
        info_file: &'a str,
        info: &'a EdgeInfo,
        vertices: (u64, u64),
        rows: &Schema,
    ) -> Result<Self> {
        let selection = Selection::try_new(info_file, &info.key(), &info.property_groups, rows)?;
        Ok(Self {
            triplet: Triplet {
                info_file,
                info,
                vertices,
            },
            selection: Arc::new(selection),
            edges: EdgeBuffer::below(vertices),
            spill: None,
            rows: 0,
        })
    }

    /// Adds edges.
    ///
    /// # Errors
    /// If an end is null or no vertex of its type, a property is null that may not be, or the columns are of
    /// different lengths.
    pub(super) fn push(
        &mut self,
        source: &Int64Array,
        destination: &Int64Array,
        properties: &RecordBatch,
    ) -> Result<()> {
        let info = self.triplet.info;
        let owner = info.key();
        if source.len() != destination.len() {
            return Err(bad_input(
                &owner,
                "destinations",
                format!("{} rows, as many as sources", source.len()),
                destination.len().to_string(),
            ));
        }
        if properties.num_rows() != source.len() && properties.num_columns() > 0 {
            return Err(bad_input(
                &owner,
                "properties",
                format!("{} rows, as many as edges", source.len()),
                properties.num_rows().to_string(),
            ));
        }
        let selected = self.selection.rows(properties, self.rows)?;
        let rows = self.rows;
        let checked = |end: &str,
                       vertex_type: &str,
                       column: &Int64Array,
                       count: u64,
                       bad: usize| {
            let id = column.is_valid(bad).then(|| column.value(bad));
            bad_input(
                &owner,
                format!("{end} of row {}", rows + bad as u64),
                format!(
                    "an internal id of one of the {count} vertices of '{vertex_type}', counted from 0"
                ),
                id.map_or_else(|| "null".to_owned(), |id| id.to_string()),
            )
        };
        let (sources, destinations) = self.triplet.vertices;
        let added = self.edges.source.extend(source, sources);
        added.map_err(|bad| checked("source", &info.src_type, source, sources, bad))?;
        let added = self.edges.destination.extend(destination, destinations);
        added.map_err(|bad| {
            checked(
                "destination",
                &info.dst_type,
                destination,
                destinations,
                bad,
            )
        })?;
        self.rows += source.len() as u64;
        if selected.num_columns() > 0 {
            self.edges.properties.push(selected);
        }
        Ok(())
    }

    /// Bytes that an edge takes beside its properties while it is collected and ordered: both ends and, once, its
    /// place.
    pub(super) fn bytes_per_edge(&self) -> usize {
        self.edges.bytes_per_edge()
    }

    /// Takes what is in memory out of it, to files.
    ///
    /// # Errors
    /// If a file cannot be made or written.
    pub(super) async fn spill(
        &mut self,
        spilling: &Spilling,
        pool: &Arc<dyn MemoryPool>,
    ) -> DataFusionResult<()> {
        let (triplet, selection) = (self.triplet, &self.selection);
        let spill = self
            .spill
            .get_or_insert_with(|| EdgeSpill::new(triplet, selection, spilling, pool));
        let empty = EdgeBuffer::below(triplet.vertices);
        spill
            .add(&mem::replace(&mut self.edges, empty).rows())
            .await
    }

    /// Writes all layouts of edges none of which were spilled. Gives their number.
    ///
    /// # Errors
    /// If a file cannot be encoded or written.
    pub(super) async fn finish_in_memory(
        self,
        output: &Output,
        files: &mut ChunkFiles,
    ) -> Result<u64> {
        let edges = self.edges.into_edges(self.selection, None)?;
        write_layouts(self.triplet, &Arc::new(edges), output, files).await?;
        Ok(self.rows)
    }

    /// Writes all layouts; `memory` is what the pool has lent for the edges in memory. Gives the number of edges.
    ///
    /// # Errors
    /// If the edges of a part do not fit into memory, or a file cannot be encoded or written.
    pub(super) async fn finish(
        self,
        memory: MemoryReservation,
        output: &Output,
        files: &mut ChunkFiles,
    ) -> DataFusionResult<u64> {
        let (rows, triplet) = (self.rows, self.triplet);
        match self.collected(memory).await? {
            Collected::Memory(edges) => write_layouts(triplet, &edges, output, files).await?,
            Collected::Spilled(mut edges) => {
                for (number, list) in triplet.info.adj_lists.iter().enumerate() {
                    files.progress().enter(format!("writing {}", list.layout));
                    let mut groups = edges.groups(number);
                    while let Some(group) = groups.next(files).await? {
                        let parts = group.parts();
                        let layout = Layout::of_parts(triplet, list, group.edges(), parts)?;
                        for part in layout.parts() {
                            layout.write_part(part, output, files).await?;
                        }
                        groups.written(group);
                    }
                    let done = groups.finish();
                    edges.put_back(number, done);
                    let count = triplet.count(list.layout.aligned_by());
                    write_count(triplet.info, list, count, output).await?;
                }
            }
        }
        Ok(rows)
    }

    /// The edges in the order in which they came; `memory` is what the pool has lent for those in memory.
    ///
    /// # Errors
    /// If the last edges cannot be spilled, or the properties do not fit into one batch.
    pub(super) async fn collected(
        mut self,
        memory: MemoryReservation,
    ) -> DataFusionResult<Collected<'a>> {
        if let Some(mut spill) = self.spill.take() {
            spill.add(&self.edges.rows()).await?;
            drop((self.edges, memory));
            return Ok(Collected::Spilled(spill.finish()?));
        }
        let edges = self.edges.into_edges(self.selection, Some(memory))?;
        Ok(Collected::Memory(Arc::new(edges)))
    }

    /// Number of edges.
    pub(super) fn rows(&self) -> u64 {
        self.rows
    }

    /// Numbers of vertices of the source's and of the destination's type.
    pub(super) fn vertices(&self) -> (u64, u64) {
        self.triplet.vertices
    }

    /// Vertices of the larger type.
    pub(super) fn most_vertices(&self) -> u64 {
        let (source, destination) = self.triplet.vertices;
        source.max(destination)
    }

    /// The columns of the properties that are written.
    pub(super) fn selection(&self) -> &Arc<Selection> {
        &self.selection
    }
}

/// All edges of a statement.
pub(super) enum Collected<'a> {
    /// In memory.
    Memory(Arc<Edges>),
    /// In files, as they did not fit.
    Spilled(SpilledEdges<'a>),
}

/// Writes all layouts of edges in memory.
async fn write_layouts(
    triplet: Triplet<'_>,
    edges: &Arc<Edges>,
    output: &Output,
    files: &mut ChunkFiles,
) -> Result<()> {
    for list in &triplet.info.adj_lists {
        files.progress().enter(format!("writing {}", list.layout));
        let layout = Layout::try_new(triplet, list, edges)?;
        for part in layout.parts() {
            layout.write_part(part, output, files).await?;
        }
        layout.write_count(output).await?;
    }
    Ok(())
}
