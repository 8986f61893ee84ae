//! A part of a graph: chosen vertices, and the edges between them.

use super::*;
use crate::fixture::{error, value};

/// A graph of ten persons, each of whom knows the next three.
async fn ring(ctx: &SessionContext) {
    for sql in [
        "COPY (SELECT value + 100 AS id, value * 10 AS age FROM range(0, 10) ORDER BY 1) TO 'memory://t/all.graph.yml'
         STORED AS GRAPHAR OPTIONS ('vertex' 'person', 'key' 'id', 'chunk_size' '3')",
        "COPY (SELECT a.value AS _src_id, (a.value + b.value) % 10 AS _dst_id, a.value * b.value AS w
               FROM range(0, 10) a, range(1, 4) b) TO 'memory://t/all.graph.yml'
         STORED AS GRAPHAR OPTIONS ('edge' 'person-knows-person', 'chunk_size' '4')",
    ] {
        rows(ctx, sql).await;
    }
    ctx.register_graph("g", "memory://t/all.graph.yml")
        .await
        .unwrap();
}

/// The edges by keys, with a condition of their own.
fn edges(on_error: &str) -> String {
    format!(
        "COPY (SELECT a.id AS a, b.id AS b, k.w FROM g.person_knows_person k
               JOIN g.person a ON a._vertex_id = k._src_id JOIN g.person b ON b._vertex_id = k._dst_id
               WHERE k.w <> 6)
         TO '{GRAPH}' STORED AS GRAPHAR
         OPTIONS ('edge' 'person-knows-person', 'source_key' 'a', 'destination_key' 'b', 'on_error' '{on_error}')"
    )
}

#[tokio::test]
async fn edges_with_an_end_that_was_not_chosen_are_refused_or_counted() {
    let (_store, ctx) = empty();
    ring(&ctx).await;
    let vertices = format!(
        "COPY (SELECT id, age FROM g.person WHERE age BETWEEN 20 AND 60)
         TO '{GRAPH}' STORED AS GRAPHAR OPTIONS ('vertex' 'person', 'key' 'id', 'chunk_size' '2')"
    );
    assert_eq!(value(&ctx, &vertices).await, "5");

    // What the edges should be, from the whole graph.
    let joined = "FROM g.person_knows_person k JOIN g.person a ON a._vertex_id = k._src_id
                  JOIN g.person b ON b._vertex_id = k._dst_id WHERE k.w <> 6";
    let all: u64 = value(&ctx, &format!("SELECT count(*) {joined}"))
        .await
        .parse()
        .unwrap();
    let inside = format!("{joined} AND a.age BETWEEN 20 AND 60 AND b.age BETWEEN 20 AND 60");
    let expected = rows(
        &ctx,
        &format!("SELECT a.id, b.id, k.w {inside} ORDER BY 1, 2"),
    )
    .await;
    assert!(!expected.is_empty() && (expected.len() as u64) < all);

    let message = error(&ctx, &edges("fail")).await;
    let refused = "the primary key of one of the 5 vertices of 'person'";
    assert!(message.contains(refused), "{message}");
    let analyzed = format!("EXPLAIN ANALYZE {}", edges("skip"));
    let plan = rows(&ctx, &analyzed).await.join("\n");
    let skipped = all - expected.len() as u64;
    assert!(
        plan.contains(&format!("rows_written={}", expected.len())),
        "{plan}"
    );
    assert!(plan.contains(&format!("rows_skipped={skipped}")), "{plan}");

    ctx.register_graph("part", GRAPH).await.unwrap();
    let found = "SELECT a.id, b.id, k.w FROM part.person_knows_person k
                 JOIN part.person a ON a._vertex_id = k._src_id
                 JOIN part.person b ON b._vertex_id = k._dst_id ORDER BY 1, 2";
    assert_eq!(rows(&ctx, found).await, expected);
    let check = format!("SELECT * FROM graph_check('{GRAPH}')");
    assert!(rows(&ctx, &check).await.is_empty());
}
