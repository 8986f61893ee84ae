//! An operator of one's own over adjacency that comes from one's own edge table.
//!
//! The edges lie in a table that has nothing to do with an archive. They are sorted by counting into a [`Csr`], and the operator
//! `SecondNeighborsExec` adds to each id of its input how many vertices are two steps away.
//!
//! `cargo run --features cli --example custom_operator`

#![allow(clippy::print_stdout)]

use std::fmt;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, AsArray, Int64Array, RecordBatch};
use datafusion::arrow::datatypes::{DataType, Field, Int64Type, Schema, SchemaRef};
use datafusion::common::HashSet;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    ChildrenPropertiesMode, DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties,
    PlanProperties, ReplaceChildrenOptions, collect, displayable,
};
use datafusion::prelude::SessionContext;
use datafusion_graphar::graph::{Csr, Direction, PackedIds, Stop};
use futures::StreamExt;

/// Vertices of the graph; ids are below.
const VERTICES: u64 = 6;

/// The edges of a table with two columns of ids, by its first one.
async fn adjacency(ctx: &SessionContext, table: &str) -> Result<Csr> {
    let batches = ctx.table(table).await?.collect().await?;
    let rows = batches.iter().map(RecordBatch::num_rows).sum();
    let mut ends = [(); 2].map(|()| PackedIds::with_capacity(VERTICES, rows));
    for batch in &batches {
        for (column, packed) in ends.iter_mut().enumerate() {
            let ids = batch.column(column).as_primitive::<Int64Type>();
            packed.extend(ids.values(), VERTICES).map_err(|row| {
                let message = format!("{table}: row {row} of a batch has an id of no vertex");
                DataFusionError::Execution(message)
            })?;
        }
    }
    let [from, to] = &ends;
    let stop = Stop::default();
    let (csr, _rows) = Csr::of_edges(Direction::Out, VERTICES, VERTICES, from, to, &stop)?;
    Ok(csr)
}

/// Adds the column `second` to the rows of its input, whose first column is an id.
#[derive(Debug)]
struct SecondNeighborsExec {
    csr: Arc<Csr>,
    input: Arc<dyn ExecutionPlan>,
    properties: Arc<PlanProperties>,
}

impl SecondNeighborsExec {
    fn new(csr: Arc<Csr>, input: Arc<dyn ExecutionPlan>) -> Self {
        let mut fields = input.schema().fields().to_vec();
        fields.push(Arc::new(Field::new("second", DataType::Int64, false)));
        let schema = Arc::new(Schema::new(fields));
        let properties = PlanProperties::new(
            EquivalenceProperties::new(schema),
            input.output_partitioning().clone(),
            input.pipeline_behavior(),
            input.boundedness(),
        );
        Self {
            csr,
            input,
            properties: Arc::new(properties),
        }
    }
}

/// A batch with the numbers of vertices two steps away.
fn with_second(csr: &Csr, batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch> {
    let ids = batch.column(0).as_primitive::<Int64Type>();
    let count = |id: i64| {
        let id = u64::try_from(id).unwrap_or(u64::MAX);
        let ends: HashSet<u64> = csr
            .neighbors(id)
            .flat_map(|next| csr.neighbors(next))
            .collect();
        i64::try_from(ends.len()).unwrap_or(i64::MAX)
    };
    let counts: Int64Array = ids.iter().map(|id| Some(id.map_or(0, count))).collect();
    let mut columns = batch.columns().to_vec();
    columns.push(Arc::new(counts) as ArrayRef);
    Ok(RecordBatch::try_new(Arc::clone(schema), columns)?)
}

impl DisplayAs for SecondNeighborsExec {
    fn fmt_as(&self, _format: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SecondNeighborsExec: edges={}", self.csr.edges())
    }
}

impl ExecutionPlan for SecondNeighborsExec {
    fn name(&self) -> &'static str {
        "SecondNeighborsExec"
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

    fn replace_children(
        self: Arc<Self>,
        mut children: Vec<Arc<dyn ExecutionPlan>>,
        _options: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let input = children.pop().unwrap_or_else(|| Arc::clone(&self.input));
        Ok(Arc::new(Self::new(Arc::clone(&self.csr), input)))
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
        let (csr, schema) = (Arc::clone(&self.csr), self.schema());
        let input = self.input.execute(partition, context)?;
        let own = Arc::clone(&schema);
        let batches = input.map(move |batch| with_second(&csr, &batch?, &own));
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, batches)))
    }
}

#[tokio::main]
async fn main() -> Result<()> {
    let ctx = SessionContext::new();
    ctx.sql("CREATE TABLE follows AS VALUES (0, 1), (1, 2), (1, 3), (3, 0), (3, 0), (4, 5)")
        .await?
        .collect()
        .await?;
    let csr = Arc::new(adjacency(&ctx, "follows").await?);
    println!("{} edges in {} bytes", csr.edges(), csr.bytes());

    let ids = ctx
        .sql("SELECT * FROM (VALUES (0), (1), (3), (5)) v(id)")
        .await?;
    let input = ids.create_physical_plan().await?;
    let plan: Arc<dyn ExecutionPlan> = Arc::new(SecondNeighborsExec::new(csr, input));
    println!("{}", displayable(plan.as_ref()).indent(false));

    let mut found = vec![];
    for batch in collect(plan, ctx.task_ctx()).await? {
        let column = |at: usize| batch.column(at).as_primitive::<Int64Type>().clone();
        found.extend(
            column(0)
                .values()
                .iter()
                .copied()
                .zip(column(1).values().iter().copied()),
        );
    }
    println!("{found:?}");
    // 0 leads to 1 and on to 2 and 3, 1 by 3 to 0, 3 by 0 to 1, and 5 nowhere.
    assert_eq!(found, [(0, 2), (1, 1), (3, 1), (5, 0)]);
    Ok(())
}
