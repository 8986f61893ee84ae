//! A full scan of all columns against DataFusion's own listing table over the same files.
//!
//! `cargo bench --features cli --bench scan`. Answers are checked before anything is timed. Beside
//! criterion's figures it prints the ratio of pairs that ran one after the other, which is
//! what to quote: it holds on a machine whose speed drifts.

#![allow(clippy::print_stdout)]

use std::sync::Arc;
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion};
use datafusion::arrow::array::AsArray;
use datafusion::arrow::datatypes::Int64Type;
use datafusion::prelude::{ParquetReadOptions, SessionConfig, SessionContext};
use datafusion_graphar::session::SessionContextExt;
use datafusion_graphar::synthetic::SyntheticGraph;
use futures::TryStreamExt;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use tempfile::TempDir;
use tokio::runtime::Runtime;

type Error = Box<dyn std::error::Error>;

const VERTICES: u32 = 1_000_000;
const EDGES: u32 = 10_000_000;
const PAIRS: usize = 15;

/// One thing to compare: a name, our query, and the queries over the files themselves that
/// read the same columns.
struct Case {
    name: &'static str,
    ours: &'static str,
    theirs: &'static [&'static str],
}

const CASES: [Case; 3] = [
    Case {
        name: "vertices",
        ours: "SELECT * FROM g.node",
        theirs: &["SELECT id FROM vertex_id", "SELECT name FROM vertex_name"],
    },
    Case {
        name: "edges",
        ours: r#"SELECT * FROM g."node_links_node$ordered_by_source""#,
        theirs: &["SELECT * FROM adj_list", "SELECT * FROM note"],
    },
    Case {
        name: "edge_ids",
        ours: r#"SELECT _src_id, _dst_id FROM g."node_links_node$ordered_by_source""#,
        theirs: &["SELECT * FROM adj_list"],
    },
];

fn main() -> Result<(), Error> {
    let runtime = Runtime::new()?;
    let (_folder, ctx) = runtime.block_on(prepare())?;
    runtime.block_on(check(&ctx))?;

    let mut criterion = Criterion::default()
        .sample_size(10)
        .measurement_time(Duration::from_secs(20))
        .configure_from_args();
    for case in &CASES {
        let mut group = criterion.benchmark_group("scan");
        group.bench_function(BenchmarkId::new("graphar", case.name), |b| {
            b.to_async(&runtime)
                .iter(async || read(&ctx, &[case.ours]).await);
        });
        group.bench_function(BenchmarkId::new("listing", case.name), |b| {
            b.to_async(&runtime)
                .iter(async || read(&ctx, case.theirs).await);
        });
        group.finish();
    }
    criterion.final_summary();

    for case in &CASES {
        let mut ratios = vec![];
        for _ in 0..PAIRS {
            let ours = runtime.block_on(time(&ctx, &[case.ours]))?;
            let theirs = runtime.block_on(time(&ctx, case.theirs))?;
            ratios.push(ours.as_secs_f64() / theirs.as_secs_f64());
        }
        ratios.sort_by(f64::total_cmp);
        println!(
            "scan/{}: graphar / listing = {:.3} (median of {PAIRS} pairs, {:.3} to {:.3})",
            case.name,
            ratios[PAIRS / 2],
            ratios[0],
            ratios[PAIRS - 1]
        );
    }
    Ok(())
}

/// Writes the graph and registers it, and its files as listing tables.
async fn prepare() -> Result<(TempDir, SessionContext), Error> {
    let folder = tempfile::tempdir()?;
    let mut graph = SyntheticGraph::new(VERTICES, EDGES);
    graph.vertex_chunk_size = 1 << 18;
    graph.edge_chunk_size = 1 << 22;
    let store = Arc::new(LocalFileSystem::new_with_prefix(folder.path())?);
    let file = graph.write(store, Path::default()).await?;

    // Edge chunks lie in a folder for each part.
    let config = SessionConfig::new().with_target_partitions(2).set_bool(
        "datafusion.execution.listing_table_ignore_subdirectory",
        false,
    );
    let ctx = SessionContext::new_with_config(config);
    let file = folder.path().join(file.as_ref());
    let registered = ctx.register_graph("g", &file.display().to_string()).await?;
    let archive = registered.archive();
    let nodes = format!("file:///{}", archive.vertices[0].folder.path());
    let edges = format!(
        "file:///{}/ordered_by_source",
        archive.edges[0].folder.path()
    );
    for (table, path) in [
        ("vertex_id", format!("{nodes}/id/")),
        ("vertex_name", format!("{nodes}/name/")),
        ("adj_list", format!("{edges}/adj_list/")),
        ("note", format!("{edges}/note/")),
    ] {
        let options = ParquetReadOptions::default().file_extension("");
        ctx.register_parquet(table, &path, options).await?;
    }
    Ok((folder, ctx))
}

/// Sums that have to agree before anything is timed.
async fn check(ctx: &SessionContext) -> Result<(), Error> {
    let ours = sums(
        ctx,
        r#"SELECT count(*), sum(_src_id), sum(_dst_id), sum(octet_length(note))
           FROM g."node_links_node$ordered_by_source""#,
    )
    .await?;
    let mut theirs = sums(
        ctx,
        r#"SELECT count(*), sum("_graphArSrcIndex"), sum("_graphArDstIndex") FROM adj_list"#,
    )
    .await?;
    theirs.extend(sums(ctx, "SELECT sum(octet_length(note)) FROM note").await?);
    assert_eq!(ours, theirs);
    let ours = sums(
        ctx,
        "SELECT count(*), sum(id), sum(octet_length(name)) FROM g.node",
    )
    .await?;
    let mut theirs = sums(ctx, "SELECT count(*), sum(id) FROM vertex_id").await?;
    theirs.extend(sums(ctx, "SELECT sum(octet_length(name)) FROM vertex_name").await?);
    assert_eq!(ours, theirs);
    Ok(())
}

async fn sums(ctx: &SessionContext, sql: &str) -> Result<Vec<i64>, Error> {
    let batches = ctx.sql(sql).await?.collect().await?;
    let columns = batches[0].columns().iter();
    Ok(columns
        .map(|column| column.as_primitive::<Int64Type>().value(0))
        .collect())
}

/// Reads everything and counts the rows.
async fn read(ctx: &SessionContext, queries: &[&str]) -> Result<usize, Error> {
    let mut rows = 0;
    for sql in queries {
        let mut stream = ctx.sql(sql).await?.execute_stream().await?;
        while let Some(batch) = stream.try_next().await? {
            rows += batch.num_rows();
        }
    }
    Ok(rows)
}

async fn time(ctx: &SessionContext, queries: &[&str]) -> Result<Duration, Error> {
    let begin = Instant::now();
    read(ctx, queries).await?;
    Ok(begin.elapsed())
}
