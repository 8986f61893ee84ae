//! Reads the selected rows of a partition: chunk by chunk, conditions first.
//!
//! For each chunk that holds selected rows:
//!
//! 1. The statistics of Parquet files take away row groups and pages.
//! 2. The columns of the first condition are decoded and the condition is tested; the columns of the
//!    next one are read for the rows that passed, and so on.
//! 3. All other columns are read for the rows that passed every condition.
//!
//! Steps 2 and 3 take a window of rows at a time, so that memory does not follow the size of
//! the chunk.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, RecordBatch, RecordBatchOptions};
use datafusion::arrow::buffer::BooleanBuffer;
use datafusion::arrow::compute::{concat_batches, filter_record_batch};
use datafusion::arrow::datatypes::{Schema, SchemaRef};
use datafusion::error::Result;
use datafusion::physical_plan::PhysicalExpr;
use futures::StreamExt;
use futures::stream::{self, BoxStream};

use super::assemble::{AlignedIds, ReadPlan};
use super::chunks::{Chunk, OpenFiles};
use super::conditions::{Conditions, IdConditions, Stage, passing, worth_testing};
use super::label_sets::mask;
use super::selection::Pieces;
use super::{ScanMetrics, ScanTable};
use crate::format::RowRanges;
use crate::storage::FileAccess;

/// Rows of the largest window of a partition, and of the first under a `LIMIT`: it may be met soon, and
/// should not pay for many rows. Windows double.
const FIRST_WINDOW: u64 = 16 * 1024;
const LARGEST_WINDOW: u64 = 256 * 1024;

/// Everything that reading a partition needs.
pub(super) struct RangeReader {
    pub table: Arc<ScanTable>,
    /// Which ids to read.
    pub ids: IdConditions,
    /// How rows are read by the conditions that do not change.
    pub fixed: Pipeline,
    /// Conditions that change while the scan runs, if there are any, and how rows are read where these are
    /// tested, too.
    pub dynamic: Option<(Vec<Arc<dyn PhysicalExpr>>, Pipeline)>,
    /// The schema of the result.
    pub schema: SchemaRef,
    pub access: FileAccess,
    pub batch_size: usize,
    /// Whether only some of the rows may be asked for.
    pub limited: bool,
    /// Whether the aligned ids have to ascend, and be those that were looked up.
    pub ordered: bool,
    pub verified: Option<Arc<RowRanges>>,
    pub metrics: ScanMetrics,
}

/// Conditions, and what is read of the rows that passed them.
pub(super) struct Pipeline {
    pub conditions: Conditions,
    pub rest: ReadPlan,
    /// Where each column of the result comes from.
    outputs: Vec<From>,
}

impl Pipeline {
    /// Reads `columns` of the rows that pass.
    pub fn try_new(table: &ScanTable, conditions: Conditions, columns: &[usize]) -> Result<Self> {
        let (mut outputs, mut rest) = (vec![], vec![]);
        for column in columns {
            let known = conditions.columns.iter().position(|known| known == column);
            outputs.push(match known {
                Some(known) => From::Condition(known),
                None => {
                    rest.push(*column);
                    From::Rest(rest.len() - 1)
                }
            });
        }
        Ok(Self {
            rest: ReadPlan::try_new(table, &rest)?,
            conditions,
            outputs,
        })
    }
}

/// A column of the result.
#[derive(Debug, Clone, Copy)]
enum From {
    /// One that the conditions have read, by its number among those.
    Condition(usize),
    /// One of the rest.
    Rest(usize),
}

