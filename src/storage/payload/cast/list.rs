//! Lists of every layout as lists with 32-bit offsets.

use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, AsArray, ListArray};
use datafusion::arrow::buffer::{NullBuffer, OffsetBuffer, ScalarBuffer};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Field, FieldRef};

use super::{Misfit, convert};

/// Lists with their items converted to those of the declared list.
pub(super) fn lists(array: &ArrayRef, item: &FieldRef) -> Result<ArrayRef, Misfit> {
    match array.data_type() {
        DataType::List(_) => {
            let lists = array.as_list::<i32>();
            rebuild(lists.offsets(), lists.values(), lists.nulls(), item)
        }
        DataType::LargeList(_) => {
            let lists = array.as_list::<i64>();
            rebuild(lists.offsets(), lists.values(), lists.nulls(), item)
        }
        DataType::FixedSizeList(_, size) => {
            let lists = array.as_fixed_size_list();
            let offsets: Vec<i64> = (0_i64..)
                .take(lists.len() + 1)
                .map(|row| row * i64::from(*size))
                .collect();
            rebuild(&offsets, lists.values(), lists.nulls(), item)
        }
        DataType::ListView(stored) | DataType::LargeListView(stored) => lists(
            &cast(array, &DataType::LargeList(FieldRef::clone(stored)))?,
            item,
        ),
        _ => Err(Misfit::Type),
    }
}

/// The list array of the offsets, with only those values that they reach.
fn rebuild<O: Copy + Into<i64>>(
    offsets: &[O],
    values: &ArrayRef,
    nulls: Option<&NullBuffer>,
    item: &FieldRef,
) -> Result<ArrayRef, Misfit> {
    let first: i64 = offsets.first().copied().map_or(0, Into::into);
    let mut shifted = Vec::with_capacity(offsets.len());
    for (row, &offset) in offsets.iter().enumerate() {
        let offset = i32::try_from(offset.into() - first);
        shifted.push(offset.map_err(|_| Misfit::Value {
            row: row.saturating_sub(1),
            found: "more than 2147483647 items in one batch".to_owned(),
        })?);
    }
    let (start, count) = match (
        usize::try_from(first),
        shifted.last().map(|&last| usize::try_from(last)),
    ) {
        (Ok(start), Some(Ok(count))) => (start, count),
        _ => (0, 0),
    };
    let values =
        convert(&values.slice(start, count), item.data_type()).map_err(|misfit| match misfit {
            Misfit::Value { row, found } => {
                let row = shifted.partition_point(|&offset| {
                    usize::try_from(offset).is_ok_and(|offset| offset <= row)
                });
                Misfit::Value {
                    row: row.saturating_sub(1),
                    found,
                }
            }
            other => other,
        })?;
    // `first` and the conversion kept the offsets ascending, as `try_new` requires.
    let offsets = OffsetBuffer::new(ScalarBuffer::from(shifted));
    let item: FieldRef = if item.is_nullable() || values.null_count() == 0 {
        FieldRef::clone(item)
    } else {
        Arc::new(Field::clone(item).with_nullable(true))
    };
    Ok(Arc::new(ListArray::try_new(
        item,
        offsets,
        values,
        nulls.cloned(),
    )?))
}
