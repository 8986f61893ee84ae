//! One vertex type: property chunks, label chunks, count file.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, Int64Array, ListArray, RecordBatch};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef};

use super::columns::{GroupColumns, select};
use super::labels::label_columns;
use super::output::{Output, length};
use super::payload::encode;
use crate::error::{GraphArError, Result};
use crate::format::{FileType, VERTEX_INDEX_COLUMN, VertexInfo, VertexPaths, join_prefix};

/// The rows of one vertex type, checked and not yet written.
pub(super) struct VertexSink<'a> {
    info: &'a VertexInfo,
    paths: VertexPaths,
    groups: Vec<GroupColumns<'a>>,
    labels: Option<RecordBatch>,
    rows: usize,
    folders: Vec<String>,
}

impl<'a> VertexSink<'a> {
    /// Checks everything that can be checked without encoding.
    pub(super) fn try_new(
        output: &Output,
        info_file: &str,
        info: &'a VertexInfo,
        rows: &RecordBatch,
        labels: Option<&ListArray>,
    ) -> Result<Self> {
        let prefix = info.prefix.as_deref().unwrap_or_default();
        let owner = &info.vertex_type;
        let groups = select(info_file, owner, &info.property_groups, rows)?;
        let labels = labels
            .map(|labels| label_columns(owner, &info.labels, labels, rows.num_rows()))
            .transpose()?;
        let mut folders: Vec<_> = info
            .property_groups
            .iter()
            .map(|group| join_prefix(prefix, &group.folder()))
            .collect();
        if !info.labels.is_empty() {
            folders.push(join_prefix(prefix, "labels/"));
        }
        output.check_free(info_file, &folders)?;
        Ok(Self {
            info,
            paths: VertexPaths::new(prefix),
            groups,
            labels,
            rows: rows.num_rows(),
            folders,
        })
    }

    /// Writes the chunks, then the count. Gives the number of vertices.
    pub(super) async fn write(self, output: &mut Output) -> Result<usize> {
        let size = length(self.info.chunk_size);
        for (chunk, start) in (0..self.rows).step_by(size).enumerate() {
            let len = size.min(self.rows - start);
            for group in &self.groups {
                let path = self.paths.property_chunk(group.group, chunk as u64);
                let batch = group.slice(Some(index_column(start, len)?), start, len)?;
                output
                    .put(&path, encode(group.group.file_type, &path, &batch)?)
                    .await?;
            }
            if let Some(labels) = self
                .labels
                .as_ref()
                .filter(|labels| labels.num_columns() > 0)
            {
                let path = self.paths.label_chunk(chunk as u64);
                output
                    .put(
                        &path,
                        encode(FileType::Parquet, &path, &labels.slice(start, len))?,
                    )
                    .await?;
            }
        }
        output
            .put_count(&self.paths.vertex_count(), self.rows)
            .await?;
        output.take_folders(self.folders);
        Ok(self.rows)
    }
}

/// The internal ids of `len` vertices from `start`.
fn index_column(start: usize, len: usize) -> Result<(FieldRef, ArrayRef)> {
    let id =
        |row: usize| i64::try_from(row).map_err(|e| GraphArError::payload(VERTEX_INDEX_COLUMN, e));
    let ids = Int64Array::from_iter_values(id(start)?..id(start + len)?);
    Ok((
        Arc::new(Field::new(VERTEX_INDEX_COLUMN, DataType::Int64, false)),
        Arc::new(ids),
    ))
}
