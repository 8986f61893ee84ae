//! Table functions over edges: against plain loops on random graphs, in every layout and payload, and where things go wrong.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, Float64Array, RecordBatch};
use datafusion::execution::SessionStateBuilder;
use datafusion::execution::memory_pool::GreedyMemoryPool;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::physical_plan::execution_plan::reset_plan_states;
use datafusion::physical_plan::{collect, execute_stream};
use datafusion::prelude::SessionContext;
use datafusion_graphar::format::{AdjListType, EdgeInfo, FileType, ScalarType, VertexInfo};
use datafusion_graphar::session::{SessionContextExt, SessionStateBuilderExt};
use futures::StreamExt;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use url::Url;

use crate::fixture::*;
use crate::pushdown::block_on;
use crate::random_graph::sorted;

const VERTICES: i64 = 9;

fn layouts() -> impl Strategy<Value = Vec<AdjListType>> {
    use AdjListType::*;
    select(vec![
        vec![OrderedBySource],
        vec![OrderedByDest],
        vec![OrderedBySource, OrderedByDest],
        vec![UnorderedBySource],
        vec![UnorderedByDest, OrderedByDest],
    ])
}

/// `knows` in these layouts, with the weight `w`.
fn weighted(layouts: &[AdjListType], chunks: (u64, u64), file_type: FileType) -> EdgeInfo {
    let mut info = knows(chunks.0, chunks.1, file_type);
    info.adj_lists = layouts.iter().map(|l| list(*l, file_type)).collect();
    info.property_groups = vec![group(file_type, vec![property("w", ScalarType::Double)])];
    info
}

fn weights(weights: impl Iterator<Item = Option<f64>>) -> Option<RecordBatch> {
    let column: ArrayRef = Arc::new(Float64Array::from_iter(weights));
    Some(RecordBatch::try_from_iter_with_nullable([("w", column, true)]).unwrap())
}

async fn archive(
    info: EdgeInfo,
    vertices: i64,
    edges: &[(i64, i64)],
    properties: Option<RecordBatch>,
) -> Archive {
    let (chunk, file_type) = (info.src_chunk_size, info.adj_lists[0].file_type);
    let fixture = Fixture::persons(vertices, chunk, file_type).await;
    fixture.edges(info, edges, properties).await.finish().await
}

/// `knows` between persons in both ordered layouts.
async fn small(vertices: i64, edges: &[(i64, i64)]) -> SessionContext {
    let mut info = knows(2, 2, FileType::Parquet);
    info.adj_lists = [AdjListType::OrderedBySource, AdjListType::OrderedByDest]
        .map(|layout| list(layout, FileType::Parquet))
        .to_vec();
    archive(info, vertices, edges, None).await.session().await
}

/// The edges as the table has them, with their rows and twice their weights, and how to walk along them.
struct Walker {
    edges: Vec<(i64, i64, i64)>,
}

impl Walker {
    async fn of(ctx: &SessionContext) -> Self {
        let found = rows(
            ctx,
            "SELECT _src_id, _dst_id, CAST(w * 2 AS INT) FROM g.person_knows_person",
        )
        .await;
        let edges = found.iter().map(|row| {
            let values: Vec<i64> = row.split(' ').map(|value| value.parse().unwrap()).collect();
            (values[0], values[1], values[2])
        });
        Self {
            edges: edges.collect(),
        }
    }

    fn steps(&self, from: i64, way: &str) -> Vec<(i64, usize)> {
        let mut found = vec![];
        for (row, (source, destination, _)) in self.edges.iter().enumerate() {
            if way != "in" && *source == from {
                found.push((*destination, row));
            }
            if way != "out" && *destination == from && !(way == "any" && source == destination) {
                found.push((*source, row));
            }
        }
        found
    }

