//! Numbers of edges, and where they are.

use std::sync::Arc;

use datafusion::arrow::array::AsArray;
use datafusion::arrow::datatypes::Int64Type;
use datafusion::common::exec_datafusion_err;
use datafusion::error::Result;
use futures::TryStreamExt;

use super::columns::{Values, by_vertex};
use super::run::{Rows, Run};
use crate::format::{DESTINATION_ID, SOURCE_ID};
use crate::graph::algorithms::{Way, degrees_by_neighbor, degrees_either_way};

/// `degree`: from the offsets of a layout that is ordered by the end asked for; else O(E).
pub(super) async fn degree(run: Run) -> Result<Rows> {
    let degrees = degrees(&run, run.call.way).await?;
    Ok(by_vertex(run, degrees.len(), vec![Values::Counts(degrees)]))
}

/// The number of steps from each vertex.
pub(super) async fn degrees(run: &Run, way: Way) -> Result<Vec<u64>> {
    let source = run.source();
    let end = way.ends()[0];
    let count = usize::try_from(source.vertices(end));
    let count =
        count.map_err(|e| exec_datafusion_err!("{} vertices: {e}", source.vertices(end)))?;
    run.grow(count.saturating_mul(size_of::<u64>()))?;
    if way == Way::Any {
        // Loops are both out and in; only the edges tell how many there are.
        let lists = run.any_lists().await?;
        return run
            .blocking(move |stop| degrees_either_way(&lists, stop))
            .await;
    }
    if let Some(lists) = run.look_ups(end)? {
        return Ok(lists.all_degrees().await?);
    }
    if source.has_lists_of(1 - end) {
        let lists = run.lists(1 - end).await?;
        return run
            .blocking(move |stop| degrees_by_neighbor(&lists, stop))
            .await;
    }
    let mut degrees = vec![0; count];
    let column = [SOURCE_ID, DESTINATION_ID][end];
    let mut rows = run.scan(&[run.column(column)?])?;
    while let Some(batch) = rows.try_next().await? {
        for id in batch.column(0).as_primitive::<Int64Type>().values() {
            let at = usize::try_from(*id).ok();
            let Some(degree) = at.and_then(|at| degrees.get_mut(at)) else {
                return Err(exec_datafusion_err!(
                    "edges of {}: expected the internal id of one of {count} vertices, found {id}",
                    source.name()
                ));
            };
            *degree += 1;
        }
    }
    Ok(degrees)
}

/// `csr`: the adjacency is put into the session's cache, if a layout is ordered by the end asked for.
pub(super) async fn csr(run: Run) -> Result<Rows> {
    let lists = run.lists(run.call.way.ends()[0]).await?;
    let vertices = usize::try_from(lists.vertices());
    let vertices =
        vertices.map_err(|e| exec_datafusion_err!("{} vertices: {e}", lists.vertices()))?;
    let before = lists.rows_before();
    let offsets = Values::Offsets(Arc::clone(&lists), before);
    Ok(by_vertex(
        run,
        vertices,
        vec![offsets, Values::Degrees(lists)],
    ))
}
