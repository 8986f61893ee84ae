//! Joins that are followed by offsets: with the rules, without them, and by copies in memory, on random graphs and patterns.

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
use datafusion_graphar::graph::algorithms::Way;
use datafusion_graphar::session::{GraphExt, SessionContextExt, SessionStateBuilderExt};
use datafusion_graphar::table::GraphTable;
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
use crate::walks::{Pattern, pattern, plan_of, small};

/// What joins of a pattern have to fulfil besides.
#[derive(Debug, Clone, Copy)]
enum Across {
    /// The end of the last edge is the start of the first.
    Cycle,
    /// The same of its other end.
    Back,
    Less,
    Weights,
    Either,
}

impl Across {
    const ALL: [Self; 5] = [
        Self::Cycle,
        Self::Back,
        Self::Less,
        Self::Weights,
        Self::Either,
    ];

    fn sql(self, last: usize) -> String {
        match self {
            Self::Cycle => format!("e{last}._dst_id = e0._src_id"),
            Self::Back => format!("e{last}._src_id = e0._dst_id"),
            Self::Less => format!("e0._src_id < e{last}._dst_id"),
            Self::Weights => format!("e{last}.w >= e0.w"),
            Self::Either => format!("(e0._dst_id = e{last}._dst_id OR e{last}.x > 3)"),
        }
    }
}

fn queries(pattern: &Pattern, across: Option<Across>) -> Vec<String> {
    let mut from = pattern.from();
    let last = pattern.hops.len() - 1;
    if let Some(across) = across {
        let word = if from.contains(" WHERE ") {
            "AND"
        } else {
            "WHERE"
        };
        // The pattern's own WHERE is at its end, or inside parentheses.
        let word = if pattern.reversed { word } else { "WHERE" };
        write!(from, " {word} {}", across.sql(last)).unwrap();
    }
    let mut queries = vec![
        format!("SELECT e0._src_id, e{last}._dst_id, e{last}.w {from}"),
        format!("SELECT e{last}._src_id AS s {from}"),
        format!("SELECT DISTINCT e{last}._dst_id {from}"),
        format!("SELECT sum(e{last}._dst_id), max(e0.t), min(e{last}.x) {from}"),
        format!("SELECT count(*) FROM (SELECT e0._src_id {from} LIMIT 3)"),
    ];
    if !pattern.vertices.is_empty() {
        let more = pattern.vertices.len() - 1;
        queries.push(format!("SELECT e0._dst_id, p0.name, p{more}.age {from}"));
        queries.push(format!(
            "SELECT p0.name, e{last}._dst_id, count(*) {from} GROUP BY p0.name, e{last}._dst_id"
        ));
    }
    queries
}

