//! Counts of walks: plain loops over arrays (the floor), ours with the adjacency in memory and with nothing in memory, and
//! DataFusion's joins over the same archive.
//!
//! `cargo bench --features cli --bench walks`. Answers are checked before anything is timed.

#![allow(clippy::print_stdout)]

mod support;

use std::hint::black_box;
use std::time::Instant;

use datafusion_graphar::config::{ExpandStrategy, GraphArOptions};
use tokio::runtime::Runtime;

use support::arrays::{Arrays, Lists};
use support::{Error, PAIRS, Written, print_ratio, print_times, sums, time};

/// Vertices with a lower score pass the condition on the last vertex: a tenth.
const SCORE: i64 = 100_000;

/// What plain loops over the arrays answer.
trait Floors {
    fn degrees(&self) -> Vec<u64>;
    fn pass(&self, weights: &[u64]) -> Vec<u64>;
    fn two_hops(&self) -> u64;
    fn co_citation(&self) -> u64;
    fn filtered(&self) -> u64;
    fn three_hops(&self) -> u64;
}

impl Floors for Arrays {
    fn degrees(&self) -> Vec<u64> {
        let pairs = self.out.offsets.windows(2);
        pairs.map(|pair| u64::from(pair[1] - pair[0])).collect()
    }

    /// For each vertex the sum of its neighbours' weights.
    fn pass(&self, weights: &[u64]) -> Vec<u64> {
        let Lists { offsets, neighbors } = &self.out;
        let list = |pair: &[u32]| {
            let list = &neighbors[pair[0] as usize..pair[1] as usize];
            list.iter().map(|id| weights[*id as usize]).sum()
        };
        offsets.windows(2).map(list).collect()
    }

    /// One pass over the edges, as without lists by destination.
    fn two_hops(&self) -> u64 {
        self.pass(&self.degrees()).iter().sum()
    }

    fn co_citation(&self) -> u64 {
        let squares = self
            .degree_in
            .iter()
            .map(|degree| u64::from(*degree).pow(2));
        squares.sum()
    }

    fn filtered(&self) -> u64 {
        let passes: Vec<u64> = self
            .scores
            .iter()
            .map(|score| u64::from(*score < SCORE))
            .collect();
        self.pass(&self.pass(&passes)).iter().sum()
    }

    fn three_hops(&self) -> u64 {
        self.pass(&self.pass(&self.degrees())).iter().sum()
    }
}

struct Question {
    name: &'static str,
    sql: String,
    floor: fn(&Arrays) -> u64,
    /// Whether DataFusion's joins end within seconds.
    joins: bool,
}

fn questions() -> Vec<Question> {
    let two = "SELECT count(*) FROM g.node_links_node a JOIN g.node_links_node b ON b._src_id = a._dst_id";
    vec![
        Question {
            name: "2 hops",
            sql: two.to_owned(),
            floor: Arrays::two_hops,
            joins: true,
        },
        Question {
            name: "co-citation",
            sql: "SELECT count(*) FROM g.node_links_node a JOIN g.node_links_node b ON b._dst_id = a._dst_id".to_owned(),
            floor: Arrays::co_citation,
            joins: false,
        },
        Question {
            name: "2 hops, condition on the last vertex",
            sql: format!("{two} JOIN g.node v ON v._vertex_id = b._dst_id WHERE v.score < {SCORE}"),
            floor: Arrays::filtered,
            joins: true,
        },
        Question {
            name: "3 hops",
            sql: format!("{two} JOIN g.node_links_node c ON c._src_id = b._dst_id"),
            floor: Arrays::three_hops,
            joins: true,
        },
    ]
}

fn main() -> Result<(), Error> {
    let runtime = Runtime::new()?;
    let written = runtime.block_on(Written::new())?;
    let (hot, _graph) = runtime.block_on(written.session(GraphArOptions::default()))?;
    let mut off = GraphArOptions::default();
    off.rule_count_propagation = false;
    off.expand_strategy = ExpandStrategy::HashJoin;
    let (joins, _other) = runtime.block_on(written.session(off))?;
    let arrays = runtime.block_on(Arrays::of(&hot))?;
    for question in questions() {
        let Question {
            name, sql, floor, ..
        } = &question;
        let expected = i64::try_from(floor(&arrays))?;
        assert_eq!(runtime.block_on(sums(&hot, sql))?, [expected], "{name}");
        let (mut floors, mut hots, mut colds) = (vec![], vec![], vec![]);
        for _ in 0..PAIRS {
            let begin = Instant::now();
            black_box(floor(black_box(&arrays)));
            floors.push(begin.elapsed());
            hots.push(runtime.block_on(time(sums(&hot, sql)))?);
            // A session that has read nothing but the metadata.
            let (cold, _graph) = runtime.block_on(written.session(GraphArOptions::default()))?;
            colds.push(runtime.block_on(time(sums(&cold, sql)))?);
        }
        let ratios = |times: &[std::time::Duration]| {
            let pairs = times.iter().zip(&floors);
            pairs
                .map(|(one, floor)| one.as_secs_f64() / floor.as_secs_f64())
                .collect()
        };
        print_ratio(&format!("count_walks/{name}: hot / floor"), ratios(&hots));
        print_ratio(&format!("count_walks/{name}: cold / floor"), ratios(&colds));
        if question.joins {
            let mut times = vec![];
            for _ in 0..2 {
                times.push(runtime.block_on(time(sums(&joins, sql)))?);
            }
            let pairs = times.iter().zip(&hots);
            let ratios = pairs.map(|(joins, hot)| hot.as_secs_f64() / joins.as_secs_f64());
            print_ratio(
                &format!("count_walks/{name}: hot / joins"),
                ratios.collect(),
            );
            print_times(&format!("count_walks/{name}/joins"), times);
        }
        print_times(&format!("count_walks/{name}/floor"), floors);
        print_times(&format!("count_walks/{name}/hot"), hots);
        print_times(&format!("count_walks/{name}/cold"), colds);
    }
    Ok(())
}
