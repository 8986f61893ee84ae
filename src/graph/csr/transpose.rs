//! The lists of the other end: edges sorted by counting.
//!
//! ```text
//! by source        offsets 0 2 2 3     neighbors [1 2|   |0]     edges 0-1, 0-2, 2-0
//! by destination   offsets 0 1 2 3     neighbors [2 |0  |0]     rows [2|0|1]
//! ```

use std::ops::Range;
use std::sync::Arc;

use super::{Csr, CsrPart, PackedIds, id_width};
use crate::graph::{Direction, Stop, Stopped};
use crate::storage::PartOffsets;

/// Vertices or edges between two looks at whether the work is still wanted.
const STEP: usize = 1 << 13;

/// Adjacency, and for each of its edges the row of the edge table.
#[derive(Debug, Clone)]
pub struct RowLists {
    /// The lists.
    pub csr: Arc<Csr>,
    /// The rows, in the order of the lists; `None` if they are numbered as the edges of the lists.
    pub rows: Option<Arc<PackedIds>>,
    /// For each part of the lists the number of edges in those before it.
    before: Vec<u64>,
}

impl RowLists {
    /// Lists whose edges are rows in their own order, or in another one.
    pub fn new(csr: Arc<Csr>, rows: Option<Arc<PackedIds>>) -> Self {
        let before = csr.rows_before();
        Self { csr, rows, before }
    }

    /// Does something with each neighbour of a vertex and the row of the edge to it. Rows ascend.
    pub fn each(&self, vertex: u64, mut each: impl FnMut(u64, u64)) {
        let Some((rows, part, first)) = self.csr.rows_of(vertex, &self.before) else {
            return;
        };
        let at = |row: u64| usize::try_from(row).unwrap_or(usize::MAX);
        for (number, place) in rows.enumerate() {
            let row = match &self.rows {
                Some(rows) => rows.get(at(place)) as u64,
                None => place,
            };
            let neighbor = part.neighbors.get(at(first) + number);
            each(neighbor as u64, row);
        }
    }

    /// The least row of an edge from a vertex to a neighbour.
    pub fn row_to(&self, vertex: u64, neighbor: u64) -> Option<u64> {
        let mut found = None;
        self.each(vertex, |id, row| {
            if id == neighbor && found.is_none() {
                found = Some(row);
            }
        });
        found
    }

    /// The vertex, and the neighbour, of the edge that is this row. O(E) where rows have another order than the lists.
    pub fn edge_at(&self, row: u64) -> Option<(u64, u64)> {
        (0..self.csr.vertices()).find_map(|vertex| {
            let mut found = None;
            self.each(vertex, |neighbor, own| {
                if own == row {
                    found = Some((vertex, neighbor));
                }
            });
            found
        })
    }

    /// Bytes of memory beside those of the lists.
    pub fn row_bytes(&self) -> usize {
        self.rows.as_ref().map_or(0, |rows| rows.bytes())
    }
}

/// Bytes that sorting so many edges by counting takes, with what is left of it; twice the offsets while it works.
pub fn sorting_bytes(vertices: u64, others: u64, edges: u64, with_rows: bool) -> u64 {
    let offsets = vertices.saturating_add(2).saturating_mul(12);
    let row = if with_rows { id_width(edges) } else { 0 };
    let width = (id_width(others) + row) as u64;
    offsets.saturating_add(edges.saturating_mul(width))
}

/// Edges that are put where they belong.
struct Sorting {
    /// Where the next edge of each vertex goes, one place to the right; offsets when all are there.
    next: Vec<u64>,
    neighbors: PackedIds,
    rows: Option<PackedIds>,
}

impl Sorting {
    fn new(vertices: u64, others: u64, edges: u64, with_rows: bool) -> Self {
        Self {
            next: vec![0; place(vertices).saturating_add(2)],
            neighbors: PackedIds::zeros(others, place(edges)),
            rows: with_rows.then(|| PackedIds::zeros(edges, place(edges))),
        }
    }

    fn count(&mut self, vertex: usize) {
        self.next[vertex + 2] += 1;
    }

    fn counted(&mut self) {
        let mut total = 0;
        for next in &mut self.next {
            total += *next;
            *next = total;
        }
    }

    #[inline]
    fn put(&mut self, vertex: usize, neighbor: u64, row: u64) {
        let next = &mut self.next[vertex + 1];
        let at = place(*next);
        *next += 1;
        self.neighbors.set(at, neighbor);
        if let Some(rows) = &mut self.rows {
            rows.set(at, row);
        }
    }

    fn done(mut self, direction: Direction, others: u64) -> (Csr, Option<PackedIds>) {
        self.next.pop();
        let vertices = self.next.len() as u64 - 1;
        let part = CsrPart {
            offsets: Arc::new(PartOffsets::new(self.next)),
            neighbors: self.neighbors,
        };
        let csr = Csr {
            direction,
            vertices,
            others,
            part_size: vertices.max(1),
            parts: vec![part],
        };
        (csr, self.rows)
    }
}

impl Csr {
    /// The same edges listed by their other end, in one part; neighbours ascend. With `with_rows` also, for each
    /// edge in the new order, where it was in the old one. O(V + E), a random write for each edge.
    ///
    /// # Errors
    /// If it is asked to stop.
    pub fn transposed(
        &self,
        with_rows: bool,
        stop: &Stop,
    ) -> Result<(Self, Option<PackedIds>), Stopped> {
        let mut sorting = Sorting::new(self.others, self.vertices, self.edges(), with_rows);
        self.each_piece(stop, |_, part, vertices| {
            let rows = [part.rows(vertices)].into_iter();
            part.neighbors.visit(rows, |_, id| sorting.count(id));
        })?;
        sorting.counted();
        let mut row = 0;
        self.each_piece(stop, |first, part, vertices| {
            part.neighbors
                .visit(part.rows_of_each(vertices), |vertex, id| {
                    sorting.put(id, first + vertex as u64, row);
                    row += 1;
                });
        })?;
        let direction = match self.direction {
            Direction::Out => Direction::In,
            Direction::In => Direction::Out,
        };
        Ok(sorting.done(direction, self.vertices))
    }

