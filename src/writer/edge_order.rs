//! The order in which a layout stores edges: a stable counting sort by the aligned end.

use std::ops::Range;

use super::ids::Ids;
use crate::error::{GraphArError, Result};
use crate::format::AdjListType;

/// Most rows of an offset chunk's vertex chunk. Every offset chunk has a row for every vertex
/// that its part could hold, so that a huge chunk size costs as much with four vertices as
/// with a billion.
const MAX_OFFSET_ROWS: usize = 1 << 28;

/// Most edges that are ordered at once: rows are counted in 32 bits.
const MAX_EDGES: usize = u32::MAX as usize;

/// The rows of one layout, in its order.
#[derive(Debug)]
pub(super) struct EdgeOrder {
    /// Input row of every stored row; `None` if the input is in order already.
    rows: Option<Vec<u32>>,
    /// First stored row of every bucket, and the number of edges at the end. A bucket is a
    /// vertex in ordered layouts and a part in unordered ones.
    starts: Vec<u32>,
    vertices: usize,
    part_size: usize,
    ordered: bool,
}

impl EdgeOrder {
    /// Orders edges by their aligned ends, all of which are among `vertices`, from which parts are counted here;
    /// `part_size` is the number of vertices of a part, at least 1. Edges of one vertex (of one part, in
    /// unordered layouts) keep the order of the input. Takes O(edges + vertices), and no memory by the edge
    /// if they come in order.
    ///
    /// # Errors
    /// If an ordered layout has a part size that makes offset chunks of more than 2^28 rows, or there are more
    /// than 2^32 - 1 edges.
    pub(super) fn try_new(
        info: &str,
        layout: AdjListType,
        aligned: &Ids,
        vertices: Range<usize>,
        part_size: usize,
    ) -> Result<Self> {
        let (first, vertices) = (vertices.start, vertices.len());
        let unsupported = |feature: String, hint: String| GraphArError::Unsupported {
            path: info.to_owned(),
            feature,
            hint,
        };
        let ordered = layout.is_ordered();
        if ordered && part_size > MAX_OFFSET_ROWS {
            return Err(unsupported(
                format!("a vertex chunk size of {part_size} in layout {layout}"),
                format!(": offset chunks have as many rows; use at most {MAX_OFFSET_ROWS}"),
            ));
        }
        let (buckets, width) = if ordered {
            (vertices, 1)
        } else {
            (vertices.div_ceil(part_size), part_size)
        };
        let sorted = match aligned {
            Ids::Narrow(ids) => sort(ids, first, buckets, width),
            Ids::Wide(ids) => sort(ids, first, buckets, width),
        };
        let Some((starts, rows)) = sorted else {
            return Err(unsupported(
                format!("ordering more than {MAX_EDGES} edges at once"),
                ": write them in several statements".to_owned(),
            ));
        };
        Ok(Self {
            rows,
            starts,
            vertices,
            part_size,
            ordered,
        })
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
        self.starts[bucket(part)] as usize..self.starts[bucket(part + 1)] as usize
    }

    /// Input rows of these stored rows; `None` if they are the same.
    pub(super) fn input_rows(&self, rows: &Range<usize>) -> Option<&[u32]> {
        self.rows.as_ref().map(|all| &all[rows.clone()])
    }

    /// The offsets of a part of an ordered layout: where the edges of each vertex begin,
    /// counted from the start of the part, then the number of its edges; the latter again for
    /// every vertex that the last part lacks.
    pub(super) fn offsets(&self, part: usize) -> Vec<i64> {
        let base = self.part(part).start;
        let first = part.saturating_mul(self.part_size);
        let mut offsets = Vec::with_capacity(self.part_size + 1);
        let known = first.min(self.vertices)..(first + self.part_size).min(self.vertices) + 1;
        let known = self.starts[known].iter();
        offsets.extend(known.map(|start| i64::from(*start) - base as i64));
        let end = offsets.last().copied().unwrap_or(0);
        offsets.resize(self.part_size + 1, end);
        offsets
    }
}

