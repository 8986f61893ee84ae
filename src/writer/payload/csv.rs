//! CSV chunks, in the dialect of the C++ library: a header line, header and strings in
//! quotes, inner quotes doubled, everything else bare, LF.
//!
//! A null is nothing at all, an empty string is `""`. Generic CSV writers cannot tell the
//! two apart, or quote numbers along with strings, which is why this one exists.

use std::fmt::Write;

use bytes::Bytes;
use datafusion::arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use datafusion::arrow::datatypes::{
    DataType, Date32Type, Float32Type, Float64Type, Int32Type, Int64Type, TimeUnit,
    TimestampMillisecondType,
};

use super::text::{push_date, push_timestamp};
use crate::error::{GraphArError, Result};

/// Encodes the rows.
pub(super) fn encode(path: &str, batch: &RecordBatch) -> Result<Bytes> {
    let fields = batch.schema_ref().fields();
    if let [column] = batch.columns()
        && column.null_count() > 0
    {
        return Err(GraphArError::Unsupported {
            path: path.to_owned(),
            feature: format!(
                "a null in column '{}', the only one of a csv file,",
                fields[0].name()
            ),
            hint: ": the line would be empty, and readers skip empty lines; use another file type"
                .to_owned(),
        });
    }
    let mut out = String::new();
    for (i, field) in fields.iter().enumerate() {
        separate(&mut out, i);
        push_quoted(&mut out, field.name());
    }
    out.push('\n');
    let pushers = batch
        .columns()
        .iter()
        .map(|column| pusher(path, column))
        .collect::<Result<Vec<_>>>()?;
    for row in 0..batch.num_rows() {
        for (i, (push, array)) in pushers.iter().zip(batch.columns()).enumerate() {
            separate(&mut out, i);
            if array.is_valid(row) {
                push(&mut out, row).ok_or_else(|| GraphArError::Unsupported {
                    path: path.to_owned(),
                    feature: format!(
                        "column '{}', row {row}: a year outside 0 to 9999 in a csv file",
                        fields[i].name()
                    ),
                    hint: ": use another file type".to_owned(),
                })?;
            }
        }
        out.push('\n');
    }
    Ok(Bytes::from(out))
}

fn separate(out: &mut String, column: usize) {
    if column > 0 {
        out.push(',');
    }
}

fn push_quoted(out: &mut String, text: &str) {
    out.push('"');
    for (i, piece) in text.split('"').enumerate() {
        if i > 0 {
            out.push_str("\"\"");
        }
        out.push_str(piece);
    }
    out.push('"');
}

/// Appends the shortest text that reads back as the same number. Scientific notation begins
/// where it does in the C++ library.
fn push_float(
    out: &mut String,
    value: f64,
    shortest: impl Fn(&mut String, bool) -> std::fmt::Result,
) -> Option<()> {
    if value.is_nan() {
        out.push_str("nan");
        return Some(());
    }
    let magnitude = value.abs();
    let plain = magnitude == 0.0 || magnitude.is_infinite() || (1e-5..1e15).contains(&magnitude);
    shortest(out, plain).ok()
}

/// Appends the value of a row, which is not null. `None` if the text cannot hold it.
type Push<'a> = Box<dyn Fn(&mut String, usize) -> Option<()> + 'a>;

/// How to write the values of a column.
fn pusher<'a>(path: &str, column: &'a ArrayRef) -> Result<Push<'a>> {
    macro_rules! display {
        ($array:expr) => {{
            let array = $array;
            Box::new(move |out: &mut String, row| write!(out, "{}", array.value(row)).ok())
        }};
    }
    macro_rules! float {
        ($array:expr) => {{
            let array = $array;
            Box::new(move |out: &mut String, row| {
                let value = array.value(row);
                push_float(out, value.into(), |out, plain| {
                    if plain {
                        write!(out, "{value}")
                    } else {
                        write!(out, "{value:e}")
                    }
                })
            })
        }};
    }
    macro_rules! string {
        ($array:expr) => {{
            let array = $array;
            Box::new(move |out: &mut String, row| {
                push_quoted(out, array.value(row));
                Some(())
            })
        }};
    }
    let push: Push<'a> = match column.data_type() {
        DataType::Boolean => display!(column.as_boolean()),
        DataType::Int32 => display!(column.as_primitive::<Int32Type>()),
        DataType::Int64 => display!(column.as_primitive::<Int64Type>()),
        DataType::Float32 => float!(column.as_primitive::<Float32Type>()),
        DataType::Float64 => float!(column.as_primitive::<Float64Type>()),
        DataType::Utf8 => string!(column.as_string::<i32>()),
        DataType::LargeUtf8 => string!(column.as_string::<i64>()),
        DataType::Utf8View => string!(column.as_string_view()),
        DataType::Date32 => {
            let array = column.as_primitive::<Date32Type>();
            Box::new(move |out: &mut String, row| push_date(out, array.value(row)))
        }
        DataType::Timestamp(TimeUnit::Millisecond, None) => {
            let array = column.as_primitive::<TimestampMillisecondType>();
            Box::new(move |out: &mut String, row| push_timestamp(out, array.value(row)))
        }
        other => {
            return Err(GraphArError::Unsupported {
                path: path.to_owned(),
                feature: format!("type {other} in a csv file"),
                hint: String::new(),
            });
        }
    };
    Ok(push)
}
