//! Numbers that look random and are the same everywhere.

/// Steele, Lea and Flood's splitmix64.
pub(super) struct SplitMix(pub(super) u64);

impl SplitMix {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// An even number below `n`.
    pub(super) fn below(&mut self, n: u64) -> i64 {
        below(n, self.next())
    }

    /// A number below `n` that crowds towards 0: `floor(n * u³)`.
    pub(super) fn skewed(&mut self, n: u64) -> i64 {
        let u = self.next();
        below(n, high(high(u, u), u))
    }

    /// One of these.
    pub(super) fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        let place = usize::try_from(self.below(of.len() as u64)).unwrap_or_default();
        of.get(place).copied().unwrap_or_default()
    }
}

/// The product of two fractions of 2^64, rounded down. Whole numbers give every machine the
/// same graph, which powers of floating-point numbers do not promise.
fn high(a: u64, b: u64) -> u64 {
    let product = (u128::from(a) * u128::from(b)) >> 64;
    // The upper half of 128 bits fits into 64.
    u64::try_from(product).unwrap_or(u64::MAX)
}

/// `floor(n * u)` for the fraction `u` of 2^64.
fn below(n: u64, u: u64) -> i64 {
    // Less than n, and no graph has 2^63 of anything.
    i64::try_from(high(n, u)).unwrap_or(i64::MAX)
}
