//! The operator that follows ids to rows.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use datafusion::arrow::datatypes::{DataType, FieldRef, Schema, SchemaRef};
use datafusion::common::stats::Precision;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Constraints, JoinType, Statistics, internal_err};
use datafusion::error::Result;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::projection::ProjectionMapping;
use datafusion::physical_plan::execution_plan::CardinalityEffect;
use datafusion::physical_plan::metrics::{BaselineMetrics, ExecutionPlanMetricsSet, MetricsSet};
use datafusion::physical_plan::statistics::{ChildStats, StatisticsArgs};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    ChildrenPropertiesMode, DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties,
    PhysicalExpr, PlanProperties, ReplaceChildrenOptions,
};
use futures::stream;

use super::RowsById;
use super::build::{Build, Counters};
use super::cursor::{Origin, Shape};
use super::stream::{Expansion, Shared};

/// How the ids of the input are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd)]
pub struct Follow {
    /// Column of the input with the ids.
    pub key: usize,
    /// Column of the input with the only other end that is wanted of the edges of an id.
    pub target: Option<usize>,
    /// Inner, left, left semi or left anti: what becomes of ids without rows.
    pub join: JoinType,
    /// Whether the input is expected to be large enough to be spread over all threads.
    pub spread: bool,
}

/// Joins its input with the rows that belong to an id of it: the edges of a vertex, or the vertex itself.
///
/// For the edges 0-1, 0-3, 2-0 and the ids (0, a), (2, b), (null, c) it gives (0, a, 1), (0, a, 3), (2, b, 0). With a *target*, only the
/// edges that end there: both ends are bound, and a row comes out for each edge between them.
///
/// Costs O(rows in and out) besides what is read: for few ids the offsets and the windows of their rows, for many the columns
/// asked for, once for all partitions. Holds what was read; charged to the memory pool. Where that has no room, the rows of a batch's ids
/// are read for one batch after the other. Output batches have `batch_size` rows at most, also of a vertex with millions of edges.
#[derive(Debug)]
pub struct ExpandExec {
    input: Arc<dyn ExecutionPlan>,
    rows: Arc<RowsById>,
    follow: Follow,
    /// Columns of the output: those of the input by number, and behind them the columns of the rows by id.
    projection: Vec<usize>,
    schema: SchemaRef,
    /// The rows of all ids, as long as a stream needs them.
    shared: Mutex<Weak<Shared>>,
    metrics: ExecutionPlanMetricsSet,
    properties: Arc<PlanProperties>,
}

impl ExpandExec {
    /// An operator whose output is some columns of its input and of the rows.
    ///
    /// # Errors
    /// If a column is not there, or a key is no `BIGINT`.
    pub fn try_new(
        input: Arc<dyn ExecutionPlan>,
        rows: Arc<RowsById>,
        follow: Follow,
        projection: Vec<usize>,
        schema: SchemaRef,
    ) -> Result<Self> {
        let own = input.schema();
        for key in [Some(follow.key), follow.target].into_iter().flatten() {
            let found = own.fields().get(key).map(|field| field.data_type());
            if found != Some(&DataType::Int64) {
                return internal_err!("expansion: expected ids in column {key}, found {found:?}");
            }
        }
        let columns = own.fields().len() + rows.fields().len();
        if projection.len() != schema.fields().len()
            || projection.iter().any(|column| *column >= columns)
        {
            return internal_err!("expansion: {projection:?} of {columns} columns as {schema}");
        }
        let rows = match follow.target {
            Some(_) => Arc::new(rows.as_ref().clone().with_neighbor()),
            None => rows,
        };
        let properties = Self::compute_properties(&input, &follow, &projection, &schema)?;
        Ok(Self {
            input,
            rows,
            follow,
            projection,
            schema,
            shared: Mutex::default(),
            metrics: ExecutionPlanMetricsSet::new(),
            properties: Arc::new(properties),
        })
    }

    /// The fields of the output of these columns of input and rows. Of a left join the rows may be missing.
    pub fn fields(input: &Schema, rows: &RowsById, join: JoinType) -> Vec<FieldRef> {
        let own = rows.fields().into_iter().map(|field| match join {
            JoinType::Left => Arc::new(field.as_ref().clone().with_nullable(true)),
            _ => field,
        });
        input.fields().iter().cloned().chain(own).collect()
    }

    fn compute_properties(
        input: &Arc<dyn ExecutionPlan>,
        follow: &Follow,
        projection: &[usize],
        schema: &SchemaRef,
    ) -> Result<PlanProperties> {
        let own = input.schema();
        let kept = projection.iter().enumerate();
        let kept = kept.filter_map(|(to, from)| Some((to, *from, own.fields().get(*from)?)));
        let mapping = kept.map(|(to, from, field)| {
            let source: Arc<dyn PhysicalExpr> = Arc::new(Column::new(field.name(), from));
            let target: Arc<dyn PhysicalExpr> = Arc::new(Column::new(schema.field(to).name(), to));
            (source, vec![(target, to)].into())
        });
        let mapping: ProjectionMapping = mapping.collect();
        let equivalences = input
            .equivalence_properties()
            .project(&mapping, Arc::clone(schema));
        // Rows of the input may come several times.
        let equivalences = match follow.join {
            JoinType::LeftSemi | JoinType::LeftAnti => equivalences,
            _ => equivalences.with_constraints(Constraints::default()),
        };
        let partitioning = input.output_partitioning().project(&mapping, &equivalences);
        Ok(PlanProperties::new(
            equivalences,
            partitioning,
            input.pipeline_behavior(),
            input.boundedness(),
        ))
    }

