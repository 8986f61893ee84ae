//! Timestamps and dates of every unit, rounded down.

use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, AsArray};
use datafusion::arrow::datatypes::{
    DataType, Date32Type, Date64Type, Int32Type, Int64Type, TimeUnit, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
};

use super::Misfit;
use super::number::checked;

const MILLIS_A_DAY: i64 = 86_400_000;

/// Milliseconds without a zone. A zone only says how to show an instant, so it is dropped.
pub(super) fn timestamps(array: &ArrayRef) -> Result<ArrayRef, Misfit> {
    match array.data_type() {
        DataType::Timestamp(TimeUnit::Second, _) => checked::<
            TimestampSecondType,
            TimestampMillisecondType,
        >(array, |v| v.checked_mul(1_000)),
        DataType::Timestamp(TimeUnit::Millisecond, _) => {
            let values = array
                .as_primitive_opt::<TimestampMillisecondType>()
                .ok_or(Misfit::Type)?;
            Ok(Arc::new(values.clone().with_timezone_opt(None::<Arc<str>>)))
        }
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            checked::<TimestampMicrosecondType, TimestampMillisecondType>(array, |v| {
                Some(v.div_euclid(1_000))
            })
        }
        DataType::Timestamp(TimeUnit::Nanosecond, _) => {
            checked::<TimestampNanosecondType, TimestampMillisecondType>(array, |v| {
                Some(v.div_euclid(1_000_000))
            })
        }
        DataType::Int64 => {
            let values = array.as_primitive_opt::<Int64Type>().ok_or(Misfit::Type)?;
            Ok(Arc::new(
                values.reinterpret_cast::<TimestampMillisecondType>(),
            ))
        }
        _ => Err(Misfit::Type),
    }
}

/// Days.
pub(super) fn dates(array: &ArrayRef) -> Result<ArrayRef, Misfit> {
    let days = |units: i64, a_day: i64| i32::try_from(units.div_euclid(a_day)).ok();
    match array.data_type() {
        DataType::Int32 => {
            let values = array.as_primitive_opt::<Int32Type>().ok_or(Misfit::Type)?;
            Ok(Arc::new(values.reinterpret_cast::<Date32Type>()))
        }
        DataType::Date64 => checked::<Date64Type, Date32Type>(array, |v| days(v, MILLIS_A_DAY)),
        DataType::Timestamp(TimeUnit::Second, _) => {
            checked::<TimestampSecondType, Date32Type>(array, |v| days(v, MILLIS_A_DAY / 1_000))
        }
        DataType::Timestamp(TimeUnit::Millisecond, _) => {
            checked::<TimestampMillisecondType, Date32Type>(array, |v| days(v, MILLIS_A_DAY))
        }
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            checked::<TimestampMicrosecondType, Date32Type>(array, |v| {
                days(v, MILLIS_A_DAY * 1_000)
            })
        }
        DataType::Timestamp(TimeUnit::Nanosecond, _) => {
            checked::<TimestampNanosecondType, Date32Type>(array, |v| {
                days(v, MILLIS_A_DAY * 1_000_000)
            })
        }
        _ => Err(Misfit::Type),
    }
}
