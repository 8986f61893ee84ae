//! Table functions over a graph: `neighbors`, `expand`, `degree`, `csr`, `khop`, `shortest_path`, `pagerank`, `wcc`, `triangle_count`.
//!
//! A relation planner takes their arguments, by position or name, and makes the [logical node](crate::logical::GraphFunction), or for
//! `neighbors` and `expand` joins, which the optimizer turns into [`Expand`](crate::logical::Expand).

mod arguments;
mod calls;
mod graphs;
mod ids;
mod neighbors;
mod planner;
mod signature;

pub use neighbors::expanded;
pub use planner::GraphFunctions;
