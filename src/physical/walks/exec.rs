//! The operator that counts the matches of a pattern.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use datafusion::arrow::array::{ArrayRef, BooleanArray, Int64Array, RecordBatch};
use datafusion::arrow::compute::filter_record_batch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{exec_err, internal_err};
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, Partitioning};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::metrics::{
    BaselineMetrics, ExecutionPlanMetricsSet, MetricsSet, RecordOutput,
};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    ChildrenPropertiesMode, DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties,
    PhysicalExpr, PlanProperties, ReplaceChildrenOptions,
};
use futures::{Stream, StreamExt, TryStreamExt, stream};
use tokio::sync::OnceCell;

use super::run::{RootWeights, WalkRun, ids};
use super::{WalkOutput, WalkPattern};

/// Weights of the root, found once by whichever partition comes first.
type Shared = OnceCell<RootWeights>;

/// Counts the matches of a tree of edges without enumerating them.
///
/// For `(a)-[knows]->(b)-[knows]->(c)` and `knows` = {0-1, 1-2, 1-3} it gives, by [`WalkOutput`]: the row `2`; or, with `a` as
/// the root, the row `0, 2`; or each row of an input whose id is 0, with 2 behind it.
///
/// Costs O(V + E) for each edge of the pattern, or O(V) where degrees do, whatever the number of matches. Holds one number of
/// 8 bytes for each vertex of the places in hand, and the adjacency of one edge at a time, which stays in the session's cache if it
/// has room; without memory for adjacency sums are taken from the files.
///
/// Inputs are the rows of [`WalkOutput::Rows`], if that is what comes out, and the relations that match places and edges.
#[derive(Debug)]
pub struct CountWalksExec {
    pattern: Arc<WalkPattern>,
    inputs: Vec<Arc<dyn ExecutionPlan>>,
    schema: SchemaRef,
    /// The weights, as long as a stream of theirs lives: a plan that is executed again counts again.
    shared: Mutex<Weak<Shared>>,
    metrics: ExecutionPlanMetricsSet,
    properties: Arc<PlanProperties>,
}

impl CountWalksExec {
    /// An operator whose output has these columns.
    ///
    /// # Errors
    /// If the columns are not those of the pattern's output.
    pub fn try_new(
        pattern: Arc<WalkPattern>,
        inputs: Vec<Arc<dyn ExecutionPlan>>,
        schema: SchemaRef,
    ) -> Result<Self> {
        let expected = match pattern.output() {
            WalkOutput::Total => 1,
            WalkOutput::Vertices => 2,
            WalkOutput::Rows(_) => match inputs.first() {
                Some(input) => input.schema().fields().len() + 1,
                None => return internal_err!("counting walks from rows that there are none of"),
            },
        };
        if schema.fields().len() != expected {
            let found = schema.fields().len();
            return internal_err!("counting walks: expected {expected} columns, found {found}");
        }
        let properties = Self::compute_properties(&pattern, &inputs, &schema);
        Ok(Self {
            pattern,
            inputs,
            schema,
            shared: Mutex::default(),
            metrics: ExecutionPlanMetricsSet::new(),
            properties: Arc::new(properties),
        })
    }

    fn compute_properties(
        pattern: &WalkPattern,
        inputs: &[Arc<dyn ExecutionPlan>],
        schema: &SchemaRef,
    ) -> PlanProperties {
        let partitions = match (pattern.output(), inputs.first()) {
            (WalkOutput::Rows(_), Some(input)) => input.output_partitioning().partition_count(),
            _ => 1,
        };
        PlanProperties::new(
            EquivalenceProperties::new(Arc::clone(schema)),
            Partitioning::UnknownPartitioning(partitions),
            EmissionType::Incremental,
            Boundedness::Bounded,
        )
    }

    /// What is counted.
    pub fn pattern(&self) -> &Arc<WalkPattern> {
        &self.pattern
    }

    fn shared(&self) -> Arc<Shared> {
        let mut known = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        known.upgrade().unwrap_or_else(|| {
            let fresh = Arc::new(Shared::new());
            *known = Arc::downgrade(&fresh);
            fresh
        })
    }
}

impl DisplayAs for CountWalksExec {
    fn fmt_as(&self, format: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let output = match self.pattern.output() {
            WalkOutput::Total => "total",
            WalkOutput::Vertices => "vertices",
            WalkOutput::Rows(_) => "rows",
        };
        match format {
            DisplayFormatType::Default | DisplayFormatType::Verbose => {
                write!(f, "CountWalksExec: output={output}, {}", self.pattern)
            }
            DisplayFormatType::TreeRender => {
                writeln!(f, "output={output}")?;
                writeln!(f, "{}", self.pattern)
            }
        }
    }
}

