//! Counts over joins along edges: with the rule, without it, and by nested loops, on random graphs and patterns.

use std::fmt::Write;
use std::sync::Arc;

use datafusion::arrow::record_batch::RecordBatch;
use datafusion::execution::SessionStateBuilder;
use datafusion::execution::memory_pool::GreedyMemoryPool;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::physical_plan::execution_plan::reset_plan_states;
use datafusion::physical_plan::{collect, execute_stream};
use datafusion::prelude::SessionContext;
use datafusion_graphar::format::{AdjListType, FileType};
use datafusion_graphar::session::{SessionContextExt, SessionStateBuilderExt};
use futures::StreamExt;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use url::Url;

use crate::fixture::*;
use crate::pushdown::{Order, Sides, block_on};
use crate::random_graph::*;
use crate::random_query::*;

/// An edge from a place that is there to a new one.
#[derive(Debug, Clone)]
pub struct Hop {
    /// Number of the place, modulo how many there are.
    from: usize,
    /// Whether that place is the source.
    forward: bool,
    table: String,
    condition: Option<String>,
}

/// A relation that is joined with a place.
#[derive(Debug, Clone)]
pub struct Vertex {
    place: usize,
    condition: Option<String>,
    /// Whether it holds ids several times, and ids that no vertex has.
    values: bool,
}

/// A tree of joins.
#[derive(Debug, Clone)]
pub struct Pattern {
    pub hops: Vec<Hop>,
    pub vertices: Vec<Vertex>,
    /// Whether joins are written from the last relation to the first.
    pub reversed: bool,
}

pub fn pattern() -> impl Strategy<Value = Pattern> {
    let hop = (
        0..5_usize,
        any::<bool>(),
        edge_table(),
        option::weighted(0.3, condition(KNOWS)),
    );
    let hop = hop.prop_map(|(from, forward, table, condition)| Hop {
        from,
        forward,
        table,
        condition,
    });
    let vertex = (
        0..5_usize,
        option::of(condition(PERSON)),
        prop::bool::weighted(0.2),
    );
    let vertex = vertex.prop_map(|(place, condition, values)| Vertex {
        place,
        condition,
        values,
    });
    (vec(hop, 1..4), vec(vertex, 0..3), any::<bool>()).prop_map(|(hops, vertices, reversed)| {
        Pattern {
            hops,
            vertices,
            reversed,
        }
    })
}

impl Pattern {
    /// Relations, and what joins each with those before it.
    fn relations(&self) -> Vec<(String, Option<String>)> {
        // A column for each place.
        let mut places = vec!["e0._src_id".to_owned()];
        let mut relations = vec![];
        for (number, hop) in self.hops.iter().enumerate() {
            let (near, far) = match hop.forward {
                true => ("_src_id", "_dst_id"),
                false => ("_dst_id", "_src_id"),
            };
            let table = match &hop.condition {
                Some(condition) => format!("(SELECT * FROM {} WHERE {condition})", hop.table),
                None => hop.table.clone(),
            };
            let on = match number {
                0 => {
                    places = vec![format!("e0.{near}")];
                    None
                }
                _ => Some(format!(
                    "e{number}.{near} = {}",
                    places[hop.from % places.len()]
                )),
            };
            places.push(format!("e{number}.{far}"));
            relations.push((format!("{table} e{number}"), on));
        }
        for (number, vertex) in self.vertices.iter().enumerate() {
            let place = &places[vertex.place % places.len()];
            relations.push(if vertex.values {
                let on = format!("p{number}.age = {place}");
                (
                    format!("(SELECT age, name FROM g.person) p{number}"),
                    Some(on),
                )
            } else {
                let on = format!("p{number}._vertex_id = {place}");
                let table = match &vertex.condition {
                    Some(condition) => format!("(SELECT * FROM g.person WHERE {condition})"),
                    None => "g.person".to_owned(),
                };
                (format!("{table} p{number}"), Some(on))
            });
        }
        relations
    }

