//! The files of a layout: its edges in order, their properties, offsets and count files, part by part.

use std::ops::Range;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, Int64Array, RecordBatch, UInt32Array};
use datafusion::arrow::compute::{concat_batches, take_record_batch};
use datafusion::arrow::datatypes::{DataType, Field, Schema};
use datafusion::execution::memory_pool::MemoryReservation;

use super::chunk_files::ChunkFiles;
use super::columns::{Selection, batch};
use super::edge_order::EdgeOrder;
use super::ids::Ids;
use super::output::{Output, length};
use crate::error::{GraphArError, Result};
use crate::format::{
    AdjListPaths, AdjacentList, AlignedBy, DST_COLUMN, EdgeInfo, OFFSET_COLUMN, SRC_COLUMN,
    chunk_count,
};

/// A triplet whose edges are written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Triplet<'a> {
    /// Its info file, for messages.
    pub(super) info_file: &'a str,
    pub(super) info: &'a EdgeInfo,
    /// Numbers of vertices of the source's and of the destination's type.
    pub(super) vertices: (u64, u64),
}

impl Triplet<'_> {
    /// Number of vertices of one end.
    pub(super) fn count(&self, end: AlignedBy) -> u64 {
        match end {
            AlignedBy::Source => self.vertices.0,
            AlignedBy::Destination => self.vertices.1,
        }
    }

    /// Number of vertices of a part.
    pub(super) fn part_size(&self, end: AlignedBy) -> u64 {
        match end {
            AlignedBy::Source => self.info.src_chunk_size,
            AlignedBy::Destination => self.info.dst_chunk_size,
        }
    }

    /// Number of parts of the layouts that this end orders.
    pub(super) fn parts(&self, end: AlignedBy) -> u64 {
        chunk_count(self.count(end), self.part_size(end))
    }

    /// The vertices of parts.
    pub(super) fn vertices_of(&self, end: AlignedBy, parts: &Range<u64>) -> Range<u64> {
        let vertex = |part: u64| {
            let first = part.saturating_mul(self.part_size(end));
            first.min(self.count(end))
        };
        vertex(parts.start)..vertex(parts.end)
    }
}

/// The edges of a triplet, in the order in which they came.
pub(super) struct Edges {
    selection: Arc<Selection>,
    source: Ids,
    destination: Ids,
    properties: RecordBatch,
    /// What the pool has lent for them; given back when the last file that needs them is encoded.
    memory: Option<MemoryReservation>,
}

impl Edges {
    /// Edges with all of their properties.
    ///
    /// # Errors
    /// If the properties do not fit into one batch.
    pub(super) fn try_new(
        selection: Arc<Selection>,
        source: Ids,
        destination: Ids,
        properties: &[RecordBatch],
        memory: Option<MemoryReservation>,
    ) -> Result<Self> {
        let properties = concat_batches(selection.schema(), properties)
            .map_err(|e| GraphArError::payload("edges", e))?;
        Ok(Self {
            selection,
            source,
            destination,
            properties,
            memory,
        })
    }

    /// The ids of both ends.
    pub(super) fn ends(&self) -> (&Ids, &Ids) {
        (&self.source, &self.destination)
    }

    /// Their properties.
    pub(super) fn properties(&self) -> &RecordBatch {
        &self.properties
    }

    /// Gives back what has been lent but for `bytes`.
    pub(super) fn shrink_memory(&self, bytes: usize) {
        if let Some(memory) = &self.memory {
            memory.shrink(memory.size().saturating_sub(bytes));
        }
    }

    /// Bytes that are lent for them.
    pub(super) fn memory(&self) -> usize {
        self.memory.as_ref().map_or(0, MemoryReservation::size)
    }

    /// The ids of one end.
    pub(super) fn end(&self, end: AlignedBy) -> &Ids {
        match end {
            AlignedBy::Source => &self.source,
            AlignedBy::Destination => &self.destination,
        }
    }

    /// These edges behind others, which `memory` is for.
    pub(super) fn behind(
        &self,
        source: Ids,
        destination: Ids,
        properties: &[RecordBatch],
        memory: MemoryReservation,
    ) -> Result<Self> {
        let all = properties.iter().chain([&self.properties]);
        let properties = concat_batches(self.selection.schema(), all)
            .map_err(|e| GraphArError::payload("edges", e))?;
        Ok(Self {
            selection: Arc::clone(&self.selection),
            source: source.with(&self.source),
            destination: destination.with(&self.destination),
            properties,
            memory: Some(memory),
        })
    }
}

/// The edges in the order of a layout.
struct Ordered {
    edges: Arc<Edges>,
    order: EdgeOrder,
}

impl Ordered {
    /// The adj_list columns of these stored rows, the source first: readers go by position.
    fn ends(&self, rows: &Range<usize>) -> Result<RecordBatch> {
        let ids = |ids: &Ids| -> ArrayRef {
            Arc::new(match self.order.input_rows(rows) {
                Some(input) => ids.take(input.iter().map(|row| *row as usize)),
                None => ids.take(rows.clone()),
            })
        };
        let field = |name| Field::new(name, DataType::Int64, false);
        batch(
            Arc::new(Schema::new(vec![field(SRC_COLUMN), field(DST_COLUMN)])),
            vec![ids(&self.edges.source), ids(&self.edges.destination)],
            rows.len(),
        )
    }

