//! Reads selected rows of one chunk from the files of several sets, in step.

use std::collections::VecDeque;
use std::iter::repeat_n;
use std::mem::replace;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, Int64Array};
use datafusion::arrow::compute::concat;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::common::internal_err;
use datafusion::error::Result;
use futures::future::try_join_all;
use futures::stream::{self, BoxStream};
use futures::{StreamExt, TryStreamExt};
use object_store::path::Path;

use super::ScanTable;
use super::assemble::{AlignedIds, ReadPlan, Rows};
use super::label_sets::LabelSets;
use super::reader::RangeReader;
use super::selection::{Lookup, Piece};
use crate::error::{GraphArError, Result as GraphArResult};
use crate::format::RowRanges;
use crate::storage::payload::{
    ChunkRequest, ChunkStream, ColumnSource, IdColumn, ParquetFile, TrueRows, open_chunk,
};

/// Ids are read page by page where fewer than one row in this many is wanted: then pages are
/// worth keeping. Where more is wanted they are decoded in one go.
const SPARSE: u64 = 4;

/// A chunk whose rows are read, in one or several goes.
pub(super) struct Chunk {
    pub piece: Piece,
    /// For each file set whether its file was opened, and the file if it is Parquet and will be
    /// opened again.
    files: Vec<(bool, Option<Arc<ParquetFile>>)>,
    /// The rows of labels by their columns; `None` where they have to be decoded.
    labels: Vec<(usize, Option<Arc<RowRanges>>)>,
}

impl Chunk {
    pub fn new(table: &ScanTable, piece: Piece) -> Self {
        Self {
            piece,
            files: vec![(false, None); table.files.len()],
            labels: vec![],
        }
    }

    /// The rows of the chunk that fulfil a condition on labels; `None` if the labels have to be decoded.
    pub async fn labelled(
        &mut self,
        reader: &RangeReader,
        sets: &LabelSets,
    ) -> Result<Option<RowRanges>> {
        for column in sets.labels() {
            if self.labels.iter().any(|(known, _)| *known == column) {
                continue;
            }
            let rows = self.rows_of_label(reader, column).await?;
            self.labels.push((column, rows));
        }
        let labels = &self.labels;
        let of = |column: usize| {
            let found = labels.iter().find(|(known, _)| *known == column)?;
            found.1.as_ref().map(Arc::clone)
        };
        Ok(sets.rows(&of, self.piece.slice.chunk_rows))
    }

    async fn rows_of_label(
        &mut self,
        reader: &RangeReader,
        column: usize,
    ) -> Result<Option<Arc<RowRanges>>> {
        let Some((set, label)) = reader.table.label_column(column) else {
            return Ok(None);
        };
        if self.parquet(reader, set).await?.is_none() {
            return Ok(None);
        }
        let request = ChunkRequest {
            columns: vec![label.clone()],
            ..self.request(reader, set, &self.piece.rows)?
        };
        let found = TrueRows::read(&request).await?;
        Ok(found.map(|found| {
            reader.metrics.label_runs.add(found.runs);
            Arc::new(found.rows)
        }))
    }

    /// The Parquet file of a set, with its statistics; `None` if it is none.
    pub async fn parquet(
        &mut self,
        reader: &RangeReader,
        set: usize,
    ) -> Result<Option<&Arc<ParquetFile>>> {
        if !reader.table.is_parquet(set) {
            return Ok(None);
        }
        if self.files[set].1.is_none() {
            let request = self.request(reader, set, &self.piece.rows)?;
            self.note(reader, set);
            self.files[set].1 = Some(ParquetFile::open(&request, true).await?);
        }
        Ok(self.files[set].1.as_ref())
    }

    /// Opens the Parquet files of a plan that is read in several goes.
    pub async fn prepare(&mut self, reader: &RangeReader, plan: &ReadPlan) -> Result<()> {
        for (set, _) in &plan.sets {
            self.parquet(reader, *set).await?;
        }
        Ok(())
    }

    fn note(&mut self, reader: &RangeReader, set: usize) {
        if !replace(&mut self.files[set].0, true) {
            reader.metrics.files_opened.add(1);
        }
    }

    /// The request for these rows of the chunk, without columns.
    fn request(&self, reader: &RangeReader, set: usize, rows: &RowRanges) -> Result<ChunkRequest> {
        let slice = &self.piece.slice;
        let files = &reader.table.files[set];
        let path = files.names.path(slice);
        let path = Path::parse(&path).map_err(|e| GraphArError::payload(path, e))?;
        let span = rows.span().unwrap_or(0..0);
        let gaps = rows.count() < span.end - span.start;
        Ok(ChunkRequest {
            access: reader.access.clone(),
            path,
            columns: vec![],
            declared: Arc::clone(&files.declared),
            rows: span,
            picked: gaps.then(|| rows.clone()),
            opened: self.files[set].1.clone(),
            chunk_rows: slice.chunk_rows,
            batch_size: reader.batch_size,
        })
    }

