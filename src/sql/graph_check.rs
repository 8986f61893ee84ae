//! The table function `graph_check`.

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::array::{ArrayRef, RecordBatch, StringArray};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::catalog::{Session, TableFunctionArgs, TableFunctionImpl, TableProvider};
use datafusion::common::{TableReference, exec_datafusion_err, exec_err, plan_err};
use datafusion::datasource::TableType;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, SessionState, TaskContext};
use datafusion::logical_expr::Expr;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::streaming::{PartitionStream, StreamingTableExec};
use futures::{StreamExt, TryStreamExt};

use crate::check::{Level, Violation, check};
use crate::storage::{Location, Stores};
use crate::table::GraphTable;

/// Name of the function in SQL.
pub const GRAPH_CHECK: &str = "graph_check";

/// `graph_check('<graph or location>' [, 'deep' | 'shallow'])`: a row for each [`Violation`].
///
/// The first argument is the name of a graph registered in the session's default schema, or else the location of an
/// archive as in [`register_graph`](crate::session::SessionContextExt::register_graph). Nothing that the session
/// remembers of a graph is used but where it is. The files are read when the plan runs, and only as far as
/// rows are asked for.
#[derive(Debug, Default)]
pub struct GraphCheck {}

impl TableFunctionImpl for GraphCheck {
    fn call_with_args(&self, args: TableFunctionArgs) -> Result<Arc<dyn TableProvider>> {
        let (graph, level) = match args.exprs() {
            [graph] => (text(GRAPH_CHECK, graph)?, Level::default()),
            [graph, level] => {
                let name = text(GRAPH_CHECK, level)?;
                match Level::from_name(&name) {
                    Some(level) => (text(GRAPH_CHECK, graph)?, level),
                    None => {
                        return plan_err!(
                            "{GRAPH_CHECK}: expected the level 'deep' or 'shallow', found '{name}'"
                        );
                    }
                }
            }
            others => {
                return plan_err!(
                    "{GRAPH_CHECK} takes a graph or location and a level, found {} arguments",
                    others.len()
                );
            }
        };
        let schema = schema();
        Ok(Arc::new(CheckTable {
            graph,
            level,
            schema,
        }))
    }
}

/// An argument of a function that has to be a text.
pub(super) fn text(function: &str, argument: &Expr) -> Result<String> {
    let found = match argument {
        Expr::Literal(value, _) => value.try_as_str().flatten(),
        _ => None,
    };
    match found {
        Some(text) => Ok(text.to_owned()),
        None => plan_err!("{function}: expected a text such as 'g', found {argument}"),
    }
}

fn schema() -> SchemaRef {
    let names = ["file", "rule", "expected", "found"];
    let fields = names.map(|name| Field::new(name, DataType::Utf8, false));
    Arc::new(Schema::new(fields.to_vec()))
}

/// The violations of one archive.
#[derive(Debug)]
struct CheckTable {
    graph: String,
    level: Level,
    schema: SchemaRef,
}

/// Where an archive is, and whether that is the place of a graph of the session.
pub(super) async fn place_of(graph: &str, state: &SessionState) -> Result<(Location, bool)> {
    if let Ok(schema) = state.schema_for_ref(TableReference::bare(graph))
        && let Ok(Some(table)) = schema.table(graph).await
        && let Some(table) = table.downcast_ref::<GraphTable>()
    {
        return Ok((table.graph().archive().file.clone(), true));
    }
    let stores = Stores::new(Arc::clone(state.runtime_env()));
    Ok((Location::parse(graph, &stores)?, false))
}

#[async_trait]
impl TableProvider for CheckTable {
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
            return exec_err!("{GRAPH_CHECK} needs a session with a catalog");
        };
        let (place, registered) = place_of(&self.graph, state).await?;
        let violations = CheckStream {
            place,
            registered,
            level: self.level,
            schema: Arc::clone(&self.schema),
        };
        Ok(Arc::new(StreamingTableExec::try_new(
            Arc::clone(&self.schema),
            vec![Arc::new(violations)],
            projection,
            None,
            false,
            limit,
        )?))
    }
}

/// A check that is planned.
#[derive(Debug)]
struct CheckStream {
    place: Location,
    registered: bool,
    level: Level,
    schema: SchemaRef,
}

impl PartitionStream for CheckStream {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, ctx: Arc<TaskContext>) -> SendableRecordBatchStream {
        let stores = Stores::new(ctx.runtime_env());
        let pool = ctx.memory_pool();
        let violations = check(self.place.clone(), self.level, stores, pool);
        let (schema, registered) = (Arc::clone(&self.schema), self.registered);
        let batches = violations
            .map_err(move |error| explain(GRAPH_CHECK, error, registered))
            .try_ready_chunks(ctx.session_config().batch_size().max(1))
            // The chunk before an error is let go: a check that fails has no result.
            .map_err(|error| error.1)
            .map(move |rows| batch(&schema, &rows?));
        let schema = Arc::clone(&self.schema);
        Box::pin(RecordBatchStreamAdapter::new(schema, batches))
    }
}

/// Says of a text that is no location that it is no graph either.
pub(super) fn explain(function: &str, error: DataFusionError, registered: bool) -> DataFusionError {
    match error {
        DataFusionError::External(error) if !registered => {
            exec_datafusion_err!("{function}: no graph of this name is registered, and {error}")
        }
        other => other,
    }
}

fn batch(schema: &SchemaRef, rows: &[Violation]) -> Result<RecordBatch> {
    let column = |value: fn(&Violation) -> &str| -> ArrayRef {
        Arc::new(
            rows.iter()
                .map(|row| Some(value(row)))
                .collect::<StringArray>(),
        )
    };
    let columns = vec![
        column(|row| &row.file),
        column(|row| row.rule.name()),
        column(|row| &row.expected),
        column(|row| &row.found),
    ];
    Ok(RecordBatch::try_new(Arc::clone(schema), columns)?)
}
