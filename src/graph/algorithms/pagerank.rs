//! Ranks of vertices by the ranks of those that lead to them.
//!
//! ```text
//! rank(v) = (1 - d) / n + d (Σ rank(u) / degree(u) over the steps u -> v  +  ranks of vertices without steps / n)
//! ```
//!
//! Every vertex *pulls* the shares of those before it, so vertices can be done in pieces side by side, and sums are taken in the order of the
//! lists: the result does not depend on how many threads there are.

use std::ops::Range;
use std::sync::Arc;

use crate::graph::{Csr, Stop, Stopped};

/// Ranks between two iterations. Memory: 24 bytes for each vertex.
#[derive(Debug)]
pub struct PageRank {
    damping: f64,
    /// Number of steps from each vertex.
    degrees: Vec<u64>,
    ranks: Vec<f64>,
    shares: Arc<Vec<f64>>,
    /// What each vertex gets besides shares.
    base: f64,
    /// Sum of how much ranks have changed in this iteration.
    change: f64,
}

impl PageRank {
    /// Equal ranks.
    pub fn new(degrees: Vec<u64>, damping: f64) -> Self {
        let equal = 1.0 / float(degrees.len() as u64);
        Self {
            damping,
            ranks: vec![equal; degrees.len()],
            shares: Arc::new(vec![0.0; degrees.len()]),
            degrees,
            base: 0.0,
            change: 0.0,
        }
    }

    /// Begins an iteration: what each vertex gives to each that it leads to.
    pub fn shares(&mut self) -> Arc<Vec<f64>> {
        let shares = Arc::make_mut(&mut self.shares);
        let mut lost = 0.0;
        for ((share, rank), degree) in shares.iter_mut().zip(&self.ranks).zip(&self.degrees) {
            if *degree == 0 {
                lost += rank;
                *share = 0.0;
            } else {
                *share = rank / float(*degree);
            }
        }
        let count = float(self.ranks.len() as u64);
        self.base = (1.0 - self.damping) / count + self.damping * lost / count;
        self.change = 0.0;
        Arc::clone(&self.shares)
    }

    /// The new ranks of these vertices, from what they have pulled.
    pub fn put(&mut self, first: usize, pulled: &[f64]) {
        let Some(ranks) = self.ranks.get_mut(first..) else {
            return;
        };
        for (rank, sum) in ranks.iter_mut().zip(pulled) {
            let new = self.base + self.damping * sum;
            self.change += (new - *rank).abs();
            *rank = new;
        }
    }

    /// How much the ranks of all vertices have changed, together.
    pub fn change(&self) -> f64 {
        self.change
    }

    /// The ranks.
    pub fn ranks(self) -> Vec<f64> {
        self.ranks
    }
}

/// For each of these vertices the sum of the shares of those in its lists. A loop is a step once, also where both ends are followed.
///
/// # Errors
/// If it is asked to stop.
pub fn pull(
    lists: &[Arc<Csr>],
    vertices: Range<u64>,
    shares: &[f64],
    stop: &Stop,
) -> Result<Vec<f64>, Stopped> {
    let mut sums = Vec::with_capacity(usize::try_from(vertices.end - vertices.start).unwrap_or(0));
    for vertex in vertices {
        if vertex.is_multiple_of(super::STEP as u64) {
            stop.check()?;
        }
        let mut sum = 0.0;
        for (number, csr) in lists.iter().enumerate() {
            csr.each_neighbor(vertex, |id| {
                if number == 0 || id as u64 != vertex {
                    sum += shares[id];
                }
            });
        }
        sums.push(sum);
    }
    Ok(sums)
}

/// A number of vertices or edges, which are far fewer than 2^53.
#[allow(clippy::cast_precision_loss)]
fn float(number: u64) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::testing::*;
    use super::*;

    fn naive(graph: &Graph, way: Way, damping: f64, iterations: usize) -> Vec<f64> {
        let count = f64::from(VERTICES);
        let mut ranks = vec![1.0 / count; VERTICES as usize];
        for _ in 0..iterations {
            let mut next = vec![(1.0 - damping) / count; VERTICES as usize];
            for id in 0..VERTICES {
                let steps = graph.steps(id, way);
                let rank = damping * ranks[id as usize];
                for (to, _) in &steps {
                    next[*to as usize] += rank / float(steps.len() as u64);
                }
                if steps.is_empty() {
                    next.iter_mut().for_each(|next| *next += rank / count);
                }
            }
            ranks = next;
        }
        ranks
    }

    proptest! {
        #[test]
        fn ranks_are_those_of_plain_iteration_and_sum_to_one(graph in graph(), damping in 0.0..=1.0_f64, iterations in 0..6_usize) {
            for way in [Way::Out, Way::In, Way::Any] {
                let degrees = (0..VERTICES).map(|id| graph.steps(id, way).len() as u64).collect();
                let ways = graph.ways(way);
                let mut ranks = PageRank::new(degrees, damping);
                for _ in 0..iterations {
                    let shares = ranks.shares();
                    for vertices in [0..5_u64, 5..u64::from(VERTICES)] {
                        let first = usize::try_from(vertices.start).unwrap();
                        let pulled = pull(&ways.backward, vertices, &shares, &Stop::default()).unwrap();
                        ranks.put(first, &pulled);
                    }
                }
                let found = ranks.ranks();
                prop_assert!((found.iter().sum::<f64>() - 1.0).abs() < 1e-12);
                for (found, expected) in found.iter().zip(naive(&graph, way, damping, iterations)) {
                    prop_assert!((found - expected).abs() < 1e-12);
                }
            }
        }
    }
}
