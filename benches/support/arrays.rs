//! A graph as plain arrays, for plain loops.

use datafusion::arrow::array::AsArray;
use datafusion::arrow::datatypes::Int64Type;
use datafusion::prelude::SessionContext;
use futures::TryStreamExt;

use super::Error;

/// Adjacency by source, the numbers of edges by destination, and the scores of the vertices.
pub struct Arrays {
    pub out: Lists,
    pub degree_in: Vec<u32>,
    pub scores: Vec<i64>,
}

pub struct Lists {
    pub offsets: Vec<u32>,
    pub neighbors: Vec<u32>,
}

impl Arrays {
    /// Reads them from the graph `g`.
    pub async fn of(ctx: &SessionContext) -> Result<Self, Error> {
        let sql = r#"SELECT _src_id, _dst_id FROM g."node_links_node$ordered_by_source""#;
        let mut rows = ctx.sql(sql).await?.execute_stream().await?;
        let mut ends: Vec<(u32, u32)> = vec![];
        while let Some(batch) = rows.try_next().await? {
            let column = |at: usize| batch.column(at).as_primitive::<Int64Type>().values();
            for (source, destination) in column(0).iter().zip(column(1)) {
                ends.push((u32::try_from(*source)?, u32::try_from(*destination)?));
            }
        }
        ends.sort_by_key(|(source, _)| *source);
        let mut scores = vec![];
        let sql = "SELECT score FROM g.node ORDER BY _vertex_id";
        let mut rows = ctx.sql(sql).await?.execute_stream().await?;
        while let Some(batch) = rows.try_next().await? {
            scores.extend_from_slice(batch.column(0).as_primitive::<Int64Type>().values());
        }
        let vertices = scores.len();
        let mut offsets = vec![0; vertices + 1];
        let mut degree_in = vec![0; vertices];
        for (source, destination) in &ends {
            offsets[*source as usize + 1] += 1;
            degree_in[*destination as usize] += 1;
        }
        for vertex in 0..vertices {
            offsets[vertex + 1] += offsets[vertex];
        }
        let neighbors = ends.iter().map(|(_, destination)| *destination).collect();
        Ok(Self {
            out: Lists { offsets, neighbors },
            degree_in,
            scores,
        })
    }
}
