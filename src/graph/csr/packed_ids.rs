//! Ids in as few bytes as the largest of them needs.

use std::ops::Range;

/// Bytes behind the last id, so that a whole word can be read from where it begins.
const PADDING: usize = size_of::<u64>();

/// Ids below a bound, each in the least whole number of bytes that the bound needs: leading zero bytes are left out of all of
/// them alike. Any id is read in constant time, with one load and one mask.
///
/// Memory: `ceil(log256(bound))` bytes an id, and 8.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackedIds {
    bytes: Vec<u8>,
    width: usize,
}

/// The least number of bytes, from 1 to 8, that all ids below `bound` fit into.
pub fn id_width(bound: u64) -> usize {
    let most = bound.saturating_sub(1);
    let bits = u64::BITS - most.leading_zeros();
    usize::try_from(bits.div_ceil(u8::BITS)).map_or(PADDING, |bytes| bytes.max(1))
}

impl PackedIds {
    /// No ids, with room for `rows` of them below `bound`.
    pub fn with_capacity(bound: u64, rows: usize) -> Self {
        let width = id_width(bound);
        let mut bytes = Vec::with_capacity(rows.saturating_mul(width).saturating_add(PADDING));
        bytes.resize(PADDING, 0);
        Self { bytes, width }
    }

    /// So many ids below `bound`, all 0.
    pub fn zeros(bound: u64, rows: usize) -> Self {
        let width = id_width(bound);
        let bytes = vec![0; rows.saturating_mul(width).saturating_add(PADDING)];
        Self { bytes, width }
    }

    /// Writes an id, which has to be below the bound, to a place that has to be there.
    #[inline]
    pub fn set(&mut self, place: usize, id: u64) {
        let width = self.width;
        let at = place * width;
        self.bytes[at..at + width].copy_from_slice(&id.to_le_bytes()[..width]);
    }

    /// Adds ids at the end.
    ///
    /// # Errors
    /// The place of the first one that is not below `bound`, of which the width was made; then none was added.
    pub fn extend(&mut self, ids: &[i64], bound: u64) -> Result<(), usize> {
        let outside = |id: &i64| u64::try_from(*id).map_or(true, |id| id >= bound);
        if let Some(place) = ids.iter().position(outside) {
            return Err(place);
        }
        self.bytes.truncate(self.bytes.len() - PADDING);
        let width = self.width;
        let begin = self.bytes.len();
        self.bytes.resize(begin + ids.len() * width + PADDING, 0);
        // A whole word is written where each id begins; the next one covers what is too much.
        for (place, id) in ids.iter().enumerate() {
            let at = begin + place * width;
            self.bytes[at..at + PADDING].copy_from_slice(&id.to_le_bytes());
        }
        let end = begin + ids.len() * width;
        self.bytes[end..].fill(0);
        Ok(())
    }

    /// Adds ids of the same width at the end.
    pub fn append(&mut self, other: &Self) {
        debug_assert_eq!(self.width, other.width);
        self.bytes.truncate(self.bytes.len() - PADDING);
        self.bytes.extend_from_slice(&other.bytes);
    }

