//! Rows by id, in memory.

use std::ops::Range;
use std::sync::Arc;

use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, Int64Array, ListArray, RecordBatch, UInt32Array,
};
use datafusion::arrow::compute::{concat, take};
use datafusion::arrow::datatypes::Int64Type;
use datafusion::common::{exec_datafusion_err, exec_err, internal_datafusion_err, internal_err};
use datafusion::error::Result;
use datafusion::execution::memory_pool::MemoryReservation;

use crate::graph::Csr;
use crate::storage::PartOffsets;

/// The rows of an id: a part, and places in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct List {
    pub(super) part: usize,
    pub(super) places: Range<usize>,
}

/// What ids lead to.
#[derive(Debug)]
pub(super) enum Lists {
    /// Neighbours only.
    Csr {
        csr: Arc<Csr>,
        /// What it takes, if it is not in the cache.
        _memory: MemoryReservation,
    },
    /// Nothing but their number: the offsets of all parts of so many ids each.
    Offsets {
        parts: Vec<Arc<PartOffsets>>,
        part_size: u64,
        /// What they take.
        _memory: MemoryReservation,
    },
    /// Any columns.
    Rows(IdRows),
}

/// Rows in the order of their ids, and where those of each id are.
#[derive(Debug)]
pub(super) struct IdRows {
    index: Index,
    /// Columns read behind the id.
    columns: Vec<ArrayRef>,
    /// What all this takes.
    _memory: MemoryReservation,
}

#[derive(Debug)]
enum Index {
    /// Every id from the first on has one row.
    Each { first: i64, count: usize },
    /// Where the rows of each id from the first on begin, and those of the last end.
    Dense { first: i64, starts: Vec<u32> },
    /// The ids that have rows, in order, and where these begin and the last end.
    Sparse { ids: Vec<i64>, starts: Vec<u32> },
}

/// More bytes of values than this do not fit into one array.
const MOST_BYTES: usize = i32::MAX as usize;

/// Whether batches can be put together into one array for each column.
pub(super) fn fit_together(batches: &[RecordBatch]) -> bool {
    let rows: usize = batches.iter().map(RecordBatch::num_rows).sum();
    let bytes: usize = batches.iter().map(RecordBatch::get_array_memory_size).sum();
    u32::try_from(rows).is_ok() && bytes <= MOST_BYTES
}

impl IdRows {
    /// The rows of batches whose first column is the id, ascending through all of them. `ids` is from the first id to behind the last one that
    /// can come; without it only ids that are there are indexed.
    ///
    /// # Errors
    /// If memory has no room, or the ids do not ascend.
    pub(super) fn try_new(
        batches: &[RecordBatch],
        ids: Option<Range<u64>>,
        memory: MemoryReservation,
    ) -> Result<Self> {
        let Some(first) = batches.first() else {
            return internal_err!("rows by id without a batch");
        };
        let rows: usize = batches.iter().map(RecordBatch::num_rows).sum();
        let dense = ids.as_ref().map(|ids| ids.end - ids.start);
        let entries = dense.map_or(rows, |ids| usize::try_from(ids).unwrap_or(usize::MAX));
        let values: usize = batches.iter().map(RecordBatch::get_array_memory_size).sum();
        // The batches are charged by whoever read them: columns that are put together stand beside them for a while.
        memory.try_grow(
            entries
                .saturating_mul(size_of::<u64>())
                .saturating_add(values),
        )?;
        let columns = (0..first.num_columns()).map(|column| {
            let arrays: Vec<&dyn Array> = batches
                .iter()
                .map(|batch| batch.column(column).as_ref())
                .collect();
            Ok(concat(&arrays)?)
        });
        let mut columns = columns.collect::<Result<Vec<_>>>()?;
        let Some(keys) = columns
            .first()
            .and_then(|ids| ids.as_primitive_opt::<Int64Type>())
        else {
            return internal_err!("rows by id without a column of ids");
        };
        let index = match ids {
            Some(ids) => dense_index(keys, &ids)?,
            None => sparse_index(keys)?,
        };
        // Ids are in the index.
        columns.remove(0);
        Ok(Self {
            index,
            columns,
            _memory: memory,
        })
    }

    /// The neighbours of these ids, which ascend: the only column behind the id.
    pub(super) fn of_lists(
        ids: &[u64],
        lists: &ListArray,
        memory: MemoryReservation,
    ) -> Result<Self> {
        memory.try_grow(2 * size_of_val(ids))?;
        let starts = lists.value_offsets().iter().map(|at| u32::try_from(*at));
        let starts = starts.collect::<Result<Vec<_>, _>>();
        Ok(Self {
            index: Index::Sparse {
                ids: signed(ids)?,
                starts: starts.map_err(|e| exec_datafusion_err!("offsets of lists: {e}"))?,
            },
            columns: vec![Arc::clone(lists.values())],
            _memory: memory,
        })
    }

