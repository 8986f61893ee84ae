//! Joins along edges, without hash tables.

mod leaf;
mod order;
mod outer;
mod plan;

use std::sync::Arc;

use datafusion::common::tree_node::Transformed;
use datafusion::common::{Column, HashSet};
use datafusion::error::Result;
use datafusion::logical_expr::{Expr, JoinType, LogicalPlan, Projection};
use datafusion::optimizer::optimizer::{ApplyOrder, OptimizerConfig, OptimizerRule};

use super::join_tree::JoinTree;
use crate::config::{ExpandStrategy, GraphArOptions};
use order::Relations;

/// Turns inner joins with edge tables and vertex types into [`Expand`](crate::logical::Expand).
///
/// ```text
/// Join: b._dst_id = q._vertex_id                    Projection: p.name, b._dst_id
///   Join: a._dst_id = b._src_id                 =>    Expand: a._dst_id in person_knows_person (ordered_by_source), columns=[_dst_id]
///     Join: p._vertex_id = a._src_id                    Expand: p._vertex_id in person_knows_person …
///       TableScan: person AS p                            Projection: p._vertex_id, p.name
///       TableScan: knows AS a                               TableScan: person
///     TableScan: knows AS b
///   TableScan: person AS q
/// ```
///
/// Valid where the joins are inner (or a left, left semi or left anti join has such a table on its right side), and an edge table or vertex type is joined by `_src_id`, `_dst_id` or `_vertex_id` with any `BIGINT`
/// column. Conditions between relations stay above. Such joins are taken apart as a whole and put together again in the order that
/// costs least by the numbers of vertices and edges and the conditions on them; what cannot be followed by offsets
/// is joined by DataFusion.
///
/// | Step | Instead of a join with | Switch |
/// |---|---|---|
/// | follow the edges of an id | an edge table that has a layout ordered by that end | `graphar.rule_join_to_expand` |
/// | look for edges between two ids | an edge table of which both ends are known | `graphar.rule_close_cycle` |
/// | fetch the row of an id | a vertex type | `graphar.rule_vertex_lookup` |
/// | nothing | a vertex type without conditions whose columns are not used, by the end of an edge, which is checked when it is read | `graphar.rule_elide_vertex_join` |
#[derive(Debug, Default)]
pub struct JoinToExpand;

impl OptimizerRule for JoinToExpand {
    fn name(&self) -> &'static str {
        "graphar_join_to_expand"
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        Some(ApplyOrder::TopDown)
    }

    fn rewrite(
        &self,
        plan: LogicalPlan,
        config: &dyn OptimizerConfig,
    ) -> Result<Transformed<LogicalPlan>> {
        let options = GraphArOptions::of(&config.options());
        if options.expand_strategy == ExpandStrategy::HashJoin {
            return Ok(Transformed::no(plan));
        }
        match plan {
            // Only some columns of the joins may be asked for.
            LogicalPlan::Projection(projection) if is_inner(&projection.input) => {
                let asked = projection.expr.iter().flat_map(Expr::column_refs);
                let asked = asked.cloned().collect();
                match joined(&projection.input, Some(&asked), &options)? {
                    Some(input) => {
                        let projection = Projection::try_new(projection.expr, Arc::new(input))?;
                        Ok(Transformed::yes(LogicalPlan::Projection(projection)))
                    }
                    None => Ok(Transformed::no(LogicalPlan::Projection(projection))),
                }
            }
            plan if is_inner(&plan) => match joined(&plan, None, &options)? {
                Some(joined) => Ok(Transformed::yes(joined)),
                None => Ok(Transformed::no(plan)),
            },
            LogicalPlan::Join(join) => match outer::followed(&join, &options)? {
                Some(followed) => Ok(Transformed::yes(followed)),
                None => Ok(Transformed::no(LogicalPlan::Join(join))),
            },
            plan => Ok(Transformed::no(plan)),
        }
    }
}

fn is_inner(plan: &LogicalPlan) -> bool {
    matches!(plan, LogicalPlan::Join(join) if join.join_type == JoinType::Inner)
}

/// The plan of inner joins without them, with these columns of theirs or all; `None` if there is nothing to be done.
fn joined(
    plan: &LogicalPlan,
    asked: Option<&HashSet<Column>>,
    options: &GraphArOptions,
) -> Result<Option<LogicalPlan>> {
    let tree = JoinTree::with_conditions(plan);
    if tree.leaves.len() < 2 {
        return Ok(None);
    }
    let mut outputs = vec![];
    for (place, origin) in tree.columns.iter().enumerate() {
        let column = Column::from(plan.schema().qualified_field(place));
        if asked.is_some_and(|asked| !asked.contains(&column)) {
            continue;
        }
        let Some(origin) = origin else {
            // Computed of columns of several relations.
            return Ok(None);
        };
        outputs.push((column, *origin));
    }
    let relations = Relations::new(tree, outputs, options);
    match relations.steps() {
        Some(steps) => plan::joined(&relations, &steps, options),
        None => Ok(None),
    }
}
