//! From the columns of the files to the columns of the table.

use std::sync::Arc;

use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, Int64Array, ListBuilder, RecordBatch,
    RecordBatchOptions, StringBuilder, new_null_array,
};
use datafusion::arrow::compute::{max, min};
use datafusion::arrow::datatypes::{DataType, Int64Type, SchemaRef};
use datafusion::common::internal_err;
use datafusion::error::Result;

use super::table::EndpointCheck;
use super::{ColumnOrigin, ScanTable};
use crate::error::GraphArError;
use crate::format::ChunkSlice;
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
}

/// How an output column comes about. Sets are positions in `ReadPlan::sets`.
#[derive(Debug, Clone)]
enum Output {
    Column {
        set: usize,
        column: usize,
    },
    RowNumber,
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
            let Some(origin) = table.origins.get(*column) else {
                return internal_err!("table {} has no column {column}", table.name);
            };
            outputs.push(match origin {
                ColumnOrigin::File(file_set, wanted) => {
                    let (set, column) = read(*file_set, std::slice::from_ref(wanted));
                    Output::Column { set, column }
                }
                ColumnOrigin::RowNumber => Output::RowNumber,
                ColumnOrigin::Labels(file_set, wanted) => {
                    let (set, first) = read(*file_set, wanted);
                    let names = wanted.iter().map(|c| c.field.name().clone()).collect();
                    Output::Labels { set, first, names }
                }
                ColumnOrigin::Null => Output::Null(table.schema.field(*column).data_type().clone()),
            });
            if let Some(check) = table.endpoints.iter().find(|check| check.column == *column) {
                checks.push((outputs.len() - 1, *check));
            }
        }
        Ok(Self {
            sets,
            schema: Arc::new(table.schema.project(columns)?),
            outputs,
            checks,
        })
    }

    /// Puts a batch of the table together from one batch of each set, all of the same `rows`
    /// rows. The first of them is row `first_row` of the table and row `in_chunk` of the slice's chunk.
    pub fn assemble(
        &self,
        table: &ScanTable,
        slice: &ChunkSlice,
        batches: &[RecordBatch],
        first_row: u64,
        rows: usize,
    ) -> Result<RecordBatch> {
        let mut columns = Vec::with_capacity(self.outputs.len());
        for output in &self.outputs {
            columns.push(match output {
                Output::Column { set, column } => Arc::clone(batches[*set].column(*column)),
                Output::RowNumber => row_numbers(first_row, rows)?,
                Output::Labels { set, first, names } => {
                    let flags = &batches[*set].columns()[*first..*first + names.len()];
                    label_lists(flags, names, rows)
                }
                Output::Null(data_type) => new_null_array(data_type, rows),
            });
        }
        for (output, check) in &self.checks {
            self.check_ids(table, slice, &columns[*output], *output, check)?;
        }
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        Ok(RecordBatch::try_new_with_options(
            Arc::clone(&self.schema),
            columns,
            &options,
        )?)
    }

    /// Fails if an id lies outside its vertex type, or an aligned id outside its part.
    fn check_ids(
        &self,
        table: &ScanTable,
        slice: &ChunkSlice,
        ids: &ArrayRef,
        output: usize,
        check: &EndpointCheck,
    ) -> Result<()> {
        let ids: &Int64Array = ids.as_primitive::<Int64Type>();
        let (Some(least), Some(most)) = (min(ids), max(ids)) else {
            return Ok(());
        };
        let count = check.count.map_or(u64::MAX, |count| count);
        let (begin, end) = match check.part_size {
            Some(size) => {
                let begin = slice.part.saturating_mul(size);
                (begin, begin.saturating_add(size).min(count))
            }
            None => (0, count),
        };
        let inside = |id: i64| u64::try_from(id).is_ok_and(|id| (begin..end).contains(&id));
        let Some(bad) = [least, most].into_iter().find(|id| !inside(*id)) else {
            return Ok(());
        };
        let set = match &self.outputs[output] {
            Output::Column { set, .. } => self.sets[*set].0,
            _ => return internal_err!("an endpoint that is not a stored column"),
        };
        Err(GraphArError::corrupt(
            table.files[set].names.path(slice),
            self.schema.field(output).name().clone(),
            format!("vertex ids from {begin} to below {end}"),
            bad.to_string(),
        )
        .into())
    }
}

fn row_numbers(first: u64, rows: usize) -> Result<ArrayRef> {
    let (Ok(first), Ok(rows)) = (i64::try_from(first), i64::try_from(rows)) else {
        return internal_err!("row number {first} is beyond 64 bits");
    };
    Ok(Arc::new(Int64Array::from_iter_values(first..first + rows)))
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
