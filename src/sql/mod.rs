//! SQL before it is planned.

mod names;

pub use names::{resolve_names, sql_with_names};
