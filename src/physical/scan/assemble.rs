//! From the columns of the files to the columns of the table.

use std::ops::Range;
use std::sync::Arc;

use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, Int64Array, ListBuilder, RecordBatch,
    RecordBatchOptions, StringBuilder, new_null_array,
};
use datafusion::arrow::datatypes::{DataType, Int64Type, SchemaRef};
use datafusion::common::internal_err;
use datafusion::error::Result;

use super::table::EndpointCheck;
use super::{ColumnOrigin, ScanTable};
use crate::error::GraphArError;
use crate::format::{ChunkSlice, RowRanges};
use crate::storage::payload::ChunkColumn;

/// What to read for some columns of a table, and how to put them together.
#[derive(Debug, Clone)]
pub(super) struct ReadPlan {
    /// The file sets needed, by number, and the columns to read of each.
    pub sets: Vec<(usize, Vec<ChunkColumn>)>,
    /// The columns of the table that come out.
    pub schema: SchemaRef,
    outputs: Vec<Output>,
    /// Output columns that hold ids to be checked, and the file set that they come from.
    checks: Vec<(usize, EndpointCheck)>,
    /// The output column that holds the aligned ids.
    aligned: Option<usize>,
}

/// What holds from one batch of a partition to the next.
#[derive(Debug)]
pub(super) struct AlignedIds {
    /// Whether the ids of a part have to ascend.
    ordered: bool,
    /// The ids whose rows were looked up; any other is not what the offsets promised.
    selected: Option<Arc<RowRanges>>,
    /// The part, and the last id read of it.
    last: Option<(u64, i64)>,
}

impl AlignedIds {
    /// No batch yet.
    pub fn new(ordered: bool, selected: Option<Arc<RowRanges>>) -> Self {
        Self {
            ordered,
            selected,
            last: None,
        }
    }
}

/// Rows of one chunk that were read.
pub(super) struct Rows<'a> {
    /// The chunk.
    pub slice: &'a ChunkSlice,
    /// Number in the table of the chunk's first row.
    pub base: u64,
    /// The rows that are read, counted inside the chunk.
    pub picked: &'a RowRanges,
    /// How many of them came before.
    pub done: u64,
    /// How many these are.
    pub count: usize,
    /// Checks of the plan that the files' statistics spare. See [`ReadPlan::proven`].
    pub proven: &'a [bool],
}

/// How an output column comes about. Sets are positions in `ReadPlan::sets`.
#[derive(Debug, Clone)]
enum Output {
    Column {
        set: usize,
        column: usize,
    },
    RowNumber,
    /// A column of a label: null is false.
    Flag {
        set: usize,
        column: usize,
    },
    Labels {
        set: usize,
        first: usize,
        names: Vec<String>,
    },
    Null(DataType),
}

impl ReadPlan {
    /// Plans the reading of the table's columns `columns`, in this order.
    pub fn try_new(table: &ScanTable, columns: &[usize]) -> Result<Self> {
        let mut sets: Vec<(usize, Vec<ChunkColumn>)> = vec![];
        let mut read = |file_set: usize, wanted: &[ChunkColumn]| {
            let set = sets.iter().position(|(set, _)| *set == file_set);
            let set = set.unwrap_or_else(|| {
                sets.push((file_set, vec![]));
                sets.len() - 1
            });
            let first = sets[set].1.len();
            sets[set].1.extend_from_slice(wanted);
            (set, first)
        };
        let mut outputs = Vec::with_capacity(columns.len());
        let mut checks = vec![];
        for column in columns {
            let output = match table.origins.get(*column) {
                Some(ColumnOrigin::File(file_set, wanted)) => {
                    let (set, column) = read(*file_set, std::slice::from_ref(wanted));
                    Output::Column { set, column }
                }
                Some(ColumnOrigin::RowNumber) => Output::RowNumber,
                Some(ColumnOrigin::Labels(file_set, wanted)) => {
                    let (set, first) = read(*file_set, wanted);
                    let names = wanted.iter().map(|c| c.field.name().clone()).collect();
                    Output::Labels { set, first, names }
                }
                Some(ColumnOrigin::Null) => {
                    Output::Null(table.schema.field(*column).data_type().clone())
                }
                None => {
                    let Some((file_set, wanted)) = table.label_column(*column) else {
                        return internal_err!("table {} has no column {column}", table.name);
                    };
                    let (set, column) = read(file_set, std::slice::from_ref(wanted));
                    Output::Flag { set, column }
                }
            };
            outputs.push(output);
            if let Some(check) = table.endpoints.iter().find(|check| check.column == *column) {
                checks.push((outputs.len() - 1, *check));
            }
        }
        let aligned = table.aligned.as_ref();
        let aligned = aligned.and_then(|aligned| columns.iter().position(|c| *c == aligned.column));
        Ok(Self {
            sets,
            schema: Arc::new(table.schema_of(columns)?),
            outputs,
            checks,
            aligned,
        })
    }

