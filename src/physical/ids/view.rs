//! The id column as casts show it.

use datafusion::arrow::datatypes::DataType;

/// An id column of type `Int64`, or casts of it that keep the order of the ids.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct View {
    /// The type that the casts lead to.
    pub data_type: DataType,
    /// Only ids below this survive the casts. [`EVERY_ID`] if all do.
    pub limit: u64,
}

/// Ids are `Int64`, so that there are fewer than this.
pub(super) const EVERY_ID: u64 = u64::MAX;

impl View {
    /// The column itself.
    pub fn uncast() -> Self {
        Self {
            data_type: DataType::Int64,
            limit: EVERY_ID,
        }
    }

    /// The view cast to another type, if it is known to keep the order of the ids.
    pub fn cast(&self, to: &DataType) -> Option<Self> {
        if *to == self.data_type {
            return Some(self.clone());
        }
        let from = &self.data_type;
        let kept = from.is_integer() || (from.is_decimal() && to.is_decimal());
        if !kept {
            return None;
        }
        Some(Self {
            limit: self.limit.min(capacity(to)?),
            data_type: to.clone(),
        })
    }
}

/// The first id that a type cannot hold.
fn capacity(data_type: &DataType) -> Option<u64> {
    Some(match *data_type {
        DataType::Int8 => 1 << 7,
        DataType::UInt8 => 1 << 8,
        DataType::Int16 => 1 << 15,
        DataType::UInt16 => 1 << 16,
        DataType::Int32 => 1 << 31,
        DataType::UInt32 => 1 << 32,
        DataType::Int64 | DataType::UInt64 | DataType::Float32 | DataType::Float64 => EVERY_ID,
        DataType::Decimal32(precision, scale)
        | DataType::Decimal64(precision, scale)
        | DataType::Decimal128(precision, scale)
        | DataType::Decimal256(precision, scale) => {
            let digits = precision.checked_sub(u8::try_from(scale).ok()?)?;
            10_u64.checked_pow(digits.into()).unwrap_or(EVERY_ID)
        }
        _ => return None,
    })
}
