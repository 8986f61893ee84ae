//! Full scans against DataFusion's own listing tables over the same files.
//!
//! `cargo bench --features cli --bench scan`. Answers are checked before anything is timed. Beside
//! criterion's figures it prints the ratio of pairs that ran one after the other, which is
//! what to quote: it holds on a machine whose speed drifts.

mod support;

use std::env;
use std::fs;
use std::process::Command;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion};
use datafusion::prelude::SessionContext;
use datafusion_graphar::config::GraphArOptions;
use tokio::runtime::Runtime;

use support::{Error, PAIRS, VERTICES, Written, print_ratio, read, sums, time};

/// One thing to compare: a name, our query, and the queries over the files themselves that
/// read the same columns.
struct Case {
    name: &'static str,
    ours: &'static str,
    theirs: &'static [&'static str],
}

const CASES: [Case; 6] = [
    Case {
        name: "scan/vertices",
        ours: "SELECT id, score, name FROM g.node",
        theirs: &[
            "SELECT id, score FROM vertex_numbers",
            "SELECT name FROM vertex_names",
        ],
    },
    Case {
        name: "scan/edges",
        ours: r#"SELECT * FROM g."node_links_node$ordered_by_source""#,
        theirs: &["SELECT * FROM adj_list", "SELECT * FROM note"],
    },
    Case {
        name: "scan_adjacency/ids",
        ours: r#"SELECT _src_id, _dst_id FROM g."node_links_node$ordered_by_source""#,
        theirs: &["SELECT * FROM adj_list"],
    },
    Case {
        name: "scan_adjacency/sum",
        ours: "SELECT sum(_dst_id) FROM g.node_links_node",
        theirs: &[r#"SELECT sum("_graphArDstIndex") FROM adj_list"#],
    },
    Case {
        name: "scan_adjacency/count_and_sum",
        ours: "SELECT count(*), sum(_dst_id) FROM g.node_links_node",
        theirs: &[r#"SELECT count(*), sum("_graphArDstIndex") FROM adj_list"#],
    },
    Case {
        name: "scan_adjacency/count",
        ours: "SELECT count(*) FROM g.node_links_node",
        theirs: &["SELECT count(*) FROM adj_list"],
    },
];

fn main() -> Result<(), Error> {
    let runtime = Runtime::new()?;
    let written = runtime.block_on(Written::new())?;
    let (ctx, _graph) = runtime.block_on(written.session(GraphArOptions::default()))?;
    runtime.block_on(check(&ctx))?;

    let mut criterion = Criterion::default()
        .sample_size(10)
        .measurement_time(Duration::from_secs(5))
        .configure_from_args();
    for case in &CASES {
        let mut group = criterion.benchmark_group(case.name);
        group.bench_function(BenchmarkId::from_parameter("graphar"), |b| {
            b.to_async(&runtime)
                .iter(async || read(&ctx, &[case.ours]).await);
        });
        group.bench_function(BenchmarkId::from_parameter("listing"), |b| {
            b.to_async(&runtime)
                .iter(async || read(&ctx, case.theirs).await);
        });
        group.finish();
    }
    criterion.final_summary();

    for case in &CASES {
        let mut ratios = vec![];
        for _ in 0..PAIRS {
            let ours = runtime.block_on(time(read(&ctx, &[case.ours])))?;
            let theirs = runtime.block_on(time(read(&ctx, case.theirs)))?;
            ratios.push(ours.as_secs_f64() / theirs.as_secs_f64());
        }
        print_ratio(&format!("{}: graphar / listing", case.name), ratios);
    }
    if let Ok(program) = env::var("PUBLISHED_CRATE") {
        published_crate(&runtime, &written, &ctx, &program)?;
    }
    Ok(())
}

/// The same sum by the published crate, which reads chunks whole. Its program is a package of its own
/// in `benches/published-crate`.
fn published_crate(
    runtime: &Runtime,
    written: &Written,
    ctx: &SessionContext,
    program: &str,
) -> Result<(), Error> {
    let sql = "SELECT count(*), sum(_dst_id) FROM g.node_links_node";
    let expected = runtime.block_on(sums(ctx, sql))?;
    // It looks for names that end in the file type, which those of the format do not.
    for part in fs::read_dir(written.adj_list("ordered_by_source"))? {
        let chunk = part?.path().join("chunk0");
        fs::hard_link(&chunk, chunk.with_extension("parquet"))?;
    }
    let mut ratios = vec![];
    for _ in 0..PAIRS {
        let output = Command::new(program)
            .args([written.folder(), "3".to_owned(), VERTICES.to_string()])
            .output()?;
        let text = String::from_utf8(output.stdout)?;
        let numbers: Vec<&str> = text.split_whitespace().collect();
        let [edges, sum, milliseconds] = numbers.as_slice() else {
            return Err(format!("{program}: {}", String::from_utf8_lossy(&output.stderr)).into());
        };
        assert_eq!(expected, [edges.parse::<i64>()?, sum.parse::<i64>()?]);
        let ours = runtime.block_on(time(read(ctx, &[sql])))?;
        ratios.push(ours.as_secs_f64() * 1e3 / milliseconds.parse::<f64>()?);
    }
    print_ratio(
        "scan_adjacency/count_and_sum: graphar / published crate",
        ratios,
    );
    Ok(())
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
        "SELECT count(*), sum(id), sum(score), sum(octet_length(name)) FROM g.node",
    )
    .await?;
    let mut theirs = sums(
        ctx,
        "SELECT count(*), sum(id), sum(score) FROM vertex_numbers",
    )
    .await?;
    theirs.extend(sums(ctx, "SELECT sum(octet_length(name)) FROM vertex_names").await?);
    assert_eq!(ours, theirs);
    Ok(())
}
