//! The number of matches of a tree of edges.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use datafusion::common::{DFSchemaRef, plan_err};
use datafusion::error::Result;
use datafusion::logical_expr::{Expr, LogicalPlan, UserDefinedLogicalNodeCore};

use crate::physical::walks::WalkPattern;

/// Counts the matches of a pattern; planned as [`CountWalksExec`](crate::physical::walks::CountWalksExec), which says what comes out.
#[derive(Debug, Clone)]
pub struct CountWalks {
    pattern: Arc<WalkPattern>,
    inputs: Vec<LogicalPlan>,
    schema: DFSchemaRef,
}

impl CountWalks {
    /// A node with these output columns.
    pub fn new(pattern: Arc<WalkPattern>, inputs: Vec<LogicalPlan>, schema: DFSchemaRef) -> Self {
        Self {
            pattern,
            inputs,
            schema,
        }
    }

    /// What is counted.
    pub fn pattern(&self) -> &Arc<WalkPattern> {
        &self.pattern
    }

    /// What tells nodes apart.
    fn key(&self) -> (String, &[LogicalPlan], &DFSchemaRef) {
        (self.pattern.to_string(), &self.inputs, &self.schema)
    }
}

impl PartialEq for CountWalks {
    fn eq(&self, other: &Self) -> bool {
        // Patterns over equal tables may be of different graphs.
        Arc::ptr_eq(&self.pattern, &other.pattern) && self.key() == other.key()
    }
}

impl Eq for CountWalks {}

impl Hash for CountWalks {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

impl PartialOrd for CountWalks {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        let order = self.pattern.to_string().cmp(&other.pattern.to_string());
        match order {
            Ordering::Equal => self.inputs.partial_cmp(&other.inputs),
            order => Some(order),
        }
        .filter(|order| *order != Ordering::Equal || self == other)
    }
}

impl UserDefinedLogicalNodeCore for CountWalks {
    fn name(&self) -> &'static str {
        "CountWalks"
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
        write!(f, "CountWalks: {}", self.pattern)
    }

    fn with_exprs_and_inputs(&self, exprs: Vec<Expr>, inputs: Vec<LogicalPlan>) -> Result<Self> {
        if !exprs.is_empty() || inputs.len() != self.inputs.len() {
            return plan_err!(
                "CountWalks: expected no expressions and {} inputs, found {} and {}",
                self.inputs.len(),
                exprs.len(),
                inputs.len()
            );
        }
        Ok(Self {
            inputs,
            ..self.clone()
        })
    }

    /// All columns of all inputs: the first ones are the ids, and their places are part of the pattern.
    fn necessary_children_exprs(&self, _output_columns: &[usize]) -> Option<Vec<Vec<usize>>> {
        let all = |input: &LogicalPlan| (0..input.schema().fields().len()).collect();
        Some(self.inputs.iter().map(all).collect())
    }
}
