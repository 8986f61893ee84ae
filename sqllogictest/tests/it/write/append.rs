//! `INSERT` into vertex types and edge triplets.

use datafusion_graphar::session::SessionContextExt;
use datafusion_graphar::sql::sql_with_names;

use super::*;
use crate::fixture::{error, rows, value};

async fn graph() -> (Arc<InMemory>, SessionContext) {
    let (store, ctx) = empty();
    write_persons(&ctx, "(10, 'a', 0.0), (20, 'b', 1.0), (30, 'c', 2.0)").await;
    write_knows(&ctx, "(10, 20, 1), (30, 10, 2), (10, 30, 3)").await;
    ctx.register_graph("g", GRAPH).await.unwrap();
    (store, ctx)
}

#[tokio::test]
async fn the_session_and_others_see_new_vertices_with_continued_ids() {
    let (store, ctx) = graph().await;
    let insert =
        "INSERT INTO g.person (id, name) SELECT 100 + value, 'n' || value FROM range(0, 6)";
    assert_eq!(value(&ctx, insert).await, "6");
    let expected = [
        "0 10 a 0.0",
        "1 20 b 1.0",
        "2 30 c 2.0",
        "3 100 n0 NULL",
        "4 101 n1 NULL",
        "5 102 n2 NULL",
        "6 103 n3 NULL",
        "7 104 n4 NULL",
        "8 105 n5 NULL",
    ];
    assert_eq!(persons(&ctx).await, expected);
    assert_eq!(persons(&reopened(&store).await).await, expected);
    // The edges are as they were, and the new vertices have none.
    assert_eq!(edges(&ctx).await, ["0 1 1", "0 2 3", "2 0 2"]);
    assert_eq!(
        rows(
            &ctx,
            "SELECT * FROM g.person_knows_person WHERE _src_id = 8"
        )
        .await
        .len(),
        0
    );
}

#[tokio::test]
async fn edges_join_those_that_there_are_in_every_layout() {
    let (store, ctx) = graph().await;
    rows(&ctx, "INSERT INTO g.person (id) VALUES (40), (50)").await;
    let insert = "INSERT INTO g.person_knows_person (_src_id, _dst_id, w) VALUES (4, 0, 9), (0, 0, 8), (0, 4, NULL)";
    assert_eq!(value(&ctx, insert).await, "3");
    let expected = ["0 0 8", "0 1 1", "0 2 3", "0 4 NULL", "2 0 2", "4 0 9"];
    assert_eq!(edges(&ctx).await, expected);
    let ctx = reopened(&store).await;
    assert_eq!(edges(&ctx).await, expected);
    for (id, out, back) in [(0, "4", "3"), (1, "0", "1"), (4, "1", "1")] {
        for (end, count) in [("_src_id", out), ("_dst_id", back)] {
            let sql = format!("SELECT count(*) FROM g.person_knows_person WHERE {end} = {id}");
            assert_eq!(value(&ctx, &sql).await, count, "{sql}");
        }
    }
}

#[tokio::test]
async fn many_small_inserts_are_as_good_as_one_large() {
    let (store, ctx) = graph().await;
    for i in 0..12 {
        rows(
            &ctx,
            &format!("INSERT INTO g.person (id, name) VALUES ({}, 'x')", 100 + i),
        )
        .await;
        let from = i % 3;
        let sql = format!(
            "INSERT INTO g.person_knows_person (_src_id, _dst_id, w) VALUES ({from}, {}, {i})",
            3 + i
        );
        rows(&ctx, &sql).await;
    }
    let ctx = reopened(&store).await;
    assert_eq!(
        value(
            &ctx,
            "SELECT count(*), sum(id) FROM g.person WHERE _vertex_id >= 3"
        )
        .await,
        "12 1266"
    );
    assert_eq!(edges(&ctx).await.len(), 15);
    let sql =
        "SELECT count(*) FROM g.person_knows_person WHERE _dst_id = w + 3 AND _src_id = w % 3";
    assert_eq!(value(&ctx, sql).await, "12");
}

