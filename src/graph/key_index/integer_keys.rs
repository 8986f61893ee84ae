//! Integer keys on their way into an index.

use super::error::Twice;
use super::integer_index::IntegerIndex;
use super::search_tree::SearchTree;

/// Integers of 64 bits, signed ones by their bits.
///
/// As long as each key follows the one before there is nothing to keep but their number.
#[derive(Debug)]
pub(super) struct IntegerKeys {
    signed: bool,
    first: u64,
    count: u64,
    /// All keys, once they are no longer consecutive.
    keys: Vec<u64>,
}

impl IntegerKeys {
    /// No keys yet.
    pub fn new(signed: bool) -> Self {
        Self {
            signed,
            first: 0,
            count: 0,
            keys: vec![],
        }
    }

    /// Appends keys.
    pub fn push(&mut self, keys: &[u64]) {
        let mut keys = keys;
        if self.keys.is_empty() {
            if self.count == 0 {
                self.first = keys.first().copied().unwrap_or(0);
            }
            let next = self.first.wrapping_add(self.count);
            let run = keys
                .iter()
                .zip(0..)
                .take_while(|(key, i)| **key == next.wrapping_add(*i));
            let run = run.count();
            self.count += run as u64;
            keys = &keys[run..];
            if !keys.is_empty() {
                let first = self.first;
                self.keys
                    .extend((0..self.count).map(|i| first.wrapping_add(i)));
            }
        }
        self.keys.extend_from_slice(keys);
    }

    /// Memory used.
    pub fn bytes(&self) -> usize {
        self.keys.capacity() * size_of::<u64>()
    }

    /// Memory that [`finish`](Self::finish) takes at most while it runs, beside [`bytes`](Self::bytes).
    pub fn finish_bytes(&self) -> usize {
        if self.keys.is_empty() {
            return 0;
        }
        // Sorted pairs of key and row, from which keys and ids are laid out in lines.
        self.keys.len() * 4 * size_of::<u64>() + SearchTree::LEAST_BYTES
    }

    /// Builds the index that suits the keys. Fails with a key that stands there twice.
    pub fn finish(self) -> Result<IntegerIndex, (Twice, u64)> {
        if self.keys.is_empty() {
            return Ok(IntegerIndex::Run {
                first: self.first,
                count: self.count,
            });
        }
        IntegerIndex::try_new(self.keys, self.signed)
    }
}
