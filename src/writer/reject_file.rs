//! The file of rows that were left out.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use datafusion::arrow::array::{Array, RecordBatch};
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion::error::Result as DataFusionResult;
use datafusion::execution::memory_pool::MemoryReservation;
use object_store::ObjectStoreExt;
use object_store::buffered::BufWriter;
use tokio::io::AsyncWrite;

use super::rejects::Reason;
use crate::error::{GraphArError, Result};
use crate::storage::Location;

/// Bytes of a part of an upload. No store takes smaller ones, but for the last.
const PART: usize = 5 << 20;

/// Rows whose text is made at once.
const ROWS: usize = 128;

/// Rows as CSV, streamed to a store, which shows nothing of them before it is finished.
pub(super) struct RejectFile {
    location: Location,
    /// None as long as there is no row. Uploads cannot be shared, as a writer has to be; nobody waits for the lock,
    /// since all access is exclusive.
    upload: Mutex<Option<BufWriter>>,
    memory: MemoryReservation,
    bytes: usize,
    finished: bool,
}

impl RejectFile {
    /// A file that is not begun. What waits to be sent is charged to `memory`.
    pub(super) fn new(location: Location, memory: MemoryReservation) -> Self {
        Self {
            location,
            upload: Mutex::new(None),
            memory,
            bytes: 0,
            finished: false,
        }
    }

    /// Where the file goes.
    pub(super) fn location(&self) -> &Location {
        &self.location
    }

    /// Whether there are rows.
    pub(super) fn is_begun(&self) -> bool {
        self.bytes > 0
    }

    /// Adds rows of a batch, each with its reason, and of its columns the first `shown`. `first` is the number of
    /// the batch's first row.
    pub(super) async fn write(
        &mut self,
        batch: &RecordBatch,
        shown: usize,
        first: u64,
        rows: &BTreeMap<usize, (Reason, String)>,
    ) -> DataFusionResult<()> {
        if rows.is_empty() {
            return Ok(());
        }
        if !self.is_begun() {
            let store = Arc::clone(self.location.store());
            let upload = BufWriter::with_capacity(store, self.location.object_path()?, PART);
            *self.upload() = Some(upload.with_max_concurrency(1));
            self.put(header(batch, shown)).await?;
        }
        let numbers: Vec<usize> = rows.keys().copied().collect();
        for numbers in numbers.chunks(ROWS) {
            let text = lines(batch, shown, first, numbers, rows)?;
            self.put(text).await?;
        }
        Ok(())
    }

    async fn put(&mut self, text: String) -> DataFusionResult<()> {
        // One part on its way and one that fills.
        let waiting = self.bytes.min(2 * PART);
        self.memory.try_resize(waiting + text.capacity())?;
        self.bytes = self.bytes.saturating_add(text.len());
        if let Some(upload) = self.upload() {
            let sent = upload.put(Bytes::from(text)).await;
            sent.map_err(|e| store_error(&self.location, e))?;
        }
        Ok(())
    }

    fn upload(&mut self) -> &mut Option<BufWriter> {
        let upload = self.upload.get_mut();
        upload.unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes the file visible.
    async fn finish(&mut self) -> Result<()> {
        if let Some(mut upload) = self.upload().take() {
            let done = poll_fn(|context| Pin::new(&mut upload).poll_shutdown(context)).await;
            done.map_err(|e| GraphArError::payload(self.location.to_string(), e))?;
            self.finished = true;
        }
        self.memory.free();
        Ok(())
    }
}

/// Makes all of these files visible.
pub(super) async fn finish_all(files: &mut [RejectFile]) -> Result<()> {
    for file in files {
        file.finish().await?;
    }
    Ok(())
}

/// Removes those of the files that are visible.
pub(super) async fn remove_all(files: &[RejectFile]) {
    for file in files.iter().filter(|file| file.finished) {
        if let Ok(path) = file.location.object_path() {
            // The error that keeps the graph as it was says more than one of this.
            let _ = file.location.store().delete(&path).await;
        }
    }
}

fn store_error(location: &Location, error: object_store::Error) -> GraphArError {
    GraphArError::store(
        location.to_string(),
        "a store that can be written to",
        error,
    )
}

fn header(batch: &RecordBatch, shown: usize) -> String {
    let mut line = "row,reason".to_owned();
    for field in batch.schema_ref().fields().iter().take(shown) {
        line.push(',');
        push_field(&mut line, field.name());
    }
    line.push('\n');
    line
}

fn lines(
    batch: &RecordBatch,
    shown: usize,
    first: u64,
    numbers: &[usize],
    reasons: &BTreeMap<usize, (Reason, String)>,
) -> Result<String> {
    let fail = |e| GraphArError::payload("rows that are left out", e);
    let options = FormatOptions::new().with_null("NULL");
    let columns = batch.columns().iter().take(shown);
    let formatters = columns.map(|column| ArrayFormatter::try_new(column.as_ref(), &options));
    let formatters = formatters.collect::<Result<Vec<_>, _>>().map_err(fail)?;
    let mut text = String::new();
    for row in numbers {
        text.push_str(&(first + *row as u64).to_string());
        text.push(',');
        if let Some((_, reason)) = reasons.get(row) {
            push_field(&mut text, reason);
        }
        for (column, formatter) in batch.columns().iter().zip(&formatters) {
            text.push(',');
            if column.is_valid(*row) {
                let value = formatter.value(*row).try_to_string().map_err(fail)?;
                push_field(&mut text, &value);
            }
        }
        text.push('\n');
    }
    Ok(text)
}

/// A value, in quotes where others would read it as something else. An empty text is not nothing, which is null.
fn push_field(line: &mut String, value: &str) {
    let plain =
        !value.is_empty() && value == value.trim() && !value.contains([',', '"', '\n', '\r']);
    if plain {
        line.push_str(value);
        return;
    }
    line.push('"');
    line.push_str(&value.replace('"', "\"\""));
    line.push('"');
}
