//! An index on its way.

use datafusion::arrow::array::ArrayRef;
use datafusion::arrow::datatypes::DataType;

use super::KeyError;
use super::byte_keys::ByteKeys;
use super::error::Twice;
use super::index::{KeyIndex, Keys};
use super::integer_keys::IntegerKeys;
use super::key_batch::KeyValues;
use super::key_types::{Form, KeyTypes};

/// Takes keys batch by batch and builds a [`KeyIndex`] of them.
///
/// It begins with no memory and holds what its keys take; [`bytes`](Self::bytes) says how much that is. Growing
/// takes half as much again for a moment, as with any vector.
#[derive(Debug)]
pub struct KeyIndexBuilder {
    types: KeyTypes,
    keys: Growing,
    rows: u64,
}

#[derive(Debug)]
enum Growing {
    Integers(IntegerKeys),
    Bytes(ByteKeys),
}

impl KeyIndexBuilder {
    /// A builder without keys.
    ///
    /// # Errors
    /// If there is no column, or values of a type cannot be keys.
    pub fn try_new(types: &[DataType]) -> Result<Self, KeyError> {
        let types = KeyTypes::try_new(types)?;
        let keys = match types.form() {
            Form::Integers { signed } => Growing::Integers(IntegerKeys::new(*signed)),
            Form::Bytes | Form::Rows(_) => Growing::Bytes(ByteKeys::default()),
        };
        Ok(Self {
            types,
            keys,
            rows: 0,
        })
    }

    /// Appends the keys of a batch. Their ids follow those of the batches before.
    ///
    /// # Errors
    /// If a key is null, or the columns are not of the types of this builder. Nothing is appended then.
    pub fn push(&mut self, columns: &[ArrayRef]) -> Result<(), KeyError> {
        let batch = self.types.read(columns)?;
        if let Some(nulls) = &batch.nulls {
            let row = (0..nulls.len()).find(|row| nulls.is_null(*row));
            return Err(KeyError::Null {
                row: self.rows + row.unwrap_or(0) as u64,
            });
        }
        if let Some(column) = batch.misfit {
            return Err(self.types.misfit(column, columns[column].data_type()));
        }
        match (&mut self.keys, &batch.values) {
            (Growing::Integers(keys), KeyValues::Integers(values)) => keys.push(values),
            (Growing::Integers(_), _) => {}
            (Growing::Bytes(keys), values) => values.for_each_bytes(|_, key| keys.push(key)),
        }
        self.rows += batch.rows as u64;
        Ok(())
    }

    /// Number of keys so far.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Memory used so far.
    pub fn bytes(&self) -> usize {
        let keys = match &self.keys {
            Growing::Integers(keys) => keys.bytes(),
            Growing::Bytes(keys) => keys.bytes(),
        };
        self.types.bytes() + keys
    }

    /// Memory that [`finish`](Self::finish) takes at most while it runs, beside [`bytes`](Self::bytes).
    pub fn finish_bytes(&self) -> usize {
        match &self.keys {
            Growing::Integers(keys) => keys.finish_bytes(),
            Growing::Bytes(keys) => keys.finish_bytes(),
        }
    }

    /// The index of all keys: O(n log n) for integers that lie far apart, O(n) for others.
    ///
    /// # Errors
    /// If two keys are equal.
    pub fn finish(self) -> Result<KeyIndex, KeyError> {
        let types = self.types;
        let duplicate = |twice: Twice, key: String| KeyError::Duplicate {
            key,
            first: twice.first,
            second: twice.second,
        };
        let keys = match self.keys {
            Growing::Integers(keys) => match keys.finish() {
                Ok(index) => Keys::Integers(index),
                Err((twice, key)) => return Err(duplicate(twice, types.integer_text(key))),
            },
            Growing::Bytes(keys) => match keys.finish() {
                Ok(index) => Keys::Bytes(index),
                Err((twice, keys)) => {
                    let key = keys.key(twice.first).unwrap_or_default();
                    return Err(duplicate(twice, types.bytes_text(key)));
                }
            },
        };
        Ok(KeyIndex::new(types, keys, self.rows))
    }
}
