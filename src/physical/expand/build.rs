//! From the files to rows by id.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, AsArray, RecordBatch};
use datafusion::arrow::datatypes::Int64Type;
use datafusion::common::runtime::{JoinSet, SpawnedTask};
use datafusion::common::{DataFusionError, exec_datafusion_err, resources_datafusion_err};
use datafusion::error::Result;
use datafusion::execution::TaskContext;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::metrics::{Count, ExecutionPlanMetricsSet, MetricBuilder};
use futures::TryStreamExt;

use super::RowsById;
use super::lists::{IdRows, Lists, fit_together};
use crate::error::GraphArError;
use crate::format::RowRanges;
use crate::graph::{Adjacency, CsrLoad};
use crate::physical::adjacency::{Resident, csr_within, open_adjacency};
use crate::physical::scan::ScanTable;

/// Counters that `EXPLAIN ANALYZE` shows.
#[derive(Debug, Clone)]
pub(super) struct Counters {
    /// Ids that were looked up in windows.
    ids_looked_up: Count,
    /// Rows that were read.
    rows_read: Count,
    /// Adjacency that was in the cache.
    csr_cache_hits: Count,
    store_requests: Count,
    store_bytes: Count,
}

impl Counters {
    pub(super) fn new(metrics: &ExecutionPlanMetricsSet, partition: usize) -> Self {
        let count = |name: &'static str| MetricBuilder::new(metrics).counter(name, partition);
        Self {
            ids_looked_up: count("ids_looked_up"),
            rows_read: count("rows_read"),
            csr_cache_hits: count("csr_cache_hits"),
            store_requests: count("store_requests"),
            store_bytes: count("store_bytes"),
        }
    }

    /// Takes over what a plan that was run has read.
    fn add_reads(&self, plan: &dyn ExecutionPlan) {
        let Some(metrics) = plan.metrics() else {
            return;
        };
        let sum = |name| metrics.sum_by_name(name).map_or(0, |sum| sum.as_usize());
        self.store_requests.add(sum("store_requests"));
        self.store_bytes.add(sum("store_bytes"));
    }
}

/// Reads rows by id.
#[derive(Debug)]
pub(super) struct Build {
    pub(super) rows: Arc<RowsById>,
    pub(super) context: Arc<TaskContext>,
    /// The operator that memory is charged to.
    pub(super) name: &'static str,
    counters: Counters,
    /// Look-ups of neighbours, if these are all that is wanted, and the number of vertices at the other end.
    adjacency: Option<(Adjacency, u64)>,
}

impl Build {
    /// # Errors
    /// If the store of the rows is not registered.
    pub(super) fn try_new(
        rows: &Arc<RowsById>,
        context: Arc<TaskContext>,
        counters: Counters,
        name: &'static str,
    ) -> Result<Self> {
        let adjacency = match rows.only_ends() {
            Some(others) => {
                open_adjacency(rows.table(), &context)?.map(|adjacency| (adjacency, others))
            }
            None => None,
        };
        Ok(Self {
            rows: Arc::clone(rows),
            context,
            name,
            counters,
            adjacency,
        })
    }

    fn memory(&self) -> MemoryReservation {
        MemoryConsumer::new(self.name).register(self.context.memory_pool())
    }

