//! Topology: who is next to whom, by internal ids. Knows no SQL and no plans.

mod adjacency;
mod csr;
mod direction;
mod key_index;

pub use adjacency::Adjacency;
pub use csr::{Csr, CsrLoad, CsrPart, PackedIds};
pub use direction::Direction;
pub use key_index::{ABSENT, FoundIds, KeyError, KeyIndex, KeyIndexBuilder, KeySet, SearchTree};
