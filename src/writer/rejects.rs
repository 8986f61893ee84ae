//! What becomes of rows that cannot be written.

use std::collections::BTreeMap;
use std::fmt;

use datafusion::arrow::array::{BooleanArray, RecordBatch};
use datafusion::arrow::compute::filter_record_batch;
use datafusion::error::Result;
use datafusion::execution::memory_pool::MemoryConsumer;

use super::reject_file::RejectFile;
use super::write_options::WriteOptions;
use crate::storage::Location;

/// What becomes of rows that cannot be written.
///
/// These are vertices with a null in their primary key or in a property that may not be null, and vertices with
/// the key of an earlier vertex, of which the first one stays; and edges with an end that is null or none of the
/// vertices, or with a null in a property that may not be null. Whatever else is wrong, such as a label that is
/// not declared, fails in any case.
///
/// It applies to streams of rows. Rows in memory
/// ([`write_vertices`](super::GraphWriter::write_vertices), [`write_edges`](super::GraphWriter::write_edges)) fail.
#[derive(Debug, Clone, Default)]
pub enum OnError {
    /// The first one is an error.
    #[default]
    Fail,
    /// They are left out, and counted.
    Skip,
    /// They are left out, counted, and written to this file as CSV, which replaces one that is there: the row's number
    /// from 0, the reason, and all columns of the row. It is there after
    /// [`commit`](super::GraphWriter::commit), and only if there are such rows. Every element type needs a file of
    /// its own, see [`set_on_error`](super::GraphWriter::set_on_error).
    Reject(Location),
}

impl fmt::Display for OnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fail => f.write_str("fail"),
            Self::Skip => f.write_str("skip"),
            Self::Reject(file) => write!(f, "reject to {file}"),
        }
    }
}

/// Rows that were left out, by what is wrong with them. A row counts once, for what was found first.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Skipped {
    /// Vertices with a null in their primary key.
    pub null_keys: u64,
    /// Vertices with the primary key of another one before them.
    pub repeated_keys: u64,
    /// Rows with a null in a property that may not be null.
    pub null_properties: u64,
    /// Edges with a null for one of their ends.
    pub null_ends: u64,
    /// Edges with an end that is none of the vertices.
    pub missing_ends: u64,
    /// The first row that was left out.
    pub first: Option<SkippedRow>,
}

/// A row that was left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkippedRow {
    /// Its number in the rows that were to be written, from 0.
    pub row: u64,
    /// What is wrong with it.
    pub reason: String,
}

impl Skipped {
    /// All of them.
    pub fn rows(&self) -> u64 {
        self.null_keys
            + self.repeated_keys
            + self.null_properties
            + self.null_ends
            + self.missing_ends
    }

    fn count(&mut self, reason: Reason) {
        let count = match reason {
            Reason::NullKey => &mut self.null_keys,
            Reason::RepeatedKey => &mut self.repeated_keys,
            Reason::NullProperty => &mut self.null_properties,
            Reason::NullEnd => &mut self.null_ends,
            Reason::MissingEnd => &mut self.missing_ends,
        };
        *count += 1;
    }
}

/// The totals by reason, and the first row.
impl fmt::Display for Skipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let totals = [
            (self.null_keys, "with a null key"),
            (self.repeated_keys, "with the key of another one"),
            (self.null_properties, "with a null property"),
            (self.null_ends, "with a null end"),
            (self.missing_ends, "with an end that is not there"),
        ];
        let totals = totals.iter().filter(|(count, _)| *count > 0);
        let totals: Vec<String> = totals.map(|(n, what)| format!("{n} {what}")).collect();
        write!(f, "{} rows left out", self.rows())?;
        if !totals.is_empty() {
            write!(f, ": {}", totals.join(", "))?;
        }
        match &self.first {
            Some(SkippedRow { row, reason }) => write!(f, "; first row {row}: {reason}"),
            None => Ok(()),
        }
    }
}

/// What is wrong with a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reason {
    NullKey,
    RepeatedKey,
    NullProperty,
    NullEnd,
    MissingEnd,
}

/// The bad rows of a batch.
pub(super) struct Marks {
    rows: BTreeMap<usize, (Reason, String)>,
    /// Whether anybody reads the texts.
    texts: bool,
}

impl Marks {
    /// Marks a row, if it was not marked before.
    pub(super) fn add(&mut self, row: usize, reason: Reason, text: impl FnOnce() -> String) {
        let texts = self.texts;
        self.rows.entry(row).or_insert_with(|| match texts {
            true => (reason, text()),
            false => (reason, String::new()),
        });
    }

    /// Whether a row is marked.
    pub(super) fn has(&self, row: usize) -> bool {
        self.rows.contains_key(&row)
    }
}

/// Leaves bad rows out, and keeps account of them.
pub(super) struct Rejects {
    /// The type that is written.
    owner: String,
    /// Rows that were seen.
    rows: u64,
    skipped: Skipped,
    file: Option<RejectFile>,
}

impl Rejects {
    /// Nothing if bad rows are errors.
    pub(super) fn of(owner: &str, options: &WriteOptions) -> Option<Self> {
        let file = match &options.on_error {
            OnError::Fail => return None,
            OnError::Skip => None,
            OnError::Reject(location) => {
                let memory = MemoryConsumer::new("graphar rejected rows").register(&options.pool);
                Some(RejectFile::new(location.clone(), memory))
            }
        };
        Some(Self {
            owner: owner.to_owned(),
            rows: 0,
            skipped: Skipped::default(),
            file,
        })
    }

    /// The number of the row that comes next.
    pub(super) fn next_row(&self) -> u64 {
        self.rows
    }

    /// No marks for the next batch yet.
    pub(super) fn marks(&self) -> Marks {
        Marks {
            rows: BTreeMap::new(),
            texts: self.file.is_some() || self.skipped.first.is_none(),
        }
    }

    /// The rows of a batch that are not marked. `shown` is the number of columns that go to the file.
    pub(super) async fn keep(
        &mut self,
        batch: RecordBatch,
        shown: usize,
        marks: Marks,
    ) -> Result<RecordBatch> {
        let first = self.rows;
        self.rows += batch.num_rows() as u64;
        let Some((row, (_, reason))) = marks.rows.first_key_value() else {
            return Ok(batch);
        };
        if self.skipped.first.is_none() {
            self.skipped.first = Some(SkippedRow {
                row: first + *row as u64,
                reason: reason.clone(),
            });
        }
        marks
            .rows
            .values()
            .for_each(|(reason, _)| self.skipped.count(*reason));
        if let Some(file) = &mut self.file {
            file.write(&batch, shown, first, &marks.rows).await?;
        }
        let kept = (0..batch.num_rows()).map(|row| Some(!marks.has(row)));
        let kept = BooleanArray::from_iter(kept);
        Ok(filter_record_batch(&batch, &kept)?)
    }

    /// The totals, which the log gets too, and the file if there are rows in it.
    pub(super) fn finish(self) -> (Skipped, Option<RejectFile>) {
        if self.skipped.rows() > 0 {
            log::warn!("rows of {}: {}", self.owner, self.skipped);
        }
        (self.skipped, self.file.filter(RejectFile::is_begun))
    }
}
