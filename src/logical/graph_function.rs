//! A table function over a graph.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use datafusion::arrow::datatypes::Schema;
use datafusion::common::{DFSchema, DFSchemaRef, plan_err};
use datafusion::error::Result;
use datafusion::logical_expr::{Expr, LogicalPlan, UserDefinedLogicalNodeCore};

use crate::physical::functions::FunctionCall;

/// The rows of a table function; planned as [`GraphFunctionExec`](crate::physical::functions::GraphFunctionExec).
///
/// Its inputs are relations of ids, of one `BIGINT` column each: what stands for starts, sources and targets in the statement, be it a
/// constant, a parameter or a subquery.
#[derive(Debug, Clone)]
pub struct GraphFunction {
    call: Arc<FunctionCall>,
    inputs: Vec<LogicalPlan>,
    schema: DFSchemaRef,
}

impl GraphFunction {
    /// A node for a call, whose columns have the name of the function for a qualifier.
    ///
    /// # Errors
    /// If the number of inputs is not that of the function.
    pub fn try_new(call: Arc<FunctionCall>, inputs: Vec<LogicalPlan>) -> Result<Self> {
        let name = call.function.name();
        if inputs.len() != call.function.inputs() {
            return plan_err!(
                "{name}: expected {} inputs, found {}",
                call.function.inputs(),
                inputs.len()
            );
        }
        let schema = Schema::new(call.function.fields());
        let schema = Arc::new(DFSchema::try_from_qualified_schema(name, &schema)?);
        Ok(Self {
            call,
            inputs,
            schema,
        })
    }

    /// What is asked.
    pub fn call(&self) -> &Arc<FunctionCall> {
        &self.call
    }

    /// What tells nodes apart.
    fn key(&self) -> (String, &[LogicalPlan]) {
        (self.call.to_string(), &self.inputs)
    }
}

impl PartialEq for GraphFunction {
    fn eq(&self, other: &Self) -> bool {
        // Edges of equal names may be of different graphs.
        let edges = Arc::ptr_eq(&self.call.edges, &other.call.edges);
        edges && self.call.function == other.call.function && self.key() == other.key()
    }
}

impl Eq for GraphFunction {}

impl Hash for GraphFunction {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

impl PartialOrd for GraphFunction {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        let order = self.key().partial_cmp(&other.key());
        order.filter(|order| *order != Ordering::Equal || self == other)
    }
}

impl UserDefinedLogicalNodeCore for GraphFunction {
    fn name(&self) -> &'static str {
        "GraphFunction"
    }

    fn inputs(&self) -> Vec<&LogicalPlan> {
        self.inputs.iter().collect()
    }

    fn schema(&self) -> &DFSchemaRef {
        &self.schema
    }

    fn expressions(&self) -> Vec<Expr> {
        vec![]
    }

    fn fmt_for_explain(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "GraphFunction: {}", self.call)
    }

    fn with_exprs_and_inputs(&self, exprs: Vec<Expr>, inputs: Vec<LogicalPlan>) -> Result<Self> {
        if !exprs.is_empty() {
            let found = exprs.len();
            return plan_err!("GraphFunction: expected no expressions, found {found}");
        }
        Self::try_new(Arc::clone(&self.call), inputs)
    }

    fn necessary_children_exprs(&self, _output_columns: &[usize]) -> Option<Vec<Vec<usize>>> {
        Some(vec![vec![0]; self.inputs.len()])
    }
}
