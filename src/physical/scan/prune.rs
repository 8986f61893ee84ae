//! What the statistics of Parquet files rule out: row groups, and pages.

#[allow(clippy::disallowed_types)] // `PruningStatistics` takes this one.
use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, BooleanArray, UInt64Array};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Field, SchemaRef};
use datafusion::common::pruning::PruningStatistics;
use datafusion::common::{Column, ScalarValue};
use datafusion::parquet::arrow::arrow_reader::statistics::StatisticsConverter;
use datafusion::parquet::file::metadata::ParquetMetaData;
use datafusion::physical_expr::split_conjunction;
use datafusion::physical_optimizer::pruning::{PruningPredicate, PruningPredicateBuilder};
use datafusion::physical_plan::PhysicalExpr;
use datafusion::physical_plan::metrics::Count;

use super::{ColumnOrigin, ScanMetrics, ScanTable};
use crate::format::RowRanges;
use crate::storage::payload::{ChunkColumn, ColumnSource, ParquetFile};

/// A condition whose columns all lie in the files of one set, which are Parquet.
pub(super) struct Pruning {
    /// The file set.
    pub set: usize,
    condition: Arc<dyn PhysicalExpr>,
    /// The columns of the set that have usable bounds.
    columns: Vec<ChunkColumn>,
    schema: SchemaRef,
}

impl Pruning {
    /// The parts of a condition that statistics can decide.
    pub fn of(table: &ScanTable, condition: &Arc<dyn PhysicalExpr>, sets: &[usize]) -> Vec<Self> {
        let [set] = sets else {
            return vec![];
        };
        if !table.is_parquet(*set) {
            return vec![];
        }
        let columns: Vec<ChunkColumn> = table
            .origins
            .iter()
            .filter_map(|origin| match origin {
                ColumnOrigin::File(of, column) if of == set => Some(column.clone()),
                _ => None,
            })
            .collect();
        let parts = split_conjunction(condition).into_iter();
        parts
            .map(|part| Self {
                set: *set,
                condition: Arc::clone(part),
                columns: columns.clone(),
                schema: Arc::clone(&table.schema),
            })
            .collect()
    }

    /// What the condition, which may change, asks of statistics now; `None` if they cannot decide it.
    pub fn predicate(&self) -> Option<PruningPredicate> {
        let predicate = PruningPredicateBuilder::new()
            .with_file_schema(Arc::clone(&self.schema))
            .try_build(Arc::clone(&self.condition));
        predicate.ok().filter(|predicate| !predicate.always_true())
    }

    /// Which of `rows` can pass, by the statistics of the file.
    pub fn keep(
        &self,
        predicate: &PruningPredicate,
        file: &ParquetFile,
        rows: &RowRanges,
        metrics: &ScanMetrics,
    ) -> RowRanges {
        let metadata = file.metadata();
        let groups = Containers::row_groups(self, file);
        let rows = groups.keep(predicate, rows, &metrics.row_groups_pruned);
        let single = predicate.required_columns().single_column();
        let column = single.and_then(|single| {
            let columns = self.columns.iter();
            columns
                .clone()
                .find(|column| column.field.name() == single.name())
        });
        match column {
            Some(column) if !rows.is_empty() && metadata.column_index().is_some() => {
                match Containers::pages(self, file, column) {
                    Some(pages) => pages.keep(predicate, &rows, &metrics.pages_pruned),
                    None => rows,
                }
            }
            _ => rows,
        }
    }
}

/// Runs of rows of a file with statistics: its row groups, or the pages of one column.
struct Containers<'a> {
    pruning: &'a Pruning,
    file: &'a ParquetFile,
    rows: Vec<Range<u64>>,
    /// The column whose pages these are.
    paged: Option<(&'a ChunkColumn, Vec<usize>)>,
}

impl<'a> Containers<'a> {
    fn row_groups(pruning: &'a Pruning, file: &'a ParquetFile) -> Self {
        Self {
            pruning,
            file,
            rows: group_rows(file.metadata()),
            paged: None,
        }
    }

    /// The pages of a column through all row groups, if there is an index of them.
    fn pages(pruning: &'a Pruning, file: &'a ParquetFile, column: &'a ChunkColumn) -> Option<Self> {
        let metadata = file.metadata();
        let index = metadata.offset_index()?;
        let leaf = converter(file, column)?.parquet_column_index()?;
        let (mut rows, mut groups) = (vec![], vec![]);
        for (number, group) in group_rows(metadata).into_iter().enumerate() {
            let pages = index.get(number)?.get(leaf)?.page_locations();
            for (page, location) in pages.iter().enumerate() {
                let row = |row: i64| u64::try_from(row).ok().map(|row| group.start + row);
                let begin = row(location.first_row_index)?;
                let end = match pages.get(page + 1) {
                    Some(next) => row(next.first_row_index)?,
                    None => group.end,
                };
                if begin > end || end > group.end {
                    return None;
                }
                rows.push(begin..end);
            }
            groups.push(number);
        }
        Some(Self {
            pruning,
            file,
            rows,
            paged: Some((column, groups)),
        })
    }