impl ExecutionPlan for CountWalksExec {
    fn name(&self) -> &'static str {
        "CountWalksExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        self.inputs.iter().collect()
    }

    fn apply_expressions(
        &self,
        _f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        let rows = matches!(self.pattern.output(), WalkOutput::Rows(_));
        (0..self.inputs.len())
            .map(|input| rows && input == 0)
            .collect()
    }

    fn replace_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
        _options: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        if children.len() != self.inputs.len() {
            let (expected, found) = (self.inputs.len(), children.len());
            return internal_err!("counting walks: expected {expected} inputs, found {found}");
        }
        let (pattern, schema) = (Arc::clone(&self.pattern), Arc::clone(&self.schema));
        Ok(Arc::new(Self::try_new(pattern, children, schema)?))
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let options = ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute);
        self.replace_children(children, options)
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let partitions = self.properties.output_partitioning().partition_count();
        if partition >= partitions {
            return internal_err!("partition {partition} of {partitions}");
        }
        let run = WalkRun::new(
            Arc::clone(&self.pattern),
            self.inputs.clone(),
            Arc::clone(&context),
            &self.metrics,
        );
        let weights = Weighted {
            shared: self.shared(),
            schema: Arc::clone(&self.schema),
        };
        let size = context.session_config().batch_size().max(1);
        let metrics = BaselineMetrics::new(&self.metrics, partition);
        let rows = match self.pattern.output() {
            WalkOutput::Total => stream::once(async move {
                let total = weights.of(run).await?.weights.total();
                weights.batch(vec![counted([total])?])
            })
            .boxed(),
            WalkOutput::Vertices => stream::once(async move {
                weights.of(run).await?;
                Ok::<_, DataFusionError>(vertices(weights, size))
            })
            .try_flatten()
            .boxed(),
            WalkOutput::Rows(column) => {
                let input = self.inputs[0].execute(partition, context)?;
                stream::once(async move {
                    weights.of(run).await?;
                    Ok::<_, DataFusionError>(input.map(move |batch| weights.rows(&batch?, column)))
                })
                .try_flatten()
                .boxed()
            }
        };
        let rows = rows.map(move |batch| batch.record_output(&metrics));
        let schema = Arc::clone(&self.schema);
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, rows)))
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }
}

/// The weights of the root, as a stream sees them.
struct Weighted {
    shared: Arc<Shared>,
    schema: SchemaRef,
}

impl Weighted {
    /// Finds them, unless another partition does.
    async fn of(&self, run: WalkRun) -> Result<&RootWeights> {
        self.shared.get_or_try_init(|| run.weights()).await
    }

    fn batch(&self, columns: Vec<ArrayRef>) -> Result<RecordBatch> {
        Ok(RecordBatch::try_new(Arc::clone(&self.schema), columns)?)
    }

    /// The rows that have any match, with their numbers.
    fn rows(&self, batch: &RecordBatch, column: usize) -> Result<RecordBatch> {
        let Some(RootWeights { weights, .. }) = self.shared.get() else {
            return internal_err!("rows before the weights are known");
        };
        let found = ids(batch, column)?.iter();
        let found: Vec<u64> = found.map(|id| id.map_or(0, |id| weights.of(id))).collect();
        let kept = BooleanArray::from_iter(found.iter().map(|count| Some(*count > 0)));
        let batch = filter_record_batch(batch, &kept)?;
        let mut columns = batch.columns().to_vec();
        columns.push(counted(found.into_iter().filter(|count| *count > 0))?);
        self.batch(columns)
    }
}

/// Every vertex with matches, and how many.
fn vertices(weights: Weighted, size: usize) -> impl Stream<Item = Result<RecordBatch>> + Send {
    stream::try_unfold((weights, 0), move |(weights, begin)| async move {
        let Some(RootWeights { weights: known, .. }) = weights.shared.get() else {
            return internal_err!("vertices before the weights are known");
        };
        let (mut ids, mut counts) = (vec![], vec![]);
        let mut at = begin;
        while at < known.len() && ids.len() < size {
            let id = i64::try_from(at).unwrap_or(i64::MAX);
            let count = known.of(id);
            if count > 0 {
                ids.push(id);
                counts.push(count);
            }
            at += 1;
        }
        if ids.is_empty() {
            return Ok(None);
        }
        let batch = weights.batch(vec![Arc::new(Int64Array::from(ids)), counted(counts)?])?;
        Ok(Some((batch, (weights, at))))
    })
}

/// Numbers of matches as SQL's `BIGINT`.
fn counted(counts: impl IntoIterator<Item = u64>) -> Result<ArrayRef> {
    let mut values = vec![];
    for count in counts {
        let Ok(count) = i64::try_from(count) else {
            return exec_err!(
                "the number of walks is larger than {}, the largest BIGINT",
                i64::MAX
            );
        };
        values.push(count);
    }
    Ok(Arc::new(Int64Array::from(values)))
}
