//! Shortest paths from one vertex to many.
//!
//! Each level is kept in the order of the least paths to its vertices: by the place of the vertex before, then by id. So the first one that
//! reaches a vertex is the one before it on the least path, and no lists of the other direction are needed.

use std::sync::Arc;

use super::ways::each;
use super::{STEP, VertexSet, vertex};
use crate::graph::{Csr, Stop, Stopped};

/// Not reached.
const NONE: u32 = u32::MAX;

/// The least of the shortest paths from a source, where paths are compared vertex by vertex from the source.
///
/// Memory: `8 V` bytes.
#[derive(Debug)]
pub struct ShortestTree {
    /// The vertex before; the source's is itself.
    before: Vec<u32>,
    reached: Vec<u32>,
}

impl ShortestTree {
    /// Room for a tree of so many vertices.
    pub fn new(vertices: usize) -> Self {
        Self {
            before: vec![NONE; vertices],
            reached: vec![],
        }
    }

    /// Bytes for so many vertices.
    pub fn bytes(vertices: usize) -> usize {
        vertices.saturating_mul(2 * size_of::<u32>())
    }

    /// Searches from a source until all of `count` targets are reached, paths have `most` edges, or nothing is left.
    ///
    /// # Errors
    /// If it is asked to stop.
    pub fn grow(
        &mut self,
        source: u32,
        targets: (&VertexSet, usize),
        most: u64,
        lists: &[Arc<Csr>],
        stop: &Stop,
    ) -> Result<(), Stopped> {
        let Self { before, reached } = self;
        for id in reached.drain(..) {
            before[id as usize] = NONE;
        }
        before[source as usize] = source;
        reached.push(source);
        let (targets, mut left) = targets;
        left -= usize::from(left > 0 && targets.contains(source as usize));
        let (mut level, mut length) = (0, 0);
        while left > 0 && length < most && level < reached.len() {
            let end = reached.len();
            for at in level..end {
                if at % STEP == 0 {
                    stop.check()?;
                }
                let (own, first) = (reached[at], reached.len());
                each(lists, own, |id| {
                    if before[id] == NONE {
                        before[id] = own;
                        reached.push(vertex(id));
                        left -= usize::from(left > 0 && targets.contains(id));
                    }
                });
                reached[first..].sort_unstable();
            }
            (level, length) = (end, length + 1);
        }
        Ok(())
    }

    /// The vertices of the path to a target; `None` if it was not reached.
    pub fn path(&self, target: u32) -> Option<Vec<u32>> {
        let mut path = vec![target];
        let mut at = target;
        loop {
            let before = *self.before.get(at as usize)?;
            if before == NONE {
                return None;
            }
            if before == at {
                path.reverse();
                return Some(path);
            }
            path.push(before);
            at = before;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::testing::*;
    use super::*;

    proptest! {
        #[test]
        fn paths_are_the_least_of_the_shortest(graph in graph(), most in prop_oneof![Just(u64::MAX), 0..4_u64], picked in 0..64_u32) {
            let picked: Vec<u32> = (0..VERTICES).filter(|id| picked >> (id % 6) & 1 == 1).collect();
            let mut targets = VertexSet::new(VERTICES as usize);
            for target in &picked {
                targets.insert(*target as usize);
            }
            for (ways, way) in graph.all_ways() {
                let mut tree = ShortestTree::new(VERTICES as usize);
                for source in 0..VERTICES {
                    tree.grow(source, (&targets, picked.len()), most, &ways.forward, &Stop::default()).unwrap();
                    for target in &picked {
                        let expected = graph.least_path(source, *target, way);
                        let expected = expected.filter(|path| path.len() as u64 <= most.saturating_add(1));
                        prop_assert_eq!(tree.path(*target), expected);
                    }
                }
            }
        }
    }
}
