//! Triangles through each vertex, in the graph without directions, loops and repeated edges.
//!
//! Vertices are numbered by degree, and each edge is listed at its lesser end, so that no list is long: at most `sqrt(2 E)`. A triangle
//! `a < b < c` is found once, from `a`: `c` is both in its list and in that of `b`.
//!
//! ```text
//! edges 0-1, 0-2, 1-2, 2-3      degrees 2 2 3 1      numbers 3:0 0:1 1:2 2:3
//! lists 0: [3]   1: [2 3]   2: [3]   3: []           triangle 1, 2, 3: of the vertices 0, 1, 2
//! ```

use std::ops::Range;

use super::{STEP, VertexSet, vertex};
use crate::graph::{Csr, Stop, Stopped};

/// Each edge at the end with fewer edges; vertices are numbers by degree.
///
/// Memory: `16 V + 4 E` bytes, and `8 V` while it is made.
#[derive(Debug)]
pub struct ForwardLists {
    /// The vertex of each number.
    ids: Vec<u32>,
    /// Where the lists begin.
    starts: Vec<u64>,
    neighbors: Vec<u32>,
}

impl ForwardLists {
    /// Bytes that are needed to make it.
    pub fn bytes(vertices: u64, edges: u64) -> u64 {
        vertices
            .saturating_mul(24)
            .saturating_add(edges.saturating_mul(4))
    }

    /// The lists of all edges, of which `csr` has one end. O(V + E).
    ///
    /// # Errors
    /// If it is asked to stop.
    pub fn of(csr: &Csr, stop: &Stop) -> Result<Self, Stopped> {
        let degrees = super::degrees_either_way(csr, stop)?;
        let (ids, numbers) = by_degree(degrees);
        let count = ids.len();
        let mut starts = vec![0_u64; count + 2];
        each_edge(csr, &numbers, stop, |least, _| starts[least + 2] += 1)?;
        let mut total = 0;
        for start in &mut starts {
            total += *start;
            *start = total;
        }
        let mut neighbors = vec![0; place(total)];
        each_edge(csr, &numbers, stop, |least, greatest| {
            let at = &mut starts[least + 1];
            neighbors[place(*at)] = vertex(greatest);
            *at += 1;
        })?;
        starts.pop();
        drop(numbers);
        let mut lists = Self {
            ids,
            starts,
            neighbors,
        };
        lists.leave_out_repeated(stop)?;
        Ok(lists)
    }

    /// Keeps each neighbour once.
    fn leave_out_repeated(&mut self, stop: &Stop) -> Result<(), Stopped> {
        let mut seen = VertexSet::new(self.ids.len());
        let (mut begin, mut kept) = (0, 0);
        for number in 0..self.ids.len() {
            if number % STEP == 0 {
                stop.check()?;
            }
            let end = place(self.starts[number + 1]);
            let first = kept;
            for at in begin..end {
                let neighbor = self.neighbors[at];
                if seen.insert(neighbor as usize) {
                    self.neighbors[kept] = neighbor;
                    kept += 1;
                }
            }
            for neighbor in &self.neighbors[first..kept] {
                seen.remove(*neighbor as usize);
            }
            self.starts[number + 1] = kept as u64;
            begin = end;
        }
        self.neighbors.truncate(kept);
        Ok(())
    }

    /// Number of vertices.
    pub fn vertices(&self) -> usize {
        self.ids.len()
    }

    fn list(&self, number: usize) -> &[u32] {
        &self.neighbors[place(self.starts[number])..place(self.starts[number + 1])]
    }
}

/// Vertices in the order of their degrees, and the place of each in it.
fn by_degree(degrees: Vec<u64>) -> (Vec<u32>, Vec<u32>) {
    let count = degrees.len();
    // More edges than vertices are repeated ones; any order of those vertices will do.
    let bucket = |degree: u64| place(degree).min(count);
    let mut next = vec![0_u32; count + 2];
    for degree in &degrees {
        next[bucket(*degree) + 1] += 1;
    }
    let mut total = 0;
    for next in &mut next {
        total += *next;
        *next = total;
    }
    let (mut ids, mut numbers) = (vec![0; count], vec![0; count]);
    for (id, degree) in degrees.into_iter().enumerate() {
        let next = &mut next[bucket(degree)];
        ids[*next as usize] = vertex(id);
        numbers[id] = *next;
        *next += 1;
    }
    (ids, numbers)
}

