//! Look-ups of single vertices and small sets of them.
//!
//! `cargo bench --features cli --bench lookup`. Answers are checked before anything is timed.

#![allow(clippy::print_stdout)]

mod support;

use std::fs::File;
use std::sync::Arc;
use std::time::{Duration, Instant};

use criterion::Criterion;
use datafusion::arrow::array::{AsArray, Int64Array};
use datafusion::arrow::datatypes::Int64Type;
use datafusion::parquet::arrow::ProjectionMask;
use datafusion::parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder, RowSelection,
    RowSelectionPolicy, RowSelector,
};
use datafusion::parquet::file::metadata::PageIndexPolicy;
use datafusion::prelude::SessionContext;
use datafusion::scalar::ScalarValue;
use datafusion_graphar::config::GraphArOptions;
use datafusion_graphar::graph::{Adjacency, Direction};
use datafusion_graphar::session::PreparedQuery;
use datafusion_graphar::table::Graph;
use tokio::runtime::Runtime;

use support::{Error, VERTICES, Written, print_ratio, print_times, random_vertices, read, time};

/// Look-ups behind a printed median.
const LOOKUPS: usize = 2000;

/// Vertices between two that are looked up one after the other: their edges fill more than a page.
const APART: u64 = 500;

/// Vertices of a part in the written graph.
const PART: u64 = 1 << 18;

fn main() -> Result<(), Error> {
    let runtime = Runtime::new()?;
    let written = runtime.block_on(Written::new())?;
    let (ctx, graph) = runtime.block_on(written.session(GraphArOptions::default()))?;
    point_lookup(&runtime, &written, &graph)?;
    batch_lookup(&runtime, &written, &ctx)?;
    point_query_sql(&runtime, &ctx)?;
    range_scan(&runtime, &ctx)?;

    let mut criterion = Criterion::default()
        .sample_size(20)
        .measurement_time(Duration::from_secs(3))
        .configure_from_args();
    let knows = graph.adjacency("node_links_node", Direction::Out)?;
    let vertices = random_vertices(LOOKUPS);
    criterion.bench_function("point_lookup/resident", |b| {
        let mut next = vertices.iter().cycle();
        b.to_async(&runtime).iter(|| {
            let vertex = *next.next().unwrap_or(&0);
            let knows = &knows;
            async move { knows.neighbors(vertex).await.map(|found| found.len()) }
        });
    });
    criterion.final_summary();
    Ok(())
}

/// A row window read with the Parquet library as it is: footers and offsets in memory, the file
/// open, a reader for each look-up.
struct RowWindows {
    parts: Vec<(File, ArrowReaderMetadata)>,
    mask: ProjectionMask,
}

impl RowWindows {
    fn open(written: &Written) -> Result<Self, Error> {
        let folder = written.adj_list("ordered_by_source");
        let mut parts = vec![];
        for part in 0.. {
            let path = folder.join(format!("part{part}/chunk0"));
            if !path.exists() {
                break;
            }
            let file = File::open(path)?;
            let options =
                ArrowReaderOptions::new().with_page_index_policy(PageIndexPolicy::Required);
            let metadata = ArrowReaderMetadata::load(&file, options)?;
            parts.push((file, metadata));
        }
        let schema = parts[0].1.metadata().file_metadata().schema_descr();
        let mask = ProjectionMask::columns(schema, ["_graphArDstIndex"]);
        Ok(Self { parts, mask })
    }

    fn read(&self, part: usize, begin: usize, end: usize) -> Result<Int64Array, Error> {
        let (file, metadata) = &self.parts[part];
        let selection = RowSelection::from(vec![
            RowSelector::skip(begin),
            RowSelector::select(end - begin),
        ]);
        let reader =
            ParquetRecordBatchReaderBuilder::new_with_metadata(file.try_clone()?, metadata.clone())
                .with_projection(self.mask.clone())
                .with_row_selection(selection)
                .with_row_selection_policy(RowSelectionPolicy::Selectors)
                .with_batch_size(end - begin)
                .build()?;
        let mut found = vec![];
        for batch in reader {
            found.extend_from_slice(batch?.column(0).as_primitive::<Int64Type>().values());
        }
        Ok(found.into())
    }
}

