//! Table functions over edges, with the adjacency in memory, beside plain loops over arrays (the floor).
//!
//! `cargo bench --features cli --bench functions`. Answers are checked before anything is timed.

#![allow(clippy::print_stdout)]

mod support;

use std::hint::black_box;
use std::time::Instant;

use datafusion::arrow::array::AsArray;
use datafusion::arrow::datatypes::Int64Type;
use datafusion::prelude::SessionContext;
use datafusion_graphar::config::GraphArOptions;
use futures::TryStreamExt;
use tokio::runtime::Runtime;

use support::{Error, PAIRS, Written, print_ratio, print_times, sums, time};

/// Adjacency as plain arrays.
struct Lists {
    offsets: Vec<u32>,
    neighbors: Vec<u32>,
}

impl Lists {
    /// By source, or both ways and each neighbour once.
    async fn of(ctx: &SessionContext, either_way: bool) -> Result<Self, Error> {
        let sql = "SELECT count(*) FROM g.node";
        let vertices = usize::try_from(sums(ctx, sql).await?[0])?;
        let sql = r#"SELECT _src_id, _dst_id FROM g."node_links_node$ordered_by_source""#;
        let mut rows = ctx.sql(sql).await?.execute_stream().await?;
        let mut ends: Vec<(u32, u32)> = vec![];
        while let Some(batch) = rows.try_next().await? {
            let column = |at: usize| batch.column(at).as_primitive::<Int64Type>().values();
            for (source, destination) in column(0).iter().zip(column(1)) {
                ends.push((u32::try_from(*source)?, u32::try_from(*destination)?));
            }
        }
        if either_way {
            let back: Vec<_> = ends.iter().map(|(s, d)| (*d, *s)).collect();
            ends.extend(back);
            ends.retain(|(source, destination)| source != destination);
            ends.sort_unstable();
            ends.dedup();
        }
        ends.sort_by_key(|(source, _)| *source);
        let mut offsets = vec![0; vertices + 1];
        for (source, _) in &ends {
            offsets[*source as usize + 1] += 1;
        }
        for vertex in 0..vertices {
            offsets[vertex + 1] += offsets[vertex];
        }
        let neighbors = ends.into_iter().map(|(_, destination)| destination);
        Ok(Self {
            offsets,
            neighbors: neighbors.collect(),
        })
    }

    fn vertices(&self) -> usize {
        self.offsets.len() - 1
    }

    fn list(&self, vertex: u32) -> &[u32] {
        let at = vertex as usize;
        &self.neighbors[self.offsets[at] as usize..self.offsets[at + 1] as usize]
    }

    /// Vertices at most so many steps away.
    fn reached(&self, start: u32, hops: usize) -> u64 {
        let mut seen = vec![false; self.vertices()];
        let mut reached = vec![start];
        seen[start as usize] = true;
        let mut level = 0;
        for _ in 0..hops {
            let end = reached.len();
            for at in level..end {
                for next in self.list(reached[at]) {
                    if !seen[*next as usize] {
                        seen[*next as usize] = true;
                        reached.push(*next);
                    }
                }
            }
            level = end;
        }
        reached.len() as u64
    }

    /// Triangles, by intersections of sorted lists of greater neighbours, of lists both ways. Vertices of less degree come first.
    fn triangles(&self) -> u64 {
        let rank = |id: u32| (self.list(id).len(), id);
        let vertices = 0..u32::try_from(self.vertices()).unwrap_or(u32::MAX);
        let greater: Vec<Vec<u32>> = vertices
            .map(|id| {
                let list = self.list(id).iter().copied();
                list.filter(|other| rank(*other) > rank(id)).collect()
            })
            .collect();
        let mut count = 0;
        for own in &greater {
            for middle in own {
                let (mut a, mut b) = (own.as_slice(), greater[*middle as usize].as_slice());
                while let ([first, a_rest @ ..], [second, b_rest @ ..]) = (a, b) {
                    count += u64::from(first == second);
                    if first <= second {
                        a = a_rest;
                    }
                    if second <= first {
                        b = b_rest;
                    }
                }
            }
        }
        count
    }

