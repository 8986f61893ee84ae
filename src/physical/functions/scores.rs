//! `pagerank`, `wcc` and `triangle_count`: a score for each vertex.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use datafusion::error::{DataFusionError, Result};
use futures::{StreamExt, TryStreamExt, stream};

use super::columns::{Values, by_vertex};
use super::degrees::degrees;
use super::run::{Rows, Run};
use crate::graph::Stopped;
use crate::graph::algorithms::{ForwardLists, PageRank, TriangleCounts, components, pull};

/// Vertices whose ranks one task finds.
const TASK_VERTICES: u64 = 1 << 14;

/// Vertices that a task takes from those left to be counted.
const TASK_NUMBERS: usize = 1 << 8;

/// Each iteration reads the adjacency of the other direction once.
pub(super) async fn pagerank(
    run: Run,
    damping: f64,
    tolerance: f64,
    max_iterations: u64,
) -> Result<Rows> {
    let (count, way) = (run.vertices(0)?, run.call.way);
    if count == 0 {
        return Ok(stream::empty().boxed());
    }
    let mut lists = vec![];
    for end in way.back().ends() {
        lists.push(run.lists(*end).await?);
    }
    let degrees = degrees(&run, way).await?;
    // Ranks, shares, and what is pulled.
    run.grow(count.saturating_mul(3 * size_of::<f64>()))?;
    let mut ranks = PageRank::new(degrees, damping);
    for _ in 0..max_iterations {
        let begun = run.blocking(move |_| {
            let shares = ranks.shares();
            Ok::<_, Stopped>((ranks, shares))
        });
        let (begun, shares) = begun.await?;
        ranks = begun;
        let step = usize::try_from(TASK_VERTICES).unwrap_or(usize::MAX);
        let begins: Vec<u64> = (0..count as u64).step_by(step).collect();
        // A piece is begun when it is asked for, so there are no more than a few at once.
        let mut pulled = stream::iter(begins)
            .map(|begin| {
                let vertices = begin..(count as u64).min(begin + TASK_VERTICES);
                let (lists, shares) = (lists.clone(), Arc::clone(&shares));
                let sums = run.blocking(move |stop| pull(&lists, vertices, &shares, stop));
                async move { Ok::<_, DataFusionError>((begin, sums.await?)) }
            })
            .buffered(run.parallel());
        while let Some((begin, sums)) = pulled.try_next().await? {
            ranks.put(usize::try_from(begin).unwrap_or(usize::MAX), &sums);
        }
        drop(pulled);
        drop(shares);
        if ranks.change() < tolerance {
            break;
        }
    }
    Ok(by_vertex(run, count, vec![Values::Floats(ranks.ranks())]))
}

/// One pass over the adjacency of either end.
pub(super) async fn wcc(run: Run) -> Result<Rows> {
    let count = run.vertices(0)?;
    let lists = run.any_lists().await?;
    run.grow(count.saturating_mul(size_of::<u32>()))?;
    let found = run.blocking(move |stop| components(&lists, stop)).await?;
    Ok(by_vertex(run, count, vec![Values::Ids(found)]))
}

/// Tasks take vertices from those that are left, as some have far more triangles than others.
pub(super) async fn triangle_count(run: Run) -> Result<Rows> {
    let count = run.vertices(0)?;
    let lists = run.any_lists().await?;
    let bytes = ForwardLists::bytes(count as u64, run.source().edges());
    run.grow(usize::try_from(bytes).unwrap_or(usize::MAX))?;
    let forward = run.blocking(move |stop| ForwardLists::of(&lists, stop));
    let forward = Arc::new(forward.await?);
    let tasks = run.parallel().min(count.div_ceil(TASK_NUMBERS)).max(1);
    run.grow(TriangleCounts::bytes(count).saturating_mul(tasks))?;
    let next = Arc::new(AtomicUsize::new(0));
    let mut counted = stream::iter(0..tasks)
        .map(|_| {
            let (forward, next) = (Arc::clone(&forward), Arc::clone(&next));
            run.blocking(move |stop| {
                let mut counts = TriangleCounts::new(forward.vertices());
                loop {
                    let begin = next.fetch_add(TASK_NUMBERS, Ordering::Relaxed);
                    let end = forward.vertices().min(begin.saturating_add(TASK_NUMBERS));
                    if begin >= end {
                        return Ok::<_, Stopped>(counts);
                    }
                    counts.add(&forward, begin..end, stop)?;
                }
            })
        })
        .buffer_unordered(tasks);
    let mut total: Option<TriangleCounts> = None;
    while let Some(counts) = counted.try_next().await? {
        match &mut total {
            Some(total) => total.merge(&counts),
            None => total = Some(counts),
        }
    }
    drop(counted);
    let counts = total.map_or_else(Vec::new, |total| total.by_vertex(&forward));
    Ok(by_vertex(run, count, vec![Values::Counts(counts)]))
}
