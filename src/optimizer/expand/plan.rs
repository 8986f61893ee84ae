//! From steps to a plan.

use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column, HashMap, HashSet, JoinType, internal_err};
use datafusion::error::Result;
use datafusion::logical_expr::{Expr, Extension, LogicalPlan, LogicalPlanBuilder, Projection};

use super::leaf::Element;
use super::order::{Move, Relations, Step};
use crate::config::GraphArOptions;
use crate::format::{DESTINATION_ID, SOURCE_ID, VERTEX_ID};
use crate::logical::Expand;
use crate::optimizer::join_tree::LeafColumn;
use crate::physical::expand::{Follow, RowsById};

/// An input of fewer rows is not spread over threads.
const SPREAD_ROWS: f64 = 4096.0;

/// A plan that is being made.
struct Plan<'a> {
    relations: &'a Relations,
    options: &'a GraphArOptions,
    /// What each column is called; no two have one name.
    names: HashMap<LeafColumn, String>,
    /// The columns of vertices that were left out, by those that they are equal to.
    equal: HashMap<LeafColumn, LeafColumn>,
    plan: LogicalPlan,
    /// The columns of `plan`.
    columns: Vec<LeafColumn>,
    done: Vec<bool>,
    /// Conditions that are still to be tested, by number.
    conditions: Vec<usize>,
}

/// The plan that carries out the steps; `None` if a table cannot do what a step asks for.
pub(super) fn joined(
    relations: &Relations,
    steps: &[Step],
    options: &GraphArOptions,
) -> Result<Option<LogicalPlan>> {
    let Some((first, rest)) = steps.split_first() else {
        return Ok(None);
    };
    let equal = steps.iter().filter_map(|step| match step.how {
        Move::Elide(end) => Some((relations.column(step.leaf, VERTEX_ID)?, end)),
        _ => None,
    });
    let mut plan = Plan {
        relations,
        options,
        names: names(relations),
        equal: equal.collect(),
        plan: relations.tree.leaves[first.leaf].clone(),
        columns: vec![],
        done: vec![false; steps.len()],
        conditions: (0..relations.tree.conditions.len()).collect(),
    };
    let (start, columns) = plan.leaf(first.leaf)?;
    plan.plan = start;
    plan.columns = columns;
    plan.done[first.leaf] = true;
    plan.test(first.leaf)?;
    for step in rest {
        match step.how {
            Move::Elide(_) => {}
            Move::Start | Move::Join => plan.join(step.leaf)?,
            Move::Lookup => {
                let Some(set) = plan.set(step.leaf, VERTEX_ID) else {
                    return Ok(None);
                };
                if !plan.expand(step, VERTEX_ID, set, None)? {
                    return Ok(None);
                }
            }
            Move::Expand { end, target } => {
                let id = [SOURCE_ID, DESTINATION_ID][end];
                let Some(set) = plan.set(step.leaf, id) else {
                    return Ok(None);
                };
                if !plan.expand(step, id, set, target)? {
                    return Ok(None);
                }
            }
        }
        plan.done[step.leaf] = true;
        plan.test(step.leaf)?;
    }
    plan.finish().map(Some)
}

/// A name for each column that is used or joined by: as in the statement, with a number where that comes twice.
fn names(relations: &Relations) -> HashMap<LeafColumn, String> {
    let all: HashSet<LeafColumn> = relations
        .used
        .iter()
        .chain(relations.sets.keys())
        .copied()
        .collect();
    let mut all: Vec<LeafColumn> = all.into_iter().collect();
    all.sort_unstable();
    let mut taken = HashSet::new();
    let named = all.into_iter().map(|column| {
        let schema = relations.tree.leaves[column.leaf].schema();
        let (qualifier, field) = schema.qualified_field(column.column);
        let alias = relations.tree.aliases[column.leaf].clone();
        let alias = alias.or_else(|| Some(qualifier?.table().to_owned()));
        let name = match alias {
            Some(alias) => format!("{alias}.{}", field.name()),
            None => field.name().clone(),
        };
        let mut unique = name.clone();
        let mut number = 1;
        while !taken.insert(unique.clone()) {
            number += 1;
            unique = format!("{name}#{number}");
        }
        (column, unique)
    });
    named.collect()
}

