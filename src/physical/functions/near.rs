//! A search that looks up the neighbours of few vertices in the files, where adjacency is not in memory.

use std::ops::Range;

use datafusion::arrow::array::AsArray;
use datafusion::arrow::datatypes::Int64Type;
use datafusion::common::{HashSet, exec_err};
use datafusion::error::Result;

use super::run::Run;
use crate::graph::Adjacency;

/// Look-ups are given up where they would read more than one in so many of all edges: one pass over all of them costs less.
const SHARE: u64 = 64;

/// Most neighbours that are looked up, however many edges there are.
const MOST: u64 = 1 << 20;

/// Bytes of a vertex that was reached, in a set that is up to half empty and in a list, and while its level is read.
const VERTEX_BYTES: u64 = 40;

/// Breadth-first search by look-ups.
#[derive(Debug)]
pub(super) struct Near {
    lists: Vec<Adjacency>,
    /// Number of vertices that steps can lead to.
    others: usize,
    seen: HashSet<u32>,
    reached: Vec<u32>,
    level: Range<usize>,
    /// Neighbours that can still be looked up.
    left: u64,
}

impl Near {
    /// A search along these lists; `None` if look-ups cannot pay.
    pub(super) fn new(lists: Vec<Adjacency>, others: usize, edges: u64) -> Option<Self> {
        let left = (edges / SHARE).min(MOST);
        (left > 0).then(|| Self {
            lists,
            others,
            seen: HashSet::new(),
            reached: vec![],
            level: 0..0,
            left,
        })
    }

    /// Begins again. Level 0 is the start, or nothing if that is of another type than its neighbours.
    pub(super) fn begin(&mut self, start: Option<u32>) {
        self.seen.clear();
        self.reached.clear();
        self.seen.extend(start);
        self.reached.extend(start);
        self.level = 0..self.reached.len();
    }

    pub(super) fn level(&self) -> &[u32] {
        &self.reached[self.level.clone()]
    }

    pub(super) fn reached(&self) -> &[u32] {
        &self.reached
    }

    /// Goes on to what steps from these vertices lead to; `false`, and nothing has changed, if that is too much.
    pub(super) async fn advance(&mut self, run: &Run, from: &[u64]) -> Result<bool> {
        let mut steps = from.len() as u64;
        for lists in &self.lists {
            if steps > self.left {
                return Ok(false);
            }
            let degrees = lists.degrees(from).await?;
            steps = degrees
                .iter()
                .fold(steps, |sum, degree| sum.saturating_add(*degree));
        }
        if steps > self.left {
            return Ok(false);
        }
        self.left -= steps;
        let bytes = steps.saturating_mul(VERTEX_BYTES);
        run.grow(usize::try_from(bytes).unwrap_or(usize::MAX))?;
        let begin = self.reached.len();
        for lists in &self.lists {
            let found = lists.neighbors_of(from).await?;
            for id in found.values().as_primitive::<Int64Type>().values() {
                let vertex = u32::try_from(*id).ok();
                let Some(vertex) = vertex.filter(|id| (*id as usize) < self.others) else {
                    return exec_err!(
                        "edges of {}: expected the internal id of one of {} vertices, found {id}",
                        run.source().name(),
                        self.others
                    );
                };
                if self.seen.insert(vertex) {
                    self.reached.push(vertex);
                }
            }
        }
        self.level = begin..self.reached.len();
        Ok(true)
    }
}
