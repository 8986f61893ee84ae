//! A shortest path between two vertices, searched from both.
//!
//! ```text
//! source  --level 1-->  --level 2-->  meet  <--level 1--  target      length 3: levels of both sides together
//! ```
//!
//! Levels are whole, and the side with the fewer steps goes on, so the first common vertices lie on all shortest paths there are. Of those
//! paths the one is taken whose vertices, compared one by one from the source, are the least.

use std::sync::Arc;

use super::ways::{degree, each};
use super::{STEP, Ways, vertex};
use crate::graph::{Csr, Stop, Stopped};

/// What was reached from one end, and how far away it is.
#[derive(Debug)]
struct Side {
    /// One more than the distance; 0 for vertices that were not reached.
    distances: Vec<u32>,
    reached: Vec<u32>,
    /// Where the last level begins.
    level: usize,
    depth: u32,
}

impl Side {
    fn new(vertices: usize) -> Self {
        Self {
            distances: vec![0; vertices],
            reached: vec![],
            level: 0,
            depth: 0,
        }
    }

    fn begin(&mut self, end: u32) {
        for id in self.reached.drain(..) {
            self.distances[id as usize] = 0;
        }
        self.distances[end as usize] = 1;
        self.reached.push(end);
        (self.level, self.depth) = (0, 0);
    }

    fn distance(&self, id: usize) -> Option<u32> {
        self.distances[id].checked_sub(1)
    }

    fn last(&self) -> &[u32] {
        &self.reached[self.level..]
    }

    fn steps(&self, lists: &[Arc<Csr>]) -> u64 {
        self.last().iter().map(|id| degree(lists, *id)).sum()
    }

    /// Goes one level on, and says whether it has a vertex of the other side.
    fn advance(&mut self, lists: &[Arc<Csr>], other: &Self, stop: &Stop) -> Result<bool, Stopped> {
        let level = self.level..self.reached.len();
        let depth = self.depth + 1;
        let mut met = false;
        let Self {
            distances, reached, ..
        } = self;
        for at in level.clone() {
            if at % STEP == 0 {
                stop.check()?;
            }
            each(lists, reached[at], |id| {
                if distances[id] == 0 {
                    distances[id] = depth + 1;
                    reached.push(vertex(id));
                    met |= other.distances[id] != 0;
                }
            });
        }
        (self.level, self.depth) = (level.end, depth);
        Ok(met)
    }
}

/// Searches for shortest paths between pairs of vertices.
///
/// Memory: `20 V` bytes at most.
#[derive(Debug)]
pub struct Bidirectional {
    from: Side,
    to: Side,
}

impl Bidirectional {
    /// Room for searches among so many vertices.
    pub fn new(vertices: usize) -> Self {
        Self {
            from: Side::new(vertices),
            to: Side::new(vertices),
        }
    }

    /// Bytes for so many vertices.
    pub fn bytes(vertices: usize) -> usize {
        vertices.saturating_mul(5 * size_of::<u32>())
    }

    /// The vertices of the path, source and target among them; `None` if there is no path of at most `most` edges. Needs lists of
    /// both directions.
    ///
    /// # Errors
    /// If it is asked to stop.
    pub fn path(
        &mut self,
        ends: (u32, u32),
        most: u64,
        ways: &Ways,
        stop: &Stop,
    ) -> Result<Option<Vec<u32>>, Stopped> {
        let (source, target) = ends;
        self.from.begin(source);
        self.to.begin(target);
        let mut met = source == target;
        while !met {
            let length = u64::from(self.from.depth) + u64::from(self.to.depth);
            if length >= most || self.from.last().is_empty() || self.to.last().is_empty() {
                return Ok(None);
            }
            let outward = self.from.steps(&ways.forward) <= self.to.steps(&ways.backward);
            met = if outward {
                self.from.advance(&ways.forward, &self.to, stop)?
            } else {
                self.to.advance(&ways.backward, &self.from, stop)?
            };
        }
        self.least(source, ways, stop).map(Some)
    }

    /// The least path through the vertices where both sides met.
    fn least(&self, source: u32, ways: &Ways, stop: &Stop) -> Result<Vec<u32>, Stopped> {
        let Self { from, to } = self;
        let middle = to.last().iter().copied();
        let middle = middle.filter(|id| from.distance(*id as usize) == Some(from.depth));
        // The vertices of shortest paths, from where they met back to the source.
        let mut levels = vec![middle.collect::<Vec<u32>>()];
        for depth in (0..from.depth).rev() {
            let mut level = vec![];
            // Repeated ones are taken out when they may be half of all.
            let mut room = 2 * STEP;
            for (number, id) in levels[levels.len() - 1].iter().enumerate() {
                if number % STEP == 0 {
                    stop.check()?;
                }
                each(&ways.backward, *id, |before| {
                    if from.distance(before) == Some(depth) {
                        level.push(vertex(before));
                    }
                });
                if level.len() > room {
                    level.sort_unstable();
                    level.dedup();
                    room = 2 * level.len().max(STEP);
                }
            }
            level.sort_unstable();
            level.dedup();
            levels.push(level);
        }
        levels[0].sort_unstable();
        levels.pop();
        let mut path = vec![source];
        let mut at = source;
        while let Some(level) = levels.pop() {
            at = least(&ways.forward, at, |id| level.binary_search(&id).is_ok());
            path.push(at);
        }
        for left in (0..to.depth).rev() {
            at = least(&ways.forward, at, |id| {
                to.distance(id as usize) == Some(left)
            });
            path.push(at);
        }
        Ok(path)
    }
}

/// The least vertex of those that a step leads to and that fit.
fn least(lists: &[Arc<Csr>], at: u32, fits: impl Fn(u32) -> bool) -> u32 {
    let mut least = u32::MAX;
    each(lists, at, |id| {
        let id = vertex(id);
        if id < least && fits(id) {
            least = id;
        }
    });
    least
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::testing::*;
    use super::*;

    proptest! {
        #[test]
        fn paths_are_the_least_of_the_shortest(graph in graph(), most in prop_oneof![Just(u64::MAX), 0..4_u64]) {
            for (ways, way) in graph.all_ways() {
                if ways.backward.is_empty() {
                    continue;
                }
                let mut search = Bidirectional::new(VERTICES as usize);
                for source in 0..VERTICES {
                    for target in 0..VERTICES {
                        let found = search.path((source, target), most, &ways, &Stop::default()).unwrap();
                        let expected = graph.least_path(source, target, way);
                        let expected = expected.filter(|path| path.len() as u64 <= most.saturating_add(1));
                        prop_assert_eq!(found, expected);
                    }
                }
            }
        }
    }
}
