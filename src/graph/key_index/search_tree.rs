//! Ids by integer keys that lie far apart.

use super::ABSENT;
use super::error::Twice;
use super::ids::Ids;
use super::line_tree::{GROUP, LineKey, LineTree};

/// A static search tree from 64-bit keys to the numbers of the rows they stand in.
///
/// The keys are sorted and laid out in cache lines: 16 keys of four bytes if all keys lie within
/// 2^32 of the least, else 8 keys of eight bytes. A look-up reads one line of each level, and the levels that
/// small trees have are in the cache. [`find_all`](Self::find_all) walks several keys
/// level by level, so that it waits once for what [`find`](Self::find) waits for many times.
///
/// Takes about 8.5 or 13 bytes for each key, 4 fewer if the keys ascend by row.
#[derive(Debug)]
pub struct SearchTree {
    least: u64,
    keys: Keys,
    /// By the place of the key.
    ids: Ids,
}

#[derive(Debug)]
enum Keys {
    Narrow(LineTree<u32, 16, 1024>),
    Wide(LineTree<u64, 8, 256>),
}

/// The half of a pair that is the row.
const LOW: u64 = u32::MAX as u64;

impl SearchTree {
    /// More than a tree of one key takes.
    pub(super) const LEAST_BYTES: usize = 1 << 13;

    /// A tree of keys, each of which belongs to the id that is the number of its row.
    ///
    /// Returns `None` if a key stands there twice, or there is no key.
    pub fn new(keys: &[u64]) -> Option<Self> {
        let least = keys.iter().min()?;
        let span = keys.iter().max()? - least;
        Self::try_new(keys.to_vec(), *least, span).ok()
    }

    /// A tree of keys, the furthest of which is `span` above `least`, wrapping around. Fails with a
    /// key that stands there twice.
    pub(super) fn try_new(mut keys: Vec<u64>, least: u64, span: u64) -> Result<Self, (Twice, u64)> {
        for key in &mut keys {
            *key = key.wrapping_sub(least);
        }
        let narrow_ids = Ids::are_narrow(keys.len());
        let narrow_keys = u32::try_from(span).is_ok();
        let (keys, ids) = if keys.is_sorted_by(|one, next| one < next) {
            (
                Keys::new(keys.iter().copied(), narrow_keys),
                Ids::Places(keys.len()),
            )
        } else if narrow_keys && narrow_ids {
            // Key and row in one number, which sorts faster than two.
            for (row, key) in keys.iter_mut().enumerate() {
                *key = *key << 32 | row as u64;
            }
            keys.sort_unstable();
            let pairs = keys.iter().map(|pair| (pair >> 32, pair & LOW));
            check(pairs.clone(), least)?;
            let ids = Ids::collect(pairs.clone().map(|(_, row)| row), true);
            (Keys::new(pairs.map(|(key, _)| key), true), ids)
        } else {
            let mut pairs: Vec<(u64, u64)> = keys.into_iter().zip(0..).collect();
            pairs.sort_unstable();
            let pairs = pairs.iter().copied();
            check(pairs.clone(), least)?;
            let ids = Ids::collect(pairs.clone().map(|(_, row)| row), narrow_ids);
            (Keys::new(pairs.map(|(key, _)| key), narrow_keys), ids)
        };
        Ok(Self { least, keys, ids })
    }

    /// The id of one key.
    #[inline]
    pub fn find(&self, key: u64) -> Option<u64> {
        let distance = key.wrapping_sub(self.least);
        let place = match &self.keys {
            Keys::Narrow(tree) => tree.place(distance),
            Keys::Wide(tree) => tree.place(distance),
        };
        let id = self.ids.get(place?);
        (id != ABSENT).then_some(id)
    }

    /// The ids of keys, in the order given; [`ABSENT`] for those that are not in the tree.
    ///
    /// What is left of `found` behind the number of keys stays as it is.
    pub fn find_all(&self, keys: &[u64], found: &mut [u64]) {
        match &self.keys {
            Keys::Narrow(tree) => self.find_in(tree, keys, found),
            Keys::Wide(tree) => self.find_in(tree, keys, found),
        }
    }

    fn find_in<K: LineKey, const B: usize, const T: usize>(
        &self,
        tree: &LineTree<K, B, T>,
        keys: &[u64],
        found: &mut [u64],
    ) {
        // The last group is filled up with what was there before.
        let mut distances = [0; GROUP];
        let mut places = [0; GROUP];
        let mut there = [false; GROUP];
        for (keys, found) in keys.chunks(GROUP).zip(found.chunks_mut(GROUP)) {
            for (distance, key) in distances.iter_mut().zip(keys) {
                *distance = key.wrapping_sub(self.least);
            }
            tree.places(&distances, &mut places, &mut there);
            self.ids.get_all(&places, &there, found);
        }
    }

    /// Memory used.
    pub fn bytes(&self) -> usize {
        let keys = match &self.keys {
            Keys::Narrow(tree) => tree.bytes(),
            Keys::Wide(tree) => tree.bytes(),
        };
        keys + self.ids.bytes()
    }
}

impl Keys {
    fn new(distances: impl ExactSizeIterator<Item = u64>, narrow: bool) -> Self {
        if narrow {
            Self::Narrow(LineTree::new(distances.map(u32::low)))
        } else {
            Self::Wide(LineTree::new(distances))
        }
    }
}

/// Looks for equal keys in sorted pairs of distance and row. Fails with those whose second row comes first.
fn check(pairs: impl Iterator<Item = (u64, u64)> + Clone, least: u64) -> Result<(), (Twice, u64)> {
    let neighbors = pairs.clone().zip(pairs.skip(1));
    let equal = neighbors.filter(|((key, _), (next, _))| key == next);
    match equal.min_by_key(|(_, (_, second))| *second) {
        Some(((key, first), (_, second))) => {
            Err((Twice { first, second }, least.wrapping_add(key)))
        }
        None => Ok(()),
    }
}
