//! The stream of an expansion.

use std::collections::VecDeque;
use std::sync::Arc;

use datafusion::arrow::array::{AsArray, Int64Array, RecordBatch};
use datafusion::arrow::datatypes::Int64Type;
use datafusion::common::{DataFusionError, internal_datafusion_err};
use datafusion::error::Result;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::physical_plan::metrics::{BaselineMetrics, RecordOutput};
use futures::TryStreamExt;
use tokio::sync::OnceCell;
use tokio::task::coop::consume_budget;

use super::build::{Build, is_exhausted};
use super::cursor::{Cursor, Shape};
use super::lists::Lists;
use crate::config::{ExpandStrategy, GraphArOptions};

/// The rows of all ids, read by whichever partition needs them first; `None` if memory had no room.
pub(super) type Shared = OnceCell<Option<Arc<Lists>>>;

/// Where the rows of ids come from.
enum Source {
    /// Not known yet: the input is being collected.
    Unknown,
    /// All are in memory.
    All(Arc<Lists>),
    /// Those of some rows of the input at a time are read.
    Windows,
}

/// One partition of an expansion.
///
/// ```text
/// Unknown --few ids, or no memory--> Windows --rows of a batch--> Cursor --all given out--> Windows
///    \--------many ids-------------> All ------a batch----------> Cursor --all given out--> All
/// ```
pub(super) struct Expansion {
    pub(super) input: SendableRecordBatchStream,
    pub(super) key: usize,
    pub(super) target: Option<usize>,
    pub(super) shape: Arc<Shape>,
    pub(super) build: Build,
    pub(super) shared: Arc<Shared>,
    pub(super) metrics: BaselineMetrics,
    state: State,
}

struct State {
    source: Source,
    /// Batches of the input that were collected, and whether there are no others.
    waiting: VecDeque<RecordBatch>,
    ended: bool,
    cursor: Option<Cursor>,
    /// Rows whose windows are read at once.
    window_rows: usize,
    /// What collected batches take.
    memory: MemoryReservation,
}

/// Of so many ids windows for one cost less than all rows: a page of ids holds thousands.
const WINDOW_SHARE: u64 = 256;

/// Fewer ids than this are never too many for windows, more than that always.
const WINDOW_BOUNDS: (usize, usize) = (64, 1 << 16);

impl Expansion {
    pub(super) fn new(
        input: SendableRecordBatchStream,
        (key, target): (usize, Option<usize>),
        shape: Arc<Shape>,
        build: Build,
        shared: Arc<Shared>,
        metrics: BaselineMetrics,
    ) -> Self {
        let memory = MemoryConsumer::new(build.name).register(build.context.memory_pool());
        Self {
            input,
            key,
            target,
            state: State {
                source: Source::Unknown,
                waiting: VecDeque::new(),
                ended: false,
                cursor: None,
                window_rows: shape.batch_size,
                memory,
            },
            shape,
            build,
            shared,
            metrics,
        }
    }

