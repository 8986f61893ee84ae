//! From the nodes of [`logical`](crate::logical) to operators.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use datafusion::catalog::Session;
use datafusion::common::internal_err;
use datafusion::error::Result;
use datafusion::execution::context::QueryPlanner;
use datafusion::logical_expr::physical_planning_context::PhysicalPlanningContext;
use datafusion::logical_expr::{LogicalPlan, UserDefinedLogicalNode};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_planner::{DefaultPhysicalPlanner, ExtensionPlanner, PhysicalPlanner};

use crate::logical::{CountWalks, Expand, GraphFunction};
use crate::physical::expand::ExpandExec;
use crate::physical::functions::GraphFunctionExec;
use crate::physical::walks::CountWalksExec;

/// Plans the graph nodes. An application with a planner of its own adds it to its extension planners.
#[derive(Debug, Default)]
pub struct GraphExtensionPlanner;

#[async_trait]
impl ExtensionPlanner for GraphExtensionPlanner {
    async fn plan_extension(
        &self,
        _planner: &dyn PhysicalPlanner,
        node: &dyn UserDefinedLogicalNode,
        _logical_inputs: &[&LogicalPlan],
        physical_inputs: &[Arc<dyn ExecutionPlan>],
        _session_state: &dyn Session,
        _planning_ctx: &PhysicalPlanningContext,
    ) -> Result<Option<Arc<dyn ExecutionPlan>>> {
        if let Some(node) = node.as_any().downcast_ref::<Expand>() {
            let [input] = physical_inputs else {
                return internal_err!("Expand: expected one input");
            };
            let schema = Arc::clone(UserDefinedLogicalNode::schema(node).inner());
            let exec = ExpandExec::try_new(
                Arc::clone(input),
                Arc::clone(node.rows()),
                node.follow(),
                node.projection().to_vec(),
                schema,
            )?;
            return Ok(Some(Arc::new(exec)));
        }
        if let Some(node) = node.as_any().downcast_ref::<GraphFunction>() {
            let call = Arc::clone(node.call());
            let exec = GraphFunctionExec::try_new(call, physical_inputs.to_vec())?;
            return Ok(Some(Arc::new(exec)));
        }
        let Some(node) = node.as_any().downcast_ref::<CountWalks>() else {
            return Ok(None);
        };
        let schema = Arc::clone(UserDefinedLogicalNode::schema(node).inner());
        let pattern = Arc::clone(node.pattern());
        let exec = CountWalksExec::try_new(pattern, physical_inputs.to_vec(), schema)?;
        Ok(Some(Arc::new(exec)))
    }
}

/// DataFusion's planner, which also knows the graph nodes.
pub struct GraphQueryPlanner {
    planner: DefaultPhysicalPlanner,
}

impl fmt::Debug for GraphQueryPlanner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GraphQueryPlanner").finish_non_exhaustive()
    }
}

impl Default for GraphQueryPlanner {
    fn default() -> Self {
        let extensions: Vec<Arc<dyn ExtensionPlanner + Send + Sync>> =
            vec![Arc::new(GraphExtensionPlanner)];
        Self {
            planner: DefaultPhysicalPlanner::with_extension_planners(extensions),
        }
    }
}

#[async_trait]
impl QueryPlanner for GraphQueryPlanner {
    async fn create_physical_plan(
        &self,
        plan: &LogicalPlan,
        state: &dyn Session,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        self.planner.create_physical_plan(plan, state).await
    }
}