    /// Opens the files of a plan for these rows of the chunk.
    pub async fn open(
        &mut self,
        reader: &RangeReader,
        plan: &ReadPlan,
        rows: RowRanges,
    ) -> Result<OpenFiles> {
        let mut opening = Vec::with_capacity(plan.sets.len());
        let mut bounded = vec![];
        for (set, columns) in &plan.sets {
            self.note(reader, *set);
            let mut request = ChunkRequest {
                columns: columns.clone(),
                ..self.request(reader, *set, &rows)?
            };
            if plan.checks_ids_of(*set) && reader.table.is_parquet(*set) {
                let partial = request.wanted() < request.chunk_rows;
                let file = ParquetFile::open(&request, partial).await?;
                request.opened = Some(Arc::clone(&file));
                bounded.push((*set, file));
            }
            let file_type = reader.table.files[*set].file_type;
            let by_page =
                reader.table.is_ids(*set) && rows.count() < self.piece.slice.chunk_rows / SPARSE;
            let rows = rows.clone();
            let known = reader.table.aligned.as_ref().and_then(|aligned| {
                let lookup = self.piece.lookup.as_ref()?;
                let stored = aligned.offsets.as_ref()?.aligned_column();
                Some(KnownIds {
                    lookup: lookup.clone(),
                    column: ColumnSource::Name(stored.to_owned()),
                    base: self.piece.base,
                })
            });
            opening.push(async move {
                if by_page && let Some(ids) = id_pages(&request, &rows, known.as_ref()).await? {
                    return Ok(ids);
                }
                open_chunk(file_type, request).await
            });
        }
        let files: Vec<ChunkStream> = try_join_all(opening).await?;
        let proven = plan.proven(&self.piece.slice, |set, column| {
            let (_, file) = bounded.iter().find(|(bounded, _)| *bounded == set)?;
            file.integer_bounds(&column.source)
        });
        Ok(OpenFiles {
            proven,
            files: files.into_iter().map(OpenFile::new).collect(),
            left: rows.count(),
            done: 0,
            rows,
        })
    }
}

/// The aligned ids of a chunk whose rows were found through offsets: these say which id a row has.
struct KnownIds {
    lookup: Lookup,
    /// The column that they stand in.
    column: ColumnSource,
    /// Number in the table of the chunk's first row.
    base: u64,
}

impl KnownIds {
    /// The id of a row of the chunk.
    fn at(&self, row: u64) -> Option<i64> {
        let inside = self
            .lookup
            .offsets
            .vertex_at(row + self.base - self.lookup.first_row);
        i64::try_from(self.lookup.first_id + inside).ok()
    }

    /// The ids of these rows, if the statistics of the pages that they lie in agree with the offsets: pages of
    /// sorted ids begin and end with their bounds.
    fn of(
        &self,
        rows: &RowRanges,
        stored: &IdColumn,
        name: &str,
    ) -> GraphArResult<Option<Int64Array>> {
        let Some(pages) = stored.bounds(rows) else {
            return Ok(None);
        };
        for (page, least, most) in pages {
            let expected = (self.at(page.start), self.at(page.end.saturating_sub(1)));
            if expected != (Some(least), Some(most)) {
                return Err(GraphArError::corrupt(
                    name,
                    format!("rows {} to {}", page.start, page.end),
                    format!("edges of vertices {least} to {most}, by their statistics"),
                    format!(
                        "those of {} to {} by the offset chunk",
                        expected.0.unwrap_or(-1),
                        expected.1.unwrap_or(-1)
                    ),
                ));
            }
        }
        let size = usize::try_from(rows.count()).map_err(|e| GraphArError::payload(name, e))?;
        let mut ids = Vec::with_capacity(size);
        for range in rows.ranges() {
            let mut row = range.start;
            while row < range.end {
                let Some(id) = self.at(row) else {
                    return Ok(None);
                };
                let Lookup {
                    offsets,
                    first_row,
                    first_id,
                } = &self.lookup;
                let inside = id.unsigned_abs() - first_id;
                let end = offsets.rows(&(inside..inside + 1)).end + first_row - self.base;
                let next = end.clamp(row + 1, range.end);
                // At most the number of rows, which is a `usize`.
                ids.extend(repeat_n(id, usize::try_from(next - row).unwrap_or(0)));
                row = next;
            }
        }
        Ok(Some(ids.into()))
    }
}

