//! Ids by keys that are strings of bytes.

use std::hash::BuildHasher;

use hashbrown::hash_table::Entry;
use hashbrown::{DefaultHashBuilder, HashTable};

use super::ABSENT;
use super::byte_keys::ByteKeys;
use super::error::Twice;
use super::ids::Ids;

/// A hash table of ids; the keys stand beside it, in the order of the ids.
#[derive(Debug)]
pub(super) struct ByteIndex {
    keys: ByteKeys,
    table: Table,
    hasher: DefaultHashBuilder,
}

/// Ids in four bytes each as long as they fit.
#[derive(Debug)]
enum Table {
    Narrow(HashTable<u32>),
    Wide(HashTable<u64>),
}

impl ByteIndex {
    /// Hashes all keys. They come back if there is one twice.
    pub fn try_new(keys: ByteKeys) -> Result<Self, (Twice, ByteKeys)> {
        let narrow = Ids::are_narrow(keys.len());
        Self::with_width(keys, narrow)
    }

    fn with_width(mut keys: ByteKeys, narrow: bool) -> Result<Self, (Twice, ByteKeys)> {
        keys.shrink();
        let hasher = DefaultHashBuilder::default();
        let filled = if narrow {
            let ids = 0..u32::try_from(keys.len()).unwrap_or(u32::MAX);
            fill(&keys, ids, &hasher).map(Table::Narrow)
        } else {
            fill(&keys, 0..keys.len() as u64, &hasher).map(Table::Wide)
        };
        match filled {
            Ok(table) => Ok(Self {
                keys,
                table,
                hasher,
            }),
            Err(twice) => Err((twice, keys)),
        }
    }

    /// The id of a key, [`ABSENT`] if it is not here.
    pub fn find(&self, key: &[u8]) -> u64 {
        let hash = self.hasher.hash_one(key);
        let is_key = |id: u64| self.keys.key(id) == Some(key);
        let id = match &self.table {
            Table::Narrow(ids) => ids
                .find(hash, |id| is_key(u64::from(*id)))
                .map(|id| u64::from(*id)),
            Table::Wide(ids) => ids.find(hash, |id| is_key(*id)).copied(),
        };
        id.unwrap_or(ABSENT)
    }

    /// Memory used.
    pub fn bytes(&self) -> usize {
        let table = match &self.table {
            Table::Narrow(ids) => ids.allocation_size(),
            Table::Wide(ids) => ids.allocation_size(),
        };
        self.keys.bytes() + table
    }

    /// Memory that the table of so many keys takes at most.
    pub fn table_bytes(keys: usize) -> usize {
        let id = if Ids::are_narrow(keys) {
            size_of::<u32>()
        } else {
            size_of::<u64>()
        };
        // At most 7 of 8 buckets are taken, each has one byte beside the id, and their number is a power of two.
        keys.saturating_mul(8).div_ceil(7).next_power_of_two() * (id + 1) + 64
    }
}

fn fill<Id: Copy + Into<u64>>(
    keys: &ByteKeys,
    ids: impl Iterator<Item = Id>,
    hasher: &DefaultHashBuilder,
) -> Result<HashTable<Id>, Twice> {
    let mut table = HashTable::with_capacity(keys.len());
    let rehash = |id: &Id| {
        let key = keys.key((*id).into());
        key.map_or(0, |key| hasher.hash_one(key))
    };
    for id in ids {
        let Some(key) = keys.key(id.into()) else {
            break;
        };
        let is_key = |other: &Id| keys.key((*other).into()) == Some(key);
        match table.entry(hasher.hash_one(key), is_key, rehash) {
            Entry::Occupied(first) => {
                return Err(Twice {
                    first: (*first.get()).into(),
                    second: id.into(),
                });
            }
            Entry::Vacant(place) => {
                place.insert(id);
            }
        }
    }
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(texts: &[&str]) -> ByteKeys {
        let mut keys = ByteKeys::default();
        for text in texts {
            keys.push(text.as_bytes());
        }
        keys
    }

    #[test]
    fn narrow_and_wide_tables_find_the_same() {
        for narrow in [true, false] {
            let index = ByteIndex::with_width(keys(&["b", "", "ab"]), narrow).unwrap();
            let found = ["ab", "a", "", "b"].map(|key| index.find(key.as_bytes()));
            assert_eq!(found, [2, ABSENT, 1, 0]);
            let (twice, _) = ByteIndex::with_width(keys(&["b", "a", "a"]), narrow).unwrap_err();
            assert_eq!((twice.first, twice.second), (1, 2));
        }
    }

    #[test]
    fn a_table_is_not_larger_than_foretold() {
        for count in [0, 1, 3, 7, 8, 14, 15, 1000, 1792, 1793, 5000] {
            let texts: Vec<String> = (0..count).map(|i: u32| i.to_string()).collect();
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let index = ByteIndex::try_new(keys(&texts)).unwrap();
            let table = index.bytes() - index.keys.bytes();
            assert!(table <= ByteIndex::table_bytes(texts.len()), "{count}");
        }
    }
}
