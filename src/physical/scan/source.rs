//! The scan as DataFusion sees it: a [`FileSource`] whose "files" are ranges of rows.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use datafusion::arrow::datatypes::Schema;
use datafusion::common::Statistics;
use datafusion::common::stats::Precision;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::{
    FileGroup, FileOpenFuture, FileOpener, FileScanConfig, FileScanConfigBuilder, FileSource,
};
use datafusion::datasource::source::DataSourceExec;
use datafusion::datasource::table_schema::TableSchema;
use datafusion::error::Result;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::projection::{ProjectionExprs, Projector};
use datafusion::physical_expr::utils::reassign_expr_columns;
use datafusion::physical_plan::metrics::{ExecutionPlanMetricsSet, MetricBuilder};
use datafusion::physical_plan::{DisplayFormatType, ExecutionPlan, PhysicalExpr};
use futures::StreamExt;
use object_store::ObjectStore;

use super::assemble::ReadPlan;
use super::chunks::RangeReader;
use super::{ScanTable, split_rows};
use crate::config::GraphArOptions;

/// Reads ranges of rows of a [`ScanTable`].
///
/// A [`PartitionedFile`] of this source stands for rows, not for bytes: its path is the folder of
/// the table, its `size` the number of rows, and its `range` the rows wanted, all of them if
/// it has none. So an engine that cuts files by ranges of bytes cuts this one by rows.
#[derive(Debug, Clone)]
pub struct GraphArSource {
    table: Arc<ScanTable>,
    table_schema: TableSchema,
    projection: ProjectionExprs,
    /// Whether only the files of the columns needed are opened.
    prune_columns: bool,
    batch_size: usize,
    metrics: ExecutionPlanMetricsSet,
}

impl GraphArSource {
    /// A source of all columns of `table`.
    pub fn new(table: Arc<ScanTable>, options: &GraphArOptions) -> Self {
        let columns: Vec<usize> = (0..table.schema.fields().len()).collect();
        Self {
            table_schema: TableSchema::from(Arc::clone(&table.schema)),
            projection: ProjectionExprs::from_indices(&columns, &table.schema),
            table,
            prune_columns: options.projection_pushdown,
            batch_size: 8192,
            metrics: ExecutionPlanMetricsSet::new(),
        }
    }

    /// The table read.
    pub fn table(&self) -> &Arc<ScanTable> {
        &self.table
    }
}

/// The plan that reads `projection` of all rows of `table`: in at most `partitions` partitions,
/// which are consecutive ranges of rows. A `limit` lets it stop early.
///
/// # Errors
/// If `projection` names a column that the table does not have.
pub fn scan_rows(
    table: &Arc<ScanTable>,
    projection: Option<&Vec<usize>>,
    limit: Option<usize>,
    partitions: usize,
    options: &GraphArOptions,
) -> Result<Arc<dyn ExecutionPlan>> {
    let mut statistics = Statistics::new_unknown(&table.schema);
    if options.row_count_statistics
        && let Ok(rows) = usize::try_from(table.rows.total())
    {
        statistics.num_rows = Precision::Exact(rows);
    }
    let ranges = split_rows(
        &table.rows,
        partitions,
        options.min_partition_rows,
        table.can_cut_chunks(),
    );
    let mut groups: Vec<FileGroup> = ranges
        .into_iter()
        .map(|rows| FileGroup::new(vec![range_file(table, rows)]))
        .collect();
    if groups.is_empty() {
        // A plan has at least one partition, also if it has no rows.
        groups.push(FileGroup::new(vec![]));
    }
    let source = Arc::new(GraphArSource::new(Arc::clone(table), options));
    let config = FileScanConfigBuilder::new(table.store_url.clone(), source)
        .with_file_groups(groups)
        .with_statistics(statistics)
        .with_limit(limit)
        .with_projection_indices(projection.cloned())?
        .build();
    Ok(DataSourceExec::from_data_source(config))
}

