//! One vertex type: property chunks, label chunks, count file.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, BooleanArray, Int64Array, ListArray, RecordBatch};
use datafusion::arrow::compute::concat_batches;
use datafusion::arrow::datatypes::{DataType, Field, FieldRef, Schema, SchemaRef};

use super::chunk_files::ChunkFiles;
use super::columns::{Selection, batch, batch_as};
use super::labels::{label_columns, label_fields};
use super::output::length;
use crate::error::{GraphArError, Result};
use crate::format::{FileType, VERTEX_INDEX_COLUMN, VertexInfo, VertexPaths};

/// Vertices of one type, cut into chunks as they come.
///
/// Holds fewer rows than a chunk has.
pub(super) struct VertexSink<'a> {
    info: &'a VertexInfo,
    paths: VertexPaths,
    selection: Arc<Selection>,
    /// The properties, then a column of each label.
    schema: SchemaRef,
    has_labels: bool,
    pending: Vec<RecordBatch>,
    pending_rows: usize,
    chunk: u64,
    rows: u64,
}

impl<'a> VertexSink<'a> {
    /// A sink of rows of the schema `rows`. `first` is the id of the first, which begins a chunk.
    ///
    /// # Errors
    /// If the rows do not have the declared columns.
    pub(super) fn try_new(
        info_file: &str,
        info: &'a VertexInfo,
        rows: &Schema,
        has_labels: bool,
        first: u64,
    ) -> Result<Self> {
        let selection =
            Selection::try_new(info_file, &info.vertex_type, &info.property_groups, rows)?;
        let has_labels = has_labels && !info.labels.is_empty();
        let mut fields: Vec<FieldRef> = selection.schema().fields().iter().cloned().collect();
        if has_labels {
            fields.extend(label_fields(&info.labels).iter().cloned());
        }
        Ok(Self {
            info,
            paths: VertexPaths::new(info.prefix.as_deref().unwrap_or_default()),
            selection: Arc::new(selection),
            schema: Arc::new(Schema::new(fields)),
            has_labels,
            pending: vec![],
            pending_rows: 0,
            chunk: first / info.chunk_size.max(1),
            rows: first,
        })
    }

    /// Adds rows; chunks that are full are written. `labels` names the labels of each row.
    ///
    /// # Errors
    /// If a value is null that may not be, a label is not declared, or a file cannot be written.
    pub(super) async fn push(
        &mut self,
        files: &mut ChunkFiles,
        rows: &RecordBatch,
        labels: Option<&ListArray>,
    ) -> Result<()> {
        let selected = self.selection.rows(rows, self.rows)?;
        let mut columns = selected.columns().to_vec();
        if let Some(labels) = labels {
            let owner = &self.info.vertex_type;
            let flags =
                label_columns(owner, &self.info.labels, labels, self.rows, rows.num_rows())?;
            if self.has_labels {
                columns.extend_from_slice(flags.columns());
            }
        }
        if self.has_labels && labels.is_none() {
            let none: ArrayRef = Arc::new(BooleanArray::from(vec![false; rows.num_rows()]));
            columns.resize(self.schema.fields().len(), none);
        }
        let rows = batch(Arc::clone(&self.schema), columns, rows.num_rows())?;
        self.add(files, rows).await
    }

    /// Adds rows that were stored before: the properties, then the labels.
    ///
    /// # Errors
    /// If a column cannot be brought into the type of the rows that follow.
    pub(super) async fn push_stored(
        &mut self,
        files: &mut ChunkFiles,
        columns: &[ArrayRef],
        count: usize,
    ) -> Result<()> {
        let rows = batch_as(&self.schema, columns, count)?;
        self.add(files, rows).await
    }

    async fn add(&mut self, files: &mut ChunkFiles, rows: RecordBatch) -> Result<()> {
        self.rows += rows.num_rows() as u64;
        self.pending_rows += rows.num_rows();
        self.pending.push(rows);
        let size = length(self.info.chunk_size);
        while self.pending_rows >= size {
            let chunk = self.cut(size)?;
            self.write(files, chunk).await?;
        }
        Ok(())
    }

    /// Whether label chunks are written.
    pub(super) fn has_labels(&self) -> bool {
        self.has_labels
    }

    /// Bytes of the rows that wait for their chunk.
    pub(super) fn bytes(&self) -> usize {
        let pending = self.pending.iter();
        pending.map(RecordBatch::get_array_memory_size).sum()
    }

    /// Writes the last chunk. Gives the number of vertices with those before the first.
    pub(super) async fn finish(mut self, files: &mut ChunkFiles) -> Result<u64> {
        if self.pending_rows > 0 {
            let chunk = self.cut(self.pending_rows)?;
            self.write(files, chunk).await?;
        }
        Ok(self.rows)
    }

    /// Takes rows from the front.
    fn cut(&mut self, rows: usize) -> Result<RecordBatch> {
        let mut pieces = vec![];
        let mut left = rows;
        let mut taken = 0;
        for piece in &mut self.pending {
            if left < piece.num_rows() {
                if left > 0 {
                    pieces.push(piece.slice(0, left));
                    *piece = piece.slice(left, piece.num_rows() - left);
                }
                break;
            }
            left -= piece.num_rows();
            pieces.push(piece.clone());
            taken += 1;
        }
        self.pending.drain(..taken);
        self.pending_rows -= rows;
        match <[RecordBatch; 1]>::try_from(pieces) {
            Ok([only]) => Ok(only),
            Err(pieces) => concat_batches(&self.schema, &pieces)
                .map_err(|e| GraphArError::payload(&self.info.vertex_type, e)),
        }
    }

    async fn write(&mut self, files: &mut ChunkFiles, rows: RecordBatch) -> Result<()> {
        let first = self.chunk * self.info.chunk_size;
        for (number, group) in self.info.property_groups.iter().enumerate() {
            let (selection, rows) = (Arc::clone(&self.selection), rows.clone());
            let values = rows.num_rows() * (group.properties.len() + 1);
            let make = move || {
                let ids = index_column(first, rows.num_rows())?;
                selection.group(number, Some(ids), &rows)
            };
            let name = self.paths.property_chunk(group, self.chunk);
            files.write(group.file_type, name, values, make).await?;
        }
        if self.has_labels {
            let properties = self.selection.schema().fields().len();
            let schema = Arc::new(Schema::new(label_fields(&self.info.labels)));
            let columns = rows.columns()[properties..].to_vec();
            let values = rows.num_rows() * columns.len();
            let labels = batch(schema, columns, rows.num_rows())?;
            let name = self.paths.label_chunk(self.chunk);
            files
                .write(FileType::Parquet, name, values, || Ok(labels))
                .await?;
        }
        self.chunk += 1;
        Ok(())
    }
}

/// The internal ids of `len` vertices from `first`.
fn index_column(first: u64, len: usize) -> Result<(FieldRef, ArrayRef)> {
    let id = |id: u64| i64::try_from(id).map_err(|e| GraphArError::payload(VERTEX_INDEX_COLUMN, e));
    let ids = Int64Array::from_iter_values(id(first)?..id(first + len as u64)?);
    Ok((
        Arc::new(Field::new(VERTEX_INDEX_COLUMN, DataType::Int64, false)),
        Arc::new(ids),
    ))
}
