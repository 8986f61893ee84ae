//! What looks at the values of chunks.

use datafusion::arrow::record_batch::RecordBatch;
use datafusion::error::Result;

use super::chunks::Chunk;
use super::report::Report;

/// Looks at the values of one chunk after the other.
pub(super) trait Look: Send {
    /// A chunk begins, or begins again: then what was seen of it since counts no longer.
    fn begin(&mut self, chunk: &Chunk);

    /// Some rows of the chunk, from row `row` on. Has all columns that can be read; after a first error, one
    /// of them, and the chunk's rows come once for each.
    ///
    /// # Errors
    /// If there is no memory. Whatever is wrong with the values waits for [`end`](Self::end).
    fn batch(&mut self, row: u64, batch: &RecordBatch) -> Result<()>;

    /// The chunk ends: reports what was wrong.
    fn end(&mut self, chunk: &Chunk, report: &Report);
}

/// The first place where something is wrong, and the number of places.
#[derive(Debug, Default)]
pub(super) struct Places {
    first: Option<String>,
    count: u64,
}

impl Places {
    /// Another place, which `describe` says in words if it is the first.
    pub(super) fn add(&mut self, describe: impl FnOnce() -> String) {
        if self.first.is_none() {
            self.first = Some(describe());
        }
        self.count += 1;
    }

    /// The first place and the number of all, if there is any.
    pub(super) fn found(&self) -> Option<String> {
        let first = self.first.as_ref()?;
        Some(match self.count {
            1 => first.clone(),
            2 => format!("{first}, and in 1 row more"),
            count => format!("{first}, and in {} rows more", count - 1),
        })
    }
}
