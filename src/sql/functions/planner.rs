//! Plans calls of the functions in `FROM`.

use std::sync::Arc;

use datafusion::catalog::CatalogProviderList;
use datafusion::common::{not_impl_err, plan_err};
use datafusion::error::Result;
use datafusion::logical_expr::planner::{
    PlannedRelation, RelationPlanner, RelationPlannerContext, RelationPlanning,
};
use datafusion::logical_expr::{Extension, LogicalPlan};
use datafusion::sql::sqlparser::ast::{FunctionArg, ObjectName, TableAlias, TableFactor};

use super::arguments::Arguments;
use super::calls::call;
use super::ids::ids;
use super::neighbors;
use super::signature::Signature;
use crate::logical::GraphFunction;

/// Plans the table functions over graphs: `neighbors`, `expand`, `degree`, `csr`, `khop`, `shortest_path`, `pagerank`, `wcc` and `triangle_count`. Any other relation
/// is left to the planners behind it.
///
/// Graphs are looked up in the default catalog of the list that it is made with, which has to be that of the session.
#[derive(Debug)]
pub struct GraphFunctions {
    catalogs: Arc<dyn CatalogProviderList>,
}

/// A call as it is written.
struct Written {
    signature: Signature,
    arguments: Vec<FunctionArg>,
    alias: Option<TableAlias>,
}

impl GraphFunctions {
    /// A planner that finds graphs in these catalogs.
    pub fn new(catalogs: Arc<dyn CatalogProviderList>) -> Self {
        Self { catalogs }
    }
}

impl RelationPlanner for GraphFunctions {
    fn plan_relation(
        &self,
        relation: TableFactor,
        context: &mut dyn RelationPlannerContext,
    ) -> Result<RelationPlanning> {
        let Some(written) = written(&relation)? else {
            return Ok(RelationPlanning::Original(Box::new(relation)));
        };
        let arguments = Arguments::of(written.signature, written.arguments)?;
        if matches!(arguments.function(), "neighbors" | "expand") {
            let plan = neighbors::plan(&arguments, self.catalogs.as_ref(), context)?;
            let planned = PlannedRelation::new(plan, written.alias);
            return Ok(RelationPlanning::Planned(Box::new(planned)));
        }
        let call = call(&arguments, self.catalogs.as_ref(), context)?;
        let names: &[&str] = match written.signature.name {
            "khop" => &["start"],
            "shortest_path" => &["source", "target"],
            _ => &[],
        };
        let mut inputs = vec![];
        for name in names {
            inputs.push(ids(&arguments, name, context)?);
        }
        let node = GraphFunction::try_new(Arc::new(call), inputs)?;
        let plan = LogicalPlan::Extension(Extension {
            node: Arc::new(node),
        });
        let planned = PlannedRelation::new(plan, written.alias);
        Ok(RelationPlanning::Planned(Box::new(planned)))
    }
}

/// The call that a relation is; `None` if it is something else.
fn written(relation: &TableFactor) -> Result<Option<Written>> {
    match relation {
        TableFactor::Table {
            name,
            alias,
            args: Some(args),
            with_hints,
            version,
            with_ordinality,
            partitions,
            json_path,
            sample,
            index_hints,
        } => {
            let Some(signature) = signature(name) else {
                return Ok(None);
            };
            let plain = with_hints.is_empty()
                && version.is_none()
                && !with_ordinality
                && partitions.is_empty()
                && json_path.is_none()
                && sample.is_none()
                && index_hints.is_empty();
            if !plain {
                return not_impl_err!("{}: only an alias can follow the call", signature.name);
            }
            if args.settings.is_some() {
                return plan_err!("{} takes no SETTINGS", signature.name);
            }
            Ok(Some(Written {
                signature,
                arguments: args.args.clone(),
                alias: alias.clone(),
            }))
        }
        TableFactor::Function {
            lateral: _,
            name,
            args,
            with_ordinality,
            alias,
        } => {
            let Some(signature) = signature(name) else {
                return Ok(None);
            };
            if *with_ordinality {
                return not_impl_err!("{}: only an alias can follow the call", signature.name);
            }
            Ok(Some(Written {
                signature,
                arguments: args.clone(),
                alias: alias.clone(),
            }))
        }
        _ => Ok(None),
    }
}

fn signature(name: &ObjectName) -> Option<Signature> {
    match name.0.as_slice() {
        [part] => Signature::of(&part.as_ident()?.value),
        _ => None,
    }
}
