//! Weakly connected components.

use super::vertex;
use crate::graph::{Csr, Stop, Stopped};

/// For each vertex the least vertex that edges, followed either way, connect it with. The lists of one end will do.
///
/// A forest in which every vertex points at a lesser one; an edge joins the trees of its ends by their roots. O(E α(V)); `4 V` bytes.
///
/// # Errors
/// If it is asked to stop.
pub fn components(csr: &Csr, stop: &Stop) -> Result<Vec<u32>, Stopped> {
    let count = usize::try_from(csr.vertices()).unwrap_or(usize::MAX);
    let mut forest: Vec<u32> = (0..vertex(count)).collect();
    csr.each_piece(stop, |first, part, vertices| {
        let first = usize::try_from(first).unwrap_or(usize::MAX);
        part.neighbors
            .visit(part.rows_of_each(vertices), |inside, other| {
                let own = root(&mut forest, first + inside);
                let other = root(&mut forest, other);
                let (least, greater) = (own.min(other), own.max(other));
                forest[greater] = vertex(least);
            });
    })?;
    // What a vertex points at is lesser, so it is at its root already.
    for id in 0..forest.len() {
        forest[id] = forest[forest[id] as usize];
    }
    Ok(forest)
}

/// The root of a vertex's tree. What lies on the way points further up afterwards.
#[inline]
fn root(forest: &mut [u32], id: usize) -> usize {
    let mut at = id;
    loop {
        let above = forest[at] as usize;
        if above == at {
            return at;
        }
        forest[at] = forest[above];
        at = forest[at] as usize;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::testing::*;
    use super::*;

    proptest! {
        #[test]
        fn a_component_is_what_can_be_reached_either_way(graph in graph()) {
            let expected: Vec<u32> = (0..VERTICES).map(|id| {
                let distances = graph.distances(id, Way::Any);
                vertex(distances.iter().position(Option::is_some).unwrap())
            }).collect();
            for end in [0, 1] {
                let found = components(&graph.lists(end).csr, &Stop::default()).unwrap();
                prop_assert_eq!(&found, &expected);
            }
        }
    }
}
