//! Cuts the rows of a table into partitions.

use std::ops::Range;

use super::TableRows;

/// A cut is moved to the nearest chunk border if that is not farther than this part of a
/// partition: a chunk read by one partition alone is opened once.
const SNAP: u64 = 8;

/// Consecutive ranges that cover `span` in order: at most `partitions`, of nearly equal length,
/// and cut at chunk borders where one is near, or only there unless chunks can be cut. An empty span
/// has no range.
pub fn split_rows(
    rows: &TableRows,
    span: &Range<u64>,
    partitions: usize,
    cut_chunks: bool,
) -> Vec<Range<u64>> {
    let total = span.end.saturating_sub(span.start);
    let partitions = (partitions as u64).clamp(1, total.max(1));
    let length = total.div_ceil(partitions).max(1);
    let reach = if cut_chunks {
        length / SNAP
    } else {
        rows.total()
    };
    // Steps of `length` would leave less for the last range, or nothing.
    let share = |i: u64| u128::from(total) * u128::from(i) / u128::from(partitions);
    let mut cuts: Vec<u64> = (1..partitions)
        .map(|i| span.start + u64::try_from(share(i)).unwrap_or(total))
        .map(|row| near_border(rows, row, reach).clamp(span.start, span.end))
        .collect();
    cuts.push(span.end);
    let mut begin = span.start;
    let mut ranges = vec![];
    for cut in cuts {
        if cut > begin {
            ranges.push(begin..cut);
            begin = cut;
        }
    }
    ranges
}

/// The nearest chunk border within `reach` rows, or the row itself.
fn near_border(rows: &TableRows, row: u64, reach: u64) -> u64 {
    let Some(slice) = rows.first_slice(&(row..u64::MAX)) else {
        return row;
    };
    let before = slice.rows.start;
    let after = slice.chunk_rows - slice.rows.start;
    if before <= after && before <= reach {
        row - before
    } else if after < before && after <= reach {
        row + after
    } else {
        row
    }
}

#[cfg(test)]
// A table in one range is a vector of one range, and not a slip of the pen.
#[allow(clippy::single_range_in_vec_init)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::format::EdgeRows;

    #[test]
    fn cuts_fall_on_chunk_borders_where_these_are_near() {
        let rows = TableRows::Vertices {
            count: 100,
            chunk_size: 24,
        };
        assert_eq!(split_rows(&rows, &(0..100), 2, true), [0..48, 48..100]);
        assert_eq!(
            split_rows(&rows, &(0..100), 4, true),
            [0..24, 24..48, 48..72, 72..100]
        );
        assert_eq!(
            split_rows(&rows, &(0..100), 7, false),
            [0..24, 24..48, 48..72, 72..96, 96..100]
        );
        // One chunk: no border is near, so the cuts lie inside.
        let rows = TableRows::Vertices {
            count: 100,
            chunk_size: 1000,
        };
        assert_eq!(split_rows(&rows, &(0..100), 2, true), [0..50, 50..100]);
        assert_eq!(split_rows(&rows, &(0..100), 2, false), [0..100]);
    }

    #[test]
    fn only_the_span_is_cut_and_an_empty_one_has_no_range() {
        let rows = TableRows::Vertices {
            count: 100,
            chunk_size: 10,
        };
        assert_eq!(split_rows(&rows, &(33..37), 2, true), [33..35, 35..37]);
        assert_eq!(split_rows(&rows, &(33..57), 2, false), [33..40, 40..57]);
        assert!(split_rows(&rows, &(7..7), 16, true).is_empty());
    }

    proptest! {
        #[test]
        fn ranges_cover_every_row_once(
            counts in prop::collection::vec(0_u64..40, 1..8),
            chunk in 1_u64..9,
            partitions in 1_usize..20,
            span in (0_u64..300, 0_u64..300),
            cut_chunks: bool,
        ) {
            let rows = TableRows::Edges(EdgeRows::try_new(&counts, chunk).unwrap());
            let end = span.1.min(rows.total());
            let span = span.0.min(end)..end;
            let ranges = split_rows(&rows, &span, partitions, cut_chunks);
            prop_assert!(ranges.len() <= partitions);
            let mut next = span.start;
            for range in ranges {
                prop_assert_eq!(range.start, next);
                prop_assert!(range.end > range.start);
                next = range.end;
            }
            prop_assert_eq!(next, span.end);
        }
    }
}
