//! From the keys of vertices to their internal ids.
//!
//! A [`KeyIndex`] holds the keys of one vertex type and answers batches of look-ups. What it is
//! made of follows from the keys: nothing but a number for consecutive integers, a table for
//! integers that lie close together, a [`SearchTree`] for other integers, and a hash table for the
//! rest. Knows no files and no plans.

mod builder;
mod byte_index;
mod byte_keys;
mod dense;
mod error;
mod found;
mod ids;
mod index;
mod integer_index;
mod integer_keys;
mod key_batch;
mod key_set;
mod key_types;
mod key_values;
mod line_tree;
mod search_tree;
#[cfg(test)]
mod tests;

pub use builder::KeyIndexBuilder;
pub use error::KeyError;
pub use found::{ABSENT, FoundIds};
pub use index::KeyIndex;
pub use key_set::KeySet;
pub use search_tree::SearchTree;