/// Joins that keep or test the rows of their left side.
fn outer() -> impl Strategy<Value = Vec<String>> {
    let left = prop_oneof![
        condition(PERSON).prop_map(|condition| {
            format!("(SELECT _vertex_id AS id, name FROM g.person WHERE {condition})")
        }),
        Just("(SELECT age AS id, name FROM g.person)".to_owned()),
        few_ids().prop_map(|ids| {
            format!("(SELECT column1 AS id, 'x' AS name FROM (VALUES {ids}, (NULL)))")
        }),
        condition(KNOWS).prop_map(|condition| {
            format!(
                "(SELECT _dst_id AS id, t AS name FROM g.person_knows_person WHERE {condition})"
            )
        }),
    ];
    let edges = (
        edge_table(),
        select(vec!["_src_id", "_dst_id"]),
        option::of(condition(KNOWS)),
        Just("r.w, r.u, r._src_id"),
    );
    let vertices = (
        Just("g.person".to_owned()),
        Just("_vertex_id"),
        option::of(condition(PERSON)),
        Just("r.name, r.age"),
    );
    let right = prop_oneof![3 => edges, 1 => vertices];
    (left, right).prop_map(|(left, (table, id, condition, columns))| {
        let condition = condition.map_or(String::new(), |condition| format!(" WHERE {condition}"));
        let right = format!("(SELECT * FROM {table}{condition}) r");
        let tested = format!("(SELECT 1 FROM {right} WHERE r.{id} = l.id)");
        let joined = format!("{left} l LEFT JOIN {right} ON r.{id} = l.id");
        vec![
            format!("SELECT l.id, l.name, {columns} FROM {joined}"),
            format!("SELECT count(*), count(r.{id}) FROM {joined}"),
            format!("SELECT l.name FROM {left} l WHERE EXISTS {tested}"),
            format!("SELECT l.id, l.name FROM {left} l WHERE NOT EXISTS {tested}"),
            format!("SELECT l.name FROM {left} l WHERE l.id IN (SELECT r.{id} FROM {right})"),
            format!("SELECT l.name FROM {left} l WHERE l.id NOT IN (SELECT r.{id} FROM {right})"),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        max_shrink_iters: 30,
        failure_persistence: None,
        ..ProptestConfig::with_cases(10)
    })]

    #[test]
    fn rows_equal_those_of_the_joins(
        graph in graph(),
        patterns in vec((pattern(), option::weighted(0.6, select(Across::ALL.to_vec()))), 2),
        strategies in vec(select(vec!["auto", "offsets", "csr"]), 2),
    ) {
        block_on(async {
            let sides = Sides::of(&graph).await;
            for ((pattern, across), strategy) in patterns.iter().zip(strategies) {
                for ctx in sides.all() {
                    rows(ctx, &format!("SET graphar.expand_strategy = '{strategy}'")).await;
                }
                for sql in queries(pattern, *across) {
                    sides.compare(&sql, Order::Any).await;
                }
            }
        });
    }

    #[test]
    fn rows_that_are_kept_or_tested_equal_those_of_the_joins(
        graph in graph(),
        questions in vec(outer(), 4),
        strategies in vec(select(vec!["auto", "offsets", "csr"]), 4),
    ) {
        block_on(async {
            let sides = Sides::of(&graph).await;
            for (queries, strategy) in questions.iter().zip(strategies) {
                for ctx in sides.all() {
                    rows(ctx, &format!("SET graphar.expand_strategy = '{strategy}'")).await;
                }
                for sql in queries {
                    sides.compare(sql, Order::Any).await;
                }
            }
        });
    }
}

/// Edges between six persons, many of them parallel, one a self-loop, and a hub.
fn many() -> Vec<(i64, i64)> {
    let hub = (0..90).map(|n| (2, n % 6));
    (0..50).map(|n| (n % 6, n * 7 % 5)).chain(hub).collect()
}

const TWO_HOPS: &str = "SELECT p.id, b._dst_id, q.id FROM g.person p
    JOIN g.person_knows_person a ON a._src_id = p._vertex_id
    JOIN g.person_knows_person b ON b._src_id = a._dst_id
    JOIN g.person q ON q._vertex_id = b._dst_id";

#[tokio::test]
async fn strategies_give_the_same_rows() {
    let ctx = small(&many()).await;
    let mut answers = vec![];
    for strategy in ["auto", "offsets", "csr", "hash_join"] {
        rows(&ctx, &format!("SET graphar.expand_strategy = '{strategy}'")).await;
        let plan = plan_of(&ctx, TWO_HOPS).await;
        assert_eq!(
            plan.contains("ExpandExec"),
            strategy != "hash_join",
            "{plan}"
        );
        assert_eq!(
            plan.contains("VertexLookupExec"),
            strategy != "hash_join",
            "{plan}"
        );
        for size in [7, 8192] {
            rows(
                &ctx,
                &format!("SET datafusion.execution.batch_size = {size}"),
            )
            .await;
            answers.push(sorted(rows(&ctx, TWO_HOPS).await));
        }
    }
    assert!(answers[0].len() > 1_000);
    assert!(answers.iter().all(|answer| *answer == answers[0]));
    let message = error(&ctx, "SET graphar.expand_strategy = 'fast'").await;
    assert!(
        message.contains("auto, offsets, csr, hash_join"),
        "{message}"
    );
}

