//! Joins along edges that give rows: plain loops over arrays (the floor), ours with the adjacency in memory and with nothing in
//! memory, and DataFusion's hash joins over the same archive; and how fast neighbours come out.
//!
//! `cargo bench --features cli --bench expand`. Answers are checked before anything is timed.

#![allow(clippy::print_stdout)]

mod support;

use std::collections::BTreeSet;
use std::hint::black_box;
use std::time::{Duration, Instant};

use datafusion_graphar::config::{ExpandStrategy, GraphArOptions};
use tokio::runtime::Runtime;

use support::arrays::Arrays;
use support::{Error, Written, print_ratio, print_times, sums, time};

/// Runs of each question; those that take long have fewer.
const RUNS: usize = 7;

/// The vertex whose friends of friends are asked for.
const VERTEX: usize = 77;

/// Groups of scores.
const GROUPS: u32 = 100;

struct Question {
    name: &'static str,
    sql: String,
    floor: fn(&Arrays) -> Vec<i64>,
}

fn list(arrays: &Arrays, vertex: usize) -> &[u32] {
    let offsets = &arrays.out.offsets;
    &arrays.out.neighbors[offsets[vertex] as usize..offsets[vertex + 1] as usize]
}

/// Walks of two edges whose last vertex has a larger id than the one in the middle, and the sum of the last ones.
fn two_hops(arrays: &Arrays) -> Vec<i64> {
    let (mut count, mut sum) = (0, 0);
    for middle in &arrays.out.neighbors {
        for end in list(arrays, *middle as usize) {
            if end > middle {
                count += 1;
                sum += i64::from(*end);
            }
        }
    }
    vec![count, sum]
}

/// The number of groups of the scores of both ends, and the size of the largest.
fn both_ends(arrays: &Arrays) -> Vec<i64> {
    let groups = arrays.scores.iter().map(|score| score % i64::from(GROUPS));
    let groups: Vec<usize> = groups
        .map(|group| usize::try_from(group).unwrap_or(0))
        .collect();
    let most = GROUPS as usize;
    let mut counts = vec![0_i64; most * most];
    for (vertex, group) in groups.iter().enumerate() {
        for end in list(arrays, vertex) {
            counts[group * most + groups[*end as usize]] += 1;
        }
    }
    let used = counts.iter().filter(|count| **count > 0).count();
    vec![used as i64, counts.into_iter().max().unwrap_or(0)]
}

fn distinct_ends(arrays: &Arrays) -> Vec<i64> {
    let ends = list(arrays, VERTEX).iter();
    let ends: BTreeSet<u32> = ends
        .flat_map(|middle| list(arrays, *middle as usize).iter().copied())
        .collect();
    vec![ends.len() as i64]
}

/// The sum of the ids at the ends of all walks of two edges.
fn ends(arrays: &Arrays) -> Vec<i64> {
    let mut sum = 0;
    for middle in &arrays.out.neighbors {
        for end in list(arrays, *middle as usize) {
            sum += i64::from(*end);
        }
    }
    vec![sum]
}

fn questions() -> Vec<Question> {
    let two = "FROM g.node_links_node a JOIN g.node_links_node b ON b._src_id = a._dst_id";
    vec![
        Question {
            name: "2 hops, condition between vertices",
            sql: format!("SELECT count(*), sum(b._dst_id) {two} WHERE a._dst_id < b._dst_id"),
            floor: two_hops,
        },
        Question {
            name: "2 hops, ends",
            sql: format!("SELECT sum(b._dst_id) {two}"),
            floor: ends,
        },
        Question {
            name: "properties of both ends, grouped",
            sql: format!(
                "SELECT count(*), max(n) FROM (SELECT count(*) AS n FROM g.node p
                 JOIN g.node_links_node e ON e._src_id = p._vertex_id JOIN g.node q ON q._vertex_id = e._dst_id
                 GROUP BY p.score % {GROUPS}, q.score % {GROUPS})"
            ),
            floor: both_ends,
        },
        Question {
            name: "2 hops, distinct ends of one vertex",
            sql: format!("SELECT count(DISTINCT b._dst_id) {two} WHERE a._src_id = {VERTEX}"),
            floor: distinct_ends,
        },
    ]
}

fn main() -> Result<(), Error> {
    let runtime = Runtime::new()?;
    let written = runtime.block_on(Written::new())?;
    let (hot, _graph) = runtime.block_on(written.session(GraphArOptions::default()))?;
    let mut off = GraphArOptions::default();
    off.expand_strategy = ExpandStrategy::HashJoin;
    let (joins, _other) = runtime.block_on(written.session(off))?;
    let arrays = runtime.block_on(Arrays::of(&hot))?;
    for question in questions() {
        let Question { name, sql, floor } = &question;
        let expected = floor(&arrays);
        assert_eq!(runtime.block_on(sums(&hot, sql))?, expected, "{name}");
        assert_eq!(runtime.block_on(sums(&joins, sql))?, expected, "{name}");
        let (mut floors, mut hots, mut colds, mut hashed) = (vec![], vec![], vec![], vec![]);
        for run in 0..RUNS {
            let begin = Instant::now();
            black_box(floor(black_box(&arrays)));
            floors.push(begin.elapsed());
            hots.push(runtime.block_on(time(sums(&hot, sql)))?);
            // A session that has read nothing but the metadata.
            let (cold, _graph) = runtime.block_on(written.session(GraphArOptions::default()))?;
            colds.push(runtime.block_on(time(sums(&cold, sql)))?);
            if run < 3 {
                hashed.push(runtime.block_on(time(sums(&joins, sql)))?);
            }
        }
        print_ratio(
            &format!("expand/{name}: hot / floor"),
            ratios(&hots, &floors),
        );
        print_ratio(
            &format!("expand/{name}: cold / floor"),
            ratios(&colds, &floors),
        );
        print_ratio(
            &format!("expand/{name}: hot / joins"),
            ratios(&hots, &hashed),
        );
        print_ratio(
            &format!("expand/{name}: cold / joins"),
            ratios(&colds, &hashed),
        );
        if *name == "2 hops, ends" {
            gather(&arrays, &hots);
        }
        for (side, times) in [
            ("floor", floors),
            ("hot", hots),
            ("cold", colds),
            ("joins", hashed),
        ] {
            print_times(&format!("expand/{name}/{side}"), times);
        }
    }
    Ok(())
}

fn ratios(times: &[Duration], others: &[Duration]) -> Vec<f64> {
    let pairs = times.iter().zip(others);
    pairs
        .map(|(one, other)| one.as_secs_f64() / other.as_secs_f64())
        .collect()
}

/// Rows a second of the walks of two edges, two threads, against reads of four bytes at random places, one thread.
fn gather(arrays: &Arrays, hots: &[Duration]) {
    let walks: usize = arrays
        .out
        .neighbors
        .iter()
        .map(|middle| list(arrays, *middle as usize).len())
        .sum();
    let places = &arrays.out.neighbors;
    let values: Vec<u32> = (0..u32::try_from(arrays.scores.len()).unwrap_or(u32::MAX)).collect();
    let mut rates = vec![];
    for hot in hots {
        let begin = Instant::now();
        let sum = places
            .iter()
            .map(|place| u64::from(values[*place as usize]))
            .sum::<u64>();
        black_box(sum);
        let plain = places.len() as f64 / begin.elapsed().as_secs_f64();
        rates.push(walks as f64 / hot.as_secs_f64() / plain);
    }
    print_ratio(
        "expand/rows a second / reads at random places a second",
        rates,
    );
}
