//! Made-up graphs of any size, the same on every machine, for tests, benchmarks and trying things out.
//!
//! [`SyntheticGraph`] has one type of vertices and hubs as real graphs have them. [`SocialGraph`] has the many types, labels,
//! lists and times of a social network.

mod power_law;
mod random;
mod social;

pub use power_law::SyntheticGraph;
pub use social::SocialGraph;
