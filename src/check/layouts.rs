//! Layouts are copies: they must hold the same edges.

use super::{Context, Rule};
use crate::format::AdjListType;
use crate::storage::Location;

/// A sum over edges that does not depend on their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Checksum {
    count: u64,
    sums: [u64; 2],
}

impl Checksum {
    /// One edge more.
    pub(super) fn add(&mut self, source: i64, destination: i64) {
        self.count = self.count.wrapping_add(1);
        let source = mix(source.cast_unsigned());
        let edge = mix(source ^ mix(destination.cast_unsigned().wrapping_add(ODD)));
        self.sums[0] = self.sums[0].wrapping_add(edge);
        self.sums[1] = self.sums[1].wrapping_add(mix(edge.wrapping_add(source)));
    }

    /// The edges of another part, too.
    pub(super) fn merge(&mut self, other: &Self) {
        self.count = self.count.wrapping_add(other.count);
        for (sum, other) in self.sums.iter_mut().zip(other.sums) {
            *sum = sum.wrapping_add(other);
        }
    }
}

const ODD: u64 = 0x9e37_79b9_7f4a_7c15;

/// Spreads a change of any bit over all bits (the finalizer of SplitMix64), one to one.
fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(ODD);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// What is known of the edges of one layout.
pub(super) struct LayoutEdges {
    pub(super) layout: AdjListType,
    pub(super) folder: Location,
    /// Their number, where known.
    pub(super) total: Option<u64>,
    /// All of them, if all could be read and can be edges.
    pub(super) edges: Option<Checksum>,
}

/// Reports layouts whose edges differ from those that most layouts have.
pub(super) fn compare(context: &Context, layouts: &[LayoutEdges]) {
    let report = &context.report;
    let totals: Vec<_> = layouts.iter().map(|l| (l, l.total)).collect();
    let Some((like, total)) = most(&totals) else {
        return;
    };
    let (equal, other): (Vec<_>, Vec<_>) = layouts
        .iter()
        .filter(|layout| layout.total.is_some())
        .partition(|layout| layout.total == Some(total));
    for layout in other {
        let found = layout.total.unwrap_or(0).to_string();
        let expected = format!("{total} edges, as in {}", like.layout);
        report.add(&layout.folder, Rule::LayoutEdges, expected, found);
    }
    let sums: Vec<_> = equal.iter().map(|l| (*l, l.edges)).collect();
    let Some((like, edges)) = most(&sums) else {
        return;
    };
    for layout in equal {
        if layout.edges.is_some_and(|own| own != edges) {
            let expected = format!("the same edges as in {}", like.layout);
            let found = format!("as many, {total}, but others");
            report.add(&layout.folder, Rule::LayoutEdges, expected, found);
        }
    }
}

/// The value that most have, and the first that has it.
fn most<'a, T: Copy + PartialEq>(
    values: &[(&'a LayoutEdges, Option<T>)],
) -> Option<(&'a LayoutEdges, T)> {
    let mut best: Option<(&LayoutEdges, T, usize)> = None;
    for (layout, value) in values {
        let Some(value) = *value else {
            continue;
        };
        let same = values.iter().filter(|(_, v)| *v == Some(value)).count();
        if best.as_ref().is_none_or(|(.., most)| same > *most) {
            best = Some((layout, value, same));
        }
    }
    best.map(|(layout, value, _)| (layout, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(edges: &[(i64, i64)]) -> Checksum {
        let mut sum = Checksum::default();
        for (source, destination) in edges {
            sum.add(*source, *destination);
        }
        sum
    }

    #[test]
    fn the_order_of_edges_does_not_matter_and_each_end_does() {
        let edges = [(0, 1), (1, 0), (2, 2), (2, 2), (-1, i64::MAX)];
        let mut reversed = edges;
        reversed.reverse();
        assert_eq!(sum(&edges), sum(&reversed));
        let (mut first, rest) = (sum(&edges[..2]), sum(&edges[2..]));
        first.merge(&rest);
        assert_eq!(first, sum(&edges));
        for other in [
            [(0, 1), (0, 1), (2, 2), (2, 2), (-1, i64::MAX)],
            [(0, 0), (1, 1), (2, 2), (2, 2), (-1, i64::MAX)],
            [(0, 1), (1, 0), (2, 1), (2, 3), (-1, i64::MAX)],
        ] {
            assert_ne!(sum(&edges), sum(&other));
        }
    }
}
