//! A table with a place for each integer between the least and the greatest key.

use super::ABSENT;
use super::error::Twice;
use super::ids::Ids;

/// How many places there may be for each key.
///
/// At four places of four bytes a key takes 16 bytes, no more than a hash table of keys and ids at
/// its usual load, and a look-up reads one cache line where a tree reads several.
const PLACES_PER_KEY: u64 = 4;

/// The ids of keys by their distance from the least key.
#[derive(Debug)]
pub(super) struct DenseTable {
    least: u64,
    ids: Ids,
}

impl DenseTable {
    /// Whether `count` keys that lie within `span` of the least are dense enough.
    pub fn suits(count: usize, span: u64) -> bool {
        span < (count as u64).saturating_mul(PLACES_PER_KEY)
    }

    /// A table of keys, none of which is further than `span` above `least`. Fails with a key that stands
    /// there twice.
    pub fn try_new(keys: &[u64], least: u64, span: u64) -> Result<Self, (Twice, u64)> {
        // Below four times a length in memory, so it fits.
        let places = usize::try_from(span)
            .unwrap_or(usize::MAX)
            .saturating_add(1);
        let mut ids = Ids::absent(places, Ids::are_narrow(keys.len()));
        for (row, key) in keys.iter().enumerate() {
            let place = usize::try_from(key.wrapping_sub(least)).unwrap_or(usize::MAX);
            let second = row as u64;
            let first = ids.replace(place, second);
            if first != ABSENT {
                return Err((Twice { first, second }, *key));
            }
        }
        Ok(Self { least, ids })
    }

    /// The ids of keys, [`ABSENT`] for those that are not here.
    pub fn find_all(&self, keys: &[u64], found: &mut [u64]) {
        for (found, key) in found.iter_mut().zip(keys) {
            let place = usize::try_from(key.wrapping_sub(self.least)).unwrap_or(usize::MAX);
            *found = self.ids.get(place);
        }
    }

    /// Memory used.
    pub fn bytes(&self) -> usize {
        self.ids.bytes()
    }
}
