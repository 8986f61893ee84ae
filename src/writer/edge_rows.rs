//! Rows of streams on their way into a graph: edges are collected, rows that were left out are kept account of.

use datafusion::error::Result as DataFusionResult;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
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
        let (_reservation, skipped) = self.collect_edges(&mut sink, &info, ends, rows).await?;
        let written = self.end_edges(&file, text, &info, sink).await?;
        Ok(Written { skipped, ..written })
    }

    /// Takes edges in. Gives the memory that they and their order need, and what was left out.
    pub(super) async fn collect_edges(
        &mut self,
        sink: &mut EdgeSink<'_>,
        info: &EdgeInfo,
        ends: &EdgeColumns,
        mut rows: SendableRecordBatchStream,
    ) -> DataFusionResult<(MemoryReservation, Skipped)> {
        let reservation = MemoryConsumer::new("graphar edges").register(&self.options.pool);
        let (owner, schema) = (info.key(), rows.schema());
        let mut filter = EdgeFilter::open(info, &schema, sink.vertices(), &self.options)?;
        // Where each vertex's edges begin, and where the next one goes.
        let vertices = length(sink.most_vertices());
        reservation.try_grow(vertices.saturating_mul(2 * size_of::<u32>()))?;
        while let Some(mut batch) = rows.try_next().await? {
            if let Some(filter) = &mut filter {
                batch = filter.apply(batch, ends).await?;
            }
            let own = batch.num_rows() * sink.bytes_per_edge();
            reservation.try_grow(own + batch.get_array_memory_size())?;
            let (source, destination) =
                (ends.end(&owner, 0, &batch)?, ends.end(&owner, 1, &batch)?);
            sink.push(source, destination, &batch)?;
        }
        let skipped = self.end_rejects(filter.map(|filter| filter.rejects))?;
        Ok((reservation, skipped))
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