/// Neighbours of one vertex through the direct API.
fn point_lookup(runtime: &Runtime, written: &Written, graph: &Arc<Graph>) -> Result<(), Error> {
    let windows = RowWindows::open(written)?;
    // Vertices of pages of their own, in no order: footers and offsets are in memory, and each
    // look-up decodes its page.
    let mut vertices: Vec<u64> = (0..u64::from(VERTICES) / APART)
        .map(|i| i * APART)
        .collect();
    let mut order = random_vertices(vertices.len());
    vertices.sort_by_cached_key(|_| order.pop());
    let (_ctx, cold_graph) = runtime.block_on(written.session(GraphArOptions::default()))?;
    let cold = cold_graph.adjacency("node_links_node", Direction::Out)?;
    let resident = graph.adjacency("node_links_node", Direction::Out)?;
    let mut theirs = vec![];
    for vertex in &vertices {
        let rows = runtime.block_on(cold.edge_range(*vertex))?;
        let part = vertex / PART;
        let first = runtime.block_on(cold.edge_range(part * PART))?.start;
        let at = |row: u64| usize::try_from(row - first);
        theirs.push((usize::try_from(part)?, at(rows.start)?, at(rows.end)?));
    }
    for part in 0..u64::from(VERTICES).div_ceil(PART) {
        runtime.block_on(cold.neighbors(part * PART + 1))?;
    }
    for (vertex, (part, begin, end)) in vertices.iter().zip(&theirs) {
        let ours = runtime.block_on(resident.neighbors(*vertex))?;
        assert_eq!(ours, windows.read(*part, *begin, *end)?, "vertex {vertex}");
    }

    let pages = cold.meter().pages();
    let requests = cold.meter().requests();
    let (mut ours, mut plain, mut ratios) = (vec![], vec![], vec![]);
    for (vertex, (part, begin, end)) in vertices.iter().zip(&theirs) {
        let one = runtime.block_on(timed(&cold, *vertex))?;
        let start = Instant::now();
        windows.read(*part, *begin, *end)?;
        let other = start.elapsed();
        ratios.push(one.as_secs_f64() / other.as_secs_f64());
        ours.push(one);
        plain.push(other);
    }
    let count = vertices.len() as f64;
    println!(
        "point_lookup: {:.2} pages decoded and {:.2} requests a look-up",
        (cold.meter().pages() - pages) as f64 / count,
        (cold.meter().requests() - requests) as f64 / count,
    );
    print_times("point_lookup/page", ours);
    print_times("point_lookup/arrow_rs_row_window", plain);
    print_ratio("point_lookup: page / arrow-rs row window", ratios);

    let hot: Vec<Duration> = vertices
        .iter()
        .map(|vertex| runtime.block_on(timed(&resident, *vertex)))
        .collect::<Result<_, _>>()?;
    print_times("point_lookup/resident", hot);
    Ok(())
}

async fn timed(adjacency: &Adjacency, vertex: u64) -> Result<Duration, Error> {
    let begin = Instant::now();
    let found = adjacency.neighbors(vertex).await?;
    let time = begin.elapsed();
    drop(found);
    Ok(time)
}