impl Plan<'_> {
    /// The set of a relation's column.
    fn set(&self, leaf: usize, name: &str) -> Option<usize> {
        let column = self.relations.column(leaf, name)?;
        self.relations.sets.get(&column).copied()
    }

    /// The column that stands for a set: the first that is there.
    fn of_set(&self, set: usize) -> Option<usize> {
        let of = |column: &LeafColumn| self.relations.sets.get(column) == Some(&set);
        self.columns.iter().position(of)
    }

    fn name(&self, column: LeafColumn) -> Result<&String> {
        match self.names.get(&column) {
            Some(name) => Ok(name),
            None => internal_err!("column {column:?} of joins has no name"),
        }
    }

    fn expr(&self, column: LeafColumn) -> Result<Expr> {
        Ok(Expr::Column(Column::new_unqualified(self.name(column)?)))
    }

    /// Whether a column is in the result, or in a condition that is still to be tested.
    fn is_asked_for(&self, column: LeafColumn) -> bool {
        let tree = &self.relations.tree;
        let conditions = self
            .conditions
            .iter()
            .map(|number| &tree.conditions[*number]);
        let tested = conditions.flat_map(|condition| condition.columns.iter().map(|(_, at)| at));
        let outputs = self.relations.outputs.iter().map(|(_, at)| at);
        let mut asked = outputs.chain(tested);
        asked.any(|asked| *self.equal.get(asked).unwrap_or(asked) == column)
    }

    /// Whether other relations than `leaf` are still to be joined by a set.
    fn is_open(&self, set: usize, leaf: usize) -> bool {
        let mut sets = self.relations.sets.iter();
        sets.any(|(column, other)| *other == set && column.leaf != leaf && !self.done[column.leaf])
    }

    /// Columns of a relation that have to be there when it is joined.
    fn wanted(&self, leaf: usize) -> Vec<LeafColumn> {
        let fields = self.relations.tree.leaves[leaf].schema().fields().len();
        let all = (0..fields).map(|column| LeafColumn { leaf, column });
        all.filter(|column| self.is_asked_for(*column) || self.relations.sets.contains_key(column))
            .collect()
    }

    /// A relation with the columns wanted under their names.
    fn leaf(&self, leaf: usize) -> Result<(LogicalPlan, Vec<LeafColumn>)> {
        let plan = &self.relations.tree.leaves[leaf];
        let columns = self.wanted(leaf);
        let exprs = columns.iter().map(|column| {
            let own = Column::from(plan.schema().qualified_field(column.column));
            Ok(Expr::Column(own).alias(self.name(*column)?))
        });
        let exprs = exprs.collect::<Result<Vec<_>>>()?;
        let projection = Projection::try_new(exprs, Arc::new(plan.clone()))?;
        Ok((LogicalPlan::Projection(projection), columns))
    }

    /// Joins by hash.
    fn join(&mut self, leaf: usize) -> Result<()> {
        let (right, columns) = self.leaf(leaf)?;
        let (mut ours, mut theirs) = (vec![], vec![]);
        for column in &columns {
            let set = self.relations.sets.get(column);
            if let Some(known) = set.and_then(|set| self.of_set(*set)) {
                ours.push(Column::new_unqualified(self.name(self.columns[known])?));
                theirs.push(Column::new_unqualified(self.name(*column)?));
            }
        }
        let left = LogicalPlanBuilder::from(self.plan.clone());
        self.plan = match ours.is_empty() {
            true => left.cross_join(right)?.build()?,
            false => left
                .join(right, JoinType::Inner, (ours, theirs), None)?
                .build()?,
        };
        self.columns.extend(columns);
        Ok(())
    }

    /// Follows ids. False if the table does not find rows by this id.
    fn expand(&mut self, step: &Step, id: &str, set: usize, target: Option<usize>) -> Result<bool> {
        let leaf = step.leaf;
        let Some(element) = &self.relations.leaves[leaf].element else {
            return Ok(false);
        };
        let Some(key) = self.of_set(set) else {
            return internal_err!("joins by a set that no column is there of");
        };
        let target = match target {
            Some(target) => self.of_set(target),
            None => None,
        };
        let sets = &self.relations.sets;
        // The ends that are followed are equal to what is there.
        let met = |column: &LeafColumn| {
            let name = self.relations.column_name(*column);
            name == id || (target.is_some() && [SOURCE_ID, DESTINATION_ID].contains(&name))
        };
        let own: Vec<LeafColumn> = self
            .wanted(leaf)
            .into_iter()
            .filter(|column| self.is_asked_for(*column) || !met(column))
            .collect();
        let Some(rows) = self.rows(element, id, &own)? else {
            return Ok(false);
        };
        let stays = |column: &LeafColumn| {
            let open = sets.get(column).is_some_and(|set| {
                let first = self.of_set(*set).map(|at| self.columns[at]) == Some(*column);
                // Of the relation itself, a column may have to be compared.
                let compared = own
                    .iter()
                    .any(|own| sets.get(own) == Some(set) && !met(own));
                first && (self.is_open(*set, leaf) || compared)
            });
            self.is_asked_for(*column) || open
        };
        let (mut projection, mut columns) = (vec![], vec![]);
        for (place, column) in self.columns.iter().enumerate() {
            if stays(column) {
                projection.push(place);
                columns.push(*column);
            }
        }
        let inputs = self.columns.len();
        projection.extend((0..own.len()).map(|place| inputs + place));
        let follow = Follow {
            key,
            target,
            join: JoinType::Inner,
            spread: step.rows > SPREAD_ROWS,
        };
        let names = own.iter().map(|column| self.name(*column).cloned());
        let names = names.collect::<Result<Vec<_>>>()?;
        let node = Expand::try_new(self.plan.clone(), Arc::new(rows), follow, projection, names)?;
        let mut plan = LogicalPlan::Extension(Extension {
            node: Arc::new(node),
        });
        // Columns that were joined by, and are equal by now, need no second look.
        let compared: Vec<LeafColumn> = own.iter().copied().filter(|column| !met(column)).collect();
        for column in compared {
            let known = sets.get(&column).and_then(|set| self.of_set(*set));
            if let Some(known) = known {
                let same = self.expr(self.columns[known])?.eq(self.expr(column)?);
                plan = LogicalPlanBuilder::from(plan).filter(same)?.build()?;
            }
        }
        self.plan = plan;
        columns.extend(own);
        self.columns = columns;
        Ok(true)
    }

    fn rows(
        &self,
        element: &Element,
        id: &str,
        columns: &[LeafColumn],
    ) -> Result<Option<RowsById>> {
        let Some(table) = element.table() else {
            return Ok(None);
        };
        let names = columns
            .iter()
            .map(|column| self.relations.column_name(*column));
        let names: Vec<&str> = names.collect();
        table.rows_by_id(id, &names, &element.filters, self.options)
    }

    /// Tests what can be tested with the columns that are there now: columns of the last relation that are equal to each other, and
    /// conditions.
    fn test(&mut self, leaf: usize) -> Result<()> {
        let mut tests = vec![];
        let own: Vec<LeafColumn> = self
            .columns
            .iter()
            .copied()
            .filter(|column| column.leaf == leaf)
            .collect();
        for (place, column) in own.iter().enumerate() {
            let set = self.relations.sets.get(column);
            let before = own[..place]
                .iter()
                .find(|other| set.is_some() && self.relations.sets.get(*other) == set);
            if let Some(before) = before {
                tests.push(self.expr(*before)?.eq(self.expr(*column)?));
            }
        }
        let tree = &self.relations.tree;
        let mut left = vec![];
        for number in &self.conditions {
            let condition = &tree.conditions[*number];
            let origin = |at: &LeafColumn| *self.equal.get(at).unwrap_or(at);
            if !condition
                .columns
                .iter()
                .all(|(_, at)| self.columns.contains(&origin(at)))
            {
                left.push(*number);
                continue;
            }
            let renamed = condition.expr.clone().transform_up(|expr| {
                let Expr::Column(column) = &expr else {
                    return Ok(Transformed::no(expr));
                };
                match condition.columns.iter().find(|(own, _)| own == column) {
                    Some((_, at)) => Ok(Transformed::yes(self.expr(origin(at))?)),
                    None => internal_err!("column {column} of a condition is not known"),
                }
            })?;
            tests.push(renamed.data);
        }
        self.conditions = left;
        for test in tests {
            let plan = LogicalPlanBuilder::from(self.plan.clone());
            self.plan = plan.filter(test)?.build()?;
        }
        Ok(())
    }

    /// The columns of the joins under their own names.
    fn finish(self) -> Result<LogicalPlan> {
        if !self.conditions.is_empty() {
            return internal_err!("conditions of joins that were not tested");
        }
        let mut exprs = vec![];
        for (column, origin) in &self.relations.outputs {
            let own = self.expr(*self.equal.get(origin).unwrap_or(origin))?;
            exprs.push(own.alias_qualified(column.relation.clone(), &column.name));
        }
        let projection = Projection::try_new(exprs, Arc::new(self.plan))?;
        Ok(LogicalPlan::Projection(projection))
    }
}
