//! The rows that one batch of the input leads to, batch by batch.

use std::sync::Arc;

use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, Int64Array, RecordBatch, RecordBatchOptions,
    UInt32Array,
};
use datafusion::arrow::buffer::{NullBuffer, ScalarBuffer};
use datafusion::arrow::compute::{filter_record_batch, take};
use datafusion::arrow::datatypes::{Int64Type, SchemaRef};
use datafusion::common::JoinType;
use datafusion::error::Result;

use super::lists::{List, Lists, index};

/// Where a column of the output comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// A column of the input.
    Input(usize),
    /// A column read of the rows by id.
    Read(usize),
}

/// What an operator makes of the rows that belong to ids.
#[derive(Debug)]
pub(super) struct Shape {
    pub(super) join: JoinType,
    pub(super) columns: Vec<Origin>,
    pub(super) schema: SchemaRef,
    /// Place of the other end of edges among the columns read.
    pub(super) neighbor: Option<usize>,
    /// Whether an id has one row at most.
    pub(super) single: bool,
    /// Most rows of a batch.
    pub(super) batch_size: usize,
}

/// A batch of the input on its way.
#[derive(Debug)]
pub(super) struct Cursor {
    batch: RecordBatch,
    keys: Int64Array,
    /// For each row the only neighbour wanted.
    targets: Option<Int64Array>,
    lists: Arc<Lists>,
    /// The row that is next, and how many of its list were given out.
    row: usize,
    given: usize,
}

/// Rows of the output.
#[derive(Default)]
struct Rows {
    /// Row of the input.
    input: Vec<u32>,
    /// Place among the rows by id.
    places: Vec<u32>,
    neighbors: Vec<i64>,
    /// Whether there is a row by id, where there need not be one.
    found: Vec<bool>,
}

impl Cursor {
    pub(super) fn new(
        batch: RecordBatch,
        keys: Int64Array,
        targets: Option<Int64Array>,
        lists: Arc<Lists>,
    ) -> Self {
        Self {
            batch,
            keys,
            targets,
            lists,
            row: 0,
            given: 0,
        }
    }

    fn list(&self, row: usize) -> List {
        match self.keys.is_valid(row) {
            true => self.lists.list(self.keys.value(row)),
            false => List::default(),
        }
    }

    /// The next rows; `None` at the end. A batch may be empty.
    pub(super) fn next(&mut self, shape: &Shape) -> Result<Option<RecordBatch>> {
        if self.row >= self.keys.len() {
            return Ok(None);
        }
        if matches!(shape.join, JoinType::LeftSemi | JoinType::LeftAnti) {
            return self.tested(shape).map(Some);
        }
        if shape.single && shape.join == JoinType::Inner && self.keys.len() <= shape.batch_size {
            self.row = self.keys.len();
            let (places, input) = self.lists.only(&self.keys)?;
            let rows = Rows {
                input,
                places,
                ..Rows::default()
            };
            return self.output(shape, rows).map(Some);
        }
        let (mut lists, mut owners) = (vec![], vec![]);
        let mut left = shape.batch_size;
        while left > 0 && self.row < self.keys.len() {
            let mut list = self.list(self.row);
            let alone = shape.join == JoinType::Left && list.places.is_empty();
            list.places.start += self.given;
            let count = list.places.len().min(left);
            if count < list.places.len() {
                self.given += count;
            } else {
                self.given = 0;
                self.row += 1;
            }
            let owner = if self.given > 0 {
                self.row
            } else {
                self.row - 1
            };
            list.places.end = list.places.start + count;
            left -= count + usize::from(alone);
            if count > 0 || alone {
                lists.push(list);
                owners.push(owner);
            }
        }
        let rows = self.rows(shape, &lists, &owners)?;
        self.output(shape, rows).map(Some)
    }

