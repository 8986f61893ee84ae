//! Chunk files on their way to the store: encoded and written several at a time.

use std::sync::Arc;

use bytes::Bytes;
use datafusion::arrow::array::RecordBatch;
use datafusion::common::runtime::{JoinSet, SpawnedTask};

use super::output::Output;
use super::payload::{EncodeOptions, encode};
use super::progress::WriteProgress;
use crate::error::{GraphArError, Result};
use crate::format::FileType;

/// Fewer values than this are encoded at once where they are: handing them to another thread costs as much.
const INLINE_VALUES: usize = 16 * 1024;

/// Encodes chunks beside each other, and writes their files.
///
/// At most `parallel` chunks are in memory beside the caller's rows. Dropping this stops them; what was
/// written stays.
pub(super) struct ChunkFiles {
    output: Arc<Output>,
    options: EncodeOptions,
    parallel: usize,
    running: JoinSet<Result<u64>>,
    progress: Arc<WriteProgress>,
    bytes: u64,
    files: u64,
}

impl ChunkFiles {
    pub(super) fn new(output: Arc<Output>, options: EncodeOptions, parallel: usize) -> Self {
        Self {
            output,
            options,
            parallel: parallel.max(1),
            running: JoinSet::new(),
            progress: Arc::default(),
            bytes: 0,
            files: 0,
        }
    }

    /// Tells of every file that is written.
    pub(super) fn with_progress(mut self, progress: Arc<WriteProgress>) -> Self {
        self.progress = progress;
        self
    }

    /// Where files are told of.
    pub(super) fn progress(&self) -> &WriteProgress {
        &self.progress
    }

    /// The file `name` with the rows that `rows` makes; `values` is about how many they have.
    ///
    /// # Errors
    /// If this or an earlier file cannot be made, encoded or written.
    pub(super) async fn write(
        &mut self,
        file_type: FileType,
        name: String,
        values: usize,
        rows: impl FnOnce() -> Result<RecordBatch> + Send + 'static,
    ) -> Result<()> {
        self.files += 1;
        let options = self.options.clone();
        let path = name.clone();
        let make = move || encode(file_type, &path, &rows()?, &options);
        if values < INLINE_VALUES || self.parallel == 1 {
            self.bytes += put(&self.output, &name, make()?, &self.progress).await?;
            return Ok(());
        }
        while self.running.len() >= self.parallel {
            self.next().await?;
        }
        let output = Arc::clone(&self.output);
        let progress = Arc::clone(&self.progress);
        self.running.spawn(async move {
            let made = SpawnedTask::spawn_blocking(make).join_unwind().await;
            let bytes = made.map_err(|e| GraphArError::payload(&name, e))??;
            put(&output, &name, bytes, &progress).await
        });
        Ok(())
    }

    async fn next(&mut self) -> Result<bool> {
        match self.running.join_next().await {
            Some(written) => {
                self.bytes += written.map_err(|e| GraphArError::payload("chunk files", e))??;
                Ok(true)
            }
            None => Ok(false),
        }
    }

    /// Waits until no chunk is in memory.
    ///
    /// # Errors
    /// If a file cannot be made, encoded or written.
    pub(super) async fn drain(&mut self) -> Result<()> {
        while self.next().await? {}
        Ok(())
    }

    /// Waits for the last file. Gives the number of files, and their bytes.
    pub(super) async fn finish(mut self) -> Result<(u64, u64)> {
        self.drain().await?;
        Ok((self.files, self.bytes))
    }
}

async fn put(output: &Output, name: &str, bytes: Bytes, progress: &WriteProgress) -> Result<u64> {
    let length = bytes.len() as u64;
    output.put(name, bytes).await?;
    progress.wrote(length);
    Ok(length)
}
