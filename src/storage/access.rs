//! How the files of a scan are reached.

use std::sync::{Arc, Mutex, PoisonError};

use datafusion::common::HashSet;
use object_store::path::Path;
use object_store::{ObjectMeta, ObjectStore, ObjectStoreExt};

use super::cache::{CacheName, FileCache, FileIdentity};
use super::local::LocalFile;
use super::meter::ReadMeter;
use crate::error::{GraphArError, Result};
use crate::format::ChunkSlice;

/// A store, what is remembered of its files, and the counters of one scan.
#[derive(Debug, Clone)]
pub struct FileAccess {
    /// The store.
    pub store: Arc<dyn ObjectStore>,
    /// Its URL, which tells the files of two stores apart.
    pub store_url: Arc<str>,
    /// What the session remembers; `None` remembers nothing.
    pub cache: Option<Arc<FileCache>>,
    /// Whether a file found in the cache is compared with the store, once in a scan.
    pub validate: bool,
    /// Tells what this scan or handle and its clones remember of their own from what others do.
    pub(crate) handle: Arc<Handle>,
    /// The counters of the scan.
    pub meter: Arc<ReadMeter>,
}

/// What a handle has put into the cache that no other can use: it goes with the last clone of the handle.
#[derive(Debug, Default)]
pub(crate) struct Handle {
    number: u64,
    cache: Option<Arc<FileCache>>,
    kept: Mutex<HashSet<CacheName>>,
}

impl Handle {
    fn new(cache: Option<&Arc<FileCache>>) -> Self {
        Self {
            number: cache.map_or(0, |cache| cache.file_number()),
            cache: cache.cloned(),
            kept: Mutex::default(),
        }
    }

    /// The name of what this handle remembers of an edge chunk.
    pub(super) fn chunk_name(&self, slice: &ChunkSlice) -> CacheName {
        CacheName::Chunk(self.number, slice.part, slice.chunk)
    }

    /// Remembers that a name has an entry.
    pub(super) fn keeps(&self, name: CacheName) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.insert(name);
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        let kept = self.kept.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(cache) = &self.cache {
            for name in kept.drain() {
                cache.remove(&name);
            }
        }
    }
}

impl FileAccess {
    /// Reads of a store that remember nothing.
    pub fn uncached(store: Arc<dyn ObjectStore>) -> Self {
        Self {
            store,
            store_url: Arc::from(""),
            cache: None,
            validate: true,
            handle: Arc::default(),
            meter: Arc::default(),
        }
    }

    /// Reads of a store that remember what they read in `cache`, and count with `meter`.
    pub fn new(
        store: Arc<dyn ObjectStore>,
        store_url: &str,
        cache: Option<Arc<FileCache>>,
        meter: ReadMeter,
    ) -> Self {
        Self {
            store,
            store_url: Arc::from(store_url),
            handle: Arc::new(Handle::new(cache.as_ref())),
            cache,
            validate: true,
            meter: Arc::new(meter),
        }
    }

    /// What the store says of a file now.
    pub(crate) async fn head(&self, path: &Path) -> Result<ObjectMeta> {
        self.meter.request(path.as_ref(), 0)?;
        let head = self.store.head(path).await;
        head.map_err(|e| GraphArError::store(path.to_string(), "a chunk file, by the counts", e))
    }

    /// Whether a file that something in the cache came from is still in that state. Costs a request
    /// where the file is not open.
    pub(crate) async fn is_current(&self, path: &Path, identity: &FileIdentity) -> Result<bool> {
        if let Some(open) = self.still_open(path, identity) {
            return Ok(open.is_current());
        }
        match self.head(path).await {
            Ok(found) => Ok(FileIdentity::from(&found) == *identity),
            // Reading it says so in its own words.
            Err(GraphArError::MissingFile { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Keeps a local file open, as long as there are not too many.
    pub(super) fn keep_open(&self, path: &Path, file: &Arc<LocalFile>) {
        if let Some(cache) = &self.cache {
            cache.keep_open(&self.footer_name(path), file);
        }
    }

    /// A local file that is still open in this state.
    pub(super) fn still_open(
        &self,
        path: &Path,
        identity: &FileIdentity,
    ) -> Option<Arc<LocalFile>> {
        let file = self.cache.as_ref()?.still_open(&self.footer_name(path))?;
        (file.identity() == identity).then_some(file)
    }

    /// The name of a file's footer in the cache.
    pub(super) fn footer_name(&self, path: &Path) -> CacheName {
        CacheName::Footer(Arc::clone(&self.store_url), path.clone())
    }
}