    /// The rows of these lists.
    fn rows(&self, shape: &Shape, lists: &[List], owners: &[usize]) -> Result<Rows> {
        let indexed = owners.iter().map(|owner| index(*owner));
        let indexed = indexed.collect::<Result<Vec<_>>>()?;
        // Whether there are columns other than the two ends.
        let takes = matches!(self.lists.as_ref(), Lists::Rows(_));
        let count = lists.iter().map(|list| list.places.len()).sum();
        let mut rows = Rows::default();
        if let (Some(targets), Some(neighbor)) = (&self.targets, shape.neighbor) {
            self.lists.neighbors(lists, neighbor, |number, place, id| {
                let owner = owners[number];
                if targets.is_valid(owner) && targets.value(owner) == id {
                    rows.input.push(indexed[number]);
                    rows.neighbors.push(id);
                    if takes {
                        // Places were counted when the index was made.
                        rows.places.push(u32::try_from(place).unwrap_or(u32::MAX));
                    }
                }
            })?;
            return Ok(rows);
        }
        let outer = shape.join == JoinType::Left;
        rows.input.reserve(count);
        for (list, owner) in lists.iter().zip(indexed) {
            let alone = outer && list.places.is_empty();
            let given = list.places.len() + usize::from(alone);
            rows.input.extend(std::iter::repeat_n(owner, given));
            if outer {
                rows.found.extend(std::iter::repeat_n(!alone, given));
            }
            if takes {
                let places = if alone { 0..1 } else { list.places.clone() };
                for place in places {
                    rows.places.push(index(place)?);
                }
            }
        }
        if let Some(neighbor) = shape.neighbor
            && shape.columns.contains(&Origin::Read(neighbor))
        {
            let all = self.lists.all_neighbors(lists, neighbor, count)?;
            rows.neighbors = match outer {
                false => all,
                true => {
                    let mut all = all.into_iter();
                    let found = rows.found.iter();
                    found
                        .map(|found| found.then(|| all.next()).flatten().unwrap_or_default())
                        .collect()
                }
            };
        }
        Ok(rows)
    }

    fn output(&self, shape: &Shape, rows: Rows) -> Result<RecordBatch> {
        let count = rows.input.len();
        let same = count == self.batch.num_rows()
            && rows
                .input
                .iter()
                .zip(0_u32..)
                .all(|(input, row)| *input == row);
        let inputs = UInt32Array::from(rows.input);
        let found = match shape.join {
            JoinType::Left => Some(NullBuffer::from(rows.found)),
            _ => None,
        };
        let places = UInt32Array::new(
            rows.places.into(),
            found
                .clone()
                .filter(|_| matches!(self.lists.as_ref(), Lists::Rows(_))),
        );
        let taken = |array: &ArrayRef| -> Result<ArrayRef> {
            match same {
                true => Ok(Arc::clone(array)),
                false => Ok(take(array, &inputs, None)?),
            }
        };
        let neighbors = ScalarBuffer::from(rows.neighbors);
        let mut columns = Vec::with_capacity(shape.columns.len());
        for origin in &shape.columns {
            columns.push(match origin {
                Origin::Input(column) => taken(self.batch.column(*column))?,
                Origin::Read(0) => {
                    let ids: ArrayRef = Arc::new(self.keys.clone());
                    let ids = taken(&ids)?;
                    match &found {
                        Some(found) => {
                            let ids = ids.as_primitive::<Int64Type>().values().clone();
                            Arc::new(Int64Array::new(ids, Some(found.clone())))
                        }
                        None => ids,
                    }
                }
                Origin::Read(place) if shape.neighbor == Some(*place) => {
                    Arc::new(Int64Array::new(neighbors.clone(), found.clone()))
                }
                Origin::Read(place) => self.lists.take(*place, &places)?,
            });
        }
        let options = RecordBatchOptions::new().with_row_count(Some(count));
        let schema = Arc::clone(&shape.schema);
        Ok(RecordBatch::try_new_with_options(
            schema, columns, &options,
        )?)
    }

    /// The rows of the input that have rows by id, or those that have none.
    fn tested(&mut self, shape: &Shape) -> Result<RecordBatch> {
        let wanted = shape.join == JoinType::LeftSemi;
        let all = 0..self.keys.len();
        self.row = all.end;
        let kept = all.map(|row| Some(self.list(row).places.is_empty() != wanted));
        let batch = filter_record_batch(&self.batch, &BooleanArray::from_iter(kept))?;
        let columns = shape.columns.iter().filter_map(|origin| match origin {
            Origin::Input(column) => Some(Arc::clone(batch.column(*column))),
            Origin::Read(_) => None,
        });
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        let schema = Arc::clone(&shape.schema);
        Ok(RecordBatch::try_new_with_options(
            schema,
            columns.collect(),
            &options,
        )?)
    }
}
