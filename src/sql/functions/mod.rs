//! Table functions over a graph: `degree`, `csr`, `khop`, `shortest_path`, `pagerank`, `wcc`, `triangle_count`.
//!
//! A relation planner takes their arguments, by position or name, and makes the [logical node](crate::logical::GraphFunction).

mod arguments;
mod calls;
mod graphs;
mod ids;
mod planner;
mod signature;

pub use planner::GraphFunctions;
