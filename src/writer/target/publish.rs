//! The moment in which a graph changes: its info file is replaced.

use object_store::{ObjectStore, ObjectStoreExt, PutMode, UpdateVersion};

use super::lock::Lock;
use super::{Target, entries, path_of};
use crate::error::{GraphArError, Result};
use crate::format::{EdgeInfo, GraphInfo, InfoVersion, VertexInfo};
use crate::storage::{Location, read_text};

/// Times that the graph is read again after another writer was faster.
const ATTEMPTS: usize = 1000;

/// What a write does to the list of a graph's elements.
#[derive(Debug, Default)]
pub(in crate::writer) struct Change {
    /// Vertex types: their names, and their new info files.
    pub vertices: Vec<(String, String)>,
    /// Edge triplets likewise.
    pub edges: Vec<(String, String)>,
    /// Edge triplets that end to be.
    pub dropped: Vec<String>,
    /// Vertex types whose ids the new edges contain.
    pub needed: Vec<String>,
}

impl Target {
    /// Makes a change visible.
    ///
    /// # Errors
    /// If another writer has changed an element that this one replaces or relies on, or the store fails. Then
    /// the graph is as the other writer left it.
    pub(in crate::writer) async fn publish(&self, change: &Change) -> Result<()> {
        let lock = Lock::wait(&self.file.parent().join(&self.lock_name())).await?;
        let path = path_of(&self.file)?;
        let store = self.file.store();
        let failed =
            |e| GraphArError::store(self.file.to_string(), "a file that can be replaced", e);
        for _ in 0..ATTEMPTS {
            let (now, version) = self.read().await?;
            let text = self.apply(change, now).await?.to_yaml()?;
            let mode = match (&lock, version) {
                // Nobody else writes while the lock is held; the file is replaced as a whole.
                (Some(_), _) => PutMode::Overwrite,
                (None, Some(version)) => PutMode::Update(version),
                (None, None) => PutMode::Create,
            };
            let put = store
                .put_opts(&path, text.clone().into(), mode.into())
                .await;
            match put {
                Ok(_) => {
                    self.remove_leftovers(change).await;
                    return Ok(());
                }
                Err(
                    object_store::Error::Precondition { .. }
                    | object_store::Error::AlreadyExists { .. },
                ) => {}
                Err(
                    object_store::Error::NotImplemented { .. }
                    | object_store::Error::NotSupported { .. },
                ) => {
                    store.put(&path, text.into()).await.map_err(failed)?;
                    return Ok(());
                }
                Err(error) => return Err(failed(error)),
            }
        }
        Err(self.conflict("the graph"))
    }

    fn lock_name(&self) -> String {
        format!(".{}.lock", self.file.file_name())
    }

    fn conflict(&self, element: &str) -> GraphArError {
        GraphArError::Conflict {
            path: self.file.to_string(),
            element: element.to_owned(),
        }
    }

    /// The graph info as it is now, and its state.
    async fn read(&self) -> Result<(GraphInfo, Option<UpdateVersion>)> {
        let path = path_of(&self.file)?;
        let name = self.file.to_string();
        match self.file.store().get(&path).await {
            Ok(found) => {
                let version = UpdateVersion {
                    e_tag: found.meta.e_tag.clone(),
                    version: found.meta.version.clone(),
                };
                let bytes = found.bytes().await;
                let bytes = bytes.map_err(|e| GraphArError::store(&name, "a graph info", e))?;
                let text = String::from_utf8_lossy(&bytes);
                Ok((GraphInfo::from_yaml(&text, &name)?, Some(version)))
            }
            Err(object_store::Error::NotFound { .. }) => Ok((
                GraphInfo {
                    name: self.name().to_owned(),
                    version: Some(InfoVersion::default()),
                    ..GraphInfo::default()
                },
                None,
            )),
            Err(error) => Err(GraphArError::store(name, "a graph info", error)),
        }
    }