impl RangeReader {
    /// The batches of the rows `range`, in order. A chunk is opened when the one before it has
    /// been read, and nothing is opened before the first batch is asked for.
    pub fn read(self: Arc<Self>, range: Range<u64>) -> BoxStream<'static, Result<RecordBatch>> {
        let aligned = AlignedIds::new(self.ordered, self.verified.clone());
        let state = Walk {
            pieces: Pieces::new(Arc::clone(&self.table), range),
            window: self.first_window(),
            reader: self,
            dynamic: false,
            chunk: None,
            windows: VecDeque::new(),
            open: None,
            aligned,
        };
        stream::try_unfold(state, |mut walk| async move {
            let batch = walk.next().await?;
            walk.reader.metrics.report(&walk.reader.access.meter);
            Ok(batch.map(|batch| (batch, walk)))
        })
        .boxed()
    }

    fn first_window(&self) -> u64 {
        if self.limited {
            FIRST_WINDOW.max(self.batch_size as u64)
        } else {
            LARGEST_WINDOW
        }
    }

    /// What remains of the rows of a chunk by the statistics of its files.
    async fn prune(&self, chunk: &mut Chunk) -> Result<RowRanges> {
        let mut rows = chunk.piece.rows.clone();
        // Bounds that change are used even where their conditions are not worth testing on rows.
        let pipeline = self.dynamic.as_ref().map_or(&self.fixed, |(_, all)| all);
        let checks = pipeline
            .conditions
            .stages
            .iter()
            .flat_map(|stage| &stage.pruning);
        for check in checks {
            if rows.is_empty() {
                break;
            }
            let Some(predicate) = check.predicate() else {
                continue;
            };
            let Some(file) = chunk.parquet(self, check.set).await? else {
                continue;
            };
            let kept = check.keep(&predicate, file, &rows, &self.metrics);
            let pruned = rows.count() - kept.count();
            self.metrics
                .rows_pruned
                .add(usize::try_from(pruned).unwrap_or(usize::MAX));
            rows = kept;
        }
        Ok(rows)
    }
}

/// Rows of a window that passed the conditions, and the files that hold the rest of them.
struct Open {
    files: OpenFiles,
    /// The columns that the conditions have read.
    kept: RecordBatch,
    done: usize,
}

struct Walk {
    reader: Arc<RangeReader>,
    pieces: Pieces,
    chunk: Option<Chunk>,
    /// Whether the conditions that change are tested on the rows of this chunk.
    dynamic: bool,
    /// Rows of the chunk that are not looked at yet.
    windows: VecDeque<RowRanges>,
    open: Option<Open>,
    /// Rows of the next window.
    window: u64,
    aligned: AlignedIds,
}