    pub fn from(&self) -> String {
        let relations = self.relations();
        if self.reversed {
            let tables: Vec<&str> = relations
                .iter()
                .rev()
                .map(|(table, _)| table.as_str())
                .collect();
            let on: Vec<&str> = relations
                .iter()
                .filter_map(|(_, on)| on.as_deref())
                .collect();
            let on = match on.is_empty() {
                true => String::new(),
                false => format!(" WHERE {}", on.join(" AND ")),
            };
            return format!("FROM {}{on}", tables.join(", "));
        }
        let mut from = String::new();
        for (table, on) in relations {
            match on {
                Some(on) => write!(from, " JOIN {table} ON {on}"),
                None => write!(from, "FROM {table}"),
            }
            .unwrap();
        }
        from
    }

    /// What can be asked of it.
    fn queries(&self) -> Vec<String> {
        let from = self.from();
        let last = self.hops.len() - 1;
        let mut queries = vec![
            format!("SELECT count(*) {from}"),
            format!("SELECT count(1) AS n, count(*) + 1 AS m {from} HAVING count(*) > 2"),
            format!("SELECT e0._src_id, count(*) {from} GROUP BY e0._src_id"),
            format!("SELECT e{last}._dst_id AS d, count(*) AS n {from} GROUP BY e{last}._dst_id"),
        ];
        if !self.vertices.is_empty() {
            queries.extend([
                format!("SELECT p0.name, count(*) {from} GROUP BY p0.name"),
                format!("SELECT p0.age, p0.name, count(*) AS n {from} GROUP BY p0.name, p0.age HAVING count(*) > 1"),
                format!("SELECT max(n) FROM (SELECT p0.name, count(*) AS n {from} GROUP BY p0.name)"),
            ]);
        }
        queries
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        max_shrink_iters: 30,
        failure_persistence: None,
        ..ProptestConfig::with_cases(20)
    })]

    #[test]
    fn counts_equal_those_of_the_joins(graph in graph(), patterns in vec(pattern(), 2)) {
        block_on(async {
            let sides = Sides::of(&graph).await;
            for pattern in &patterns {
                for sql in pattern.queries() {
                    sides.compare(&sql, Order::Any).await;
                }
            }
        });
    }

    #[test]
    fn counts_of_chains_equal_nested_loops(
        edges in vec((0..6_i64, 0..6_i64), 0..25),
        hops in vec(any::<bool>(), 1..5),
        layouts in select(vec![
            vec![AdjListType::OrderedBySource],
            vec![AdjListType::OrderedByDest],
            vec![AdjListType::OrderedBySource, AdjListType::OrderedByDest],
            vec![AdjListType::UnorderedBySource, AdjListType::OrderedByDest],
        ]),
        chunks in (1..4_u64, 1..4_u64),
    ) {
        block_on(async {
            let mut info = knows(chunks.0, chunks.1, FileType::Parquet);
            info.adj_lists = layouts.iter().map(|l| list(*l, FileType::Parquet)).collect();
            let fixture = Fixture::persons(6, chunks.0, FileType::Parquet).await;
            let archive = fixture.edges(info, &edges, None).await.finish().await;
            let ctx = archive.session().await;
            let (mut from, mut end) = (String::new(), String::new());
            for (number, forward) in hops.iter().enumerate() {
                let (near, far) = if *forward { ("_src_id", "_dst_id") } else { ("_dst_id", "_src_id") };
                match number {
                    0 => from.push_str("FROM g.person_knows_person e0"),
                    _ => write!(from, " JOIN g.person_knows_person e{number} ON e{number}.{near} = {end}").unwrap(),
                }
                end = format!("e{number}.{far}");
            }
            // Each walk on its own.
            let mut ends: Vec<i64> = (0..6).collect();
            for forward in &hops {
                let steps = |at: &i64| -> Vec<i64> {
                    let along = edges.iter().filter_map(|(s, d)| match forward {
                        true => (s == at).then_some(*d),
                        false => (d == at).then_some(*s),
                    });
                    along.collect()
                };
                ends = ends.iter().flat_map(steps).collect();
            }
            let sql = format!("SELECT count(*) {from}");
            assert_eq!(value(&ctx, &sql).await, ends.len().to_string(), "{sql}");
            if hops.len() > 1 {
                let plan = rows(&ctx, &format!("EXPLAIN {sql}")).await.join("\n");
                assert!(plan.contains("CountWalksExec: output=total"), "{plan}");
            }
        });
    }
}