    fn distances(&self, start: i64, way: &str) -> BTreeMap<i64, i64> {
        let mut found = BTreeMap::from([(start, 0)]);
        let mut queue = VecDeque::from([start]);
        while let Some(at) = queue.pop_front() {
            let next = found[&at] + 1;
            for (to, _) in self.steps(at, way) {
                found.entry(to).or_insert_with(|| {
                    queue.push_back(to);
                    next
                });
            }
        }
        found
    }

    /// The least of the shortest paths, as a row of the function.
    fn path(&self, source: i64, target: i64, way: &str) -> Option<(usize, String)> {
        let back = match way {
            "out" => "in",
            "in" => "out",
            other => other,
        };
        let left = self.distances(target, back);
        let (mut vertices, mut rows) = (vec![source], vec![]);
        let mut length = *left.get(&source)?;
        while length > 0 {
            length -= 1;
            let steps = self.steps(vertices[vertices.len() - 1], way);
            let nearer = steps
                .into_iter()
                .filter(|(to, _)| left.get(to) == Some(&length));
            let (to, row) = nearer.min().unwrap();
            vertices.push(to);
            rows.push(row);
        }
        let length = rows.len();
        Some((
            length,
            format!("{source} {target} {length} {vertices:?} {rows:?}"),
        ))
    }

    /// The least cost between two vertices, times two.
    fn cost(&self, source: i64, target: i64, way: &str, most: usize) -> Option<i64> {
        let mut costs = BTreeMap::from([(source, 0)]);
        for _ in 0..most {
            let before = costs.clone();
            for (from, cost) in &before {
                for (to, row) in self.steps(*from, way) {
                    let next = cost + self.edges[row].2;
                    let known = costs.entry(to).or_insert(next);
                    *known = next.min(*known);
                }
            }
        }
        costs.get(&target).copied()
    }
}

