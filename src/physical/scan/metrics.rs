//! What a partition of a scan counts.

use std::sync::atomic::{AtomicU64, Ordering};

use datafusion::physical_plan::metrics::{Count, ExecutionPlanMetricsSet, MetricBuilder};

use crate::storage::ReadMeter;

/// Counters that `EXPLAIN ANALYZE` shows.
pub(super) struct ScanMetrics {
    /// Chunks with selected rows.
    pub chunks: Count,
    /// Payload files opened, each counted once for a chunk.
    pub files_opened: Count,
    /// Row groups and pages with selected rows that statistics ruled out.
    pub row_groups_pruned: Count,
    pub pages_pruned: Count,
    /// Rows that statistics ruled out.
    pub rows_pruned: Count,
    /// Rows decoded, counted once for each time that some of their columns were.
    pub rows_decoded: Count,
    /// Rows that failed a condition.
    pub rows_dropped: Count,
    /// Runs of labels that were walked, and words of packed bits.
    pub label_runs: Count,
    requests: Gauge,
    bytes: Gauge,
    pages: Gauge,
    cache_hits: Gauge,
}

/// A count that follows a counter of the reads.
struct Gauge {
    count: Count,
    reported: AtomicU64,
}

impl Gauge {
    fn report(&self, now: u64) {
        let before = self.reported.fetch_max(now, Ordering::Relaxed);
        let more = now.saturating_sub(before);
        self.count.add(usize::try_from(more).unwrap_or(usize::MAX));
    }
}

impl ScanMetrics {
    pub fn new(metrics: &ExecutionPlanMetricsSet, partition: usize) -> Self {
        let count = |name: &'static str| MetricBuilder::new(metrics).counter(name, partition);
        let gauge = |name| Gauge {
            count: count(name),
            reported: AtomicU64::new(0),
        };
        Self {
            chunks: count("chunks"),
            files_opened: count("payload_files_opened"),
            row_groups_pruned: count("row_groups_pruned"),
            pages_pruned: count("pages_pruned"),
            rows_pruned: count("rows_pruned"),
            rows_decoded: count("rows_decoded"),
            rows_dropped: count("rows_dropped"),
            label_runs: count("label_runs"),
            requests: gauge("store_requests"),
            bytes: gauge("store_bytes"),
            pages: gauge("id_pages_decoded"),
            cache_hits: gauge("cache_hits"),
        }
    }

    /// Takes over what the reads have counted by now.
    pub fn report(&self, meter: &ReadMeter) {
        self.requests.report(meter.requests());
        self.bytes.report(meter.bytes());
        self.pages.report(meter.pages());
        self.cache_hits.report(meter.cache_hits());
    }
}
