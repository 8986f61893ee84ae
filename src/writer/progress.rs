//! How far a write has come, for whoever wants to show it.

use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Counters of one statement that writes, readable while it runs.
///
/// A writer counts up and never looks at them; a reader may see rows of a batch whose bytes are still to come.
#[derive(Debug, Default)]
pub struct WriteProgress {
    rows: AtomicU64,
    bytes: AtomicU64,
    files: AtomicU64,
    phase: Mutex<Cow<'static, str>>,
}

impl WriteProgress {
    /// Rows of the query that were taken.
    pub fn rows(&self) -> u64 {
        self.rows.load(Ordering::Relaxed)
    }

    /// Bytes of the chunk files that were handed to the store.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Chunk files that were handed to the store.
    pub fn files(&self) -> u64 {
        self.files.load(Ordering::Relaxed)
    }

    /// What the writer is doing, in a few words; empty before it begins.
    pub fn phase(&self) -> String {
        let phase = self.phase.lock().unwrap_or_else(PoisonError::into_inner);
        phase.clone().into_owned()
    }

    /// Back to nothing, as a plan may run more than once.
    pub(crate) fn restart(&self) {
        for counter in [&self.rows, &self.bytes, &self.files] {
            counter.store(0, Ordering::Relaxed);
        }
        self.enter("reading rows");
    }

    pub(crate) fn took(&self, rows: usize) {
        self.rows.fetch_add(rows as u64, Ordering::Relaxed);
    }

    pub(crate) fn wrote(&self, bytes: u64) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        self.files.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn enter(&self, phase: impl Into<Cow<'static, str>>) {
        *self.phase.lock().unwrap_or_else(PoisonError::into_inner) = phase.into();
    }
}
