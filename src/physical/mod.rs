//! Physical operators. They take what they read as data, never a table provider.

mod adjacency;
pub mod expand;
pub mod functions;
pub mod ids;
pub mod scan;
pub mod walks;
