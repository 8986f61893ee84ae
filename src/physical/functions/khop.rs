//! `khop`: the vertices around starts, by distance.
//!
//! Neighbours are looked up in the files as long as that is little; beyond, and where adjacency is in memory already, the search
//! goes over adjacency, level by level. Rows come out after each level.

use std::mem;
use std::sync::Arc;

use datafusion::arrow::array::{Int64Array, RecordBatch};
use datafusion::error::Result;
use futures::{StreamExt, stream};
use tokio::task::consume_budget;

use super::near::Near;
use super::run::{Rows, Run};
use crate::graph::algorithms::{Levels, Ways};
use crate::graph::{Stop, Stopped};

/// Steps of a level that are taken without a thread for them.
const FEW_STEPS: u64 = 1 << 14;

/// How vertices are found.
#[derive(Debug)]
enum Search {
    Near(Near),
    Far(Levels, Ways),
    /// The levels are with a thread.
    Away,
}

/// The rows of all starts.
#[derive(Debug)]
struct Khop {
    run: Run,
    search: Search,
    hops: u64,
    starts: Vec<u32>,
    /// Number of the start, if it was begun.
    current: Option<usize>,
    distance: u64,
    /// Vertices of the level that are out.
    at: usize,
}

pub(super) async fn khop(run: Run, hops: u64) -> Result<Rows> {
    let end = run.call.way.ends()[0];
    let starts = run.ids(0, run.vertices(end)?).await?;
    let search = match near(&run).await? {
        Some(near) if !starts.is_empty() => Search::Near(near),
        _ if starts.is_empty() => Search::Away,
        _ => far(&run).await?,
    };
    let khop = Khop {
        run,
        search,
        hops,
        starts,
        current: None,
        distance: 0,
        at: 0,
    };
    let batches = stream::try_unfold(khop, |mut khop| async move {
        let batch = khop.batch().await?;
        Ok(batch.map(|batch| (batch, khop)))
    });
    Ok(batches.boxed())
}

/// A search by look-ups, unless adjacency is in memory or cannot be looked up.
async fn near(run: &Run) -> Result<Option<Near>> {
    let mut lists = vec![];
    let mut resident = true;
    for end in run.call.way.ends() {
        let Some(own) = run.look_ups(*end)? else {
            return Ok(None);
        };
        resident &= run.resident(*end).await?.is_some();
        lists.push(own);
    }
    if resident {
        return Ok(None);
    }
    let others = run.vertices(1 - run.call.way.ends()[0])?;
    Ok(Near::new(lists, others, run.source().edges()))
}

/// A search over adjacency.
async fn far(run: &Run) -> Result<Search> {
    let mut ways = Ways::default();
    for end in run.call.way.ends() {
        ways.forward.push(run.lists(*end).await?);
    }
    // To look from below is worth it, but not to read for it.
    for end in run.call.way.back().ends() {
        if let Some(lists) = run.resident(*end).await? {
            ways.backward.push(lists);
        }
    }
    if ways.backward.len() < ways.forward.len() || !run.call.edges.same_type() {
        ways.backward.clear();
    }
    let others = run.vertices(1 - run.call.way.ends()[0])?;
    run.grow(Levels::bytes(others))?;
    Ok(Search::Far(Levels::new(others), ways))
}

impl Khop {
    fn level(&self) -> &[u32] {
        match &self.search {
            Search::Near(near) => near.level(),
            Search::Far(levels, _) => levels.level(),
            Search::Away => &[],
        }
    }

    /// The next rows.
    async fn batch(&mut self) -> Result<Option<RecordBatch>> {
        let size = self.run.batch_size();
        let (mut starts, mut vertices, mut distances) = (vec![], vec![], vec![]);
        while vertices.len() < size {
            if self.at == self.level().len() && !self.next_level().await? {
                break;
            }
            let Some(start) = self.current.and_then(|at| self.starts.get(at)) else {
                break;
            };
            let left = &self.level()[self.at..];
            let taken = left.len().min(size - vertices.len());
            vertices.extend(left[..taken].iter().map(|id| i64::from(*id)));
            starts.resize(vertices.len(), i64::from(*start));
            let distance = i64::try_from(self.distance).unwrap_or(i64::MAX);
            distances.resize(vertices.len(), distance);
            self.at += taken;
        }
        if vertices.is_empty() {
            return Ok(None);
        }
        let columns = [starts, vertices, distances].map(|ids| Arc::new(Int64Array::from(ids)) as _);
        let schema = Arc::clone(&self.run.schema);
        Ok(Some(RecordBatch::try_new(schema, columns.to_vec())?))
    }

    /// Goes to the next level, which may be that of another start; `false` if there is none.
    async fn next_level(&mut self) -> Result<bool> {
        // Many starts with few rows may fill a batch without waiting for anything.
        consume_budget().await;
        let more = !self.level().is_empty() && self.distance < self.hops;
        if self.current.is_some() && more {
            self.at = 0;
            self.distance += 1;
            self.advance().await?;
            return Ok(true);
        }
        let next = self.current.map_or(0, |at| at + 1);
        let Some(start) = self.starts.get(next).copied() else {
            return Ok(false);
        };
        self.current = Some(next);
        self.at = 0;
        self.begin(start).await?;
        Ok(true)
    }

    async fn begin(&mut self, start: u32) -> Result<()> {
        let same = self.run.call.edges.same_type();
        // A start of another type is not among the vertices that are found.
        self.distance = u64::from(!same);
        if let Search::Near(near) = &mut self.search {
            near.begin(same.then_some(start));
            if same || near.advance(&self.run, &[u64::from(start)]).await? {
                return Ok(());
            }
            self.search = far(&self.run).await?;
        }
        if let Search::Far(levels, ways) = &mut self.search {
            match same {
                true => levels.begin(&[start]),
                false => levels.begin_beside(start, ways),
            }
        }
        Ok(())
    }

    async fn advance(&mut self) -> Result<()> {
        if let Search::Near(near) = &mut self.search {
            let from: Vec<u64> = near.level().iter().map(|id| u64::from(*id)).collect();
            if near.advance(&self.run, &from).await? {
                return Ok(());
            }
            let mut search = far(&self.run).await?;
            if let Search::Far(levels, _) = &mut search {
                levels.go_on(near.reached(), from.len());
            }
            self.search = search;
        }
        let Search::Far(mut levels, ways) = mem::replace(&mut self.search, Search::Away) else {
            return Ok(());
        };
        let level = levels.level();
        let few = level.len() as u64 <= FEW_STEPS && levels.steps(&ways) <= FEW_STEPS;
        if few {
            levels.advance(&ways, &Stop::default())?;
            self.search = Search::Far(levels, ways);
            return Ok(());
        }
        let advanced = self.run.blocking(move |stop| {
            levels.advance(&ways, stop)?;
            Ok::<_, Stopped>(Search::Far(levels, ways))
        });
        self.search = advanced.await?;
        Ok(())
    }
}
