//! Files for what does not fit into memory.

use std::sync::Arc;

use datafusion::arrow::datatypes::SchemaRef;
use datafusion::config::SpillCompression;
use datafusion::execution::TaskContext;
use datafusion::execution::runtime_env::RuntimeEnv;
use datafusion::physical_plan::SpillManager;
use datafusion::physical_plan::metrics::{ExecutionPlanMetricsSet, SpillMetrics};

/// Where edges go that do not fit into the memory pool: temporary files of DataFusion's disk manager, which are
/// removed when the writer has read them, or is dropped.
#[derive(Debug, Clone)]
pub struct Spilling {
    runtime: Arc<RuntimeEnv>,
    compression: SpillCompression,
    metrics: SpillMetrics,
}

impl Spilling {
    /// The files of a runtime, uncompressed. What is spilled is counted in `metrics`.
    pub fn new(runtime: Arc<RuntimeEnv>, metrics: &ExecutionPlanMetricsSet) -> Self {
        Self {
            runtime,
            compression: SpillCompression::default(),
            metrics: SpillMetrics::new(metrics, 0),
        }
    }

    /// As a statement's session says; `None` if its disk manager makes no files.
    pub fn of_context(context: &TaskContext, metrics: &ExecutionPlanMetricsSet) -> Option<Self> {
        let runtime = context.runtime_env();
        let options = context.session_config().options();
        runtime.disk_manager.tmp_files_enabled().then(|| Self {
            compression: options.execution.spill_compression,
            ..Self::new(runtime, metrics)
        })
    }

    /// Files with these columns.
    pub(super) fn manager(&self, schema: SchemaRef) -> SpillManager {
        SpillManager::new(Arc::clone(&self.runtime), self.metrics.clone(), schema)
            .with_compression_type(self.compression)
    }
}
