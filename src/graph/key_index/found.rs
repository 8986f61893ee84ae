//! The answer to a batch of look-ups.

use datafusion::arrow::buffer::NullBuffer;

/// Stands for the id of a key that is not in the index.
pub const ABSENT: u64 = u64::MAX;

/// The internal ids of a batch of keys, one for each row.
///
/// Rows without an id hold [`ABSENT`]. There are two kinds of them: the key is null, or it is not
/// in the index.
#[derive(Debug, Clone)]
pub struct FoundIds {
    ids: Vec<u64>,
    nulls: Option<NullBuffer>,
}

impl FoundIds {
    /// `ids` holds [`ABSENT`] where `nulls` says null.
    pub(super) fn new(ids: Vec<u64>, nulls: Option<NullBuffer>) -> Self {
        let nulls = nulls.filter(|nulls| nulls.null_count() > 0);
        Self { ids, nulls }
    }

    /// The ids, with [`ABSENT`] where there is none.
    pub fn ids(&self) -> &[u64] {
        &self.ids
    }

    /// The ids, without a copy.
    pub fn into_ids(self) -> Vec<u64> {
        self.ids
    }

    /// Which keys are null, if any is.
    pub fn nulls(&self) -> Option<&NullBuffer> {
        self.nulls.as_ref()
    }

    /// The rows whose keys are null.
    pub fn null_rows(&self) -> impl Iterator<Item = usize> {
        let nulls = self.nulls.iter();
        nulls.flat_map(|nulls| (0..nulls.len()).filter(|row| nulls.is_null(*row)))
    }

    /// The rows whose keys are not null and not in the index.
    pub fn absent_rows(&self) -> impl Iterator<Item = usize> {
        let is_null = |row| self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row));
        let rows = self.ids.iter().enumerate();
        rows.filter(move |(row, id)| **id == ABSENT && !is_null(*row))
            .map(|(row, _)| row)
    }
}
