//! Primary keys that are there more than once.
//!
//! A first pass over the key column keeps a hash of each key, eight bytes, and sorts them. Only if some are equal does a
//! second pass look for the keys that these hashes belong to, and compares the keys themselves.

use datafusion::arrow::array::{Array, ArrayRef};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion::common::HashMap;
use datafusion::common::hash_utils::{RandomState, create_hashes};
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::memory_pool::MemoryReservation;
use futures::TryStreamExt;

use super::chunks::{Series, nullable};
use super::look::Places;
use super::{Context, Rule};
use crate::format::chunk_count;
use crate::storage::payload::ChunkColumn;

/// Most keys of which a check says where they are.
const MOST_REPEATED: usize = 1000;

const SEED: u64 = 0x6772_6170_6861_7221;

/// Hashes of the keys of one vertex type.
pub(super) struct Keys {
    column: String,
    hashes: Vec<u64>,
    /// How many of them came before the chunk that is being read.
    before: usize,
    chunk: Option<u64>,
    memory: MemoryReservation,
}

impl Keys {
    /// For the key in this column.
    pub(super) fn new(column: &str, memory: MemoryReservation) -> Self {
        Self {
            column: column.to_owned(),
            hashes: vec![],
            before: 0,
            chunk: None,
            memory,
        }
    }

    /// A chunk begins, or begins again.
    pub(super) fn begin(&mut self, first: u64) {
        if self.chunk == Some(first) {
            self.hashes.truncate(self.before);
        }
        self.chunk = Some(first);
        self.before = self.hashes.len();
    }

    /// Keeps the hashes of a batch.
    pub(super) fn collect(&mut self, batch: &RecordBatch) -> Result<()> {
        let Some(column) = batch.column_by_name(&self.column) else {
            return Ok(());
        };
        let wanted = self.hashes.len() + column.len();
        if wanted > self.hashes.capacity() {
            let capacity = wanted.max(self.hashes.len().saturating_mul(2));
            self.memory
                .try_resize(capacity.saturating_mul(size_of::<u64>()))?;
            let more = capacity - self.hashes.len();
            self.hashes
                .try_reserve_exact(more)
                .map_err(|e| DataFusionError::ResourcesExhausted(e.to_string()))?;
        }
        let hashes = hashes_of(column)?;
        let keys = hashes.into_iter().enumerate();
        self.hashes
            .extend(keys.filter(|(at, _)| column.is_valid(*at)).map(|(_, h)| h));
        Ok(())
    }

    /// The hashes that came more than once, as far as they are looked for; the others are let go.
    fn repeated(&mut self) -> HashMap<u64, Vec<(String, u64)>> {
        self.hashes.sort_unstable();
        let pairs = self.hashes.windows(2).filter(|pair| pair[0] == pair[1]);
        let mut repeated = HashMap::new();
        for pair in pairs {
            if repeated.len() == MOST_REPEATED {
                break;
            }
            repeated.insert(pair[0], vec![]);
        }
        self.hashes = vec![];
        self.memory.free();
        repeated
    }

    /// Reports the keys that came more than once, for each chunk that has one again.
    pub(super) async fn report(mut self, context: &Context, series: &Series<'_>) -> Result<()> {
        let mut repeated = self.repeated();
        let Ok(field) = series.declared.field_with_name(&self.column) else {
            return Ok(());
        };
        if repeated.is_empty() {
            return Ok(());
        }
        let columns = [ChunkColumn::named(nullable(field))];
        for number in 0..chunk_count(series.rows, series.chunk_size) {
            let file = series.file(number);
            // What is wrong with a file has been reported by the first pass.
            let Ok(outline) = series.outline(&file).await else {
                continue;
            };
            let Ok(mut batches) = series.open(&file, &columns, outline.rows).await else {
                continue;
            };
            let first = number.saturating_mul(series.chunk_size);
            let (mut row, mut places) = (0, Places::default());
            while let Ok(Some(batch)) = batches.try_next().await {
                again(batch.column(0), first, row, &mut repeated, &mut places)?;
                row += batch.num_rows() as u64;
                tokio::task::consume_budget().await;
            }
            if let Some(found) = places.found() {
                let expected = format!("each value of column '{}' once", self.column);
                let report = &context.report;
                report.add(&file, Rule::DuplicateKey, expected, found);
            }
        }
        Ok(())
    }
}

/// Notes the keys of a batch that were there before. `row` is its first row, of a chunk that begins with vertex `first`.
fn again(
    column: &ArrayRef,
    first: u64,
    row: u64,
    repeated: &mut HashMap<u64, Vec<(String, u64)>>,
    places: &mut Places,
) -> Result<()> {
    let options = FormatOptions::new();
    let values = ArrayFormatter::try_new(column.as_ref(), &options)?;
    for (at, hash) in hashes_of(column)?.into_iter().enumerate() {
        let Some(known) = repeated.get_mut(&hash).filter(|_| column.is_valid(at)) else {
            continue;
        };
        let row = row + at as u64;
        let value = values.value(at).to_string();
        match known.iter().find(|(other, _)| *other == value) {
            Some((_, vertex)) => {
                places.add(|| format!("{value} of vertex {vertex} again in row {row}"));
            }
            None => known.push((value, first + row)),
        }
    }
    Ok(())
}

fn hashes_of(column: &ArrayRef) -> Result<Vec<u64>> {
    let mut hashes = vec![0; column.len()];
    create_hashes([column], &RandomState::with_seed(SEED), &mut hashes)?;
    Ok(hashes)
}