#[tokio::test]
async fn a_hub_does_not_make_a_large_batch() {
    let ctx = small(&many()).await;
    let sql = "SELECT a._src_id, b._dst_id FROM g.person_knows_person a
               JOIN g.person_knows_person b ON b._src_id = a._dst_id";
    rows(&ctx, "SET datafusion.execution.batch_size = 7").await;
    let batches = ctx.sql(sql).await.unwrap().collect().await.unwrap();
    assert!(batches.iter().all(|batch| batch.num_rows() <= 7));
}

#[tokio::test]
async fn ids_that_are_null_repeated_or_of_no_vertex_have_no_rows() {
    let ctx = small(&[(0, 1), (0, 1), (1, 2), (5, 5)]).await;
    let sql = "SELECT v.n, k._dst_id FROM (VALUES (1, 0), (2, NULL), (3, 5), (4, 6), (5, -1), (6, 0), (7, 3)) v(n, id)
               JOIN g.person_knows_person k ON k._src_id = v.id";
    for strategy in ["auto", "offsets", "csr"] {
        rows(&ctx, &format!("SET graphar.expand_strategy = '{strategy}'")).await;
        let plan = plan_of(&ctx, sql).await;
        assert!(plan.contains("ExpandExec"), "{plan}");
        assert_eq!(
            sorted(rows(&ctx, sql).await),
            ["1 1", "1 1", "3 5", "6 1", "6 1"]
        );
    }
}

#[tokio::test]
async fn triangles_are_closed_by_looking_for_the_last_edge() {
    // 0-1-2-0, its last edge twice, and a self-loop, which is a triangle with itself.
    let ctx = small(&[(0, 1), (1, 2), (2, 0), (2, 0), (3, 3), (3, 0)]).await;
    let sql = "SELECT a._src_id, b._src_id, c._src_id FROM g.person_knows_person a
               JOIN g.person_knows_person b ON b._src_id = a._dst_id
               JOIN g.person_knows_person c ON c._src_id = b._dst_id AND c._dst_id = a._src_id";
    let expected = [
        "0 1 2", "0 1 2", "1 2 0", "1 2 0", "2 0 1", "2 0 1", "3 3 3",
    ];
    for strategy in ["auto", "offsets", "csr", "hash_join"] {
        rows(&ctx, &format!("SET graphar.expand_strategy = '{strategy}'")).await;
        assert_eq!(sorted(rows(&ctx, sql).await), expected, "{strategy}");
    }
    rows(&ctx, "SET graphar.expand_strategy = 'auto'").await;
    let plan = plan_of(&ctx, sql).await;
    assert!(plan.contains("ExpandIntoExec"), "{plan}");
    rows(&ctx, "SET graphar.rule_close_cycle = false").await;
    let plan = plan_of(&ctx, sql).await;
    assert!(!plan.contains("ExpandIntoExec"), "{plan}");
    assert_eq!(sorted(rows(&ctx, sql).await), expected);
}

#[tokio::test]
async fn vertices_of_which_nothing_is_asked_are_left_out() {
    let ctx = small(&[(0, 1), (1, 2), (1, 3)]).await;
    let sql = "SELECT p._vertex_id, q._vertex_id FROM g.person p
               JOIN g.person_knows_person k ON k._src_id = p._vertex_id
               JOIN g.person q ON q._vertex_id = k._dst_id";
    let plan = plan_of(&ctx, sql).await;
    assert!(!plan.contains("Lookup") && !plan.contains("Join"), "{plan}");
    assert_eq!(sorted(rows(&ctx, sql).await), ["0 1", "1 2", "1 3"]);
    rows(&ctx, "SET graphar.rule_elide_vertex_join = false").await;
    let plan = plan_of(&ctx, sql).await;
    assert!(plan.contains("VertexLookupExec"), "{plan}");
    assert_eq!(sorted(rows(&ctx, sql).await), ["0 1", "1 2", "1 3"]);
    rows(&ctx, "SET graphar.rule_vertex_lookup = false").await;
    rows(&ctx, "SET graphar.rule_join_to_expand = false").await;
    let plan = plan_of(&ctx, sql).await;
    assert!(
        !plan.contains("Lookup") && !plan.contains("Expand"),
        "{plan}"
    );
    assert_eq!(sorted(rows(&ctx, sql).await), ["0 1", "1 2", "1 3"]);
}

