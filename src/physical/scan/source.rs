//! The scan as DataFusion sees it: a [`FileSource`] whose "files" are ranges of rows.

use std::fmt;
use std::sync::Arc;

use datafusion::arrow::datatypes::Schema;
use datafusion::common::plan_err;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::config::ConfigOptions;
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::{
    FileOpenFuture, FileOpener, FileScanConfig, FileSource,
};
use datafusion::datasource::table_schema::TableSchema;
use datafusion::error::Result;
use datafusion::physical_expr::expressions::{Column, DynamicFilterTracking};
use datafusion::physical_expr::projection::{ProjectionExprs, Projector};
use datafusion::physical_expr::utils::{conjunction_opt, reassign_expr_columns};
use datafusion::physical_expr_common::physical_expr::is_volatile;
use datafusion::physical_plan::filter_pushdown::{FilterPushdownPropagation, PushedDown};
use datafusion::physical_plan::metrics::ExecutionPlanMetricsSet;
use datafusion::physical_plan::{DisplayFormatType, PhysicalExpr};
use futures::StreamExt;
use object_store::ObjectStore;

use super::binding::{Bound, OpenConditions};
use super::conditions::{Conditions, SortedConditions};
use super::reader::{Pipeline, RangeReader};
use super::{ScanMetrics, ScanTable, Selection};
use crate::config::GraphArOptions;
use crate::format::RowRanges;
use crate::storage::{FileAccess, ReadBudget, ReadMeter};

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
    selection: Selection,
    /// Conditions on the columns of the table; every row that comes out fulfils them.
    conditions: Vec<Arc<dyn PhysicalExpr>>,
    /// Conditions whose parameters have no value yet.
    open: Option<OpenConditions>,
    /// Why this layout is read.
    choice: Option<Arc<str>>,
    options: Arc<GraphArOptions>,
    batch_size: usize,
    budget: Arc<ReadBudget>,
    metrics: ExecutionPlanMetricsSet,
}

impl GraphArSource {
    /// A source of all columns of the selected rows of `table`.
    pub fn new(table: Arc<ScanTable>, selection: Selection, options: &GraphArOptions) -> Self {
        let columns: Vec<usize> = (0..table.schema.fields().len()).collect();
        Self {
            table_schema: TableSchema::from(Arc::clone(&table.schema)),
            projection: ProjectionExprs::from_indices(&columns, &table.schema),
            table,
            selection,
            conditions: vec![],
            open: None,
            choice: None,
            options: Arc::new(options.clone()),
            batch_size: 8192,
            budget: Arc::new(budget(options)),
            metrics: ExecutionPlanMetricsSet::new(),
        }
    }

    /// The same for the rows that fulfil these conditions on the table's columns, too.
    pub fn with_conditions(mut self, conditions: Vec<Arc<dyn PhysicalExpr>>) -> Self {
        self.conditions.extend(conditions);
        self
    }

    /// The same with conditions that wait for the values of their parameters. It cannot be read.
    pub fn with_open_conditions(mut self, open: OpenConditions) -> Self {
        self.open = Some(open);
        self
    }

    /// Conditions that wait for the values of their parameters.
    pub fn open_conditions(&self) -> Option<&OpenConditions> {
        self.open.as_ref()
    }

    /// The same columns of what its open conditions, which have their values now, ask for.
    pub(super) fn bound(&self, bound: Bound) -> Self {
        let mut source = self.clone().with_conditions(bound.conditions);
        source.table = bound.table;
        source.selection = bound.selection;
        source.choice = bound.choice;
        source.open = None;
        // Each run has a budget and counters of its own.
        source.budget = Arc::new(budget(&self.options));
        source.metrics = ExecutionPlanMetricsSet::new();
        source
    }

    /// Switches.
    pub(super) fn options(&self) -> &GraphArOptions {
        &self.options
    }

    /// Says why this layout is read, for plans.
    pub fn with_choice(mut self, choice: Arc<str>) -> Self {
        self.choice = Some(choice);
        self
    }

    /// The table read.
    pub fn table(&self) -> &Arc<ScanTable> {
        &self.table
    }

    /// The rows read, before conditions.
    pub fn selection(&self) -> &Selection {
        &self.selection
    }

    /// The columns of the table that come out of the files, and how each comes about.
    fn reader(
        &self,
        store: Arc<dyn ObjectStore>,
        partition: usize,
        limited: bool,
    ) -> Result<RangeReader> {
        let (table, options) = (&self.table, &self.options);
        let mut columns = if options.projection_pushdown {
            self.projection.column_indices()
        } else {
            (0..table.schema.fields().len()).collect()
        };
        // Rows that were found through offsets are checked to be those of the ids looked for.
        let aligned = table.aligned.as_ref();
        let aligned = aligned.filter(|aligned| aligned.offsets.is_some());
        let verified = match (&self.selection, aligned) {
            (Selection::Ids(ids), Some(aligned)) if !table.endpoints.is_empty() => {
                if !columns.contains(&aligned.column) {
                    columns.push(aligned.column);
                }
                Some(Arc::clone(ids))
            }
            _ => None,
        };
        let SortedConditions {
            ids,
            fixed,
            dynamic,
        } = SortedConditions::new(table, &self.selection, &self.conditions, options);
        let pipeline = |conditions: &[Arc<dyn PhysicalExpr>]| {
            let conditions = Conditions::try_new(table, conditions, &columns, options)?;
            Pipeline::try_new(table, conditions, &columns)
        };
        let fixed_pipeline = pipeline(&fixed)?;
        let dynamic = if dynamic.is_empty() {
            None
        } else {
            let all: Vec<_> = fixed.into_iter().chain(dynamic.iter().cloned()).collect();
            let pipeline = pipeline(&all)?;
            Some((dynamic, pipeline))
        };
        Ok(RangeReader {
            fixed: fixed_pipeline,
            dynamic,
            schema: Arc::new(table.schema_of(&columns)?),
            ids,
            access: FileAccess {
                validate: options.validate_cached_files,
                ..FileAccess::new(
                    store,
                    table.store_url.as_str(),
                    table.cache.clone(),
                    ReadMeter::new(&self.budget),
                )
            },
            batch_size: self.batch_size,
            limited,
            ordered: options.declared_ordering && aligned.is_some(),
            verified,
            metrics: ScanMetrics::new(&self.metrics, partition),
            table: Arc::clone(table),
        })
    }