impl Walk {
    async fn next(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            if self.open.is_some() {
                if let Some(batch) = self.next_of_window().await? {
                    return Ok(Some(batch));
                }
                self.open = None;
            }
            if let Some(rows) = self.windows.pop_front() {
                self.open = self.open_window(rows).await?;
                continue;
            }
            if !self.next_chunk().await? {
                return Ok(None);
            }
        }
    }

    /// Goes on to the next chunk with selected rows; false at the end.
    async fn next_chunk(&mut self) -> Result<bool> {
        self.chunk = None;
        let reader = Arc::clone(&self.reader);
        let table = &reader.table;
        let ids = reader.ids.now(table);
        let piece = self.pieces.next(&reader.access, ids.as_deref()).await?;
        let Some(piece) = piece else {
            return Ok(false);
        };
        reader.metrics.chunks.add(1);
        let mut chunk = Chunk::new(table, piece);
        self.dynamic = false;
        for condition in reader.dynamic.iter().flat_map(|(conditions, _)| conditions) {
            self.dynamic |= worth_testing(condition)?;
        }
        let rows = reader.prune(&mut chunk).await?;
        self.windows = self.cut(rows);
        self.chunk = Some(chunk);
        Ok(true)
    }

    fn pipeline<'a>(&self, reader: &'a RangeReader) -> &'a Pipeline {
        match &reader.dynamic {
            Some((_, all)) if self.dynamic => all,
            _ => &reader.fixed,
        }
    }

    /// Cuts the rows of a chunk into windows.
    fn cut(&mut self, rows: RowRanges) -> VecDeque<RowRanges> {
        let mut windows = VecDeque::new();
        let pipeline = self.pipeline(&self.reader);
        let mut sets = pipeline.rest.sets.iter();
        let parquet = sets.all(|(set, _)| self.reader.table.is_parquet(*set));
        // Without conditions nothing is held back, and other files are read from their beginning.
        if pipeline.conditions.is_empty() || !parquet || !pipeline.conditions.parquet {
            if !rows.is_empty() {
                windows.push_back(rows);
            }
            return windows;
        }
        let mut rows = rows;
        while let Some(span) = rows.span() {
            let mut end = span.start;
            let mut left = self.window;
            for range in rows.ranges() {
                let length = range.end - range.start;
                end = range.start + length.min(left);
                left -= length.min(left);
                if left == 0 {
                    break;
                }
            }
            windows.push_back(rows.within(&(span.start..end)));
            rows = rows.within(&(end..span.end));
            self.window = (self.window * 2).min(LARGEST_WINDOW);
        }
        windows
    }

    /// Tests the conditions on a window and opens the rest for the rows that passed. `None` if none did.
    async fn open_window(&mut self, rows: RowRanges) -> Result<Option<Open>> {
        let reader = Arc::clone(&self.reader);
        let pipeline = self.pipeline(&reader);
        let Some(chunk) = &mut self.chunk else {
            return Ok(None);
        };
        let mut rows = rows;
        let mut kept: Option<RecordBatch> = None;
        for stage in &pipeline.conditions.stages {
            let passed = test(
                &reader,
                chunk,
                stage,
                &rows,
                kept.as_ref(),
                &mut self.aligned,
            )
            .await?;
            let dropped = rows.count() - passed.rows.count();
            let metrics = &reader.metrics;
            metrics
                .rows_dropped
                .add(usize::try_from(dropped).unwrap_or(usize::MAX));
            rows = passed.rows;
            kept = Some(passed.columns);
            if rows.is_empty() {
                return Ok(None);
            }
        }
        let kept = match kept {
            Some(kept) => kept,
            None => RecordBatch::new_empty(Arc::new(Schema::empty())),
        };
        if !pipeline.conditions.is_empty() {
            chunk.prepare(&reader, &pipeline.rest).await?;
        }
        let files = chunk.open(&reader, &pipeline.rest, rows).await?;
        Ok(Some(Open {
            files,
            kept,
            done: 0,
        }))
    }

    /// The next batch of the open window.
    async fn next_of_window(&mut self) -> Result<Option<RecordBatch>> {
        let reader = &self.reader;
        let pipeline = self.pipeline(reader);
        let (Some(open), Some(chunk)) = (&mut self.open, &self.chunk) else {
            return Ok(None);
        };
        let rest = open
            .files
            .next(
                &reader.table,
                &pipeline.rest,
                &chunk.piece,
                reader.batch_size,
                &mut self.aligned,
            )
            .await?;
        let Some(rest) = rest else {
            return Ok(None);
        };
        let count = rest.num_rows();
        reader.metrics.rows_decoded.add(count);
        let columns = pipeline.outputs.iter().map(|output| match output {
            From::Condition(column) => open.kept.column(*column).slice(open.done, count),
            From::Rest(column) => ArrayRef::clone(rest.column(*column)),
        });
        let options = RecordBatchOptions::new().with_row_count(Some(count));
        let batch = RecordBatch::try_new_with_options(
            SchemaRef::clone(&reader.schema),
            columns.collect(),
            &options,
        )?;
        open.done += count;
        Ok(Some(batch))
    }
}

/// Rows that passed, and the columns read for them so far.
struct Passed {
    rows: RowRanges,
    columns: RecordBatch,
}

/// Reads the columns of a stage for `rows` of the chunk and tests its condition. `before` are the columns
/// that earlier stages have read for the same rows.
async fn test(
    reader: &RangeReader,
    chunk: &mut Chunk,
    stage: &Stage,
    rows: &RowRanges,
    before: Option<&RecordBatch>,
    aligned: &mut AlignedIds,
) -> Result<Passed> {
    if let Some(sets) = &stage.labels
        && let Some(having) = chunk.labelled(reader, sets).await?
    {
        return known_rows(stage, rows, &having, before);
    }
    chunk.prepare(reader, &stage.read).await?;
    let mut files = chunk.open(reader, &stage.read, rows.clone()).await?;
    let schema = &stage.schema;
    let (mut passed, mut ranges, mut done) = (vec![], Passing::new(rows), 0);
    loop {
        let next = files
            .next(
                &reader.table,
                &stage.read,
                &chunk.piece,
                reader.batch_size,
                aligned,
            )
            .await?;
        let Some(read) = next else {
            break;
        };
        let count = read.num_rows();
        reader.metrics.rows_decoded.add(count);
        let earlier = before.into_iter().flat_map(RecordBatch::columns);
        let columns = earlier
            .map(|column| column.slice(done, count))
            .chain(read.columns().iter().cloned());
        let options = RecordBatchOptions::new().with_row_count(Some(count));
        let batch =
            RecordBatch::try_new_with_options(Arc::clone(schema), columns.collect(), &options)?;
        let mask = passing(&stage.condition, &batch)?;
        ranges.push(mask.values());
        done += count;
        match mask.true_count() {
            0 => {}
            all if all == count => passed.push(batch.project(&stage.keep)?),
            _ => passed.push(filter_record_batch(&batch.project(&stage.keep)?, &mask)?),
        }
    }
    Ok(Passed {
        rows: ranges.finish(),
        columns: concat_batches(&stage.kept, &passed)?,
    })
}

