//! Nodes of logical plans that DataFusion does not have.

mod count_walks;
mod expand;

pub use count_walks::CountWalks;
pub use expand::Expand;
