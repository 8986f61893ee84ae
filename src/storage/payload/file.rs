//! A chunk file that is read by byte ranges: its size, its tail, and checked ranges.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use object_store::path::Path;
use object_store::{GetOptions, GetRange, ObjectStoreExt, coalesce_ranges};

use super::ChunkRequest;
use crate::error::{GraphArError, Result};
use crate::storage::access::FileAccess;
use crate::storage::cache::FileIdentity;
use crate::storage::local::LocalFile;

/// Bytes fetched with the first request. Chunk files are often smaller, and then need no other.
const TAIL: u64 = 64 * 1024;

/// What the file should be, for the message about a missing one.
const EXPECTED: &str = "a chunk file, by the counts";

/// Ranges of one file that lie this near to each other are fetched together.
const COALESCE: u64 = 16 * 1024;

/// An opened file. Cheap to share; keeps the last bytes, in which the footers stand, unless what
/// they say was remembered. All reads are of one state of the file.
#[derive(Debug)]
pub(super) struct ChunkFile {
    access: FileAccess,
    path: Path,
    state: FileState,
    /// The file itself, if it is one of the local file system and still open.
    local: Option<Arc<LocalFile>>,
}

/// A state of a file, and its last bytes.
#[derive(Debug, Clone)]
pub(super) struct FileState {
    pub(super) identity: FileIdentity,
    pub(super) tail: Bytes,
}

impl FileState {
    /// The same with the tail if that is the whole file; worth keeping, as nothing has to be
    /// asked of the store then.
    pub(super) fn to_keep(&self) -> Self {
        let whole = self.tail.len() as u64 == self.identity.size;
        let tail = if whole {
            self.tail.clone()
        } else {
            Bytes::new()
        };
        Self {
            identity: self.identity.clone(),
            tail,
        }
    }
}

impl ChunkFile {
    /// Learns the size and the tail in one request, where the store can do that.
    pub(super) async fn open(request: &ChunkRequest) -> Result<Self> {
        let (access, path) = (request.access.clone(), request.path.clone());
        let failed = |e| GraphArError::store(request.name(), EXPECTED, e);
        let options = GetOptions {
            range: Some(GetRange::Suffix(TAIL)),
            ..GetOptions::default()
        };
        access.meter.request(path.as_ref(), 0)?;
        let mut local = None;
        let (meta, tail) = match access.store.get_opts(&path, options).await {
            Ok(found) => {
                let (meta, range) = (found.meta.clone(), found.range.clone());
                let tail = match LocalFile::take(found) {
                    Ok(file) => {
                        let tail = file.read(range).await;
                        access.keep_open(&path, &file);
                        local = Some(file);
                        tail
                    }
                    Err(found) => found.bytes().await,
                };
                (meta, tail.map_err(failed)?)
            }
            // Azure has no ranges that count from the end.
            Err(object_store::Error::NotSupported { .. }) => {
                let meta = access.head(&path).await?;
                let tail = match meta.size {
                    0 => Bytes::new(),
                    size => access
                        .store
                        .get_range(&path, size.saturating_sub(TAIL)..size)
                        .await
                        .map_err(failed)?,
                };
                (meta, tail)
            }
            Err(error) => return Err(failed(error)),
        };
        access.meter.bytes_read(path.as_ref(), tail.len() as u64)?;
        if tail.len() as u64 != meta.size.min(TAIL) {
            let found = format!("{} of {} bytes", tail.len(), meta.size);
            return Err(GraphArError::corrupt(
                request.name(),
                "last bytes",
                "all of them",
                found,
            ));
        }
        Ok(Self {
            access,
            path,
            state: FileState {
                identity: FileIdentity::from(&meta),
                tail,
            },
            local,
        })
    }

    /// A file whose state is known.
    pub(super) fn known(access: &FileAccess, path: &Path, state: FileState) -> Self {
        Self {
            access: access.clone(),
            path: path.clone(),
            local: access.still_open(path, &state.identity),
            state,
        }
    }

    /// The state of the file that is read.
    pub(super) fn state(&self) -> &FileState {
        &self.state
    }

    /// Gets the bytes from `begin` into memory, too.
    pub(super) async fn extend_tail(&mut self, begin: u64) -> Result<()> {
        let first = self.size() - self.state.tail.len() as u64;
        if begin < first {
            let before = self.range(begin..first).await?;
            self.state.tail = [before, self.state.tail.clone()].concat().into();
        }
        Ok(())
    }

    /// Size of the file in bytes.
    pub(super) fn size(&self) -> u64 {
        self.state.identity.size
    }

    /// How many of the last bytes are in memory.
    pub(super) fn tail_len(&self) -> usize {
        self.state.tail.len()
    }

    /// The bytes of a range; an error if the file does not have them all.
    pub(super) async fn range(&self, range: Range<u64>) -> Result<Bytes> {
        if let Some(bytes) = self.in_memory(&range)? {
            return Ok(bytes);
        }
        let bytes = self.fetch(range.clone()).await?;
        self.complete(&range, bytes)
    }

    /// The bytes of several ranges, in their order. Near ones are fetched together, and some at
    /// the same time.
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
        let fetched = coalesce_ranges(&wanted, |range| self.fetch(range), COALESCE).await?;
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

    /// Asks the store, for the state of the file that was opened and no other.
    async fn fetch(&self, range: Range<u64>) -> Result<Bytes> {
        let length = range.end - range.start;
        self.access.meter.request(self.path.as_ref(), length)?;
        let failed = |e| GraphArError::store(self.path.to_string(), EXPECTED, e);
        if let Some(local) = &self.local {
            return local.read(range).await.map_err(failed);
        }
        let options = GetOptions {
            range: Some(GetRange::Bounded(range)),
            if_match: self.state.identity.e_tag.clone(),
            ..GetOptions::default()
        };
        let found = self.access.store.get_opts(&self.path, options).await;
        found.map_err(failed)?.bytes().await.map_err(failed)
    }

    /// The range, if it is in the tail. Ranges come out of footers that may be damaged, so this
    /// is where those outside the file are found, before anything is allocated for them.
    fn in_memory(&self, range: &Range<u64>) -> Result<Option<Bytes>> {
        if range.start > range.end || range.end > self.size() {
            return Err(self.short(format!("bytes {} to {} asked for", range.start, range.end)));
        }
        let first = self.size() - self.state.tail.len() as u64;
        let offset = |at: u64| {
            at.checked_sub(first)
                .and_then(|at| usize::try_from(at).ok())
        };
        Ok(
            match (range.is_empty(), offset(range.start), offset(range.end)) {
                (true, ..) => Some(Bytes::new()),
                (false, Some(start), Some(end)) => Some(self.state.tail.slice(start..end)),
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
        let expected = format!("bytes 0 to {}", self.size());
        GraphArError::corrupt(self.path.to_string(), "file", expected, found)
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
        if self.at == self.file.size() {
            return Ok(None);
        }
        let end = self
            .file
            .size()
            .min(self.at.saturating_add(BLOCK.max(least as u64)));
        let bytes = self.file.range(self.at..end).await?;
        self.at = end;
        Ok(Some(bytes))
    }
}
