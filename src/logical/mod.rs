//! Nodes of logical plans that DataFusion does not have.

mod count_walks;

pub use count_walks::CountWalks;
