//! Passes over all edges that move one number for each vertex to its neighbours.
//!
//! With the number of walks that begin at each vertex and have `k` edges, a pass gives those with `k + 1`:
//!
//! ```text
//! gather     sum[v] = Σ weight[u]  over the edges v - u, u read from the list of v
//! scatter    sum[u] = Σ weight[v]  over the same edges, where only the lists of the v are there
//! ```
//!
//! Both cost O(V + E) however many walks there are. Sums saturate at 2^64 - 1: what depends on such a sum exceeds every count
//! that SQL can show, and what is multiplied by zero is zero all the same.

use std::ops::Range;
use std::sync::Arc;

use futures::{StreamExt, TryStreamExt, stream};

use super::Csr;
use crate::error::{GraphArError, Result};
use crate::graph::Adjacency;
use crate::storage::PartOffsets;

/// Sums of vertices in a row.
#[derive(Debug, PartialEq, Eq)]
pub struct Sums {
    /// The first vertex.
    pub first: usize,
    /// Its sum, and those of the vertices behind it.
    pub sums: Vec<u64>,
}

impl Csr {
    /// The parts of at most `vertices` vertices that a pass can be cut into: each with the number of a part, and vertices inside it.
    pub fn pieces(&self, vertices: u64) -> Vec<(usize, Range<u64>)> {
        let mut pieces = vec![];
        for part in 0..self.parts.len() {
            let begin = (part as u64).saturating_mul(self.part_size);
            let end = self.part_size.min(self.vertices - begin);
            let mut at = 0;
            while at < end {
                let next = end.min(at + vertices.max(1));
                pieces.push((part, at..next));
                at = next;
            }
        }
        pieces
    }

    /// For each of these vertices of a part, the sum of its neighbours' weights. There is a weight for each vertex of the other
    /// end. O(edges of these vertices), a random read each.
    pub fn gather(&self, part: usize, vertices: Range<u64>, weights: &[u64]) -> Sums {
        let mut sums = vec![0_u64; place(vertices.end - vertices.start)];
        let first = place((part as u64).saturating_mul(self.part_size) + vertices.start);
        if let Some(part) = self.parts.get(part) {
            part.neighbors
                .visit(part.rows_of_each(vertices), |vertex, id| {
                    sums[vertex] = sums[vertex].saturating_add(weights[id]);
                });
        }
        Sums { first, sums }
    }

    /// Adds the weight of each of these vertices of a part to the sums of its neighbours. There is a sum for each vertex of
    /// the other end. O(edges of these vertices), a random write each.
    pub fn scatter(&self, part: usize, vertices: Range<u64>, weights: &[u64], sums: &mut [u64]) {
        let first = place((part as u64).saturating_mul(self.part_size) + vertices.start);
        if let Some(part) = self.parts.get(part) {
            part.neighbors
                .visit(part.rows_of_each(vertices), |vertex, id| {
                    sums[id] = sums[id].saturating_add(weights[first + vertex]);
                });
        }
    }
}

impl Adjacency {
    /// The number of edges of every vertex, from the offset chunks alone: O(V).
    ///
    /// # Errors
    /// If an offset chunk cannot be read.
    pub async fn all_degrees(&self) -> Result<Vec<u64>> {
        let mut degrees = Vec::with_capacity(place(self.vertices()));
        let size = self.part_size();
        for (part, offsets) in self.all_offsets().await?.iter().enumerate() {
            let vertices = size.min(self.vertices() - part as u64 * size);
            offsets.add_degrees(vertices, &mut degrees);
        }
        Ok(degrees)
    }

    /// Vertices of a part; the last one may have fewer.
    pub fn part_size(&self) -> u64 {
        self.offsets.part_size.max(1)
    }

    /// The offsets of all parts. O(V), if they are not in the cache.
    ///
    /// # Errors
    /// If an offset chunk cannot be read.
    pub async fn all_offsets(&self) -> Result<Vec<Arc<PartOffsets>>> {
        let mut parts = vec![];
        for part in 0..self.vertices().div_ceil(self.part_size()) {
            parts.push(self.offsets.load(&self.access, part).await?);
        }
        Ok(parts)
    }

    /// The same sums as [`Csr::gather`] of all vertices, from the files: for adjacency that memory has no room for. Holds what
    /// `parallel` tasks decode.
    ///
    /// # Errors
    /// As [`load_csr`](Self::load_csr).
    pub async fn gather_from_files(&self, weights: &[u64], parallel: usize) -> Result<Vec<u64>> {
        let others = weights.len() as u64;
        let mut sums = vec![0_u64; place(self.vertices())];
        let size = self.offsets.part_size.max(1);
        for part in 0..self.vertices().div_ceil(size) {
            let offsets = self.offsets.load(&self.access, part).await?;
            let first = place(part * size);
            let mut pieces = stream::iter(self.windows(self.offsets.part_rows(part)))
                .map(|slice| {
                    let offsets = &offsets;
                    async move {
                        let ids = self.packed(&slice, offsets, others).await?;
                        let before = slice.chunk.saturating_mul(self.offsets.chunk_size);
                        Ok::<_, GraphArError>((before + slice.rows.start, ids))
                    }
                })
                .buffered(parallel.max(1));
            while let Some((row, ids)) = pieces.try_next().await? {
                let mut row = row;
                let mut left = 0..ids.len();
                while !left.is_empty() {
                    let vertex = offsets.vertex_at(row);
                    let rows = offsets.rows(&(vertex..vertex + 1));
                    let count = place(rows.end - row).min(left.len());
                    let own = left.start..left.start + count;
                    let sum = &mut sums[first + place(vertex)];
                    ids.visit([own.clone()].into_iter(), |_, id| {
                        *sum = sum.saturating_add(weights[id]);
                    });
                    left.start = own.end;
                    row += count as u64;
                }
            }
        }
        Ok(sums)
    }
}

/// A number of vertices or edges that are in memory.
fn place(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