    /// Puts a batch of the table together from one batch of each set, all of the same rows.
    pub fn assemble(
        &self,
        table: &ScanTable,
        rows: &Rows<'_>,
        batches: &[RecordBatch],
        aligned: &mut AlignedIds,
    ) -> Result<RecordBatch> {
        let mut columns = Vec::with_capacity(self.outputs.len());
        for output in &self.outputs {
            columns.push(match output {
                Output::Column { set, column } => Arc::clone(batches[*set].column(*column)),
                Output::RowNumber => row_numbers(rows)?,
                Output::Flag { set, column } => {
                    without_nulls(batches[*set].column(*column).as_boolean())
                }
                Output::Labels { set, first, names } => {
                    let flags = &batches[*set].columns()[*first..*first + names.len()];
                    label_lists(flags, names, rows.count)
                }
                Output::Null(data_type) => new_null_array(data_type, rows.count),
            });
        }
        let mut sorted = false;
        if let Some(output) = self.aligned {
            let ids = columns[output].as_primitive::<Int64Type>();
            self.check_aligned(table, rows, ids, output, aligned)?;
            sorted = aligned.ordered;
        }
        for (number, (output, check)) in self.checks.iter().enumerate() {
            if rows.proven.get(number) == Some(&true) {
                continue;
            }
            let ids = columns[*output].as_primitive::<Int64Type>();
            let sorted = sorted && self.aligned == Some(*output);
            self.check_ids(table, rows.slice, ids.values(), *output, check, sorted)?;
        }
        let options = RecordBatchOptions::new().with_row_count(Some(rows.count));
        Ok(RecordBatch::try_new_with_options(
            Arc::clone(&self.schema),
            columns,
            &options,
        )?)
    }

    /// Which checks of ids are spared in a chunk, by the bounds of its columns as `bounds` tells them: those of a
    /// column of a file set.
    pub fn proven(
        &self,
        slice: &ChunkSlice,
        bounds: impl Fn(usize, &ChunkColumn) -> Option<(i64, i64)>,
    ) -> Vec<bool> {
        let proven = self.checks.iter().map(|(output, check)| {
            let Output::Column { set, column } = &self.outputs[*output] else {
                return false;
            };
            let (set, columns) = &self.sets[*set];
            bounds(*set, &columns[*column])
                .is_some_and(|(least, most)| all_between(&[least, most], check.allowed(slice)))
        });
        proven.collect()
    }

    /// Whether ids of a file set are checked.
    pub fn checks_ids_of(&self, set: usize) -> bool {
        let mut checks = self.checks.iter();
        checks.any(|(output, _)| {
            matches!(&self.outputs[*output], Output::Column { set: own, .. } if self.sets[*own].0 == set)
        })
    }