    /// The properties of one group of these stored rows.
    fn group(&self, group: usize, rows: &Range<usize>) -> Result<RecordBatch> {
        let Edges {
            selection,
            properties,
            ..
        } = self.edges.as_ref();
        let columns = selection.group(group, None, properties)?;
        match self.order.input_rows(rows) {
            Some(input) => {
                let input = UInt32Array::from_iter_values(input.iter().copied());
                take_record_batch(&columns, &input).map_err(|e| GraphArError::payload("edges", e))
            }
            None => Ok(columns.slice(rows.start, rows.len())),
        }
    }
}

/// A layout that is written part by part.
pub(super) struct Layout<'a> {
    info: &'a EdgeInfo,
    list: &'a AdjacentList,
    paths: AdjListPaths,
    /// Number of vertices of the aligned end.
    count: u64,
    /// The parts that the edges are of.
    parts: Range<u64>,
    ordered: Arc<Ordered>,
}

impl<'a> Layout<'a> {
    /// Orders all edges of a layout.
    pub(super) fn try_new(
        triplet: Triplet<'a>,
        list: &'a AdjacentList,
        edges: &Arc<Edges>,
    ) -> Result<Self> {
        let parts = 0..triplet.parts(list.layout.aligned_by());
        Self::of_parts(triplet, list, edges, parts)
    }

    /// Orders the edges of some parts of a layout.
    pub(super) fn of_parts(
        triplet: Triplet<'a>,
        list: &'a AdjacentList,
        edges: &Arc<Edges>,
        parts: Range<u64>,
    ) -> Result<Self> {
        let (layout, info) = (list.layout, triplet.info);
        let end = layout.aligned_by();
        let part_size = length(info.part_size(layout));
        let vertices = triplet.vertices_of(end, &parts);
        let vertices = length(vertices.start)..length(vertices.end);
        let aligned = edges.end(end);
        let order = EdgeOrder::try_new(triplet.info_file, layout, aligned, vertices, part_size)?;
        Ok(Self {
            info,
            list,
            paths: AdjListPaths::new(info.prefix.as_deref().unwrap_or_default(), list),
            count: triplet.count(end),
            parts,
            ordered: Arc::new(Ordered {
                edges: Arc::clone(edges),
                order,
            }),
        })
    }

    /// The parts that can be written.
    pub(super) fn parts(&self) -> Range<u64> {
        self.parts.clone()
    }

    /// Writes the files of a part.
    pub(super) async fn write_part(
        &self,
        part: u64,
        output: &Output,
        files: &mut ChunkFiles,
    ) -> Result<()> {
        let Self {
            info,
            list,
            paths,
            ordered,
            ..
        } = self;
        let own = length(part.saturating_sub(self.parts.start));
        let rows = ordered.order.part(own);
        let chunk_size = length(info.chunk_size);
        for (chunk, start) in rows.clone().step_by(chunk_size).enumerate() {
            let rows = start..start.saturating_add(chunk_size).min(rows.end);
            let chunk = chunk as u64;
            let (all, taken) = (Arc::clone(ordered), rows.clone());
            let name = paths.adj_list_chunk(part, chunk);
            let make = move || all.ends(&taken);
            files
                .write(list.file_type, name, rows.len() * 2, make)
                .await?;
            for (number, group) in info.property_groups.iter().enumerate() {
                let (all, taken) = (Arc::clone(ordered), rows.clone());
                let name = paths.property_chunk(group, part, chunk);
                let values = rows.len() * group.properties.len();
                let make = move || all.group(number, &taken);
                files.write(group.file_type, name, values, make).await?;
            }
        }
        if list.layout.is_ordered() {
            let all = Arc::clone(ordered);
            let name = paths.offset_chunk(part);
            let values = length(info.part_size(list.layout));
            let make = move || offset_rows(all.order.offsets(own));
            files.write(list.file_type, name, values, make).await?;
        }
        let count = paths.edge_count(part);
        output.put_count(&count, rows.len() as u64).await
    }

    /// Writes the number of vertices.
    pub(super) async fn write_count(&self, output: &Output) -> Result<()> {
        write_count(self.info, self.list, self.count, output).await
    }
}

/// Writes the number of vertices that a layout has parts for.
pub(super) async fn write_count(
    info: &EdgeInfo,
    list: &AdjacentList,
    count: u64,
    output: &Output,
) -> Result<()> {
    let paths = AdjListPaths::new(info.prefix.as_deref().unwrap_or_default(), list);
    output.put_count(&paths.vertex_count(), count).await
}

/// The rows of an offset chunk.
pub(super) fn offset_rows(offsets: Vec<i64>) -> Result<RecordBatch> {
    let rows = offsets.len();
    let field = Field::new(OFFSET_COLUMN, DataType::Int64, false);
    let offsets: ArrayRef = Arc::new(Int64Array::from(offsets));
    batch(Arc::new(Schema::new(vec![field])), vec![offsets], rows)
}
