//! One row for each vertex.

use std::ops::Range;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, Float64Array, Int64Array, RecordBatch};
use futures::{StreamExt, stream};

use super::run::{Rows, Run};
use crate::graph::Csr;

/// A value for each vertex.
#[derive(Debug)]
pub(super) enum Values {
    Counts(Vec<u64>),
    Ids(Vec<u32>),
    Floats(Vec<f64>),
    /// Where the edges of a vertex begin, by the number of edges in the parts before.
    Offsets(Arc<Csr>, Vec<u64>),
    Degrees(Arc<Csr>),
}

impl Values {
    fn array(&self, range: Range<usize>) -> ArrayRef {
        let vertices = range.clone().map(|id| id as u64);
        match self {
            Self::Counts(counts) => integers(counts[range].iter().copied()),
            Self::Ids(ids) => integers(ids[range].iter().map(|id| u64::from(*id))),
            Self::Floats(floats) => Arc::new(Float64Array::from(floats[range].to_vec())),
            Self::Offsets(csr, before) => integers(vertices.map(|id| {
                let list = csr.rows_of(id, before);
                list.map_or(0, |(rows, _, _)| rows.start)
            })),
            Self::Degrees(csr) => integers(vertices.map(|id| csr.degree(id))),
        }
    }
}

fn integers(values: impl Iterator<Item = u64>) -> ArrayRef {
    // Numbers of vertices and edges, and sums of them, are far below 2^63.
    let values = values.map(|value| i64::try_from(value).unwrap_or(i64::MAX));
    Arc::new(Int64Array::from_iter_values(values))
}

/// Rows of the id of each vertex and its values. The run is kept, with its memory, until the last row is out.
pub(super) fn by_vertex(run: Run, vertices: usize, values: Vec<Values>) -> Rows {
    let size = run.batch_size();
    let begins = (0..vertices).step_by(size);
    let batches = begins.map(move |begin| {
        let range = begin..vertices.min(begin + size);
        let mut columns = vec![integers(range.clone().map(|id| id as u64))];
        columns.extend(values.iter().map(|values| values.array(range.clone())));
        Ok(RecordBatch::try_new(Arc::clone(&run.schema), columns)?)
    });
    stream::iter(batches).boxed()
}
