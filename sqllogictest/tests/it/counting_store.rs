//! An object store that notes what is asked of it.

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::BoxStream;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};

/// Passes everything on to a store in memory.
#[derive(Debug)]
pub struct CountingStore {
    inner: Arc<InMemory>,
    noted: Mutex<Noted>,
}

/// What was asked of a store.
#[derive(Debug, Default)]
pub struct Noted {
    /// Requests for a file, in the order in which they were made, also those that failed.
    pub requests: Vec<Request>,
    /// Prefixes listed.
    pub lists: Vec<String>,
}

/// One call for the bytes of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    pub path: String,
    /// The bytes given out; none where only the size was asked for, or the file is missing.
    pub ranges: Vec<Range<u64>>,
}

impl Request {
    pub fn bytes(&self) -> u64 {
        self.ranges
            .iter()
            .map(|range| range.end - range.start)
            .sum()
    }
}

impl Noted {
    /// The paths asked for, without repetitions.
    pub fn paths(&self) -> Vec<String> {
        let mut paths: Vec<_> = self.requests.iter().map(|r| r.path.clone()).collect();
        paths.sort();
        paths.dedup();
        paths
    }

    /// The requests for files whose path contains this text.
    pub fn of<'a>(&'a self, part: &'a str) -> impl Iterator<Item = &'a Request> {
        self.requests.iter().filter(move |r| r.path.contains(part))
    }

    /// The bytes given out of files whose path contains this text; a byte counts each time.
    pub fn bytes(&self, part: &str) -> u64 {
        self.of(part).map(Request::bytes).sum()
    }

    /// The ranges given out of files whose path contains this text, sorted.
    pub fn ranges(&self, part: &str) -> Vec<Range<u64>> {
        let mut ranges: Vec<_> = self.of(part).flat_map(|r| r.ranges.clone()).collect();
        ranges.sort_by_key(|range| (range.start, range.end));
        ranges
    }
}

impl CountingStore {
    pub fn new(inner: Arc<InMemory>) -> Self {
        Self {
            inner,
            noted: Mutex::default(),
        }
    }

    /// What was asked since the last call.
    pub fn noted(&self) -> Noted {
        std::mem::take(&mut *self.noted.lock().unwrap())
    }

    /// The paths read since the last call, without repetitions, and the number of listings.
    pub fn take(&self) -> (Vec<String>, usize) {
        let noted = self.noted();
        (noted.paths(), noted.lists.len())
    }

    fn note(&self, location: &Path, ranges: Vec<Range<u64>>) {
        self.noted.lock().unwrap().requests.push(Request {
            path: location.to_string(),
            ranges,
        });
    }

    fn note_list(&self, prefix: Option<&Path>) {
        self.noted.lock().unwrap().lists.push(format!("{prefix:?}"));
    }
}

impl fmt::Display for CountingStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CountingStore")
    }
}

#[async_trait]
impl ObjectStore for CountingStore {
    async fn put_opts(
        &self,
        location: &Path,
        payload: PutPayload,
        options: PutOptions,
    ) -> Result<PutResult> {
        self.inner.put_opts(location, payload, options).await
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.inner.put_multipart_opts(location, options).await
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        let head = options.head;
        let result = self.inner.get_opts(location, options).await;
        let given = result.as_ref().ok().filter(|_| !head);
        self.note(
            location,
            given.map(|r| r.range.clone()).into_iter().collect(),
        );
        result
    }

    async fn get_ranges(&self, location: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        let result = self.inner.get_ranges(location, ranges).await;
        let given = if result.is_ok() { ranges } else { &[] };
        self.note(location, given.to_vec());
        result
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        self.inner.delete_stream(locations)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.note_list(prefix);
        self.inner.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.note_list(prefix);
        self.inner.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.inner.copy_opts(from, to, options).await
    }
}

#[cfg(test)]
mod tests {
    use object_store::ObjectStoreExt;

    use super::*;

    #[tokio::test]
    async fn requests_are_noted_with_their_ranges() {
        let store = CountingStore::new(Arc::new(InMemory::new()));
        let path = Path::from("a/b");
        store.put(&path, vec![0; 100].into()).await.unwrap();
        store.get(&path).await.unwrap();
        store.get_range(&path, 10..20).await.unwrap();
        store.get_ranges(&path, &[5..6, 0..2]).await.unwrap();
        store.head(&path).await.unwrap();
        assert!(store.head(&Path::from("a/c")).await.is_err());
        store.list_with_delimiter(None).await.unwrap();
        let noted = store.noted();
        assert_eq!(noted.paths(), ["a/b", "a/c"]);
        assert_eq!(noted.of("b").count(), 4);
        assert_eq!(noted.bytes("b"), 113);
        assert_eq!(noted.ranges("b"), [0..2, 0..100, 5..6, 10..20]);
        assert_eq!(noted.bytes("c"), 0);
        assert_eq!(noted.lists, ["None"]);
        assert!(store.noted().requests.is_empty());
    }
}
