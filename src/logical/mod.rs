//! Nodes of logical plans that DataFusion does not have.

mod count_walks;
mod graph_function;

pub use count_walks::CountWalks;
pub use graph_function::GraphFunction;
