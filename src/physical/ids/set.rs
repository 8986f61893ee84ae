//! Three-valued logic on sets of ids.

use crate::format::RowRanges;

/// For which ids a condition is true and for which it is false, in SQL's three-valued logic; an
/// id in neither gives NULL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdSet {
    /// The ids for which the condition is true.
    pub yes: RowRanges,
    /// The ids for which the condition is false.
    pub no: RowRanges,
    /// Both sets are precise. Otherwise they are supersets: an id may be in both.
    pub exact: bool,
}

impl IdSet {
    /// Every id may give true, and every id may give false.
    pub(super) fn unknown(ids: u64) -> Self {
        Self {
            yes: RowRanges::all(ids),
            no: RowRanges::all(ids),
            exact: false,
        }
    }

    /// Every id gives this value.
    pub(super) fn constant(value: Option<bool>, ids: u64) -> Self {
        let when = |wanted| {
            if value == Some(wanted) {
                RowRanges::all(ids)
            } else {
                RowRanges::empty()
            }
        };
        Self {
            yes: when(true),
            no: when(false),
            exact: true,
        }
    }

    /// True for these ids, false for the others.
    pub(super) fn of(yes: RowRanges, ids: u64) -> Self {
        let no = yes.complement(ids);
        Self {
            yes,
            no,
            exact: true,
        }
    }

    pub(super) fn not(self) -> Self {
        Self {
            yes: self.no,
            no: self.yes,
            exact: self.exact,
        }
    }

    pub(super) fn and(&self, other: &Self) -> Self {
        Self {
            yes: self.yes.intersect(&other.yes),
            no: self.no.union(&other.no),
            exact: self.exact && other.exact,
        }
    }

    pub(super) fn or(&self, other: &Self) -> Self {
        Self {
            yes: self.yes.union(&other.yes),
            no: self.no.intersect(&other.no),
            exact: self.exact && other.exact,
        }
    }

    /// One of the two conditions holds the value, and it is not known which.
    pub(super) fn either(&self, other: &Self) -> Self {
        Self {
            yes: self.yes.union(&other.yes),
            no: self.no.union(&other.no),
            exact: false,
        }
    }

    /// `IS TRUE`.
    pub(super) fn true_test(self, ids: u64) -> Self {
        // A superset says nothing about the ids that are surely in it.
        let no = if self.exact {
            self.yes.complement(ids)
        } else {
            RowRanges::all(ids)
        };
        Self {
            yes: self.yes,
            no,
            exact: self.exact,
        }
    }

    /// `IS NULL`.
    pub(super) fn null_test(&self, ids: u64) -> Self {
        let known = self.yes.union(&self.no);
        let yes = if self.exact {
            known.complement(ids)
        } else {
            RowRanges::all(ids)
        };
        Self {
            yes,
            no: known,
            exact: self.exact,
        }
    }
}
