//! One edge triplet: every layout with its edges, properties, offsets and count files.

use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, Int64Array, RecordBatch, UInt64Array};
use datafusion::arrow::compute::take;
use datafusion::arrow::datatypes::{DataType, Field};

use super::columns::{GroupColumns, bad_input, batch, select};
use super::edge_order::EdgeOrder;
use super::output::{Output, length};
use super::payload::encode;
use crate::error::{GraphArError, Result};
use crate::format::{
    AdjListPaths, AdjacentList, AlignedBy, DST_COLUMN, EdgeInfo, OFFSET_COLUMN, SRC_COLUMN,
    join_prefix,
};

/// The edges of one triplet, checked and not yet written.
pub(super) struct EdgeSink<'a> {
    info_file: &'a str,
    info: &'a EdgeInfo,
    source: End<'a>,
    destination: End<'a>,
    groups: Vec<GroupColumns<'a>>,
    folders: Vec<String>,
}

/// One end of all edges.
struct End<'a> {
    column: &'a Int64Array,
    ids: Vec<usize>,
    /// Number of vertices of the end's type.
    vertices: usize,
}

impl<'a> End<'a> {
    fn try_new(
        info: &EdgeInfo,
        end: &str,
        vertex_type: &str,
        column: &'a Int64Array,
        vertices: usize,
    ) -> Result<Self> {
        let mut ids = Vec::with_capacity(column.len());
        for (row, id) in column.iter().enumerate() {
            match id
                .and_then(|id| usize::try_from(id).ok())
                .filter(|id| *id < vertices)
            {
                Some(id) => ids.push(id),
                None => {
                    return Err(bad_input(
                        &info.key(),
                        format!("{end} of row {row}"),
                        format!(
                            "an internal id of one of the {vertices} vertices of '{vertex_type}', counted from 0"
                        ),
                        id.map_or_else(|| "null".to_owned(), |id| id.to_string()),
                    ));
                }
            }
        }
        Ok(Self {
            column,
            ids,
            vertices,
        })
    }
}

impl<'a> EdgeSink<'a> {
    /// Checks everything that can be checked without encoding. `vertices` are the numbers of
    /// vertices of the source's and the destination's type.
    pub(super) fn try_new(
        output: &Output,
        info_file: &'a str,
        info: &'a EdgeInfo,
        vertices: (usize, usize),
        ends: (&'a Int64Array, &'a Int64Array),
        properties: &RecordBatch,
    ) -> Result<Self> {
        let owner = info.key();
        let (source, destination) = ends;
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
        let groups = select(info_file, &owner, &info.property_groups, properties)?;
        let source = End::try_new(info, "source", &info.src_type, source, vertices.0)?;
        let destination =
            End::try_new(info, "destination", &info.dst_type, destination, vertices.1)?;
        let prefix = info.prefix.as_deref().unwrap_or_default();
        let mut folders = vec![];
        for list in &info.adj_lists {
            let folder = join_prefix(prefix, &list.folder());
            folders.push(join_prefix(&folder, "adj_list/"));
            if list.layout.is_ordered() {
                folders.push(join_prefix(&folder, "offset/"));
            }
            folders.extend(
                info.property_groups
                    .iter()
                    .map(|group| join_prefix(&folder, &group.folder())),
            );
        }
        output.check_free(info_file, &folders)?;
        Ok(Self {
            info_file,
            info,
            source,
            destination,
            groups,
            folders,
        })
    }

    /// Writes all layouts.
    pub(super) async fn write(self, output: &mut Output) -> Result<()> {
        for list in &self.info.adj_lists {
            self.write_layout(output, list).await?;
        }
        output.take_folders(self.folders);
        Ok(())
    }

    async fn write_layout(&self, output: &Output, list: &AdjacentList) -> Result<()> {
        let layout = list.layout;
        let aligned = match layout.aligned_by() {
            AlignedBy::Source => &self.source,
            AlignedBy::Destination => &self.destination,
        };
        let part_size = length(self.info.part_size(layout));
        let order = EdgeOrder::try_new(
            self.info_file,
            layout,
            &aligned.ids,
            aligned.vertices,
            part_size,
        )?;
        let paths = AdjListPaths::new(self.info.prefix.as_deref().unwrap_or_default(), list);
        let chunk_size = length(self.info.chunk_size);
        for part in 0..order.parts() {
            let rows = order.part(part);
            for (chunk, start) in rows.clone().step_by(chunk_size).enumerate() {
                let end = start.saturating_add(chunk_size).min(rows.end);
                let input =
                    UInt64Array::from_iter_values(order.input_rows(start..end).iter().copied());
                let (part, chunk) = (part as u64, chunk as u64);
                let path = paths.adj_list_chunk(part, chunk);
                output
                    .put(&path, encode(list.file_type, &path, &self.ends(&input)?)?)
                    .await?;
                for group in &self.groups {
                    let path = paths.property_chunk(group.group, part, chunk);
                    output
                        .put(
                            &path,
                            encode(group.group.file_type, &path, &group.take(&input)?)?,
                        )
                        .await?;
                }
            }
            if layout.is_ordered() {
                let path = paths.offset_chunk(part as u64);
                let offsets: ArrayRef = Arc::new(Int64Array::from(order.offsets(part)?));
                let len = offsets.len();
                let field = Arc::new(Field::new(OFFSET_COLUMN, DataType::Int64, false));
                let offsets = batch(vec![field], vec![offsets], len)?;
                output
                    .put(&path, encode(list.file_type, &path, &offsets)?)
                    .await?;
            }
            output
                .put_count(&paths.edge_count(part as u64), rows.len())
                .await?;
        }
        output
            .put_count(&paths.vertex_count(), aligned.vertices)
            .await
    }

    /// The adj_list columns of these input rows, the source first: readers go by position.
    fn ends(&self, input: &UInt64Array) -> Result<RecordBatch> {
        let ids = |end: &End<'_>| {
            take(end.column, input, None).map_err(|e| GraphArError::payload(self.info.key(), e))
        };
        let field = |name| Arc::new(Field::new(name, DataType::Int64, false));
        batch(
            vec![field(SRC_COLUMN), field(DST_COLUMN)],
            vec![ids(&self.source)?, ids(&self.destination)?],
            input.len(),
        )
    }
}