#[tokio::test]
async fn what_does_not_fit_changes_nothing() {
    let (store, ctx) = graph().await;
    for (sql, part) in [
        (
            "INSERT INTO g.person (id, _vertex_id) VALUES (7, 1)",
            "_vertex_id: expected 3 or null",
        ),
        ("INSERT INTO g.person (name) VALUES ('x')", "id"),
        (
            "INSERT INTO g.person (id) VALUES (20)",
            "a key that no other vertex has, found 20, as vertex 1 has it",
        ),
        (
            "INSERT INTO g.person_knows_person (_src_id, _dst_id) VALUES (0, 3)",
            "3 vertices of 'person'",
        ),
        (
            "INSERT INTO g.\"person_knows_person$ordered_by_source\" (_src_id, _dst_id) VALUES (0, 1)",
            "insert into the vertex type or edge triplet",
        ),
    ] {
        let message = error(&ctx, sql).await;
        assert!(message.contains(part), "{sql}: {message}");
    }
    let again = reopened(&store).await;
    assert_eq!(persons(&again).await.len(), 3);
    assert_eq!(edges(&again).await.len(), 3);
    // No rows are no change.
    assert_eq!(
        value(&ctx, "INSERT INTO g.person (id) SELECT 1 WHERE false").await,
        "0"
    );
}

#[tokio::test]
async fn labels_are_appended() {
    let (store, ctx) = empty();
    let query = "SELECT 1 AS n, ['b'] AS _labels";
    rows(
        &ctx,
        &copy(query, "'vertex' 'q', 'labels' 'a, b', 'chunk_size' '2'"),
    )
    .await;
    ctx.register_graph("g", GRAPH).await.unwrap();
    rows(
        &ctx,
        "INSERT INTO g.q (n, _labels) VALUES (2, ['a', 'b']), (3, NULL)",
    )
    .await;
    rows(&ctx, "INSERT INTO g.q (n) VALUES (4)").await;
    let expected = ["1 [b]", "2 [a, b]", "3 []", "4 []"];
    let sql = "SELECT n, _labels FROM g.q ORDER BY n";
    assert_eq!(rows(&ctx, sql).await, expected);
    assert_eq!(rows(&reopened(&store).await, sql).await, expected);
}

#[tokio::test]
async fn without_a_list_of_columns_the_ids_come_by_themselves() {
    let (_, ctx) = graph().await;
    for sql in [
        "INSERT INTO g.person SELECT 40, 'd', 3.0",
        "INSERT INTO g.Person VALUES (50, 'e', NULL), (60, NULL, 4.0)",
        "INSERT INTO g.person_knows_person SELECT 9, 5, 3",
    ] {
        let frame = sql_with_names(&ctx, sql).await.unwrap();
        frame.collect().await.unwrap();
    }
    assert_eq!(
        persons(&ctx).await[3..],
        ["3 40 d 3.0", "4 50 e NULL", "5 60 NULL 4.0"]
    );
    assert_eq!(edges(&ctx).await.last().unwrap(), "5 3 9");
}

/// The numbers are not among the columns that are written, or only the first of them is.
#[tokio::test]
async fn rows_stay_in_the_order_of_columns_that_are_not_written() {
    for partitions in [1, 16] {
        let store = Arc::new(InMemory::new());
        let ctx = session(&store, &How::of(partitions, 3, true));
        let numbers = |begin: usize| {
            format!(
                "SELECT CAST('x' || (value % 7) AS VARCHAR) AS name, value / 50 AS half
                 FROM range({begin}, {begin} + 100)"
            )
        };
        for sql in [
            format!(
                "COPY ({} ORDER BY value DESC) TO '{GRAPH}' STORED AS GRAPHAR OPTIONS ('vertex' 'thing', 'chunk_size' '8')",
                numbers(0)
            ),
            format!(
                "COPY ({} ORDER BY half, value DESC) TO '{GRAPH}' STORED AS GRAPHAR OPTIONS ('vertex' 'other', 'chunk_size' '8')",
                numbers(0)
            ),
        ] {
            rows(&ctx, &sql).await;
        }
        ctx.register_graph("g", GRAPH).await.unwrap();
        let insert = format!(
            "INSERT INTO g.thing (name, half) {} ORDER BY value DESC LIMIT 40",
            numbers(100)
        );
        rows(&ctx, &insert).await;
        let expected = |values: &mut dyn Iterator<Item = usize>| -> Vec<String> {
            values
                .map(|value| format!("x{} {}", value % 7, value / 50))
                .collect()
        };
        let mut all = (0..100).rev().chain((160..200).rev());
        let found = rows(&ctx, "SELECT name, half FROM g.thing ORDER BY _vertex_id").await;
        assert_eq!(found, expected(&mut all), "{partitions} partitions");
        let mut halves = (0..50).rev().chain((50..100).rev());
        let found = rows(&ctx, "SELECT name, half FROM g.other ORDER BY _vertex_id").await;
        assert_eq!(found, expected(&mut halves), "{partitions} partitions");
    }
}