    /// Edges that are in no order, listed by one of their ends, `from`; neighbours come in the order of the edges, whose numbers are the
    /// rows. Ids are below the numbers of vertices.
    ///
    /// # Errors
    /// If it is asked to stop.
    pub fn of_edges(
        direction: Direction,
        vertices: u64,
        others: u64,
        from: &PackedIds,
        to: &PackedIds,
        stop: &Stop,
    ) -> Result<(Self, PackedIds), Stopped> {
        let edges = from.len().min(to.len());
        let mut sorting = Sorting::new(vertices, others, edges as u64, true);
        let steps = || (0..edges).step_by(STEP).map(|at| at..edges.min(at + STEP));
        for step in steps() {
            stop.check()?;
            from.visit([step].into_iter(), |_, id| sorting.count(id));
        }
        sorting.counted();
        for step in steps() {
            stop.check()?;
            for edge in step {
                sorting.put(from.get(edge), to.get(edge) as u64, edge as u64);
            }
        }
        let (csr, rows) = sorting.done(direction, others);
        Ok((csr, rows.unwrap_or_else(|| PackedIds::zeros(1, 0))))
    }

    /// Walks over all vertices a few at a time: the first one's id, its part, and which of the part they are.
    pub fn each_piece(
        &self,
        stop: &Stop,
        mut each: impl FnMut(u64, &CsrPart, Range<u64>),
    ) -> Result<(), Stopped> {
        for (number, vertices) in self.pieces(STEP as u64) {
            stop.check()?;
            if let Some(part) = self.parts.get(number) {
                let first = (number as u64).saturating_mul(self.part_size) + vertices.start;
                each(first, part, vertices);
            }
        }
        Ok(())
    }
}

/// A number of vertices or edges that are in memory.
fn place(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn packed(ids: impl Iterator<Item = u64>, bound: u64) -> PackedIds {
        let ids: Vec<i64> = ids.map(|id| i64::try_from(id).unwrap()).collect();
        let mut packed = PackedIds::with_capacity(bound, ids.len());
        packed.extend(&ids, bound).unwrap();
        packed
    }

    fn listed(lists: &RowLists) -> Vec<(u64, u64, u64)> {
        let mut found = vec![];
        for vertex in 0..lists.csr.vertices() {
            lists.each(vertex, |neighbor, row| found.push((vertex, neighbor, row)));
        }
        found
    }

    proptest! {
        #[test]
        fn lists_of_either_end_hold_every_edge_once(edges in vec((0..7_u64, 0..300_u64), 0..60)) {
            let stop = Stop::default();
            let from = packed(edges.iter().map(|edge| edge.0), 7);
            let to = packed(edges.iter().map(|edge| edge.1), 300);
            let (csr, rows) = Csr::of_edges(Direction::Out, 7, 300, &from, &to, &stop).unwrap();
            let lists = RowLists::new(Arc::new(csr), Some(Arc::new(rows)));
            let mut expected: Vec<_> = edges.iter().zip(0_u64..).map(|((s, d), row)| (*s, *d, row)).collect();
            expected.sort_by_key(|(source, _, row)| (*source, *row));
            prop_assert_eq!(&listed(&lists), &expected);
            for (number, (source, destination, row)) in expected.iter().enumerate() {
                prop_assert_eq!(lists.edge_at(*row), Some((*source, *destination)));
                let least = expected[..=number].iter().find(|edge| (edge.0, edge.1) == (*source, *destination));
                prop_assert_eq!(lists.row_to(*source, *destination), least.map(|edge| edge.2));
            }
            // By destination, with the numbers of the edges in the lists by source.
            let (other, rows) = lists.csr.transposed(true, &stop).unwrap();
            prop_assert_eq!(other.direction(), Direction::In);
            let other = RowLists::new(Arc::new(other), rows.map(Arc::new));
            let numbered = expected.iter().zip(0_u64..);
            let mut turned: Vec<_> = numbered.map(|((s, d, _), number)| (*d, *s, number)).collect();
            turned.sort_unstable();
            prop_assert_eq!(listed(&other), turned);
            // And back.
            let (back, none) = other.csr.transposed(false, &stop).unwrap();
            prop_assert!(none.is_none());
            let back = RowLists::new(Arc::new(back), None);
            let mut pairs: Vec<_> = expected.iter().map(|edge| (edge.0, edge.1)).collect();
            pairs.sort_unstable();
            prop_assert_eq!(listed(&back).iter().map(|edge| (edge.0, edge.1)).collect::<Vec<_>>(), pairs);
        }
    }

    #[test]
    fn sorting_stops_when_it_is_asked_to() {
        let stop = Stop::default();
        let ids = packed([0, 1].into_iter(), 2);
        let (csr, _) = Csr::of_edges(Direction::Out, 2, 2, &ids, &ids, &stop).unwrap();
        stop.ask();
        assert!(csr.transposed(false, &stop).is_err());
        assert!(Csr::of_edges(Direction::Out, 2, 2, &ids, &ids, &stop).is_err());
    }
}
