//! Count files.

use super::chunks::Series;
use super::{Context, Rule};
use crate::storage::{Location, exists, read_count};

/// What became of a count file.
pub(super) enum Count {
    /// Its number.
    Read(u64),
    /// There is none.
    Missing,
    /// It cannot be read, which has been reported.
    Broken,
}

/// Reads a count file. One that is missing is for the caller to report.
pub(super) async fn read(context: &Context, file: &Location) -> Count {
    match read_count(file).await {
        Ok(Some(count)) => Count::Read(count),
        Ok(None) => Count::Missing,
        Err(error) => {
            context.report.error(file, &error);
            Count::Broken
        }
    }
}

/// Reports a count file that is missing.
pub(super) fn missing(context: &Context, file: &Location, what: &str) {
    let report = &context.report;
    report.add(file, Rule::MissingFile, what, "no such file");
}

/// The number of rows of chunk files whose count file cannot be read: of all up to the first that is not there.
/// One that is broken counts as full, and is reported when it is looked at. `None` if there is not even the first.
pub(super) async fn count_chunks(context: &Context, series: &Series<'_>) -> Option<u64> {
    let mut total = 0_u64;
    for number in 0.. {
        let file = series.file(number);
        if !is_there(context, &file).await {
            return (number > 0).then_some(total);
        }
        let rows = match series.outline(&file).await {
            Ok(outline) => outline.rows,
            Err(_) => series.chunk_size,
        };
        total = total.saturating_add(rows);
    }
    None
}

/// Whether a file is there; a store that does not answer is reported.
pub(super) async fn is_there(context: &Context, file: &Location) -> bool {
    match exists(file).await {
        Ok(found) => found,
        Err(error) => {
            context.report.error(file, &error);
            true
        }
    }
}
