//! Walks the chunks of a range of rows and reads their files in step.

use std::ops::Range;
use std::sync::Arc;

use datafusion::arrow::record_batch::RecordBatch;
use datafusion::common::internal_err;
use datafusion::error::Result;
use datafusion::physical_plan::metrics::Count;
use futures::future::try_join_all;
use futures::stream::{self, BoxStream};
use futures::{StreamExt, TryStreamExt};
use object_store::ObjectStore;
use object_store::path::Path;

use super::ScanTable;
use super::assemble::ReadPlan;
use crate::error::GraphArError;
use crate::format::ChunkSlice;
use crate::storage::payload::{ChunkRequest, ChunkStream, open_chunk};

/// Everything that reading a range of rows needs, shared by all chunks.
pub(super) struct RangeReader {
    pub table: Arc<ScanTable>,
    pub plan: ReadPlan,
    pub store: Arc<dyn ObjectStore>,
    pub batch_size: usize,
    /// Counts the payload files opened.
    pub files_opened: Count,
}

impl RangeReader {
    /// The batches of the rows `range`, in order. A chunk is opened when the one before it has
    /// been read, and nothing is opened before the first batch is asked for.
    pub fn read(self: Arc<Self>, range: Range<u64>) -> BoxStream<'static, Result<RecordBatch>> {
        let state = Walk {
            reader: self,
            range,
            open: None,
        };
        stream::try_unfold(state, |mut walk| async move {
            Ok(walk.next().await?.map(|batch| (batch, walk)))
        })
        .boxed()
    }

    async fn open(&self, slice: ChunkSlice) -> Result<OpenChunk> {
        let sets = self.plan.sets.iter().map(|(number, columns)| {
            let set = &self.table.files[*number];
            let path = set.names.path(&slice);
            let slice = &slice;
            async move {
                let path = Path::parse(&path).map_err(|e| GraphArError::payload(path, e))?;
                self.files_opened.add(1);
                open_chunk(
                    set.file_type,
                    ChunkRequest {
                        store: Arc::clone(&self.store),
                        path,
                        columns: columns.clone(),
                        declared: Arc::clone(&set.declared),
                        rows: slice.rows.clone(),
                        chunk_rows: slice.chunk_rows,
                        batch_size: self.batch_size,
                    },
                )
                .await
            }
        });
        let files = try_join_all(sets).await?;
        Ok(OpenChunk {
            left: slice.rows.end - slice.rows.start,
            files: files.into_iter().map(OpenFile::new).collect(),
            slice,
        })
    }
}

/// One file of the open chunk, and the rows that are decoded but not yet given out.
struct OpenFile {
    stream: ChunkStream,
    ready: Option<RecordBatch>,
}

impl OpenFile {
    fn new(stream: ChunkStream) -> Self {
        Self {
            stream,
            ready: None,
        }
    }
}

struct OpenChunk {
    slice: ChunkSlice,
    files: Vec<OpenFile>,
    left: u64,
}

struct Walk {
    reader: Arc<RangeReader>,
    /// Rows that are not given out yet.
    range: Range<u64>,
    open: Option<OpenChunk>,
}

impl Walk {
    async fn next(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            if let Some(chunk) = &mut self.open {
                if chunk.left > 0 {
                    return self.next_of_chunk().await.map(Some);
                }
                chunk.finish().await?;
                self.open = None;
            }
            match self.reader.table.rows.first_slice(&self.range) {
                Some(slice) => self.open = Some(self.reader.open(slice).await?),
                None => return Ok(None),
            }
        }
    }

    async fn next_of_chunk(&mut self) -> Result<RecordBatch> {
        let Some(chunk) = &mut self.open else {
            return internal_err!("no chunk is open");
        };
        let (batches, rows) = chunk.next(self.reader.batch_size).await?;
        let table = &self.reader.table;
        let first = self.range.start;
        let batch = self
            .reader
            .plan
            .assemble(table, &chunk.slice, &batches, first, rows)?;
        chunk.left -= rows as u64;
        self.range.start += rows as u64;
        Ok(batch)
    }
}

impl OpenChunk {
    /// The next rows of every file: as many as the file that is behind has ready. Files have row
    /// groups and pages of their own, so equal batch sizes alone do not keep them in step.
    async fn next(&mut self, batch_size: usize) -> Result<(Vec<RecordBatch>, usize)> {
        let fetches = self
            .files
            .iter_mut()
            .filter(|file| file.ready.is_none())
            .map(|file| async {
                file.ready = file.stream.try_next().await?;
                Ok::<_, GraphArError>(())
            });
        try_join_all(fetches).await?;
        // Without any file the rows are known from the counts alone.
        let mut rows = usize::try_from(self.left).map_or(batch_size, |left| left.min(batch_size));
        for file in &self.files {
            match &file.ready {
                Some(batch) => rows = rows.min(batch.num_rows()),
                None => return internal_err!("a chunk ended {} rows early", self.left),
            }
        }
        let batches = self.files.iter_mut().filter_map(|file| {
            let ready = file.ready.take()?;
            if ready.num_rows() > rows {
                file.ready = Some(ready.slice(rows, ready.num_rows() - rows));
                Some(ready.slice(0, rows))
            } else {
                Some(ready)
            }
        });
        Ok((batches.collect(), rows))
    }

    /// Lets every file check that nothing follows the last row.
    async fn finish(&mut self) -> Result<()> {
        for file in &mut self.files {
            if file.ready.is_some() || file.stream.try_next().await?.is_some() {
                return internal_err!("a chunk goes on after its last row");
            }
        }
        Ok(())
    }
}
