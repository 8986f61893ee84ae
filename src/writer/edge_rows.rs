//! Rows of streams on their way into a graph: edges are collected, rows that were left out are kept account of.

use datafusion::error::{DataFusionError, Result as DataFusionResult};
use datafusion::execution::SendableRecordBatchStream;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryLimit, MemoryReservation};
use futures::TryStreamExt;

use super::edge_sink::EdgeSink;
use super::graph_writer::GraphWriter;
use super::output::length;
use super::reject_file::RejectFile;
use super::rejects::{OnError, Rejects, Skipped};
use super::row_filter::{EdgeColumns, EdgeFilter};
use super::write_options::Written;
use crate::error::{GraphArError, Result};
use crate::format::EdgeInfo;

impl GraphWriter {
    /// Changes what becomes of rows that cannot be written, for the element types that follow.
    pub fn set_on_error(&mut self, on_error: OnError) {
        self.options.on_error = on_error;
    }

    /// As [`write_edge_stream`](Self::write_edge_stream), where ids may have been made of keys.
    pub(super) async fn write_edge_rows(
        &mut self,
        info: EdgeInfo,
        ends: &EdgeColumns,
        rows: SendableRecordBatchStream,
    ) -> DataFusionResult<Written> {
        let (file, text, info, vertices) = self.begin_edges(info).await?;
        let mut sink = EdgeSink::try_new(&file, &info, vertices, &rows.schema())?;
        let (memory, skipped) = self.collect_edges(&mut sink, &info, ends, rows).await?;
        let mut files = self.chunk_files();
        let rows = sink.finish(memory, &self.data, &mut files).await?;
        let written = self
            .end_edges(file.clone(), text, &info, rows, files)
            .await?;
        Ok(Written { skipped, ..written })
    }

    /// Takes edges in; those that do not fit into memory are spilled. Gives the memory that the others and their order
    /// need, and what was left out.
    pub(super) async fn collect_edges(
        &mut self,
        sink: &mut EdgeSink<'_>,
        info: &EdgeInfo,
        ends: &EdgeColumns,
        mut rows: SendableRecordBatchStream,
    ) -> DataFusionResult<(MemoryReservation, Skipped)> {
        let memory = self.edge_memory();
        let (owner, schema) = (info.key(), rows.schema());
        let mut filter = EdgeFilter::open(info, &schema, sink.vertices(), &self.options)?;
        // Where each vertex's edges begin, and where the next one goes.
        let vertices = length(sink.most_vertices());
        if let Err(error) = memory.try_grow(vertices.saturating_mul(2 * size_of::<u32>())) {
            self.spill_edges(sink, error).await?;
        }
        // What the rows come from, and the file of bad rows, need memory, too, and not all of them can spill.
        let most = match self.options.pool.memory_limit() {
            MemoryLimit::Finite(limit) => limit / 4 * 3,
            _ => usize::MAX,
        };
        while let Some(mut batch) = rows.try_next().await? {
            if let Some(filter) = &mut filter {
                batch = filter.apply(batch, ends).await?;
            }
            let own = batch.num_rows() * sink.bytes_per_edge();
            let bytes = own + batch.get_array_memory_size();
            if memory.size().saturating_add(bytes) > most
                && let Some(spilling) = &self.options.spilling
            {
                sink.spill(spilling, &self.options.pool).await?;
                memory.free();
            }
            let mut lent = memory.try_grow(bytes);
            if let Err(error) = lent {
                self.spill_edges(sink, error).await?;
                memory.free();
                lent = memory.try_grow(bytes);
            }
            let (source, destination) =
                (ends.end(&owner, 0, &batch)?, ends.end(&owner, 1, &batch)?);
            sink.push(source, destination, &batch)?;
            if let Err(error) = lent {
                // Others have all of the memory: nothing is kept in it.
                self.spill_edges(sink, error).await?;
            }
        }
        let skipped = self.end_rejects(filter.map(|filter| filter.rejects))?;
        Ok((memory, skipped))
    }

    /// Memory for edges.
    pub(super) fn edge_memory(&self) -> MemoryReservation {
        MemoryConsumer::new("graphar edges")
            .with_can_spill(self.options.spilling.is_some())
            .register(&self.options.pool)
    }

    /// Spills what is in memory, which has no room for more as `error` says.
    async fn spill_edges(
        &self,
        sink: &mut EdgeSink<'_>,
        error: DataFusionError,
    ) -> DataFusionResult<()> {
        match &self.options.spilling {
            Some(spilling) => sink.spill(spilling, &self.options.pool).await,
            None => Err(error),
        }
    }

    /// Keeps the file of rows that were left out until the commit.
    pub(super) fn end_rejects(&mut self, rejects: Option<Rejects>) -> Result<Skipped> {
        let Some((skipped, file)) = rejects.map(Rejects::finish) else {
            return Ok(Skipped::default());
        };
        if let Some(file) = file {
            let place = file.location();
            let mut others = self.rejected.iter().map(RejectFile::location);
            let is_graph = self.target.iter().any(|t| t.file.same_as(place));
            if is_graph || others.any(|other| other.same_as(place)) {
                return Err(GraphArError::Location {
                    location: place.to_string(),
                    reason: "rows that are left out need a file that nothing else is written to"
                        .to_owned(),
                });
            }
            self.rejected.push(file);
        }
        Ok(skipped)
    }
}
