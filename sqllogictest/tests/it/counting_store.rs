//! An object store that notes what is asked of it.

use std::fmt;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
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
    /// Paths read, one for each request.
    reads: Mutex<Vec<String>>,
    /// Prefixes listed.
    lists: Mutex<Vec<String>>,
}

impl CountingStore {
    pub fn new(inner: Arc<InMemory>) -> Self {
        Self {
            inner,
            reads: Mutex::default(),
            lists: Mutex::default(),
        }
    }

    /// The paths read since the last call, without repetitions, and the number of listings.
    pub fn take(&self) -> (Vec<String>, usize) {
        let mut reads = std::mem::take(&mut *self.reads.lock().unwrap());
        reads.sort();
        reads.dedup();
        (
            reads,
            std::mem::take(&mut *self.lists.lock().unwrap()).len(),
        )
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
        self.reads.lock().unwrap().push(location.to_string());
        self.inner.get_opts(location, options).await
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        self.inner.delete_stream(locations)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.lists.lock().unwrap().push(format!("{prefix:?}"));
        self.inner.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.lists.lock().unwrap().push(format!("{prefix:?}"));
        self.inner.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.inner.copy_opts(from, to, options).await
    }
}