    /// The rows of the containers that a predicate does not rule out. Counts the containers whose rows
    /// fall away.
    fn keep(&self, predicate: &PruningPredicate, rows: &RowRanges, pruned: &Count) -> RowRanges {
        // Statistics that cannot be used rule nothing out.
        let Ok(kept) = predicate.prune(self) else {
            return rows.clone();
        };
        if kept.len() != self.rows.len() {
            return rows.clone();
        }
        let mut left = vec![];
        for (container, kept) in self.rows.iter().zip(kept) {
            if kept {
                left.push(container.clone());
            } else if !rows.within(container).is_empty() {
                pruned.add(1);
            }
        }
        rows.intersect(&RowRanges::from_unsorted(left))
    }

    fn column(&self, column: &Column) -> Option<&'a ChunkColumn> {
        let columns = self.pruning.columns.iter();
        match &self.paged {
            Some((paged, _)) => Some(*paged).filter(|paged| *paged.field.name() == column.name),
            None => columns
                .clone()
                .find(|found| *found.field.name() == column.name),
        }
    }

    /// Least or greatest values, in the declared type.
    fn bounds(&self, column: &Column, least: bool) -> Option<ArrayRef> {
        let column = self.column(column)?;
        let converter = converter(self.file, column)?;
        if !has_sound_bounds(
            self.file.metadata(),
            converter.parquet_column_index()?,
            converter.arrow_field(),
            &column.field,
        ) {
            return None;
        }
        let metadata = self.file.metadata();
        let found = match &self.paged {
            None if least => converter.row_group_mins(metadata.row_groups()),
            None => converter.row_group_maxes(metadata.row_groups()),
            Some((_, groups)) => {
                let (columns, offsets) = (metadata.column_index()?, metadata.offset_index()?);
                if least {
                    converter.data_page_mins(columns, offsets, groups)
                } else {
                    converter.data_page_maxes(columns, offsets, groups)
                }
            }
        };
        cast(&found.ok()?, column.field.data_type()).ok()
    }
}

impl PruningStatistics for Containers<'_> {
    fn min_values(&self, column: &Column) -> Option<ArrayRef> {
        self.bounds(column, true)
    }

    fn max_values(&self, column: &Column) -> Option<ArrayRef> {
        self.bounds(column, false)
    }

    fn num_containers(&self) -> usize {
        self.rows.len()
    }

    fn null_counts(&self, column: &Column) -> Option<ArrayRef> {
        let column = self.column(column)?;
        let converter = converter(self.file, column)?;
        let metadata = self.file.metadata();
        let found = match &self.paged {
            None => converter.row_group_null_counts(metadata.row_groups()),
            Some((_, groups)) => {
                let (columns, offsets) = (metadata.column_index()?, metadata.offset_index()?);
                converter.data_page_null_counts(columns, offsets, groups)
            }
        };
        Some(Arc::new(found.ok()?))
    }

    fn row_counts(&self) -> Option<ArrayRef> {
        let counts = self.rows.iter().map(|rows| rows.end - rows.start);
        Some(Arc::new(UInt64Array::from_iter_values(counts)))
    }

    #[allow(clippy::disallowed_types)]
    fn contained(&self, _: &Column, _: &HashSet<ScalarValue>) -> Option<BooleanArray> {
        None
    }
}

fn group_rows(metadata: &ParquetMetaData) -> Vec<Range<u64>> {
    let mut first = 0;
    let groups = metadata.row_groups().iter();
    groups
        .map(|group| {
            let begin = first;
            first += group.num_rows().unsigned_abs();
            begin..first
        })
        .collect()
}

/// Reads the statistics of a column that stands in the file under a name.
pub(super) fn converter<'a>(
    file: &'a ParquetFile,
    column: &'a ChunkColumn,
) -> Option<StatisticsConverter<'a>> {
    let ColumnSource::Name(name) = &column.source else {
        return None;
    };
    let descr = file.metadata().file_metadata().schema_descr();
    let converter = StatisticsConverter::try_new(name, file.arrow_schema(), descr).ok()?;
    Some(converter.with_missing_null_counts_as_zero(false))
}

/// Whether the bounds in the file bound the values in the declared type.
///
/// Not those of floating-point columns: writers leave NaN out, which is greater than every number in SQL.
/// Nor old ones of texts, which compare bytes as signed numbers. Nor those of a type that
/// is not merely widened.
pub(super) fn has_sound_bounds(
    metadata: &ParquetMetaData,
    leaf: usize,
    stored: &Field,
    declared: &Field,
) -> bool {
    let groups = metadata.row_groups().iter();
    let old = groups
        .filter_map(|group| group.columns().get(leaf)?.statistics())
        .any(|bounds| bounds.is_min_max_deprecated() && !bounds.is_min_max_backwards_compatible());
    match (stored.data_type(), declared.data_type()) {
        (DataType::Int32, DataType::Int32 | DataType::Int64)
        | (DataType::Int64, DataType::Int64)
        | (DataType::Boolean, DataType::Boolean)
        | (DataType::Date32, DataType::Date32) => true,
        (DataType::Timestamp(a, None), DataType::Timestamp(b, None)) => a == b,
        (stored, declared) => !old && stored.is_string() && declared.is_string(),
    }
}
