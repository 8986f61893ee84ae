//! Sets of row numbers or ids as sorted ranges.

use std::ops::Range;

/// A set of numbers, kept as ranges that are sorted, not empty, and neither overlap nor touch.
///
/// Every operation costs the number of ranges, whatever the numbers in them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RowRanges(Vec<Range<u64>>);

impl RowRanges {
    /// No number.
    pub fn empty() -> Self {
        Self::default()
    }

    /// The numbers below `total`.
    pub fn all(total: u64) -> Self {
        Self::of(0..total)
    }

    /// The numbers of one range.
    pub fn of(range: Range<u64>) -> Self {
        if range.is_empty() {
            Self::empty()
        } else {
            Self(vec![range])
        }
    }

    /// The numbers of all these ranges, which may be empty, overlap, and stand in any order.
    pub fn from_unsorted(mut ranges: Vec<Range<u64>>) -> Self {
        if !ranges.is_sorted_by_key(|range| range.start) {
            ranges.sort_unstable_by_key(|range| range.start);
        }
        let mut merged: Vec<Range<u64>> = Vec::with_capacity(ranges.len());
        for range in ranges {
            if range.is_empty() {
                continue;
            }
            match merged.last_mut() {
                Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
                _ => merged.push(range),
            }
        }
        Self(merged)
    }

    /// The numbers of ranges that are as the set keeps them: sorted, not empty, and apart.
    pub(crate) fn from_kept(ranges: Vec<Range<u64>>) -> Self {
        debug_assert!(ranges.iter().all(|range| !range.is_empty()));
        debug_assert!(ranges.windows(2).all(|pair| pair[0].end < pair[1].start));
        Self(ranges)
    }

    /// The ranges in order.
    pub fn ranges(&self) -> &[Range<u64>] {
        &self.0
    }

    /// How many numbers there are.
    pub fn count(&self) -> u64 {
        self.0.iter().map(|range| range.end - range.start).sum()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// From the least number to behind the greatest.
    pub fn span(&self) -> Option<Range<u64>> {
        Some(self.0.first()?.start..self.0.last()?.end)
    }

    /// Whether `number` is in the set.
    pub fn contains(&self, number: u64) -> bool {
        let next = self.0.partition_point(|range| range.end <= number);
        self.0.get(next).is_some_and(|range| range.start <= number)
    }

    /// The numbers of either set.
    pub fn union(&self, other: &Self) -> Self {
        match (self.0.as_slice(), other.0.as_slice()) {
            ([], _) => other.clone(),
            (_, []) => self.clone(),
            (mine, theirs) => Self::from_unsorted([mine, theirs].concat()),
        }
    }

    /// The numbers of both sets.
    pub fn intersect(&self, other: &Self) -> Self {
        let (mut mine, mut theirs) = (self.0.iter().peekable(), other.0.iter().peekable());
        let mut common = vec![];
        while let (Some(a), Some(b)) = (mine.peek(), theirs.peek()) {
            let range = a.start.max(b.start)..a.end.min(b.end);
            if !range.is_empty() {
                common.push(range);
            }
            if a.end <= b.end {
                mine.next();
            } else {
                theirs.next();
            }
        }
        Self(common)
    }

    /// The numbers below `total` that are not in the set.
    pub fn complement(&self, total: u64) -> Self {
        let mut others = Vec::with_capacity(self.0.len() + 1);
        let mut begin = 0;
        for range in &self.0 {
            if range.start >= total {
                break;
            }
            if begin < range.start {
                others.push(begin..range.start);
            }
            begin = range.end;
        }
        if begin < total {
            others.push(begin..total);
        }
        Self(others)
    }

    /// The numbers inside `window`.
    pub fn within(&self, window: &Range<u64>) -> Self {
        if window.is_empty() {
            return Self::empty();
        }
        if let Some(span) = self.span()
            && window.start <= span.start
            && span.end <= window.end
        {
            return self.clone();
        }
        let first = self.0.partition_point(|range| range.end <= window.start);
        let inside = self.0[first..]
            .iter()
            .take_while(|range| range.start < window.end)
            .map(|range| range.start.max(window.start)..range.end.min(window.end));
        Self(inside.collect())
    }

    /// All numbers less `by`, which is at most the least of them.
    pub fn less(mut self, by: u64) -> Self {
        for range in &mut self.0 {
            range.start = range.start.saturating_sub(by);
            range.end = range.end.saturating_sub(by);
        }
        self
    }

    /// The same numbers and those between two ranges where these are at most `gap`.
    pub fn bridged(&self, gap: u64) -> Self {
        let mut wide: Vec<Range<u64>> = Vec::with_capacity(self.0.len());
        for range in &self.0 {
            match wide.last_mut() {
                Some(last) if range.start - last.end <= gap => last.end = range.end,
                _ => wide.push(range.clone()),
            }
        }
        Self(wide)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    const TOTAL: u64 = 40;

    fn numbers(set: &RowRanges) -> BTreeSet<u64> {
        set.ranges().iter().flat_map(Clone::clone).collect()
    }

    fn any_set() -> impl Strategy<Value = RowRanges> {
        proptest::collection::vec((0..TOTAL, 0..8_u64), 0..6).prop_map(|ranges| {
            let ranges = ranges
                .into_iter()
                .map(|(start, length)| start..(start + length).min(TOTAL));
            RowRanges::from_unsorted(ranges.collect())
        })
    }

    proptest! {
        #[test]
        fn operations_are_those_of_sets(a in any_set(), b in any_set(), window in (0..TOTAL, 0..TOTAL), gap in 0..4_u64) {
            let (x, y) = (numbers(&a), numbers(&b));
            prop_assert_eq!(a.count(), x.len() as u64);
            prop_assert_eq!(numbers(&a.union(&b)), x.union(&y).copied().collect());
            prop_assert_eq!(numbers(&a.intersect(&b)), x.intersection(&y).copied().collect());
            let all: BTreeSet<u64> = (0..TOTAL).collect();
            prop_assert_eq!(numbers(&a.complement(TOTAL)), all.difference(&x).copied().collect());
            let window = window.0..window.1;
            let inside: BTreeSet<u64> = x.iter().copied().filter(|n| window.contains(n)).collect();
            prop_assert_eq!(numbers(&a.within(&window)), inside);
            for number in 0..TOTAL {
                prop_assert_eq!(a.contains(number), x.contains(&number));
            }
            let wide = a.bridged(gap);
            prop_assert_eq!(wide.span(), a.span());
            prop_assert!(wide.ranges().windows(2).all(|pair| pair[1].start - pair[0].end > gap));
            prop_assert!(numbers(&wide).is_superset(&x));
            for set in [a.union(&b), a.intersect(&b), a.complement(TOTAL), a.within(&window), wide] {
                prop_assert!(set.ranges().iter().all(|range| !range.is_empty()));
                prop_assert!(set.ranges().windows(2).all(|pair| pair[0].end < pair[1].start));
            }
        }
    }
}
