//! The order in which a layout stores edges: a stable counting sort by the aligned end.

use std::ops::Range;

use crate::error::{GraphArError, Result};
use crate::format::AdjListType;

/// Most rows of an offset chunk's vertex chunk. Every offset chunk has a row for every vertex
/// that its part could hold, so that a huge chunk size costs as much with four vertices as
/// with a billion.
const MAX_OFFSET_ROWS: usize = 1 << 28;

/// The rows of one layout, in its order.
pub(super) struct EdgeOrder {
    /// Input row of every stored row.
    rows: Vec<u64>,
    /// First stored row of every bucket, and the number of edges at the end. A bucket is a
    /// vertex in ordered layouts and a part in unordered ones.
    starts: Vec<usize>,
    vertices: usize,
    part_size: usize,
    ordered: bool,
}

impl EdgeOrder {
    /// Orders edges by their aligned ends, all of which are below `vertices`; `part_size` is
    /// the number of vertices of a part, at least 1. Edges of one vertex (of one part, in
    /// unordered layouts) keep the order of the input. Takes O(edges + vertices).
    ///
    /// # Errors
    /// If an ordered layout has a part size that makes offset chunks of more than 2^28 rows.
    pub(super) fn try_new(
        info: &str,
        layout: AdjListType,
        aligned: &[usize],
        vertices: usize,
        part_size: usize,
    ) -> Result<Self> {
        let ordered = layout.is_ordered();
        if ordered && part_size > MAX_OFFSET_ROWS {
            return Err(GraphArError::Unsupported {
                path: info.to_owned(),
                feature: format!("a vertex chunk size of {part_size} in layout {layout}"),
                hint: format!(": offset chunks have as many rows; use at most {MAX_OFFSET_ROWS}"),
            });
        }
        let (buckets, width) = if ordered {
            (vertices, 1)
        } else {
            (vertices.div_ceil(part_size), part_size)
        };
        let mut starts = vec![0_usize; buckets + 1];
        for vertex in aligned {
            starts[vertex / width + 1] += 1;
        }
        for bucket in 0..buckets {
            starts[bucket + 1] += starts[bucket];
        }
        let mut next = starts.clone();
        let mut rows = vec![0_u64; aligned.len()];
        for (row, vertex) in aligned.iter().enumerate() {
            let place = &mut next[vertex / width];
            rows[*place] = row as u64;
            *place += 1;
        }
        Ok(Self {
            rows,
            starts,
            vertices,
            part_size,
            ordered,
        })
    }

    /// Number of parts.
    pub(super) fn parts(&self) -> usize {
        self.vertices.div_ceil(self.part_size)
    }

    /// The stored rows of a part.
    pub(super) fn part(&self, part: usize) -> Range<usize> {
        let bucket = |part: usize| {
            if self.ordered {
                part.saturating_mul(self.part_size).min(self.vertices)
            } else {
                part
            }
        };
        self.starts[bucket(part)]..self.starts[bucket(part + 1)]
    }

    /// Input rows of these stored rows.
    pub(super) fn input_rows(&self, rows: Range<usize>) -> &[u64] {
        &self.rows[rows]
    }

    /// The offsets of a part of an ordered layout: where the edges of each vertex begin,
    /// counted from the start of the part, then the number of its edges; the latter again for
    /// every vertex that the last part lacks.
    pub(super) fn offsets(&self, part: usize) -> Result<Vec<i64>> {
        let base = self.part(part).start;
        (0..=self.part_size)
            .map(|vertex| {
                let vertex = part
                    .saturating_mul(self.part_size)
                    .saturating_add(vertex)
                    .min(self.vertices);
                i64::try_from(self.starts[vertex] - base)
                    .map_err(|e| GraphArError::payload("offset chunk", e))
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(
        layout: AdjListType,
        aligned: &[usize],
        vertices: usize,
        part_size: usize,
    ) -> EdgeOrder {
        EdgeOrder::try_new("t", layout, aligned, vertices, part_size).unwrap()
    }

    #[test]
    fn the_worked_example_of_the_format() {
        // person-created-software of the modern graph: sources of four edges.
        let order = order(AdjListType::OrderedBySource, &[1, 2, 2, 3], 4, 2);
        assert_eq!(order.parts(), 2);
        assert_eq!((order.part(0), order.part(1)), (0..1, 1..4));
        assert_eq!(order.offsets(0).unwrap(), [0, 0, 1]);
        assert_eq!(order.offsets(1).unwrap(), [0, 2, 3]);
    }

    #[test]
    fn the_last_offset_chunk_is_padded_and_an_empty_one_is_zeros() {
        let order = order(AdjListType::OrderedBySource, &[6, 0], 7, 3);
        assert_eq!(order.offsets(0).unwrap(), [0, 1, 1, 1]);
        assert_eq!(order.offsets(1).unwrap(), [0, 0, 0, 0]);
        assert_eq!(order.offsets(2).unwrap(), [0, 1, 1, 1]);
        assert_eq!(order.input_rows(0..2), [1, 0]);
    }

    #[test]
    fn edges_of_a_vertex_keep_their_order() {
        let sorted = order(AdjListType::OrderedByDest, &[3, 1, 3, 0, 1, 3], 4, 2);
        assert_eq!(sorted.input_rows(0..6), [3, 1, 4, 0, 2, 5]);
        let unordered = order(AdjListType::UnorderedByDest, &[3, 1, 2, 0, 1, 3], 4, 2);
        assert_eq!(unordered.input_rows(0..6), [1, 3, 4, 0, 2, 5]);
        assert_eq!((unordered.part(0), unordered.part(1)), (0..3, 3..6));
    }

    #[test]
    fn no_vertices_and_huge_part_sizes() {
        assert_eq!(order(AdjListType::OrderedBySource, &[], 0, 2).parts(), 0);
        let whole = order(AdjListType::UnorderedBySource, &[1, 0], 2, usize::MAX);
        assert_eq!((whole.parts(), whole.part(0)), (1, 0..2));
        assert!(
            EdgeOrder::try_new("t", AdjListType::OrderedBySource, &[0], 1, usize::MAX).is_err()
        );
    }
}
