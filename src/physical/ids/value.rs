//! Constants, and where they stand among the ids.

use std::cmp::Ordering;
use std::ops::Range;

use datafusion::arrow::datatypes::i256;
use datafusion::common::ScalarValue;

/// A constant that ids are compared with, in the type that the comparison takes place in.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Value {
    /// A number, rounded down, and whether it was whole. Numbers that are far away from any id
    /// may be less far away here.
    Fixed {
        floor: i128,
        whole: bool,
    },
    Double(f64),
    Single(f32),
}

impl Value {
    /// The value of a constant that is not NULL, if its type is one that ids are compared in.
    pub fn of(constant: &ScalarValue) -> Option<Self> {
        let whole = |floor: i128| Self::Fixed { floor, whole: true };
        Some(match *constant {
            ScalarValue::Int8(Some(v)) => whole(v.into()),
            ScalarValue::Int16(Some(v)) => whole(v.into()),
            ScalarValue::Int32(Some(v)) => whole(v.into()),
            ScalarValue::Int64(Some(v)) => whole(v.into()),
            ScalarValue::UInt8(Some(v)) => whole(v.into()),
            ScalarValue::UInt16(Some(v)) => whole(v.into()),
            ScalarValue::UInt32(Some(v)) => whole(v.into()),
            ScalarValue::UInt64(Some(v)) => whole(v.into()),
            ScalarValue::Decimal32(Some(v), _, scale) => decimal(v.into(), scale)?,
            ScalarValue::Decimal64(Some(v), _, scale) => decimal(v.into(), scale)?,
            ScalarValue::Decimal128(Some(v), _, scale) => decimal(v, scale)?,
            ScalarValue::Decimal256(Some(v), _, scale) => wide_decimal(v, scale)?,
            ScalarValue::Float64(Some(v)) => Self::Double(v),
            ScalarValue::Float32(Some(v)) => Self::Single(v),
            _ => return None,
        })
    }

    /// The value as comparison operators take it: they know one zero, `IN` knows two.
    pub fn with_one_zero(self) -> Self {
        match self {
            Self::Double(0.0) => Self::Double(0.0),
            Self::Single(0.0) => Self::Single(0.0),
            other => other,
        }
    }

    /// The ids below `ids` that equal the value. Those before the range are less than the value
    /// and those behind it are greater, also where the range is empty.
    pub fn place(self, ids: u64) -> Range<u64> {
        match self {
            Self::Fixed { floor, whole } => {
                let begin = if whole {
                    floor
                } else {
                    floor.saturating_add(1)
                };
                clamp(begin, ids)..clamp(floor.saturating_add(1), ids)
            }
            // Arrow orders floats totally: NaN is greater than all ids or, negative, less.
            Self::Double(value) => place_by(ids, |id| (id as f64).total_cmp(&value)),
            Self::Single(value) => place_by(ids, |id| (id as f32).total_cmp(&value)),
        }
    }
}

fn clamp(number: i128, ids: u64) -> u64 {
    if number < 0 {
        0
    } else {
        u64::try_from(number).map_or(ids, |number| number.min(ids))
    }
}

/// Casts of ids to floats round, but never change an order: several ids may equal a float.
fn place_by(ids: u64, compare: impl Fn(u64) -> Ordering) -> Range<u64> {
    let first = |wanted: fn(Ordering) -> bool| {
        let (mut low, mut high) = (0, ids);
        while low < high {
            let middle = low + (high - low) / 2;
            if wanted(compare(middle)) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        low
    };
    first(Ordering::is_ge)..first(Ordering::is_gt)
}

fn decimal(value: i128, scale: i8) -> Option<Value> {
    let unit = 10_i128.checked_pow(u32::try_from(scale).ok()?)?;
    Some(Value::Fixed {
        floor: value.div_euclid(unit),
        whole: value.rem_euclid(unit) == 0,
    })
}

fn wide_decimal(value: i256, scale: i8) -> Option<Value> {
    let ten = i256::from_i128(10);
    let mut unit = i256::ONE;
    for _ in 0..u32::try_from(scale).ok()? {
        unit = unit.checked_mul(ten)?;
    }
    let rest = value.checked_rem(unit)?;
    let quotient = value.checked_div(unit)?;
    let floor = if rest < i256::ZERO {
        quotient.checked_sub(i256::ONE)?
    } else {
        quotient
    };
    let far = if floor < i256::ZERO {
        i128::MIN
    } else {
        i128::MAX
    };
    Some(Value::Fixed {
        floor: floor.to_i128().unwrap_or(far),
        whole: rest == i256::ZERO,
    })
}
