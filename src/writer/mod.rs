//! Writing of archives: rows to chunk files, count files and info files.
//!
//! [`GraphWriter`] takes one vertex type or edge triplet at a time and writes its chunks. The info files
//! come last and the graph info after all others, so that readers see all of a write or nothing.
//!
//! What is written is meant for every reader of the format, not only for this crate: count
//! files for empty parts too, padded offset chunks, an index column in every vertex chunk,
//! files that hold the declared columns and nothing else.

mod append;
mod append_layout;
mod chunk_files;
mod columns;
mod copy;
mod edge_buffer;
mod edge_layout;
mod edge_order;
mod edge_rows;
mod edge_sink;
mod edge_spill;
mod graph_writer;
mod ids;
mod infos;
mod keys;
mod labels;
mod output;
pub mod payload;
mod progress;
mod reject_file;
mod rejects;
mod row_filter;
mod row_order;
mod spilled_edges;
mod spilling;
mod steps;
mod stored;
mod target;
#[cfg(test)]
mod tests;
mod vertex_sink;
mod write_options;

pub use copy::{Adapter, GraphArFormatFactory, GraphArSink, property_of};
pub use graph_writer::GraphWriter;
pub use progress::WriteProgress;
pub use rejects::{OnError, Skipped, SkippedRow};
pub use row_order::{OrderedSink, write_in_order};
pub use spilling::Spilling;
pub use write_options::{WriteOptions, Written};
