//! The chunk files of one column group, one after the other.

use std::sync::Arc;

use datafusion::arrow::datatypes::{Field, FieldRef, SchemaRef};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::error::Result;
use futures::{StreamExt, TryStreamExt, stream};

use super::counts::is_there;
use super::look::Look;
use super::shape::{Misfit, Shape};
use super::{Context, Rule};
use crate::error::{GraphArError, Result as StorageResult};
use crate::format::{FileType, chunk_count, chunk_rows};
use crate::storage::payload::{
    ChunkColumn, ChunkRequest, ColumnSource, Outline, StoredColumn, open_chunk, outline,
};
use crate::storage::{FileAccess, Location};

/// Footers fetched at once by a check that reads no more.
const CONCURRENT_FOOTERS: usize = 16;

/// Rows decoded at once.
const BATCH_ROWS: usize = 8192;

/// After so many missing chunks in a row, or parts without a count, no more are looked for: a count can be absurd.
pub(super) const MOST_MISSING: u64 = 8;

/// How the columns of chunk files are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Find {
    /// By name.
    Name,
    /// By name, but for the first, which may be missing.
    NameButFirst,
    /// By position.
    Position,
}

/// The chunk files of one column group.
pub(super) struct Series<'a> {
    /// A folder in their store.
    pub(super) folder: &'a Location,
    pub(super) file_type: FileType,
    /// The declared columns, in file order.
    pub(super) declared: SchemaRef,
    pub(super) find: Find,
    /// Rows by the count file.
    pub(super) rows: u64,
    /// Rows of a chunk.
    pub(super) chunk_size: u64,
    /// The count file's name.
    pub(super) counted_in: String,
    /// The path of a chunk in the store.
    pub(super) path: Box<dyn Fn(u64) -> String + Send + Sync + 'a>,
}

/// A chunk file that is looked at.
pub(super) struct Chunk {
    /// The file.
    pub(super) file: Location,
    /// The number of its first row in all chunks.
    pub(super) first: u64,
}

/// What a walk over chunk files found.
pub(super) struct Walked {
    /// Rows of all chunks, by the files themselves; by the count where a shallow check reads text.
    pub(super) rows: u64,
    /// Whether these are all.
    pub(super) counted: bool,
    /// Whether a deep check could look at the values of all.
    pub(super) read: bool,
    /// What the rows of the chunks make up.
    pub(super) shape: Shape,
    /// Chunks that do not fit the count, which have yet to be reported.
    pub(super) misfits: Vec<Misfit>,
}

impl Walked {
    /// A chunk is missing or damaged.
    fn fail(&mut self) {
        (self.counted, self.read) = (false, false);
        self.shape.fail();
    }
}

