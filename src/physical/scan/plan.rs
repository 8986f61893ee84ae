//! Plans the scan of a table: its partitions, its order, and what the optimizer may know.

use std::ops::Range;
use std::sync::Arc;

use datafusion::common::stats::Precision;
use datafusion::common::{ColumnStatistics, ScalarValue, SplitPoint, Statistics};
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::{FileGroup, FileScanConfigBuilder};
use datafusion::datasource::source::DataSourceExec;
use datafusion::error::Result;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{LexOrdering, PhysicalSortExpr, RangePartitioning};
use datafusion::physical_plan::{ExecutionPlan, Partitioning, PhysicalExpr};

use super::{GraphArSource, OpenConditions, PropertyStatistics, ScanTable, Selection, split_rows};
use crate::config::GraphArOptions;

/// What a scan is to read.
#[derive(Debug)]
pub struct ScanRequest<'a> {
    /// The table.
    pub table: &'a Arc<ScanTable>,
    /// Columns of the result; all of them if `None`.
    pub projection: Option<&'a Vec<usize>>,
    /// Most rows needed, if fewer than all.
    pub limit: Option<usize>,
    /// The rows that conditions on ids leave over. They are the rows of the result but for
    /// `conditions`.
    pub selection: Selection,
    /// Conditions on the columns of the table that every row of the result has to fulfil.
    pub conditions: Vec<Arc<dyn PhysicalExpr>>,
    /// Conditions whose parameters have no value yet; the plan has to be bound before it can run.
    pub open: Option<OpenConditions>,
    /// What is known of properties over all rows of the table.
    pub properties: PropertyStatistics,
    /// Why this layout is read and not another, for plans.
    pub choice: Option<Arc<str>>,
    /// Most partitions.
    pub partitions: usize,
    /// Switches.
    pub options: &'a GraphArOptions,
}

/// The plan that reads the rows of a request: in consecutive ranges of rows, a partition each.
///
/// Costs O(partitions + ranges of ids), whatever the number of chunks; no file is touched.
///
/// # Errors
/// If the projection or a condition names a column that the table does not have.
pub fn scan_rows(request: ScanRequest<'_>) -> Result<Arc<dyn ExecutionPlan>> {
    let ScanRequest {
        table,
        projection,
        limit,
        selection,
        conditions,
        open,
        properties,
        choice,
        partitions,
        options,
    } = request;
    // Values may choose a layout of another order.
    let ordered = options.declared_ordering && (open.is_none() || table.aligned.is_none());
    // Open conditions are mostly for one id; and a plan of one partition has the fewest nodes.
    let partitions = if open.is_some() {
        1
    } else {
        partition_count(table, &selection, partitions, options)
    };
    let groups = range_groups(table, &selection, partitions);
    let partitioning = if options.range_partitioning {
        range_partitioning(table, &groups)?
    } else {
        None
    };
    let mut statistics = statistics(table, &selection, options);
    for (column, known) in properties {
        statistics.column_statistics[column] = match selection {
            Selection::All => known,
            Selection::Ids(_) => known.to_inexact(),
        };
    }
    if open.is_some() {
        statistics = statistics.to_inexact();
    }
    let mut source = GraphArSource::new(Arc::clone(table), selection, options);
    if let Some(choice) = choice {
        source = source.with_choice(choice);
    }
    if let Some(open) = open {
        source = source.with_open_conditions(open);
    }
    let source = source.with_conditions(conditions);
    let mut config = FileScanConfigBuilder::new(table.store_url.clone(), Arc::new(source))
        .with_file_groups(groups)
        .with_statistics(statistics)
        .with_limit(limit);
    if ordered && let Some(column) = table.order() {
        let name = table.schema.field(column).name();
        let order = PhysicalSortExpr::new_default(Arc::new(Column::new(name, column)));
        config = config.with_output_ordering(LexOrdering::new([order]).into_iter().collect());
    }
    config = config.with_output_partitioning(partitioning);
    let config = config.with_projection_indices(projection.cloned())?.build();
    Ok(DataSourceExec::from_data_source(config))
}

/// How many partitions are worth their cost. A scan of few rows has one.
fn partition_count(
    table: &ScanTable,
    selection: &Selection,
    partitions: usize,
    options: &GraphArOptions,
) -> usize {
    let least = (options.min_partition_rows as u64).max(1);
    let most = selection.estimate(table).div_ceil(least).max(1);
    usize::try_from(most).map_or(partitions, |most| most.min(partitions))
}

