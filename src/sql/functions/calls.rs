//! From arguments to what is to be done.

use std::sync::Arc;

use datafusion::arrow::datatypes::DataType;
use datafusion::catalog::CatalogProviderList;
use datafusion::common::{internal_err, plan_err};
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::planner::RelationPlannerContext;

use super::arguments::Arguments;
use super::graphs::{graph, triplet};
use crate::format::{DESTINATION_ID, EdgeInfo, SOURCE_ID};
use crate::graph::algorithms::Way;
use crate::physical::functions::{Function, FunctionCall, FunctionEdges};
use crate::table::Graph;

/// The call that arguments ask for.
///
/// # Errors
/// If what they name is not there, or the function cannot be asked of these edges.
pub fn call(
    arguments: &Arguments,
    catalogs: &dyn CatalogProviderList,
    context: &mut dyn RelationPlannerContext,
) -> Result<FunctionCall> {
    let function = arguments.function();
    let graph = graph_of(arguments, catalogs, context)?;
    let info = info_of(arguments, &graph)?;
    let edges = graph.function_edges(info).map_err(DataFusionError::from)?;
    let way = way(arguments, info)?;
    let asked = match function {
        "degree" => Function::Degree,
        "csr" => Function::Csr,
        "khop" => Function::Khop {
            hops: arguments.whole("hops", 0, context)?.unwrap_or(0),
        },
        "shortest_path" => Function::ShortestPath {
            max_hops: arguments.whole("max_hops", 0, context)?,
            weight: weight(arguments, &edges)?,
        },
        "pagerank" => Function::PageRank {
            damping: arguments
                .number("damping", 0.0, 1.0, context)?
                .unwrap_or(0.85),
            tolerance: arguments
                .number("tolerance", 0.0, f64::INFINITY, context)?
                .unwrap_or(1e-6),
            max_iterations: arguments
                .whole("max_iterations", 1, context)?
                .unwrap_or(100),
        },
        "wcc" => Function::Wcc,
        "triangle_count" => Function::TriangleCount,
        other => return internal_err!("no function {other}"),
    };
    fits(&asked, way, info)?;
    Ok(FunctionCall {
        function: asked,
        edges: Arc::new(edges),
        way,
    })
}

/// The graph that arguments name.
///
/// # Errors
/// If there is none.
pub fn graph_of(
    arguments: &Arguments,
    catalogs: &dyn CatalogProviderList,
    context: &dyn RelationPlannerContext,
) -> Result<Arc<Graph>> {
    let function = arguments.function();
    let Some(name) = arguments.name("graph")? else {
        return internal_err!("{function} without a graph");
    };
    let options = context.context_provider().options();
    graph(function, &name, catalogs, &options.catalog.default_catalog)
}

/// The metadata of the edges of a graph that arguments name.
///
/// # Errors
/// If there are none, or several.
pub fn info_of<'a>(arguments: &Arguments, graph: &'a Graph) -> Result<&'a EdgeInfo> {
    let function = arguments.function();
    match arguments.name("edge")? {
        Some(edge) => triplet(function, &edge, graph),
        None => internal_err!("{function} without edges"),
    }
}

/// The direction, or the one that edges have by themselves: those that are declared to have none are followed either way.
///
/// # Errors
/// If it is none of those there are.
pub fn way(arguments: &Arguments, info: &EdgeInfo) -> Result<Way> {
    let function = arguments.function();
    let Some(name) = arguments.name("direction")? else {
        let either = info.directed == Some(false) && info.src_type == info.dst_type;
        // Edges that lie somewhere lie in one direction.
        return Ok(match either && function != "csr" {
            true => Way::Any,
            false => Way::Out,
        });
    };
    let ways = [Way::Out, Way::In, Way::Any];
    let found = ways
        .into_iter()
        .find(|way| way.name().eq_ignore_ascii_case(name.text()));
    match found {
        Some(Way::Any) if function == "csr" => {
            plan_err!("csr: expected the direction 'out' or 'in', found 'any'")
        }
        Some(way) => Ok(way),
        None => plan_err!(
            "{function}: expected the direction 'out', 'in' or 'any', found '{}'",
            name.text()
        ),
    }
}

/// Whether steps can follow each other, where that is asked for.
fn fits(function: &Function, way: Way, info: &EdgeInfo) -> Result<()> {
    if info.src_type == info.dst_type {
        return Ok(());
    }
    let name = function.name();
    let ends = format!(
        "edges of {} lead from {} to {}",
        info.key(),
        info.src_type,
        info.dst_type
    );
    match function {
        Function::Degree | Function::Csr | Function::Khop { hops: 1 } if way == Way::Any => {
            plan_err!("{name}: {ends}; their direction has to be 'out' or 'in'")
        }
        Function::Degree | Function::Csr | Function::Khop { hops: 1 } => Ok(()),
        Function::Khop { hops } => {
            plan_err!(
                "{name}: {ends}, so steps do not follow each other: hops has to be 1, found {hops}"
            )
        }
        _ => plan_err!("{name}: {ends}; it needs edges within one vertex type"),
    }
}

/// The column of the weights, if paths have any.
fn weight(arguments: &Arguments, edges: &FunctionEdges) -> Result<Option<usize>> {
    let Some(name) = arguments.name("weight")? else {
        return Ok(None);
    };
    let schema = &edges.table().schema;
    let fields = schema.fields().iter();
    let properties = fields
        .clone()
        .filter(|field| ![SOURCE_ID, DESTINATION_ID].contains(&field.name().as_str()));
    let numeric: Vec<&str> = properties
        .clone()
        .filter(|field| is_weight(field.data_type()))
        .map(|field| field.name().as_str())
        .collect();
    if let Some(found) = name.find(&numeric) {
        return Ok(schema.index_of(found).ok());
    }
    let there = match numeric.as_slice() {
        [] => "none are there".to_owned(),
        names => format!("there are {}", names.join(", ")),
    };
    let names: Vec<&str> = properties.map(|field| field.name().as_str()).collect();
    let found = match name.find(&names) {
        Some(other) => {
            let data_type = schema.field_with_name(other)?.data_type();
            format!("'{other}' of type {data_type}")
        }
        None => format!("'{}', which is no property", name.text()),
    };
    plan_err!(
        "shortest_path: expected a numeric property of {} for 'weight', found {found}; {there}",
        edges.source().name()
    )
}

fn is_weight(data_type: &DataType) -> bool {
    data_type.is_integer() || data_type.is_floating()
}
