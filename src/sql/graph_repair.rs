//! The table function `graph_repair`.

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::array::{ArrayRef, RecordBatch, StringArray};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::catalog::{Session, TableFunctionArgs, TableFunctionImpl, TableProvider};
use datafusion::common::{exec_err, plan_err};
use datafusion::datasource::TableType;
use datafusion::error::Result;
use datafusion::execution::{SendableRecordBatchStream, SessionState, TaskContext};
use datafusion::logical_expr::Expr;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::streaming::{PartitionStream, StreamingTableExec};
use futures::stream;

use super::graph_check::{explain, place_of, text};
use crate::storage::{Location, Stores};
use crate::table::{Repair, repair};

/// Name of the function in SQL.
pub const GRAPH_REPAIR: &str = "graph_repair";

/// `graph_repair('<graph or location>' [, 'plan' | 'apply'])`: a row for each violation that a deep check finds, and what is done about
/// it.
///
/// The first argument is that of [`GraphCheck`](super::GraphCheck). `plan`, which is meant where nothing is said, changes nothing. `apply`
/// writes when the plan runs, once for each time that it does; making or explaining the plan changes nothing.
#[derive(Debug, Default)]
pub struct GraphRepair {}

impl TableFunctionImpl for GraphRepair {
    fn call_with_args(&self, args: TableFunctionArgs) -> Result<Arc<dyn TableProvider>> {
        let (graph, apply) = match args.exprs() {
            [graph] => (text(GRAPH_REPAIR, graph)?, false),
            [graph, what] => {
                let what = text(GRAPH_REPAIR, what)?;
                let apply = match what.to_ascii_lowercase().as_str() {
                    "plan" => false,
                    "apply" => true,
                    _ => {
                        return plan_err!(
                            "{GRAPH_REPAIR}: expected 'plan' or 'apply', found '{what}'"
                        );
                    }
                };
                (text(GRAPH_REPAIR, graph)?, apply)
            }
            others => {
                return plan_err!(
                    "{GRAPH_REPAIR} takes a graph or location and 'plan' or 'apply', found {} arguments",
                    others.len()
                );
            }
        };
        let names = ["file", "rule", "action"];
        let fields = names.map(|name| Field::new(name, DataType::Utf8, false));
        Ok(Arc::new(RepairTable {
            graph,
            apply,
            schema: Arc::new(Schema::new(fields.to_vec())),
        }))
    }
}

/// The repairs of one archive.
#[derive(Debug)]
struct RepairTable {
    graph: String,
    apply: bool,
    schema: SchemaRef,
}

#[async_trait]
impl TableProvider for RepairTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Temporary
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        _filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let Some(state) = state.as_any().downcast_ref::<SessionState>() else {
            return exec_err!("{GRAPH_REPAIR} needs a session with a catalog");
        };
        let (place, registered) = place_of(&self.graph, state).await?;
        let repairs = RepairStream {
            place,
            registered,
            apply: self.apply,
            schema: Arc::clone(&self.schema),
        };
        Ok(Arc::new(StreamingTableExec::try_new(
            Arc::clone(&self.schema),
            vec![Arc::new(repairs)],
            projection,
            None,
            false,
            limit,
        )?))
    }
}

/// A repair that is planned.
#[derive(Debug)]
struct RepairStream {
    place: Location,
    registered: bool,
    apply: bool,
    schema: SchemaRef,
}

impl PartitionStream for RepairStream {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, ctx: Arc<TaskContext>) -> SendableRecordBatchStream {
        let stores = Stores::new(ctx.runtime_env());
        let (place, apply, registered) = (self.place.clone(), self.apply, self.registered);
        let own = Arc::clone(&self.schema);
        let rows = stream::once(async move {
            let repairs = Box::pin(repair(place, apply, &stores, &ctx)).await;
            let repairs = repairs.map_err(|error| explain(GRAPH_REPAIR, error, registered))?;
            batch(&own, &repairs)
        });
        let schema = Arc::clone(&self.schema);
        Box::pin(RecordBatchStreamAdapter::new(schema, rows))
    }
}

fn batch(schema: &SchemaRef, repairs: &[Repair]) -> Result<RecordBatch> {
    let column = |value: fn(&Repair) -> &str| -> ArrayRef {
        let values = repairs.iter().map(|repair| Some(value(repair)));
        Arc::new(values.collect::<StringArray>())
    };
    let columns = vec![
        column(|repair| &repair.file),
        column(|repair| repair.rule.name()),
        column(|repair| &repair.action),
    ];
    Ok(RecordBatch::try_new(Arc::clone(schema), columns)?)
}
