//! One form for all columns whose values may be compared.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, AsArray};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{
    ArrowPrimitiveType, DataType, Float16Type, Float32Type, Float64Type,
};
use datafusion::arrow::error::ArrowError;

type Half = <Float16Type as ArrowPrimitiveType>::Native;

/// The type to which columns of a type are brought, or `None` if they cannot be keys.
pub(super) fn kept_type(given: &DataType) -> Option<DataType> {
    match given {
        DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::Int64 => {
            Some(DataType::Int64)
        }
        DataType::UInt8 | DataType::UInt16 | DataType::UInt32 | DataType::UInt64 => {
            Some(DataType::UInt64)
        }
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Some(DataType::Utf8View),
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => {
            Some(DataType::BinaryView)
        }
        DataType::Dictionary(_, values) => kept_type(values),
        DataType::Null | DataType::RunEndEncoded(_, _) => None,
        nested if nested.is_nested() => None,
        other => Some(other.clone()),
    }
}

/// A column in its kept type. Integers that do not fit become null, and equal floats have equal bits.
pub(super) fn one_form(array: &ArrayRef, kept: &DataType) -> Result<ArrayRef, ArrowError> {
    let array = if array.data_type() == kept {
        Arc::clone(array)
    } else {
        cast(array, kept)?
    };
    // The sum of -0.0 and 0.0 is 0.0.
    Ok(match kept {
        DataType::Float16 => {
            let array = array.as_primitive::<Float16Type>();
            Arc::new(array.unary::<_, Float16Type>(|value| match value {
                nan if nan.is_nan() => Half::NAN,
                value => value + Half::ZERO,
            }))
        }
        DataType::Float32 => {
            let array = array.as_primitive::<Float32Type>();
            Arc::new(array.unary::<_, Float32Type>(|value| match value {
                nan if nan.is_nan() => f32::NAN,
                value => value + 0.0,
            }))
        }
        DataType::Float64 => {
            let array = array.as_primitive::<Float64Type>();
            Arc::new(array.unary::<_, Float64Type>(|value| match value {
                nan if nan.is_nan() => f64::NAN,
                value => value + 0.0,
            }))
        }
        _ => array,
    })
}