    /// A column read, which is not the id.
    fn column(&self, column: usize) -> Result<&ArrayRef> {
        let found = column.checked_sub(1).and_then(|at| self.columns.get(at));
        found.ok_or_else(|| internal_datafusion_err!("rows by id without column {column}"))
    }

    /// A column read that is of ids.
    fn ids(&self, column: usize) -> Result<&[i64]> {
        match self.column(column)?.as_primitive_opt::<Int64Type>() {
            Some(ids) => Ok(ids.values()),
            None => internal_err!("edges without their other ends"),
        }
    }

    /// The place of the only row of an id, where ids have one row at most.
    #[inline]
    fn only(&self, id: i64) -> Option<usize> {
        match &self.index {
            Index::Each { first, count } => {
                let place = id
                    .checked_sub(*first)
                    .and_then(|place| usize::try_from(place).ok());
                place.filter(|place| place < count)
            }
            _ => {
                let places = self.list(id);
                (!places.is_empty()).then_some(places.start)
            }
        }
    }

    /// Nothing but how many rows these ids have, which ascend.
    pub(super) fn of_degrees(
        ids: &[u64],
        degrees: &[u64],
        memory: MemoryReservation,
    ) -> Result<Self> {
        memory.try_grow(2 * size_of_val(ids))?;
        let mut total = 0_u64;
        let mut starts = vec![0];
        for degree in degrees {
            total = total.saturating_add(*degree);
            starts.push(index(usize::try_from(total).unwrap_or(usize::MAX))?);
        }
        Ok(Self {
            index: Index::Sparse {
                ids: signed(ids)?,
                starts,
            },
            columns: vec![],
            _memory: memory,
        })
    }

    fn list(&self, id: i64) -> Range<usize> {
        let (starts, place) = match &self.index {
            Index::Each { .. } => {
                return self.only(id).map_or(0..0, |place| place..place + 1);
            }
            Index::Dense { first, starts } => {
                let place = id
                    .checked_sub(*first)
                    .and_then(|place| usize::try_from(place).ok());
                (starts, place.filter(|place| *place + 1 < starts.len()))
            }
            Index::Sparse { ids, starts } => (starts, ids.binary_search(&id).ok()),
        };
        let at = |place: usize| usize::try_from(starts[place]).unwrap_or(usize::MAX);
        place.map_or(0..0, |place| at(place)..at(place + 1))
    }
}

impl Lists {
    /// The rows of an id; none if it is no id of the table.
    pub(super) fn list(&self, id: i64) -> List {
        match self {
            Self::Csr { csr, .. } => {
                let found = u64::try_from(id).ok().and_then(|id| csr.list(id));
                found.map_or_else(List::default, |(part, places)| List { part, places })
            }
            Self::Offsets {
                parts, part_size, ..
            } => u64::try_from(id).map_or_else(
                |_| List::default(),
                |id| {
                    let part = usize::try_from(id / part_size).ok();
                    let inside = id % part_size;
                    let found = part.and_then(|part| parts.get(part));
                    let rows = found.map_or(0..0, |part| part.rows(&(inside..inside + 1)));
                    List {
                        part: 0,
                        places: 0..usize::try_from(rows.end - rows.start).unwrap_or(usize::MAX),
                    }
                },
            ),
            Self::Rows(rows) => List {
                part: 0,
                places: rows.list(id),
            },
        }
    }

    /// The places of the only rows of ids, which have one at most, and the rows of `keys` that have one.
    pub(super) fn only(&self, keys: &Int64Array) -> Result<(Vec<u32>, Vec<u32>)> {
        let (mut places, mut found) = (vec![], vec![]);
        places.reserve(keys.len());
        found.reserve(keys.len());
        for row in 0..keys.len() {
            let place = match self {
                _ if keys.is_null(row) => None,
                Self::Rows(rows) => rows.only(keys.value(row)),
                _ => {
                    let list = self.list(keys.value(row));
                    (!list.places.is_empty()).then_some(list.places.start)
                }
            };
            if let Some(place) = place {
                places.push(index(place)?);
                found.push(index(row)?);
            }
        }
        Ok((places, found))
    }