    /// Fails if an id lies outside its vertex type, or an aligned id outside its part.
    fn check_ids(
        &self,
        table: &ScanTable,
        slice: &ChunkSlice,
        ids: &[i64],
        output: usize,
        check: &EndpointCheck,
        sorted: bool,
    ) -> Result<()> {
        let allowed = check.allowed(slice);
        let inside = |id: i64| u64::try_from(id).is_ok_and(|id| allowed.contains(&id));
        let all_inside = if sorted {
            ids.first().is_none_or(|id| inside(*id)) && ids.last().is_none_or(|id| inside(*id))
        } else {
            all_between(ids, allowed.clone())
        };
        let bad = if all_inside {
            None
        } else {
            ids.iter().find(|id| !inside(**id))
        };
        let Some(bad) = bad else {
            return Ok(());
        };
        self.wrong_id(
            table,
            slice,
            output,
            format!("vertex ids from {} to below {}", allowed.start, allowed.end),
            bad.to_string(),
        )
    }

    /// Fails if the aligned ids are out of order where order is needed, or are not those whose rows
    /// were looked up.
    fn check_aligned(
        &self,
        table: &ScanTable,
        rows: &Rows<'_>,
        ids: &Int64Array,
        output: usize,
        aligned: &mut AlignedIds,
    ) -> Result<()> {
        let ids = ids.values();
        if let Some(selected) = &aligned.selected {
            let mut last = None;
            for id in ids.iter().filter(|id| last.replace(**id) != Some(**id)) {
                if !u64::try_from(*id).is_ok_and(|id| selected.contains(id)) {
                    let expected = "the id whose edges the offset chunk says are here".to_owned();
                    return self.wrong_id(table, rows.slice, output, expected, id.to_string());
                }
            }
        }
        let (Some(first), Some(end)) = (ids.first(), ids.last()) else {
            return Ok(());
        };
        if !aligned.ordered {
            return Ok(());
        }
        let before = aligned.last.filter(|(part, _)| *part == rows.slice.part);
        aligned.last = Some((rows.slice.part, *end));
        let broken = match before {
            Some((_, before)) if before > *first => Some((before, *first)),
            _ if ascending(ids) => None,
            _ => ids.windows(2).find_map(|pair| match pair {
                [a, b] if a > b => Some((*a, *b)),
                _ => None,
            }),
        };
        let Some((before, after)) = broken else {
            return Ok(());
        };
        let expected = "ids in ascending order, as the layout declares \
                        (SET graphar.declared_ordering = false reads it without order)";
        let found = format!("{after} after {before}");
        self.wrong_id(table, rows.slice, output, expected.to_owned(), found)
    }

    fn wrong_id(
        &self,
        table: &ScanTable,
        slice: &ChunkSlice,
        output: usize,
        expected: String,
        found: String,
    ) -> Result<()> {
        let set = match &self.outputs[output] {
            Output::Column { set, .. } => self.sets[*set].0,
            _ => return internal_err!("an endpoint that is not a stored column"),
        };
        let path = table.files[set].names.path(slice);
        let column = self.schema.field(output).name().clone();
        Err(GraphArError::corrupt(path, column, expected, found).into())
    }
}

/// Whether all ids are allowed, in one pass without branches.
fn all_between(ids: &[i64], allowed: Range<u64>) -> bool {
    let Range { start: begin, end } = allowed;
    let (Ok(begin), Ok(last)) = (i64::try_from(begin), i64::try_from(end.saturating_sub(1))) else {
        return ids
            .iter()
            .all(|id| u64::try_from(*id).is_ok_and(|id| (begin..end).contains(&id)));
    };
    if end == 0 || begin > last {
        return ids.is_empty();
    }
    // The sign of `id - begin` tells one below, that of `last - id` one above; where the first wraps
    // around, the other is negative, as `begin` and `last` are not.
    let signs = ids.iter().fold(0, |signs, id| {
        signs | id.wrapping_sub(begin) | last.wrapping_sub(*id)
    });
    signs >= 0
}

