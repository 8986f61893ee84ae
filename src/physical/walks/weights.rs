//! One number for each vertex of a place.

use std::sync::Arc;

/// The weights of the vertices of a place.
#[derive(Debug, Clone)]
pub(super) enum Weights {
    /// 1 for each of so many vertices.
    Ones(usize),
    /// One for each vertex.
    Each(Arc<Vec<u64>>),
}

impl Weights {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Ones(count) => *count,
            Self::Each(weights) => weights.len(),
        }
    }

    /// The weight of an id; 0 if there is no such vertex.
    pub(super) fn of(&self, id: i64) -> u64 {
        let Ok(id) = usize::try_from(id) else {
            return 0;
        };
        match self {
            Self::Ones(count) => u64::from(id < *count),
            Self::Each(weights) => weights.get(id).copied().unwrap_or(0),
        }
    }

    /// All of them, with zeros up to `length`.
    pub(super) fn spread(&self, length: usize) -> Arc<Vec<u64>> {
        match self {
            Self::Each(weights) if weights.len() == length => Arc::clone(weights),
            Self::Each(weights) => {
                let mut longer = weights.as_ref().clone();
                longer.resize(length, 0);
                Arc::new(longer)
            }
            Self::Ones(count) => {
                let mut ones = vec![1; (*count).min(length)];
                ones.resize(length, 0);
                Arc::new(ones)
            }
        }
    }

    /// These times others; vertices that the others do not have get 0, and vertices only they have are left out.
    pub(super) fn times(self, others: Vec<u64>) -> Self {
        let length = self.len();
        match self {
            Self::Ones(_) => {
                let mut others = others;
                others.resize(length, 0);
                Self::Each(Arc::new(others))
            }
            Self::Each(weights) => {
                let mut weights = Arc::unwrap_or_clone(weights);
                let others = others.into_iter().chain(std::iter::repeat(0));
                for (weight, other) in weights.iter_mut().zip(others) {
                    *weight = weight.saturating_mul(other);
                }
                Self::Each(Arc::new(weights))
            }
        }
    }

    /// Their sum.
    pub(super) fn total(&self) -> u64 {
        match self {
            Self::Ones(count) => *count as u64,
            Self::Each(weights) => weights
                .iter()
                .fold(0_u64, |sum, weight| sum.saturating_add(*weight)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn each(weights: &[u64]) -> Weights {
        Weights::Each(Arc::new(weights.to_vec()))
    }

    #[test]
    fn products_have_the_vertices_of_the_first() {
        assert_eq!(*Weights::Ones(3).times(vec![5, 6]).spread(4), [5, 6, 0, 0]);
        assert_eq!(*each(&[2, 3]).times(vec![5, 6, 7]).spread(2), [10, 18]);
        assert_eq!(*each(&[2, 3]).times(vec![5]).spread(2), [10, 0]);
    }

    #[test]
    fn too_large_numbers_stay_too_large_unless_times_zero() {
        let large = each(&[u64::MAX, u64::MAX, 2]);
        assert_eq!(large.total(), u64::MAX);
        assert_eq!(*large.times(vec![2, 0, 3]).spread(3), [u64::MAX, 0, 6]);
    }

    #[test]
    fn ids_that_are_no_vertices_weigh_nothing() {
        for weights in [Weights::Ones(2), each(&[1, 1])] {
            let found = [-1, 0, 1, 2, i64::MAX].map(|id| weights.of(id));
            assert_eq!(found, [0, 1, 1, 0, 0]);
        }
    }
}
