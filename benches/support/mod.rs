//! The graph that the benches read, and how they time.

#![allow(clippy::print_stdout, dead_code)]

pub mod arrays;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use datafusion::arrow::array::AsArray;
use datafusion::arrow::datatypes::Int64Type;
use datafusion::execution::SessionStateBuilder;
use datafusion::prelude::{ParquetReadOptions, SessionConfig, SessionContext};
use datafusion_graphar::config::GraphArOptions;
use datafusion_graphar::session::{SessionContextExt, SessionStateBuilderExt};
use datafusion_graphar::synthetic::SyntheticGraph;
use datafusion_graphar::table::Graph;
use futures::TryStreamExt;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use tempfile::TempDir;

pub type Error = Box<dyn std::error::Error>;

pub const VERTICES: u32 = 1_000_000;
pub const EDGES: u32 = 10_000_000;

/// Pairs of runs behind a printed ratio.
pub const PAIRS: usize = 15;

/// A written graph. The folder goes when this is dropped.
pub struct Written {
    folder: TempDir,
    pub graph_file: String,
}

impl Written {
    /// 1 million vertices and 10 million edges in chunks of 2^18 and 2^22 rows.
    pub async fn new() -> Result<Self, Error> {
        Self::of(VERTICES, EDGES).await
    }

    /// A graph of another size.
    pub async fn of(vertices: u32, edges: u32) -> Result<Self, Error> {
        let folder = tempfile::tempdir()?;
        let mut graph = SyntheticGraph::new(vertices, edges);
        graph.vertex_chunk_size = 1 << 18;
        graph.edge_chunk_size = 1 << 22;
        let store = Arc::new(LocalFileSystem::new_with_prefix(folder.path())?);
        let file = graph.write(store, Path::default()).await?;
        let graph_file = folder.path().join(file.as_ref()).display().to_string();
        Ok(Self { folder, graph_file })
    }

    /// The archive's folder.
    pub fn folder(&self) -> String {
        self.folder.path().display().to_string()
    }

    /// The folder of one layout's id chunks.
    pub fn adj_list(&self, layout: &str) -> PathBuf {
        let edges = self.folder.path().join("edge/node_links_node");
        edges.join(layout).join("adj_list")
    }

    /// A session of two partitions with the graph `g`, and its files as listing tables with page pruning and
    /// filter pushdown.
    pub async fn session(
        &self,
        options: GraphArOptions,
    ) -> Result<(SessionContext, Arc<Graph>), Error> {
        let config = SessionConfig::new()
            .with_target_partitions(2)
            // Edge chunks lie in a folder for each part.
            .set_bool(
                "datafusion.execution.listing_table_ignore_subdirectory",
                false,
            )
            .set_bool("datafusion.execution.parquet.pushdown_filters", true)
            .set_bool("datafusion.execution.parquet.reorder_filters", true)
            .with_option_extension(options);
        let state = SessionStateBuilder::new()
            .with_config(config)
            .with_default_features()
            .with_graphar()
            .build();
        let ctx = SessionContext::new_with_state(state);
        let graph = ctx.register_graph("g", &self.graph_file).await?;
        let root = self.folder.path().display();
        for (table, path) in [
            ("vertex_numbers", format!("{root}/vertex/node/id_score/")),
            ("vertex_names", format!("{root}/vertex/node/name/")),
            (
                "adj_list",
                format!("{root}/edge/node_links_node/ordered_by_source/adj_list/"),
            ),
            (
                "note",
                format!("{root}/edge/node_links_node/ordered_by_source/note/"),
            ),
        ] {
            let options = ParquetReadOptions::default().file_extension("");
            ctx.register_parquet(table, &path, options).await?;
        }
        Ok((ctx, graph))
    }
}

/// The integers of the only row of a query.
pub async fn sums(ctx: &SessionContext, sql: &str) -> Result<Vec<i64>, Error> {
    let batches = ctx.sql(sql).await?.collect().await?;
    let columns = batches[0].columns().iter();
    Ok(columns
        .map(|column| column.as_primitive::<Int64Type>().value(0))
        .collect())
}

/// Reads everything and counts the rows.
pub async fn read(ctx: &SessionContext, queries: &[&str]) -> Result<usize, Error> {
    let mut rows = 0;
    for sql in queries {
        let mut stream = ctx.sql(sql).await?.execute_stream().await?;
        while let Some(batch) = stream.try_next().await? {
            rows += batch.num_rows();
        }
    }
    Ok(rows)
}

/// The time of one run.
pub async fn time<T>(run: impl Future<Output = Result<T, Error>>) -> Result<Duration, Error> {
    let begin = Instant::now();
    run.await?;
    Ok(begin.elapsed())
}

/// Prints the median of ratios, and how far they spread.
pub fn print_ratio(name: &str, mut ratios: Vec<f64>) {
    ratios.sort_by(f64::total_cmp);
    let (least, most) = (ratios[0], ratios[ratios.len() - 1]);
    println!(
        "{name} = {:.3} (median of {} pairs, {least:.3} to {most:.3})",
        ratios[ratios.len() / 2],
        ratios.len(),
    );
}

/// Prints the median of times, and the best of them.
pub fn print_times(name: &str, mut times: Vec<Duration>) {
    times.sort();
    println!(
        "{name}: {:.1} us (median of {}, best {:.1})",
        times[times.len() / 2].as_secs_f64() * 1e6,
        times.len(),
        times[0].as_secs_f64() * 1e6,
    );
}

/// Vertex ids in no order, the same in every run.
pub fn random_vertices(count: usize) -> Vec<u64> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % u64::from(VERTICES)
    };
    (0..count).map(|_| next()).collect()
}