    fn describe(&self) -> Vec<(&'static str, String)> {
        let mut facts = vec![("table", self.table.name.clone())];
        if let Some(choice) = &self.choice {
            facts.push(("layout", choice.to_string()));
        }
        if let Selection::Ids(ids) = &self.selection {
            let (kept, total) = self.selection.chunks(&self.table);
            facts.push(("chunks", format!("{kept}/{total}")));
            facts.push(("ids", shown(ids)));
        }
        if let Some(open) = &self.open {
            let filters: Vec<String> = open.filters.iter().map(ToString::to_string).collect();
            facts.push(("open", filters.join(" AND ")));
        }
        if !self.conditions.is_empty() {
            let conditions: Vec<String> = self.conditions.iter().map(ToString::to_string).collect();
            facts.push(("predicate", conditions.join(" AND ")));
        }
        facts
    }
}

fn budget(options: &GraphArOptions) -> ReadBudget {
    ReadBudget::new(options.max_requests as u64, options.max_bytes as u64)
}

/// Ranges shown in a plan before the rest is only counted.
const SHOWN_RANGES: usize = 4;

/// Sets of ids as a plan shows them: `[3, 5..9)`.
fn shown(ids: &RowRanges) -> String {
    let ranges = ids.ranges();
    let mut texts: Vec<String> = ranges
        .iter()
        .take(SHOWN_RANGES)
        .map(|range| match range.end - range.start {
            1 => range.start.to_string(),
            _ => format!("{}..{}", range.start, range.end),
        })
        .collect();
    if ranges.len() > SHOWN_RANGES {
        texts.push(format!("{} more ranges", ranges.len() - SHOWN_RANGES));
    }
    format!("[{}]", texts.join(", "))
}

impl FileSource for GraphArSource {
    fn create_file_opener(
        &self,
        store: Arc<dyn ObjectStore>,
        config: &FileScanConfig,
        partition: usize,
    ) -> Result<Arc<dyn FileOpener>> {
        if let Some(open) = &self.open {
            let filters: Vec<String> = open.filters.iter().map(ToString::to_string).collect();
            return plan_err!("a parameter has no value: {}", filters.join(" AND "));
        }
        let reader = self.reader(store, partition, config.limit.is_some())?;
        let schema = Arc::clone(&reader.schema);
        let projector = self
            .projection
            .clone()
            .try_map_exprs(|expr| reassign_expr_columns(expr, &schema))?
            .make_projector(&schema)?;
        let identity = is_identity(&self.projection, &schema);
        Ok(Arc::new(Opener {
            reader: Arc::new(reader),
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
        for (name, fact) in self.describe() {
            match format {
                DisplayFormatType::Default | DisplayFormatType::Verbose => {
                    write!(f, ", {name}={fact}")?;
                }
                DisplayFormatType::TreeRender => writeln!(f, "{name}={fact}")?,
            }
        }
        Ok(())
    }

    fn filter(&self) -> Option<Arc<dyn PhysicalExpr>> {
        let conditions = self.conditions.iter().map(Arc::clone);
        conjunction_opt(conditions)
    }

    /// Takes conditions that give the same answer wherever they are tested. Conditions that change while
    /// the query runs narrow what is read; whoever made them does not rely on it.
    fn try_pushdown_filters(
        &self,
        filters: Vec<Arc<dyn PhysicalExpr>>,
        _config: &ConfigOptions,
    ) -> Result<FilterPushdownPropagation<Arc<dyn FileSource>>> {
        let taken = |filter: &Arc<dyn PhysicalExpr>| {
            let switch = if DynamicFilterTracking::classify(filter).contains_dynamic_filter() {
                self.options.dynamic_filters
            } else {
                self.options.filter_pushdown
            };
            switch && !is_volatile(filter)
        };
        let (answers, conditions): (Vec<_>, Vec<_>) = filters
            .into_iter()
            .map(|filter| match taken(&filter) {
                true => (PushedDown::Yes, Some(filter)),
                false => (PushedDown::No, None),
            })
            .unzip();
        let conditions: Vec<_> = conditions.into_iter().flatten().collect();
        let propagation = FilterPushdownPropagation::with_parent_pushdown_result(answers);
        if conditions.is_empty() {
            return Ok(propagation);
        }
        let source: Arc<dyn FileSource> = Arc::new(self.clone().with_conditions(conditions));
        Ok(propagation.with_updated_node(source))
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
        let projected = self
            .projection
            .as_ref()
            .iter()
            .map(|projected| &projected.expr);
        for expr in self.conditions.iter().chain(projected) {
            if f(expr)? == TreeNodeRecursion::Stop {
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
