//! What every function needs while it runs: adjacency, ids of inputs, memory, threads.

use std::sync::Arc;

use datafusion::arrow::array::{AsArray, RecordBatch};
use datafusion::arrow::datatypes::{Int64Type, SchemaRef};
use datafusion::common::runtime::SpawnedTask;
use datafusion::common::{
    exec_datafusion_err, internal_datafusion_err, internal_err, not_impl_err, resources_err,
};
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::metrics::{Count, ExecutionPlanMetricsSet, MetricBuilder};
use datafusion::physical_plan::{ExecutionPlan, execute_stream};
use futures::TryStreamExt;
use futures::stream::BoxStream;

use super::FunctionCall;
use crate::config::GraphArOptions;
use crate::format::{DESTINATION_ID, SOURCE_ID};
use crate::graph::algorithms::MOST_VERTICES;
use crate::graph::{
    Adjacency, Csr, CsrLoad, Direction, PackedIds, RowLists, Stop, StopOnDrop, id_width,
    sorting_bytes,
};
use crate::physical::adjacency::{Resident, csr_within};
use crate::physical::scan::{ScanRequest, Selection, scan_rows};
use crate::physical::walks::EdgeSource;

/// The rows of a function.
pub(super) type Rows = BoxStream<'static, Result<RecordBatch>>;

/// A call that runs. Work in other threads ends when it is dropped.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) call: Arc<FunctionCall>,
    pub(super) schema: SchemaRef,
    inputs: Vec<Arc<dyn ExecutionPlan>>,
    context: Arc<TaskContext>,
    /// Adjacency that was in the cache.
    cache_hits: Count,
    /// Shared with work in other threads, which has the memory until it ends.
    memory: Arc<MemoryReservation>,
    stop: StopOnDrop,
}

impl Run {
    pub(super) fn new(
        call: Arc<FunctionCall>,
        schema: SchemaRef,
        inputs: Vec<Arc<dyn ExecutionPlan>>,
        context: Arc<TaskContext>,
        metrics: &ExecutionPlanMetricsSet,
    ) -> Self {
        let name = format!("GraphFunctionExec ({})", call.function.name());
        let memory = MemoryConsumer::new(name).register(context.memory_pool());
        Self {
            cache_hits: MetricBuilder::new(metrics).global_counter("csr_cache_hits"),
            call,
            schema,
            inputs,
            context,
            memory: Arc::new(memory),
            stop: StopOnDrop::default(),
        }
    }

    pub(super) fn source(&self) -> &EdgeSource {
        self.call.edges.source()
    }

    /// Most rows of a batch.
    pub(super) fn batch_size(&self) -> usize {
        self.context.session_config().batch_size().max(1)
    }

    /// Threads that can work side by side.
    pub(super) fn parallel(&self) -> usize {
        self.context.session_config().target_partitions().max(1)
    }

    pub(super) fn memory(&self) -> Arc<MemoryReservation> {
        Arc::clone(&self.memory)
    }

    /// Room for so many bytes.
    pub(super) fn grow(&self, bytes: usize) -> Result<()> {
        self.memory.try_grow(bytes)
    }

    fn grow_by(&self, bytes: u64) -> Result<()> {
        self.grow(usize::try_from(bytes).unwrap_or(usize::MAX))
    }

    /// Number of vertices of an end, if algorithms can take as many.
    pub(super) fn vertices(&self, end: usize) -> Result<usize> {
        let count = self.source().vertices(end);
        match usize::try_from(count) {
            Ok(found) if count <= MOST_VERTICES => Ok(found),
            _ => not_impl_err!(
                "{} of {count} vertices; at most {MOST_VERTICES} can be taken",
                self.call.function.name()
            ),
        }
    }

    /// Does work that is no I/O in a thread of its own.
    pub(super) fn blocking<T, E>(
        &self,
        work: impl FnOnce(&Stop) -> Result<T, E> + Send + 'static,
    ) -> impl Future<Output = Result<T>> + Send + 'static
    where
        T: Send + 'static,
        E: Into<DataFusionError> + Send + 'static,
    {
        let (stop, memory) = (self.stop.stop().clone(), self.memory());
        let name = self.call.function.name();
        let task = SpawnedTask::spawn_blocking(move || {
            let done = work(&stop);
            drop(memory);
            done
        });
        async move {
            let done = task.join_unwind().await;
            let done = done.map_err(|e| exec_datafusion_err!("{name}: {e}"))?;
            done.map_err(Into::into)
        }
    }

