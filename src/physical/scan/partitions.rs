//! Cuts the rows of a table into partitions.

use std::ops::Range;

use super::TableRows;

/// A cut is moved to the nearest chunk border if that is not farther than this part of a
/// partition: a chunk read by one partition alone is opened once.
const SNAP: u64 = 8;

/// Consecutive ranges that cover `0..total` in order: at most `partitions`, of nearly equal length,
/// none shorter than about `min_rows`, and cut at chunk borders where one is near, or only there
/// unless chunks can be cut. A table without rows has no range.
pub fn split_rows(
    rows: &TableRows,
    partitions: usize,
    min_rows: usize,
    cut_chunks: bool,
) -> Vec<Range<u64>> {
    let total = rows.total();
    let most = total.div_ceil((min_rows as u64).max(1));
    let partitions = (partitions as u64).clamp(1, most.max(1));
    let length = total.div_ceil(partitions).max(1);
    let reach = if cut_chunks { length / SNAP } else { total };
    // Steps of `length` would leave less for the last range, or nothing.
    let share = |i: u64| u128::from(total) * u128::from(i) / u128::from(partitions);
    let mut cuts: Vec<u64> = (1..partitions)
        .map(|i| near_border(rows, u64::try_from(share(i)).unwrap_or(total), reach))
        .collect();
    cuts.push(total);
    let mut begin = 0;
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
        assert_eq!(split_rows(&rows, 2, 1, true), [0..48, 48..100]);
        assert_eq!(
            split_rows(&rows, 4, 1, true),
            [0..24, 24..48, 48..72, 72..100]
        );
        assert_eq!(
            split_rows(&rows, 7, 1, false),
            [0..24, 24..48, 48..72, 72..96, 96..100]
        );
        // One chunk: no border is near, so the cuts lie inside.
        let rows = TableRows::Vertices {
            count: 100,
            chunk_size: 1000,
        };
        assert_eq!(split_rows(&rows, 2, 1, true), [0..50, 50..100]);
        assert_eq!(split_rows(&rows, 2, 1, false), [0..100]);
    }

    #[test]
    fn small_tables_are_not_cut_and_empty_ones_have_no_range() {
        let rows = TableRows::Vertices {
            count: 100,
            chunk_size: 10,
        };
        assert_eq!(split_rows(&rows, 16, 100, true), [0..100]);
        assert_eq!(split_rows(&rows, 16, 60, true), [0..50, 50..100]);
        let rows = TableRows::Vertices {
            count: 0,
            chunk_size: 10,
        };
        assert!(split_rows(&rows, 16, 1, true).is_empty());
    }

    proptest! {
        #[test]
        fn ranges_cover_every_row_once(
            counts in prop::collection::vec(0_u64..40, 1..8),
            chunk in 1_u64..9,
            partitions in 1_usize..20,
            min_rows in 1_usize..20,
            cut_chunks: bool,
        ) {
            let rows = TableRows::Edges(EdgeRows::try_new(&counts, chunk).unwrap());
            let ranges = split_rows(&rows, partitions, min_rows, cut_chunks);
            prop_assert!(ranges.len() <= partitions);
            let mut next = 0;
            for range in ranges {
                prop_assert_eq!(range.start, next);
                prop_assert!(range.end > range.start);
                next = range.end;
            }
            prop_assert_eq!(next, rows.total());
        }
    }
}