/// Whether no id is less than the one before, in one pass without branches. Ids are not negative or
/// are refused elsewhere; a difference that wraps around is taken for a descent.
fn ascending(ids: &[i64]) -> bool {
    let later = ids.iter().skip(1);
    let signs = ids
        .iter()
        .zip(later)
        .fold(0, |signs, (a, b)| signs | b.wrapping_sub(*a));
    signs >= 0
}

fn without_nulls(flags: &BooleanArray) -> ArrayRef {
    Arc::new(match flags.nulls() {
        Some(nulls) => BooleanArray::new(flags.values() & nulls.inner(), None),
        None => flags.clone(),
    })
}

/// The numbers in the table of rows that were read.
fn row_numbers(rows: &Rows<'_>) -> Result<ArrayRef> {
    let mut numbers = Vec::with_capacity(rows.count);
    let (mut skip, mut left) = (rows.done, rows.count as u64);
    for range in rows.picked.ranges() {
        let length = range.end - range.start;
        if skip >= length {
            skip -= length;
            continue;
        }
        let begin = rows.base + range.start + skip;
        let end = (rows.base + range.end).min(begin + left);
        skip = 0;
        left -= end - begin;
        let (Ok(begin), Ok(end)) = (i64::try_from(begin), i64::try_from(end)) else {
            return internal_err!("row number {end} is beyond 64 bits");
        };
        numbers.extend(begin..end);
        if left == 0 {
            break;
        }
    }
    Ok(Arc::new(Int64Array::from(numbers)))
}

/// The names of the columns that are true, for each row.
fn label_lists(flags: &[ArrayRef], names: &[String], rows: usize) -> ArrayRef {
    let flags: Vec<&BooleanArray> = flags.iter().map(|column| column.as_boolean()).collect();
    let mut lists = ListBuilder::with_capacity(StringBuilder::new(), rows);
    for row in 0..rows {
        for (flag, name) in flags.iter().zip(names) {
            if flag.is_valid(row) && flag.value(row) {
                lists.values().append_value(name);
            }
        }
        lists.append(true);
    }
    Arc::new(lists.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_found_without_branches() {
        let extremes = [
            i64::MIN,
            i64::MIN + 1,
            -1,
            0,
            1,
            4,
            5,
            6,
            i64::MAX - 1,
            i64::MAX,
        ];
        for begin in [0, 1, 5, u64::MAX >> 1] {
            for end in [0, 1, 5, 6, (u64::MAX >> 1) - 1, u64::MAX >> 1, u64::MAX] {
                for id in extremes {
                    let inside = u64::try_from(id).is_ok_and(|id| (begin..end).contains(&id));
                    assert_eq!(
                        all_between(&[id], begin..end),
                        inside,
                        "{id} in {begin}..{end}"
                    );
                }
            }
        }
        assert!(all_between(&[], 0..0));
        assert!(ascending(&[]) && ascending(&[3]) && ascending(&[0, 0, 4, i64::MAX]));
        assert!(!ascending(&[0, 4, 3]));
    }

    #[test]
    fn numbers_follow_the_picked_rows() {
        let picked = RowRanges::from_unsorted(vec![2..4, 7..8, 10..20]);
        let slice = ChunkSlice {
            part: 0,
            chunk: 0,
            rows: 2..20,
            chunk_rows: 20,
        };
        let numbers = |done, count| {
            let rows = Rows {
                slice: &slice,
                base: 100,
                picked: &picked,
                done,
                count,
                proven: &[],
            };
            let array = row_numbers(&rows).unwrap();
            array.as_primitive::<Int64Type>().values().to_vec()
        };
        assert_eq!(numbers(0, 4), [102, 103, 107, 110]);
        assert_eq!(numbers(1, 2), [103, 107]);
        assert_eq!(numbers(3, 10), (110..120).collect::<Vec<_>>());
        assert_eq!(numbers(0, 0), [0_i64; 0]);
    }
}