async fn compare(ctx: &SessionContext, walker: &Walker, starts: &[i64], hops: i64) {
    let ids = |ids: &[i64]| format!("{ids:?}");
    let vertex = |id: &i64| (0..VERTICES).contains(id);
    for way in ["out", "in", "any"] {
        let degrees: Vec<String> = (0..VERTICES)
            .map(|id| format!("{id} {}", walker.steps(id, way).len()))
            .collect();
        let sql = format!("SELECT * FROM degree(g, knows, '{way}')");
        assert_eq!(rows(ctx, &sql).await, degrees, "{sql}");

        let sql = format!(
            "SELECT * FROM khop(g, knows, start => {}, hops => {hops}, direction => {way})",
            ids(starts)
        );
        let distinct: BTreeSet<i64> = starts.iter().copied().filter(vertex).collect();
        let expected = distinct.iter().flat_map(|start| {
            let near = walker.distances(*start, way).into_iter();
            let near = near.filter(|(_, distance)| *distance <= hops);
            near.map(|(id, distance)| format!("{start} {id} {distance}"))
                .collect::<Vec<_>>()
        });
        assert_eq!(
            sorted(rows(ctx, &sql).await),
            sorted(expected.collect()),
            "{sql}"
        );

        // To all vertices, and to a few.
        for targets in [(0..VERTICES).collect(), vec![3, 0]] {
            for most in [None, Some(2)] {
                let arguments = format!(
                    "g, person_knows_person, {}, {}, {way}",
                    ids(starts),
                    ids(&targets)
                );
                let bound = most.map_or(String::new(), |most| format!(", max_hops => {most}"));
                let sql = format!("SELECT * FROM shortest_path({arguments}{bound})");
                let mut expected = vec![];
                let mut costs = vec![];
                for source in &distinct {
                    for target in &targets {
                        if let Some((length, row)) = walker.path(*source, *target, way)
                            && most.is_none_or(|most| length <= most)
                        {
                            expected.push(row);
                        }
                        let bound = most.unwrap_or(9);
                        if let Some(cost) = walker.cost(*source, *target, way, bound) {
                            costs.push(format!("{source} {target} {cost}"));
                        }
                    }
                }
                assert_eq!(sorted(rows(ctx, &sql).await), sorted(expected), "{sql}");
                // What the edges of a path cost is what the path costs, and they join its vertices.
                let sql = format!("SELECT * FROM shortest_path({arguments}{bound}, weight => w)");
                let mut found = vec![];
                for row in rows(ctx, &sql).await {
                    let (ends, lists) = row.split_once(" [").unwrap();
                    let (vertices, edges) = lists.split_once("] [").unwrap();
                    let numbers = |text: &str| -> Vec<i64> {
                        let texts = text.trim_end_matches(']').split(", ");
                        texts
                            .filter(|text| !text.is_empty())
                            .map(|text| text.parse().unwrap())
                            .collect()
                    };
                    let ends: Vec<f64> =
                        ends.split(' ').map(|text| text.parse().unwrap()).collect();
                    let (vertices, edges) = (numbers(vertices), numbers(edges));
                    assert_eq!(edges.len() + 1, vertices.len(), "{row}");
                    let mut sum = 0;
                    for (step, edge) in vertices.windows(2).zip(&edges) {
                        let row = usize::try_from(*edge).unwrap();
                        assert!(
                            walker.steps(step[0], way).contains(&(step[1], row)),
                            "{sql}: {edge}"
                        );
                        sum += walker.edges[row].2;
                    }
                    assert_eq!(
                        ends[2] * 2.0,
                        f64::from(i32::try_from(sum).unwrap()),
                        "{sql}"
                    );
                    found.push(format!("{} {} {sum}", ends[0], ends[1]));
                }
                assert_eq!(sorted(found), sorted(costs), "{sql}");
            }
        }

        let sql = format!("SELECT round(sum(score), 9), count(*) FROM pagerank(g, knows, {way})");
        assert_eq!(value(ctx, &sql).await, format!("1.0 {VERTICES}"), "{sql}");
    }
    let components: Vec<String> = (0..VERTICES)
        .map(|id| {
            format!(
                "{id} {}",
                walker.distances(id, "any").keys().next().unwrap()
            )
        })
        .collect();
    assert_eq!(rows(ctx, "SELECT * FROM wcc(g, knows)").await, components);
    let joined = |a: i64, b: i64| walker.steps(a, "any").iter().any(|step| step.0 == b);
    let mut triangles = [0; 9];
    for a in 0..VERTICES {
        for b in a + 1..VERTICES {
            for c in b + 1..VERTICES {
                if joined(a, b) && joined(b, c) && joined(a, c) {
                    for id in [a, b, c] {
                        triangles[usize::try_from(id).unwrap()] += 1;
                    }
                }
            }
        }
    }
    let triangles: Vec<String> = triangles
        .iter()
        .enumerate()
        .map(|(id, n)| format!("{id} {n}"))
        .collect();
    assert_eq!(
        rows(ctx, "SELECT * FROM triangle_count(g, knows)").await,
        triangles
    );
    // Where the edges of each vertex are, in a layout that is there.
    let stored = rows(
        ctx,
        "SELECT array_to_string(layouts, ' ') FROM g WHERE name = 'person_knows_person'",
    )
    .await;
    for (way, end, layout) in [
        ("out", "_src_id", "ordered_by_source"),
        ("in", "_dst_id", "ordered_by_dest"),
    ] {
        let mut offset = 0;
        let mut expected = vec![];
        for id in 0..VERTICES {
            let degree = walker.steps(id, way).len();
            expected.push(format!("{id} {offset} {degree}"));
            offset += degree;
        }
        let sql = format!("SELECT * FROM csr(g, knows, {way})");
        assert_eq!(rows(ctx, &sql).await, expected, "{sql}");
        if stored[0].split(' ').any(|own| own == layout) {
            let table = format!("g.\"person_knows_person${layout}\"");
            let sql = format!("SELECT count(*) FROM {table} WHERE {end} = 4");
            assert_eq!(
                value(ctx, &sql).await,
                expected[4].split(' ').nth(2).unwrap()
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        max_shrink_iters: 30,
        failure_persistence: None,
        ..ProptestConfig::with_cases(6)
    })]

    #[test]
    fn functions_equal_plain_loops(
        edges in vec((0..8_i64, prop_oneof![3 => 0..8_i64, 1 => Just(3_i64)]), 0..30),
        numbers in vec(0..5_u8, 30),
        layouts in layouts(),
        chunks in (1..5_u64, 1..5_u64),
        file_type in select(vec![FileType::Parquet, FileType::Parquet, FileType::Csv]),
        starts in vec(-1..10_i64, 1..4),
        hops in 0..4_i64,
        how in select(How::all()),
    ) {
        block_on(async {
            let numbers = numbers.iter().take(edges.len());
            let properties = weights(numbers.map(|number| Some(f64::from(*number) / 2.0)));
            let info = weighted(&layouts, chunks, file_type);
            let archive = archive(info, VERTICES, &edges, properties).await;
            let ctx = archive.open(&how).await.unwrap();
            // Rows of one partition come in order.
            let one = How { partitions: 1, ..How::default() };
            let walker = Walker::of(&archive.open(&one).await.unwrap()).await;
            compare(&ctx, &walker, &starts, hops).await;
        });
    }
}

