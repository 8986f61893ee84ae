//! SQL before it is planned, and functions in it.

mod graph_check;
mod names;

pub use graph_check::{GRAPH_CHECK, GraphCheck};
pub use names::{resolve_names, sql_with_names};
