//! Topology: who is next to whom, by internal ids. Knows no SQL and no plans.

mod adjacency;
mod direction;

pub use adjacency::Adjacency;
pub use direction::Direction;