/// A graph in which every vertex has a few edges, by a plain rule.
fn many(vertices: i64, edges: i64) -> Vec<(i64, i64)> {
    let edge = |n: i64| {
        (
            (n * n + 7 * n) % vertices,
            (n * 31 + n / vertices) % vertices,
        )
    };
    (0..edges).map(edge).collect()
}

/// The ids that a search from a vertex reaches, with their distances, as rows of `khop`.
fn reached(edges: &[(i64, i64)], start: i64, hops: i64) -> Vec<String> {
    let mut lists: BTreeMap<i64, Vec<i64>> = BTreeMap::new();
    for (source, destination) in edges {
        lists.entry(*source).or_default().push(*destination);
    }
    let mut distances = BTreeMap::from([(start, 0)]);
    let mut queue = VecDeque::from([start]);
    while let Some(at) = queue.pop_front() {
        let next = distances[&at] + 1;
        if next > hops {
            continue;
        }
        for to in lists.get(&at).into_iter().flatten() {
            if !distances.contains_key(to) {
                distances.insert(*to, next);
                queue.push_back(*to);
            }
        }
    }
    let rows = distances.iter();
    rows.map(|(id, distance)| format!("{start} {id} {distance}"))
        .collect()
}

#[tokio::test]
async fn few_neighbours_are_looked_up_and_many_are_searched_in_memory() {
    let edges = many(700, 8000);
    let ctx = small(700, &edges).await;
    let ask = async |hops: i64| {
        let sql = format!("khop(g, knows, start => 5, hops => {hops})");
        let expected = sorted(reached(&edges, 5, hops));
        let found = rows(&ctx, &format!("SELECT * FROM {sql}")).await;
        assert_eq!(sorted(found), expected, "{sql}");
        let analyzed = rows(&ctx, &format!("EXPLAIN ANALYZE SELECT * FROM {sql}")).await;
        !analyzed.join("\n").contains("csr_cache_hits=0")
    };
    // One hop, and as much of three as is cheap, reads no adjacency.
    assert!(!ask(1).await);
    // From here on it is in memory: also the half of all vertices that are looked at from below.
    for hops in [3, 6, 1] {
        ask(hops).await;
    }
    rows(&ctx, "SELECT count(*) FROM csr(g, knows, direction => out)").await;
    assert!(ask(1).await);
    rows(&ctx, "SELECT count(*) FROM csr(g, knows, direction => in)").await;
    for hops in [2, 9] {
        let sql = format!("SELECT * FROM khop(g, knows, 5, {hops})");
        let expected = sorted(reached(&edges, 5, hops));
        assert_eq!(sorted(rows(&ctx, &sql).await), expected, "{sql}");
    }
}

