//! Timestamp columns of a stripe, rounded down to milliseconds.
//!
//! A timestamp is stored as seconds since 2015 and nanoseconds. Writers that use Arrow's C++
//! library, such as GraphAr's own, write negative nanoseconds before 1970, which `orc-rust`
//! takes for huge positive ones. So the two streams are read here. Only files of a writer in
//! another zone than UTC, which are never of that kind, are left to the library.

use std::io::Read;
use std::sync::Arc;

use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, ListArray, PrimitiveArray, TimestampMillisecondBuilder,
};
use datafusion::arrow::datatypes::{
    DataType, Decimal128Type, DecimalType, Field, Schema, TimestampMillisecondType,
};
use datafusion::arrow::error::ArrowError;
use orc_rust::array_decoder::NaiveStripeDecoder;
use orc_rust::proto::column_encoding::Kind as Encoding;
use orc_rust::proto::stream::Kind;
use orc_rust::schema::DataType as OrcType;
use orc_rust::stripe::Stripe;

use super::run::{Runs, present};

/// 2015-01-01T00:00:00Z.
const EPOCH: i64 = 1_420_070_400;

/// Digits after the point of a timestamp as a decimal.
const NANO_DIGITS: i8 = 9;

/// The type in which the library has all timestamps: decimals of nanoseconds.
pub(super) fn decimal() -> DataType {
    DataType::Decimal128(Decimal128Type::MAX_PRECISION, NANO_DIGITS)
}

/// The columns of a stripe of which only timestamps were read.
pub(super) fn decode(stripe: Stripe) -> Result<Vec<ArrayRef>, String> {
    let zone = stripe.writer_tz().map(|zone| zone.name());
    let utc = matches!(
        zone,
        None | Some("UTC" | "GMT" | "Etc/UTC" | "Etc/GMT" | "Zulu" | "Etc/Zulu")
    );
    let mut arrays = vec![];
    for column in stripe.columns() {
        let text = |kind| {
            let mut text = vec![];
            stripe
                .stream_map()
                .get(column, kind)
                .read_to_end(&mut text)
                .map(|_| text)
                .map_err(|e| e.to_string())
        };
        let rows = stripe.number_of_rows();
        let present = match stripe.stream_map().get_opt(column, Kind::Present) {
            Some(_) => Some(present(&text(Kind::Present)?, rows)?),
            None => None,
        };
        let count = present.as_ref().map_or(rows, |present| {
            present.iter().filter(|there| **there).count()
        });
        let second_version = matches!(
            column.encoding().kind(),
            Encoding::DirectV2 | Encoding::DictionaryV2
        );
        let nanos = Runs::new(&text(Kind::Secondary)?, second_version, false).take(count)?;
        if !utc && matches!(column.data_type(), OrcType::Timestamp { .. }) {
            if nanos.iter().any(|nanos| *nanos < 0) {
                return Err(format!(
                    "negative fractions of seconds in the zone {zone:?}"
                ));
            }
            return by_library(stripe);
        }
        let seconds = Runs::new(&text(Kind::Data)?, second_version, true).take(count)?;
        let mut values = seconds.into_iter().zip(nanos);
        let mut millis = TimestampMillisecondBuilder::new();
        for row in 0..rows {
            let there = present.as_ref().is_none_or(|present| present[row]);
            match there.then(|| values.next()).flatten() {
                Some((seconds, nanos)) => {
                    let value = in_millis(seconds, nanos);
                    millis.append_value(
                        value.ok_or_else(|| format!("a timestamp of {seconds} s and {nanos}"))?,
                    );
                }
                None => millis.append_null(),
            }
        }
        arrays.push(Arc::new(millis.finish()) as ArrayRef);
    }
    Ok(arrays)
}

/// Seconds since 2015 and encoded nanoseconds as milliseconds since 1970.
fn in_millis(seconds: i64, nanos: i64) -> Option<i64> {
    // The last three bits say how many zeros were cut off, less one.
    let zeros = u32::try_from(nanos & 7).ok()?;
    let scale = if zeros == 0 { 1 } else { 10_i64.pow(zeros + 1) };
    let nanos = (nanos >> 3).checked_mul(scale)?;
    let mut seconds = seconds.checked_add(EPOCH)?;
    // The seconds of such values were rounded up, not down: ORC-763.
    if seconds < 0 && nanos > 999_999 {
        seconds -= 1;
    }
    seconds
        .checked_mul(1_000)?
        .checked_add(nanos.div_euclid(1_000_000))
}

fn by_library(stripe: Stripe) -> Result<Vec<ArrayRef>, String> {
    let fields: Vec<_> = stripe
        .columns()
        .iter()
        .map(|column| Field::new(column.name(), decimal(), true))
        .collect();
    let rows = stripe.number_of_rows().max(1);
    let decoder = NaiveStripeDecoder::new(stripe, Arc::new(Schema::new(fields)), rows);
    let batch = decoder
        .map_err(|e| e.to_string())?
        .next()
        .transpose()
        .map_err(|e| e.to_string())?;
    let columns = batch
        .map(|batch| batch.columns().to_vec())
        .unwrap_or_default();
    columns
        .iter()
        .map(|column| decimals_in_millis(column).map_err(|e| e.to_string()))
        .collect()
}

/// Decimals of nanoseconds, also in lists, as milliseconds; other arrays as they are.
pub(super) fn decimals_in_millis(array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    if let Some(lists) = array.as_list_opt::<i32>()
        && (lists.value_type() == decimal() || lists.value_type().is_nested())
    {
        let values = decimals_in_millis(lists.values())?;
        let item = Arc::new(Field::new_list_field(values.data_type().clone(), true));
        let lists = ListArray::try_new(
            item,
            lists.offsets().clone(),
            values,
            lists.nulls().cloned(),
        )?;
        return Ok(Arc::new(lists));
    }
    let Some(nanos) = array.as_primitive_opt::<Decimal128Type>() else {
        return Ok(ArrayRef::clone(array));
    };
    let millis: PrimitiveArray<TimestampMillisecondType> = nanos.try_unary(|nanos| {
        let millis = i64::try_from(nanos.div_euclid(1_000_000));
        millis.map_err(|_| {
            ArrowError::ComputeError(format!("a timestamp of {nanos} nanoseconds since 1970"))
        })
    })?;
    Ok(Arc::new(millis))
}

#[cfg(test)]
mod tests {
    use super::{EPOCH, in_millis};

    #[test]
    fn both_ways_to_write_times_before_1970_are_understood() {
        // Java: seconds rounded towards zero, nanoseconds positive.
        assert_eq!(in_millis(-2 + 1 - EPOCH, 5 << 3 | 7), Some(-1_500));
        assert_eq!(in_millis(-5 - EPOCH, 0), Some(-5_000));
        // Arrow C++: both negative.
        assert_eq!(in_millis(-1 - EPOCH, -5 << 3 | 7), Some(-1_500));
        assert_eq!(in_millis(-EPOCH, -1 << 3 | 5), Some(-1));
        assert_eq!(in_millis(-EPOCH, 1 << 3 | 5), Some(1));
        // Less than a millisecond rounds down.
        assert_eq!(in_millis(-EPOCH, -1 << 3), Some(-1));
        assert_eq!(in_millis(-EPOCH, 999_999 << 3), Some(0));
        assert_eq!(in_millis(i64::MAX, 0), None);
        assert_eq!(in_millis(i64::MAX / 2, 0), None);
    }
}
