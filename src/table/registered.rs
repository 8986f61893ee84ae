//! A graph under a name in a session.

use std::sync::{Arc, PoisonError, RwLock};

use super::Graph;
use crate::config::GraphArOptions;
use crate::error::Result;
use crate::storage::{Archive, FileCache, Location, Stores};

/// A graph as it was last read, and how to read it again.
#[derive(Debug)]
pub struct RegisteredGraph {
    stores: Stores,
    options: GraphArOptions,
    cache: Option<Arc<FileCache>>,
    graph: RwLock<Arc<Graph>>,
}

impl RegisteredGraph {
    /// Opens the archive at `location`; see [`Graph::open`].
    ///
    /// # Errors
    /// As there.
    pub async fn open(
        location: &str,
        stores: &Stores,
        options: &GraphArOptions,
        cache: Option<Arc<FileCache>>,
    ) -> Result<Self> {
        let graph = Graph::open(location, stores, options, cache.as_ref()).await?;
        Ok(Self {
            stores: stores.clone(),
            options: options.clone(),
            cache,
            graph: RwLock::new(Arc::new(graph)),
        })
    }

    /// The graph as it was last read.
    pub fn graph(&self) -> Arc<Graph> {
        let graph = self.graph.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&graph)
    }

    /// The info file that was opened.
    pub fn file(&self) -> Location {
        self.graph().archive().file.clone()
    }

    /// Where its stores are found.
    pub fn stores(&self) -> &Stores {
        &self.stores
    }

    /// Reads metadata and counts again. Statements that are planned from now on see them.
    ///
    /// # Errors
    /// As [`Graph::open`]; then the graph stays as it was read before.
    pub async fn refresh(&self) -> Result<()> {
        let archive = Archive::open_at(self.file(), &self.stores).await?;
        let graph = Graph::new(archive, &self.options, self.cache.as_ref());
        let mut slot = self.graph.write().unwrap_or_else(PoisonError::into_inner);
        *slot = Arc::new(graph);
        Ok(())
    }
}
