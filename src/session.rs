//! Extensions of DataFusion's session types.

mod graph_ext;
mod prepared;

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::catalog::{
    CatalogProviderList, MemoryCatalogProviderList, SchemaProvider, TableFunction,
    TableFunctionImpl,
};
use datafusion::common::{TableReference, exec_err};
use datafusion::error::Result;
use datafusion::execution::{FunctionRegistry, SessionState, SessionStateBuilder};
use datafusion::functions_nested::array_has::array_has_udf;
use datafusion::logical_expr::ScalarUDF;
use datafusion::logical_expr::planner::RelationPlanner;
use datafusion::physical_optimizer::optimizer::PhysicalOptimizer;
use datafusion::prelude::{SessionConfig, SessionContext};

pub use self::graph_ext::GraphExt;
pub use self::prepared::PreparedQuery;
use crate::config::GraphArOptions;
use crate::optimizer::{CountPropagation, JoinToExpand, NamedDynamicFilters};
use crate::planner::GraphQueryPlanner;
use crate::sql::{GRAPH_CHECK, GRAPH_REPAIR, GraphCheck, GraphFunctions, GraphRepair};
use crate::storage::Stores;
use crate::table::{
    Graph, GraphArTableFactory, GraphTable, RegisteredGraph, STORED_AS, SessionCache,
    register_schema,
};
use crate::writer::GraphArFormatFactory;

/// Prepares a session that is being built.
pub trait SessionStateBuilderExt {
    /// Adds `CREATE EXTERNAL TABLE … STORED AS GRAPHAR`, `COPY … STORED AS GRAPHAR`, the functions `has_label`,
    /// `graph_check` and `graph_repair`, the functions over edges such as `khop`, and the `graphar.*` options. An options extension that is
    /// there already stays as it is; a catalog list and a query planner have to be set before.
    fn with_graphar(self) -> Self;
}

/// `has_label(_labels, 'label')`: DataFusion's `array_has` under the name that says what is meant.
fn has_label() -> ScalarUDF {
    let array_has = array_has_udf();
    array_has.as_ref().clone().with_aliases(["has_label"])
}

/// The table functions. They are found by the very text of a statement, in which names can have any case.
fn table_functions() -> Vec<(String, Arc<dyn TableFunctionImpl>)> {
    let functions: [(&str, Arc<dyn TableFunctionImpl>); 2] = [
        (GRAPH_CHECK, Arc::new(GraphCheck::default())),
        (GRAPH_REPAIR, Arc::new(GraphRepair::default())),
    ];
    let named = functions.into_iter().flat_map(|(name, function)| {
        let upper = (name.to_uppercase(), Arc::clone(&function));
        [(name.to_owned(), function), upper]
    });
    named.collect()
}

/// Makes `SET graphar.…` known, and gives the cache a place.
fn add_options(config: &mut SessionConfig) {
    SessionCache::install(config);
    if config
        .options()
        .extensions
        .get::<GraphArOptions>()
        .is_none()
    {
        let extensions = &mut config.options_mut().extensions;
        extensions.insert(GraphArOptions::default());
    }
}

/// The planner of functions over edges that a session was given.
struct Functions {
    planner: Arc<dyn RelationPlanner>,
    /// Where it looks for graphs.
    catalogs: Arc<dyn CatalogProviderList>,
}

/// The planner for a session with these catalogs, which the session's configuration remembers.
fn function_planner(
    catalogs: Arc<dyn CatalogProviderList>,
    config: &mut SessionConfig,
) -> Arc<dyn RelationPlanner> {
    let planner: Arc<dyn RelationPlanner> = Arc::new(GraphFunctions::new(Arc::clone(&catalogs)));
    config.set_extension(Arc::new(Functions {
        planner: Arc::clone(&planner),
        catalogs,
    }));
    planner
}

/// Lets a session that was built without this crate plan the functions over edges.
fn add_function_planner(state: &mut SessionState) -> Result<()> {
    let known = state.config().get_extension::<Functions>();
    let planners = state.relation_planners();
    // A configuration may have come from another session, together with what it remembers.
    let fits = known.is_some_and(|known| {
        let planned = planners.iter().any(|own| Arc::ptr_eq(own, &known.planner));
        planned && Arc::ptr_eq(state.catalog_list(), &known.catalogs)
    });
    if fits {
        return Ok(());
    }
    let catalogs = Arc::clone(state.catalog_list());
    let planner = function_planner(catalogs, state.config_mut());
    state.register_relation_planner(planner)?;
    // The engine's own planner knows no nodes but its own. An application's planner is left as it is.
    if format!("{:?}", state.query_planner()).starts_with("DefaultQueryPlanner") {
        let session = state.session_id().to_owned();
        let creates = state.config_options().catalog.clone();
        let built = SessionStateBuilder::new_from_existing(state.clone())
            .with_session_id(session)
            .with_query_planner(Arc::new(GraphQueryPlanner::default()));
        *state = built.build();
        let own = &mut state.config_mut().options_mut().catalog;
        own.create_default_catalog_and_schema = creates.create_default_catalog_and_schema;
    }
    Ok(())
}

