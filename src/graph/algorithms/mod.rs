//! Algorithms on adjacency in memory. They run in one thread, look now and then whether they are still wanted, and take vertices as
//! `u32`: [`MOST_VERTICES`] says how many there can be.

mod bidirectional;
mod cheapest;
mod components;
mod degrees;
mod levels;
mod pagerank;
mod tree;
mod triangles;
mod vertex_set;
mod ways;

#[cfg(test)]
mod testing;

pub use bidirectional::Bidirectional;
pub use cheapest::{CheapestPath, CheapestPaths, PathEdge};
pub use components::components;
pub use degrees::{degrees_by_neighbor, degrees_either_way};
pub use levels::Levels;
pub use pagerank::{PageRank, pull};
pub use tree::ShortestTree;
pub use triangles::{ForwardLists, TriangleCounts};
pub use vertex_set::VertexSet;
pub use ways::{Way, Ways};

/// Most vertices that an algorithm takes.
pub const MOST_VERTICES: u64 = (u32::MAX - 1) as u64;

/// Vertices between two looks at whether work is still wanted.
const STEP: usize = 1 << 10;

/// A vertex of at most [`MOST_VERTICES`].
#[inline]
fn vertex(id: usize) -> u32 {
    u32::try_from(id).unwrap_or(u32::MAX)
}
