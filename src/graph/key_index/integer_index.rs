//! Ids by integer keys.

use super::ABSENT;
use super::dense::DenseTable;
use super::error::Twice;
use super::search_tree::SearchTree;

/// What suits the keys.
#[derive(Debug)]
pub(super) enum IntegerIndex {
    /// Each key is the one before and 1.
    Run { first: u64, count: u64 },
    /// Keys that lie close together.
    Dense(DenseTable),
    /// Other keys.
    Tree(SearchTree),
}

impl IntegerIndex {
    /// An index of keys; there is at least one. Fails with a key that stands there twice.
    pub fn try_new(keys: Vec<u64>, signed: bool) -> Result<Self, (Twice, u64)> {
        // The bits of signed numbers are in order once the sign is turned over.
        let sign = if signed { 1 << 63 } else { 0 };
        let (mut least, mut greatest) = (u64::MAX, 0);
        for key in &keys {
            least = least.min(key ^ sign);
            greatest = greatest.max(key ^ sign);
        }
        let (least, span) = (least ^ sign, greatest.saturating_sub(least));
        if DenseTable::suits(keys.len(), span) {
            return Ok(Self::Dense(DenseTable::try_new(&keys, least, span)?));
        }
        Ok(Self::Tree(SearchTree::try_new(keys, least, span)?))
    }

    /// The ids of keys, [`ABSENT`] for those that are not here.
    pub fn find_all(&self, keys: &[u64], found: &mut [u64]) {
        match self {
            Self::Run { first, count } => {
                for (found, key) in found.iter_mut().zip(keys) {
                    let id = key.wrapping_sub(*first);
                    *found = if id < *count { id } else { ABSENT };
                }
            }
            Self::Dense(table) => table.find_all(keys, found),
            Self::Tree(tree) => tree.find_all(keys, found),
        }
    }

    /// Memory used.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Run { .. } => 0,
            Self::Dense(table) => table.bytes(),
            Self::Tree(tree) => tree.bytes(),
        }
    }
}
