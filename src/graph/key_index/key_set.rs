//! Keys that were met so far, for rows that come one batch after the other.

use std::hash::BuildHasher;

use datafusion::arrow::array::ArrayRef;
use datafusion::arrow::datatypes::DataType;
use hashbrown::hash_table::Entry;
use hashbrown::{DefaultHashBuilder, HashTable};

use super::KeyError;
use super::byte_keys::ByteKeys;
use super::key_batch::KeyValues;
use super::key_types::{Form, KeyTypes};

/// Tells for each key whether it was there before, and where.
///
/// Where a [`KeyIndexBuilder`](super::KeyIndexBuilder) finds out at its end that two keys are equal, this one says so at
/// once, and leaves the second out. That takes more memory: 16 bytes a key and a place in a hash table, besides
/// the key itself if it is no integer. Keys are equal as they are in a [`KeyIndex`](super::KeyIndex).
#[derive(Debug)]
pub struct KeySet {
    types: KeyTypes,
    keys: Kept,
    hasher: DefaultHashBuilder,
}

#[derive(Debug)]
enum Kept {
    /// Keys with the numbers of their rows.
    Integers(HashTable<(u64, u64)>),
    Bytes {
        keys: ByteKeys,
        /// The number of each key's row.
        rows: Vec<u64>,
        /// Positions in both.
        table: HashTable<u64>,
    },
}

impl KeySet {
    /// No keys yet.
    ///
    /// # Errors
    /// If there is no column, or values of a type cannot be keys.
    pub fn try_new(types: &[DataType]) -> Result<Self, KeyError> {
        let types = KeyTypes::try_new(types)?;
        let keys = match types.form() {
            Form::Integers { .. } => Kept::Integers(HashTable::new()),
            Form::Bytes | Form::Rows(_) => Kept::Bytes {
                keys: ByteKeys::default(),
                rows: vec![],
                table: HashTable::new(),
            },
        };
        Ok(Self {
            types,
            keys,
            hasher: DefaultHashBuilder::default(),
        })
    }

    /// Adds the keys of those rows of a batch that `wanted` tells, but for null ones. `first` is the number of the
    /// batch's first row. Gives the rows whose keys were there before, each with the number of the row that has
    /// its key first.
    ///
    /// # Errors
    /// If the columns are not of the types of this set. Nothing is added then.
    pub fn insert(
        &mut self,
        columns: &[ArrayRef],
        first: u64,
        wanted: impl Fn(usize) -> bool,
    ) -> Result<Vec<(usize, u64)>, KeyError> {
        let batch = self.types.read(columns)?;
        if let Some(column) = batch.misfit {
            return Err(self.types.misfit(column, columns[column].data_type()));
        }
        let nulls = batch.nulls.as_ref();
        let wanted = |row: usize| wanted(row) && nulls.is_none_or(|nulls| nulls.is_valid(row));
        let hasher = &self.hasher;
        let mut repeated = vec![];
        match (&mut self.keys, &batch.values) {
            (Kept::Integers(table), KeyValues::Integers(values)) => {
                for (row, key) in values.iter().enumerate().filter(|(row, _)| wanted(*row)) {
                    let hash = hasher.hash_one(key);
                    let rehash = |(key, _): &(u64, u64)| hasher.hash_one(key);
                    match table.entry(hash, |(other, _)| other == key, rehash) {
                        Entry::Occupied(known) => repeated.push((row, known.get().1)),
                        Entry::Vacant(place) => {
                            place.insert((*key, first + row as u64));
                        }
                    }
                }
            }
            (Kept::Integers(_), _) => {}
            (Kept::Bytes { keys, rows, table }, values) => values.for_each_bytes(|row, key| {
                if !wanted(row) {
                    return;
                }
                let rehash = |at: &u64| keys.key(*at).map_or(0, |key| hasher.hash_one(key));
                let same = |at: &u64| keys.key(*at) == Some(key);
                match table.entry(hasher.hash_one(key), same, rehash) {
                    Entry::Occupied(known) => {
                        // Positions are those of a list in memory.
                        let at = usize::try_from(*known.get()).unwrap_or(usize::MAX);
                        repeated.push((row, rows.get(at).copied().unwrap_or_default()));
                    }
                    Entry::Vacant(place) => {
                        place.insert(rows.len() as u64);
                        keys.push(key);
                        rows.push(first + row as u64);
                    }
                }
            }),
        }
        Ok(repeated)
    }

    /// Memory used.
    pub fn bytes(&self) -> usize {
        let keys = match &self.keys {
            Kept::Integers(table) => table.allocation_size(),
            Kept::Bytes { keys, rows, table } => {
                keys.bytes() + rows.capacity() * size_of::<u64>() + table.allocation_size()
            }
        };
        self.types.bytes() + keys
    }

    /// Memory that the table of keys takes anew if so many more come, beside [`bytes`](Self::bytes).
    pub fn growth_bytes(&self, more: usize) -> usize {
        let (len, capacity, entry) = match &self.keys {
            Kept::Integers(table) => (table.len(), table.capacity(), size_of::<(u64, u64)>()),
            Kept::Bytes { table, .. } => (table.len(), table.capacity(), size_of::<u64>()),
        };
        let wanted = len.saturating_add(more);
        if wanted <= capacity {
            return 0;
        }
        // As many places as the table doubles to, of which at most 7 of 8 are taken, each with one byte of its own.
        let places = wanted.saturating_mul(8).div_ceil(7).next_power_of_two();
        places.saturating_mul(entry + 1)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use datafusion::arrow::array::{Float64Array, Int32Array, Int64Array, StringArray};

    use super::*;

    #[test]
    fn a_key_that_was_there_before_is_told_with_its_first_row() {
        let narrow: ArrayRef = Arc::new(Int32Array::from(vec![Some(5), None, Some(7), Some(5)]));
        let wide: ArrayRef = Arc::new(Int64Array::from(vec![7, 8]));
        let mut keys = KeySet::try_new(&[DataType::Int64]).unwrap();
        assert_eq!(keys.insert(&[narrow], 10, |_| true).unwrap(), [(3, 10)]);
        assert!(keys.growth_bytes(1000) > keys.bytes());
        assert_eq!(keys.insert(&[wide], 14, |_| true).unwrap(), [(0, 12)]);
        assert_eq!(keys.growth_bytes(0), 0);
    }

    #[test]
    fn keys_of_text_and_of_several_columns() {
        let text: ArrayRef = Arc::new(StringArray::from(vec!["a", "", "a", ""]));
        let mut keys = KeySet::try_new(&[DataType::Utf8]).unwrap();
        let found = keys.insert(&[Arc::clone(&text)], 0, |row| row != 1);
        assert_eq!(found.unwrap(), [(2, 0)]);
        let number: ArrayRef = Arc::new(Float64Array::from(vec![0.0, 1.0, -0.0, 2.0]));
        let mut keys = KeySet::try_new(&[DataType::Utf8, DataType::Float64]).unwrap();
        assert_eq!(keys.insert(&[text, number], 0, |_| true).unwrap(), [(2, 0)]);
    }
}
