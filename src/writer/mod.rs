//! Writing of archives: rows in memory to chunk files, count files and info files.
//!
//! [`ArchiveWriter`] takes one vertex type or edge triplet at a time, checks all of it, and
//! writes its chunks. The info files come last and the graph info after all others, so that
//! an archive that was not finished cannot be opened.
//!
//! What is written is meant for every reader of the format, not only for this crate: count
//! files for empty parts too, padded offset chunks, an index column in every vertex chunk,
//! files that hold the declared columns and nothing else.

mod archive;
mod columns;
mod edge_order;
mod edge_sink;
mod labels;
mod output;
pub mod payload;
#[cfg(test)]
mod tests;
mod vertex_sink;

pub use archive::ArchiveWriter;
