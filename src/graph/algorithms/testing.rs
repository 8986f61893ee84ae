//! Small graphs, and the plainest way to every answer.

use std::sync::Arc;

use proptest::collection::vec;
use proptest::prelude::*;

pub(super) use super::Way;
use super::Ways;
use crate::graph::{Csr, Direction, PackedIds, RowLists, Stop};

/// Vertices of every graph; those from 9 on have no edges.
pub(super) const VERTICES: u32 = 11;

#[derive(Debug, Clone)]
pub(super) struct Graph {
    pub(super) edges: Vec<(u32, u32)>,
}

/// Loops, repeated edges, a hub, several components.
pub(super) fn graph() -> impl Strategy<Value = Graph> {
    let end = || prop_oneof![3 => 0..9_u32, 1 => Just(4_u32)];
    let edges = prop_oneof![vec((end(), end()), 0..14), vec((end(), end()), 10..50)];
    edges.prop_map(|edges| Graph { edges })
}

impl Graph {
    pub(super) fn of(edges: &[(u32, u32)]) -> Self {
        let edges = edges.to_vec();
        Self { edges }
    }

    /// The lists of an end, in parts of some vertices, with the numbers of the edges.
    pub(super) fn lists(&self, end: usize) -> RowLists {
        let packed = |end: usize| {
            let ids = self
                .edges
                .iter()
                .map(|edge| i64::from([edge.0, edge.1][end]));
            let ids: Vec<i64> = ids.collect();
            let mut packed = PackedIds::with_capacity(u64::from(VERTICES), ids.len());
            packed.extend(&ids, u64::from(VERTICES)).unwrap();
            packed
        };
        let direction = [Direction::Out, Direction::In][end];
        let count = u64::from(VERTICES);
        let (from, to) = (packed(end), packed(1 - end));
        let made = Csr::of_edges(direction, count, count, &from, &to, &Stop::default());
        let (csr, rows) = made.unwrap();
        RowLists::new(Arc::new(csr.cut(4)), Some(Arc::new(rows)))
    }

    pub(super) fn ways(&self, way: Way) -> Ways {
        let lists = |way: Way| {
            let ends = way.ends().iter();
            ends.map(|end| self.lists(*end).csr).collect()
        };
        Ways {
            forward: lists(way),
            backward: lists(way.back()),
        }
    }

    /// Each way, with the lists of the other direction and without.
    pub(super) fn all_ways(&self) -> Vec<(Ways, Way)> {
        let mut all = vec![];
        for way in [Way::Out, Way::In, Way::Any] {
            let ways = self.ways(way);
            let backward = vec![];
            let only = Ways {
                forward: ways.forward.clone(),
                backward,
            };
            all.extend([(ways, way), (only, way)]);
        }
        all
    }

    /// The steps from a vertex: where to, and the number of the edge.
    pub(super) fn steps(&self, from: u32, way: Way) -> Vec<(u32, usize)> {
        let mut found = vec![];
        for (number, (source, destination)) in self.edges.iter().enumerate() {
            if way != Way::In && *source == from {
                found.push((*destination, number));
            }
            let counted = way == Way::Any && source == destination;
            if way != Way::Out && *destination == from && !counted {
                found.push((*source, number));
            }
        }
        found
    }

    pub(super) fn distances(&self, start: u32, way: Way) -> Vec<Option<usize>> {
        let mut found = vec![None; VERTICES as usize];
        found[start as usize] = Some(0);
        for length in 0..VERTICES as usize {
            for id in 0..VERTICES {
                if found[id as usize] == Some(length) {
                    for (next, _) in self.steps(id, way) {
                        found[next as usize].get_or_insert(length + 1);
                    }
                }
            }
        }
        found
    }

    /// Of the shortest paths the least.
    pub(super) fn least_path(&self, source: u32, target: u32, way: Way) -> Option<Vec<u32>> {
        let back = self.distances(target, way.back());
        let mut left = back[source as usize]?;
        let mut path = vec![source];
        while left > 0 {
            left -= 1;
            let steps = self.steps(path[path.len() - 1], way);
            let next = steps.iter().map(|step| step.0);
            path.push(
                next.filter(|id| back[*id as usize] == Some(left))
                    .min()
                    .unwrap(),
            );
        }
        Some(path)
    }
}