/// What passes where the rows that do are known: none of the stage's own columns is kept.
fn known_rows(
    stage: &Stage,
    rows: &RowRanges,
    having: &RowRanges,
    before: Option<&RecordBatch>,
) -> Result<Passed> {
    let passed = rows.intersect(having);
    let columns = match before {
        Some(before) if passed.count() < rows.count() => {
            filter_record_batch(&before.project(&stage.keep)?, &mask(rows, &passed))?
        }
        Some(before) => before.project(&stage.keep)?,
        None => RecordBatch::new_empty(Arc::clone(&stage.kept)),
    };
    Ok(Passed {
        rows: passed,
        columns,
    })
}

/// Turns masks over the rows that were read into the rows that passed.
struct Passing<'a> {
    read: &'a [Range<u64>],
    /// Rows of the first range that masks have been given for.
    at: u64,
    passed: Vec<Range<u64>>,
}

impl<'a> Passing<'a> {
    fn new(rows: &'a RowRanges) -> Self {
        Self {
            read: rows.ranges(),
            at: 0,
            passed: vec![],
        }
    }

    fn push(&mut self, mask: &BooleanBuffer) {
        let mut first = 0_u64;
        let total = mask.len() as u64;
        let mut runs = mask
            .set_slices()
            .map(|(begin, end)| begin as u64..end as u64)
            .peekable();
        while first < total {
            let Some(range) = self.read.first() else {
                return;
            };
            // The part of the mask that lies in this range.
            let length = (range.end - range.start - self.at).min(total - first);
            let row = range.start + self.at;
            let end = first + length;
            while let Some(run) = runs.peek_mut() {
                if run.start >= end {
                    break;
                }
                let stop = run.end.min(end);
                let found = row + run.start - first..row + stop - first;
                match self.passed.last_mut() {
                    Some(last) if last.end == found.start => last.end = found.end,
                    _ => self.passed.push(found),
                }
                if run.end <= end {
                    runs.next();
                } else {
                    run.start = end;
                    break;
                }
            }
            first = end;
            self.at += length;
            if self.at == range.end - range.start {
                self.read = &self.read[1..];
                self.at = 0;
            }
        }
    }

    fn finish(self) -> RowRanges {
        RowRanges::from_kept(self.passed)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn masks_name_the_rows_that_passed(
            ranges in proptest::collection::vec((0..60_u64, 1..9_u64), 0..6),
            flags in proptest::collection::vec(any::<bool>(), 60),
            size in 1..20_usize,
        ) {
            let ranges = ranges.into_iter().map(|(begin, length)| begin..begin + length);
            let rows = RowRanges::from_unsorted(ranges.collect());
            let numbers: Vec<u64> = rows.ranges().iter().flat_map(Clone::clone).collect();
            let flags: Vec<bool> = flags.into_iter().cycle().take(numbers.len()).collect();
            let mut passing = Passing::new(&rows);
            for mask in flags.chunks(size) {
                passing.push(&BooleanBuffer::from(mask));
            }
            let kept: Vec<u64> = passing.finish().ranges().iter().flat_map(Clone::clone).collect();
            let expected: Vec<u64> = numbers
                .iter()
                .zip(&flags)
                .filter_map(|(number, flag)| flag.then_some(*number))
                .collect();
            prop_assert_eq!(kept, expected);
        }
    }
}
