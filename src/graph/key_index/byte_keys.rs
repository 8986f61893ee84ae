//! Keys as strings of bytes, one behind the other.

use super::byte_index::ByteIndex;
use super::error::Twice;

/// Keys in one buffer, without an allocation for each.
#[derive(Debug, Default)]
pub(super) struct ByteKeys {
    bytes: Vec<u8>,
    /// Where each key ends; the next one begins there.
    ends: Vec<usize>,
}

impl ByteKeys {
    /// Appends a key.
    pub fn push(&mut self, key: &[u8]) {
        self.bytes.extend_from_slice(key);
        self.ends.push(self.bytes.len());
    }

    /// The number of keys.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// A key by its row.
    pub fn key(&self, row: u64) -> Option<&[u8]> {
        let row = usize::try_from(row).ok()?;
        let end = *self.ends.get(row)?;
        let start = match row.checked_sub(1) {
            Some(before) => *self.ends.get(before)?,
            None => 0,
        };
        self.bytes.get(start..end)
    }

    /// Memory used.
    pub fn bytes(&self) -> usize {
        self.bytes.capacity() + self.ends.capacity() * size_of::<usize>()
    }

    /// Memory that [`finish`](Self::finish) takes at most while it runs, beside [`bytes`](Self::bytes).
    pub fn finish_bytes(&self) -> usize {
        // Giving back what is left over may copy, before there is a table.
        let ends = self.ends.len() * size_of::<usize>();
        ByteIndex::table_bytes(self.len())
            .max(self.bytes.len())
            .max(ends)
    }

    /// Gives back what was reserved for more keys.
    pub fn shrink(&mut self) {
        self.bytes.shrink_to_fit();
        self.ends.shrink_to_fit();
    }

    /// Builds the hash table. The keys come back if there is one twice.
    pub fn finish(self) -> Result<ByteIndex, (Twice, Self)> {
        ByteIndex::try_new(self)
    }
}
