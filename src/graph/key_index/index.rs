//! Internal ids by key.

use datafusion::arrow::array::{Array, ArrayRef};
use datafusion::arrow::datatypes::DataType;

use super::KeyError;
use super::builder::KeyIndexBuilder;
use super::byte_index::ByteIndex;
use super::found::{ABSENT, FoundIds};
use super::integer_index::IntegerIndex;
use super::key_batch::KeyValues;
use super::key_types::KeyTypes;

/// The keys of one vertex type, and the internal id of each: the number of its row.
///
/// A key is one column or several. Look-ups may come in other integer widths and other layouts
/// of strings and bytes than the keys, and encoded as dictionaries: values count. For floats, -0.0
/// is 0.0, and there is one NaN. Lists and structs cannot be keys.
///
/// Consecutive integers take no memory, and integers that fill a quarter of their range one table.
/// Other integers are in a [`SearchTree`](super::SearchTree), anything else is in a hash table.
/// Look-ups in batches are much faster than as many look-ups of one key.
///
/// ```
/// # use std::sync::Arc;
/// # use datafusion::arrow::array::{ArrayRef, Int32Array, Int64Array};
/// # use datafusion_graphar::graph::{ABSENT, KeyError, KeyIndex};
/// # fn main() -> Result<(), KeyError> {
/// let keys: ArrayRef = Arc::new(Int64Array::from(vec![70, 10, 40]));
/// let index = KeyIndex::try_new(&[keys])?;
/// let wanted: ArrayRef = Arc::new(Int32Array::from(vec![Some(40), None, Some(50)]));
/// let found = index.ids(&[wanted])?;
/// assert_eq!(found.ids(), [2, ABSENT, ABSENT]);
/// assert_eq!(found.null_rows().collect::<Vec<_>>(), [1]);
/// assert_eq!(found.absent_rows().collect::<Vec<_>>(), [2]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct KeyIndex {
    types: KeyTypes,
    pub(super) keys: Keys,
    count: u64,
}

#[derive(Debug)]
pub(super) enum Keys {
    Integers(IntegerIndex),
    Bytes(ByteIndex),
}

impl KeyIndex {
    /// An index of all keys of a vertex type, a column for each part of the key.
    ///
    /// # Errors
    /// If a key is null or stands there twice, the columns differ in length, there is none, or values
    /// of a type cannot be keys.
    pub fn try_new(columns: &[ArrayRef]) -> Result<Self, KeyError> {
        let types: Vec<DataType> = columns.iter().map(|c| c.data_type().clone()).collect();
        let mut builder = KeyIndexBuilder::try_new(&types)?;
        builder.push(columns)?;
        builder.finish()
    }

    pub(super) fn new(types: KeyTypes, keys: Keys, count: u64) -> Self {
        Self { types, keys, count }
    }

    /// The ids of a batch of keys.
    ///
    /// # Errors
    /// If the columns differ from those of the index in number, or in type by more than the width of integers or
    /// the layout of strings, or if they are not of one length.
    pub fn ids(&self, columns: &[ArrayRef]) -> Result<FoundIds, KeyError> {
        let batch = self.types.read(columns)?;
        let mut ids = vec![ABSENT; batch.rows];
        match (&self.keys, &batch.values) {
            (Keys::Integers(index), KeyValues::Integers(keys)) => index.find_all(keys, &mut ids),
            (Keys::Integers(_), _) => {}
            (Keys::Bytes(index), values) => {
                values.for_each_bytes(|row, key| ids[row] = index.find(key));
            }
        }
        // What a null hides may be the value of a key.
        if let Some(fitting) = &batch.fitting {
            for (row, id) in ids.iter_mut().enumerate() {
                if fitting.is_null(row) {
                    *id = ABSENT;
                }
            }
        }
        Ok(FoundIds::new(ids, batch.nulls))
    }

    /// Number of keys; the ids are the numbers below.
    pub fn len(&self) -> u64 {
        self.count
    }

    /// Whether there are no keys.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Memory used.
    pub fn bytes(&self) -> usize {
        let keys = match &self.keys {
            Keys::Integers(index) => index.bytes(),
            Keys::Bytes(index) => index.bytes(),
        };
        self.types.bytes() + keys
    }
}
