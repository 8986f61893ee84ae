//! Writing of edges in bulk, and of a few rows.
//!
//! `cargo bench --features cli --bench write`. What was written is read back and compared before anything is timed.

#![allow(clippy::print_stdout)]

mod support;

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use datafusion::arrow::array::RecordBatch;
use datafusion::execution::{SendableRecordBatchStream, SessionStateBuilder};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::prelude::{SessionConfig, SessionContext};
use datafusion_graphar::format::AdjListType;
use datafusion_graphar::session::{SessionContextExt, SessionStateBuilderExt};
use datafusion_graphar::storage::Stores;
use datafusion_graphar::synthetic::SyntheticGraph;
use datafusion_graphar::writer::{GraphWriter, WriteOptions};
use futures::stream;
use tokio::runtime::Runtime;

use support::{EDGES, Error, PAIRS, VERTICES, print_ratio, print_times, sums};

/// Statements behind a printed median.
const STATEMENTS: usize = 100;

fn main() -> Result<(), Error> {
    let runtime = Runtime::new()?;
    runtime.block_on(write_edges())?;
    runtime.block_on(write_small())
}

fn rows(batches: &[RecordBatch]) -> SendableRecordBatchStream {
    let schema = batches[0].schema();
    let batches: Vec<_> = batches.iter().cloned().map(Ok).collect();
    Box::pin(RecordBatchStreamAdapter::new(schema, stream::iter(batches)))
}

fn session(partitions: usize) -> SessionContext {
    let config = SessionConfig::new().with_target_partitions(partitions);
    let state = SessionStateBuilder::new()
        .with_config(config)
        .with_default_features()
        .with_graphar()
        .build();
    SessionContext::new_with_state(state)
}

/// 10 million edges with a string property: one ordered layout, and both with the vertices.
async fn write_edges() -> Result<(), Error> {
    let mut graph = SyntheticGraph::new(VERTICES, EDGES);
    graph.vertex_chunk_size = 1 << 16;
    graph.edge_chunk_size = 1 << 22;
    let vertices = graph.vertex_batches(8192).collect::<Result<Vec<_>, _>>()?;
    let edges = graph.edge_batches(8192).collect::<Result<Vec<_>, _>>()?;
    let schema = edges[0].schema();
    let ends = [schema.index_of("source")?, schema.index_of("destination")?];
    let expected = {
        use datafusion::arrow::array::AsArray;
        use datafusion::arrow::compute::sum;
        use datafusion::arrow::datatypes::Int64Type;
        let total = |column: usize| -> i64 {
            let columns = edges
                .iter()
                .map(|b| b.column(column).as_primitive::<Int64Type>());
            columns.filter_map(sum).sum()
        };
        vec![i64::from(EDGES), total(ends[0]), total(ends[1])]
    };
    for layouts in [
        vec![AdjListType::OrderedBySource],
        vec![AdjListType::OrderedBySource, AdjListType::OrderedByDest],
    ] {
        graph.layouts.clone_from(&layouts);
        let (mut both, mut only) = (vec![], vec![]);
        for _ in 0..3 {
            let folder = tempfile::tempdir()?;
            let file = folder.path().join("g.graph.yml").display().to_string();
            let ctx = session(2);
            let options = WriteOptions {
                parallel: 2,
                ..WriteOptions::default()
            };
            let stores = Stores::new(ctx.runtime_env());
            let mut writer = GraphWriter::open(&file, &stores, options).await?;
            let begin = Instant::now();
            writer
                .write_vertex_stream(graph.vertex_info(), rows(&vertices))
                .await?;
            let middle = Instant::now();
            writer
                .write_edge_stream(graph.edge_info(), ends, rows(&edges))
                .await?;
            only.push(middle.elapsed());
            writer.commit().await?;
            both.push(begin.elapsed());
            ctx.register_graph("g", &file).await?;
            let sql = "SELECT count(*), sum(_src_id), sum(_dst_id) FROM g.node_links_node";
            assert_eq!(sums(&ctx, sql).await?, expected);
            println!(
                "write_edges: {} MB in {} layouts",
                bytes(folder.path())? / 1_000_000,
                layouts.len()
            );
        }
        print_times(&format!("write_edges/{} layouts", layouts.len()), only);
        print_times(
            &format!("write_edges/{} layouts and vertices", layouts.len()),
            both,
        );
    }
    Ok(())
}

fn bytes(folder: &Path) -> Result<u64, Error> {
    let mut total = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let meta = entry.metadata()?;
        total += if meta.is_dir() {
            bytes(&entry.path())?
        } else {
            meta.len()
        };
    }
    Ok(total)
}

/// A few rows of several widths, by `COPY`, beside DataFusion's own into one Parquet file.
async fn write_small() -> Result<(), Error> {
    for (rows, columns) in [(0, 5), (1, 2), (30, 5), (30, 89), (100, 321), (10_000, 5)] {
        let list: Vec<String> = (0..columns)
            .map(|c| format!("value * {c} AS c{c}"))
            .collect();
        let query = format!("SELECT {} FROM range(0, {rows})", list.join(", "));
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("g.graph.yml").display().to_string();
        let parquet = folder.path().join("one.parquet").display().to_string();
        let ours = format!("COPY ({query}) TO '{file}' STORED AS GRAPHAR OPTIONS ('vertex' 't')");
        let theirs = format!("COPY ({query}) TO '{parquet}' STORED AS PARQUET");
        let name = format!("write_small/{rows} rows x {columns}");
        let (narrow, wide) = (session(1), session(16));
        run(&narrow, &ours).await?;
        narrow.register_graph("g", &file).await?;
        let sql = "SELECT count(*), coalesce(sum(c1), 0) FROM g.t";
        let total: i64 = (0..rows).sum();
        assert_eq!(sums(&narrow, sql).await?, [rows, total]);
        let (mut times, mut ratios, mut parquets) = (vec![], vec![], vec![]);
        for _ in 0..STATEMENTS {
            let one = run(&narrow, &ours).await?;
            let sixteen = run(&wide, &ours).await?;
            let other = run(&narrow, &theirs).await?;
            times.push(one);
            ratios.push(sixteen.as_secs_f64() / one.as_secs_f64());
            parquets.push(one.as_secs_f64() / other.as_secs_f64());
        }
        print_times(&name, times.clone());
        print_ratio(&format!("{name}: 16 partitions / 1"), ratios);
        print_ratio(&format!("{name}: graphar / one Parquet file"), parquets);
        if (rows, columns) == (30, 5) {
            let (mut first, mut last) = (vec![], vec![]);
            for i in 0..1000 {
                let time = run(&narrow, &ours).await?;
                if i < PAIRS * 4 {
                    first.push(time);
                } else if i >= 1000 - PAIRS * 4 {
                    last.push(time);
                }
            }
            first.sort();
            last.sort();
            let ratios = first
                .iter()
                .zip(&last)
                .map(|(a, b)| b.as_secs_f64() / a.as_secs_f64());
            print_ratio(
                "write_small: last of 1,000 statements / first",
                ratios.collect(),
            );
        }
    }
    Ok(())
}

async fn run(ctx: &SessionContext, sql: &str) -> Result<Duration, Error> {
    let begin = Instant::now();
    ctx.sql(sql).await?.collect().await?;
    Ok(begin.elapsed())
}