    /// Number of ids.
    pub fn len(&self) -> usize {
        (self.bytes.len() - PADDING) / self.width
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of an id.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Bytes of memory.
    pub fn bytes(&self) -> usize {
        self.bytes.capacity()
    }

    /// The id at a place, which has to be there.
    pub fn get(&self, place: usize) -> usize {
        match self.width {
            1 => read::<1>(&self.bytes, place),
            2 => read::<2>(&self.bytes, place),
            3 => read::<3>(&self.bytes, place),
            4 => read::<4>(&self.bytes, place),
            5 => read::<5>(&self.bytes, place),
            6 => read::<6>(&self.bytes, place),
            7 => read::<7>(&self.bytes, place),
            _ => read::<8>(&self.bytes, place),
        }
    }

    /// Does something with the ids of each of these places in turn: `each` gets the number of the range, and an id.
    pub fn visit(
        &self,
        ranges: impl Iterator<Item = Range<usize>>,
        each: impl FnMut(usize, usize),
    ) {
        // The width is told once and not for each id.
        match self.width {
            1 => visit::<1>(&self.bytes, ranges, each),
            2 => visit::<2>(&self.bytes, ranges, each),
            3 => visit::<3>(&self.bytes, ranges, each),
            4 => visit::<4>(&self.bytes, ranges, each),
            5 => visit::<5>(&self.bytes, ranges, each),
            6 => visit::<6>(&self.bytes, ranges, each),
            7 => visit::<7>(&self.bytes, ranges, each),
            _ => visit::<8>(&self.bytes, ranges, each),
        }
    }
}

/// The id of `W` bytes at a place.
#[inline(always)]
fn read<const W: usize>(bytes: &[u8], place: usize) -> usize {
    let at = place * W;
    let mut word = [0; PADDING];
    let id = if W <= 4 {
        word[..4].copy_from_slice(&bytes[at..at + 4]);
        u64::from_le_bytes(word) & (u64::MAX >> (u64::BITS as usize - 8 * W))
    } else {
        word.copy_from_slice(&bytes[at..at + PADDING]);
        u64::from_le_bytes(word) & (u64::MAX >> (u64::BITS as usize - 8 * W))
    };
    // Ids are places in memory, so they fit where there is memory for them.
    usize::try_from(id).unwrap_or(usize::MAX)
}

fn visit<const W: usize>(
    bytes: &[u8],
    ranges: impl Iterator<Item = Range<usize>>,
    mut each: impl FnMut(usize, usize),
) {
    for (number, range) in ranges.enumerate() {
        for place in range {
            each(number, read::<W>(bytes, place));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn widths_are_the_least_that_fit() {
        let bounds = [
            0,
            1,
            256,
            257,
            65_536,
            65_537,
            1 << 24,
            (1 << 24) + 1,
            1 << 32,
            u64::MAX,
        ];
        let widths = bounds.map(id_width);
        assert_eq!(widths, [1, 1, 1, 2, 2, 3, 3, 4, 4, 8]);
    }

    #[test]
    fn ids_outside_the_bound_are_told_and_not_added() {
        let mut ids = PackedIds::with_capacity(300, 4);
        assert_eq!(ids.extend(&[1, 299], 300), Ok(()));
        assert_eq!(ids.extend(&[5, 300], 300), Err(1));
        assert_eq!(ids.extend(&[-1], 300), Err(0));
        assert_eq!((ids.len(), ids.get(0), ids.get(1)), (2, 1, 299));
        assert!(PackedIds::with_capacity(1 << 20, 0).is_empty());
    }

    proptest! {
        #[test]
        fn every_id_comes_back(width in 1_u32..8, seeds in prop::collection::vec(any::<u64>(), 0..200), cut in 0_usize..200) {
            let bound = if width == 8 { i64::MAX.unsigned_abs() } else { 1_u64 << (8 * width) };
            let ids: Vec<i64> = seeds.iter().map(|seed| i64::try_from(seed % bound).unwrap()).collect();
            let cut = cut.min(ids.len());
            let mut packed = PackedIds::with_capacity(bound, 0);
            packed.extend(&ids[..cut], bound).unwrap();
            let mut rest = PackedIds::with_capacity(bound, ids.len());
            rest.extend(&ids[cut..], bound).unwrap();
            packed.append(&rest);
            prop_assert_eq!(packed.len(), ids.len());
            let mut placed = PackedIds::zeros(bound, ids.len());
            for (place, id) in ids.iter().enumerate().rev() {
                placed.set(place, id.unsigned_abs());
            }
            prop_assert_eq!(&placed, &packed);
            let back: Vec<i64> = (0..ids.len()).map(|place| i64::try_from(packed.get(place)).unwrap()).collect();
            prop_assert_eq!(&back, &ids);
            let mut visited = vec![];
            packed.visit([0..cut, cut..cut, cut..ids.len()].into_iter(), |range, id| visited.push((range, id)));
            let expected: Vec<(usize, usize)> = ids.iter().enumerate()
                .map(|(place, id)| (if place < cut { 0 } else { 2 }, usize::try_from(*id).unwrap())).collect();
            prop_assert_eq!(visited, expected);
        }
    }
}
