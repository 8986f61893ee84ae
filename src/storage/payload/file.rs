//! A chunk file that is read by byte ranges: its size, its tail, and checked ranges.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use object_store::path::Path;
use object_store::{GetOptions, GetRange, ObjectStore, ObjectStoreExt};

use super::ChunkRequest;
use crate::error::{GraphArError, Result};

/// Bytes fetched with the first request. Chunk files are often smaller, and then need no other.
const TAIL: u64 = 64 * 1024;

/// What the file should be, for the message about a missing one.
const EXPECTED: &str = "a chunk file, by the counts";

/// An opened file. Cheap to share; keeps the last bytes, in which the footers stand.
#[derive(Debug)]
pub(super) struct ChunkFile {
    store: Arc<dyn ObjectStore>,
    path: Path,
    size: u64,
    tail: Bytes,
}

impl ChunkFile {
    /// Learns the size and the tail in one request, where the store can do that.
    pub(super) async fn open(request: &ChunkRequest) -> Result<Self> {
        let (store, path) = (Arc::clone(&request.store), request.path.clone());
        let failed = |e| GraphArError::store(request.name(), EXPECTED, e);
        let options = GetOptions {
            range: Some(GetRange::Suffix(TAIL)),
            ..GetOptions::default()
        };
        let (size, tail) = match store.get_opts(&path, options).await {
            Ok(found) => (found.meta.size, found.bytes().await.map_err(failed)?),
            // Azure has no ranges that count from the end.
            Err(object_store::Error::NotSupported { .. }) => {
                let size = store.head(&path).await.map_err(failed)?.size;
                let tail = match size {
                    0 => Bytes::new(),
                    _ => store
                        .get_range(&path, size.saturating_sub(TAIL)..size)
                        .await
                        .map_err(failed)?,
                };
                (size, tail)
            }
            Err(error) => return Err(failed(error)),
        };
        if tail.len() as u64 != size.min(TAIL) {
            let found = format!("{} of {size} bytes", tail.len());
            return Err(GraphArError::corrupt(
                request.name(),
                "last bytes",
                "all of them",
                found,
            ));
        }
        Ok(Self {
            store,
            path,
            size,
            tail,
        })
    }

    /// Size of the file in bytes.
    pub(super) fn size(&self) -> u64 {
        self.size
    }

    /// How many of the last bytes are in memory.
    pub(super) fn tail_len(&self) -> usize {
        self.tail.len()
    }

    /// The bytes of a range; an error if the file does not have them all.
    pub(super) async fn range(&self, range: Range<u64>) -> Result<Bytes> {
        if let Some(bytes) = self.in_memory(&range)? {
            return Ok(bytes);
        }
        let bytes = self
            .store
            .get_range(&self.path, range.clone())
            .await
            .map_err(|e| self.failed(e))?;
        self.complete(&range, bytes)
    }

    /// The bytes of several ranges, in their order.
    pub(super) async fn ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        let known = ranges
            .iter()
            .map(|range| self.in_memory(range))
            .collect::<Result<Vec<_>>>()?;
        let wanted: Vec<_> = ranges
            .iter()
            .zip(&known)
            .filter(|(_, known)| known.is_none())
            .map(|(range, _)| range.clone())
            .collect();
        if wanted.is_empty() {
            return Ok(known.into_iter().flatten().collect());
        }
        let fetched = self
            .store
            .get_ranges(&self.path, &wanted)
            .await
            .map_err(|e| self.failed(e))?;
        let mut fetched = wanted.iter().zip(fetched);
        known
            .into_iter()
            .map(|known| match (known, ()) {
                (Some(bytes), ()) => Ok(bytes),
                (None, ()) => match fetched.next() {
                    Some((range, bytes)) => self.complete(range, bytes),
                    None => Err(self.short("fewer ranges than asked for")),
                },
            })
            .collect()
    }

    /// The range, if it is in the tail. Ranges come out of footers that may be damaged, so this
    /// is where those outside the file are found, before anything is allocated for them.
    fn in_memory(&self, range: &Range<u64>) -> Result<Option<Bytes>> {
        if range.start > range.end || range.end > self.size {
            return Err(self.short(format!("bytes {} to {} asked for", range.start, range.end)));
        }
        let first = self.size - self.tail.len() as u64;
        let offset = |at: u64| {
            at.checked_sub(first)
                .and_then(|at| usize::try_from(at).ok())
        };
        Ok(
            match (range.is_empty(), offset(range.start), offset(range.end)) {
                (true, ..) => Some(Bytes::new()),
                (false, Some(start), Some(end)) => Some(self.tail.slice(start..end)),
                _ => None,
            },
        )
    }

    fn complete(&self, range: &Range<u64>, bytes: Bytes) -> Result<Bytes> {
        if bytes.len() as u64 == range.end - range.start {
            Ok(bytes)
        } else {
            Err(self.short(format!("{} bytes from {}", bytes.len(), range.start)))
        }
    }

    fn short(&self, found: impl Into<String>) -> GraphArError {
        let expected = format!("bytes 0 to {}", self.size);
        GraphArError::corrupt(self.path.to_string(), "file", expected, found)
    }

    fn failed(&self, error: object_store::Error) -> GraphArError {
        GraphArError::store(self.path.to_string(), EXPECTED, error)
    }
}

/// Bytes of the blocks in which text is read.
const BLOCK: u64 = 4 * 1024 * 1024;

/// A file read from its first byte to its last.
#[derive(Debug)]
pub(super) struct Blocks {
    file: ChunkFile,
    at: u64,
}

impl Blocks {
    /// Starts at the first byte.
    pub(super) fn new(file: ChunkFile) -> Self {
        Self { file, at: 0 }
    }

    /// The next bytes, at least `least` of them unless the file ends; `None` at its end.
    pub(super) async fn next(&mut self, least: usize) -> Result<Option<Bytes>> {
        if self.at == self.file.size {
            return Ok(None);
        }
        let end = self
            .file
            .size
            .min(self.at.saturating_add(BLOCK.max(least as u64)));
        let bytes = self.file.range(self.at..end).await?;
        self.at = end;
        Ok(Some(bytes))
    }
}
