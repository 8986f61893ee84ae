//! Internal ids of the ends of many edges.

use std::collections::BTreeSet;

use datafusion::arrow::array::{Array, Int64Array};
use datafusion::arrow::buffer::ScalarBuffer;

/// Vertex ids below a number known beforehand, in four bytes each if that is enough.
#[derive(Debug)]
pub(super) enum Ids {
    Narrow(Vec<u32>),
    Wide(Vec<u64>),
}

impl Ids {
    /// No ids yet, all to come below `vertices`.
    pub(super) fn below(vertices: u64) -> Self {
        if u32::try_from(vertices).is_ok() {
            Self::Narrow(vec![])
        } else {
            Self::Wide(vec![])
        }
    }

    /// How many they are.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Narrow(ids) => ids.len(),
            Self::Wide(ids) => ids.len(),
        }
    }

    /// Bytes of an id.
    pub(super) fn width(&self) -> usize {
        match self {
            Self::Narrow(_) => size_of::<u32>(),
            Self::Wide(_) => size_of::<u64>(),
        }
    }

    /// Adds ids if all are below `vertices`; otherwise gives the row of the first that is not, or is null.
    pub(super) fn extend(&mut self, ids: &Int64Array, vertices: u64) -> Result<(), usize> {
        if ids.null_count() > 0 {
            let bad = (0..ids.len()).find(|row| {
                ids.is_null(*row)
                    || u64::try_from(ids.value(*row)).map_or(true, |id| id >= vertices)
            });
            return Err(bad.unwrap_or(0));
        }
        let bad = |id: &i64| u64::try_from(*id).map_or(true, |id| id >= vertices);
        if let Some(row) = ids.values().iter().position(bad) {
            return Err(row);
        }
        match self {
            // All are below a number of 32 bits.
            Self::Narrow(known) => {
                known.extend(ids.values().iter().filter_map(|id| u32::try_from(*id).ok()));
            }
            Self::Wide(known) => known.extend(ids.values().iter().map(|id| id.unsigned_abs())),
        }
        Ok(())
    }

    /// Each id once, divided by `size`, in ascending order.
    pub(super) fn parts(&self, size: u64) -> BTreeSet<u64> {
        let size = size.max(1);
        let mut parts = BTreeSet::new();
        let mut last = None;
        let mut add = |id: u64| {
            let part = id / size;
            if last.replace(part) != Some(part) {
                parts.insert(part);
            }
        };
        match self {
            Self::Narrow(ids) => ids.iter().for_each(|id| add(u64::from(*id))),
            Self::Wide(ids) => ids.iter().for_each(|id| add(*id)),
        }
        parts
    }

    /// These ids, then others below the same number.
    pub(super) fn with(mut self, others: &Self) -> Self {
        match (&mut self, others) {
            (Self::Narrow(ids), Self::Narrow(others)) => ids.extend_from_slice(others),
            (Self::Wide(ids), Self::Wide(others)) => ids.extend_from_slice(others),
            (Self::Wide(ids), Self::Narrow(others)) => {
                ids.extend(others.iter().map(|id| u64::from(*id)));
            }
            (Self::Narrow(ids), Self::Wide(others)) => {
                let mut wide: Vec<u64> = ids.iter().map(|id| u64::from(*id)).collect();
                wide.extend_from_slice(others);
                self = Self::Wide(wide);
            }
        }
        self
    }

    /// The ids of these rows, in their order.
    pub(super) fn take(&self, rows: impl Iterator<Item = usize>) -> Int64Array {
        let ids: Vec<i64> = match self {
            Self::Narrow(ids) => rows.map(|row| i64::from(ids[row])).collect(),
            Self::Wide(ids) => rows.map(|row| ids[row].cast_signed()).collect(),
        };
        Int64Array::new(ScalarBuffer::from(ids), None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_kept_as_narrow_as_their_bound_allows() {
        for vertices in [10, 1 << 40] {
            let mut ids = Ids::below(vertices);
            assert_eq!(ids.width(), if vertices == 10 { 4 } else { 8 });
            assert_eq!(
                ids.extend(&Int64Array::from(vec![3, 0, 9]), vertices),
                Ok(())
            );
            assert_eq!(ids.extend(&Int64Array::from(vec![1, -1]), vertices), Err(1));
            let above = Int64Array::from(vec![vertices.cast_signed()]);
            assert_eq!(ids.extend(&above, vertices), Err(0));
            let null = Int64Array::from(vec![Some(1), None]);
            assert_eq!(ids.extend(&null, vertices), Err(1));
            assert_eq!(ids.take([2, 1].into_iter()).values(), &[9, 0]);
            assert_eq!(ids.parts(4), BTreeSet::from([0, 2]));
            let other = Ids::Wide(vec![7]);
            assert_eq!(ids.with(&other).take(0..4).values(), &[3, 0, 9, 7]);
        }
    }
}
