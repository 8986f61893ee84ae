//! The steps of a pattern, carried out.

use std::sync::Arc;

use datafusion::arrow::array::{Array, AsArray, Int64Array, RecordBatch};
use datafusion::arrow::datatypes::Int64Type;
use datafusion::common::runtime::{JoinSet, SpawnedTask};
use datafusion::common::{exec_datafusion_err, internal_datafusion_err, internal_err};
use datafusion::error::Result;
use datafusion::execution::TaskContext;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::physical_plan::metrics::{Count, ExecutionPlanMetricsSet, MetricBuilder};
use datafusion::physical_plan::{ExecutionPlan, execute_stream};
use futures::TryStreamExt;

use super::weights::Weights;
use super::{How, PatternEdge, Seed, Step, WalkPattern};
use crate::graph::{Adjacency, Csr, CsrLoad};
use crate::physical::adjacency::{Resident, csr_within};

/// Vertices that one task gathers for.
const TASK_VERTICES: u64 = 1 << 16;

/// Counters that `EXPLAIN ANALYZE` shows.
#[derive(Debug)]
struct Counters {
    /// Edges that passes went over.
    edges_scanned: Count,
    /// Adjacency that was in the cache.
    csr_cache_hits: Count,
    /// Rows of inputs that were counted.
    input_rows: Count,
}

/// Finds the weights of the root.
#[derive(Debug)]
pub(super) struct WalkRun {
    pattern: Arc<WalkPattern>,
    inputs: Vec<Arc<dyn ExecutionPlan>>,
    context: Arc<TaskContext>,
    counters: Counters,
    /// Memory of weights and of adjacency that is not in the cache.
    memory: MemoryReservation,
}

/// The weights of the root, and the memory that they take.
#[derive(Debug)]
pub(super) struct RootWeights {
    pub(super) weights: Weights,
    _memory: MemoryReservation,
}

impl WalkRun {
    pub(super) fn new(
        pattern: Arc<WalkPattern>,
        inputs: Vec<Arc<dyn ExecutionPlan>>,
        context: Arc<TaskContext>,
        metrics: &ExecutionPlanMetricsSet,
    ) -> Self {
        let count = |name: &'static str| MetricBuilder::new(metrics).global_counter(name);
        Self {
            memory: MemoryConsumer::new("CountWalksExec").register(context.memory_pool()),
            counters: Counters {
                edges_scanned: count("edges_scanned"),
                csr_cache_hits: count("csr_cache_hits"),
                input_rows: count("input_rows"),
            },
            pattern,
            inputs,
            context,
        }
    }

    /// Carries out all steps.
    pub(super) async fn weights(self) -> Result<RootWeights> {
        let pattern = Arc::clone(&self.pattern);
        let mut weights = vec![];
        for place in pattern.places() {
            weights.push(Some(Weights::Ones(in_memory(place.vertices)?)));
        }
        for Seed { place, input } in pattern.seeds() {
            let before = take(&mut weights, *place)?;
            let counts = self.seed(*input, before.len()).await?;
            weights[*place] = Some(before.times(counts));
        }
        for step in pattern.steps() {
            let from = take(&mut weights, step.from)?;
            let edge = &pattern.edges()[step.edge];
            let sums = self.step(step, edge, &from).await?;
            drop(from);
            let before = take(&mut weights, step.to)?;
            weights[step.to] = Some(before.times(sums));
        }
        Ok(RootWeights {
            weights: take(&mut weights, pattern.root())?,
            _memory: self.memory,
        })
    }

    /// Room for a number for each of so many vertices.
    fn grow(&self, vertices: usize) -> Result<()> {
        self.memory
            .try_grow(vertices.saturating_mul(size_of::<u64>()))
    }

    /// How often each id comes in an input.
    async fn seed(&self, input: usize, vertices: usize) -> Result<Vec<u64>> {
        self.grow(vertices)?;
        let mut counts = vec![0_u64; vertices];
        let mut rows = execute_stream(Arc::clone(&self.inputs[input]), Arc::clone(&self.context))?;
        while let Some(batch) = rows.try_next().await? {
            self.counters.input_rows.add(batch.num_rows());
            for id in ids(&batch, 0)?.iter().flatten() {
                if let Some(count) = usize::try_from(id).ok().and_then(|id| counts.get_mut(id)) {
                    *count += 1;
                }
            }
        }
        Ok(counts)
    }

    async fn step(&self, step: &Step, edge: &PatternEdge, from: &Weights) -> Result<Vec<u64>> {
        let end = usize::from(edge.places[1] == step.to);
        let own = edge.source.vertices(end);
        let others = in_memory(edge.source.vertices(1 - end))?;
        self.grow(in_memory(own)?)?;
        if step.how == How::Rows {
            return self.rows(edge, end, from, in_memory(own)?).await;
        }
        let listed = if step.how == How::Scatter {
            1 - end
        } else {
            end
        };
        let Some(lists) = edge.source.open(listed, &self.context)? else {
            return internal_err!("no lists of {} for {}", edge.source.name(), step.how);
        };
        if step.how == How::Degree {
            return Ok(lists.all_degrees().await?);
        }
        let edges = usize::try_from(edge.source.edges());
        self.counters.edges_scanned.add(edges.unwrap_or(usize::MAX));
        // All lists have their vertices by number, so weights have to be as many.
        if from.len() != others {
            self.grow(others)?;
        }
        let weights = from.spread(others);
        match step.how {
            How::Gather => self.gather(&lists, weights).await,
            _ => self.scatter(&lists, weights, in_memory(own)?).await,
        }
    }

