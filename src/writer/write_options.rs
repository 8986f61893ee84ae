//! How graphs are written, and what a writer tells afterwards.

use std::sync::Arc;

use datafusion::execution::memory_pool::{MemoryPool, UnboundedMemoryPool};

use super::payload::EncodeOptions;
use super::progress::WriteProgress;
use super::rejects::{OnError, Skipped};
use super::spilling::Spilling;

/// How a writer works.
#[derive(Debug, Clone)]
pub struct WriteOptions {
    /// How Parquet chunks are encoded.
    pub encode: EncodeOptions,
    /// Chunks that are encoded at the same time.
    pub parallel: usize,
    /// Where memory that grows with the rows is accounted for.
    pub pool: Arc<dyn MemoryPool>,
    /// Where edges go that do not fit into the pool; without it they are an error.
    pub spilling: Option<Spilling>,
    /// What becomes of rows of streams that cannot be written.
    pub on_error: OnError,
    /// What is counted while it works.
    pub progress: Arc<WriteProgress>,
}

impl Default for WriteOptions {
    /// As many chunks at a time as there are processors, and no limit of memory.
    fn default() -> Self {
        Self {
            encode: EncodeOptions::default(),
            parallel: std::thread::available_parallelism().map_or(1, usize::from),
            pool: Arc::new(UnboundedMemoryPool::default()),
            spilling: None,
            on_error: OnError::Fail,
            progress: Arc::default(),
        }
    }
}

/// What was written of an element type.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Written {
    /// Vertices or edges.
    pub rows: u64,
    /// Chunk files.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Rows that were left out; none unless [`OnError`] says so.
    pub skipped: Skipped,
}