    /// The other end of the edges at these places, which is the column read at `neighbor`: `each` gets the number of the list, its
    /// place and the id.
    pub(super) fn neighbors(
        &self,
        lists: &[List],
        neighbor: usize,
        mut each: impl FnMut(usize, usize, i64),
    ) -> Result<()> {
        match self {
            Self::Csr { csr, .. } => {
                for_parts(csr, lists, |number, id| each(number, 0, id));
                Ok(())
            }
            Self::Offsets { .. } => internal_err!("neighbours of offsets alone"),
            Self::Rows(rows) => {
                let ids = rows.ids(neighbor)?;
                for (number, list) in lists.iter().enumerate() {
                    for place in list.places.clone() {
                        each(number, place, ids[place]);
                    }
                }
                Ok(())
            }
        }
    }

    /// The other ends of all edges at these places, `count` of them, one behind the other.
    pub(super) fn all_neighbors(
        &self,
        lists: &[List],
        neighbor: usize,
        count: usize,
    ) -> Result<Vec<i64>> {
        let mut all = Vec::with_capacity(count);
        match self {
            Self::Csr { csr, .. } => for_parts(csr, lists, |_, id| all.push(id)),
            Self::Offsets { .. } => return internal_err!("neighbours of offsets alone"),
            Self::Rows(rows) => {
                let ids = rows.ids(neighbor)?;
                for list in lists {
                    all.extend_from_slice(&ids[list.places.clone()]);
                }
            }
        }
        Ok(all)
    }

    /// A column read, at these places of rows.
    pub(super) fn take(&self, column: usize, places: &UInt32Array) -> Result<ArrayRef> {
        match self {
            Self::Csr { .. } | Self::Offsets { .. } => internal_err!("a column of adjacency"),
            Self::Rows(rows) => Ok(take(rows.column(column)?, places, None)?),
        }
    }
}

/// The neighbours at these places of adjacency: `each` gets the number of the list and the id.
fn for_parts(csr: &Csr, lists: &[List], mut each: impl FnMut(usize, i64)) {
    let mut begin = 0;
    while let Some(first) = lists.get(begin) {
        let same = lists[begin..]
            .iter()
            .take_while(|list| list.part == first.part);
        let end = begin + same.count();
        if let Some(part) = csr.parts().get(first.part) {
            let places = lists[begin..end].iter().map(|list| list.places.clone());
            part.neighbors.visit(places, |number, id| {
                // Ids were BIGINTs in the files.
                each(begin + number, i64::try_from(id).unwrap_or(i64::MAX));
            });
        }
        begin = end;
    }
}

/// Ids as SQL has them.
fn signed(ids: &[u64]) -> Result<Vec<i64>> {
    let ids = ids.iter().map(|id| i64::try_from(*id));
    ids.collect::<Result<_, _>>()
        .map_err(|e| exec_datafusion_err!("an id that is no BIGINT: {e}"))
}

/// A number of rows as an index holds it.
pub(super) fn index(rows: usize) -> Result<u32> {
    match u32::try_from(rows) {
        Ok(rows) => Ok(rows),
        Err(_) => exec_err!("{rows} rows at once are more than can be indexed"),
    }
}

fn dense_index(keys: &Int64Array, ids: &Range<u64>) -> Result<Index> {
    let count = usize::try_from(ids.end - ids.start).unwrap_or(usize::MAX);
    let first = i64::try_from(ids.start).unwrap_or(i64::MAX);
    let mut expected = first..;
    if keys.len() == count
        && keys
            .values()
            .iter()
            .all(|key| expected.next() == Some(*key))
    {
        return Ok(Index::Each { first, count });
    }
    let mut starts = Vec::with_capacity(count.saturating_add(1));
    let mut last = 0;
    for (row, key) in keys.values().iter().enumerate() {
        let place = key
            .checked_sub(first)
            .and_then(|place| usize::try_from(place).ok());
        let Some(place) = place.filter(|place| *place < count && *place >= last) else {
            return exec_err!(
                "id {key} in row {row} of what was read: expected ids of {ids:?} in order"
            );
        };
        last = place;
        let row = index(row)?;
        while starts.len() <= place {
            starts.push(row);
        }
    }
    let end = index(keys.len())?;
    starts.resize(count + 1, end);
    Ok(Index::Dense { first, starts })
}

fn sparse_index(keys: &Int64Array) -> Result<Index> {
    let (mut ids, mut starts) = (vec![], vec![]);
    for (row, key) in keys.values().iter().enumerate() {
        if ids.last() == Some(key) {
            continue;
        }
        if ids.last().is_some_and(|last| last > key) {
            return exec_err!("id {key} in row {row} of what was read: expected ids in order");
        }
        ids.push(*key);
        starts.push(index(row)?);
    }
    starts.push(index(keys.len())?);
    Ok(Index::Sparse { ids, starts })
}
