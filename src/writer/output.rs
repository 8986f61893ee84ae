//! Files of an archive under construction.

use std::sync::Arc;

use bytes::Bytes;
use datafusion::common::HashSet;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};

use crate::error::{GraphArError, Result};

/// Where the files go.
pub(super) struct Output {
    store: Arc<dyn ObjectStore>,
    root: Path,
}

impl Output {
    pub(super) fn new(store: Arc<dyn ObjectStore>, root: Path) -> Self {
        Self { store, root }
    }

    /// The path inside the store of a name below the root.
    pub(super) fn path(&self, name: &str) -> Result<Path> {
        let root = self.root.as_ref();
        let path = if root.is_empty() {
            name.to_owned()
        } else {
            format!("{root}/{name}")
        };
        Path::parse(&path).map_err(|e| GraphArError::Location {
            location: path.clone(),
            reason: e.to_string(),
        })
    }

    /// Writes a file, over one of the same name.
    pub(super) async fn put(&self, name: &str, bytes: Bytes) -> Result<Path> {
        let path = self.path(name)?;
        self.store
            .put(&path, bytes.into())
            .await
            .map_err(|e| GraphArError::store(path.as_ref(), "a store that can be written to", e))?;
        Ok(path)
    }

    /// The same file under another name. Stores do this without reading it, and the local file system
    /// by a second link.
    pub(super) async fn copy(&self, from: &str, name: &str) -> Result<()> {
        let path = self.path(name)?;
        let from = Path::parse(from).map_err(|e| GraphArError::payload(from, e))?;
        let copied = self.store.copy(&from, &path).await;
        copied.map_err(|e| GraphArError::store(from.as_ref(), "a chunk file, by the counts", e))
    }

    /// Writes a count file: eight bytes, least significant first.
    pub(super) async fn put_count(&self, name: &str, count: u64) -> Result<()> {
        let count = i64::try_from(count).map_err(|e| GraphArError::payload(name, e))?;
        self.put(name, Bytes::copy_from_slice(&count.to_le_bytes()))
            .await?;
        Ok(())
    }
}

/// The folders that things written before have taken.
#[derive(Default)]
pub(super) struct Folders(HashSet<String>);

impl Folders {
    /// Checks that these folders, one for the chunks of each thing, are free. Readers that
    /// list folders take every file in them for a chunk, and two things in one folder would
    /// overwrite each other.
    ///
    /// # Errors
    /// If a folder is taken or named twice, or no path of a store can name it.
    pub(super) fn check_free(&self, output: &Output, info: &str, folders: &[String]) -> Result<()> {
        for (i, folder) in folders.iter().enumerate() {
            output.path(folder.trim_end_matches('/'))?;
            if self.0.contains(folder) || folders[..i].contains(folder) {
                return Err(GraphArError::Metadata {
                    path: info.to_owned(),
                    element: "prefix".to_owned(),
                    expected:
                        "a folder of its own for each property group, layout and list of labels"
                            .to_owned(),
                    found: format!("'{folder}' a second time"),
                });
            }
        }
        Ok(())
    }

    /// Marks folders as taken.
    pub(super) fn take(&mut self, folders: Vec<String>) {
        self.0.extend(folders);
    }
}

/// A length from an info file as one in memory; what does not fit is beyond any table.
pub(super) fn length(size: u64) -> usize {
    usize::try_from(size).unwrap_or(usize::MAX)
}