#[tokio::test]
async fn the_shortest_path_is_the_direct_one() {
    let ctx = small(4, &[(0, 1), (0, 2), (2, 3), (3, 1)]).await;
    for _ in 0..10 {
        let sql = "SELECT length, vertex_ids, edge_ids FROM shortest_path(g, knows, 0, 1)";
        assert_eq!(rows(&ctx, sql).await, ["1 [0, 1] [0]"]);
        let sql = "SELECT length, vertex_ids FROM shortest_path(g, knows, 2, 1)";
        assert_eq!(rows(&ctx, sql).await, ["2 [2, 3, 1]"]);
    }
}

#[tokio::test]
async fn of_equal_paths_it_is_always_the_same() {
    let ctx = small(4, &[(0, 2), (0, 1), (1, 3), (2, 3)]).await;
    for _ in 0..100 {
        for targets in ["3", "[3, 2, 1, 0, 3]"] {
            let sql = format!(
                "SELECT length, vertex_ids FROM shortest_path(g, knows, 0, {targets}) WHERE target_id = 3"
            );
            assert_eq!(rows(&ctx, &sql).await, ["2 [0, 1, 3]"]);
        }
    }
}

#[tokio::test]
async fn edges_that_there_are_none_of_lead_nowhere() {
    for layouts in [
        vec![AdjListType::OrderedBySource],
        vec![AdjListType::UnorderedByDest],
    ] {
        let archive = archive(
            weighted(&layouts, (2, 2), FileType::Parquet),
            3,
            &[],
            weights([].into_iter()),
        )
        .await;
        let ctx = archive.session().await;
        for way in ["out", "in", "any"] {
            let sql = format!("SELECT * FROM degree(g, knows, {way})");
            assert_eq!(rows(&ctx, &sql).await, ["0 0", "1 0", "2 0"]);
            let sql = format!("SELECT * FROM khop(g, knows, [2, 0], 3, {way})");
            assert_eq!(sorted(rows(&ctx, &sql).await), ["0 0 0", "2 2 0"]);
            for weight in ["", ", weight => w"] {
                let sql = format!(
                    "SELECT source_id, target_id FROM shortest_path(g, knows, [2, 0], [0, 1], {way}{weight})"
                );
                assert_eq!(rows(&ctx, &sql).await, ["0 0"], "{sql}");
            }
            let sql =
                format!("SELECT count(*), min(score) = max(score) FROM pagerank(g, knows, {way})");
            assert_eq!(rows(&ctx, &sql).await, ["3 true"]);
        }
        assert_eq!(
            rows(&ctx, "SELECT * FROM wcc(g, knows)").await,
            ["0 0", "1 1", "2 2"]
        );
        let sql = "SELECT sum(triangles) FROM triangle_count(g, knows)";
        assert_eq!(value(&ctx, sql).await, "0");
    }
}

#[tokio::test]
async fn a_graph_without_vertices_has_no_rows() {
    let ctx = small(0, &[]).await;
    for call in [
        "degree(g, knows)",
        "csr(g, knows)",
        "khop(g, knows, [0, 1], 2)",
        "shortest_path(g, knows, 0, 0)",
        "pagerank(g, knows)",
        "wcc(g, knows)",
        "triangle_count(g, knows)",
    ] {
        let sql = format!("SELECT * FROM {call}");
        assert!(rows(&ctx, &sql).await.is_empty(), "{sql}");
    }
}

