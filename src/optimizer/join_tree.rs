//! Inner joins on equal columns, taken apart: relations, and which of their columns are equal.

use datafusion::common::tree_node::TreeNode;
use datafusion::common::{Column, DFSchema, JoinType, NullEquality};
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
    /// What else rows have to fulfil.
    pub(super) conditions: Vec<Condition>,
    /// What each leaf is called in the statement, if it has a name there.
    pub(super) aliases: Vec<Option<String>>,
    /// Whether joins may have conditions other than equal columns.
    conditional: bool,
}

/// A condition on columns of several leaves.
#[derive(Debug)]
pub(super) struct Condition {
    pub(super) expr: Expr,
    /// The columns in it, and where they come from.
    pub(super) columns: Vec<(Column, LeafColumn)>,
}

impl Condition {
    /// A condition on the columns of `schema`; `None` if one of them is computed, or there is more in it than columns of these rows.
    fn of(expr: &Expr, schema: &DFSchema, origins: &[Option<LeafColumn>]) -> Option<Self> {
        if !is_plain(expr) {
            return None;
        }
        let columns = expr.column_refs().into_iter().map(|column| {
            let origin = origins[schema.maybe_index_of_column(column)?]?;
            Some((column.clone(), origin))
        });
        Some(Self {
            columns: columns.collect::<Option<_>>()?,
            expr: expr.clone(),
        })
    }
}

/// Whether an expression is about nothing but the row it is asked of, and always answers the same.
pub(super) fn is_plain(expr: &Expr) -> bool {
    let other = expr.exists(|expr| {
        Ok(matches!(
            expr,
            Expr::Placeholder(_)
                | Expr::OuterReferenceColumn(..)
                | Expr::ScalarSubquery(_)
                | Expr::InSubquery(_)
                | Expr::Exists(_)
                | Expr::SetComparison(_)
        ))
    });
    !other.unwrap_or(true) && !expr.is_volatile()
}

impl JoinTree {
    /// The joins of a plan on equal columns alone.
    pub(super) fn of(plan: &LogicalPlan) -> Self {
        Self::new(plan, false)
    }

    /// The joins of a plan, and the conditions on them.
    pub(super) fn with_conditions(plan: &LogicalPlan) -> Self {
        Self::new(plan, true)
    }

    fn new(plan: &LogicalPlan, conditional: bool) -> Self {
        let mut tree = Self {
            conditional,
            ..Self::default()
        };
        tree.columns = tree.add(plan);
        tree
    }

    /// Adds a plan; gives where its columns come from.
    fn add(&mut self, plan: &LogicalPlan) -> Vec<Option<LeafColumn>> {
        match plan {
            LogicalPlan::SubqueryAlias(alias) => {
                let before = self.leaves.len();
                let columns = self.add(&alias.input);
                for name in &mut self.aliases[before..] {
                    name.get_or_insert_with(|| alias.alias.table().to_owned());
                }
                columns
            }
            LogicalPlan::Filter(filter) if self.conditional => {
                let before = self.marks();
                let columns = self.add(&filter.input);
                let schema = filter.input.schema();
                let several = self.leaves.len() > before[0] + 1;
                match Condition::of(&filter.predicate, schema, &columns) {
                    Some(condition) if several => {
                        self.conditions.push(condition);
                        columns
                    }
                    _ => {
                        self.back_to(before);
                        self.add_leaf(plan)
                    }
                }
            }
            LogicalPlan::Projection(projection) => {
                let input = &projection.input;
                let before = self.marks();
                let below = self.add(input);
                let computes = projection.expr.iter().any(|expr| column_of(expr).is_none());
                if computes && self.leaves.len() == before[0] + 1 {
                    // What is computed from one relation is a column of it like any other.
                    self.back_to(before);
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
                let before = self.marks();
                if let Some(columns) = self.add_join(join) {
                    return columns;
                }
                self.back_to(before);
                self.add_leaf(plan)
            }
            _ => self.add_leaf(plan),
        }
    }

    /// How much there is by now: leaves, equal columns, conditions.
    fn marks(&self) -> [usize; 3] {
        [self.leaves.len(), self.equal.len(), self.conditions.len()]
    }

    fn back_to(&mut self, [leaves, equal, conditions]: [usize; 3]) {
        self.leaves.truncate(leaves);
        self.aliases.truncate(leaves);
        self.equal.truncate(equal);
        self.conditions.truncate(conditions);
    }

    fn add_leaf(&mut self, plan: &LogicalPlan) -> Vec<Option<LeafColumn>> {
        let leaf = self.leaves.len();
        self.leaves.push(plan.clone());
        self.aliases.push(None);
        let columns = 0..plan.schema().fields().len();
        columns
            .map(|column| Some(LeafColumn { leaf, column }))
            .collect()
    }

    fn add_join(&mut self, join: &Join) -> Option<Vec<Option<LeafColumn>>> {
        let plain = join.join_type == JoinType::Inner
            && (join.filter.is_none() || self.conditional)
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
        if let Some(filter) = &join.filter {
            let condition = Condition::of(filter, &join.schema, &columns)?;
            self.conditions.push(condition);
        }
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
