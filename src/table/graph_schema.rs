//! A graph as a schema of tables.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock, Weak};

use async_trait::async_trait;
use datafusion::catalog::{SchemaProvider, TableProvider};
use datafusion::common::exec_err;
use datafusion::error::{DataFusionError, Result};

use super::{Graph, InsertTarget, RegisteredGraph};

/// The schema of a graph: its element tables, and single layouts of edge triplets. Other tables
/// and views can be created beside them.
///
/// The graph belongs to its listing table, and the schema only points at it: when that table
/// is dropped, the schema has the tables of the graph no longer.
#[derive(Debug)]
pub struct GraphSchema {
    name: String,
    registered: RwLock<Weak<RegisteredGraph>>,
    others: RwLock<BTreeMap<String, Arc<dyn TableProvider>>>,
}

impl GraphSchema {
    /// The schema `name` of `graph`.
    pub fn new(name: impl Into<String>, registered: &Arc<RegisteredGraph>) -> Self {
        Self {
            name: name.into(),
            registered: RwLock::new(Arc::downgrade(registered)),
            others: RwLock::default(),
        }
    }

    /// Lets the schema show another graph; tables created beside the graph's own stay.
    pub fn replace(&self, registered: &Arc<RegisteredGraph>) {
        let mut slot = self
            .registered
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        *slot = Arc::downgrade(registered);
    }

    /// The graph, unless its listing table was dropped.
    pub fn graph(&self) -> Option<Arc<Graph>> {
        Some(self.registered()?.graph())
    }

    fn registered(&self) -> Option<Arc<RegisteredGraph>> {
        let registered = self
            .registered
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        registered.upgrade()
    }

    fn other(&self, name: &str) -> Option<Arc<dyn TableProvider>> {
        let others = self.others.read().unwrap_or_else(PoisonError::into_inner);
        others.get(name).cloned()
    }

    /// Whether `name` is a table of the graph itself.
    fn is_own(&self, name: &str) -> bool {
        self.graph().is_some_and(|graph| graph.knows(name))
    }
}

#[async_trait]
impl SchemaProvider for GraphSchema {
    /// Element tables in the order of the graph info, then the others. Single layouts are found
    /// by name, but not listed: they have no rows of their own.
    fn table_names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.graph().map_or_else(Vec::new, |graph| {
            graph
                .tables()
                .iter()
                .map(|(name, _)| name.clone())
                .collect()
        });
        let others = self.others.read().unwrap_or_else(PoisonError::into_inner);
        names.extend(others.keys().cloned());
        names
    }

    async fn table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        if let Some(registered) = self.registered() {
            let graph = registered.graph();
            if let Some(table) = graph.table(name).map_err(DataFusionError::from)? {
                let target = InsertTarget::of(&registered, graph.archive(), name);
                return Ok(Some(match target {
                    Some(target) => Arc::new(table.as_ref().clone().with_target(target)),
                    None => table,
                }));
            }
        }
        Ok(self.other(name))
    }

    fn register_table(
        &self,
        name: String,
        table: Arc<dyn TableProvider>,
    ) -> Result<Option<Arc<dyn TableProvider>>> {
        if self.is_own(&name) {
            return exec_err!("table {name} belongs to graph {} and stays", self.name);
        }
        let mut others = self.others.write().unwrap_or_else(PoisonError::into_inner);
        Ok(others.insert(name, table))
    }

    fn deregister_table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        if self.is_own(name) {
            return exec_err!(
                "table {name} belongs to graph {}; drop the graph's own table instead",
                self.name
            );
        }
        let mut others = self.others.write().unwrap_or_else(PoisonError::into_inner);
        Ok(others.remove(name))
    }

    fn table_exist(&self, name: &str) -> bool {
        self.is_own(name) || self.other(name).is_some()
    }
}
