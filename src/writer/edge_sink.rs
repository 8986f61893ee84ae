//! One edge triplet: every layout with its edges, properties, offsets and count files.

use std::ops::Range;
use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, Int64Array, RecordBatch, UInt32Array};
use datafusion::arrow::compute::{concat_batches, take_record_batch};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};

use super::chunk_files::ChunkFiles;
use super::columns::{Selection, bad_input, batch};
use super::edge_order::EdgeOrder;
use super::ids::Ids;
use super::output::{Output, length};
use crate::error::{GraphArError, Result};
use crate::format::{
    AdjListPaths, AdjacentList, AlignedBy, DST_COLUMN, EdgeInfo, OFFSET_COLUMN, SRC_COLUMN,
};

/// Edges of one triplet, collected before any of them can be written: each layout has them in another order.
pub(super) struct EdgeSink<'a> {
    info_file: &'a str,
    info: &'a EdgeInfo,
    selection: Arc<Selection>,
    /// Numbers of vertices of the source's and of the destination's type.
    vertices: (u64, u64),
    source: Ids,
    destination: Ids,
    properties: Vec<RecordBatch>,
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
            info_file,
            info,
            selection: Arc::new(selection),
            vertices,
            source: Ids::below(vertices.0),
            destination: Ids::below(vertices.1),
            properties: vec![],
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
        let owner = self.info.key();
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
        let (sources, destinations) = self.vertices;
        let added = self.source.extend(source, sources);
        added.map_err(|bad| checked("source", &self.info.src_type, source, sources, bad))?;
        let added = self.destination.extend(destination, destinations);
        added.map_err(|bad| {
            checked(
                "destination",
                &self.info.dst_type,
                destination,
                destinations,
                bad,
            )
        })?;
        self.rows += source.len() as u64;
        if selected.num_columns() > 0 {
            self.properties.push(selected);
        }
        Ok(())
    }

    /// Bytes that an edge takes beside its properties while it is collected and ordered: both ends and, once, its
    /// place.
    pub(super) fn bytes_per_edge(&self) -> usize {
        self.source.width() + self.destination.width() + size_of::<u32>()
    }

    /// Writes all layouts. Gives the number of edges.
    pub(super) async fn finish(self, output: &Output, files: &mut ChunkFiles) -> Result<u64> {
        let (rows, info, vertices) = (self.rows, self.info, self.vertices);
        let info_file = self.info_file;
        let edges = Arc::new(self.collected()?);
        for list in &info.adj_lists {
            files.progress().enter(format!("writing {}", list.layout));
            let layout = Layout::try_new(info_file, info, list, vertices, &edges)?;
            for part in 0..layout.parts() {
                layout.write_part(part, output, files).await?;
            }
            layout.write_count(output).await?;
        }
        Ok(rows)
    }

    /// The edges in the order in which they came.
    pub(super) fn collected(self) -> Result<Edges> {
        let properties = concat_batches(self.selection.schema(), &self.properties)
            .map_err(|e| GraphArError::payload(self.info.key(), e))?;
        Ok(Edges {
            selection: self.selection,
            source: self.source,
            destination: self.destination,
            properties,
        })
    }

    /// Numbers of vertices of the source's and of the destination's type.
    pub(super) fn vertices(&self) -> (u64, u64) {
        self.vertices
    }

    /// Vertices of the larger type.
    pub(super) fn most_vertices(&self) -> u64 {
        self.vertices.0.max(self.vertices.1)
    }

    /// The schema of the properties that are written.
    pub(super) fn properties_schema(&self) -> &SchemaRef {
        self.selection.schema()
    }
}

/// The edges of a triplet, in the order in which they came.
pub(super) struct Edges {
    selection: Arc<Selection>,
    source: Ids,
    destination: Ids,
    properties: RecordBatch,
}

impl Edges {
    /// How many they are.
    pub(super) fn len(&self) -> usize {
        self.source.len()
    }

