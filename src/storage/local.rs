//! Files of the local file system, kept open.
//!
//! A look-up reads a few kilobytes, mostly from the page cache, which takes a microsecond or two. Opening the
//! file anew and handing the read to another thread takes ten times as long. So a file stays open, and a
//! short read is tried in place: the kernel is asked for what it has in memory, and only if it would
//! have to wait for the disk does the read go to a thread for blocking work.

#[cfg(unix)]
mod unix {
    use std::fs::{self, File, Metadata};
    use std::ops::Range;
    use std::os::unix::fs::{FileExt, MetadataExt};
    use std::path::PathBuf;
    use std::sync::Arc;

    use bytes::Bytes;
    use datafusion::common::runtime::SpawnedTask;
    use object_store::{Error, GetResult, GetResultPayload, Result};

    use crate::storage::cache::FileIdentity;

    /// Longer reads are not tried in place: copying them takes a while, too.
    const IN_PLACE: usize = 256 * 1024;

    /// A file kept open, in the state in which it was opened.
    #[derive(Debug)]
    pub struct LocalFile {
        file: File,
        path: PathBuf,
        identity: FileIdentity,
        stamp: Stamp,
    }

    /// Tells states of a file apart.
    #[derive(Debug, PartialEq, Eq)]
    struct Stamp {
        device: u64,
        inode: u64,
        size: u64,
        modified: (i64, i64),
    }

    impl From<&Metadata> for Stamp {
        fn from(meta: &Metadata) -> Self {
            Self {
                device: meta.dev(),
                inode: meta.ino(),
                size: meta.size(),
                modified: (meta.mtime(), meta.mtime_nsec()),
            }
        }
    }

    impl LocalFile {
        /// Keeps the file of a result open, if it is one of the local file system; gives the result
        /// back otherwise.
        #[allow(clippy::result_large_err)] // It is the argument, given back.
        pub fn take(found: GetResult) -> Result<Arc<Self>, GetResult> {
            let identity = FileIdentity::from(&found.meta);
            match found.payload {
                GetResultPayload::File(file, path) => match file.metadata() {
                    Ok(meta) => Ok(Arc::new(Self {
                        stamp: Stamp::from(&meta),
                        file,
                        path,
                        identity,
                    })),
                    Err(_) => Err(GetResult {
                        payload: GetResultPayload::File(file, path),
                        ..found
                    }),
                },
                payload => Err(GetResult { payload, ..found }),
            }
        }

        /// The state in which it was opened.
        pub fn identity(&self) -> &FileIdentity {
            &self.identity
        }

        /// Whether the path still leads to this state of the file.
        pub fn is_current(&self) -> bool {
            fs::metadata(&self.path).is_ok_and(|meta| Stamp::from(&meta) == self.stamp)
        }

        /// The bytes of a range, fewer where the file ends.
        ///
        /// # Errors
        /// If the file was changed since it was opened, or cannot be read.
        pub async fn read(self: &Arc<Self>, range: Range<u64>) -> Result<Bytes> {
            let length = usize::try_from(range.end - range.start).unwrap_or(usize::MAX);
            if length <= IN_PLACE
                && let Some(bytes) = self.read_in_place(range.start, length)
            {
                self.check()?;
                return Ok(bytes);
            }
            let this = Arc::clone(self);
            let read = SpawnedTask::spawn_blocking(move || {
                let length = length.min(usize::try_from(this.stamp.size).unwrap_or(usize::MAX));
                let mut bytes = vec![0; length];
                this.file.read_exact_at(&mut bytes, range.start)?;
                Ok(Bytes::from(bytes))
            });
            let bytes = match read.join_unwind().await {
                Ok(bytes) => bytes.map_err(|e: std::io::Error| self.failed(e))?,
                Err(error) => return Err(self.failed(error)),
            };
            self.check()?;
            Ok(bytes)
        }

