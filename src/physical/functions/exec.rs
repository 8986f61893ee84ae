//! The operator of the table functions.

use std::fmt;
use std::sync::Arc;

use datafusion::arrow::datatypes::{Schema, SchemaRef};
use datafusion::common::internal_err;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::error::Result;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, Partitioning};
use datafusion::physical_plan::coop::cooperative;
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType, SchedulingType};
use datafusion::physical_plan::metrics::{
    BaselineMetrics, ExecutionPlanMetricsSet, MetricsSet, RecordOutput,
};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    ChildrenPropertiesMode, DisplayAs, DisplayFormatType, ExecutionPlan, PhysicalExpr,
    PlanProperties, ReplaceChildrenOptions,
};
use futures::{StreamExt, TryStreamExt, stream};

use super::run::{Rows, Run};
use super::{Function, FunctionCall, degrees, khop, paths, scores};

/// The rows of a table function.
///
/// For `khop` over `knows` = {0-1, 1-2} from 0 with two hops: `0, 0, 0`, `0, 1, 1`, `0, 2, 2`. The documentation of each
/// function says what it costs. All of them hold adjacency in memory, which stays in the session's cache if it has room, and a
/// few bytes for each vertex.
///
/// Inputs are relations of ids, in the first column: the starts of `khop`, the sources and targets of `shortest_path`.
#[derive(Debug)]
pub struct GraphFunctionExec {
    call: Arc<FunctionCall>,
    inputs: Vec<Arc<dyn ExecutionPlan>>,
    schema: SchemaRef,
    metrics: ExecutionPlanMetricsSet,
    properties: Arc<PlanProperties>,
}

impl GraphFunctionExec {
    /// An operator for a call.
    ///
    /// # Errors
    /// If the function takes another number of inputs.
    pub fn try_new(call: Arc<FunctionCall>, inputs: Vec<Arc<dyn ExecutionPlan>>) -> Result<Self> {
        let (name, expected) = (call.function.name(), call.function.inputs());
        if inputs.len() != expected {
            let found = inputs.len();
            return internal_err!("{name}: expected {expected} inputs, found {found}");
        }
        let schema = Arc::new(Schema::new(call.function.fields()));
        let properties = PlanProperties::new(
            EquivalenceProperties::new(Arc::clone(&schema)),
            Partitioning::UnknownPartitioning(1),
            EmissionType::Incremental,
            Boundedness::Bounded,
        )
        .with_scheduling_type(SchedulingType::Cooperative);
        Ok(Self {
            call,
            inputs,
            schema,
            metrics: ExecutionPlanMetricsSet::new(),
            properties: Arc::new(properties),
        })
    }

    /// What is asked.
    pub fn call(&self) -> &Arc<FunctionCall> {
        &self.call
    }
}

impl DisplayAs for GraphFunctionExec {
    fn fmt_as(&self, format: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match format {
            DisplayFormatType::Default | DisplayFormatType::Verbose => {
                write!(f, "GraphFunctionExec: {}", self.call)
            }
            DisplayFormatType::TreeRender => writeln!(f, "function={}", self.call),
        }
    }
}

impl ExecutionPlan for GraphFunctionExec {
    fn name(&self) -> &'static str {
        "GraphFunctionExec"
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

    /// Ids are put into a set, one after the other.
    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false; self.inputs.len()]
    }

    fn replace_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
        _options: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(Arc::new(Self::try_new(Arc::clone(&self.call), children)?))
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
        if partition != 0 {
            return internal_err!("partition {partition} of 1");
        }
        let run = Run::new(
            Arc::clone(&self.call),
            Arc::clone(&self.schema),
            self.inputs.clone(),
            context,
            &self.metrics,
        );
        let rows = stream::once(rows(run));
        let metrics = BaselineMetrics::new(&self.metrics, partition);
        let rows = rows
            .try_flatten()
            .map(move |batch| batch.record_output(&metrics));
        let schema = Arc::clone(&self.schema);
        let rows = RecordBatchStreamAdapter::new(schema, rows.boxed());
        Ok(Box::pin(cooperative(rows)))
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }
}

async fn rows(run: Run) -> Result<Rows> {
    match run.call.function.clone() {
        Function::Degree => degrees::degree(run).await,
        Function::Csr => degrees::csr(run).await,
        Function::Khop { hops } => khop::khop(run, hops).await,
        Function::ShortestPath { max_hops, weight } => {
            paths::shortest_path(run, max_hops, weight).await
        }
        Function::PageRank {
            damping,
            tolerance,
            max_iterations,
        } => scores::pagerank(run, damping, tolerance, max_iterations).await,
        Function::Wcc => scores::wcc(run).await,
        Function::TriangleCount => scores::triangle_count(run).await,
    }
}