/// `knows` with these edges between six persons, in both ordered layouts.
pub async fn small(edges: &[(i64, i64)]) -> SessionContext {
    let mut info = knows(2, 2, FileType::Parquet);
    info.adj_lists = [AdjListType::OrderedBySource, AdjListType::OrderedByDest]
        .map(|layout| list(layout, FileType::Parquet))
        .to_vec();
    let fixture = Fixture::persons(6, 2, FileType::Parquet).await;
    let archive = fixture.edges(info, edges, None).await.finish().await;
    archive.session().await
}

pub async fn plan_of(ctx: &SessionContext, sql: &str) -> String {
    rows(ctx, &format!("EXPLAIN {sql}")).await.join("\n")
}

const KNOWS_TWICE: &str =
    "FROM g.person_knows_person a JOIN g.person_knows_person b ON b._src_id = a._dst_id";

#[tokio::test]
async fn two_hops_are_counted_from_offsets_alone() {
    let ctx = small(&[(0, 1), (1, 2), (1, 3), (3, 1)]).await;
    let sql = format!("SELECT count(*) {KNOWS_TWICE}");
    let plan = plan_of(&ctx, &sql).await;
    assert!(plan.contains("degree person_knows_person"), "{plan}");
    assert!(!plan.contains("gather"), "{plan}");
    assert_eq!(value(&ctx, &sql).await, "5");
}

#[tokio::test]
async fn what_the_rule_cannot_count_stays_a_join() {
    let ctx = small(&[(0, 1), (1, 2), (1, 3), (3, 1)]).await;
    for sql in [
        // More than a number of rows.
        format!("SELECT count(DISTINCT b._dst_id) {KNOWS_TWICE}"),
        format!("SELECT sum(b._dst_id) {KNOWS_TWICE}"),
        format!("SELECT count(*) FILTER (WHERE a._src_id > 1) {KNOWS_TWICE}"),
        // Groups from two relations.
        format!("SELECT a._src_id, b._dst_id, count(*) {KNOWS_TWICE} GROUP BY a._src_id, b._dst_id"),
        // A condition across relations.
        format!("SELECT count(*) {KNOWS_TWICE} WHERE a._src_id < b._dst_id"),
        // No tree.
        format!("SELECT count(*) {KNOWS_TWICE} AND b._dst_id = a._src_id"),
        "SELECT count(*) FROM g.person_knows_person a JOIN g.person p ON a._src_id = p._vertex_id AND a._dst_id = p._vertex_id".to_owned(),
        // Rows without a partner.
        "SELECT count(*) FROM g.person_knows_person a LEFT JOIN g.person_knows_person b ON b._src_id = a._dst_id".to_owned(),
        "SELECT count(*) FROM g.person_knows_person a, g.person_knows_person b".to_owned(),
        // A limited relation.
        "SELECT count(*) FROM (SELECT * FROM g.person_knows_person LIMIT 2) a JOIN g.person_knows_person b ON b._src_id = a._dst_id AND b._dst_id = a._src_id".to_owned(),
    ] {
        let plan = plan_of(&ctx, &sql).await;
        assert!(!plan.contains("CountWalks"), "{sql}: {plan}");
        let off = small(&[(0, 1), (1, 2), (1, 3), (3, 1)]).await;
        rows(&off, "SET graphar.rule_count_propagation = false").await;
        assert_eq!(
            sorted(rows(&ctx, &sql).await),
            sorted(rows(&off, &sql).await),
            "{sql}"
        );
    }
}

