//! SQL before it is planned.

pub mod functions;
mod names;

pub use names::{resolve_names, sql_with_names};