impl SessionStateBuilderExt for SessionStateBuilder {
    fn with_graphar(mut self) -> Self {
        add_options(self.config().get_or_insert_default());
        let functions = self.scalar_functions().get_or_insert_default();
        functions.push(Arc::new(has_label()));
        let formats = self.file_formats().get_or_insert_default();
        formats.push(Arc::new(GraphArFormatFactory::default()));
        let functions = self.table_functions().get_or_insert_default();
        for (name, function) in table_functions() {
            let function = TableFunction::new(name.clone(), function);
            functions.insert(name, Arc::new(function));
        }
        let catalogs = self.catalog_list();
        let catalogs =
            Arc::clone(catalogs.get_or_insert_with(|| Arc::new(MemoryCatalogProviderList::new())));
        let planner = function_planner(catalogs, self.config().get_or_insert_default());
        self.relation_planners()
            .get_or_insert_default()
            .push(planner);
        let PhysicalOptimizer { rules } = self.physical_optimizers().take().unwrap_or_default();
        self = self.with_physical_optimizer_rules(NamedDynamicFilters::guard(rules));
        // A planner of the application's own has to know the nodes that the rules make.
        if self.query_planner().is_none() {
            *self.query_planner() = Some(Arc::new(GraphQueryPlanner::default()));
            self = self.with_optimizer_rule(Arc::new(CountPropagation));
            self = self.with_optimizer_rule(Arc::new(JoinToExpand));
        }
        self.with_table_factory(
            STORED_AS.to_owned(),
            Arc::new(GraphArTableFactory::default()),
        )
    }
}

/// Graphs in a session.
#[async_trait]
pub trait SessionContextExt {
    /// Opens the archive at `location` as the graph `name`: a schema `name` with its tables in the
    /// default catalog, and a listing table `name` in the default schema, which owns the graph.
    /// A graph of this name is replaced, which reads its metadata and counts again.
    ///
    /// Works with any session. One that was built without [`SessionStateBuilderExt::with_graphar`] gets the
    /// `graphar.*` options and functions here.
    ///
    /// # Errors
    /// If the archive cannot be opened (see [`Archive::open`](crate::storage::Archive::open)), or
    /// something else has this name. Then nothing is registered.
    async fn register_graph(&self, name: &str, location: &str) -> Result<Arc<Graph>>;
}

#[async_trait]
impl SessionContextExt for SessionContext {
    async fn register_graph(&self, name: &str, location: &str) -> Result<Arc<Graph>> {
        let state = self.state();
        let defaults = state.config_options().catalog.clone();
        let schema: Arc<dyn SchemaProvider> = state.schema_for_ref(TableReference::bare(name))?;
        if let Some(table) = schema.table(name).await?
            && !table.is::<GraphTable>()
        {
            return exec_err!("table {name} exists and is not a graph; choose another name");
        }
        let stores = Stores::new(self.runtime_env());
        let options = GraphArOptions::of(state.config_options());
        add_options(self.state_ref().write().config_mut());
        if self.udf("has_label").is_err() {
            self.register_udf(has_label());
        }
        if self.state().get_file_format_factory(STORED_AS).is_none() {
            let format = Arc::new(GraphArFormatFactory::default());
            self.state_ref()
                .write()
                .register_file_format(format, false)?;
        }
        for (name, function) in table_functions() {
            if !self
                .state_ref()
                .read()
                .table_functions()
                .contains_key(&name)
            {
                self.register_udtf(&name, function);
            }
        }
        add_function_planner(&mut self.state_ref().write())?;
        let cache = SessionCache::of(self.state().config(), &self.runtime_env(), &options);
        let registered = RegisteredGraph::open(location, &stores, &options, cache).await?;
        let registered = Arc::new(registered);
        let listing = Arc::new(GraphTable::try_new(Arc::clone(&registered))?);
        // The listing first: what can be refused is refused before the old graph is let go.
        schema.deregister_table(name)?;
        schema.register_table(name.to_owned(), listing)?;
        register_schema(
            state.catalog_list().as_ref(),
            &defaults.default_catalog,
            name,
            &registered,
        )?;
        Ok(registered.graph())
    }
}
