//! SQL before it is planned, and functions in it.

mod functions;
mod graph_check;
mod graph_repair;
mod names;

pub use functions::{GraphFunctions, expanded};
pub use graph_check::{GRAPH_CHECK, GraphCheck};
pub use graph_repair::{GRAPH_REPAIR, GraphRepair};
pub use names::{resolve_names, sql_with_names};
