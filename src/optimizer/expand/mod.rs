//! Joins along edges, without hash tables.

mod leaf;
mod order;
mod plan;

use datafusion::common::tree_node::Transformed;
use datafusion::error::Result;
use datafusion::logical_expr::{JoinType, LogicalPlan};
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
/// Valid where the joins are inner, and an edge table or vertex type is joined by `_src_id`, `_dst_id` or `_vertex_id` with any `BIGINT`
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
        let inner = matches!(&plan, LogicalPlan::Join(join) if join.join_type == JoinType::Inner);
        // Joins below conditions and projections are taken apart with them.
        if !inner || options.expand_strategy == ExpandStrategy::HashJoin {
            return Ok(Transformed::no(plan));
        }
        let tree = JoinTree::with_conditions(&plan);
        let known = tree.columns.iter().all(Option::is_some);
        if tree.leaves.len() < 2 || !known {
            return Ok(Transformed::no(plan));
        }
        let relations = Relations::new(tree, &options);
        let Some(steps) = relations.steps() else {
            return Ok(Transformed::no(plan));
        };
        match plan::joined(&relations, &steps, plan.schema(), &options)? {
            Some(joined) => Ok(Transformed::yes(joined)),
            None => Ok(Transformed::no(plan)),
        }
    }
}
