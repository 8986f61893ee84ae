//! Chunk files of every payload type, read into batches of the declared types.
//!
//! [`open_chunk`] is the only way in. A payload module decodes the rows and columns that a
//! [`ChunkRequest`] names into batches of whatever types the file has; this module turns
//! them into the declared types, counts the rows, and turns a panic inside a third-party
//! decoder into an error.

mod cast;
mod checked;
mod columns;
mod csv;
mod file;
mod ipc;
mod json;
#[cfg(feature = "orc")]
mod orc;
mod outline;
mod parquet;
#[cfg(test)]
mod tests;
mod time_text;

pub use self::outline::{Outline, StoredColumn};
pub use self::parquet::{FileStamp, IdColumn, ParquetFile, TrueRows};

use std::ops::Range;
use std::sync::Arc;

use datafusion::arrow::datatypes::{FieldRef, Schema, SchemaRef};
use datafusion::arrow::record_batch::RecordBatch;
use futures::stream::BoxStream;
use object_store::path::Path;

use crate::error::Result;
use crate::format::{FileType, RowRanges};
use crate::storage::access::FileAccess;

/// Batches of one chunk file. All have the schema of the request and at least one row.
pub type ChunkStream = BoxStream<'static, Result<RecordBatch>>;

/// How a column is found in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ColumnSource {
    /// By name; a file without the column has nulls (an error if the field is not nullable).
    Name(String),
    /// By position, whatever its name.
    Position(usize),
}

/// One column to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChunkColumn {
    /// Name, declared type and nullability of the result.
    pub field: FieldRef,
    /// Where it stands in the file.
    pub source: ColumnSource,
}

impl ChunkColumn {
    /// A column that stands in the file under the name of its field.
    pub fn named(field: FieldRef) -> Self {
        let source = ColumnSource::Name(field.name().clone());
        Self { field, source }
    }

    /// A column that stands at this position of the file, whatever its name there.
    pub fn at(position: usize, field: &FieldRef) -> Self {
        Self {
            source: ColumnSource::Position(position),
            field: Arc::clone(field),
        }
    }
}

/// What to read of one chunk file.
#[derive(Debug, Clone)]
pub struct ChunkRequest {
    /// The store of the file, its cache and the counters of the scan.
    pub access: FileAccess,
    /// Path inside the store.
    pub path: Path,
    /// Columns of the result, in order; may be empty, then batches have rows but no columns.
    pub columns: Vec<ChunkColumn>,
    /// All columns that the metadata declares for the file, in file order, and the index
    /// columns. Text formats need the types of the columns that they skip, too.
    pub declared: SchemaRef,
    /// Rows wanted, inside `0..chunk_rows`.
    pub rows: Range<u64>,
    /// If not all of `rows`, which of them.
    pub picked: Option<RowRanges>,
    /// The file, if it is Parquet and was opened before.
    pub opened: Option<Arc<ParquetFile>>,
    /// Rows that the file must have, by the counts.
    pub chunk_rows: u64,
    /// Most rows of a batch.
    pub batch_size: usize,
}

impl ChunkRequest {
    /// Schema of the batches.
    pub fn schema(&self) -> SchemaRef {
        Arc::new(Schema::new(
            self.columns
                .iter()
                .map(|c| Arc::clone(&c.field))
                .collect::<Vec<_>>(),
        ))
    }

    /// How many rows are wanted.
    pub fn wanted(&self) -> u64 {
        match &self.picked {
            Some(picked) => picked.count(),
            None => self.rows.end.saturating_sub(self.rows.start),
        }
    }

    /// The row of the file that the wanted row number `position` is.
    pub(crate) fn row_at(&self, position: u64) -> u64 {
        let Some(picked) = &self.picked else {
            return self.rows.start + position;
        };
        let mut left = position;
        for range in picked.ranges() {
            let rows = range.end - range.start;
            if left < rows {
                return range.start + left;
            }
            left -= rows;
        }
        self.rows.end
    }

    /// The file's name in messages.
    pub fn name(&self) -> String {
        self.path.to_string()
    }
}

/// Opens a chunk file and gives the rows wanted, in file order, in the declared types.
///
/// # Errors
/// If the file is missing or broken, has another number of rows than the counts say (as far
/// as the payload shows it without reading rows that were not asked for), lacks a column that
/// may not be null, or holds a value that the declared type cannot represent. The stream ends
/// with the first error; it never gives fewer or more rows than asked for without one.
pub async fn open_chunk(file_type: FileType, request: ChunkRequest) -> Result<ChunkStream> {
    checked::open(file_type, request).await
}

/// The number of rows of a chunk file, for archives whose count files are missing. Takes the
/// footer of Parquet, ORC and Arrow IPC, and the whole text of CSV and JSON.
///
/// # Errors
/// If the file is missing or broken.
pub async fn count_rows(file_type: FileType, access: &FileAccess, path: &Path) -> Result<u64> {
    Ok(outline(file_type, access, path).await?.rows)
}

/// The number of rows of a chunk file and the columns that it has. Reads as much as [`count_rows`].
///
/// # Errors
/// If the file is missing or broken.
pub async fn outline(file_type: FileType, access: &FileAccess, path: &Path) -> Result<Outline> {
    let request = ChunkRequest {
        access: access.clone(),
        path: path.clone(),
        columns: vec![],
        declared: Arc::new(Schema::empty()),
        rows: 0..0,
        picked: None,
        opened: None,
        chunk_rows: 0,
        batch_size: 8192,
    };
    checked::outline(file_type, request).await
}
