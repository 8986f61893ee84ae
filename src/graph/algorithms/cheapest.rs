//! Paths of least cost, where edges have weights that are not negative.
//!
//! Vertices are settled in the order of cost, then of the number of edges (Dijkstra). Of paths of the same cost the one with the fewest
//! edges is taken; of those the one whose last vertex but one is the least, then the one before, and so on; and of repeated edges
//! the first row. With a bound on the number of edges, a vertex is settled again where a dearer way has fewer edges.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use datafusion::error::Result;
use datafusion::execution::memory_pool::MemoryReservation;

use super::{STEP, VertexSet};
use crate::graph::{RowLists, Stop};

/// The edges that can be followed, and the weight of each row.
#[derive(Debug, Clone, Copy)]
pub struct PathEdge<'a> {
    /// Lists of the vertices that steps come from.
    pub lists: &'a [RowLists],
    /// Weights by row, none of them negative or NaN.
    pub weights: &'a [f64],
}

/// A way to a vertex that no better one exists of.
#[derive(Debug, Clone, Copy)]
struct Settled {
    cost: f64,
    hops: u32,
    vertex: u32,
    row: u64,
    /// The way to the vertex before, by number; its own where there is none.
    before: usize,
}

/// A way to a vertex that may be settled.
#[derive(Debug, Clone, Copy)]
struct Found {
    settled: Settled,
    /// The vertex before.
    from: u32,
}

impl Ord for Found {
    fn cmp(&self, other: &Self) -> Ordering {
        let (a, b) = (&self.settled, &other.settled);
        let first = a.cost.total_cmp(&b.cost);
        let rest = (a.hops, a.vertex, self.from, a.row, a.before);
        first.then(rest.cmp(&(b.hops, b.vertex, other.from, b.row, b.before)))
    }
}

impl PartialOrd for Found {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Found {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Found {}

/// A path of least cost.
#[derive(Debug, Clone, PartialEq)]
pub struct CheapestPath {
    /// The sum of the weights, from the source on.
    pub cost: f64,
    /// Source, target, and what lies between.
    pub vertices: Vec<u32>,
    /// The rows of the edges.
    pub rows: Vec<u64>,
}

/// Paths of least cost from one vertex to many.
///
/// Memory: `16 V` bytes; 32 for each settled way and 40 for each that waits, at most one for each step there is (for each number of
/// edges up to a bound).
#[derive(Debug)]
pub struct CheapestPaths {
    /// The best that is known of each vertex.
    best: Vec<(f64, u32)>,
    settled: Vec<Settled>,
    waiting: BinaryHeap<Reverse<Found>>,
}

impl CheapestPaths {
    /// Room for searches among so many vertices.
    pub fn new(vertices: usize) -> Self {
        Self {
            best: vec![(f64::INFINITY, u32::MAX); vertices],
            settled: vec![],
            waiting: BinaryHeap::new(),
        }
    }

    /// Bytes for so many vertices.
    pub fn bytes(vertices: usize) -> usize {
        vertices.saturating_mul(size_of::<(f64, u32)>())
    }