    /// Sum of the least vertices of all components.
    fn components(&self) -> u64 {
        let mut forest: Vec<u32> =
            (0..u32::try_from(self.vertices()).unwrap_or(u32::MAX)).collect();
        fn root(forest: &mut [u32], mut at: u32) -> u32 {
            while forest[at as usize] != at {
                forest[at as usize] = forest[forest[at as usize] as usize];
                at = forest[at as usize];
            }
            at
        }
        for id in 0..forest.len() {
            let id = u32::try_from(id).unwrap_or(u32::MAX);
            for other in self.list(id) {
                let (a, b) = (root(&mut forest, id), root(&mut forest, *other));
                forest[a.max(b) as usize] = a.min(b);
            }
        }
        let vertices = 0..u32::try_from(forest.len()).unwrap_or(u32::MAX);
        vertices.map(|id| u64::from(root(&mut forest, id))).sum()
    }
}

/// Times a query beside a floor that gives the same number.
fn compare(
    runtime: &Runtime,
    ctx: &SessionContext,
    name: &str,
    sql: &str,
    floor: impl Fn() -> u64,
) -> Result<(), Error> {
    let expected = i64::try_from(floor())?;
    assert_eq!(runtime.block_on(sums(ctx, sql))?, [expected], "{name}");
    let (mut floors, mut times) = (vec![], vec![]);
    for _ in 0..PAIRS {
        let begin = Instant::now();
        black_box(floor());
        floors.push(begin.elapsed());
        times.push(runtime.block_on(time(sums(ctx, sql)))?);
    }
    let pairs = times.iter().zip(&floors);
    let ratios = pairs.map(|(one, floor)| one.as_secs_f64() / floor.as_secs_f64());
    print_ratio(&format!("functions/{name} / floor"), ratios.collect());
    print_times(&format!("functions/{name}/floor"), floors);
    print_times(&format!("functions/{name}"), times);
    Ok(())
}

fn main() -> Result<(), Error> {
    let runtime = Runtime::new()?;
    let written = runtime.block_on(Written::new())?;
    let (ctx, _graph) = runtime.block_on(written.session(GraphArOptions::default()))?;
    for direction in ["out", "in"] {
        let sql = format!("SELECT count(*) FROM csr(g, links, {direction})");
        runtime.block_on(sums(&ctx, &sql))?;
    }
    let lists = runtime.block_on(Lists::of(&ctx, false))?;
    for hops in [4, 8] {
        let sql = format!("SELECT count(*) FROM khop(g, links, 1, {hops})");
        compare(&runtime, &ctx, &format!("khop {hops}"), &sql, || {
            lists.reached(1, hops)
        })?;
    }
    let sql = "SELECT sum(component) FROM wcc(g, links)";
    compare(&runtime, &ctx, "wcc", sql, || lists.components())?;
    for (name, sql) in [
        (
            "shortest path",
            "SELECT count(*) FROM shortest_path(g, links, 1, 999999)",
        ),
        ("pagerank", "SELECT count(*) FROM pagerank(g, links)"),
    ] {
        let mut times = vec![];
        for _ in 0..PAIRS {
            times.push(runtime.block_on(time(sums(&ctx, sql)))?);
        }
        print_times(&format!("functions/{name}"), times);
    }
    let written = runtime.block_on(Written::of(100_000, 1_000_000))?;
    let (ctx, _graph) = runtime.block_on(written.session(GraphArOptions::default()))?;
    let lists = runtime.block_on(Lists::of(&ctx, true))?;
    let sql = "SELECT sum(triangles) / 3 FROM triangle_count(g, links)";
    compare(&runtime, &ctx, "triangle_count", sql, || lists.triangles())
}
