//! Breadth-first search, one level at a time.
//!
//! ```text
//! edges 0-1, 0-2, 1-3, 2-3     from 0:  level 0 {0}, level 1 {1, 2}, level 2 {3}
//! ```
//!
//! A level that has most of the edges left before it is found from below, if lists of that direction are there: each vertex not
//! yet reached looks for one neighbour in the level, and no further (Beamer, Asanović, Patterson, *Direction-optimizing
//! breadth-first search*, SC 2012).

use std::ops::Range;
use std::sync::Arc;

use super::ways::{degree, each};
use super::{STEP, VertexSet, Ways, vertex};
use crate::graph::{Csr, Stop, Stopped};

/// A level is found from below if it has more than one in so many of the steps that are left.
const FROM_BELOW: u64 = 14;

/// The vertices reached from a start, by distance.
///
/// Memory: `4 V + V / 4` bytes.
#[derive(Debug)]
pub struct Levels {
    seen: VertexSet,
    /// The level, where it is found from below.
    frontier: VertexSet,
    /// In the order in which they were reached.
    reached: Vec<u32>,
    level: Range<usize>,
    /// Steps that levels before had.
    walked: u64,
}

impl Levels {
    /// Room for a search among so many vertices.
    pub fn new(vertices: usize) -> Self {
        Self {
            seen: VertexSet::new(vertices),
            frontier: VertexSet::new(vertices),
            reached: Vec::with_capacity(vertices),
            level: 0..0,
            walked: 0,
        }
    }

    /// Bytes for so many vertices.
    pub fn bytes(vertices: usize) -> usize {
        2 * VertexSet::bytes(vertices) + vertices.saturating_mul(size_of::<u32>())
    }

    /// Forgets everything; level 0 is these vertices, each of them once.
    pub fn begin(&mut self, starts: &[u32]) {
        self.seen.clear(&self.reached);
        self.reached.clear();
        self.walked = 0;
        for start in starts {
            if self.seen.insert(*start as usize) {
                self.reached.push(*start);
            }
        }
        self.level = 0..self.reached.len();
    }

    /// Goes on where a search of another kind has stopped: all that it has reached, of which the last ones are the level.
    pub fn go_on(&mut self, reached: &[u32], level: usize) {
        self.begin(reached);
        let end = self.reached.len();
        self.level = end.saturating_sub(level)..end;
    }

    /// Forgets everything; the level is what steps from `start` lead to, which may be a vertex of another type.
    pub fn begin_beside(&mut self, start: u32, ways: &Ways) {
        self.begin(&[]);
        let Self { seen, reached, .. } = self;
        each(&ways.forward, start, |id| {
            if seen.insert(id) {
                reached.push(vertex(id));
            }
        });
        self.level = 0..self.reached.len();
    }

    /// The vertices of the level.
    pub fn level(&self) -> &[u32] {
        &self.reached[self.level.clone()]
    }

    /// How many steps there are from the level.
    pub fn steps(&self, ways: &Ways) -> u64 {
        let level = self.level().iter();
        level.map(|id| degree(&ways.forward, *id)).sum()
    }

    /// Goes to the next level; `false` if it has no vertex.
    ///
    /// # Errors
    /// If it is asked to stop.
    pub fn advance(&mut self, ways: &Ways, stop: &Stop) -> Result<bool, Stopped> {
        let before = self.level.clone();
        let mut steps = 0;
        if !ways.backward.is_empty() {
            for (number, id) in self.level().iter().enumerate() {
                if number % STEP == 0 {
                    stop.check()?;
                }
                steps += degree(&ways.forward, *id);
            }
            self.walked += steps;
        }
        let left = ways.steps().saturating_sub(self.walked);
        // One look at each vertex has to pay, too.
        if steps > left / FROM_BELOW && steps > ways.vertices() / FROM_BELOW {
            self.look_from_below(ways, stop)?;
        } else {
            let Self { seen, reached, .. } = self;
            for at in before.clone() {
                if at % STEP == 0 {
                    stop.check()?;
                }
                each(&ways.forward, reached[at], |id| {
                    if seen.insert(id) {
                        reached.push(vertex(id));
                    }
                });
            }
        }
        self.level = before.end..self.reached.len();
        Ok(!self.level.is_empty())
    }

    fn look_from_below(&mut self, ways: &Ways, stop: &Stop) -> Result<(), Stopped> {
        let before = self.level.clone();
        for id in &self.reached[before.clone()] {
            self.frontier.insert(*id as usize);
        }
        let Self {
            seen,
            frontier,
            reached,
            ..
        } = self;
        for id in 0..vertex(usize::try_from(ways.vertices()).unwrap_or(usize::MAX)) {
            if (id as usize).is_multiple_of(STEP) {
                stop.check()?;
            }
            if seen.contains(id as usize) {
                continue;
            }
            let from = |csr: &Arc<Csr>| {
                csr.any_neighbor(u64::from(id), |before| frontier.contains(before))
            };
            if ways.backward.iter().any(from) {
                seen.insert(id as usize);
                reached.push(id);
            }
        }
        frontier.clear(&reached[before]);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::testing::*;
    use super::*;

    fn levels(search: &mut Levels, ways: &Ways) -> Vec<Vec<u32>> {
        let mut found = vec![];
        loop {
            let mut level = search.level().to_vec();
            level.sort_unstable();
            if level.is_empty() {
                return found;
            }
            found.push(level);
            search.advance(ways, &Stop::default()).unwrap();
        }
    }

    proptest! {
        #[test]
        fn levels_are_those_of_a_plain_search(graph in graph(), start in 0..VERTICES, again in 0..VERTICES) {
            for ways in graph.all_ways() {
                let mut search = Levels::new(VERTICES as usize);
                for start in [start, again] {
                    search.begin(&[start]);
                    let distances = graph.distances(start, ways.1);
                    let mut expected: Vec<Vec<u32>> = vec![];
                    for (id, distance) in distances.iter().enumerate() {
                        if let Some(distance) = distance {
                            if expected.len() <= *distance {
                                expected.resize(distance + 1, vec![]);
                            }
                            expected[*distance].push(vertex(id));
                        }
                    }
                    prop_assert_eq!(levels(&mut search, &ways.0), expected);
                }
            }
        }
    }

    #[test]
    fn a_search_can_begin_beside_its_start_and_go_on_from_another() {
        let graph = Graph::of(&[(0, 1), (0, 2), (0, 2), (2, 0), (2, 3)]);
        let ways = graph.ways(Way::Out);
        let mut search = Levels::new(VERTICES as usize);
        search.begin_beside(0, &ways);
        assert_eq!(levels(&mut search, &ways), [vec![1, 2], vec![0, 3]]);
        search.go_on(&[0, 1, 2], 2);
        assert_eq!(levels(&mut search, &ways), [vec![1, 2], vec![3]]);
    }
}