    /// The graph with the change.
    async fn apply(&self, change: &Change, mut graph: GraphInfo) -> Result<GraphInfo> {
        let before = self.base.as_ref().map(|base| &base.graph);
        let known = |entry: &str| before.is_some_and(|before| entries(before).any(|e| e == entry));
        let (mut vertices, mut edges) = (vec![], vec![]);
        for entry in &graph.vertices {
            vertices.push(match known(entry) {
                true => self.name_of(entry, true),
                false => self.added(entry, true).await?,
            });
        }
        for entry in &graph.edges {
            edges.push(match known(entry) {
                true => self.name_of(entry, false),
                false => self.added(entry, false).await?,
            });
        }
        // What this write replaces or relies on has to be what it was, or still be absent.
        let touched = change.vertices.iter().map(|(name, _)| name);
        for name in touched.chain(&change.needed) {
            if self.entry_of(name, true) != position(&vertices, name).map(|i| &graph.vertices[i]) {
                return Err(self.conflict(&format!("vertex type {name}")));
            }
        }
        let touched = change.edges.iter().map(|(name, _)| name);
        for name in touched.chain(&change.dropped) {
            if self.entry_of(name, false) != position(&edges, name).map(|i| &graph.edges[i]) {
                return Err(self.conflict(&format!("edge triplet {name}")));
            }
        }
        for (name, file) in &change.vertices {
            match position(&vertices, name) {
                Some(at) => graph.vertices[at].clone_from(file),
                None => graph.vertices.push(file.clone()),
            }
        }
        for (name, file) in &change.edges {
            match position(&edges, name) {
                Some(at) => graph.edges[at].clone_from(file),
                None => graph.edges.push(file.clone()),
            }
        }
        let mut names = edges.iter();
        let dropped = |name: &Option<String>| {
            name.as_ref()
                .is_some_and(|name| change.dropped.contains(name))
        };
        graph.edges.retain(|_| !names.next().is_some_and(dropped));
        Ok(graph)
    }

    /// The entry of the graph info, as it was, that an element came from.
    fn entry_of(&self, name: &str, vertex: bool) -> Option<&String> {
        let graph = &self.base.as_ref()?.graph;
        let entries = if vertex {
            &graph.vertices
        } else {
            &graph.edges
        };
        let found = |entry: &&String| self.name_of(entry, vertex).as_deref() == Some(name);
        entries.iter().find(found)
    }

    /// The name of the element that an entry stood for, if its info file was there.
    fn name_of(&self, entry: &str, vertex: bool) -> Option<String> {
        let base = self.base.as_ref()?;
        let places = self.places(entry);
        let at = |file: &Location| places.iter().any(|place| place.same_as(file));
        if vertex {
            let found = base.vertices.iter().find(|v| at(&v.file))?;
            return Some(found.info.vertex_type.clone());
        }
        Some(base.edges.iter().find(|e| at(&e.file))?.info.key())
    }

    /// Where an entry's file can be.
    fn places(&self, entry: &str) -> Vec<Location> {
        let folders = [self.file.parent(), self.root.clone()];
        let places = folders
            .iter()
            .map(|folder| folder.resolve(entry, &self.stores));
        places.filter_map(Result::ok).collect()
    }

    /// The name of an element that another writer has added.
    async fn added(&self, entry: &str, vertex: bool) -> Result<Option<String>> {
        for place in self.places(entry) {
            if let Some(text) = read_text(&place).await? {
                let path = place.to_string();
                return Ok(Some(if vertex {
                    VertexInfo::from_yaml(&text, &path)?.vertex_type
                } else {
                    EdgeInfo::from_yaml(&text, &path)?.key()
                }));
            }
        }
        Ok(None)
    }
}

fn position(names: &[Option<String>], name: &str) -> Option<usize> {
    names
        .iter()
        .position(|known| known.as_deref() == Some(name))
}
