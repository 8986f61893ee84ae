//! Arithmetic of chunks: from row numbers of a table to (chunk, rows of the chunk).
//!
//! Vertex chunk `i` of size `C` holds the rows `[i*C, (i+1)*C)`. Edges are numbered through
//! the parts in order; inside part `i`, edge chunk `j` of size `K` holds the rows
//! `[j*K, (j+1)*K)` of the part, so a part always begins a new chunk.

use std::ops::Range;

/// Number of chunks that hold `rows` rows, `ceil(rows / size)`; `size` of 0 counts as 1.
pub fn chunk_count(rows: u64, size: u64) -> u64 {
    rows.div_ceil(size.max(1))
}

/// Rows of chunk `chunk`: `size`, less in the last chunk, 0 beyond it.
pub fn chunk_rows(rows: u64, size: u64, chunk: u64) -> u64 {
    let begin = chunk.saturating_mul(size);
    rows.saturating_sub(begin).min(size)
}

/// A run of rows inside one chunk file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChunkSlice {
    /// Part of an edge table; 0 for vertices.
    pub part: u64,
    /// Number of the chunk, counted inside the part for edges.
    pub chunk: u64,
    /// The rows wanted, counted inside the chunk.
    pub rows: Range<u64>,
    /// Rows that the whole chunk must have.
    pub chunk_rows: u64,
}

/// The slice at the beginning of `range`, for a table (or part) of `rows` rows cut by `size`.
/// `None` if the range is empty or begins beyond the rows.
pub(crate) fn first_slice(rows: u64, size: u64, range: &Range<u64>) -> Option<ChunkSlice> {
    let size = size.max(1);
    let end = range.end.min(rows);
    if range.start >= end {
        return None;
    }
    let chunk = range.start / size;
    let begin = chunk * size;
    let chunk_rows = chunk_rows(rows, size, chunk);
    Some(ChunkSlice {
        part: 0,
        chunk,
        rows: range.start - begin..(end - begin).min(chunk_rows),
        chunk_rows,
    })
}

/// The rows of one layout of an edge triplet, numbered through all parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EdgeRows {
    /// First row of every part, and the total at the end.
    starts: Vec<u64>,
    chunk_size: u64,
}

impl EdgeRows {
    /// Rows of parts with these edge counts, cut into chunks of `chunk_size`.
    /// `None` if the total does not fit an `i64`, the width of counts in the format.
    pub fn try_new(counts: &[u64], chunk_size: u64) -> Option<Self> {
        let mut starts = Vec::with_capacity(counts.len() + 1);
        let mut total = 0_u64;
        starts.push(total);
        for count in counts {
            total = total
                .checked_add(*count)
                .filter(|total| i64::try_from(*total).is_ok())?;
            starts.push(total);
        }
        Some(Self {
            starts,
            chunk_size: chunk_size.max(1),
        })
    }

    /// No part and no edge.
    pub fn empty() -> Self {
        Self {
            starts: vec![0],
            chunk_size: 1,
        }
    }

    /// Number of edges.
    pub fn total(&self) -> u64 {
        self.starts.last().copied().unwrap_or(0)
    }

    /// Number of parts.
    pub fn parts(&self) -> usize {
        self.starts.len() - 1
    }

    /// The rows of a part; empty beyond the last part.
    pub fn part(&self, part: usize) -> Range<u64> {
        match (self.starts.get(part), self.starts.get(part + 1)) {
            (Some(begin), Some(end)) => *begin..*end,
            _ => self.total()..self.total(),
        }
    }

    /// The slice at the beginning of `range`, empty parts skipped.
    pub(crate) fn first_slice(&self, range: &Range<u64>) -> Option<ChunkSlice> {
        if range.start >= range.end.min(self.total()) {
            return None;
        }
        // The last part that begins at or before the row: of equal starts all but the last are empty.
        let part = self.starts.partition_point(|start| *start <= range.start) - 1;
        let rows = self.part(part);
        let inside = range.start - rows.start..range.end.min(rows.end) - rows.start;
        let slice = first_slice(rows.end - rows.start, self.chunk_size, &inside)?;
        Some(ChunkSlice {
            part: part as u64,
            ..slice
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All slices of a range, as (part, chunk, begin, end, chunk rows).
    fn slices(rows: &EdgeRows, mut range: Range<u64>) -> Vec<(u64, u64, u64, u64, u64)> {
        let mut out = vec![];
        while let Some(s) = rows.first_slice(&range) {
            range.start += s.rows.end - s.rows.start;
            out.push((s.part, s.chunk, s.rows.start, s.rows.end, s.chunk_rows));
        }
        out
    }

    #[test]
    fn chunks_round_up_and_the_last_is_short() {
        assert_eq!(chunk_count(0, 3), 0);
        assert_eq!(chunk_count(7, 3), 3);
        assert_eq!(chunk_count(9, 3), 3);
        assert_eq!(
            (0..4).map(|i| chunk_rows(7, 3, i)).collect::<Vec<_>>(),
            [3, 3, 1, 0]
        );
        assert_eq!(chunk_rows(u64::MAX, 3, u64::MAX), 0);
    }

    #[test]
    fn a_part_begins_a_new_chunk_and_empty_parts_are_skipped() {
        let rows = EdgeRows::try_new(&[3, 0, 2, 0], 2).unwrap();
        assert_eq!(rows.total(), 5);
        assert_eq!(
            slices(&rows, 0..u64::MAX),
            [(0, 0, 0, 2, 2), (0, 1, 0, 1, 1), (2, 0, 0, 2, 2)]
        );
        assert_eq!(
            slices(&rows, 1..4),
            [(0, 0, 1, 2, 2), (0, 1, 0, 1, 1), (2, 0, 0, 1, 2)]
        );
        assert_eq!(slices(&rows, 5..9), []);
    }

    #[test]
    fn every_sub_range_has_its_rows_once() {
        let rows = EdgeRows::try_new(&[0, 4, 1, 0, 7, 2], 3).unwrap();
        let whole: Vec<_> = slices(&rows, 0..14)
            .into_iter()
            .flat_map(|(p, c, b, e, _)| (b..e).map(move |r| (p, c, r)))
            .collect();
        assert_eq!(whole.len(), 14);
        for begin in 0..14_u64 {
            for end in begin..=14 {
                let part: Vec<_> = slices(&rows, begin..end)
                    .into_iter()
                    .flat_map(|(p, c, b, e, _)| (b..e).map(move |r| (p, c, r)))
                    .collect();
                assert_eq!(
                    part,
                    whole[usize::try_from(begin).unwrap()..usize::try_from(end).unwrap()]
                );
            }
        }
    }

    #[test]
    fn totals_beyond_the_format_are_refused() {
        assert!(EdgeRows::try_new(&[u64::MAX, 1], 2).is_none());
        assert!(EdgeRows::try_new(&[1 << 62, 1 << 62], 2).is_none());
    }
}