    /// What the ids lead to.
    pub fn rows(&self) -> &Arc<RowsById> {
        &self.rows
    }

    /// How they are followed.
    pub fn follow(&self) -> Follow {
        self.follow
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

impl DisplayAs for ExpandExec {
    fn fmt_as(&self, format: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let own = self.input.schema();
        let name = |column: usize| own.field(column).name().clone();
        let Follow {
            key, target, join, ..
        } = self.follow;
        let (key, target) = (name(key), target.map(name));
        match format {
            DisplayFormatType::Default | DisplayFormatType::Verbose => {
                write!(f, "{}: {key}", self.name())?;
                if let Some(target) = target {
                    write!(f, " to {target}")?;
                }
                write!(f, " in {}", self.rows)?;
                match join {
                    JoinType::Inner => Ok(()),
                    join => write!(f, ", join={join}"),
                }
            }
            DisplayFormatType::TreeRender => {
                writeln!(f, "key={key}")?;
                if let Some(target) = target {
                    writeln!(f, "target={target}")?;
                }
                writeln!(f, "rows={}", self.rows)
            }
        }
    }
}

impl ExecutionPlan for ExpandExec {
    fn name(&self) -> &str {
        match (self.rows.is_vertex(), self.follow.target) {
            (true, _) => "VertexLookupExec",
            (false, None) => "ExpandExec",
            (false, Some(_)) => "ExpandIntoExec",
        }
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn apply_expressions(
        &self,
        _f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    /// Rows keep their order always. But DataFusion 55.2 takes this for a promise that the columns of the input are those of the
    /// output, in the same places, when it moves a sort below an operator that it does not know (`handle_custom_pushdown`).
    fn maintains_input_order(&self) -> Vec<bool> {
        let inputs = self.input.schema().fields().len();
        let kept = self.projection.iter().take(inputs).copied();
        vec![kept.eq(0..inputs)]
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![self.follow.spread]
    }

    fn cardinality_effect(&self) -> CardinalityEffect {
        match self.follow.join {
            JoinType::LeftSemi | JoinType::LeftAnti => CardinalityEffect::LowerEqual,
            JoinType::Left => CardinalityEffect::GreaterEqual,
            _ if self.rows.is_vertex() => CardinalityEffect::LowerEqual,
            _ => CardinalityEffect::Unknown,
        }
    }

    fn child_stats_requests(&self, partition: Option<usize>) -> Vec<ChildStats> {
        vec![ChildStats::At(partition)]
    }

    fn statistics_from_inputs(
        &self,
        inputs: &[Arc<Statistics>],
        _args: &StatisticsArgs,
    ) -> Result<Arc<Statistics>> {
        let mut statistics = Statistics::new_unknown(&self.schema);
        if let Some(input) = inputs.first()
            && let Some(rows) = input.num_rows.get_value()
        {
            // An estimate; cut off to whole rows.
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            let estimate = (*rows as f64 * self.rows.rows_of_an_id()) as usize;
            statistics.num_rows = Precision::Inexact(match self.follow.join {
                JoinType::Inner => estimate,
                JoinType::Left => estimate.max(*rows),
                _ => *rows,
            });
        }
        Ok(Arc::new(statistics))
    }

    fn replace_children(
        self: Arc<Self>,
        mut children: Vec<Arc<dyn ExecutionPlan>>,
        _options: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let (Some(input), true) = (children.pop(), children.is_empty()) else {
            return internal_err!("expansion: expected one input");
        };
        Ok(Arc::new(Self::try_new(
            input,
            Arc::clone(&self.rows),
            self.follow,
            self.projection.clone(),
            Arc::clone(&self.schema),
        )?))
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
        let inputs = self.input.schema().fields().len();
        let wanted = self.rows.wanted();
        let columns = self
            .projection
            .iter()
            .map(|column| match column.checked_sub(inputs) {
                None => Origin::Input(*column),
                Some(own) => Origin::Read(wanted[own]),
            });
        let shape = Arc::new(Shape {
            join: self.follow.join,
            columns: columns.collect(),
            schema: Arc::clone(&self.schema),
            neighbor: self.rows.neighbor(),
            single: self.rows.is_vertex(),
            batch_size: context.session_config().batch_size().max(1),
        });
        let input = self.input.execute(partition, Arc::clone(&context))?;
        let name = match self.rows.is_vertex() {
            true => "VertexLookupExec",
            false => "ExpandExec",
        };
        let counters = Counters::new(&self.metrics, partition);
        let build = Build::try_new(&self.rows, context, counters, name)?;
        let metrics = BaselineMetrics::new(&self.metrics, partition);
        let ends = (self.follow.key, self.follow.target);
        let expansion = Expansion::new(input, ends, shape, build, self.shared(), metrics);
        let batches = stream::try_unfold(expansion, async |mut expansion| {
            let batch = expansion.next().await?;
            Ok(batch.map(|batch| (batch, expansion)))
        });
        let schema = Arc::clone(&self.schema);
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, batches)))
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }
}
