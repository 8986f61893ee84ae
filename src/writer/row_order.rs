//! The order in which a query sorts its rows, carried to the sink that numbers them.
//!
//! Ids are the numbers of rows. The optimizer keeps an order that a sink asks for, and a sink can only ask for an order of columns that it
//! gets. `SELECT name FROM t ORDER BY n` gives out no `n`, and its rows may be dealt out to several threads above the sort. So the
//! columns of the order are given out, too, and dropped by the sink.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::datatypes::{Schema, SchemaRef};
use datafusion::datasource::sink::{DataSink, DataSinkExec};
use datafusion::error::Result;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{LexOrdering, PhysicalSortExpr};
use datafusion::physical_plan::aggregates::AggregateExec;
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::limit::{GlobalLimitExec, LocalLimitExec};
use datafusion::physical_plan::metrics::MetricsSet;
use datafusion::physical_plan::projection::{ProjectionExec, ProjectionExpr};
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    ChildrenPropertiesMode, DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties,
    ReplaceChildrenOptions,
};
use futures::TryStreamExt;

/// A plan that writes the rows of `input` into `sink` in the order in which the query sorts them, if it does.
///
/// # Errors
/// If the plan of the rows cannot be made anew with more columns.
pub fn write_in_order(
    input: Arc<dyn ExecutionPlan>,
    sink: Arc<dyn DataSink>,
) -> Result<Arc<dyn ExecutionPlan>> {
    let kept = input.schema().fields().len();
    let (input, order) = with_order(input)?;
    let more = input.schema().fields().len() > kept;
    let sink = match more {
        false => sink,
        true => {
            let mut fields = sink.schema().fields().to_vec();
            fields.extend(input.schema().fields()[kept..].iter().cloned());
            let schema = Arc::new(Schema::new(fields));
            Arc::new(OrderedSink { sink, schema })
        }
    };
    let order = order.map(Into::into);
    Ok(Arc::new(DataSinkExec::new(input, sink, order)))
}

/// The plan with the columns of its order behind its own, and the order.
fn with_order(
    plan: Arc<dyn ExecutionPlan>,
) -> Result<(Arc<dyn ExecutionPlan>, Option<LexOrdering>)> {
    let visible = plan.output_ordering().cloned();
    if !sorts(&plan) {
        return Ok((plan, visible));
    }
    if let Some(projection) = plan.downcast_ref::<ProjectionExec>() {
        let (input, Some(order)) = with_order(Arc::clone(projection.input()))? else {
            return Ok((plan, visible));
        };
        // Of an order by several columns only the first ones may be given out.
        if visible.as_ref().is_some_and(|own| own.len() == order.len()) {
            return Ok((plan, visible));
        }
        let mut exprs: Vec<ProjectionExpr> = projection.expr().to_vec();
        let mut carried = vec![];
        for (number, sort) in order.iter().enumerate() {
            let name = format!("__order{number}");
            let column = Arc::new(Column::new(&name, exprs.len()));
            carried.push(PhysicalSortExpr::new(column, sort.options));
            exprs.push(ProjectionExpr::new(Arc::clone(&sort.expr), name));
        }
        let plan = Arc::new(ProjectionExec::try_new(exprs, input)?);
        return Ok((plan, LexOrdering::new(carried)));
    }
    // What lets rows through as they are.
    let passes = plan.is::<GlobalLimitExec>()
        || plan.is::<LocalLimitExec>()
        || plan
            .downcast_ref::<FilterExec>()
            .is_some_and(|filter| filter.projection().is_none());
    let [input] = plan.children()[..] else {
        return Ok((plan, visible));
    };
    if !passes {
        return Ok((plan, visible));
    }
    let (input, Some(order)) = with_order(Arc::clone(input))? else {
        return Ok((plan, visible));
    };
    let options = ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute);
    Ok((plan.replace_children(vec![input], options)?, Some(order)))
}

/// Whether the rows come from a sort, however they are changed on the way.
fn sorts(plan: &Arc<dyn ExecutionPlan>) -> bool {
    let below = match plan.children()[..] {
        [input] => sorts(input),
        _ => false,
    };
    plan.is::<SortExec>() || (below && !plan.is::<AggregateExec>())
}

/// A sink whose rows have the columns of their order behind those that it writes.
#[derive(Debug)]
pub struct OrderedSink {
    sink: Arc<dyn DataSink>,
    schema: SchemaRef,
}

impl OrderedSink {
    /// What writes the rows.
    pub fn sink(&self) -> &Arc<dyn DataSink> {
        &self.sink
    }
}

#[async_trait]
impl DataSink for OrderedSink {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn metrics(&self) -> Option<MetricsSet> {
        self.sink.metrics()
    }

    async fn write_all(
        &self,
        rows: SendableRecordBatchStream,
        context: &Arc<TaskContext>,
    ) -> Result<u64> {
        let kept: Vec<usize> = (0..self.sink.schema().fields().len()).collect();
        let schema = Arc::new(rows.schema().project(&kept)?);
        let rows = rows.and_then(move |batch| {
            let batch = batch.project(&kept).map_err(Into::into);
            std::future::ready(batch)
        });
        let rows = RecordBatchStreamAdapter::new(schema, rows);
        self.sink.write_all(Box::pin(rows), context).await
    }
}

impl DisplayAs for OrderedSink {
    fn fmt_as(&self, format: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.sink.fmt_as(format, f)
    }
}
