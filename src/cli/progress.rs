//! A line that tells how far a long `COPY` or `INSERT` into a graph has come, and what it came to.

use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use datafusion::datasource::sink::DataSinkExec;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::{StreamExt, stream};
use tokio::time::{MissedTickBehavior, interval_at};

use crate::table::InsertSink;
use crate::writer::{GraphArSink, OrderedSink, WriteProgress};

/// When lines are shown.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    /// Shorter statements show nothing on the way.
    pub patience: Duration,
    /// Time between two lines.
    pub period: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            patience: Duration::from_millis(500),
            period: Duration::from_millis(200),
        }
    }
}

/// Back to the first column, and nothing behind it: the line is written over itself.
const CLEAR: &str = "\r\x1b[K";

/// What a plan writes to graphs, in no order.
pub fn writes(plan: &Arc<dyn ExecutionPlan>) -> Vec<Arc<WriteProgress>> {
    let mut found: Vec<_> = plan.children().into_iter().flat_map(writes).collect();
    if let Some(exec) = plan.downcast_ref::<DataSinkExec>() {
        let mut sink = exec.sink();
        if let Some(ordered) = sink.downcast_ref::<OrderedSink>() {
            sink = ordered.sink().as_ref();
        }
        if let Some(copy) = sink.downcast_ref::<GraphArSink>() {
            found.push(Arc::clone(copy.progress()));
        } else if let Some(insert) = sink.downcast_ref::<InsertSink>() {
            found.push(Arc::clone(insert.progress()));
        }
    }
    found
}

/// Waits for the first rows, which a statement that writes gives out at its end, and shows meanwhile how far it is.
/// Gives the same rows.
pub async fn wait(
    mut rows: SendableRecordBatchStream,
    writes: &[Arc<WriteProgress>],
    pace: Pace,
    err: &mut dyn Write,
) -> SendableRecordBatchStream {
    let began = Instant::now();
    let mut ticks = interval_at((began + pace.patience).into(), pace.period);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let mut shown = false;
    let first = loop {
        tokio::select! {
            biased;
            first = rows.next() => break first,
            _ = ticks.tick() => {
                let line = line(writes, began.elapsed());
                // Nobody's work should fail as its progress cannot be shown.
                let _ = write!(err, "{CLEAR}{line}").and_then(|()| err.flush());
                shown = true;
            }
        }
    };
    if shown {
        let _ = write!(err, "{CLEAR}").and_then(|()| err.flush());
    }
    if matches!(first, Some(Ok(_))) {
        let _ = writeln!(err, "{}", total(writes, began.elapsed()));
    }
    let schema = rows.schema();
    let rows = stream::iter(first).chain(rows);
    Box::pin(RecordBatchStreamAdapter::new(schema, rows))
}

/// What is written so far, of one statement.
struct Amount {
    rows: u64,
    bytes: u64,
    files: u64,
}

fn amount(writes: &[Arc<WriteProgress>]) -> Amount {
    let sum = |of: fn(&WriteProgress) -> u64| writes.iter().map(|write| of(write)).sum();
    Amount {
        rows: sum(WriteProgress::rows),
        bytes: sum(WriteProgress::bytes),
        files: sum(WriteProgress::files),
    }
}

/// `writing ordered_by_source: 1200000 rows, 14.2 MB, 3.1 s, 387096 rows/s`
fn line(writes: &[Arc<WriteProgress>], time: Duration) -> String {
    let Amount { rows, bytes, .. } = amount(writes);
    let phase = writes.first().map(|write| write.phase());
    let phase = phase.filter(|phase| !phase.is_empty());
    let phase = phase.unwrap_or_else(|| "beginning".to_owned());
    format!(
        "{phase}: {rows} rows, {}, {}",
        size(bytes),
        pace(rows, time)
    )
}

/// `1200000 rows, 14.2 MB in 12 files, 3.1 s, 387096 rows/s`
fn total(writes: &[Arc<WriteProgress>], time: Duration) -> String {
    let Amount { rows, bytes, files } = amount(writes);
    let noun = if files == 1 { "file" } else { "files" };
    let pace = pace(rows, time);
    format!("{rows} rows, {} in {files} {noun}, {pace}", size(bytes))
}