impl Series<'_> {
    /// A chunk.
    pub(super) fn file(&self, number: u64) -> Location {
        self.folder.with_path(&(self.path)(number))
    }

    /// Rows and columns of a chunk.
    pub(super) async fn outline(&self, file: &Location) -> StorageResult<Outline> {
        outline(self.file_type, &access(file), &file.object_path()?).await
    }

    fn is_text(&self) -> bool {
        matches!(self.file_type, FileType::Csv | FileType::Json)
    }

    fn missing(&self, number: u64) -> String {
        let chunks = chunk_count(self.rows, self.chunk_size);
        let (rows, counted) = (self.rows, &self.counted_in);
        let number = number + 1;
        format!("chunk {number} of the {chunks} for {rows} rows by {counted}")
    }

    /// Goes through all chunks. A deep check gives their values to `look`.
    pub(super) async fn walk(&self, context: &Context, look: &mut dyn Look) -> Result<Walked> {
        let count = chunk_count(self.rows, self.chunk_size);
        let (deep, report) = (context.is_deep(), &context.report);
        let at_once = if deep { 1 } else { CONCURRENT_FOOTERS };
        let mut files = stream::iter(0..count)
            .map(|number| async move {
                let file = self.file(number);
                if self.is_text() && !deep {
                    let rows = chunk_rows(self.rows, self.chunk_size, number);
                    let there = is_there(context, &file).await;
                    let outline = || Outline {
                        rows,
                        columns: None,
                    };
                    let missing = || GraphArError::MissingFile {
                        path: file.to_string(),
                        expected: String::new(),
                    };
                    return (number, there.then(outline).ok_or_else(missing));
                }
                (number, self.outline(&file).await)
            })
            .buffered(at_once);
        let mut walked = Walked {
            rows: 0,
            counted: true,
            read: true,
            shape: Shape::new(self.chunk_size),
            misfits: vec![],
        };
        let mut missing = 0;
        while let Some((number, outline)) = files.next().await {
            let file = self.file(number);
            let outline = match outline {
                Ok(outline) => outline,
                Err(GraphArError::MissingFile { .. }) => {
                    walked.fail();
                    missing += 1;
                    let behind = count - 1 - number;
                    let stop = missing == MOST_MISSING && behind > 0;
                    let found = if stop {
                        format!("no such file; the {behind} behind it were not looked for")
                    } else {
                        "no such file".to_owned()
                    };
                    report.add(&file, Rule::MissingFile, self.missing(number), found);
                    if stop {
                        return Ok(walked);
                    }
                    continue;
                }
                Err(error) => {
                    missing = 0;
                    walked.fail();
                    report.error(&file, &error);
                    continue;
                }
            };
            missing = 0;
            let expected = chunk_rows(self.rows, self.chunk_size, number);
            if outline.rows != expected {
                let (all, counted) = (self.rows, &self.counted_in);
                let expected = format!("{}, of {all} by {counted}", rows_of(expected));
                walked.misfits.push(Misfit {
                    file: file.clone(),
                    rule: Rule::RowCount,
                    expected,
                    found: rows_of(outline.rows),
                });
            }
            walked.shape.add(outline.rows);
            walked.rows = walked.rows.saturating_add(outline.rows);
            if deep {
                let first = number.saturating_mul(self.chunk_size);
                let chunk = Chunk { file, first };
                walked.read &= self.read(context, &chunk, &outline, look).await?;
            }
        }
        drop(files);
        self.look_behind(context, count, &mut walked).await;
        Ok(walked)
    }

    /// Looks for rows behind the last chunk.
    async fn look_behind(&self, context: &Context, count: u64, walked: &mut Walked) {
        for number in count.. {
            let file = self.file(number);
            if !is_there(context, &file).await {
                return;
            }
            match self.outline(&file).await {
                // Nobody writes such a file, but it does no harm.
                Ok(outline) if outline.rows == 0 => return,
                Ok(outline) => {
                    let (rows, counted) = (rows_of(self.rows), &self.counted_in);
                    walked.misfits.push(Misfit {
                        file,
                        rule: Rule::ExtraChunk,
                        expected: format!("no chunk behind the {rows} by {counted}"),
                        found: rows_of(outline.rows),
                    });
                    walked.shape.add(outline.rows);
                    (walked.counted, walked.read) = (false, false);
                }
                Err(error) => {
                    context.report.error(&file, &error);
                    walked.fail();
                    return;
                }
            }
        }
    }

    /// Gives the values of a chunk to `look`; whether it could look at all of them.
    async fn read(
        &self,
        context: &Context,
        chunk: &Chunk,
        outline: &Outline,
        look: &mut dyn Look,
    ) -> Result<bool> {
        let readable = self.readable(context, chunk, outline);
        let all = readable.len() == self.declared.fields().len()
            || (self.find == Find::NameButFirst
                && readable.len() + 1 == self.declared.fields().len()
                && readable.iter().all(|column| column.0 > 0));
        look.begin(chunk);
        let columns: Vec<ChunkColumn> = readable.iter().map(|(_, c)| c.clone()).collect();
        let rows = outline.rows;
        let first = self.give(chunk, &columns, rows, look).await?;
        let mut complete = all;
        if let Err(error) = first {
            complete = false;
            look.begin(chunk);
            if let [_] = columns.as_slice() {
                context.report.error(&chunk.file, &error);
            } else {
                // What is wrong in one column is no reason not to look at the others.
                for column in &columns {
                    let one = std::slice::from_ref(column);
                    if let Err(error) = self.give(chunk, one, rows, look).await? {
                        context.report.error(&chunk.file, &error);
                    }
                }
            }
        }
        look.end(chunk, &context.report);
        Ok(complete)
    }

    /// The columns that can be read, each with its position among the declared ones. The others are reported.
    fn readable(
        &self,
        context: &Context,
        chunk: &Chunk,
        outline: &Outline,
    ) -> Vec<(usize, ChunkColumn)> {
        let report = &context.report;
        let mut readable = vec![];
        for (at, field) in self.declared.fields().iter().enumerate() {
            let column = ChunkColumn {
                field: nullable(field),
                source: match self.find {
                    Find::Name | Find::NameButFirst => ColumnSource::Name(field.name().clone()),
                    Find::Position => ColumnSource::Position(at),
                },
            };
            let Some(columns) = &outline.columns else {
                readable.push((at, column));
                continue;
            };
            let stored: Option<&StoredColumn> = match self.find {
                Find::Name | Find::NameButFirst => columns.iter().find(|c| c.name == *field.name()),
                Find::Position => columns.get(at),
            };
            let name = field.name();
            match stored {
                None if self.find == Find::NameButFirst && at == 0 => {}
                None => {
                    let names: Vec<&str> = columns.iter().map(|c| c.name.as_str()).collect();
                    let found = format!("the columns {}", names.join(", "));
                    let expected = format!("the column '{name}'");
                    report.add(&chunk.file, Rule::MissingColumn, expected, found);
                }
                Some(stored) if !stored.fits(field.data_type()) => {
                    let declared = StoredColumn::name_of(field.data_type());
                    let expected = format!("{declared} in column '{name}'");
                    let found = stored.type_name();
                    report.add(&chunk.file, Rule::StoredType, expected, found);
                }
                Some(_) => readable.push((at, column)),
            }
        }
        readable
    }

    /// The batches of these columns. The inner error is one of the file.
    async fn give(
        &self,
        chunk: &Chunk,
        columns: &[ChunkColumn],
        rows: u64,
        look: &mut dyn Look,
    ) -> Result<StorageResult<()>> {
        if columns.is_empty() || rows == 0 {
            return Ok(Ok(()));
        }
        let mut batches = match self.open(&chunk.file, columns, rows).await {
            Ok(batches) => batches,
            Err(error) => return Ok(Err(error)),
        };
        let mut row = 0;
        loop {
            match batches.try_next().await {
                Ok(Some(batch)) => {
                    look.batch(row, &batch)?;
                    row += batch.num_rows() as u64;
                    tokio::task::consume_budget().await;
                }
                Ok(None) => return Ok(Ok(())),
                Err(error) => return Ok(Err(error)),
            }
        }
    }

    /// The batches of these columns of a file that has so many rows.
    pub(super) async fn open(
        &self,
        file: &Location,
        columns: &[ChunkColumn],
        rows: u64,
    ) -> StorageResult<stream::BoxStream<'static, StorageResult<RecordBatch>>> {
        let request = ChunkRequest {
            access: access(file),
            path: file.object_path()?,
            columns: columns.to_vec(),
            declared: Arc::clone(&self.declared),
            rows: 0..rows,
            picked: None,
            opened: None,
            chunk_rows: rows,
            batch_size: BATCH_ROWS,
        };
        open_chunk(self.file_type, request).await
    }
}

/// A number of rows in words.
pub(super) fn rows_of(count: u64) -> String {
    match count {
        1 => "1 row".to_owned(),
        count => format!("{count} rows"),
    }
}

/// The field as one that may be null: nulls are for the check to judge.
pub(super) fn nullable(field: &Field) -> FieldRef {
    Arc::new(field.clone().with_nullable(true))
}

/// Nothing is remembered: a check looks at what is there now.
fn access(file: &Location) -> FileAccess {
    FileAccess::uncached(Arc::clone(file.store()))
}