/// Does something with the numbers of both ends of each edge, the lesser one first. Loops are left out.
fn each_edge(
    csr: &Csr,
    numbers: &[u32],
    stop: &Stop,
    mut each: impl FnMut(usize, usize),
) -> Result<(), Stopped> {
    csr.each_piece(stop, |first, part, vertices| {
        let first = place(first);
        part.neighbors
            .visit(part.rows_of_each(vertices), |inside, other| {
                let (own, other) = (numbers[first + inside], numbers[other]);
                if own != other {
                    each(own.min(other) as usize, own.max(other) as usize);
                }
            });
    })
}

/// Triangles counted so far, in the order of numbers. Memory: `8 V + V / 8` bytes.
#[derive(Debug)]
pub struct TriangleCounts {
    counts: Vec<u64>,
    marked: VertexSet,
}

impl TriangleCounts {
    /// None, of so many vertices.
    pub fn new(vertices: usize) -> Self {
        Self {
            counts: vec![0; vertices],
            marked: VertexSet::new(vertices),
        }
    }

    /// Bytes for so many vertices.
    pub fn bytes(vertices: usize) -> usize {
        VertexSet::bytes(vertices).saturating_add(vertices.saturating_mul(size_of::<u64>()))
    }

    /// Counts the triangles whose least numbers are these.
    ///
    /// # Errors
    /// If it is asked to stop.
    pub fn add(
        &mut self,
        lists: &ForwardLists,
        numbers: Range<usize>,
        stop: &Stop,
    ) -> Result<(), Stopped> {
        let Self { counts, marked } = self;
        for number in numbers {
            stop.check()?;
            let own = lists.list(number);
            if own.len() < 2 {
                continue;
            }
            for neighbor in own {
                marked.insert(*neighbor as usize);
            }
            let mut through = 0;
            for middle in own {
                let mut found = 0;
                for far in lists.list(*middle as usize) {
                    // Without a branch that no one can foresee.
                    let closed = u64::from(marked.contains(*far as usize));
                    counts[*far as usize] += closed;
                    found += closed;
                }
                counts[*middle as usize] += found;
                through += found;
            }
            counts[number] += through;
            for neighbor in own {
                marked.remove(*neighbor as usize);
            }
        }
        Ok(())
    }

    /// Adds what others have counted.
    pub fn merge(&mut self, other: &Self) {
        for (count, other) in self.counts.iter_mut().zip(&other.counts) {
            *count += other;
        }
    }

    /// The triangles through each vertex.
    pub fn by_vertex(&self, lists: &ForwardLists) -> Vec<u64> {
        let mut counts = vec![0; self.counts.len()];
        for (id, count) in lists.ids.iter().zip(&self.counts) {
            counts[*id as usize] = *count;
        }
        counts
    }
}

/// A number of edges that are in memory.
fn place(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::testing::*;
    use super::*;

    fn naive(graph: &Graph) -> Vec<u64> {
        let joined =
            |a: u32, b: u32| graph.edges.contains(&(a, b)) || graph.edges.contains(&(b, a));
        let mut counts = vec![0; VERTICES as usize];
        for a in 0..VERTICES {
            for b in a + 1..VERTICES {
                for c in b + 1..VERTICES {
                    if joined(a, b) && joined(b, c) && joined(a, c) {
                        [a, b, c].iter().for_each(|id| counts[*id as usize] += 1);
                    }
                }
            }
        }
        counts
    }

    proptest! {
        #[test]
        fn triangles_are_those_of_three_loops(graph in graph()) {
            for end in [0, 1] {
                let stop = Stop::default();
                let lists = ForwardLists::of(&graph.lists(end).csr, &stop).unwrap();
                let mut counts = TriangleCounts::new(lists.vertices());
                let mut others = TriangleCounts::new(lists.vertices());
                counts.add(&lists, 0..4, &stop).unwrap();
                others.add(&lists, 4..lists.vertices(), &stop).unwrap();
                counts.merge(&others);
                prop_assert_eq!(counts.by_vertex(&lists), naive(&graph));
            }
        }
    }
}