#[tokio::test]
async fn more_walks_than_a_bigint_holds_are_an_error() {
    // Two vertices with 256 edges each to the other: 256^k walks of k edges from either.
    let edges: Vec<_> = (0..256).flat_map(|_| [(0, 1), (1, 0)]).collect();
    let ctx = small(&edges).await;
    let chain = |hops: usize| {
        let joins = (1..hops).map(|n| {
            format!(
                " JOIN g.person_knows_person e{n} ON e{n}._src_id = e{}._dst_id",
                n - 1
            )
        });
        format!("FROM g.person_knows_person e0{}", joins.collect::<String>())
    };
    let count = format!("SELECT count(*) {}", chain(7));
    assert_eq!(
        value(&ctx, &count).await,
        (2_i64 * 256_i64.pow(7)).to_string()
    );
    for hops in [8, 9, 12] {
        let count = format!("SELECT count(*) {}", chain(hops));
        let message = error(&ctx, &count).await;
        assert!(
            message.contains("the number of walks is larger than"),
            "{message}"
        );
    }
    // A sum over groups that is too large, of numbers that are not.
    let grouped = |times: usize| {
        format!(
            "SELECT p.id, count(*) {} JOIN (SELECT value % 1 AS id FROM range(0, {times})) p
             ON p.id = e0._src_id GROUP BY p.id",
            chain(7)
        )
    };
    let few = 100 * 256_i64.pow(7);
    assert_eq!(value(&ctx, &grouped(100)).await, format!("0 {few}"));
    let message = error(&ctx, &grouped(200)).await;
    assert!(message.contains("14411518807585587200"), "{message}");
    // Nothing is asked of vertices with too many.
    let none = format!(
        "SELECT count(*) {} JOIN g.person p ON p._vertex_id = e0._src_id WHERE p.id > 1001",
        chain(12)
    );
    assert_eq!(value(&ctx, &none).await, "0");
}

#[tokio::test]
async fn without_memory_for_adjacency_sums_come_from_the_files() {
    let edges: Vec<(i64, i64)> = (0..20_000).map(|n| (n % 6, n * 7 % 6)).collect();
    let ctx = small(&edges).await;
    let sql = format!(
        "SELECT count(*) {KNOWS_TWICE} JOIN g.person_knows_person c ON c._src_id = b._dst_id
         JOIN g.person p ON p._vertex_id = c._dst_id WHERE p.id > 1001"
    );
    let expected = value(&ctx, &sql).await;
    let url = Url::parse("memory://t").unwrap();
    let store = ctx.runtime_env().object_store_registry.get_store(&url);
    let runtime = RuntimeEnvBuilder::new()
        .with_memory_pool(Arc::new(GreedyMemoryPool::new(10_000)))
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
    assert_eq!(value(&tight, &sql).await, expected);
}

#[tokio::test]
async fn a_plan_can_be_run_again_and_dropped_before_its_end() {
    let edges: Vec<(i64, i64)> = (0..600).map(|n| (n % 6, n * 5 % 6)).collect();
    let ctx = small(&edges).await;
    let sql = format!(
        "SELECT p.id, count(*) {KNOWS_TWICE} JOIN g.person p ON p._vertex_id = a._src_id GROUP BY p.id"
    );
    let expected = sorted(rows(&ctx, &sql).await);
    let frame = ctx.sql(&sql).await.unwrap();
    let mut plan = frame.create_physical_plan().await.unwrap();
    let pool = Arc::clone(&ctx.runtime_env().memory_pool);
    let before = pool.reserved();
    for _ in 0..2 {
        let mut stream = execute_stream(Arc::clone(&plan), ctx.task_ctx()).unwrap();
        // Its first poll starts the steps.
        let _ = futures::poll!(stream.next());
        drop(stream);
        plan = reset_plan_states(plan).unwrap();
        let batches = collect(Arc::clone(&plan), ctx.task_ctx()).await.unwrap();
        let found: usize = batches.iter().map(RecordBatch::num_rows).sum();
        assert_eq!(found, expected.len());
        plan = reset_plan_states(plan).unwrap();
    }
    drop(plan);
    // Weights go with the streams. Tasks that were stopped let go of theirs when they are next looked at.
    let mut turns = 0;
    while pool.reserved() != before && turns < 100_000 {
        tokio::task::yield_now().await;
        turns += 1;
    }
    assert_eq!(pool.reserved(), before);
    assert_eq!(sorted(rows(&ctx, &sql).await), expected);
}