#[tokio::test]
async fn a_hub_between_chunks_of_other_sizes_ends_nothing() {
    for chunk in [1, 100] {
        let mut info = knows(chunk, 4, FileType::Parquet);
        info.adj_lists = [AdjListType::OrderedBySource, AdjListType::OrderedByDest]
            .map(|layout| list(layout, FileType::Parquet))
            .to_vec();
        // All edges from one vertex; the last part has none.
        let edges: Vec<(i64, i64)> = (0..40).map(|n| (2, n % 5)).collect();
        let ctx = archive(info, 5, &edges, None).await.session().await;
        let sql = "SELECT * FROM degree(g, knows)";
        assert_eq!(rows(&ctx, sql).await, ["0 0", "1 0", "2 40", "3 0", "4 0"]);
        // Eight loops, each of them once.
        let sql = "SELECT * FROM degree(g, knows, any)";
        assert_eq!(rows(&ctx, sql).await, ["0 8", "1 8", "2 40", "3 8", "4 8"]);
        let sql = "SELECT count(*) FROM khop(g, knows, 2, 1)";
        assert_eq!(value(&ctx, sql).await, "5");
    }
}

#[tokio::test]
async fn weights_that_no_path_can_have_are_errors() {
    for (weight, found) in [
        (None, "found NULL"),
        (Some(-0.5), "found -0.5"),
        (Some(f64::NAN), "found NaN"),
    ] {
        for layouts in [
            vec![AdjListType::OrderedBySource],
            vec![AdjListType::OrderedByDest],
            vec![AdjListType::UnorderedBySource],
        ] {
            let info = weighted(&layouts, (2, 2), FileType::Parquet);
            let properties = weights([Some(1.0), weight].into_iter());
            let archive = archive(info, 4, &[(0, 1), (3, 2)], properties).await;
            let ctx = archive.session().await;
            let sql = "SELECT * FROM shortest_path(g, knows, 0, 1, weight => w)";
            let message = error(&ctx, sql).await;
            let expected = format!(
                "edge 1 of person_knows_person, from 3 to 2: expected a weight 'w' of 0 or more, {found}"
            );
            assert!(message.contains(&expected), "{message}");
            // Nothing is asked of weights that are not named.
            let sql = "SELECT length FROM shortest_path(g, knows, 0, 1)";
            assert_eq!(value(&ctx, sql).await, "1");
        }
    }
}

/// Calls that need memory for each vertex.
const CALLS: [&str; 8] = [
    "degree(g, knows, any)",
    "csr(g, knows)",
    "khop(g, knows, [1, 2, 3], 9, any)",
    "shortest_path(g, knows, [1, 2], [3, 4, 5, 6, 7, 8])",
    "shortest_path(g, knows, [1, 2], [3, 4])",
    "pagerank(g, knows)",
    "wcc(g, knows)",
    "triangle_count(g, knows)",
];

#[tokio::test]
async fn memory_that_is_not_there_is_an_error() {
    let ctx = small(3000, &many(3000, 20_000)).await;
    let url = Url::parse("memory://t").unwrap();
    let store = ctx.runtime_env().object_store_registry.get_store(&url);
    let runtime = RuntimeEnvBuilder::new()
        .with_memory_pool(Arc::new(GreedyMemoryPool::new(9_000)))
        .build_arc()
        .unwrap();
    let state = SessionStateBuilder::new()
        .with_default_features()
        .with_runtime_env(runtime)
        .with_graphar()
        .build();
    let tight = SessionContext::new_with_state(state);
    tight.register_object_store(&url, store.unwrap());
    let location = format!("memory://t/{ROOT}/g.graph.yml");
    tight.register_graph("g", &location).await.unwrap();
    for call in CALLS {
        let message = error(&tight, &format!("SELECT * FROM {call}")).await;
        let said = message.contains("Resources exhausted") && message.contains("GraphFunctionExec");
        assert!(said, "{call}: {message}");
        // The session's cache may have a quarter.
        let reserved = tight.runtime_env().memory_pool.reserved();
        assert!(reserved <= 9_000 / 4, "{call}: {reserved}");
    }
}

