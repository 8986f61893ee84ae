//! Inner joins on equal columns, taken apart: relations, and which of their columns are equal.

use datafusion::common::{Column, JoinType, NullEquality};
use datafusion::logical_expr::{Expr, Join, LogicalPlan};

/// A column of a relation, by its position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct LeafColumn {
    pub(super) leaf: usize,
    pub(super) column: usize,
}

/// What inner joins put together.
#[derive(Debug, Default)]
pub(super) struct JoinTree {
    /// Plans that are no such joins themselves.
    pub(super) leaves: Vec<LogicalPlan>,
    /// Pairs of columns that are equal, and so not null.
    pub(super) equal: Vec<[LeafColumn; 2]>,
    /// Where each column of the whole comes from; `None` if it is computed.
    pub(super) columns: Vec<Option<LeafColumn>>,
}

impl JoinTree {
    pub(super) fn of(plan: &LogicalPlan) -> Self {
        let mut tree = Self::default();
        tree.columns = tree.add(plan);
        tree
    }

    /// Adds a plan; gives where its columns come from.
    fn add(&mut self, plan: &LogicalPlan) -> Vec<Option<LeafColumn>> {
        match plan {
            LogicalPlan::SubqueryAlias(alias) => self.add(&alias.input),
            LogicalPlan::Projection(projection) => {
                let input = &projection.input;
                let before = self.leaves.len();
                let below = self.add(input);
                let computes = projection.expr.iter().any(|expr| column_of(expr).is_none());
                if computes && self.leaves.len() == before + 1 {
                    // What is computed from one relation is a column of it like any other.
                    self.leaves.truncate(before);
                    return self.add_leaf(plan);
                }
                let origin = |expr: &Expr| {
                    let column = column_of(expr)?;
                    let at = input.schema().maybe_index_of_column(column)?;
                    *below.get(at)?
                };
                projection.expr.iter().map(origin).collect()
            }
            LogicalPlan::Join(join) => {
                let before = (self.leaves.len(), self.equal.len());
                if let Some(columns) = self.add_join(join) {
                    return columns;
                }
                self.leaves.truncate(before.0);
                self.equal.truncate(before.1);
                self.add_leaf(plan)
            }
            _ => self.add_leaf(plan),
        }
    }

    fn add_leaf(&mut self, plan: &LogicalPlan) -> Vec<Option<LeafColumn>> {
        let leaf = self.leaves.len();
        self.leaves.push(plan.clone());
        let columns = 0..plan.schema().fields().len();
        columns
            .map(|column| Some(LeafColumn { leaf, column }))
            .collect()
    }

    fn add_join(&mut self, join: &Join) -> Option<Vec<Option<LeafColumn>>> {
        let plain = join.join_type == JoinType::Inner
            && join.filter.is_none()
            && join.null_equality == NullEquality::NullEqualsNothing;
        if !plain {
            return None;
        }
        let mut columns = self.add(&join.left);
        let right = self.add(&join.right);
        for (one, other) in &join.on {
            let place =
                |plan: &LogicalPlan, expr| plan.schema().maybe_index_of_column(column_of(expr)?);
            let one = columns[place(&join.left, one)?]?;
            let other = right[place(&join.right, other)?]?;
            self.equal.push([one, other]);
        }
        columns.extend(right);
        Some(columns)
    }
}

/// The column that an expression gives out as it is.
pub(super) fn column_of(expr: &Expr) -> Option<&Column> {
    match expr {
        Expr::Column(column) => Some(column),
        Expr::Alias(alias) => column_of(&alias.expr),
        _ => None,
    }
}