#[tokio::test]
async fn adjacency_in_the_cache_goes_with_its_files() {
    let mut info = knows(2, 2, FileType::Parquet);
    info.adj_lists = vec![list(AdjListType::OrderedBySource, FileType::Parquet)];
    let write = async |edges: &[(i64, i64)]| {
        let fixture = Fixture::persons(6, 2, FileType::Parquet).await;
        fixture
            .edges(info.clone(), edges, None)
            .await
            .finish()
            .await
    };
    let archive = write(&[(0, 1), (1, 2), (2, 3), (3, 4)]).await;
    let ctx = archive.session().await;
    let sql = format!(
        "SELECT count(*) {KNOWS_TWICE} JOIN g.person_knows_person c ON c._src_id = b._dst_id"
    );
    assert_eq!(value(&ctx, &sql).await, "2");
    let analyzed = rows(&ctx, &format!("EXPLAIN ANALYZE {sql}"))
        .await
        .join("\n");
    assert!(
        analyzed.contains("csr_cache_hits=1") || analyzed.contains("csr_cache_hits=2"),
        "{analyzed}"
    );
    // The same counts for each part, other neighbours.
    let other = write(&[(0, 0), (1, 0), (2, 0), (3, 0)]).await;
    for path in other.paths().await {
        archive.put(&path, other.get(&path).await).await;
    }
    assert_eq!(value(&ctx, &sql).await, "4");
}

#[tokio::test]
async fn offsets_of_other_edges_are_an_error() {
    let mut info = knows(4, 64, FileType::Parquet);
    info.adj_lists = vec![list(AdjListType::OrderedBySource, FileType::Parquet)];
    let write = async |edges: &[(i64, i64)]| {
        let fixture = Fixture::persons(4, 4, FileType::Parquet).await;
        fixture
            .edges(info.clone(), edges, None)
            .await
            .finish()
            .await
    };
    let archive = write(&[(0, 1), (1, 2), (1, 3), (3, 1)]).await;
    let other = write(&[(0, 1), (0, 2), (0, 3), (2, 1)]).await;
    let path = "edge/person_knows_person/ordered_by_source/offset/chunk0";
    archive.put(path, other.get(path).await).await;
    let ctx = archive.session().await;
    let sql = format!(
        "SELECT count(*) {KNOWS_TWICE} JOIN g.person_knows_person c ON c._src_id = b._dst_id"
    );
    let message = error(&ctx, &sql).await;
    assert!(
        message.contains("adj_list/part0/chunk0") && message.contains("offset chunk"),
        "{message}"
    );
}

#[tokio::test]
async fn a_limit_of_requests_ends_a_count() {
    let ctx = small(&[(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)]).await;
    let sql = format!(
        "SELECT count(*) {KNOWS_TWICE} JOIN g.person_knows_person c ON c._src_id = b._dst_id"
    );
    rows(&ctx, "SET graphar.max_requests = 2").await;
    let message = error(&ctx, &sql).await;
    assert!(message.contains("max_requests"), "{message}");
    rows(&ctx, "SET graphar.max_requests = 0").await;
    assert_eq!(value(&ctx, &sql).await, "3");
}

/// DataFusion 55.2 fits such filters to a node by the names of its columns, of which the first one is taken.
#[tokio::test]
async fn filters_of_joins_are_not_handed_down_past_columns_of_one_name() {
    let ctx = small(&[(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)]).await;
    rows(&ctx, "SET graphar.expand_strategy = 'hash_join'").await;
    let twice = "SELECT a._src_id, b._dst_id FROM g.person_knows_person a
                 JOIN g.person_knows_person b ON b._src_id = a._dst_id
                 JOIN g.person p ON p._vertex_id = b._src_id WHERE p.id > 1001";
    let plan = plan_of(&ctx, twice).await;
    assert!(!plan.contains("DynamicFilter"), "{plan}");
    assert_eq!(sorted(rows(&ctx, twice).await), ["1 3", "2 4", "3 5"]);
    let once = "SELECT k._dst_id FROM g.person_knows_person k
                JOIN g.person p ON p._vertex_id = k._src_id WHERE p.id > 1003";
    let plan = plan_of(&ctx, once).await;
    assert!(plan.contains("DynamicFilter"), "{plan}");
    assert_eq!(sorted(rows(&ctx, once).await), ["5"]);
}