/// The columns of a request page by page, if its file allows that.
async fn id_pages(
    request: &ChunkRequest,
    rows: &RowRanges,
    known: Option<&KnownIds>,
) -> GraphArResult<Option<ChunkStream>> {
    let opened = ParquetFile::open(request, true).await?;
    let mut columns = vec![];
    for column in &request.columns {
        let one = ChunkRequest {
            columns: vec![column.clone()],
            opened: Some(Arc::clone(&opened)),
            ..request.clone()
        };
        let Some(stored) = IdColumn::open(&one).await? else {
            return Ok(None);
        };
        let known = known.filter(|known| known.column == column.source);
        let ids = match known {
            Some(known) => known.of(rows, &stored, &request.name())?,
            None => None,
        };
        columns.push(match ids {
            Some(ids) => Gather {
                ids: stream::empty().boxed(),
                ready: VecDeque::from([ids]),
            },
            None => Gather {
                ids: stored.read(&request.access, rows),
                ready: VecDeque::new(),
            },
        });
    }
    let (schema, name) = (request.schema(), request.name());
    let most = request.batch_size.max(1) as u64;
    let state = (columns, rows.count());
    let batches = stream::try_unfold(state, move |(mut columns, left)| {
        let (schema, name) = (Arc::clone(&schema), name.clone());
        async move {
            let wanted = left.min(most);
            if wanted == 0 {
                return Ok(None);
            }
            // At most the batch size.
            let count = usize::try_from(wanted).unwrap_or(usize::MAX);
            let mut arrays: Vec<ArrayRef> = Vec::with_capacity(columns.len());
            for column in &mut columns {
                arrays.push(column.next(count, &name).await?);
            }
            let batch = RecordBatch::try_new(schema, arrays);
            let batch = batch.map_err(|e| GraphArError::payload(name, e))?;
            Ok(Some((batch, (columns, left - wanted))))
        }
    });
    Ok(Some(batches.boxed()))
}

/// Puts pieces of a column together.
struct Gather {
    ids: BoxStream<'static, GraphArResult<Int64Array>>,
    ready: VecDeque<Int64Array>,
}

impl Gather {
    /// The next `count` ids.
    async fn next(&mut self, count: usize, name: &str) -> GraphArResult<ArrayRef> {
        let mut pieces: Vec<Int64Array> = vec![];
        let mut left = count;
        while left > 0 {
            let piece = match self.ready.pop_front() {
                Some(piece) => piece,
                None => match self.ids.try_next().await? {
                    Some(piece) => piece,
                    None => {
                        let expected = format!("{count} more rows");
                        let found = format!("{}", count - left);
                        return Err(GraphArError::corrupt(name, "pages", expected, found));
                    }
                },
            };
            if piece.len() > left {
                self.ready.push_front(piece.slice(left, piece.len() - left));
                pieces.push(piece.slice(0, left));
                left = 0;
            } else {
                left -= piece.len();
                pieces.push(piece);
            }
        }
        if let [only] = pieces.as_slice() {
            return Ok(Arc::new(only.clone()));
        }
        let arrays: Vec<_> = pieces.iter().map(|piece| piece as _).collect();
        concat(&arrays).map_err(|e| GraphArError::payload(name, e))
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

/// The files of a plan, open for some rows of a chunk.
pub(super) struct OpenFiles {
    files: Vec<OpenFile>,
    rows: RowRanges,
    /// Checks that the statistics of the files spare.
    proven: Vec<bool>,
    /// Rows given out, and those to come.
    done: u64,
    left: u64,
}

impl OpenFiles {
    /// The next rows, at most `batch_size` of them; `None` behind the last, when every file has been
    /// asked whether it ends there.
    pub async fn next(
        &mut self,
        table: &ScanTable,
        plan: &ReadPlan,
        piece: &Piece,
        batch_size: usize,
        aligned: &mut AlignedIds,
    ) -> Result<Option<RecordBatch>> {
        if self.left == 0 {
            self.finish().await?;
            return Ok(None);
        }
        let (batches, count) = self.fetch(batch_size).await?;
        let rows = Rows {
            slice: &piece.slice,
            base: piece.base,
            picked: &self.rows,
            done: self.done,
            count,
            proven: &self.proven,
        };
        let batch = plan.assemble(table, &rows, &batches, aligned)?;
        self.done += count as u64;
        self.left -= count as u64;
        Ok(Some(batch))
    }

    /// The next rows of every file: as many as the file that is behind has ready. Files have row
    /// groups and pages of their own, so equal batch sizes alone do not keep them in step.
    async fn fetch(&mut self, batch_size: usize) -> Result<(Vec<RecordBatch>, usize)> {
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
