//! Edges in memory, in the order in which they came.

use std::ops::Range;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, AsArray, RecordBatch};
use datafusion::arrow::compute::interleave_record_batch;
use datafusion::arrow::datatypes::{DataType, Field, FieldRef, Int64Type, Schema, SchemaRef};
use datafusion::execution::memory_pool::MemoryReservation;

use super::columns::{Selection, batch};
use super::edge_layout::Edges;
use super::edge_order::EdgeOrder;
use super::ids::Ids;
use crate::error::{GraphArError, Result};
use crate::format::{AlignedBy, DST_COLUMN, SRC_COLUMN};

/// Edges that are collected.
pub(super) struct EdgeBuffer {
    pub(super) source: Ids,
    pub(super) destination: Ids,
    /// None if edges have no properties.
    pub(super) properties: Vec<RecordBatch>,
}

impl EdgeBuffer {
    /// No edges yet, whose ends are going to be below these numbers of vertices.
    pub(super) fn below(vertices: (u64, u64)) -> Self {
        Self {
            source: Ids::below(vertices.0),
            destination: Ids::below(vertices.1),
            properties: vec![],
        }
    }

    /// Bytes that an edge takes beside its properties while it is ordered: both ends and, once, its place.
    pub(super) fn bytes_per_edge(&self) -> usize {
        self.source.width() + self.destination.width() + size_of::<u32>()
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.source.len() == 0
    }

    /// Adds edges that were spilled, all columns of [`spill_schema`].
    pub(super) fn push_spilled(
        &mut self,
        rows: &RecordBatch,
        vertices: (u64, u64),
        selection: &Selection,
    ) -> Result<()> {
        let ids = |column: usize| rows.column(column).as_primitive::<Int64Type>();
        let broken = |row: usize| {
            let found = format!("another in row {row}");
            GraphArError::corrupt("spilled edges", "ids", "those that were spilled", found)
        };
        self.source.extend(ids(0), vertices.0).map_err(broken)?;
        let added = self.destination.extend(ids(1), vertices.1);
        added.map_err(broken)?;
        if rows.num_columns() > 2 {
            let schema = Arc::clone(selection.schema());
            let columns = rows.columns()[2..].to_vec();
            self.properties
                .push(batch(schema, columns, rows.num_rows())?);
        }
        Ok(())
    }

    /// The edges as rows.
    pub(super) fn rows(&self) -> EdgeRows<'_> {
        EdgeRows::new(&self.source, &self.destination, &self.properties)
    }

    /// The edges with all properties in one batch. `memory` is what the pool has lent for them.
    pub(super) fn into_edges(
        self,
        selection: Arc<Selection>,
        memory: Option<MemoryReservation>,
    ) -> Result<Edges> {
        Edges::try_new(
            selection,
            self.source,
            self.destination,
            &self.properties,
            memory,
        )
    }
}

/// The columns of spilled edges: both ends, then the properties.
pub(super) fn spill_schema(properties: &Schema) -> SchemaRef {
    let end = |name| Arc::new(Field::new(name, DataType::Int64, false));
    let ends: [FieldRef; 2] = [end(SRC_COLUMN), end(DST_COLUMN)];
    let fields: Vec<FieldRef> = ends
        .into_iter()
        .chain(properties.fields().iter().map(Arc::clone))
        .collect();
    Arc::new(Schema::new(fields))
}

/// Edges, to be looked at in another order.
pub(super) struct EdgeRows<'a> {
    source: &'a Ids,
    destination: &'a Ids,
    properties: Vec<&'a RecordBatch>,
    /// The first row of every batch of properties.
    starts: Vec<usize>,
}

impl<'a> EdgeRows<'a> {
    pub(super) fn new(
        source: &'a Ids,
        destination: &'a Ids,
        properties: &'a [RecordBatch],
    ) -> Self {
        let mut next = 0;
        let starts = properties.iter().map(|batch| {
            let start = next;
            next += batch.num_rows();
            start
        });
        Self {
            source,
            destination,
            starts: starts.collect(),
            properties: properties.iter().collect(),
        }
    }

    /// The ids of one end.
    pub(super) fn end(&self, end: AlignedBy) -> &Ids {
        match end {
            AlignedBy::Source => self.source,
            AlignedBy::Destination => self.destination,
        }
    }

    /// The edges of these places of an order, in the columns of [`spill_schema`].
    pub(super) fn take(
        &self,
        schema: &SchemaRef,
        order: &EdgeOrder,
        places: Range<usize>,
    ) -> Result<RecordBatch> {
        let rows: Vec<usize> = match order.input_rows(&places) {
            Some(rows) => rows.iter().map(|row| *row as usize).collect(),
            None => places.collect(),
        };
        let mut columns: Vec<ArrayRef> = vec![
            Arc::new(self.source.take(rows.iter().copied())),
            Arc::new(self.destination.take(rows.iter().copied())),
        ];
        if !self.properties.is_empty() {
            let places: Vec<(usize, usize)> = rows.iter().map(|row| self.place(*row)).collect();
            let taken = interleave_record_batch(&self.properties, &places)
                .map_err(|e| GraphArError::payload("edges", e))?;
            columns.extend_from_slice(taken.columns());
        }
        batch(Arc::clone(schema), columns, rows.len())
    }

    /// The batch of a row, and its row there.
    fn place(&self, row: usize) -> (usize, usize) {
        let batch = self.starts.partition_point(|start| *start <= row);
        let batch = batch.saturating_sub(1);
        (batch, row - self.starts[batch])
    }
}
