//! Topology: who is next to whom, by internal ids. Knows no SQL and no plans.

mod adjacency;
pub mod algorithms;
mod csr;
mod direction;
mod key_index;
mod stop;

pub use adjacency::Adjacency;
pub use csr::{Csr, CsrLoad, CsrPart, PackedIds, RowLists, id_width, sorting_bytes};
pub use direction::Direction;
pub use key_index::{ABSENT, FoundIds, KeyError, KeyIndex, KeyIndexBuilder, KeySet, SearchTree};
pub use stop::{Stop, StopOnDrop, Stopped};
