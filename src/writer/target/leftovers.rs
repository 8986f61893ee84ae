//! Files of earlier writes that no graph info names any more, and of writes that never ended.

use std::fs;
use std::path::Path as FilePath;

use futures::TryStreamExt;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};

use super::lock::{is_held, local_path};
use super::{Change, Target};
use crate::error::{GraphArError, Result};
use crate::storage::Location;

/// Hours for which files in stores without locks are taken for those of a write that still runs.
const HOURS: i64 = 24;

/// Digits of a token, and of them those of the graph.
const TOKEN_DIGITS: usize = 16;
const GRAPH_DIGITS: usize = 8;

impl Target {
    /// Removes what is left of the elements that a change has replaced, but for their last state: somebody
    /// may still read it. What cannot be removed stays; readers do not look at it.
    pub(super) async fn remove_leftovers(&self, change: &Change) {
        let kinds = [("vertex", &change.vertices), ("edge", &change.edges)];
        for (kind, changed) in kinds {
            for (name, _) in changed {
                if let Err(error) = self.remove_states(kind, name).await {
                    log::warn!("{}: files that are not needed stay: {error}", self.root);
                }
            }
        }
    }

    async fn remove_states(&self, kind: &str, name: &str) -> Result<()> {
        let folder = self.root.join(kind);
        let states = states_of(&folder, name, &self.token[..GRAPH_DIGITS]).await?;
        let needed: Vec<String> = self
            .prefixes()
            .map(|prefix| self.root.join(prefix))
            .map(|place| place.path().to_owned())
            .collect();
        for (state, token) in states {
            if token == self.token || needed.iter().any(|path| path.as_str() == state.path()) {
                continue;
            }
            let parent = self.file.parent();
            let info = parent.join(&format!("{name}-{token}.{kind}.yml"));
            match local_path(&state) {
                Some(path) => {
                    let lock = folder.join(&format!("{name}-{token}.lock"));
                    let Some(lock) = local_path(&lock).filter(|lock| !is_held(lock)) else {
                        continue;
                    };
                    remove_local(&path, &lock, local_path(&info).as_deref());
                }
                None => remove_remote(&state, &info).await?,
            }
        }
        Ok(())
    }

    /// The prefixes that the graph named before the change.
    fn prefixes(&self) -> impl Iterator<Item = &str> {
        let vertices = self.base.iter().flat_map(|base| &base.vertices);
        let edges = self.base.iter().flat_map(|base| &base.edges);
        let vertices = vertices.filter_map(|v| v.info.prefix.as_deref());
        vertices.chain(edges.filter_map(|e| e.info.prefix.as_deref()))
    }
}

/// The folders of an element's states in the graph with these digits, and their tokens.
async fn states_of(folder: &Location, name: &str, graph: &str) -> Result<Vec<(Location, String)>> {
    let path = folder.object_path()?;
    let listed = folder.store().list_with_delimiter(Some(&path)).await;
    let listed = listed.map_err(|e| GraphArError::store(folder.to_string(), "a folder", e))?;
    let states = listed.common_prefixes.iter().filter_map(|state| {
        let token = state.filename()?.strip_prefix(name)?.strip_prefix('-')?;
        let hex = token.len() == TOKEN_DIGITS && token.bytes().all(|byte| byte.is_ascii_hexdigit());
        (hex && token.starts_with(graph))
            .then(|| (folder.with_path(state.as_ref()), token.to_owned()))
    });
    Ok(states.collect())
}

fn remove_local(state: &FilePath, lock: &FilePath, info: Option<&FilePath>) {
    // The info first: without it nothing can lead to the rest.
    let files = [info, Some(lock)];
    for file in files.into_iter().flatten() {
        let _ = fs::remove_file(file);
    }
    if let Err(error) = fs::remove_dir_all(state) {
        log::warn!("{}: {error}", state.display());
    }
}

/// There are no locks: files that are not old may belong to a write that still runs.
async fn remove_remote(state: &Location, info: &Location) -> Result<()> {
    let failed = |e| GraphArError::store(state.to_string(), "a folder", e);
    let store = state.store();
    let path = state.object_path()?;
    let objects: Vec<_> = store
        .list(Some(&path))
        .try_collect()
        .await
        .map_err(failed)?;
    let newest = objects.iter().map(|object| object.last_modified).max();
    let Some(newest) = newest else {
        return Ok(());
    };
    let age = hours_since(newest.timestamp());
    if age < HOURS {
        return Ok(());
    }
    let mut paths: Vec<Path> = vec![info.object_path()?];
    paths.extend(objects.into_iter().map(|object| object.location));
    for path in paths {
        match store.delete(&path).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => {}
            Err(error) => return Err(failed(error)),
        }
    }
    Ok(())
}

/// Hours since a time in seconds of 1970.
fn hours_since(seconds: i64) -> i64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let now = now.map_or(0, |now| i64::try_from(now.as_secs()).unwrap_or(i64::MAX));
    (now - seconds) / 3600
}
