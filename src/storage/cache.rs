//! What a session remembers of the files it has read.

use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use datafusion::common::TableReference;
use datafusion::execution::cache::default_cache::DefaultCache;
use datafusion::execution::cache::{Cache, CacheKey, CacheValue};
use datafusion::execution::memory_pool::{
    MemoryConsumer, MemoryLimit, MemoryPool, MemoryReservation,
};
use object_store::ObjectMeta;
use object_store::path::Path;

use super::local::LocalFile;

/// Of a limited memory pool the cache takes at most this part.
const PART_OF_POOL: usize = 4;

/// Local files that are kept open.
const OPEN_FILES: usize = 128;

/// What an open file counts for, whatever its name.
const HANDLE: usize = 1 << 20;

/// Bytes that an entry costs besides its value.
const OVERHEAD: usize = 128;

/// A state of a file: it was replaced if any of this is another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileIdentity {
    /// Size in bytes.
    pub size: u64,
    /// The store's tag of the state, if it has such tags.
    pub e_tag: Option<String>,
    /// Time of the last change, in nanoseconds since 1970.
    modified: Option<i64>,
}

impl From<&ObjectMeta> for FileIdentity {
    fn from(meta: &ObjectMeta) -> Self {
        Self {
            size: meta.size,
            e_tag: meta.e_tag.clone(),
            modified: meta.last_modified.timestamp_nanos_opt(),
        }
    }
}

/// What an entry is about.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum CacheName {
    /// The footer of a file in a store.
    Footer(Arc<str>, Path),
    /// The offsets of a part, by the folder of the layout.
    Offsets(Arc<str>, Arc<str>, u64),
    /// An edge chunk, by the number of the handle that looks things up in it.
    Chunk(u64, u64, u64),
    /// The adjacency of a layout, by its folder.
    Csr(Arc<str>, Arc<str>),
    /// A decoded page: number of the file, of the column's leaf, of the row group, of the page.
    Page(u64, u32, u32, u32),
}

impl CacheKey for CacheName {
    fn size(&self) -> usize {
        match self {
            Self::Footer(_, path) => OVERHEAD + path.as_ref().len(),
            Self::Offsets(..) | Self::Chunk(..) | Self::Csr(..) | Self::Page(..) => OVERHEAD,
        }
    }

    fn table_ref(&self) -> Option<&TableReference> {
        None
    }
}

#[derive(Clone)]
struct Entry {
    value: Arc<dyn Any + Send + Sync>,
    bytes: usize,
    /// Gives the memory back to the pool when the last user of the entry lets it go.
    _charge: Arc<MemoryReservation>,
}

impl CacheValue for Entry {
    fn size(&self) -> usize {
        self.bytes
    }
}

#[derive(Clone)]
struct Handle(Arc<LocalFile>);

impl CacheValue for Handle {
    fn size(&self) -> usize {
        HANDLE
    }
}

/// Footers, offsets and decoded pages of ids, shared by the graphs of a session.
///
/// Bounded in bytes and charged to the memory pool; the entries used least recently go first. What
/// the pool has no memory for is not kept. Entries of files carry the [`FileIdentity`] that they
/// were read from; pages belong to one state of a file by its number.
pub struct FileCache {
    entries: DefaultCache<CacheName, Entry>,
    /// Local files that are open.
    open: DefaultCache<CacheName, Handle>,
    pool: MemoryReservation,
    next_file: AtomicU64,
}

impl fmt::Debug for FileCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileCache")
            .field("limit", &self.entries.cache_limit())
            .field("used", &self.entries.memory_used())
            .finish_non_exhaustive()
    }
}

impl FileCache {
    /// A cache of at most `bytes` bytes and a quarter of what the pool is limited to.
    pub fn new(bytes: usize, pool: &Arc<dyn MemoryPool>) -> Self {
        let bytes = match pool.memory_limit() {
            MemoryLimit::Finite(limit) => bytes.min(limit / PART_OF_POOL),
            _ => bytes,
        };
        Self {
            entries: DefaultCache::new(bytes).with_name("graphar"),
            open: DefaultCache::new(OPEN_FILES * HANDLE).with_name("graphar files"),
            pool: MemoryConsumer::new("graphar cache").register(pool),
            next_file: AtomicU64::new(0),
        }
    }

