//! Adjacency in memory: compressed sparse rows, by source (CSR) or by destination (CSC).
//!
//! ```text
//! vertex       0   1   2   3            part of 4 vertices, 5 edges
//! offsets    0   2   2   3   5          one more than vertices, 4 bytes each below 2^32 edges
//! neighbors  [1 3|   |0  |1 2]          ceil(log256 n) bytes each, for n vertices at the other end
//! ```
//!
//! It is cut into the parts of the archive's layout, whose offset chunks are taken as they are: an edge is the same row here and in
//! the files, so its position finds its properties.

mod cached;
mod load;
mod packed_ids;
mod pass;
mod transpose;

use std::ops::Range;
use std::sync::Arc;

pub use load::CsrLoad;
pub use packed_ids::{PackedIds, id_width};
pub use transpose::{RowLists, sorting_bytes};

use super::Direction;
use crate::storage::PartOffsets;

/// The neighbours of all vertices of one type along one edge triplet and direction.
///
/// Memory: about `w E + 4 V` bytes for `E` edges of `V` vertices, where `w` bytes hold any id of the other end: 3 bytes for up to
/// 16 million vertices.
#[derive(Debug)]
pub struct Csr {
    direction: Direction,
    /// Number of vertices.
    vertices: u64,
    /// Number of vertices of the other end.
    others: u64,
    part_size: u64,
    parts: Vec<CsrPart>,
}

/// The vertices of a part.
#[derive(Debug)]
pub struct CsrPart {
    /// Where the edges of each vertex are.
    pub offsets: Arc<PartOffsets>,
    /// The other end of each edge.
    pub neighbors: PackedIds,
}

impl Csr {
    /// The direction in which edges are followed.
    pub fn direction(&self) -> Direction {
        self.direction
    }

    /// Number of vertices.
    pub fn vertices(&self) -> u64 {
        self.vertices
    }

    /// Number of vertices of the other end; every neighbour is below.
    pub fn others(&self) -> u64 {
        self.others
    }

    /// Number of edges.
    pub fn edges(&self) -> u64 {
        self.parts
            .iter()
            .map(|part| part.neighbors.len() as u64)
            .sum()
    }

    /// The parts, of [`part_size`](Self::part_size) vertices each, the last of fewer.
    pub fn parts(&self) -> &[CsrPart] {
        &self.parts
    }

    /// Vertices of a part.
    pub fn part_size(&self) -> u64 {
        self.part_size
    }

    /// The part of a vertex, and its number inside; `None` if there is no such vertex.
    fn place(&self, vertex: u64) -> Option<(&CsrPart, u64)> {
        let part = usize::try_from(vertex / self.part_size).ok()?;
        (vertex < self.vertices).then_some(())?;
        Some((self.parts.get(part)?, vertex % self.part_size))
    }

    /// Number of edges of a vertex; 0 if there is no such vertex. O(1).
    pub fn degree(&self, vertex: u64) -> u64 {
        self.place(vertex).map_or(0, |(part, inside)| {
            let rows = part.offsets.rows(&(inside..inside + 1));
            rows.end - rows.start
        })
    }

    /// The number of the part of a vertex, and where in that its edges are; `None` if there is no such vertex. O(1).
    pub fn list(&self, vertex: u64) -> Option<(usize, Range<usize>)> {
        let (part, inside) = self.place(vertex)?;
        let number = usize::try_from(vertex / self.part_size).ok()?;
        Some((number, part.rows(inside..inside + 1)))
    }

    /// The neighbours of a vertex in the order of the files; none if there is no such vertex. O(degree).
    pub fn neighbors(&self, vertex: u64) -> impl Iterator<Item = u64> + '_ {
        let place = self.place(vertex);
        let rows = place.map(|(part, inside)| (part, part.rows(inside..inside + 1)));
        rows.into_iter().flat_map(|(part, rows)| {
            let ids = rows.map(|row| part.neighbors.get(row));
            ids.map(|id| id as u64)
        })
    }

    /// Does something with each neighbour of a vertex, in the order of the files; with none if there is no such vertex.
    #[inline]
    pub fn each_neighbor(&self, vertex: u64, mut each: impl FnMut(usize)) {
        if let Some((part, inside)) = self.place(vertex) {
            let rows = part.rows(inside..inside + 1);
            part.neighbors.visit([rows].into_iter(), |_, id| each(id));
        }
    }

    /// Whether any neighbour of a vertex is as wanted; looks no further than the first one that is.
    #[inline]
    pub fn any_neighbor(&self, vertex: u64, mut wanted: impl FnMut(usize) -> bool) -> bool {
        let Some((part, inside)) = self.place(vertex) else {
            return false;
        };
        let mut rows = part.rows(inside..inside + 1);
        rows.any(|row| wanted(part.neighbors.get(row)))
    }

    /// The rows of a vertex's edges, counted through all parts, and its first row inside its part.
    pub(crate) fn rows_of(
        &self,
        vertex: u64,
        before: &[u64],
    ) -> Option<(Range<u64>, &CsrPart, u64)> {
        let (part, inside) = self.place(vertex)?;
        let rows = part.offsets.rows(&(inside..inside + 1));
        let number = usize::try_from(vertex / self.part_size).ok()?;
        let first = *before.get(number)?;
        Some((first + rows.start..first + rows.end, part, rows.start))
    }

    /// The same edges in parts of so many vertices.
    #[cfg(test)]
    pub(crate) fn cut(&self, part_size: u64) -> Self {
        let count = self.vertices.div_ceil(part_size);
        let parts = (0..count).map(|part| {
            let (mut starts, mut ids) = (vec![0], vec![]);
            for vertex in part * part_size..self.vertices.min((part + 1) * part_size) {
                ids.extend(self.neighbors(vertex).map(|id| i64::try_from(id).unwrap()));
                starts.push(ids.len() as u64);
            }
            let mut neighbors = PackedIds::with_capacity(self.others, ids.len());
            neighbors.extend(&ids, self.others).unwrap();
            let offsets = Arc::new(PartOffsets::new(starts));
            CsrPart { offsets, neighbors }
        });
        Self {
            parts: parts.collect(),
            part_size,
            ..*self
        }
    }

    /// For each part the number of edges in those before it.
    pub fn rows_before(&self) -> Vec<u64> {
        let mut total = 0;
        let parts = self.parts.iter().map(|part| {
            let before = total;
            total += part.neighbors.len() as u64;
            before
        });
        parts.collect()
    }

    /// Bytes of memory.
    pub fn bytes(&self) -> usize {
        let parts = self.parts.iter();
        parts
            .map(|part| part.offsets.bytes() + part.neighbors.bytes())
            .sum()
    }
}

impl CsrPart {
    /// The rows of these vertices of the part.
    pub fn rows(&self, vertices: Range<u64>) -> Range<usize> {
        let rows = self.offsets.rows(&vertices);
        // Rows of what is in memory.
        let at = |row: u64| usize::try_from(row).unwrap_or(usize::MAX);
        at(rows.start)..at(rows.end)
    }

    /// The rows of each of these vertices of the part.
    pub fn rows_of_each(&self, vertices: Range<u64>) -> impl Iterator<Item = Range<usize>> + '_ {
        vertices.map(|vertex| self.rows(vertex..vertex + 1))
    }
}