    /// The ids of an input that are among so many vertices, each once, in ascending order.
    pub(super) async fn ids(&self, input: usize, vertices: usize) -> Result<Vec<u32>> {
        let Some(plan) = self.inputs.get(input) else {
            return internal_err!("{} has no input {input}", self.call.function.name());
        };
        let mut rows = execute_stream(Arc::clone(plan), Arc::clone(&self.context))?;
        let mut found: Vec<u32> = vec![];
        while let Some(batch) = rows.try_next().await? {
            let column = batch.columns().first();
            let column = column.and_then(|column| column.as_primitive_opt::<Int64Type>());
            let column = column.ok_or_else(|| internal_datafusion_err!("an input without ids"))?;
            if found.capacity() - found.len() < column.len() {
                // What is there once may be most of it.
                found.sort_unstable();
                found.dedup();
                let more = column.len().max(found.len());
                self.grow(more.saturating_mul(size_of::<u32>()))?;
                found.reserve_exact(more);
            }
            let ids = column.iter().flatten();
            let ids = ids.filter_map(|id| u32::try_from(id).ok());
            found.extend(ids.filter(|id| (*id as usize) < vertices));
        }
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    /// The adjacency of an end that the session remembers.
    pub(super) async fn resident(&self, end: usize) -> Result<Option<Arc<Csr>>> {
        let source = self.source();
        let Some(lists) = source.open(end, &self.context)? else {
            return Ok(None);
        };
        let found = lists.resident_csr(source.vertices(1 - end)).await?;
        self.cache_hits.add(usize::from(found.is_some()));
        Ok(found)
    }

    /// The adjacency of an end: from the cache, or loaded, or the other end's turned round, or from the rows of the edges.
    pub(super) async fn lists(&self, end: usize) -> Result<Arc<Csr>> {
        let source = self.source();
        if let Some(stored) = self.stored_lists(end).await? {
            return Ok(stored);
        }
        let Some(other) = self.stored_lists(1 - end).await? else {
            return Ok(self.lists_from_rows(end).await?.csr);
        };
        let (own, others) = (source.vertices(end), source.vertices(1 - end));
        self.grow_by(sorting_bytes(own, others, source.edges(), false))?;
        let turned = self.blocking(move |stop| other.transposed(false, stop));
        Ok(Arc::new(turned.await?.0))
    }

    /// The adjacency of whichever end costs least.
    pub(super) async fn any_lists(&self) -> Result<Arc<Csr>> {
        for end in [0, 1] {
            if let Some(found) = self.resident(end).await? {
                return Ok(found);
            }
        }
        let end = usize::from(!self.source().has_lists_of(0) && self.source().has_lists_of(1));
        self.lists(end).await
    }

    /// The adjacency of an end, if a layout is ordered by it.
    async fn stored_lists(&self, end: usize) -> Result<Option<Arc<Csr>>> {
        let source = self.source();
        let Some(lists) = source.open(end, &self.context)? else {
            return Ok(None);
        };
        let others = source.vertices(1 - end);
        let load = CsrLoad {
            others,
            parallel: self.parallel(),
        };
        let Some(Resident { csr, hit }) = csr_within(&lists, load, &self.memory).await? else {
            let bytes = lists.csr_bytes(others);
            // The pool says who has the memory.
            self.grow_by(bytes)?;
            return resources_err!("no memory for {bytes} bytes of adjacency");
        };
        self.cache_hits.add(usize::from(hit));
        Ok(Some(csr))
    }

    /// The lists of an end with the rows of the edge table.
    pub(super) async fn row_lists(&self, end: usize) -> Result<RowLists> {
        let source = self.source();
        let Some(default) = self.call.edges.default_end() else {
            return self.lists_from_rows(end).await;
        };
        let lists = self.lists(default).await?;
        if default == end {
            return Ok(RowLists::new(lists, None));
        }
        let (own, others) = (source.vertices(end), source.vertices(1 - end));
        self.grow_by(sorting_bytes(own, others, source.edges(), true))?;
        let (csr, rows) = self
            .blocking(move |stop| lists.transposed(true, stop))
            .await?;
        Ok(RowLists::new(Arc::new(csr), rows.map(Arc::new)))
    }

    /// The lists of an end from the rows of the edge table, in whatever order these are.
    async fn lists_from_rows(&self, end: usize) -> Result<RowLists> {
        let source = self.source();
        let (own, others) = (source.vertices(end), source.vertices(1 - end));
        let edges = source.edges();
        let widths = (id_width(own) + id_width(others)) as u64;
        let unsorted = edges.saturating_mul(widths);
        self.grow_by(unsorted)?;
        self.grow_by(sorting_bytes(own, others, edges, true))?;
        let capacity = usize::try_from(edges).unwrap_or(usize::MAX);
        let mut from = PackedIds::with_capacity(own, capacity);
        let mut to = PackedIds::with_capacity(others, capacity);
        let names = [SOURCE_ID, DESTINATION_ID];
        let columns = [names[end], names[1 - end]].map(|name| self.column(name));
        let [first, second] = columns;
        let mut rows = self.scan(&[first?, second?])?;
        while let Some(batch) = rows.try_next().await? {
            for (column, (packed, bound)) in [(&mut from, own), (&mut to, others)]
                .into_iter()
                .enumerate()
            {
                let ids = batch.column(column).as_primitive::<Int64Type>();
                packed.extend(ids.values(), bound).map_err(|place| {
                    let name = self.source().name();
                    let id = ids.value(place);
                    exec_datafusion_err!(
                        "edges of {name}: expected the internal id of one of {bound} vertices, found {id}"
                    )
                })?;
            }
        }
        let direction = [Direction::Out, Direction::In][end];
        let made =
            self.blocking(move |stop| Csr::of_edges(direction, own, others, &from, &to, stop));
        let (csr, rows) = made.await?;
        self.memory
            .shrink(usize::try_from(unsorted).unwrap_or(usize::MAX));
        Ok(RowLists::new(Arc::new(csr), Some(Arc::new(rows))))
    }

    /// A column of the edge table.
    pub(super) fn column(&self, name: &str) -> Result<usize> {
        let column = self.call.edges.table().schema.index_of(name);
        column.map_err(|e| internal_datafusion_err!("{}: {e}", self.source().name()))
    }

    /// Columns of the edge table, in the order of its rows.
    pub(super) fn scan(&self, columns: &[usize]) -> Result<SendableRecordBatchStream> {
        let plan = scan_rows(ScanRequest {
            table: self.call.edges.table(),
            projection: Some(&columns.to_vec()),
            limit: None,
            selection: Selection::All,
            conditions: vec![],
            open: None,
            properties: vec![],
            choice: None,
            partitions: 1,
            options: &GraphArOptions::of(self.context.session_config().options()),
        })?;
        execute_stream(plan, Arc::clone(&self.context))
    }

    /// Opened look-ups of an end, without adjacency in memory.
    pub(super) fn look_ups(&self, end: usize) -> Result<Option<Adjacency>> {
        self.source().open(end, &self.context)
    }
}
