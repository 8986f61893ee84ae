//! Queries that are planned once and run with many values.

use std::sync::Arc;

use datafusion::arrow::record_batch::RecordBatch;
use datafusion::common::ParamValues;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::error::Result;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::execution_plan::reset_plan_states;
use datafusion::physical_plan::{ExecutionPlan, collect, execute_stream};
use datafusion::prelude::SessionContext;

use crate::config::GraphArOptions;
use crate::physical::scan::bind_scan;

/// A query with parameters (`$1`, `$name`) that is planned once.
///
/// Where the parameters stand in conditions on ids only (`_vertex_id = $1`, `_src_id IN ($1, $2)`), a run
/// computes the rows that its values ask for, and nothing else of the plan again. Other queries are
/// planned anew for each run, as `EXECUTE` does. Tables and options are those of the moment it was made.
///
/// ```
/// # use datafusion::prelude::SessionContext;
/// # use datafusion::scalar::ScalarValue;
/// # use datafusion_graphar::session::{PreparedQuery, SessionContextExt};
/// # async fn example() -> datafusion::error::Result<()> {
/// let ctx = SessionContext::new();
/// ctx.register_graph("g", "social/social.graph.yml").await?;
/// let sql = "SELECT name FROM g.person WHERE _vertex_id = $1";
/// let query = PreparedQuery::try_new(&ctx, sql).await?;
/// for id in 0..3_i64 {
///     let rows = query.collect(vec![ScalarValue::from(id)]).await?;
///     assert_eq!(rows.len(), 1);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct PreparedQuery {
    state: SessionState,
    logical: LogicalPlan,
    /// The plan with open conditions, if only conditions on ids have parameters.
    physical: Option<Arc<dyn ExecutionPlan>>,
}

impl PreparedQuery {
    /// Plans a query of one statement.
    ///
    /// # Errors
    /// If the query cannot be planned.
    pub async fn try_new(ctx: &SessionContext, sql: &str) -> Result<Self> {
        let state = ctx.state();
        let logical = state.create_logical_plan(sql).await?;
        // Fails where a parameter has to have a value before anything can be planned.
        let physical = match &logical {
            LogicalPlan::Ddl(_) | LogicalPlan::Dml(_) | LogicalPlan::Statement(_) => None,
            query => planner(&state).create_physical_plan(query).await.ok(),
        };
        Ok(Self {
            state,
            logical,
            physical,
        })
    }

    /// Whether a run plans nothing but the rows that it reads.
    pub fn is_planned(&self) -> bool {
        self.physical.is_some()
    }

    /// The rows for these values.
    ///
    /// # Errors
    /// If a parameter has no value, or the query fails.
    pub async fn collect(&self, values: impl Into<ParamValues>) -> Result<Vec<RecordBatch>> {
        let plan = self.plan(values.into()).await?;
        collect(plan, self.state.task_ctx()).await
    }

    /// The rows for these values, as they come. Errors as [`collect`](Self::collect).
    pub async fn stream(
        &self,
        values: impl Into<ParamValues>,
    ) -> Result<SendableRecordBatchStream> {
        let plan = self.plan(values.into()).await?;
        execute_stream(plan, self.state.task_ctx())
    }

    async fn plan(&self, values: ParamValues) -> Result<Arc<dyn ExecutionPlan>> {
        let Some(physical) = &self.physical else {
            let logical = self.logical.clone().with_param_values(values)?;
            return self.state.create_physical_plan(&logical).await;
        };
        let bound = Arc::clone(physical).transform_up(|plan| {
            Ok(match bind_scan(&plan, &values)? {
                Some(bound) => Transformed::yes(bound),
                None => Transformed::no(plan),
            })
        })?;
        reset_plan_states(bound.data)
    }
}

/// The session, but for statistics of files: they hold for the files as they are now, and later runs may find
/// others.
fn planner(state: &SessionState) -> SessionState {
    let mut planner = state.clone();
    let mut options = GraphArOptions::of(planner.config_options());
    options.collect_statistics = false;
    let extensions = &mut planner.config_mut().options_mut().extensions;
    extensions.insert(options);
    planner
}