    /// The rows of all ids; `None` if memory has no room for them.
    pub(super) async fn all(&self) -> Result<Option<Lists>> {
        if let Some((adjacency, others)) = &self.adjacency {
            let load = CsrLoad {
                others: *others,
                parallel: self.context.session_config().target_partitions(),
            };
            let memory = self.memory();
            if self.rows.neighbor().is_none() {
                let bytes = adjacency.vertices().saturating_mul(size_of::<u32>() as u64);
                let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
                if memory.try_grow(bytes).is_err() {
                    return Ok(None);
                }
                let parts = adjacency.all_offsets().await?;
                self.add_reads_of(adjacency);
                return Ok(Some(Lists::Offsets {
                    parts,
                    part_size: adjacency.part_size(),
                    _memory: memory,
                }));
            }
            let found = csr_within(adjacency, load, &memory).await?;
            self.add_reads_of(adjacency);
            return Ok(found.map(|Resident { csr, hit }| {
                self.counters.csr_cache_hits.add(usize::from(hit));
                if !hit {
                    let edges = usize::try_from(csr.edges()).unwrap_or(usize::MAX);
                    self.counters.rows_read.add(edges);
                }
                Lists::Csr {
                    csr,
                    _memory: memory,
                }
            }));
        }
        let plan = self.rows.scan(None, &self.context)?;
        let memory = Arc::new(self.memory());
        let read = self.read_partitions(&plan, &memory).await;
        self.counters.add_reads(plan.as_ref());
        let batches = match read {
            Ok(batches) => batches,
            Err(error) if is_exhausted(&error) => return Ok(None),
            Err(error) => return Err(error),
        };
        if !fit_together(&batches) {
            return Ok(None);
        }
        let (ids, own) = (self.rows.span(), self.memory());
        let task = SpawnedTask::spawn_blocking(move || IdRows::try_new(&batches, Some(ids), own));
        let done = task.join_unwind().await;
        match done.map_err(|e| exec_datafusion_err!("rows by id: {e}"))? {
            Ok(rows) => Ok(Some(Lists::Rows(rows))),
            Err(error) if is_exhausted(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The rows of these ids, which ascend and are ids of the table.
    ///
    /// # Errors
    /// If memory has no room for them, among others.
    pub(super) async fn some(&self, ids: &[u64]) -> Result<Lists> {
        self.counters.ids_looked_up.add(ids.len());
        if let Some((adjacency, others)) = &self.adjacency {
            let memory = self.memory();
            let degrees = adjacency.degrees(ids).await?;
            if self.rows.neighbor().is_none() {
                self.add_reads_of(adjacency);
                let rows = IdRows::of_degrees(ids, &degrees, memory)?;
                return Ok(Lists::Rows(rows));
            }
            let edges: u64 = degrees.iter().sum();
            let edges = usize::try_from(edges).unwrap_or(usize::MAX);
            if i32::try_from(edges).is_err() {
                return Err(resources_datafusion_err!(
                    "{edges} edges of {} vertices at once",
                    ids.len()
                ));
            }
            // Neighbours are read, and then put in order.
            memory.try_grow(edges.saturating_mul(2 * size_of::<i64>()))?;
            let found = adjacency.neighbors_of(ids).await?;
            check_neighbors(found.values(), *others, self.rows.table())?;
            self.counters.rows_read.add(edges);
            self.add_reads_of(adjacency);
            return Ok(Lists::Rows(IdRows::of_lists(ids, &found, memory)?));
        }
        let ranges = ids.iter().map(|id| *id..*id + 1).collect();
        let plan = self
            .rows
            .scan(Some(&RowRanges::from_unsorted(ranges)), &self.context)?;
        let memory = Arc::new(self.memory());
        let read = self.read_partitions(&plan, &memory).await;
        self.counters.add_reads(plan.as_ref());
        let batches = read?;
        Ok(Lists::Rows(IdRows::try_new(&batches, None, self.memory())?))
    }

    /// Takes over what look-ups have read since the last time.
    fn add_reads_of(&self, adjacency: &Adjacency) {
        let follow = |count: &Count, now: u64| {
            let now = usize::try_from(now).unwrap_or(usize::MAX);
            count.add(now.saturating_sub(count.value()));
        };
        follow(&self.counters.store_requests, adjacency.meter().requests());
        follow(&self.counters.store_bytes, adjacency.meter().bytes());
    }

    /// The rows of all partitions of a plan, in their order: at least one batch.
    async fn read_partitions(
        &self,
        plan: &Arc<dyn ExecutionPlan>,
        memory: &Arc<MemoryReservation>,
    ) -> Result<Vec<RecordBatch>> {
        let partitions = plan.properties().partitioning.partition_count();
        let mut tasks = JoinSet::new();
        for partition in 0..partitions {
            let mut rows = plan.execute(partition, Arc::clone(&self.context))?;
            let memory = Arc::clone(memory);
            tasks.spawn(async move {
                let mut batches = vec![];
                while let Some(batch) = rows.try_next().await? {
                    memory.try_grow(batch.get_array_memory_size())?;
                    batches.push(batch);
                }
                Ok::<_, DataFusionError>((partition, batches))
            });
        }
        let mut parts = vec![];
        while let Some(done) = tasks.join_next().await {
            let part = done.map_err(|e| exec_datafusion_err!("rows by id: {e}"))??;
            parts.push(part);
        }
        parts.sort_by_key(|(partition, _)| *partition);
        let mut batches = vec![RecordBatch::new_empty(plan.schema())];
        batches.extend(parts.into_iter().flat_map(|(_, read)| read));
        let read: usize = batches.iter().map(RecordBatch::num_rows).sum();
        self.counters.rows_read.add(read);
        Ok(batches)
    }
}

/// Whether it was memory that was missing.
pub(super) fn is_exhausted(error: &DataFusionError) -> bool {
    matches!(error.find_root(), DataFusionError::ResourcesExhausted(_))
}

/// Fails unless all neighbours are vertices: what is joined with them later may rely on it.
fn check_neighbors(ids: &ArrayRef, others: u64, table: &ScanTable) -> Result<()> {
    let ids = ids.as_primitive::<Int64Type>().values();
    let outside = ids
        .iter()
        .find(|id| u64::try_from(**id).map_or(true, |id| id >= others));
    match outside {
        None => Ok(()),
        Some(id) => Err(GraphArError::corrupt(
            &table.folder,
            format!("an end of an edge in {}", table.name),
            format!("the internal id of one of {others} vertices"),
            id.to_string(),
        )
        .into()),
    }
}
