//! Adjacency for operators: opened within the limits of a session, and loaded within its memory.

use std::sync::Arc;

use datafusion::error::Result;
use datafusion::execution::TaskContext;
use datafusion::execution::memory_pool::MemoryReservation;

use super::scan::ScanTable;
use crate::config::GraphArOptions;
use crate::graph::{Adjacency, Csr, CsrLoad};
use crate::storage::{FileAccess, ReadBudget, ReadMeter};

/// Look-ups in an ordered layout; `None` if it is none.
///
/// # Errors
/// If its store is not registered.
pub(super) fn open_adjacency(
    table: &ScanTable,
    context: &TaskContext,
) -> Result<Option<Adjacency>> {
    let aligned = table.aligned.as_ref();
    let Some(offsets) = aligned.and_then(|aligned| aligned.offsets.clone()) else {
        return Ok(None);
    };
    let options = GraphArOptions::of(context.session_config().options());
    let store = context.runtime_env().object_store(&table.store_url)?;
    let url = table.store_url.as_str();
    let most = |limit: usize| u64::try_from(limit).unwrap_or(u64::MAX);
    let budget = ReadBudget::new(most(options.max_requests), most(options.max_bytes));
    let meter = ReadMeter::new(&Arc::new(budget));
    let mut access = FileAccess::new(store, url, table.cache.clone(), meter);
    access.validate = options.validate_cached_files;
    Ok(Some(Adjacency::new(offsets, access)))
}

/// Adjacency for an operator.
pub(super) struct Resident {
    pub(super) csr: Arc<Csr>,
    /// Whether it was in the cache.
    pub(super) hit: bool,
}

/// The adjacency, from the cache or loaded; `None` if memory has no room for it. What is loaded stays charged to `memory`, unless the
/// cache has it by then, which charges it itself.
///
/// # Errors
/// As [`Adjacency::csr`].
pub(super) async fn csr_within(
    lists: &Adjacency,
    load: CsrLoad,
    memory: &MemoryReservation,
) -> Result<Option<Resident>> {
    if let Some(csr) = lists.resident_csr(load.others).await? {
        return Ok(Some(Resident { csr, hit: true }));
    }
    let bytes = usize::try_from(lists.csr_bytes(load.others)).unwrap_or(usize::MAX);
    if memory.try_grow(bytes).is_err() {
        return Ok(None);
    }
    let csr = lists.csr(load).await?;
    if lists.resident_csr(load.others).await?.is_some() {
        memory.shrink(bytes);
    }
    Ok(Some(Resident { csr, hit: false }))
}
