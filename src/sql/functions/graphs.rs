//! The graph and the edges that a call names.

use std::sync::Arc;

use datafusion::catalog::CatalogProviderList;
use datafusion::common::plan_err;
use datafusion::error::Result;

use super::arguments::Name;
use crate::format::EdgeInfo;
use crate::table::{Graph, GraphSchema};

/// The graph of this name in a catalog.
///
/// # Errors
/// If there is none.
pub fn graph(
    function: &str,
    name: &Name,
    catalogs: &dyn CatalogProviderList,
    catalog: &str,
) -> Result<Arc<Graph>> {
    let mut graphs: Vec<(String, Arc<Graph>)> = vec![];
    if let Some(catalog) = catalogs.catalog(catalog) {
        for schema in catalog.schema_names() {
            let provider = catalog.schema(&schema);
            let graph = provider.as_ref().and_then(|provider| {
                let graph = provider.downcast_ref::<GraphSchema>();
                graph.and_then(GraphSchema::graph)
            });
            graphs.extend(graph.map(|graph| (schema, graph)));
        }
    }
    graphs.sort_by(|a, b| a.0.cmp(&b.0));
    let names: Vec<&str> = graphs.iter().map(|(name, _)| name.as_str()).collect();
    let found = name.find(&names);
    match graphs.iter().find(|(own, _)| Some(own.as_str()) == found) {
        Some((_, graph)) => Ok(Arc::clone(graph)),
        None => plan_err!(
            "{function}: no graph '{}' is registered; there {}",
            name.text(),
            match names.as_slice() {
                [] => "is none".to_owned(),
                [only] => format!("is {only}"),
                names => format!("are {}", names.join(", ")),
            }
        ),
    }
}

/// The edge triplet that is meant: by the name of its table, or else by a label that no other one has.
///
/// # Errors
/// If there is none, or the label is that of several.
pub fn triplet<'a>(function: &str, name: &Name, graph: &'a Graph) -> Result<&'a EdgeInfo> {
    let infos: Vec<&EdgeInfo> = graph.edge_infos().collect();
    let keys: Vec<String> = infos.iter().map(|info| info.key()).collect();
    let tables: Vec<&str> = keys.iter().map(String::as_str).collect();
    if let Some(found) = name.find(&tables)
        && let Some(at) = tables.iter().position(|table| *table == found)
    {
        return Ok(infos[at]);
    }
    let mut labels: Vec<&str> = infos.iter().map(|info| info.edge_type.as_str()).collect();
    labels.sort_unstable();
    labels.dedup();
    let found = name.find(&labels);
    let fitting: Vec<usize> = (0..infos.len())
        .filter(|at| Some(infos[*at].edge_type.as_str()) == found)
        .collect();
    match fitting.as_slice() {
        [only] => Ok(infos[*only]),
        [] => plan_err!(
            "{function}: no edges '{}' are in the graph; its edge tables are {}",
            name.text(),
            tables.join(", ")
        ),
        several => {
            let several: Vec<&str> = several.iter().map(|at| tables[*at]).collect();
            plan_err!(
                "{function}: several edge tables have the label '{}'; write one of {}",
                name.text(),
                several.join(", ")
            )
        }
    }
}