    /// Finds the paths from a source to targets, of at most `most` edges where there is a bound: for each target that is reached its
    /// number for [`path`](Self::path), in the order in which they are settled.
    ///
    /// # Errors
    /// If memory has no room, or it is asked to stop.
    pub fn search(
        &mut self,
        source: u32,
        targets: (&VertexSet, usize),
        most: Option<u32>,
        edges: PathEdge<'_>,
        memory: &MemoryReservation,
        stop: &Stop,
    ) -> Result<Vec<(u32, usize)>> {
        self.best.fill((f64::INFINITY, u32::MAX));
        self.settled.clear();
        self.waiting.clear();
        let (targets, mut left) = targets;
        let mut paths = vec![];
        let first = Settled {
            cost: 0.0,
            hops: 0,
            vertex: source,
            row: 0,
            before: 0,
        };
        self.wait(
            Found {
                settled: first,
                from: source,
            },
            memory,
        )?;
        // With a bound: how few edges a vertex was settled with. Without: whether it was.
        let mut step = 0;
        let mut done: Vec<u32> = vec![];
        memory.try_grow(self.best.len().saturating_mul(size_of::<u32>()))?;
        done.resize(self.best.len(), u32::MAX);
        while left > 0
            && let Some(Reverse(Found { settled, .. })) = self.waiting.pop()
        {
            step += 1;
            if step % STEP == 0 {
                stop.check()?;
            }
            let own = settled.vertex as usize;
            let again = done[own] != u32::MAX;
            if again && (most.is_none() || settled.hops >= done[own]) {
                continue;
            }
            done[own] = settled.hops;
            let number = self.settled.len();
            if number == self.settled.capacity() {
                let more = number.max(64);
                memory.try_grow(more.saturating_mul(size_of::<Settled>()))?;
                self.settled.reserve_exact(more);
            }
            self.settled.push(settled);
            if !again && targets.contains(own) {
                paths.push((settled.vertex, number));
                left -= 1;
            }
            if most.is_some_and(|most| settled.hops >= most) {
                continue;
            }
            for lists in edges.lists {
                let mut full = Ok(());
                lists.each(u64::from(settled.vertex), |neighbor, row| {
                    let next = Settled {
                        cost: settled.cost + weight(edges.weights, row),
                        hops: settled.hops + 1,
                        vertex: u32::try_from(neighbor).unwrap_or(u32::MAX),
                        row,
                        before: number,
                    };
                    if full.is_ok() && self.is_worth(&next, most, &done) {
                        let from = settled.vertex;
                        full = self.wait(
                            Found {
                                settled: next,
                                from,
                            },
                            memory,
                        );
                    }
                });
                full?;
            }
        }
        memory.shrink(self.best.len().saturating_mul(size_of::<u32>()));
        Ok(paths)
    }

    /// Whether a way may be a part of a path that is looked for.
    fn is_worth(&mut self, next: &Settled, most: Option<u32>, done: &[u32]) -> bool {
        let own = next.vertex as usize;
        if most.is_some() {
            return next.hops < done[own];
        }
        if done[own] != u32::MAX {
            return false;
        }
        let (cost, hops) = &mut self.best[own];
        match next.cost.total_cmp(cost).then(next.hops.cmp(hops)) {
            Ordering::Less => {
                (*cost, *hops) = (next.cost, next.hops);
                true
            }
            // Which of them is taken is settled later.
            Ordering::Equal => true,
            Ordering::Greater => false,
        }
    }

    fn wait(&mut self, found: Found, memory: &MemoryReservation) -> Result<()> {
        if self.waiting.len() == self.waiting.capacity() {
            let more = self.waiting.len().max(64);
            memory.try_grow(more.saturating_mul(size_of::<Found>()))?;
            self.waiting.reserve_exact(more);
        }
        self.waiting.push(Reverse(found));
        Ok(())
    }

