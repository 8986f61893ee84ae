//! Sorted keys as a tree of cache lines.

/// Look-ups that are walked down side by side, so that their cache misses overlap. More of them
/// than a core keeps misses in flight, few enough for their state to stay in the first cache.
pub(super) const GROUP: usize = 32;

/// A key in a line: its distance from the least key of the tree.
pub(super) trait LineKey: Copy + Ord + Into<u64> {
    /// The greatest key.
    const MAX: Self;

    /// The low bits of a distance.
    fn low(distance: u64) -> Self;
}

impl LineKey for u32 {
    const MAX: Self = Self::MAX;

    #[inline(always)]
    fn low(distance: u64) -> Self {
        (distance & 0xffff_ffff) as Self
    }
}

impl LineKey for u64 {
    const MAX: Self = Self::MAX;

    #[inline(always)]
    fn low(distance: u64) -> Self {
        distance
    }
}

/// One cache line.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
struct Line<K, const B: usize>([K; B]);

impl<K: LineKey, const B: usize> Line<K, B> {
    /// How many keys without the last one are less.
    #[inline(always)]
    fn rank(&self, key: K) -> usize {
        // Without AVX2 the compiler makes a detour of the count, and quartering is faster.
        if cfg!(target_feature = "avx2") {
            let keys = self.0.iter().take(B - 1);
            keys.map(|other| usize::from(*other < key)).sum()
        } else {
            quarter(&self.0, key)
        }
    }
}

/// How many of ascending keys without the last one are less. Their number is a power of two.
#[inline(always)]
fn quarter<K: LineKey, const N: usize>(keys: &[K; N], key: K) -> usize {
    // The remainder changes nothing but spares a check.
    let is_less = |place: usize| usize::from(keys[place % N] < key);
    let mut less = 0;
    let mut rest = N;
    // Three independent comparisons take hardly longer than one, of which two would have to wait
    // for each other.
    while rest >= 4 {
        rest /= 4;
        let first = less + rest - 1;
        less += rest * (is_less(first) + is_less(first + rest) + is_less(first + 2 * rest));
    }
    if rest == 2 {
        less += is_less(less);
    }
    less
}

/// A static search tree: the ascending keys in lines of `B`, above them the greatest keys of
/// these lines, again in lines of `B`, and so on. Line `i` of a level leads to the lines from `i * B`
/// of the next one, so there are no pointers. A level of at most `T` lines has one sorted list above,
/// which the first cache holds; both numbers are powers of two.
#[derive(Debug)]
pub(super) struct LineTree<K, const B: usize, const T: usize> {
    /// The greatest keys of the lines of the first level.
    top: Box<[K; T]>,
    levels: Vec<Vec<Line<K, B>>>,
    leaves: Vec<Line<K, B>>,
}

impl<K: LineKey, const B: usize, const T: usize> LineTree<K, B, T> {
    /// A tree of ascending keys, of which there is at least one.
    pub fn new(keys: impl ExactSizeIterator<Item = K>) -> Self {
        let leaves = lines(keys);
        let mut levels: Vec<Vec<Line<K, B>>> = vec![];
        loop {
            let below = levels.last().unwrap_or(&leaves);
            let last = below.len().saturating_sub(1);
            // Nothing is behind the last line, so that greater keys end there, too.
            let greatest = below
                .iter()
                .enumerate()
                .map(|(i, line)| if i < last { line.0[B - 1] } else { K::MAX });
            if below.len() > T {
                let level = lines(greatest);
                levels.push(level);
            } else {
                let mut top = Box::new([K::MAX; T]);
                top.iter_mut()
                    .zip(greatest)
                    .for_each(|(top, key)| *top = key);
                levels.reverse();
                return Self {
                    top,
                    levels,
                    leaves,
                };
            }
        }
    }

    /// Where distances stand among the keys, or would stand, and which of them are there.
    ///
    /// What is greater than all keys may seem to be there, but stands behind the last one.
    #[inline(always)]
    pub fn places(
        &self,
        distances: &[u64; GROUP],
        places: &mut [usize; GROUP],
        there: &mut [bool; GROUP],
    ) {
        for (place, distance) in places.iter_mut().zip(distances) {
            *place = quarter(&self.top, K::low(*distance));
        }
        for level in &self.levels {
            let lines = level.as_slice();
            for (place, distance) in places.iter_mut().zip(distances) {
                *place = *place * B + lines[*place].rank(K::low(*distance));
            }
        }
        let lines = self.leaves.as_slice();
        for ((place, distance), there) in places.iter_mut().zip(distances).zip(there) {
            let line = &lines[*place];
            let rank = line.rank(K::low(*distance));
            *there = line.0[rank % B].into() == *distance;
            *place = *place * B + rank;
        }
    }

    /// As [`places`](Self::places), for one distance.
    #[inline(always)]
    pub fn place(&self, distance: u64) -> Option<usize> {
        let key = K::low(distance);
        let mut place = quarter(&self.top, key);
        for level in &self.levels {
            place = place * B + level[place].rank(key);
        }
        let line = &self.leaves[place];
        let rank = line.rank(key);
        (line.0[rank % B].into() == distance).then_some(place * B + rank)
    }

    /// Memory used.
    pub fn bytes(&self) -> usize {
        let lines: usize = self.levels.iter().map(Vec::capacity).sum();
        let lines = lines + self.leaves.capacity();
        size_of::<[K; T]>() + lines * size_of::<Line<K, B>>()
    }
}

/// Keys in lines, the last one filled up with the greatest key there can be.
fn lines<K: LineKey, const B: usize>(
    mut keys: impl ExactSizeIterator<Item = K>,
) -> Vec<Line<K, B>> {
    let count = keys.len().div_ceil(B);
    let mut next = || keys.next().unwrap_or(K::MAX);
    (0..count).map(|_| Line([(); B].map(|()| next()))).collect()
}