#[tokio::test]
async fn rows_are_kept_and_tested_by_offsets() {
    let ctx = small(&[(0, 1), (1, 2), (1, 3)]).await;
    let person = "SELECT p._vertex_id FROM g.person p WHERE";
    let edge = "(SELECT 1 FROM g.person_knows_person k WHERE k._src_id = p._vertex_id)";
    let none = ["2", "3", "4", "5"];
    for (sql, join, expected) in [
        (
            format!("{person} EXISTS {edge}"),
            "LeftSemi",
            &["0", "1"][..],
        ),
        (format!("{person} NOT EXISTS {edge}"), "LeftAnti", &none[..]),
    ] {
        let plan = plan_of(&ctx, &sql).await;
        assert!(plan.contains("by=offsets") && plan.contains(join), "{plan}");
        assert_eq!(sorted(rows(&ctx, &sql).await), expected);
    }
    // A column that comes twice.
    let sql = "SELECT p._vertex_id, k.a, k.b FROM g.person p
               LEFT JOIN (SELECT _src_id, _dst_id AS a, _dst_id AS b FROM g.person_knows_person) k
               ON k._src_id = p._vertex_id WHERE p._vertex_id < 3";
    for strategy in ["offsets", "csr"] {
        rows(&ctx, &format!("SET graphar.expand_strategy = '{strategy}'")).await;
        let expected = ["0 1 1", "1 2 2", "1 3 3", "2 NULL NULL"];
        assert_eq!(sorted(rows(&ctx, sql).await), expected);
    }
    let sql = "SELECT p._vertex_id, k._dst_id FROM g.person p
               LEFT JOIN g.person_knows_person k ON k._src_id = p._vertex_id WHERE p._vertex_id < 3";
    let plan = plan_of(&ctx, sql).await;
    assert!(
        plan.contains("ExpandExec") && plan.contains("join=Left"),
        "{plan}"
    );
    assert_eq!(
        sorted(rows(&ctx, sql).await),
        ["0 1", "1 2", "1 3", "2 NULL"]
    );
}

#[tokio::test]
async fn a_data_frame_is_expanded_as_sql_does_it() {
    let ctx = small(&[(0, 1), (1, 2), (1, 3), (1, 1)]).await;
    let listing = ctx.table_provider("g").await.unwrap();
    let listing = listing.downcast_ref::<GraphTable>().unwrap();
    let input = "SELECT id, _vertex_id AS v FROM g.person WHERE _vertex_id < 2";
    for (way, name) in [(Way::Out, "out"), (Way::In, "in"), (Way::Any, "any")] {
        let frame = ctx.sql(input).await.unwrap();
        let found = listing.graph().expand(frame, "knows", "v", way).unwrap();
        let found = found.select_columns(&["id", "neighbor_id"]).unwrap();
        let text = found.to_string().await.unwrap();
        let sql = format!("SELECT id, neighbor_id FROM expand(g, knows, ({input}), v, {name})");
        let expected = ctx.sql(&sql).await.unwrap().to_string().await.unwrap();
        let lines = |text: &str| sorted(text.lines().map(str::to_owned).collect());
        assert_eq!(lines(&text), lines(&expected));
        assert!(text.lines().count() > 4, "{text}");
    }
    let frame = ctx.sql(input).await.unwrap();
    let refused = listing.graph().expand(frame, "likes", "v", Way::Out);
    assert!(
        refused
            .unwrap_err()
            .to_string()
            .contains("no edges 'likes'")
    );
}

