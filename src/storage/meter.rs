//! What a scan asks of its object store: counted, and limited where the session says so.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use datafusion::common::HashSet;

use crate::error::{GraphArError, Result};

/// What all reads of a scan together may ask of a store; 0 is no limit.
#[derive(Debug, Default)]
pub struct ReadBudget {
    max_requests: u64,
    max_bytes: u64,
    requests: AtomicU64,
    bytes: AtomicU64,
}

impl ReadBudget {
    /// Ends a scan with an error at more requests or bytes than these; 0 is no limit.
    pub fn new(max_requests: u64, max_bytes: u64) -> Self {
        Self {
            max_requests,
            max_bytes,
            ..Self::default()
        }
    }
}

/// Counters of the reads of one partition of a scan.
#[derive(Debug, Default)]
pub struct ReadMeter {
    requests: AtomicU64,
    bytes: AtomicU64,
    cache_hits: AtomicU64,
    pages: AtomicU64,
    budget: Arc<ReadBudget>,
    /// Cached files that were compared with the store once in this scan.
    validated: Mutex<HashSet<u64>>,
}

impl ReadMeter {
    /// Counters that draw on a budget.
    pub fn new(budget: &Arc<ReadBudget>) -> Self {
        Self {
            budget: Arc::clone(budget),
            ..Self::default()
        }
    }

    /// Requests made so far.
    pub fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }

    /// Bytes asked for so far.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Footers, offsets and pages that were in the cache.
    pub fn cache_hits(&self) -> u64 {
        self.cache_hits.load(Ordering::Relaxed)
    }

    /// Pages of ids that were decoded one by one.
    pub fn pages(&self) -> u64 {
        self.pages.load(Ordering::Relaxed)
    }

    /// Notes a request for `bytes` bytes that is about to be made.
    ///
    /// # Errors
    /// If it exceeds a limit.
    pub(super) fn request(&self, path: &str, bytes: u64) -> Result<()> {
        self.requests.fetch_add(1, Ordering::Relaxed);
        let budget = &self.budget;
        let requests = budget.requests.fetch_add(1, Ordering::Relaxed) + 1;
        within(
            path,
            requests,
            budget.max_requests,
            "requests",
            "graphar.max_requests",
        )?;
        self.bytes_read(path, bytes)
    }

    /// Notes bytes whose number was not known when they were asked for.
    ///
    /// # Errors
    /// If they exceed the limit.
    pub(super) fn bytes_read(&self, path: &str, bytes: u64) -> Result<()> {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        let budget = &self.budget;
        let read = budget.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        within(path, read, budget.max_bytes, "bytes", "graphar.max_bytes")
    }

    /// Notes something found in the cache.
    pub(crate) fn hit(&self) {
        self.cache_hits.fetch_add(1, Ordering::Relaxed);
    }

    /// Notes a page decoded by itself.
    pub(super) fn page(&self) {
        self.pages.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether this is the first time that the scan asks about this file.
    pub(crate) fn first_use(&self, file: u64) -> bool {
        let mut validated = self
            .validated
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        validated.insert(file)
    }
}

/// Fails if `count` exceeds a limit other than 0.
fn within(
    path: &str,
    count: u64,
    limit: u64,
    what: &'static str,
    option: &'static str,
) -> Result<()> {
    if limit == 0 || count <= limit {
        return Ok(());
    }
    Err(GraphArError::Limit {
        path: path.to_owned(),
        what,
        option,
        limit,
    })
}
