//! Whether a count or the chunks are wrong where they disagree.

use super::chunks::{Walked, rows_of};
use super::{Context, Rule};
use crate::storage::Location;

/// The number of rows that chunk files make up by themselves.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    rows: u64,
    chunk_size: u64,
    /// Whether all chunks were full so far, so that another may follow.
    is_full: bool,
    is_sound: bool,
}

impl Shape {
    /// Before the first chunk.
    pub(super) fn new(chunk_size: u64) -> Self {
        Self {
            rows: 0,
            chunk_size,
            is_full: true,
            is_sound: true,
        }
    }

    /// The next chunk has so many rows.
    pub(super) fn add(&mut self, rows: u64) {
        self.is_sound &= self.is_full && rows <= self.chunk_size;
        self.is_full = rows == self.chunk_size;
        self.rows = self.rows.saturating_add(rows);
    }

    /// The next chunk is missing or damaged.
    pub(super) fn fail(&mut self) {
        self.is_sound = false;
    }

    /// The number of all rows, if every chunk but the last is full.
    fn total(&self) -> Option<u64> {
        self.is_sound.then_some(self.rows)
    }
}

/// A chunk whose number of rows is not what the count says.
#[derive(Debug)]
pub(super) struct Misfit {
    pub(super) file: Location,
    pub(super) rule: Rule,
    pub(super) expected: String,
    pub(super) found: String,
}

/// Reports the chunks that do not fit `count`, which `file` says; or that file, if the chunks of several column
/// groups agree on another number, which is the result then.
pub(super) fn settle(
    context: &Context,
    file: &Location,
    count: u64,
    walks: Vec<Walked>,
) -> Option<u64> {
    let report = &context.report;
    let mut totals = walks.iter().map(|walked| walked.shape.total());
    let first = totals.next().flatten();
    let agreed = first.filter(|total| *total != count && walks.len() > 1);
    let agreed = agreed.filter(|total| totals.all(|other| other == Some(*total)));
    match agreed {
        Some(total) => {
            let expected = format!("{}, as its chunks have", rows_of(total));
            report.add(file, Rule::WrongCount, expected, rows_of(count));
        }
        None => {
            for misfit in walks.into_iter().flat_map(|walked| walked.misfits) {
                let Misfit {
                    file,
                    rule,
                    expected,
                    found,
                } = misfit;
                report.add(file, rule, expected, found);
            }
        }
    }
    agreed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_chunk_may_be_short() {
        let total = |chunks: &[u64]| {
            let mut shape = Shape::new(3);
            for rows in chunks {
                shape.add(*rows);
            }
            shape.total()
        };
        assert_eq!(total(&[]), Some(0));
        assert_eq!(total(&[3, 3, 1]), Some(7));
        assert_eq!(total(&[3, 3]), Some(6));
        assert_eq!(total(&[3, 2, 3]), None);
        assert_eq!(total(&[3, 4]), None);
        assert_eq!(total(&[2, 0]), None);
    }
}