    /// Bytes in use.
    pub fn bytes(&self) -> usize {
        self.entries.memory_used()
    }

    /// Forgets everything.
    pub fn clear(&self) {
        self.entries.clear();
        self.open.clear();
    }

    /// Keeps a file open.
    pub(super) fn keep_open(&self, name: &CacheName, file: &Arc<LocalFile>) {
        self.open.put(name, Handle(Arc::clone(file)));
    }

    /// The file of this name, if it is still open.
    pub(super) fn still_open(&self, name: &CacheName) -> Option<Arc<LocalFile>> {
        self.open.get(name).map(|open| open.0)
    }

    /// A number that no other state of a file, or handle, has.
    pub(crate) fn file_number(&self) -> u64 {
        self.next_file.fetch_add(1, Ordering::Relaxed)
    }

    /// What was put under this name, if it is still there and of this type.
    pub(super) fn get<T: Any + Send + Sync>(&self, name: &CacheName) -> Option<Arc<T>> {
        self.entries.get(name)?.value.downcast().ok()
    }

    /// Keeps a value of about `bytes` bytes, if there is room for it.
    pub(super) fn put<T: Any + Send + Sync>(&self, name: &CacheName, value: &Arc<T>, bytes: usize) {
        let bytes = bytes.saturating_add(OVERHEAD);
        if bytes > self.entries.cache_limit() {
            return;
        }
        let charge = self.pool.new_empty();
        if charge.try_grow(bytes).is_err() {
            return;
        }
        let value: Arc<dyn Any + Send + Sync> = Arc::<T>::clone(value);
        let entry = Entry {
            value,
            bytes,
            _charge: Arc::new(charge),
        };
        self.entries.put(name, entry);
    }

    /// Forgets what was put under this name.
    pub(super) fn remove(&self, name: &CacheName) {
        self.entries.remove(name);
    }
}

#[cfg(test)]
mod tests {
    use datafusion::execution::memory_pool::{GreedyMemoryPool, UnboundedMemoryPool};

    use super::*;

    fn page(number: u32) -> CacheName {
        CacheName::Page(0, 0, 0, number)
    }

    #[test]
    fn what_was_used_least_recently_goes_first() {
        let pool: Arc<dyn MemoryPool> = Arc::new(UnboundedMemoryPool::default());
        let cache = FileCache::new(4000, &pool);
        for number in 0..3 {
            cache.put(&page(number), &Arc::new(number), 1000);
        }
        assert_eq!(cache.get::<u32>(&page(0)).as_deref(), Some(&0));
        cache.put(&page(3), &Arc::new(3_u32), 1000);
        assert!(cache.get::<u32>(&page(1)).is_none());
        assert_eq!(cache.get::<u32>(&page(0)).as_deref(), Some(&0));
        assert!(cache.bytes() <= 4000);
        assert_eq!(pool.reserved() + 3 * OVERHEAD, cache.bytes());
        cache.clear();
        assert_eq!((cache.bytes(), pool.reserved()), (0, 0));
    }

    #[test]
    fn a_full_pool_means_that_nothing_is_kept() {
        let pool: Arc<dyn MemoryPool> = Arc::new(GreedyMemoryPool::new(10_000));
        let cache = FileCache::new(usize::MAX, &pool);
        let other = MemoryConsumer::new("query").register(&pool);
        other.try_grow(9_500).unwrap();
        cache.put(&page(0), &Arc::new(0_u32), 1000);
        assert!(cache.get::<u32>(&page(0)).is_none());
        other.free();
        cache.put(&page(0), &Arc::new(0_u32), 1000);
        assert!(cache.get::<u32>(&page(0)).is_some());
        // No more than a quarter of the pool.
        cache.put(&page(1), &Arc::new(1_u32), 3000);
        assert!(cache.get::<u32>(&page(1)).is_none());
    }
}
