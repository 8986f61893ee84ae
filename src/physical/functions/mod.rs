//! The table functions over the edges of one triplet, as one operator.
//!
//! [`FunctionCall`] says what is asked; each function has a file that turns adjacency in memory into rows with the algorithms of
//! [`graph`](crate::graph::algorithms).

mod call;
mod columns;
mod degrees;
mod edges;
mod exec;
mod khop;
mod near;
mod paths;
mod run;
mod scores;
mod weights;

pub use call::{Function, FunctionCall};
pub use edges::FunctionEdges;
pub use exec::GraphFunctionExec;
