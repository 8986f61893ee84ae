//! JSON chunks: one object a line, keys in column order, no key where the value is null.

use std::sync::Arc;

use bytes::Bytes;
use datafusion::arrow::array::{
    Array, ArrayRef, ArrowPrimitiveType, AsArray, LargeStringBuilder, ListArray, PrimitiveArray,
    RecordBatch,
};
use datafusion::arrow::datatypes::{
    DataType, Date32Type, Field, Float32Type, Float64Type, Schema, TimeUnit,
    TimestampMillisecondType,
};
use datafusion::arrow::error::ArrowError;
use datafusion::arrow::json::LineDelimitedWriter;

use super::text::{push_date, push_timestamp};
use crate::error::{GraphArError, Result};

/// Encodes the rows. Dates and timestamps become strings here, which leaves no format and
/// no range to the JSON library's defaults.
pub(super) fn encode(path: &str, batch: &RecordBatch) -> Result<Bytes> {
    let mut fields = vec![];
    let mut columns = vec![];
    for (field, column) in batch.schema_ref().fields().iter().zip(batch.columns()) {
        let column = printable(column).map_err(|fault| GraphArError::Unsupported {
            path: path.to_owned(),
            feature: format!("column '{}', {fault} in a json file", field.name()),
            hint: ": use another file type".to_owned(),
        })?;
        fields.push(Field::new(
            field.name(),
            column.data_type().clone(),
            field.is_nullable(),
        ));
        columns.push(column);
    }
    let write = || {
        let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)?;
        let mut bytes = vec![];
        let mut writer = LineDelimitedWriter::new(&mut bytes);
        writer.write(&batch)?;
        writer.finish()?;
        drop(writer);
        Ok::<_, ArrowError>(bytes)
    };
    write()
        .map(Bytes::from)
        .map_err(|e| GraphArError::payload(path, e))
}

/// The column in a type whose every value JSON can hold, or which row cannot.
fn printable(column: &ArrayRef) -> Result<ArrayRef, String> {
    match column.data_type() {
        DataType::Float32 => finite(column.as_primitive::<Float32Type>(), |v| v.is_finite())?,
        DataType::Float64 => finite(column.as_primitive::<Float64Type>(), |v| v.is_finite())?,
        DataType::Date32 => return texts(column.as_primitive::<Date32Type>(), push_date),
        DataType::Timestamp(TimeUnit::Millisecond, None) => {
            return texts(
                column.as_primitive::<TimestampMillisecondType>(),
                push_timestamp,
            );
        }
        DataType::List(item) => return list(column, item.name()),
        _ => {}
    }
    Ok(Arc::clone(column))
}

fn finite<T: ArrowPrimitiveType>(
    column: &PrimitiveArray<T>,
    is_finite: impl Fn(T::Native) -> bool,
) -> Result<(), String> {
    match (0..column.len()).find(|row| column.is_valid(*row) && !is_finite(column.value(*row))) {
        None => Ok(()),
        Some(row) => Err(format!("row {row}: {:?}", column.value(row))),
    }
}

fn texts<T: ArrowPrimitiveType>(
    column: &PrimitiveArray<T>,
    push: impl Fn(&mut String, T::Native) -> Option<()>,
) -> Result<ArrayRef, String> {
    let mut out = LargeStringBuilder::with_capacity(column.len(), column.len() * 24);
    let mut text = String::new();
    for (row, value) in column.iter().enumerate() {
        match value {
            None => out.append_null(),
            Some(value) => {
                text.clear();
                push(&mut text, value)
                    .ok_or_else(|| format!("row {row}: a year outside 0 to 9999"))?;
                out.append_value(&text);
            }
        }
    }
    Ok(Arc::new(out.finish()))
}

fn list(column: &ArrayRef, item: &str) -> Result<ArrayRef, String> {
    let list = column.as_list::<i32>();
    let items = printable(list.values()).map_err(|fault| format!("list items, {fault}"))?;
    let field = Arc::new(Field::new(item, items.data_type().clone(), true));
    ListArray::try_new(field, list.offsets().clone(), items, list.nulls().cloned())
        .map(|list| Arc::new(list) as ArrayRef)
        .map_err(|e| e.to_string())
}
