//! A list of internal ids.

use super::ABSENT;

/// Internal ids in four bytes each as long as they fit.
#[derive(Debug)]
pub(super) enum Ids {
    /// The id at each of so many places is the number of the place.
    Places(usize),
    Narrow(Vec<u32>),
    Wide(Vec<u64>),
}

impl Ids {
    /// Whether ids below `count` fit in four bytes, beside a value that stands for none.
    pub fn are_narrow(count: usize) -> bool {
        u32::try_from(count).is_ok()
    }

    /// `places` times no id.
    pub fn absent(places: usize, narrow: bool) -> Self {
        if narrow {
            Self::Narrow(vec![u32::MAX; places])
        } else {
            Self::Wide(vec![ABSENT; places])
        }
    }

    /// These ids.
    pub fn collect(ids: impl Iterator<Item = u64>, narrow: bool) -> Self {
        if narrow {
            Self::Narrow(ids.map(narrowed).collect())
        } else {
            Self::Wide(ids.collect())
        }
    }

    /// The id at a place, [`ABSENT`] where there is none.
    #[inline]
    pub fn get(&self, place: usize) -> u64 {
        match self {
            Self::Places(count) if place < *count => place as u64,
            Self::Places(_) => ABSENT,
            Self::Narrow(ids) => match ids.get(place) {
                Some(&id) if id != u32::MAX => u64::from(id),
                _ => ABSENT,
            },
            Self::Wide(ids) => ids.get(place).copied().unwrap_or(ABSENT),
        }
    }

    /// The ids at those places that count; [`ABSENT`] for the others, and behind the last place.
    #[inline]
    pub fn get_all(&self, places: &[usize], counts: &[bool], found: &mut [u64]) {
        // Loads beside the places that count cost less than branches would.
        let each = found.iter_mut().zip(places.iter().zip(counts));
        match self {
            Self::Places(count) => each.for_each(|(found, (place, counts))| {
                let counts = *counts & (place < count);
                *found = if counts { *place as u64 } else { ABSENT };
            }),
            Self::Narrow(ids) => each.for_each(|(found, (place, counts))| {
                let id = ids.get(*place).map_or(ABSENT, |id| u64::from(*id));
                *found = if *counts { id } else { ABSENT };
            }),
            Self::Wide(ids) => each.for_each(|(found, (place, counts))| {
                let id = ids.get(*place).copied().unwrap_or(ABSENT);
                *found = if *counts { id } else { ABSENT };
            }),
        }
    }

    /// Puts an id at a place. Returns what stood there.
    #[inline]
    pub fn replace(&mut self, place: usize, id: u64) -> u64 {
        let before = self.get(place);
        match self {
            Self::Places(_) => {}
            Self::Narrow(ids) => ids[place] = narrowed(id),
            Self::Wide(ids) => ids[place] = id,
        }
        before
    }

    /// Memory used.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Places(_) => 0,
            Self::Narrow(ids) => ids.capacity() * size_of::<u32>(),
            Self::Wide(ids) => ids.capacity() * size_of::<u64>(),
        }
    }
}

fn narrowed(id: u64) -> u32 {
    u32::try_from(id).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn narrow_and_wide_ids_read_the_same() {
        for narrow in [true, false] {
            let mut ids = Ids::absent(3, narrow);
            assert_eq!(ids.replace(1, 7), ABSENT);
            assert_eq!(ids.replace(1, 8), 7);
            assert_eq!(
                [0, 1, 2, 3].map(|at| ids.get(at)),
                [ABSENT, 8, ABSENT, ABSENT]
            );
            let ids = Ids::collect([5, 4].into_iter(), narrow);
            assert_eq!([0, 1].map(|at| ids.get(at)), [5, 4]);
        }
        assert_eq!([8, 9].map(|at| Ids::Places(9).get(at)), [8, ABSENT]);
    }
}