/// 1,000 vertices in one query.
fn batch_lookup(runtime: &Runtime, written: &Written, ctx: &SessionContext) -> Result<(), Error> {
    let vertices = random_vertices(1000);
    let list: Vec<String> = vertices.iter().map(u64::to_string).collect();
    let list = list.join(", ");
    let ours = format!("SELECT _src_id, _dst_id FROM g.node_links_node WHERE _src_id IN ({list})");
    let theirs = format!(r#"SELECT * FROM adj_list WHERE "_graphArSrcIndex" IN ({list})"#);
    let sums =
        |columns: &str, from: &str| format!("SELECT count(*), sum({columns}) FROM ({from}) t");
    let expected = runtime.block_on(support::sums(ctx, &sums(r#""_graphArDstIndex""#, &theirs)))?;
    let found = runtime.block_on(support::sums(ctx, &sums("_dst_id", &ours)))?;
    assert_eq!(found, expected);

    let mut cold = vec![];
    for _ in 0..10 {
        let (fresh, _graph) = runtime.block_on(written.session(GraphArOptions::default()))?;
        cold.push(runtime.block_on(time(read(&fresh, &[&ours])))?);
    }
    print_times("batch_lookup/cold", cold);
    let (mut hot, mut plans, mut ratios) = (vec![], vec![], vec![]);
    for _ in 0..30 {
        let one = runtime.block_on(time(read(ctx, &[&ours])))?;
        let other = runtime.block_on(time(read(ctx, &[&theirs])))?;
        ratios.push(one.as_secs_f64() / other.as_secs_f64());
        hot.push(one);
        plans.push(runtime.block_on(time(plan(ctx, &ours)))?);
    }
    print_times("batch_lookup/resident", hot);
    print_times("batch_lookup/planning", plans);
    print_ratio("batch_lookup: graphar / listing", ratios);
    Ok(())
}

async fn plan(ctx: &SessionContext, sql: &str) -> Result<(), Error> {
    ctx.sql(sql).await?.create_physical_plan().await?;
    Ok(())
}

/// Properties of a vertex, and its neighbours, in SQL: prepared once, and anew each time.
fn point_query_sql(runtime: &Runtime, ctx: &SessionContext) -> Result<(), Error> {
    let vertices = random_vertices(500);
    let cases = [
        (
            "properties",
            "SELECT id, name FROM g.node WHERE _vertex_id = ",
            1,
        ),
        (
            "neighbors",
            "SELECT _dst_id FROM g.node_links_node WHERE _src_id = ",
            0,
        ),
    ];
    for (name, sql, rows) in cases {
        let prepared = runtime.block_on(PreparedQuery::try_new(ctx, &format!("{sql}$1")))?;
        assert!(prepared.is_planned());
        let (mut with, mut without, mut nothing) = (vec![], vec![], vec![]);
        for (number, vertex) in vertices.iter().enumerate() {
            let value = ScalarValue::from(i64::try_from(*vertex)?);
            let text = format!("{sql}{vertex}");
            let begin = Instant::now();
            let found = runtime.block_on(prepared.collect(vec![value]))?;
            with.push(begin.elapsed());
            without.push(runtime.block_on(time(read(ctx, &[&text])))?);
            if number < 100 {
                let expected = runtime.block_on(read(ctx, &[&text]))?;
                let found: usize = found.iter().map(|batch| batch.num_rows()).sum();
                assert_eq!(found, expected, "vertex {vertex}");
                assert!(rows == 0 || found == rows);
            }
            nothing.push(runtime.block_on(time(read(ctx, &["SELECT 1"])))?);
        }
        print_times(&format!("point_query_sql/{name}/prepared"), with);
        print_times(&format!("point_query_sql/{name}/unprepared"), without);
        print_times("point_query_sql/select_1", nothing);
    }
    Ok(())
}

/// 1,000 consecutive vertices, 4 columns.
fn range_scan(runtime: &Runtime, ctx: &SessionContext) -> Result<(), Error> {
    let (mut ours, mut ratios) = (vec![], vec![]);
    for vertex in random_vertices(50) {
        let begin = vertex.min(998_000);
        let end = begin + 999;
        let our = format!(
            "SELECT _vertex_id, id, score, name FROM g.node WHERE _vertex_id BETWEEN {begin} AND {end}"
        );
        let their = format!(
            r#"SELECT a."_graphArVertexIndex", a.id, a.score, b.name
               FROM vertex_numbers a JOIN vertex_names b ON a."_graphArVertexIndex" = b."_graphArVertexIndex"
               WHERE a."_graphArVertexIndex" BETWEEN {begin} AND {end}
               AND b."_graphArVertexIndex" BETWEEN {begin} AND {end}"#
        );
        assert_eq!(runtime.block_on(read(ctx, &[&our]))?, 1000);
        assert_eq!(runtime.block_on(read(ctx, &[&their]))?, 1000);
        let one = runtime.block_on(time(read(ctx, &[&our])))?;
        let other = runtime.block_on(time(read(ctx, &[&their])))?;
        ratios.push(one.as_secs_f64() / other.as_secs_f64());
        ours.push(one);
    }
    print_times("range_scan", ours);
    print_ratio("range_scan: graphar / listing", ratios);
    Ok(())
}
