//! Following ids to the rows that belong to them: edges of vertices, and vertices themselves.
//!
//! An ordered layout finds the edges of a vertex by its offsets, a vertex table its row by number, so neither needs a hash table:
//!
//! ```text
//! input    key  name          edges of     offsets  0 2 2 3           output   name  _dst_id
//!            0  a                                   | | |                      a     1
//!            2  b             neighbors  [1 3|0]----+-+-+                      a     3
//!                                                                              b     0
//! ```
//!
//! | Strategy | Taken where | Reads |
//! |---|---|---|
//! | `windows` | the input has few ids, or memory has no room for the rest | the rows of these ids |
//! | `csr` | many ids, and of the edges nothing but their ends is asked for | one column, or nothing where the session remembers the adjacency |
//! | `rows` | many ids, and other columns or conditions | the columns asked for, of the rows that fulfil the conditions |
//!
//! Which it is becomes known when the operator runs: each partition of the input is collected up to the number of ids for which
//! windows cost less than all rows. What is read for many ids is read once for all partitions.

mod build;
mod cursor;
mod exec;
mod lists;
mod rows_by_id;
mod stream;

pub use exec::{ExpandExec, Follow};
pub use rows_by_id::RowsById;
