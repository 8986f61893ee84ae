//! Integers of any width and sign, and floating-point numbers.

use std::fmt::Display;
use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, ArrowPrimitiveType, AsArray, Float32Array};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{
    DataType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};

use super::Misfit;

/// Integers as another integer type; a value that does not fit is an error.
pub(super) fn integers<T>(array: &ArrayRef) -> Result<ArrayRef, Misfit>
where
    T: ArrowPrimitiveType,
    T::Native: TryFrom<i8> + TryFrom<i16> + TryFrom<i32> + TryFrom<i64>,
    T::Native: TryFrom<u8> + TryFrom<u16> + TryFrom<u32> + TryFrom<u64>,
{
    match array.data_type() {
        DataType::Int8 => checked::<Int8Type, T>(array, |v| v.try_into().ok()),
        DataType::Int16 => checked::<Int16Type, T>(array, |v| v.try_into().ok()),
        DataType::Int32 => checked::<Int32Type, T>(array, |v| v.try_into().ok()),
        DataType::Int64 => checked::<Int64Type, T>(array, |v| v.try_into().ok()),
        DataType::UInt8 => checked::<UInt8Type, T>(array, |v| v.try_into().ok()),
        DataType::UInt16 => checked::<UInt16Type, T>(array, |v| v.try_into().ok()),
        DataType::UInt32 => checked::<UInt32Type, T>(array, |v| v.try_into().ok()),
        DataType::UInt64 => checked::<UInt64Type, T>(array, |v| v.try_into().ok()),
        _ => Err(Misfit::Type),
    }
}

/// Floating-point numbers of another width, rounded to the nearest; a finite number does not
/// become an infinite one.
pub(super) fn floats(array: &ArrayRef, to: &DataType) -> Result<ArrayRef, Misfit> {
    match (array.as_primitive_opt::<Float64Type>(), to) {
        (Some(doubles), DataType::Float32) => {
            #[expect(
                clippy::cast_possible_truncation,
                reason = "rounding is what is asked for"
            )]
            let floats: Float32Array = doubles.unary::<_, Float32Type>(|v| v as f32);
            let lost = |row: &usize| doubles.is_valid(*row) && doubles.value(*row).is_finite();
            let infinite = (0..floats.len()).filter(|row| floats.value(*row).is_infinite());
            match { infinite }.find(lost) {
                Some(row) => Err(Misfit::Value {
                    row,
                    found: doubles.value(row).to_string(),
                }),
                None => Ok(Arc::new(floats)),
            }
        }
        _ => Ok(cast(array, to)?),
    }
}

/// Maps every value that is there; the first for which there is no result is the error.
pub(super) fn checked<F, T>(
    array: &ArrayRef,
    map: impl Fn(F::Native) -> Option<T::Native>,
) -> Result<ArrayRef, Misfit>
where
    F: ArrowPrimitiveType<Native: Display>,
    T: ArrowPrimitiveType,
{
    let values = array.as_primitive_opt::<F>().ok_or(Misfit::Type)?;
    match values.try_unary::<_, T, ()>(|value| map(value).ok_or(())) {
        Ok(values) => Ok(Arc::new(values)),
        Err(()) => {
            let misfit = |row: &usize| values.is_valid(*row) && map(values.value(*row)).is_none();
            let row = (0..values.len()).find(misfit).unwrap_or_default();
            Err(Misfit::Value {
                row,
                found: values.value(row).to_string(),
            })
        }
    }
}