    /// The ids of one end.
    pub(super) fn end(&self, end: AlignedBy) -> &Ids {
        match end {
            AlignedBy::Source => &self.source,
            AlignedBy::Destination => &self.destination,
        }
    }

    /// These edges behind others.
    pub(super) fn behind(
        &self,
        source: Ids,
        destination: Ids,
        properties: &[RecordBatch],
    ) -> Result<Self> {
        let all = properties.iter().chain([&self.properties]);
        let properties = concat_batches(self.selection.schema(), all)
            .map_err(|e| GraphArError::payload("edges", e))?;
        Ok(Self {
            selection: Arc::clone(&self.selection),
            source: source.with(&self.source),
            destination: destination.with(&self.destination),
            properties,
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
    ordered: Arc<Ordered>,
}

impl<'a> Layout<'a> {
    /// Orders the edges of a layout.
    pub(super) fn try_new(
        info_file: &str,
        info: &'a EdgeInfo,
        list: &'a AdjacentList,
        vertices: (u64, u64),
        edges: &Arc<Edges>,
    ) -> Result<Self> {
        let layout = list.layout;
        let count = match layout.aligned_by() {
            AlignedBy::Source => vertices.0,
            AlignedBy::Destination => vertices.1,
        };
        let part_size = length(info.part_size(layout));
        let aligned = edges.end(layout.aligned_by());
        let order = EdgeOrder::try_new(info_file, layout, aligned, length(count), part_size)?;
        Ok(Self {
            info,
            list,
            paths: AdjListPaths::new(info.prefix.as_deref().unwrap_or_default(), list),
            count,
            ordered: Arc::new(Ordered {
                edges: Arc::clone(edges),
                order,
            }),
        })
    }

    /// Number of parts.
    pub(super) fn parts(&self) -> usize {
        self.ordered.order.parts()
    }

    /// Writes the files of a part.
    pub(super) async fn write_part(
        &self,
        part: usize,
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
        let rows = ordered.order.part(part);
        let chunk_size = length(info.chunk_size);
        for (chunk, start) in rows.clone().step_by(chunk_size).enumerate() {
            let rows = start..start.saturating_add(chunk_size).min(rows.end);
            let (part, chunk) = (part as u64, chunk as u64);
            let (all, own) = (Arc::clone(ordered), rows.clone());
            let name = paths.adj_list_chunk(part, chunk);
            let make = move || all.ends(&own);
            files
                .write(list.file_type, name, rows.len() * 2, make)
                .await?;
            for (number, group) in info.property_groups.iter().enumerate() {
                let (all, own) = (Arc::clone(ordered), rows.clone());
                let name = paths.property_chunk(group, part, chunk);
                let values = rows.len() * group.properties.len();
                let make = move || all.group(number, &own);
                files.write(group.file_type, name, values, make).await?;
            }
        }
        if list.layout.is_ordered() {
            let all = Arc::clone(ordered);
            let name = paths.offset_chunk(part as u64);
            let values = length(info.part_size(list.layout));
            let make = move || offset_rows(all.order.offsets(part));
            files.write(list.file_type, name, values, make).await?;
        }
        let count = paths.edge_count(part as u64);
        output.put_count(&count, rows.len() as u64).await
    }

    /// Writes the number of vertices.
    pub(super) async fn write_count(&self, output: &Output) -> Result<()> {
        output
            .put_count(&self.paths.vertex_count(), self.count)
            .await
    }
}

/// The rows of an offset chunk.
pub(super) fn offset_rows(offsets: Vec<i64>) -> Result<RecordBatch> {
    let rows = offsets.len();
    let field = Field::new(OFFSET_COLUMN, DataType::Int64, false);
    let offsets: ArrayRef = Arc::new(Int64Array::from(offsets));
    batch(Arc::new(Schema::new(vec![field])), vec![offsets], rows)
}
