//! Dates and timestamps as the text that CSV and JSON chunks hold.

use std::fmt::Write;

use datafusion::arrow::temporal_conversions::{date32_to_datetime, timestamp_ms_to_datetime};

/// Days of the years 0 to 9999, which four digits can hold.
const DAYS: std::ops::Range<i32> = -719_528..2_932_897;
const DAY_MS: i64 = 86_400_000;

/// Appends days since 1970-01-01 as `1970-01-02`. `None` if four digits cannot hold the year.
pub(super) fn push_date(out: &mut String, days: i32) -> Option<()> {
    let day = date32_to_datetime(days).filter(|_| DAYS.contains(&days))?;
    write!(out, "{}", day.format("%Y-%m-%d")).ok()
}

/// Appends milliseconds since 1970-01-01T00:00:00 as `1970-01-01 00:00:00.005`. `None` if
/// four digits cannot hold the year.
pub(super) fn push_timestamp(out: &mut String, ms: i64) -> Option<()> {
    let day = i32::try_from(ms.div_euclid(DAY_MS)).ok()?;
    let time = timestamp_ms_to_datetime(ms).filter(|_| DAYS.contains(&day))?;
    write!(out, "{}", time.format("%Y-%m-%d %H:%M:%S%.3f")).ok()
}
