//! The scan of a table whose columns lie in several files: one file for every property group
//! and chunk, all cut at the same rows.
//!
//! A partition of a scan is a range of rows, not a set of files. [`GraphArSource`] is the
//! [`FileSource`](datafusion::datasource::physical_plan::FileSource) of such ranges; it walks the
//! chunks of a range in order and reads the files of the groups that are needed in step, by the
//! same row range, so that columns cannot drift apart.
//!
//! Planning costs O(partitions), whatever the number of chunks; a scan holds at most one batch
//! of each open file and the decoder's own buffers.

mod assemble;
mod binding;
mod chunks;
mod conditions;
mod label_sets;
mod metrics;
mod partitions;
mod plan;
mod properties;
mod prune;
mod reader;
mod selection;
mod source;
mod table;

pub use binding::{Bind, Bound, OpenConditions, bind_scan};
use metrics::ScanMetrics;
use partitions::split_rows;
pub use plan::{ScanRequest, scan_rows};
pub use properties::{KnownProperties, PropertyStatistics};
pub use selection::Selection;
pub use source::GraphArSource;
pub use table::{Aligned, ColumnOrigin, EndpointCheck, FileNames, FileSet, ScanTable, TableRows};
