//! The provider of a vertex type or an edge triplet.

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::{Session, TableProvider};
use datafusion::datasource::TableType;
use datafusion::error::Result;
use datafusion::logical_expr::Expr;
use datafusion::physical_plan::ExecutionPlan;

use crate::config::GraphArOptions;
use crate::error::GraphArError;
use crate::physical::scan::{ScanTable, scan_rows};
use crate::storage::Loaded;

/// The rows of a vertex type, or of one layout of an edge triplet.
///
/// Made from metadata and counts that are in memory already; planning a scan does no I/O.
/// A table whose files are not there, or contradict each other, has a schema all the same,
/// and reports what is wrong when it is scanned.
#[derive(Debug, Clone)]
pub struct ElementTable {
    schema: SchemaRef,
    rows: Loaded<Arc<ScanTable>>,
}

impl ElementTable {
    /// A table that can be read.
    pub fn new(table: ScanTable) -> Self {
        Self {
            schema: Arc::clone(&table.schema),
            rows: Ok(Arc::new(table)),
        }
    }

    /// A table of this schema whose every scan fails.
    pub fn unreadable(schema: SchemaRef, error: Arc<GraphArError>) -> Self {
        Self {
            schema,
            rows: Err(error),
        }
    }

    /// What a scan reads, or why there is nothing to read.
    pub fn rows(&self) -> &Loaded<Arc<ScanTable>> {
        &self.rows
    }
}

#[async_trait]
impl TableProvider for ElementTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        _filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let table = match &self.rows {
            Ok(table) => table,
            Err(error) => return Err(GraphArError::again(error)),
        };
        scan_rows(
            table,
            projection,
            limit,
            state.config().target_partitions(),
            &GraphArOptions::of(state.config_options()),
        )
    }
}