        /// What the kernel has in memory, if that is all of it.
        #[cfg(target_os = "linux")]
        fn read_in_place(&self, offset: u64, length: usize) -> Option<Bytes> {
            use std::io::IoSliceMut;

            use rustix::io::{ReadWriteFlags, preadv2};
            let mut bytes = vec![0; length];
            let mut buffers = [IoSliceMut::new(&mut bytes)];
            let read = preadv2(&self.file, &mut buffers, offset, ReadWriteFlags::NOWAIT);
            (read == Ok(length)).then(|| bytes.into())
        }

        /// Other systems cannot be asked for what they have in memory.
        #[cfg(not(target_os = "linux"))]
        fn read_in_place(&self, _offset: u64, _length: usize) -> Option<Bytes> {
            None
        }

        /// Fails if the open file was written to: what was read may be of two states.
        fn check(&self) -> Result<()> {
            let meta = self.file.metadata().map_err(|e| self.failed(e))?;
            if Stamp::from(&meta) == self.stamp {
                return Ok(());
            }
            Err(Error::Precondition {
                path: self.path.display().to_string(),
                source: "the file was changed".into(),
            })
        }

        fn failed(&self, error: impl std::error::Error + Send + Sync + 'static) -> Error {
            Error::Generic {
                store: "LocalFileSystem",
                source: format!("{}: {error}", self.path.display()).into(),
            }
        }
    }
}

#[cfg(not(unix))]
mod elsewhere {
    use std::ops::Range;
    use std::sync::Arc;

    use bytes::Bytes;
    use object_store::{GetResult, Result};

    use crate::storage::cache::FileIdentity;

    /// Files of other systems are read through their store.
    #[derive(Debug)]
    pub enum LocalFile {}

    impl LocalFile {
        /// Gives the result back.
        #[allow(clippy::result_large_err)]
        pub fn take(found: GetResult) -> Result<Arc<Self>, GetResult> {
            Err(found)
        }

        /// There is none.
        pub fn identity(&self) -> &FileIdentity {
            match *self {}
        }

        /// There is none.
        pub fn is_current(&self) -> bool {
            match *self {}
        }

        /// There is none.
        pub async fn read(self: &Arc<Self>, _range: Range<u64>) -> Result<Bytes> {
            match **self {}
        }
    }
}

#[cfg(not(unix))]
pub(super) use elsewhere::LocalFile;
#[cfg(unix)]
pub(super) use unix::LocalFile;

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::Arc;

    use object_store::local::LocalFileSystem;
    use object_store::path::Path;
    use object_store::{Error, ObjectStoreExt};

    use super::LocalFile;

    async fn open(folder: &tempfile::TempDir) -> Arc<LocalFile> {
        let store = LocalFileSystem::new_with_prefix(folder.path()).unwrap();
        LocalFile::take(store.get(&Path::from("f")).await.unwrap()).unwrap()
    }

    #[tokio::test]
    async fn short_and_long_ranges_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let bytes: Vec<u8> = (0..700_000_u32).map(|i| i.to_le_bytes()[1]).collect();
        fs::write(folder.path().join("f"), &bytes).unwrap();
        let file = open(&folder).await;
        assert!(file.is_current());
        for (begin, end) in [(0, 10), (1000, 5000), (3, 650_000)] {
            let read = file.read(begin..end).await.unwrap();
            let (begin, end) = (
                usize::try_from(begin).unwrap(),
                usize::try_from(end).unwrap(),
            );
            assert_eq!(read, bytes[begin..end]);
        }
        assert!(file.read(699_990..700_010).await.is_err());
    }

    #[tokio::test]
    async fn a_file_that_was_replaced_or_written_to_is_not_current() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        fs::write(&path, b"old state").unwrap();
        let old = open(&folder).await;
        fs::write(folder.path().join("g"), b"new state").unwrap();
        fs::rename(folder.path().join("g"), &path).unwrap();
        assert!(!old.is_current());
        // The old state is still there to be read, and is all of one piece.
        assert_eq!(old.read(0..9).await.unwrap(), "old state");

        let new = open(&folder).await;
        fs::write(&path, b"longer than before").unwrap();
        assert!(!new.is_current());
        let error = new.read(0..9).await.unwrap_err();
        assert!(matches!(error, Error::Precondition { .. }), "{error}");
        fs::remove_file(&path).unwrap();
        assert!(!new.is_current());
    }
}