    /// The next batch of the output.
    pub(super) async fn next(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            // A list may be long, and nothing that is read waits.
            consume_budget().await;
            if let Some(cursor) = &mut self.state.cursor {
                let timer = self.metrics.elapsed_compute().timer();
                let next = cursor.next(&self.shape)?;
                timer.done();
                match next {
                    Some(batch) if batch.num_rows() > 0 => {
                        return Ok(Some(batch.record_output(&self.metrics)));
                    }
                    Some(_) => continue,
                    None => self.state.cursor = None,
                }
            }
            if matches!(self.state.source, Source::Unknown) {
                self.find_source().await?;
            }
            let Some(batch) = self.input().await? else {
                return Ok(None);
            };
            let lists = match &self.state.source {
                Source::All(lists) => Arc::clone(lists),
                _ => match self.windows(batch).await? {
                    Some(cursor) => {
                        self.state.cursor = Some(cursor);
                        continue;
                    }
                    None => continue,
                },
            };
            self.state.cursor = Some(self.cursor(batch, lists)?);
        }
    }

    fn cursor(&self, batch: RecordBatch, lists: Arc<Lists>) -> Result<Cursor> {
        let keys = ids(&batch, self.key)?.clone();
        let targets = self.target.map(|target| ids(&batch, target).cloned());
        Ok(Cursor::new(batch, keys, targets.transpose()?, lists))
    }

    /// The next batch of the input.
    async fn input(&mut self) -> Result<Option<RecordBatch>> {
        if let Some(batch) = self.state.waiting.pop_front() {
            let bytes = batch.get_array_memory_size();
            self.state
                .memory
                .shrink(bytes.min(self.state.memory.size()));
            return Ok(Some(batch));
        }
        if self.state.ended {
            return Ok(None);
        }
        self.input.try_next().await
    }

    /// Collects the input as far as it takes to know where rows are to come from.
    async fn find_source(&mut self) -> Result<()> {
        if let Some(Some(lists)) = self.shared.get() {
            self.state.source = Source::All(Arc::clone(lists));
            return Ok(());
        }
        let options = GraphArOptions::of(self.build.context.session_config().options());
        if options.expand_strategy == ExpandStrategy::Offsets {
            self.state.source = Source::Windows;
            return Ok(());
        }
        let share = usize::try_from(self.build.rows.ids() / WINDOW_SHARE).unwrap_or(usize::MAX);
        let few = match options.expand_strategy {
            ExpandStrategy::Csr => 0,
            _ => share.clamp(WINDOW_BOUNDS.0, WINDOW_BOUNDS.1),
        };
        let mut rows = 0;
        while rows <= few {
            let Some(batch) = self.input.try_next().await? else {
                self.state.ended = true;
                break;
            };
            rows += batch.num_rows();
            // What does not fit is not collected on.
            let fits = self
                .state
                .memory
                .try_grow(batch.get_array_memory_size())
                .is_ok();
            self.state.waiting.push_back(batch);
            if !fits {
                break;
            }
        }
        if self.state.ended {
            self.state.source = Source::Windows;
            return Ok(());
        }
        let build = &self.build;
        let all = self.shared.get_or_try_init(|| async {
            Ok::<_, DataFusionError>(build.all().await?.map(Arc::new))
        });
        self.state.source = match all.await? {
            Some(lists) => Source::All(Arc::clone(lists)),
            None => Source::Windows,
        };
        Ok(())
    }

    /// The rows of a batch's ids. Where memory has no room for them all, the rest of the batch waits; `None` if all of it does.
    async fn windows(&mut self, batch: RecordBatch) -> Result<Option<Cursor>> {
        let rows = self.state.window_rows.clamp(1, batch.num_rows().max(1));
        let rest = batch.slice(rows, batch.num_rows() - rows);
        let first = batch.slice(0, rows);
        if rest.num_rows() > 0 {
            self.state.waiting.push_front(rest);
        }
        let count = self.build.rows.ids();
        let known = ids(&first, self.key)?.iter().flatten();
        let known = known.filter_map(|id| u64::try_from(id).ok().filter(|id| *id < count));
        let mut known: Vec<u64> = known.collect();
        known.sort_unstable();
        known.dedup();
        match self.build.some(&known).await {
            Ok(lists) => self.cursor(first, Arc::new(lists)).map(Some),
            Err(error) if is_exhausted(&error) && rows > 1 => {
                self.state.window_rows = rows / 2;
                self.state.waiting.push_front(first);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }
}

/// A column of ids.
fn ids(batch: &RecordBatch, column: usize) -> Result<&Int64Array> {
    let found = batch.columns().get(column);
    let found = found.and_then(|column| column.as_primitive_opt::<Int64Type>());
    found.ok_or_else(|| internal_datafusion_err!("column {column}: expected ids of type BIGINT"))
}
