//! What holds for every payload: declared types, the right number of rows, no panics.

use std::any::Any;
use std::panic::AssertUnwindSafe;

use datafusion::arrow::array::{Array, ArrayRef, BooleanArray, BooleanBufferBuilder};
use datafusion::arrow::compute::filter;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::error::ArrowError;
use datafusion::arrow::record_batch::RecordBatch;
use futures::stream::{self, BoxStream};
use futures::{FutureExt, StreamExt, TryStreamExt};

use super::cast::conform;
use super::outline::Outline;
use super::{ChunkRequest, ChunkStream};
use crate::error::{GraphArError, Result};
use crate::format::{FileType, RowRanges};

/// Rows as a payload module decodes them: the columns of the request in its order, in
/// whatever types the file has.
#[derive(Debug, Clone)]
pub(super) struct Decoded {
    /// One array for each requested column.
    pub(super) columns: Vec<ArrayRef>,
    /// Rows of each array; there may be no array.
    pub(super) rows: usize,
}

/// What the `open` function of each payload module gives: exactly the rows of the request,
/// in batches of at most its batch size.
pub(super) type RawStream = BoxStream<'static, Result<Decoded>>;

/// See [`super::open_chunk`].
pub(super) async fn open(file_type: FileType, request: ChunkRequest) -> Result<ChunkStream> {
    let raw = AssertUnwindSafe(open_raw(file_type, &request))
        .catch_unwind()
        .await
        .unwrap_or_else(|panic| Err(decoder_panic(&request, panic.as_ref())))?;
    // Parquet skips what is not picked; of the others all rows come, and are picked here.
    let picked = request
        .picked
        .clone()
        .filter(|_| file_type != FileType::Parquet);
    let left = match &picked {
        Some(_) => request.rows.end.saturating_sub(request.rows.start),
        None => request.wanted(),
    };
    let state = State {
        raw,
        left,
        total: left,
        picked,
        given: 0,
        schema: request.schema(),
        request,
    };
    let batches = stream::try_unfold(state, |mut state| async move {
        match state.next().await {
            Ok(batch) => Ok(batch.map(|batch| (batch, state))),
            Err(error) => Err(error),
        }
    });
    Ok(batches.boxed())
}

/// See [`super::outline`].
pub(super) async fn outline(file_type: FileType, request: ChunkRequest) -> Result<Outline> {
    AssertUnwindSafe(outline_raw(file_type, &request))
        .catch_unwind()
        .await
        .unwrap_or_else(|panic| Err(decoder_panic(&request, panic.as_ref())))
}

async fn outline_raw(file_type: FileType, request: &ChunkRequest) -> Result<Outline> {
    match file_type {
        FileType::Parquet => super::parquet::outline(request).await,
        FileType::Csv => super::csv::outline(request).await,
        FileType::Json => super::json::outline(request).await,
        FileType::Arrow => super::ipc::outline(request).await,
        #[cfg(feature = "orc")]
        FileType::Orc => super::orc::outline(request).await,
        #[cfg(not(feature = "orc"))]
        FileType::Orc => Err(no_orc(request)),
    }
}

async fn open_raw(file_type: FileType, request: &ChunkRequest) -> Result<RawStream> {
    match file_type {
        FileType::Parquet => super::parquet::open(request).await,
        FileType::Csv => super::csv::open(request).await,
        FileType::Json => super::json::open(request).await,
        FileType::Arrow => super::ipc::open(request).await,
        #[cfg(feature = "orc")]
        FileType::Orc => super::orc::open(request).await,
        #[cfg(not(feature = "orc"))]
        FileType::Orc => Err(no_orc(request)),
    }
}

#[cfg(not(feature = "orc"))]
fn no_orc(request: &ChunkRequest) -> GraphArError {
    GraphArError::Unsupported {
        path: request.name(),
        feature: "file type orc".to_owned(),
        hint: ": build with feature `orc`".to_owned(),
    }
}

struct State {
    raw: RawStream,
    request: ChunkRequest,
    schema: SchemaRef,
    /// Rows that the decoder gives in all, and those still to come.
    total: u64,
    left: u64,
    /// Which rows of the file to keep of those that the decoder gives, unless all.
    picked: Option<RowRanges>,
    /// Rows given out.
    given: u64,
}

impl State {
    async fn next(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            let next = AssertUnwindSafe(self.raw.try_next())
                .catch_unwind()
                .await
                .unwrap_or_else(|panic| Err(decoder_panic(&self.request, panic.as_ref())))?;
            let Some(decoded) = next else {
                return if self.left == 0 {
                    Ok(None)
                } else {
                    Err(self.wrong_rows("the file ends", self.left))
                };
            };
            let rows = decoded.rows as u64;
            if rows > self.left {
                return Err(self.wrong_rows("more rows", rows - self.left));
            }
            let first = self.request.rows.start + (self.total - self.left);
            self.left -= rows;
            let decoded = match &self.picked {
                None => decoded,
                Some(picked) => self.pick(&decoded, first, picked)?,
            };
            if decoded.rows > 0 {
                let first = self.given;
                self.given += decoded.rows as u64;
                return conform(&self.request, &self.schema, decoded, first).map(Some);
            }
        }
    }

    /// The picked rows of a batch whose first row is row `first` of the file.
    fn pick(&self, decoded: &Decoded, first: u64, picked: &RowRanges) -> Result<Decoded> {
        let inside = picked.within(&(first..first + decoded.rows as u64));
        // Inside the batch, whose length is a `usize`.
        let at = |row: u64| usize::try_from(row - first).unwrap_or(0);
        let rows = at(first + inside.count());
        if rows == decoded.rows || rows == 0 {
            let columns = if rows == 0 {
                vec![]
            } else {
                decoded.columns.clone()
            };
            return Ok(Decoded { columns, rows });
        }
        let columns = decoded.columns.iter();
        if let [range] = inside.ranges() {
            let begin = at(range.start);
            let columns = columns.map(|column| column.slice(begin, rows)).collect();
            return Ok(Decoded { columns, rows });
        }
        let mut mask = BooleanBufferBuilder::new(decoded.rows);
        for range in inside.ranges() {
            mask.append_n(at(range.start) - mask.len(), false);
            mask.append_n(at(range.end) - mask.len(), true);
        }
        mask.append_n(decoded.rows - mask.len(), false);
        let mask = BooleanArray::new(mask.finish(), None);
        let columns = columns.map(|column| filter(column, &mask)).collect();
        let columns: Result<_, ArrowError> = columns;
        let columns = columns.map_err(|e| GraphArError::payload(self.request.name(), e))?;
        Ok(Decoded { columns, rows })
    }

    fn wrong_rows(&self, what: &str, by: u64) -> GraphArError {
        let rows = &self.request.rows;
        GraphArError::corrupt(
            self.request.name(),
            "rows",
            format!(
                "rows {} to {} of {}",
                rows.start, rows.end, self.request.chunk_rows
            ),
            format!("{what}, {by} rows off"),
        )
    }
}

/// The error for a file whose number of rows is not what the counts say.
pub(super) fn row_count_error(request: &ChunkRequest, found: impl Into<String>) -> GraphArError {
    GraphArError::corrupt(
        request.name(),
        "number of rows",
        format!("{} by the count files", request.chunk_rows),
        found,
    )
}

/// Decoders are third-party code that a damaged file can drive into a panic.
fn decoder_panic(request: &ChunkRequest, panic: &(dyn Any + Send)) -> GraphArError {
    let text = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("a panic");
    GraphArError::corrupt(request.name(), "payload", "data that can be decoded", text)
}
