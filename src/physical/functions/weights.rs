//! The weights of all edges, by row.

use datafusion::arrow::array::AsArray;
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Float64Type};
use datafusion::arrow::util::display::array_value_to_string;
use datafusion::common::exec_err;
use datafusion::error::Result;
use futures::TryStreamExt;

use super::run::Run;
use crate::graph::RowLists;

/// A number for each row of the edge table. `lists` are those of an end of the edges, with rows.
///
/// # Errors
/// If a weight is null, negative or NaN.
pub(super) async fn weights(
    run: &Run,
    column: usize,
    lists: &RowLists,
    end: usize,
) -> Result<Vec<f64>> {
    let edges = usize::try_from(run.source().edges()).unwrap_or(usize::MAX);
    run.grow(edges.saturating_mul(size_of::<f64>()))?;
    let mut weights = Vec::with_capacity(edges);
    let mut rows = run.scan(&[column])?;
    while let Some(batch) = rows.try_next().await? {
        let floats = cast(batch.column(0), &DataType::Float64)?;
        let floats = floats.as_primitive::<Float64Type>();
        for (place, weight) in floats.iter().enumerate() {
            match weight {
                // A negative zero is a zero.
                Some(weight) if weight >= 0.0 => weights.push(weight + 0.0),
                other => {
                    let row = weights.len() as u64;
                    let ends = lists.edge_at(row).map(|(own, other)| match end {
                        0 => (own, other),
                        _ => (other, own),
                    });
                    let (source, destination) = ends.unwrap_or_default();
                    let found = match other {
                        Some(_) => array_value_to_string(batch.column(0), place)?,
                        None => "NULL".to_owned(),
                    };
                    return exec_err!(
                        "shortest_path: edge {row} of {}, from {source} to {destination}: expected a weight '{}' of 0 or more, found {found}",
                        run.source().name(),
                        run.call.edges.column_name(column)
                    );
                }
            }
        }
    }
    Ok(weights)
}
