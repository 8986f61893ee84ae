//! Joins that keep, or only test, the rows of one side.

use std::sync::Arc;

use datafusion::common::{Column, JoinType, NullEquality};
use datafusion::error::Result;
use datafusion::logical_expr::{Expr, Extension, Join, LogicalPlan, Projection};

use super::leaf::Leaf;
use crate::config::GraphArOptions;
use crate::logical::Expand;
use crate::optimizer::join_tree::{JoinTree, column_of};
use crate::physical::expand::Follow;

/// The plan of a left, left semi or left anti join whose right side is an edge table or a vertex type that is joined by an id alone;
/// `None` if it is none.
pub(super) fn followed(join: &Join, options: &GraphArOptions) -> Result<Option<LogicalPlan>> {
    let kind = matches!(
        join.join_type,
        JoinType::Left | JoinType::LeftSemi | JoinType::LeftAnti
    );
    let [(ours, theirs)] = join.on.as_slice() else {
        return Ok(None);
    };
    let plain = kind
        && join.filter.is_none()
        && !join.null_aware
        && join.null_equality == NullEquality::NullEqualsNothing;
    let tree = JoinTree::of(&join.right);
    let ([leaf], true) = (tree.leaves.as_slice(), plain) else {
        return Ok(None);
    };
    let element = Leaf::of(leaf).element;
    let Some((element, table)) = element
        .as_ref()
        .and_then(|element| Some((element, element.table()?)))
    else {
        return Ok(None);
    };
    let on = match element.edges {
        Some(_) => options.rule_join_to_expand,
        None => options.rule_vertex_lookup,
    };
    // Positions of the two columns that are joined.
    let place = |plan: &LogicalPlan, expr| plan.schema().maybe_index_of_column(column_of(expr)?);
    let (Some(key), Some(id), true) = (place(&join.left, ours), place(&join.right, theirs), on)
    else {
        return Ok(None);
    };
    let name = |column: usize| {
        let origin = tree.columns[column]?;
        Some(leaf.schema().field(origin.column).name().as_str())
    };
    let Some(id) = name(id) else {
        return Ok(None);
    };
    let asked = match join.join_type {
        JoinType::Left => 0..join.right.schema().fields().len(),
        _ => 0..0,
    };
    let Some(columns) = asked.map(name).collect::<Option<Vec<_>>>() else {
        return Ok(None);
    };
    let Some(rows) = table.rows_by_id(id, &columns, &element.filters, options)? else {
        return Ok(None);
    };
    let inputs = join.left.schema().fields().len();
    let follow = Follow {
        key,
        target: None,
        join: join.join_type,
        spread: true,
    };
    let projection = (0..inputs + columns.len()).collect();
    // Names that no column of the left side has, which are all in the statement.
    let names = (0..columns.len()).map(|column| format!("__right_{column}"));
    let names: Vec<String> = names.collect();
    let left = join.left.as_ref().clone();
    let node = Expand::try_new(left, Arc::new(rows), follow, projection, names.clone())?;
    let plan = LogicalPlan::Extension(Extension {
        node: Arc::new(node),
    });
    if join.join_type != JoinType::Left {
        return Ok(Some(plan));
    }
    let exprs = join
        .schema
        .iter()
        .enumerate()
        .map(
            |(place, (qualifier, field))| match place.checked_sub(inputs) {
                None => Expr::Column(Column::from((qualifier, field))),
                Some(own) => Expr::Column(Column::new_unqualified(&names[own]))
                    .alias_qualified(qualifier.cloned(), field.name()),
            },
        );
    let projection = Projection::try_new(exprs.collect(), Arc::new(plan))?;
    Ok(Some(LogicalPlan::Projection(projection)))
}