    /// The adjacency, from the cache or loaded; `None` if memory has no room for it.
    async fn csr(&self, lists: &Adjacency, others: u64) -> Result<Option<Arc<Csr>>> {
        let load = CsrLoad {
            others,
            parallel: self.parallel(),
        };
        let found = csr_within(lists, load, &self.memory).await?;
        Ok(found.map(|Resident { csr, hit }| {
            self.counters.csr_cache_hits.add(usize::from(hit));
            csr
        }))
    }

    fn parallel(&self) -> usize {
        self.context.session_config().target_partitions()
    }

    async fn gather(&self, lists: &Adjacency, weights: Arc<Vec<u64>>) -> Result<Vec<u64>> {
        let Some(csr) = self.csr(lists, weights.len() as u64).await? else {
            let sums = lists.gather_from_files(&weights, self.parallel()).await?;
            return Ok(sums);
        };
        let mut pieces = csr.pieces(TASK_VERTICES).into_iter();
        let mut sums = vec![0_u64; in_memory(csr.vertices())?];
        let mut tasks = JoinSet::new();
        let mut spawn = |tasks: &mut JoinSet<_>| {
            if let Some((part, vertices)) = pieces.next() {
                let (csr, weights) = (Arc::clone(&csr), Arc::clone(&weights));
                tasks.spawn_blocking(move || csr.gather(part, vertices, &weights));
            }
        };
        for _ in 0..self.parallel() {
            spawn(&mut tasks);
        }
        while let Some(done) = tasks.join_next().await {
            spawn(&mut tasks);
            let done = done.map_err(|e| exec_datafusion_err!("counting walks: {e}"))?;
            sums[done.first..done.first + done.sums.len()].copy_from_slice(&done.sums);
        }
        Ok(sums)
    }

    async fn scatter(
        &self,
        lists: &Adjacency,
        weights: Arc<Vec<u64>>,
        own: usize,
    ) -> Result<Vec<u64>> {
        let load = CsrLoad {
            others: own as u64,
            parallel: self.parallel(),
        };
        let csr = match self.csr(lists, load.others).await? {
            Some(csr) => csr,
            // Without room for the lists there is none for them elsewhere either: say which memory is missing.
            None => {
                let bytes = usize::try_from(lists.csr_bytes(load.others)).unwrap_or(usize::MAX);
                self.memory.try_grow(bytes)?;
                lists.csr(load).await?
            }
        };
        let mut sums = vec![0_u64; own];
        for (part, vertices) in csr.pieces(TASK_VERTICES) {
            let (csr, weights) = (Arc::clone(&csr), Arc::clone(&weights));
            let task = SpawnedTask::spawn_blocking(move || {
                csr.scatter(part, vertices, &weights, &mut sums);
                sums
            });
            let done = task.join_unwind().await;
            sums = done.map_err(|e| exec_datafusion_err!("counting walks: {e}"))?;
        }
        Ok(sums)
    }

    /// Sums over the rows of an input.
    async fn rows(
        &self,
        edge: &PatternEdge,
        end: usize,
        from: &Weights,
        own: usize,
    ) -> Result<Vec<u64>> {
        let input = edge.input.and_then(|input| self.inputs.get(input));
        let input = input.ok_or_else(|| internal_datafusion_err!("an edge without its input"))?;
        let mut sums = vec![0_u64; own];
        let mut rows = execute_stream(Arc::clone(input), Arc::clone(&self.context))?;
        while let Some(batch) = rows.try_next().await? {
            self.counters.input_rows.add(batch.num_rows());
            let (to, from_ids) = (ids(&batch, end)?, ids(&batch, 1 - end)?);
            for (to, id) in to.iter().zip(from_ids) {
                let (Some(to), Some(id)) = (to, id) else {
                    continue;
                };
                if let Some(sum) = usize::try_from(to).ok().and_then(|to| sums.get_mut(to)) {
                    *sum = sum.saturating_add(from.of(id));
                }
            }
        }
        Ok(sums)
    }
}

fn take(weights: &mut [Option<Weights>], place: usize) -> Result<Weights> {
    let taken = weights.get_mut(place).and_then(Option::take);
    taken.ok_or_else(|| internal_datafusion_err!("the weights of place {place} are used up"))
}

fn in_memory(vertices: u64) -> Result<usize> {
    usize::try_from(vertices)
        .map_err(|_| exec_datafusion_err!("{vertices} vertices do not fit into memory"))
}

/// A column of ids.
pub(super) fn ids(batch: &RecordBatch, column: usize) -> Result<&Int64Array> {
    let found = batch.columns().get(column);
    let found = found.and_then(|column| column.as_primitive_opt::<Int64Type>());
    found.ok_or_else(|| {
        let types = batch.columns().iter().map(|column| column.data_type());
        internal_datafusion_err!(
            "column {column}: expected ids, found {:?}",
            types.collect::<Vec<_>>()
        )
    })
}