/// A range of rows as a file of the scan.
fn range_file(table: &ScanTable, rows: Range<u64>) -> PartitionedFile {
    // Counts fit an `i64`: that is how the format stores them.
    let row = |row: u64| i64::try_from(row).unwrap_or(i64::MAX);
    PartitionedFile::new(table.folder.as_str(), table.rows.total())
        .with_range(row(rows.start), row(rows.end))
}

impl FileSource for GraphArSource {
    fn create_file_opener(
        &self,
        store: Arc<dyn ObjectStore>,
        _config: &FileScanConfig,
        partition: usize,
    ) -> Result<Arc<dyn FileOpener>> {
        let columns = if self.prune_columns {
            self.projection.column_indices()
        } else {
            (0..self.table.schema.fields().len()).collect()
        };
        let plan = ReadPlan::try_new(&self.table, &columns)?;
        let projector = self
            .projection
            .clone()
            .try_map_exprs(|expr| reassign_expr_columns(expr, &plan.schema))?
            .make_projector(&plan.schema)?;
        let identity = is_identity(&self.projection, &plan.schema);
        let files_opened =
            MetricBuilder::new(&self.metrics).counter("payload_files_opened", partition);
        Ok(Arc::new(Opener {
            reader: Arc::new(RangeReader {
                table: Arc::clone(&self.table),
                plan,
                store,
                batch_size: self.batch_size,
                files_opened,
            }),
            projector: (!identity).then_some(projector),
        }))
    }

    fn table_schema(&self) -> &TableSchema {
        &self.table_schema
    }

    fn with_batch_size(&self, batch_size: usize) -> Arc<dyn FileSource> {
        Arc::new(Self {
            batch_size: batch_size.max(1),
            ..self.clone()
        })
    }

    fn projection(&self) -> Option<&ProjectionExprs> {
        Some(&self.projection)
    }

    fn metrics(&self) -> &ExecutionPlanMetricsSet {
        &self.metrics
    }

    fn file_type(&self) -> &str {
        "graphar"
    }

    fn fmt_extra(&self, format: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match format {
            DisplayFormatType::Default | DisplayFormatType::Verbose => {
                write!(f, ", table={}", self.table.name)
            }
            DisplayFormatType::TreeRender => writeln!(f, "table={}", self.table.name),
        }
    }

    /// The table's provider has cut the rows already, at places that suit its chunks.
    fn supports_repartitioning(&self) -> bool {
        false
    }

    fn try_pushdown_projection(
        &self,
        projection: &ProjectionExprs,
    ) -> Result<Option<Arc<dyn FileSource>>> {
        Ok(Some(Arc::new(Self {
            projection: self.projection.try_merge(projection)?,
            ..self.clone()
        })))
    }

    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        for projected in self.projection.as_ref() {
            if f(&projected.expr)? == TreeNodeRecursion::Stop {
                return Ok(TreeNodeRecursion::Stop);
            }
        }
        Ok(TreeNodeRecursion::Continue)
    }
}

/// Whether the projection gives the columns of `schema` just as they are.
fn is_identity(projection: &ProjectionExprs, schema: &Schema) -> bool {
    let columns = projection.as_ref();
    columns.len() == schema.fields().len()
        && columns
            .iter()
            .zip(schema.fields())
            .all(|(projected, field)| {
                let column = projected.expr.downcast_ref::<Column>();
                column.is_some_and(|column| column.name() == field.name())
                    && projected.alias == *field.name()
            })
}

struct Opener {
    reader: Arc<RangeReader>,
    /// `None` where the columns read are the columns wanted.
    projector: Option<Projector>,
}

impl FileOpener for Opener {
    fn open(&self, file: PartitionedFile) -> Result<FileOpenFuture> {
        let total = self.reader.table.rows.total();
        let rows = match &file.range {
            Some(range) => {
                let row = |row: i64| u64::try_from(row).unwrap_or(0).min(total);
                row(range.start)..row(range.end)
            }
            None => 0..total,
        };
        let reader = Arc::clone(&self.reader);
        let projector = self.projector.clone();
        Ok(Box::pin(async move {
            let batches = reader.read(rows);
            Ok(match projector {
                None => batches,
                Some(projector) => batches
                    .map(move |batch| projector.project_batch(&batch?))
                    .boxed(),
            })
        }))
    }
}