#[tokio::test]
async fn a_call_can_be_run_again_and_dropped_before_its_end() {
    let ctx = small(3000, &many(3000, 20_000)).await;
    let pool = Arc::clone(&ctx.runtime_env().memory_pool);
    for call in CALLS {
        let sql = format!("SELECT * FROM {call}");
        // Fills the cache, which is charged as well.
        let expected = sorted(rows(&ctx, &sql).await);
        let before = pool.reserved();
        let frame = ctx.sql(&sql).await.unwrap();
        let mut plan = frame.create_physical_plan().await.unwrap();
        for polls in 0..4 {
            let mut stream = execute_stream(Arc::clone(&plan), ctx.task_ctx()).unwrap();
            for _ in 0..polls {
                let _ = futures::poll!(stream.next());
                tokio::task::yield_now().await;
            }
            drop(stream);
            plan = reset_plan_states(plan).unwrap();
            let batches = collect(Arc::clone(&plan), ctx.task_ctx()).await.unwrap();
            let found: usize = batches.iter().map(RecordBatch::num_rows).sum();
            assert_eq!(found, expected.len(), "{call}");
            plan = reset_plan_states(plan).unwrap();
        }
        drop(plan);
        // Threads let go of memory when they next look whether they are still wanted.
        let mut turns = 0;
        while pool.reserved() != before && turns < 1_000_000 {
            tokio::task::yield_now().await;
            turns += 1;
        }
        assert_eq!(pool.reserved(), before, "{call}");
        assert_eq!(sorted(rows(&ctx, &sql).await), expected, "{call}");
    }
}

#[tokio::test]
async fn damage_is_told_with_its_file() {
    let mut info = knows(4, 64, FileType::Parquet);
    info.adj_lists = vec![list(AdjListType::OrderedBySource, FileType::Parquet)];
    let archive = archive(info, 4, &[(0, 1), (1, 2), (1, 3), (3, 1)], None).await;
    let path = "edge/person_knows_person/ordered_by_source/adj_list/part0/chunk0";
    archive.put(path, "no edges").await;
    let ctx = archive.session().await;
    for call in CALLS {
        let message = error(&ctx, &format!("SELECT * FROM {call}")).await;
        assert!(
            message.contains("adj_list/part0/chunk0"),
            "{call}: {message}"
        );
    }
    // Offsets are enough for this one.
    let sql = "SELECT * FROM degree(g, knows, out)";
    assert_eq!(rows(&ctx, sql).await, ["0 1", "1 2", "2 0", "3 1"]);
}

#[tokio::test]
async fn a_limit_of_requests_ends_a_call() {
    let ctx = small(6, &[(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)]).await;
    rows(&ctx, "SET graphar.max_requests = 2").await;
    for call in CALLS {
        let message = error(&ctx, &format!("SELECT * FROM {call}")).await;
        assert!(message.contains("max_requests"), "{call}: {message}");
    }
}

#[tokio::test]
async fn parameters_stand_for_ids() {
    let ctx = small(4, &[(0, 1), (1, 2), (2, 3)]).await;
    rows(
        &ctx,
        "PREPARE near(BIGINT, INT) AS SELECT vertex_id, $2 FROM khop(g, knows, $1, 1) ORDER BY 1",
    )
    .await;
    assert_eq!(rows(&ctx, "EXECUTE near(1, 7)").await, ["1 7", "2 7"]);
    assert_eq!(rows(&ctx, "EXECUTE near(2, 7)").await, ["2 7", "3 7"]);
    let frame = ctx
        .sql("SELECT length FROM shortest_path(g, knows, source => $s, target => $t)")
        .await
        .unwrap();
    let values = vec![("s", 0_i64.into()), ("t", 3_i64.into())];
    let found = frame.with_param_values(values).unwrap().collect().await;
    assert_eq!(found.unwrap()[0].num_rows(), 1);
}

