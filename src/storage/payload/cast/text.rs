//! Strings of every layout, and bytes that are UTF-8.

use std::str::from_utf8;

use datafusion::arrow::array::{Array, ArrayRef, AsArray};
use datafusion::arrow::compute::{CastOptions, cast_with_options};
use datafusion::arrow::datatypes::DataType;

use super::Misfit;

/// Strings or bytes as `to`, which is one of the string types.
pub(super) fn strings(array: &ArrayRef, to: &DataType) -> Result<ArrayRef, Misfit> {
    match array.data_type() {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {}
        DataType::Binary => all_utf8(array.as_binary::<i32>().iter())?,
        DataType::LargeBinary => all_utf8(array.as_binary::<i64>().iter())?,
        DataType::BinaryView => all_utf8(array.as_binary_view().iter())?,
        DataType::FixedSizeBinary(_) => all_utf8(array.as_fixed_size_binary().iter())?,
        _ => return Err(Misfit::Type),
    }
    let strict = CastOptions {
        safe: false,
        ..CastOptions::default()
    };
    Ok(cast_with_options(array, to, &strict)?)
}

fn all_utf8<'a>(values: impl Iterator<Item = Option<&'a [u8]>>) -> Result<(), Misfit> {
    for (row, value) in values.enumerate() {
        if let Some(Err(error)) = value.map(from_utf8) {
            return Err(Misfit::Value {
                row,
                found: format!("bytes that are not UTF-8: {error}"),
            });
        }
    }
    Ok(())
}
