//! `CREATE EXTERNAL TABLE … STORED AS GRAPHAR`.

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::catalog::{
    CatalogProvider, CatalogProviderList, Session, TableProvider, TableProviderFactory,
};
use datafusion::common::{exec_err, plan_err};
use datafusion::error::Result;
use datafusion::execution::SessionState;
use datafusion::logical_expr::CreateExternalTable;

use super::{GraphSchema, GraphTable, RegisteredGraph, SessionCache};
use crate::config::GraphArOptions;
use crate::format::InfoKind;
use crate::storage::Stores;

/// The word behind `STORED AS`.
pub(crate) const STORED_AS: &str = "GRAPHAR";

/// Makes the listing table of a graph and, beside it, the schema of the graph's tables. A location
/// that is the info file of a single type makes that type's table, and no schema.
///
/// Options go to the object store of a remote location: `'aws.region' 'eu-west-1'` is
/// `aws_region` of the `object_store` crate.
#[derive(Debug, Default)]
pub struct GraphArTableFactory {}

#[async_trait]
impl TableProviderFactory for GraphArTableFactory {
    async fn create(
        &self,
        state: &dyn Session,
        cmd: &CreateExternalTable,
    ) -> Result<Arc<dyn TableProvider>> {
        let [location] = cmd.locations.as_slice() else {
            return plan_err!("a graph has one location, found {}", cmd.locations.len());
        };
        if !cmd.schema.fields().is_empty()
            || !cmd.table_partition_cols.is_empty()
            || !cmd.order_exprs.is_empty()
        {
            return plan_err!(
                "columns, PARTITIONED BY and WITH ORDER of a graph come from its metadata; leave them out"
            );
        }
        let Some(state) = state.as_any().downcast_ref::<SessionState>() else {
            return exec_err!("STORED AS {STORED_AS} needs a session with a catalog");
        };
        let stores = Stores::new(Arc::clone(state.runtime_env()))
            .with_options(store_options(cmd.options.iter()));
        let options = GraphArOptions::of(state.config_options());
        let cache = SessionCache::of(state.config(), state.runtime_env(), &options);
        let registered = RegisteredGraph::open(location, &stores, &options, cache).await?;
        let graph = registered.graph();
        if graph.archive().kind != InfoKind::Graph
            && let [(_, table)] = graph.tables()
        {
            return Ok(Arc::<super::ElementTable>::clone(table));
        }
        let registered = Arc::new(registered);
        let listing = Arc::new(GraphTable::try_new(Arc::clone(&registered))?);
        let catalog = &state.config_options().catalog;
        let name = cmd
            .name
            .clone()
            .resolve(&catalog.default_catalog, &catalog.default_schema);
        let catalogs = state.catalog_list();
        register_schema(catalogs.as_ref(), &name.catalog, &name.table, &registered)?;
        Ok(listing)
    }
}

/// Option keys reach a factory as `format.<key>` if they have no dot, and with their own first part
/// otherwise; `object_store` spells its settings with underscores.
fn store_options<'a>(
    options: impl Iterator<Item = (&'a String, &'a String)>,
) -> Vec<(String, String)> {
    options
        .map(|(key, value)| {
            let key = key.strip_prefix("format.").unwrap_or(key);
            (key.replace('.', "_").to_lowercase(), value.clone())
        })
        .collect()
}

/// Shows a graph as the schema `name`. A schema of an earlier graph is taken over, any other is left alone.
///
/// # Errors
/// If there is no such catalog, or a schema of this name that is not a graph's.
pub(crate) fn register_schema(
    catalogs: &dyn CatalogProviderList,
    catalog: &str,
    name: &str,
    graph: &Arc<RegisteredGraph>,
) -> Result<()> {
    let Some(catalog): Option<Arc<dyn CatalogProvider>> = catalogs.catalog(catalog) else {
        return exec_err!("there is no catalog {catalog} for the schema of graph {name}");
    };
    match catalog.schema(name) {
        None => {
            let schema = GraphSchema::new(name, graph);
            catalog.register_schema(name, Arc::new(schema))?;
            Ok(())
        }
        Some(schema) => match schema.downcast_ref::<GraphSchema>() {
            Some(schema) => {
                schema.replace(graph);
                Ok(())
            }
            None => exec_err!("schema {name} exists and is not a graph; choose another name"),
        },
    }
}
