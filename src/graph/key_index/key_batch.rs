//! A batch of keys in the form in which they are kept.

use datafusion::arrow::array::{Array, BinaryViewArray};
use datafusion::arrow::buffer::{NullBuffer, ScalarBuffer};
use datafusion::arrow::row::Rows;

/// Keys of a batch.
#[derive(Debug)]
pub(super) struct KeyBatch {
    /// How many keys there are.
    pub rows: usize,
    /// Their values, which mean nothing where `fitting` says null.
    pub values: KeyValues,
    /// Which keys are null.
    pub nulls: Option<NullBuffer>,
    /// Which keys are neither null nor beyond the range of the index's type.
    pub fitting: Option<NullBuffer>,
    /// The first column with a value beyond the range.
    pub misfit: Option<usize>,
}

/// The values of keys.
#[derive(Debug)]
pub(super) enum KeyValues {
    /// Signed ones by their bits.
    Integers(ScalarBuffer<u64>),
    Bytes(BinaryViewArray),
    Rows(Rows),
}

impl KeyValues {
    /// Calls a function with the bytes of each key; integers have none.
    pub fn for_each_bytes(&self, mut f: impl FnMut(usize, &[u8])) {
        match self {
            Self::Integers(_) => {}
            Self::Bytes(array) => (0..array.len()).for_each(|row| f(row, array.value(row))),
            Self::Rows(rows) => {
                let keys = rows.iter().enumerate();
                keys.for_each(|(row, key)| f(row, key.data()));
            }
        }
    }
}