    /// A path that the last search has found.
    pub fn path(&self, number: usize) -> CheapestPath {
        let mut at = self.settled[number];
        let cost = at.cost;
        let (mut vertices, mut rows) = (vec![at.vertex], vec![]);
        while at.hops > 0 {
            rows.push(at.row);
            at = self.settled[at.before];
            vertices.push(at.vertex);
        }
        vertices.reverse();
        rows.reverse();
        CheapestPath {
            cost,
            vertices,
            rows,
        }
    }
}

fn weight(weights: &[f64], row: u64) -> f64 {
    let at = usize::try_from(row).unwrap_or(usize::MAX);
    weights.get(at).copied().unwrap_or(f64::INFINITY)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use datafusion::execution::memory_pool::{
        GreedyMemoryPool, MemoryConsumer, MemoryPool, UnboundedMemoryPool,
    };
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::super::testing::*;
    use super::*;

    /// Cost, edges, and the vertices and rows from the target back: what paths are compared by.
    type Least = (f64, usize, Vec<(u32, usize)>);

    /// The best way to each vertex for each number of edges, by what was best for one fewer.
    fn naive(
        graph: &Graph,
        weights: &[f64],
        source: u32,
        way: Way,
        most: usize,
    ) -> Vec<Option<Least>> {
        let none = || vec![None::<Least>; VERTICES as usize];
        let mut layer = none();
        layer[source as usize] = Some((0.0, 0, vec![]));
        let mut best = layer.clone();
        for _ in 0..most {
            let mut next = none();
            for from in 0..VERTICES {
                let Some((cost, hops, trace)) = &layer[from as usize] else {
                    continue;
                };
                for (to, row) in graph.steps(from, way) {
                    let mut longer = vec![(from, row)];
                    longer.extend(trace);
                    let way = (cost + weights[row], hops + 1, longer);
                    let known = &mut next[to as usize];
                    if known.as_ref().is_none_or(|known| way < *known) {
                        *known = Some(way);
                    }
                }
            }
            for (best, next) in best.iter_mut().zip(&next) {
                if let Some(next) = next
                    && best.as_ref().is_none_or(|best| next < best)
                {
                    *best = Some(next.clone());
                }
            }
            layer = next;
        }
        best
    }

    fn reservation(pool: &Arc<dyn MemoryPool>) -> MemoryReservation {
        MemoryConsumer::new("test").register(pool)
    }

    proptest! {
        #[test]
        fn paths_are_those_of_plain_relaxation(
            graph in graph(),
            numbers in vec(0..4_u32, 50),
            most in prop::option::of(0..5_u32),
            source in 0..VERTICES,
        ) {
            let weights: Vec<f64> = numbers.iter().map(|number| f64::from(*number) / 2.0).collect();
            let mut targets = VertexSet::new(VERTICES as usize);
            (0..VERTICES).for_each(|id| { targets.insert(id as usize); });
            let pool: Arc<dyn MemoryPool> = Arc::new(UnboundedMemoryPool::default());
            let memory = reservation(&pool);
            for way in [Way::Out, Way::In, Way::Any] {
                let lists: Vec<RowLists> = way.ends().iter().map(|end| graph.lists(*end)).collect();
                let edges = PathEdge { lists: &lists, weights: &weights };
                let mut search = CheapestPaths::new(VERTICES as usize);
                let found = search.search(source, (&targets, VERTICES as usize), most, edges, &memory, &Stop::default());
                let mut found = found.unwrap();
                found.sort_unstable();
                let found: Vec<_> = found.into_iter().map(|(_, number)| search.path(number)).collect();
                let bound = most.map_or(VERTICES as usize, |most| most as usize);
                let expected = naive(&graph, &weights, source, way, bound);
                let expected: Vec<CheapestPath> = expected.into_iter().enumerate().filter_map(|(target, best)| {
                    let (cost, _, trace) = best?;
                    let (mut vertices, mut rows) = (vec![u32::try_from(target).unwrap()], vec![]);
                    for (from, row) in trace {
                        vertices.push(from);
                        rows.push(row as u64);
                    }
                    vertices.reverse();
                    rows.reverse();
                    Some(CheapestPath { cost, vertices, rows })
                }).collect();
                prop_assert_eq!(found, expected);
            }
        }
    }

    #[test]
    fn ways_that_wait_are_charged_to_memory() {
        let edges: Vec<(u32, u32)> = (0..50).map(|number| (0, number % 9)).collect();
        let graph = Graph::of(&edges);
        let lists = [graph.lists(0)];
        let mut targets = VertexSet::new(VERTICES as usize);
        targets.insert(10);
        let search = |bytes: usize| {
            let pool: Arc<dyn MemoryPool> = Arc::new(GreedyMemoryPool::new(bytes));
            let memory = reservation(&pool);
            let edges = PathEdge {
                lists: &lists,
                weights: &[1.0; 50],
            };
            let mut search = CheapestPaths::new(VERTICES as usize);
            let stop = Stop::default();
            search.search(0, (&targets, 1), None, edges, &memory, &stop)
        };
        assert!(search(1 << 20).unwrap().is_empty());
        let error = search(1000).unwrap_err().to_string();
        assert!(error.contains("Resources exhausted"), "{error}");
    }
}