#[tokio::test]
async fn a_layout_that_is_missing_leaves_the_join() {
    let mut info = knows(2, 2, FileType::Parquet);
    info.adj_lists = vec![list(AdjListType::OrderedBySource, FileType::Parquet)];
    let fixture = Fixture::persons(6, 2, FileType::Parquet).await;
    let fixture = fixture.edges(info, &[(0, 1), (2, 1), (1, 4)], None).await;
    let ctx = fixture.finish().await.session().await;
    let sql = "SELECT v.id, k._src_id FROM (VALUES (1), (4), (5)) v(id)
               JOIN g.person_knows_person k ON k._dst_id = v.id";
    let plan = plan_of(&ctx, sql).await;
    assert!(plan.contains("HashJoinExec"), "{plan}");
    assert_eq!(sorted(rows(&ctx, sql).await), ["1 0", "1 2", "4 1"]);
}

#[tokio::test]
async fn without_memory_for_all_rows_windows_are_read() {
    let edges: Vec<(i64, i64)> = (0..1200).map(|n| (n % 6, n * 7 % 6)).collect();
    let ctx = small(&edges).await;
    // The condition on edges makes rows of them, which are more than their adjacency.
    let sql = "SELECT count(*), sum(k._dst_id) FROM (VALUES (0), (1), (2), (3), (4), (5)) v(id)
               JOIN g.person_knows_person k ON k._src_id = v.id AND k._dst_id <> 4";
    let expected = rows(&ctx, sql).await;
    let url = Url::parse("memory://t").unwrap();
    let store = ctx
        .runtime_env()
        .object_store_registry
        .get_store(&url)
        .unwrap();
    for bytes in [60_000, 10_000_000] {
        let runtime = RuntimeEnvBuilder::new()
            .with_memory_pool(Arc::new(GreedyMemoryPool::new(bytes)))
            .build_arc()
            .unwrap();
        let state = SessionStateBuilder::new()
            .with_default_features()
            .with_runtime_env(runtime)
            .with_graphar()
            .build();
        let tight = SessionContext::new_with_state(state);
        tight.register_object_store(&url, Arc::clone(&store));
        let location = format!("memory://t/{ROOT}/g.graph.yml");
        tight.register_graph("g", &location).await.unwrap();
        for strategy in ["auto", "csr"] {
            rows(
                &tight,
                &format!("SET graphar.expand_strategy = '{strategy}'"),
            )
            .await;
            assert_eq!(rows(&tight, sql).await, expected, "{bytes} {strategy}");
            if strategy == "csr" {
                let analyzed = rows(&tight, &format!("EXPLAIN ANALYZE {sql}")).await;
                let analyzed = analyzed.join("\n");
                let line = analyzed
                    .lines()
                    .find(|line| line.contains("ExpandExec"))
                    .unwrap();
                let windows = !line.contains("ids_looked_up=0");
                assert_eq!(windows, bytes < 1_000_000, "{bytes}: {analyzed}");
            }
        }
    }
}

#[tokio::test]
async fn an_expansion_can_be_run_again_and_dropped_before_its_end() {
    let ctx = small(&many()).await;
    for strategy in ["offsets", "csr"] {
        rows(&ctx, &format!("SET graphar.expand_strategy = '{strategy}'")).await;
        let expected = rows(&ctx, TWO_HOPS).await.len();
        let frame = ctx.sql(TWO_HOPS).await.unwrap();
        let mut plan = frame.create_physical_plan().await.unwrap();
        let pool = Arc::clone(&ctx.runtime_env().memory_pool);
        let before = pool.reserved();
        for _ in 0..2 {
            let mut stream = execute_stream(Arc::clone(&plan), ctx.task_ctx()).unwrap();
            // Half of the way.
            let first = stream.next().await.unwrap().unwrap();
            assert!(first.num_rows() > 0);
            drop(stream);
            plan = reset_plan_states(plan).unwrap();
            let batches = collect(Arc::clone(&plan), ctx.task_ctx()).await.unwrap();
            let found: usize = batches.iter().map(RecordBatch::num_rows).sum();
            assert_eq!(found, expected);
            plan = reset_plan_states(plan).unwrap();
        }
        drop(plan);
        let mut turns = 0;
        while pool.reserved() > before && turns < 100_000 {
            tokio::task::yield_now().await;
            turns += 1;
        }
        assert!(
            pool.reserved() <= before,
            "{strategy}: {} of {before}",
            pool.reserved()
        );
    }
}
