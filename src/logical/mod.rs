//! Nodes of logical plans that DataFusion does not have.

mod count_walks;
mod expand;
mod graph_function;

pub use count_walks::CountWalks;
pub use expand::Expand;
pub use graph_function::GraphFunction;