fn pace(rows: u64, time: Duration) -> String {
    let seconds = time.as_secs_f64();
    let millis = time.as_millis().max(1);
    let rate = u128::from(rows) * 1000 / millis;
    format!("{seconds:.1} s, {rate} rows/s")
}

/// Bytes in the largest unit of which there is one.
fn size(bytes: u64) -> String {
    let units = [(1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB")];
    match units.iter().find(|(unit, _)| bytes >= *unit) {
        Some((unit, name)) => {
            let tenths = bytes / (unit / 10);
            format!("{}.{} {name}", tenths / 10, tenths % 10)
        }
        None => format!("{bytes} B"),
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use datafusion::arrow::array::{ArrayRef, Int32Array, RecordBatch};
    use datafusion::arrow::datatypes::Schema;
    use datafusion::common::exec_err;
    use datafusion::error::Result;
    use tokio::sync::oneshot;

    use super::*;

    fn written() -> Vec<Arc<WriteProgress>> {
        let progress = WriteProgress::default();
        progress.restart();
        progress.took(1500);
        progress.wrote(2_345_678);
        progress.wrote(1);
        vec![Arc::new(progress)]
    }

    #[test]
    fn sizes_are_in_the_unit_that_fits() {
        let texts = [0, 999, 1_000, 1_999, 1_000_000, 142_000_000, 3_450_000_000].map(size);
        let expected = [
            "0 B", "999 B", "1.0 kB", "1.9 kB", "1.0 MB", "142.0 MB", "3.4 GB",
        ];
        assert_eq!(texts, expected);
    }

    #[test]
    fn lines_tell_phase_rows_bytes_and_rate() {
        let writes = written();
        let time = Duration::from_millis(3000);
        assert_eq!(
            line(&writes, time),
            "reading rows: 1500 rows, 2.3 MB, 3.0 s, 500 rows/s"
        );
        writes[0].enter("writing ordered_by_source");
        assert!(line(&writes, time).starts_with("writing ordered_by_source: 1500"));
        assert_eq!(
            total(&writes, time),
            "1500 rows, 2.3 MB in 2 files, 3.0 s, 500 rows/s"
        );
        assert!(line(&[], Duration::ZERO).starts_with("beginning: 0 rows"));
    }

    /// Standard error, and a signal once it holds two lines.
    struct Lines(Vec<u8>, Option<oneshot::Sender<()>>);

    impl Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.extend_from_slice(bytes);
            let text = String::from_utf8_lossy(&self.0);
            if text.matches("reading rows").count() == 2
                && let Some(seen) = self.1.take()
            {
                let _ = seen.send(());
            }
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// What is shown of a statement that ends when two lines were, and its rows.
    async fn shown(result: Result<RecordBatch>) -> (String, Vec<Result<RecordBatch>>) {
        let (sender, seen) = oneshot::channel();
        let mut err = Lines(vec![], Some(sender));
        let rows = stream::once(async move {
            seen.await.unwrap();
            result
        });
        let rows = RecordBatchStreamAdapter::new(Arc::new(Schema::empty()), rows);
        let often = Pace {
            patience: Duration::ZERO,
            period: Duration::from_millis(1),
        };
        let rows = wait(Box::pin(rows), &written(), often, &mut err).await;
        let rows = rows.collect().await;
        (String::from_utf8(err.0).unwrap(), rows)
    }

    #[tokio::test]
    async fn a_long_statement_shows_lines_and_then_its_total() {
        let values: ArrayRef = Arc::new(Int32Array::from(vec![7]));
        let batch = RecordBatch::try_from_iter([("n", values)]).unwrap();
        let (text, rows) = shown(Ok(batch.clone())).await;
        assert_eq!(rows.len(), 1);
        assert_eq!(rows[0].as_ref().unwrap(), &batch);
        assert!(
            text.matches("reading rows: 1500 rows").count() > 1,
            "{text}"
        );
        let last = text.rsplit(CLEAR).next().unwrap();
        assert!(last.starts_with("1500 rows, 2.3 MB in 2 files"), "{text}");
    }

    #[tokio::test]
    async fn a_statement_that_fails_leaves_no_total() {
        let (text, rows) = shown(exec_err!("broken")).await;
        assert!(rows[0].is_err());
        assert!(text.ends_with(CLEAR), "{text}");
    }
}
