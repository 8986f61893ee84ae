//! Conditions on an id column as sets of ids.
//!
//! `_vertex_id`, `_src_id` and `_dst_id` are numbers of rows, so a condition on one of them says
//! which rows to read before any row is read. Two front ends, one for logical and one for
//! physical expressions, build the same small condition, and one function evaluates it: what is
//! promised while planning is what is done while running.
//!
//! What is not understood counts as possibly true and possibly false, so that the sets only
//! grow. Files are not known here, nor what is read because of a set.

mod condition;
mod logical;
mod operand;
mod physical;
mod set;
#[cfg(test)]
mod tests;
mod value;
mod view;

pub use logical::{ids_of_expr, is_id_condition};
pub use physical::ids_of_physical;
pub use set::IdSet;