/// Where each bucket begins, and the input row of each stored row unless they are in order. A bucket is `width`
/// ids wide, and the first begins at `first`. `None` if there are too many rows.
fn sort<T: Copy + Into<u64>>(
    ids: &[T],
    first: usize,
    buckets: usize,
    width: usize,
) -> Option<(Vec<u32>, Option<Vec<u32>>)> {
    if ids.len() > MAX_EDGES {
        return None;
    }
    // Ids are below the number of vertices, which is a `usize`.
    let bucket = |id: T| (usize::try_from(id.into()).unwrap_or(usize::MAX) - first) / width;
    let mut starts = vec![0_u32; buckets + 1];
    let (mut in_order, mut last) = (true, 0);
    for id in ids {
        let bucket = bucket(*id);
        in_order &= last <= bucket;
        last = bucket;
        starts[bucket + 1] += 1;
    }
    for bucket in 0..buckets {
        starts[bucket + 1] += starts[bucket];
    }
    if in_order {
        return Some((starts, None));
    }
    let mut next = starts.clone();
    let mut rows = vec![0_u32; ids.len()];
    for (row, id) in (0_u32..).zip(ids) {
        let place = &mut next[bucket(*id)];
        rows[*place as usize] = row;
        *place += 1;
    }
    Some((starts, Some(rows)))
}

#[cfg(test)]
mod tests {
    use super::*;

    impl EdgeOrder {
        fn parts(&self) -> usize {
            self.vertices.div_ceil(self.part_size)
        }
    }

    fn order(layout: AdjListType, aligned: &[u32], vertices: usize, part_size: usize) -> EdgeOrder {
        let narrow = Ids::Narrow(aligned.to_vec());
        let order = EdgeOrder::try_new("t", layout, &narrow, 0..vertices, part_size).unwrap();
        let wide = Ids::Wide(aligned.iter().map(|id| u64::from(*id)).collect());
        let other = EdgeOrder::try_new("t", layout, &wide, 0..vertices, part_size).unwrap();
        assert_eq!((&order.rows, &order.starts), (&other.rows, &other.starts));
        order
    }

    #[test]
    fn the_worked_example_of_the_format() {
        // person-created-software of the modern graph: sources of four edges.
        let order = order(AdjListType::OrderedBySource, &[1, 2, 2, 3], 4, 2);
        assert_eq!(order.parts(), 2);
        assert_eq!((order.part(0), order.part(1)), (0..1, 1..4));
        assert_eq!(order.input_rows(&(0..4)), None);
        assert_eq!(order.offsets(0), [0, 0, 1]);
        assert_eq!(order.offsets(1), [0, 2, 3]);
    }

    #[test]
    fn the_last_offset_chunk_is_padded_and_an_empty_one_is_zeros() {
        let order = order(AdjListType::OrderedBySource, &[6, 0], 7, 3);
        assert_eq!(order.offsets(0), [0, 1, 1, 1]);
        assert_eq!(order.offsets(1), [0, 0, 0, 0]);
        assert_eq!(order.offsets(2), [0, 1, 1, 1]);
        assert_eq!(order.input_rows(&(0..2)), Some(&[1, 0][..]));
    }

    #[test]
    fn edges_of_a_vertex_keep_their_order() {
        let sorted = order(AdjListType::OrderedByDest, &[3, 1, 3, 0, 1, 3], 4, 2);
        assert_eq!(sorted.input_rows(&(0..6)), Some(&[3, 1, 4, 0, 2, 5][..]));
        let unordered = order(AdjListType::UnorderedByDest, &[3, 1, 2, 0, 1, 3], 4, 2);
        assert_eq!(unordered.input_rows(&(0..6)), Some(&[1, 3, 4, 0, 2, 5][..]));
        assert_eq!((unordered.part(0), unordered.part(1)), (0..3, 3..6));
    }

    #[test]
    fn parts_in_the_middle_are_counted_from_their_first_vertex() {
        let ids = Ids::Narrow(vec![9, 6, 7, 6]);
        let layout = AdjListType::OrderedBySource;
        let order = EdgeOrder::try_new("t", layout, &ids, 6..10, 3).unwrap();
        assert_eq!(order.input_rows(&(0..4)), Some(&[1, 3, 2, 0][..]));
        assert_eq!(
            (order.parts(), order.part(0), order.part(1)),
            (2, 0..3, 3..4)
        );
        assert_eq!(order.offsets(0), [0, 2, 3, 3]);
        assert_eq!(order.offsets(1), [0, 1, 1, 1]);
    }

    #[test]
    fn no_vertices_and_huge_part_sizes() {
        assert_eq!(order(AdjListType::OrderedBySource, &[], 0, 2).parts(), 0);
        let whole = order(AdjListType::UnorderedBySource, &[1, 0], 2, usize::MAX);
        assert_eq!((whole.parts(), whole.part(0)), (1, 0..2));
        assert!(
            EdgeOrder::try_new(
                "t",
                AdjListType::OrderedBySource,
                &Ids::Narrow(vec![0]),
                0..1,
                usize::MAX
            )
            .is_err()
        );
    }
}
