//! Chunk files of every payload type, encoded in memory.
//!
//! A chunk is the unit in which an archive is written: [`encode`] turns the rows of one
//! chunk into the bytes of its file. Column names, their order and their nullability are
//! those of the batch; the caller has put them into the order of the info file.

mod csv;
mod ipc;
mod json;
#[cfg(feature = "orc")]
mod orc;
mod parquet;
#[cfg(test)]
mod tests;
mod text;

use std::sync::Arc;

pub use self::parquet::EncodeOptions;
use bytes::Bytes;
use datafusion::arrow::array::{ArrayRef, RecordBatch};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Field, Schema, TimeUnit};

use crate::error::{GraphArError, Result};
use crate::format::FileType;

/// The bytes of a chunk file with these rows.
///
/// `path` stands in error messages only. Strings may be `Utf8`, `LargeUtf8` or `Utf8View`.
///
/// # Errors
/// If the payload type is not built in, cannot hold a column's type (see
/// [`check_columns`]), or cannot hold a value: NaN and infinities in JSON, years outside 0 to
/// 9999 in CSV and JSON, the last second before 1970 in ORC, a null in a CSV file of one
/// column. Nothing is replaced by something near it.
pub fn encode(
    file_type: FileType,
    path: &str,
    batch: &RecordBatch,
    options: &EncodeOptions,
) -> Result<Bytes> {
    check_columns(file_type, path, batch.schema_ref())?;
    match file_type {
        FileType::Parquet => parquet::encode(path, batch, options),
        FileType::Csv => csv::encode(path, batch),
        FileType::Json => json::encode(path, batch),
        FileType::Arrow => ipc::encode(path, batch),
        #[cfg(feature = "orc")]
        FileType::Orc => orc::encode(path, batch),
        #[cfg(not(feature = "orc"))]
        FileType::Orc => Err(orc_not_built_in(path)),
    }
}

/// Whether a payload type can hold columns of these types, without looking at a row.
///
/// # Errors
/// [`GraphArError::Unsupported`] with the name and type of the first column that it cannot
/// hold: a list in CSV (the format's rule) or in ORC (the encoder's limit), and any type that
/// no property has.
pub fn check_columns(file_type: FileType, path: &str, schema: &Schema) -> Result<()> {
    #[cfg(not(feature = "orc"))]
    if file_type == FileType::Orc {
        return Err(orc_not_built_in(path));
    }
    match schema
        .fields()
        .iter()
        .find(|field| !holds(file_type, field.data_type()))
    {
        None => Ok(()),
        Some(field) => Err(GraphArError::Unsupported {
            path: path.to_owned(),
            feature: format!(
                "column '{}' of type {} in a {file_type} file",
                field.name(),
                field.data_type()
            ),
            hint: ": put it into a property group with file type parquet".to_owned(),
        }),
    }
}

#[cfg(not(feature = "orc"))]
fn orc_not_built_in(path: &str) -> GraphArError {
    GraphArError::Unsupported {
        path: path.to_owned(),
        feature: "file type orc".to_owned(),
        hint: ": build with feature `orc`".to_owned(),
    }
}

fn holds(file_type: FileType, data_type: &DataType) -> bool {
    match data_type {
        DataType::List(item) => {
            !matches!(file_type, FileType::Csv | FileType::Orc)
                && holds(file_type, item.data_type())
        }
        DataType::Boolean
        | DataType::Int32
        | DataType::Int64
        | DataType::Float32
        | DataType::Float64
        | DataType::Utf8
        | DataType::LargeUtf8
        | DataType::Utf8View
        | DataType::Date32
        | DataType::Timestamp(TimeUnit::Millisecond, None) => true,
        _ => false,
    }
}

/// The batch with every string column in one offset width. `LargeUtf8` is what the C++
/// library makes of `string`, and the only plain layout that a chunk of any size fits into.
fn plain_strings(path: &str, batch: &RecordBatch) -> Result<RecordBatch> {
    let mut fields = vec![];
    let mut columns = vec![];
    for (field, column) in batch.schema_ref().fields().iter().zip(batch.columns()) {
        let plain: ArrayRef = match field.data_type() {
            DataType::Utf8 | DataType::Utf8View => {
                cast(column, &DataType::LargeUtf8).map_err(|e| GraphArError::payload(path, e))?
            }
            _ => Arc::clone(column),
        };
        fields.push(Field::new(
            field.name(),
            plain.data_type().clone(),
            field.is_nullable(),
        ));
        columns.push(plain);
    }
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)
        .map_err(|e| GraphArError::payload(path, e))
}
