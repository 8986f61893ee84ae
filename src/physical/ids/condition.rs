//! The small form of a condition that both front ends build, and its evaluation.

use super::set::IdSet;
use super::value::Value;
use crate::format::RowRanges;

/// A condition on ids.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Condition {
    /// Something else; it can have any value for any id.
    Unknown,
    Constant(Option<bool>),
    /// An id compared with a value.
    Compare(Comparison, Value),
    /// `id IN (...)`, and whether there is a NULL in the list.
    In {
        values: Vec<Value>,
        null: bool,
    },
    Not(Box<Condition>),
    IsTrue(Box<Condition>),
    IsNull(Box<Condition>),
    And(Vec<Condition>),
    Or(Vec<Condition>),
    /// The value of one of these; it is not known of which.
    OneOf(Vec<Condition>),
    /// A condition that is only understood if no id reaches the limit.
    Below(u64, Box<Condition>),
}

/// How an id is compared. `IS [NOT] DISTINCT FROM` a value is `<>` and `=`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Comparison {
    /// The comparison with its sides exchanged.
    pub fn flipped(self) -> Self {
        match self {
            Self::Less => Self::Greater,
            Self::LessOrEqual => Self::GreaterOrEqual,
            Self::Greater => Self::Less,
            Self::GreaterOrEqual => Self::LessOrEqual,
            same => same,
        }
    }
}

impl Condition {
    pub fn not(self) -> Self {
        Self::Not(Box::new(self))
    }

    /// The ids of `0..ids` for which the condition is true and false.
    pub fn evaluate(&self, ids: u64) -> IdSet {
        let each = |conditions: &[Self]| conditions.iter().map(|c| c.evaluate(ids)).collect();
        match self {
            Self::Unknown => IdSet::unknown(ids),
            Self::Constant(value) => IdSet::constant(*value, ids),
            Self::Compare(comparison, value) => {
                IdSet::of(compare(*comparison, value.with_one_zero(), ids), ids)
            }
            Self::In { values, null } => {
                let places = values.iter().map(|value| value.place(ids)).collect();
                let mut set = IdSet::of(RowRanges::from_unsorted(places), ids);
                if *null {
                    set.no = RowRanges::empty();
                }
                set
            }
            Self::Not(inner) => inner.evaluate(ids).not(),
            Self::IsTrue(inner) => inner.evaluate(ids).true_test(ids),
            Self::IsNull(inner) => inner.evaluate(ids).null_test(ids),
            Self::And(all) => {
                combine(each(all), IdSet::and).unwrap_or_else(|| IdSet::constant(Some(true), ids))
            }
            Self::Or(all) => {
                combine(each(all), IdSet::or).unwrap_or_else(|| IdSet::constant(Some(false), ids))
            }
            Self::OneOf(all) => {
                let set = combine(each(all), IdSet::either);
                let exact = false;
                set.map_or_else(|| IdSet::unknown(ids), |set| IdSet { exact, ..set })
            }
            Self::Below(limit, inner) if ids <= *limit => inner.evaluate(ids),
            Self::Below(..) => IdSet::unknown(ids),
        }
    }
}

fn compare(comparison: Comparison, value: Value, ids: u64) -> RowRanges {
    let equal = value.place(ids);
    match comparison {
        Comparison::Equal => RowRanges::of(equal),
        Comparison::NotEqual => RowRanges::of(equal).complement(ids),
        Comparison::Less => RowRanges::all(equal.start),
        Comparison::LessOrEqual => RowRanges::all(equal.end),
        Comparison::Greater => RowRanges::of(equal.end..ids),
        Comparison::GreaterOrEqual => RowRanges::of(equal.start..ids),
    }
}

/// Combines neighbours until one is left: long chains cost O(n log n), not O(n²).
fn combine(mut sets: Vec<IdSet>, with: fn(&IdSet, &IdSet) -> IdSet) -> Option<IdSet> {
    while sets.len() > 1 {
        let mut halved = Vec::with_capacity(sets.len().div_ceil(2));
        let mut left = sets.into_iter();
        while let Some(a) = left.next() {
            halved.push(match left.next() {
                Some(b) => with(&a, &b),
                None => a,
            });
        }
        sets = halved;
    }
    sets.pop()
}
