//! Array builders that take the text of fields.

use std::str::{FromStr, from_utf8};
use std::sync::Arc;

use datafusion::arrow::array::{
    ArrayRef, BooleanBuilder, Date32Builder, Float32Builder, Float64Builder, Int32Builder,
    Int64Builder, StringViewBuilder, TimestampMillisecondBuilder,
};
use datafusion::arrow::datatypes::{DataType, TimeUnit};

use super::super::time_text;
use super::record::Span;

/// A column under construction.
#[derive(Debug)]
pub(super) enum Column {
    Bool(BooleanBuilder),
    Int32(Int32Builder),
    Int64(Int64Builder),
    Float(Float32Builder),
    Double(Float64Builder),
    String(StringViewBuilder),
    Date(Date32Builder),
    Timestamp(TimestampMillisecondBuilder),
}

impl Column {
    /// A column of the declared type; `None` if CSV has no form for it.
    pub(super) fn new(data_type: &DataType) -> Option<Self> {
        Some(match data_type {
            DataType::Boolean => Self::Bool(BooleanBuilder::new()),
            DataType::Int32 => Self::Int32(Int32Builder::new()),
            DataType::Int64 => Self::Int64(Int64Builder::new()),
            DataType::Float32 => Self::Float(Float32Builder::new()),
            DataType::Float64 => Self::Double(Float64Builder::new()),
            DataType::Utf8View | DataType::Utf8 => Self::String(StringViewBuilder::new()),
            DataType::Date32 => Self::Date(Date32Builder::new()),
            DataType::Timestamp(TimeUnit::Millisecond, None) => {
                Self::Timestamp(TimestampMillisecondBuilder::new())
            }
            _ => return None,
        })
    }

    /// The name of the type in an info file.
    pub(super) fn type_name(&self) -> &'static str {
        match self {
            Self::Bool(_) => "bool",
            Self::Int32(_) => "int32",
            Self::Int64(_) => "int64",
            Self::Float(_) => "float",
            Self::Double(_) => "double",
            Self::String(_) => "string",
            Self::Date(_) => "date",
            Self::Timestamp(_) => "timestamp",
        }
    }

    /// Appends the field; false if it is no value of the type.
    pub(super) fn append(&mut self, field: Span, text: &[u8]) -> bool {
        if field.is_null() {
            self.append_null();
            return true;
        }
        let value = field.value(text);
        let value = value.as_ref();
        let appended = match self {
            Self::Bool(builder) => boolean(value).map(|value| builder.append_value(value)),
            Self::Int32(builder) => integer(value)
                .and_then(|v| i32::try_from(v).ok())
                .map(|value| builder.append_value(value)),
            Self::Int64(builder) => integer(value).map(|value| builder.append_value(value)),
            Self::Float(builder) => parsed(value).map(|value| builder.append_value(value)),
            Self::Double(builder) => parsed(value).map(|value| builder.append_value(value)),
            Self::String(builder) => from_utf8(value)
                .ok()
                .map(|value| builder.append_value(value)),
            Self::Date(builder) => time_text::date(value).map(|value| builder.append_value(value)),
            Self::Timestamp(builder) => {
                time_text::timestamp(value).map(|value| builder.append_value(value))
            }
        };
        appended.is_some()
    }

    fn append_null(&mut self) {
        match self {
            Self::Bool(builder) => builder.append_null(),
            Self::Int32(builder) => builder.append_null(),
            Self::Int64(builder) => builder.append_null(),
            Self::Float(builder) => builder.append_null(),
            Self::Double(builder) => builder.append_null(),
            Self::String(builder) => builder.append_null(),
            Self::Date(builder) => builder.append_null(),
            Self::Timestamp(builder) => builder.append_null(),
        }
    }

    /// The values so far; the builder starts anew.
    pub(super) fn finish(&mut self) -> ArrayRef {
        match self {
            Self::Bool(builder) => Arc::new(builder.finish()),
            Self::Int32(builder) => Arc::new(builder.finish()),
            Self::Int64(builder) => Arc::new(builder.finish()),
            Self::Float(builder) => Arc::new(builder.finish()),
            Self::Double(builder) => Arc::new(builder.finish()),
            Self::String(builder) => Arc::new(builder.finish()),
            Self::Date(builder) => Arc::new(builder.finish()),
            Self::Timestamp(builder) => Arc::new(builder.finish()),
        }
    }
}

fn boolean(value: &[u8]) -> Option<bool> {
    if value.eq_ignore_ascii_case(b"true") {
        Some(true)
    } else if value.eq_ignore_ascii_case(b"false") {
        Some(false)
    } else {
        None
    }
}

/// Most integers are short enough for a loop without overflow checks.
fn integer(value: &[u8]) -> Option<i64> {
    let (negative, digits) = match value {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    if digits.is_empty() || digits.len() > 18 {
        return parsed(value);
    }
    let mut number = 0_i64;
    for digit in digits {
        let digit = digit.wrapping_sub(b'0');
        if digit > 9 {
            return parsed(value);
        }
        number = number * 10 + i64::from(digit);
    }
    Some(if negative { -number } else { number })
}

/// Rust's own parser: it takes `nan`, `inf` and `infinity` in any case, with a sign, too.
fn parsed<T: FromStr>(value: &[u8]) -> Option<T> {
    from_utf8(value).ok()?.parse().ok()
}
