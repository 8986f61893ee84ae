//! The source of a format that is only written.

use std::sync::Arc;

use datafusion::common::plan_err;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::datasource::physical_plan::{FileOpener, FileScanConfig, FileSource};
use datafusion::datasource::table_schema::TableSchema;
use datafusion::error::Result;
use datafusion::physical_plan::PhysicalExpr;
use datafusion::physical_plan::metrics::ExecutionPlanMetricsSet;
use object_store::ObjectStore;

/// Files that cannot be read one by one: only the info files say what they are.
#[derive(Debug)]
pub(super) struct Unread {
    schema: TableSchema,
    metrics: ExecutionPlanMetricsSet,
}

impl Unread {
    pub(super) fn new(schema: TableSchema) -> Self {
        Self {
            schema,
            metrics: ExecutionPlanMetricsSet::new(),
        }
    }
}

impl FileSource for Unread {
    fn create_file_opener(
        &self,
        _store: Arc<dyn ObjectStore>,
        _config: &FileScanConfig,
        _partition: usize,
    ) -> Result<Arc<dyn FileOpener>> {
        plan_err!("a graph is read by CREATE EXTERNAL TABLE … STORED AS GRAPHAR")
    }

    fn table_schema(&self) -> &TableSchema {
        &self.schema
    }

    fn with_batch_size(&self, _batch_size: usize) -> Arc<dyn FileSource> {
        Arc::new(Self::new(self.schema.clone()))
    }

    fn metrics(&self) -> &ExecutionPlanMetricsSet {
        &self.metrics
    }

    fn apply_expressions(
        &self,
        _visit: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn file_type(&self) -> &str {
        "graphar"
    }
}