/// The selected rows in at most this many consecutive ranges, as files of a scan.
pub(super) fn range_groups(
    table: &ScanTable,
    selection: &Selection,
    partitions: usize,
) -> Vec<FileGroup> {
    let span = selection.span(table);
    let ranges = if span.is_empty() {
        vec![]
    } else if partitions <= 1 {
        vec![span]
    } else {
        split_rows(&table.rows, &span, partitions, table.can_cut_chunks())
    };
    let mut groups: Vec<FileGroup> = ranges
        .into_iter()
        .map(|rows| FileGroup::new(vec![range_file(table, rows)]))
        .collect();
    if groups.is_empty() {
        // A plan has at least one partition, also if it has no rows.
        groups.push(FileGroup::new(vec![]));
    }
    groups
}

/// That each partition of vertices has ids of its own, ascending from one to the next. A border between
/// partitions of edges may lie between the edges of one vertex, so of them nothing is said.
fn range_partitioning(table: &ScanTable, groups: &[FileGroup]) -> Result<Option<Partitioning>> {
    let Some(column) = table.id_column().filter(|_| table.aligned.is_none()) else {
        return Ok(None);
    };
    let starts = groups.iter().skip(1).map(|group| {
        let first = group.files().first()?.range.as_ref()?;
        Some(SplitPoint::new(vec![ScalarValue::Int64(Some(first.start))]))
    });
    let Some(starts) = starts.collect::<Option<Vec<_>>>() else {
        return Ok(None);
    };
    let name = table.schema.field(column).name();
    let order = PhysicalSortExpr::new_default(Arc::new(Column::new(name, column)));
    let Some(order) = LexOrdering::new([order]).filter(|_| !starts.is_empty()) else {
        return Ok(None);
    };
    let ranges = RangePartitioning::try_new(order, starts)?;
    Ok(Some(Partitioning::Range(ranges)))
}

/// What is known of the rows without reading any.
fn statistics(table: &ScanTable, selection: &Selection, options: &GraphArOptions) -> Statistics {
    let mut statistics = Statistics::new_unknown(&table.schema);
    let Ok(rows) = usize::try_from(selection.estimate(table)) else {
        return statistics;
    };
    if !options.row_count_statistics {
        return statistics;
    }
    let precise = matches!(selection, Selection::All) || table.aligned.is_none();
    statistics.num_rows = if precise {
        Precision::Exact(rows)
    } else {
        Precision::Inexact(rows)
    };
    let span = match selection {
        Selection::All => 0..table.ids(),
        Selection::Ids(ids) => ids.span().unwrap_or(0..0),
    };
    let id = |id: u64| i64::try_from(id).map_or(ScalarValue::Int64(None), |id| Some(id).into());
    if let Some(column) = table.id_column()
        && !span.is_empty()
        && rows > 0
    {
        let (least, most) = (id(span.start), id(span.end - 1));
        statistics.column_statistics[column] = match &table.aligned {
            // Row numbers: none is missing, and none comes twice.
            None => ColumnStatistics {
                null_count: Precision::Exact(0),
                min_value: Precision::Exact(least),
                max_value: Precision::Exact(most),
                distinct_count: Precision::Exact(rows),
                ..ColumnStatistics::new_unknown()
            },
            // Any vertex may be without edges. Rows by distinct ids is the average degree.
            Some(_) => ColumnStatistics {
                null_count: Precision::Exact(0),
                min_value: Precision::Inexact(least),
                max_value: Precision::Inexact(most),
                distinct_count: Precision::Inexact(
                    usize::try_from(selection.ids(table).count()).map_or(rows, |ids| ids.min(rows)),
                ),
                ..ColumnStatistics::new_unknown()
            },
        };
    }
    for check in &table.endpoints {
        let of = &mut statistics.column_statistics[check.column];
        if let (Some(count), Precision::Absent) = (check.count, &of.max_value)
            && count > 0
        {
            of.null_count = Precision::Exact(0);
            of.min_value = Precision::Inexact(id(0));
            of.max_value = Precision::Inexact(id(count - 1));
            let distinct = usize::try_from(count).map_or(rows, |count| count.min(rows));
            of.distinct_count = Precision::Inexact(distinct);
        }
    }
    statistics
}

/// A range of rows as a file of the scan.
fn range_file(table: &ScanTable, rows: Range<u64>) -> PartitionedFile {
    // Counts fit an `i64`: that is how the format stores them.
    let row = |row: u64| i64::try_from(row).unwrap_or(i64::MAX);
    PartitionedFile::new(table.folder.as_str(), table.rows.total())
        .with_range(row(rows.start), row(rows.end))
}
