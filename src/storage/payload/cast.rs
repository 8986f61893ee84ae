//! From the types that a file has to those that the metadata declares.
//!
//! Writers store a declared `int64` as a 32-bit column, a `timestamp` in microseconds, a
//! `string` as a dictionary. Each value is converted exactly or reported with its row; times
//! finer than milliseconds round down, also before 1970. Columns that have their declared
//! type already are passed on as they are.

mod list;
mod number;
mod text;
mod time;

use datafusion::arrow::array::{Array, ArrayRef, new_null_array};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Field, Int32Type, Int64Type, SchemaRef, TimeUnit};
use datafusion::arrow::error::ArrowError;
use datafusion::arrow::record_batch::{RecordBatch, RecordBatchOptions};

use super::ChunkRequest;
use super::checked::Decoded;
use crate::error::{GraphArError, Result};

/// Decoded rows as a batch of the declared types; `first` is how many of the wanted rows came
/// before them.
pub(super) fn conform(
    request: &ChunkRequest,
    schema: &SchemaRef,
    decoded: Decoded,
    first: u64,
) -> Result<RecordBatch> {
    let Decoded { columns, rows } = decoded;
    let mut conformed = Vec::with_capacity(columns.len());
    for (field, column) in schema.fields().iter().zip(columns) {
        let element = |row: Option<usize>| match row {
            Some(row) => {
                let row = request.row_at(first + row as u64);
                format!("column '{}', row {row}", field.name())
            }
            None => format!("column '{}'", field.name()),
        };
        let column = match convert(&column, field.data_type()) {
            Ok(column) => column,
            Err(Misfit::Type) => {
                let (wanted, found) = (type_name(field.data_type()), type_name(column.data_type()));
                return Err(GraphArError::corrupt(
                    request.name(),
                    element(None),
                    wanted,
                    found,
                ));
            }
            Err(Misfit::Value { row, found }) => {
                let wanted = type_name(field.data_type());
                return Err(GraphArError::corrupt(
                    request.name(),
                    element(Some(row)),
                    wanted,
                    found,
                ));
            }
            Err(Misfit::Library(error)) => {
                return Err(GraphArError::payload(request.name(), error));
            }
        };
        if let Some(row) = forbidden_null(field, &column) {
            let found = "null in a property that is not nullable";
            return Err(GraphArError::corrupt(
                request.name(),
                element(Some(row)),
                "a value",
                found,
            ));
        }
        conformed.push(column);
    }
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(SchemaRef::clone(schema), conformed, &options)
        .map_err(|e| GraphArError::payload(request.name(), e))
}

fn forbidden_null(field: &Field, column: &ArrayRef) -> Option<usize> {
    if field.is_nullable() || column.null_count() == 0 {
        return None;
    }
    (0..column.len()).find(|&row| column.is_null(row))
}

/// Why a column cannot be converted.
pub(super) enum Misfit {
    /// No value of the file's type is one of the declared type.
    Type,
    /// A value that the declared type does not have.
    Value { row: usize, found: String },
    /// A kernel failed for a reason of its own.
    Library(ArrowError),
}

impl From<ArrowError> for Misfit {
    fn from(error: ArrowError) -> Self {
        Self::Library(error)
    }
}

/// Converts an array, or says what stands in the way.
pub(super) fn convert(array: &ArrayRef, to: &DataType) -> Result<ArrayRef, Misfit> {
    match (array.data_type(), to) {
        (from, to) if from == to => Ok(ArrayRef::clone(array)),
        (DataType::Null, _) => Ok(new_null_array(to, array.len())),
        (DataType::Dictionary(_, values), _) => convert(&cast(array, values)?, to),
        (DataType::RunEndEncoded(_, values), _) => convert(&cast(array, values.data_type())?, to),
        (from, DataType::Int32) if from.is_integer() => number::integers::<Int32Type>(array),
        (from, DataType::Int64) if from.is_integer() => number::integers::<Int64Type>(array),
        (from, DataType::Float32 | DataType::Float64) if from.is_floating() => {
            number::floats(array, to)
        }
        (_, DataType::Utf8 | DataType::Utf8View) => text::strings(array, to),
        (_, DataType::Timestamp(TimeUnit::Millisecond, None)) => time::timestamps(array),
        (_, DataType::Date32) => time::dates(array),
        (_, DataType::List(item)) => list::lists(array, item),
        _ => Err(Misfit::Type),
    }
}

/// A type as an info file would name it, if it could.
pub(super) fn type_name(data_type: &DataType) -> String {
    match data_type {
        DataType::Boolean => "bool".to_owned(),
        DataType::Float32 => "float".to_owned(),
        DataType::Float64 => "double".to_owned(),
        DataType::Utf8 | DataType::Utf8View | DataType::LargeUtf8 => "string".to_owned(),
        DataType::Date32 => "date".to_owned(),
        DataType::Timestamp(TimeUnit::Millisecond, None) => "timestamp".to_owned(),
        DataType::List(item) => format!("list<{}>", type_name(item.data_type())),
        other => other.to_string().to_lowercase(),
    }
}