#[tokio::test]
async fn sessions_that_were_built_without_graphs_get_the_functions() {
    let ctx = small(4, &[(0, 1), (1, 2), (2, 3)]).await;
    let url = Url::parse("memory://t").unwrap();
    let store = ctx.runtime_env().object_store_registry.get_store(&url);
    let plain = SessionContext::new();
    plain.register_object_store(&url, store.unwrap());
    let id = plain.session_id();
    let location = format!("memory://t/{ROOT}/g.graph.yml");
    for name in ["g", "h", "g"] {
        plain.register_graph(name, &location).await.unwrap();
    }
    for graph in ["g", "h"] {
        let sql = format!("SELECT vertex_id FROM khop({graph}, knows, 1, 9) ORDER BY 1");
        assert_eq!(rows(&plain, &sql).await, ["1", "2", "3"]);
    }
    assert_eq!(plain.state().relation_planners().len(), 1);
    assert_eq!(plain.state().session_id(), id);
    // Another session with the settings of that one has no graphs, but can get them.
    let copied = SessionContext::new_with_config(plain.copied_config());
    copied.register_object_store(
        &url,
        ctx.runtime_env()
            .object_store_registry
            .get_store(&url)
            .unwrap(),
    );
    copied.register_graph("g", &location).await.unwrap();
    assert_eq!(
        value(&copied, "SELECT count(*) FROM wcc(g, knows)").await,
        "4"
    );
}

#[tokio::test]
async fn edges_without_a_direction_are_followed_either_way() {
    let mut info = knows(2, 2, FileType::Parquet);
    info.directed = Some(false);
    let ctx = archive(info, 4, &[(0, 1), (1, 2)], None)
        .await
        .session()
        .await;
    let sql = "SELECT vertex_id, distance FROM khop(g, knows, 2, 9)";
    assert_eq!(sorted(rows(&ctx, sql).await), ["0 2", "1 1", "2 0"]);
    let sql = "SELECT * FROM degree(g, knows)";
    assert_eq!(rows(&ctx, sql).await, ["0 1", "1 2", "2 1", "3 0"]);
    let sql = "SELECT vertex_id FROM khop(g, knows, 2, 9, out)";
    assert_eq!(rows(&ctx, sql).await, ["2"]);
    // Where they lie is a question of one direction.
    let sql = "SELECT * FROM csr(g, knows)";
    assert_eq!(rows(&ctx, sql).await, ["0 0 1", "1 1 1", "2 2 0", "3 2 0"]);
}

#[tokio::test]
async fn a_label_of_several_edge_tables_does_not_do() {
    let pets = batch(vec![("id", ints([7, 8]))]);
    let pet = VertexInfo {
        vertex_type: "pet".to_owned(),
        ..person(2, FileType::Parquet)
    };
    let pet_knows = EdgeInfo {
        dst_type: "pet".to_owned(),
        ..knows(2, 2, FileType::Parquet)
    };
    let fixture = Fixture::persons(3, 2, FileType::Parquet).await;
    let fixture = fixture.vertices(pet, &pets).await;
    let fixture = fixture
        .edges(knows(2, 2, FileType::Parquet), &[(0, 1)], None)
        .await;
    let archive = fixture
        .edges(pet_knows, &[(2, 1)], None)
        .await
        .finish()
        .await;
    let ctx = archive.session().await;
    let message = error(&ctx, "SELECT * FROM degree(g, knows)").await;
    let expected = "several edge tables have the label 'knows'; write one of person_knows_person, person_knows_pet";
    assert!(message.contains(expected), "{message}");
    let sql = "SELECT * FROM khop(g, person_knows_pet, [0, 1, 2], 1)";
    assert_eq!(rows(&ctx, sql).await, ["2 1 1"]);
    let sql = "SELECT * FROM degree(g, person_knows_pet, in)";
    assert_eq!(rows(&ctx, sql).await, ["0 0", "1 1"]);
}
