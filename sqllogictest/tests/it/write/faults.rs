//! What users of similar software lost when they wrote graphs.

use std::time::Duration;

use datafusion_graphar::format::FileType;
use datafusion_graphar::session::SessionContextExt;
use futures::TryStreamExt;
use object_store::ObjectStoreExt;
use object_store::path::Path;
use tokio::time::timeout;

use super::*;
use crate::fixture::{rows, value};

/// `V(n, c)`: persons with `id = 1000 + index`.
async fn vertices(ctx: &SessionContext, n: i64, chunk_size: u64) {
    let query = format!("SELECT 1000 + value AS id FROM range(0, {n}) ORDER BY value");
    let options = format!("'vertex' 'person', 'key' 'id', 'chunk_size' '{chunk_size}'");
    rows(ctx, &copy(&query, &options)).await;
}

/// The ways to run with Parquet, and every other payload in the usual one.
fn ways_and_payloads() -> Vec<(How, FileType)> {
    let parquet = few_ways().into_iter().map(|how| (how, FileType::Parquet));
    let others = FileType::ALL.into_iter();
    parquet
        .chain(others.map(|file_type| (How::default(), file_type)))
        .collect()
}

async fn paths(store: &Arc<InMemory>) -> Vec<String> {
    let files: Vec<_> = store.list(None).try_collect().await.unwrap();
    let paths = files.iter().map(|file| file.location.to_string());
    paths.collect()
}

/// The numbers in the count files whose path has `part` in it, by path.
async fn counts(store: &Arc<InMemory>, part: &str) -> Vec<u64> {
    let mut found = paths(store).await;
    found.retain(|path| path.contains(part));
    found.sort();
    let mut counts = vec![];
    for path in found {
        let got = store.get(&Path::from(path)).await.unwrap();
        let bytes = got.bytes().await.unwrap();
        counts.push(u64::from_le_bytes(bytes.as_ref().try_into().unwrap()));
    }
    counts
}

/// A2.
#[tokio::test]
async fn edge_properties_stay_with_their_edges_where_a_chunk_is_exactly_full() {
    for (how, file_type) in ways_and_payloads() {
        for (count, chunks, sum, last) in [(9, 3, "45", vec!["8", "9"]), (8, 2, "36", vec!["8"])] {
            let store = Arc::new(InMemory::new());
            let ctx = session(&store, &how);
            vertices(&ctx, 10, 5).await;
            let query = format!(
                "SELECT 0 AS _src_id, value AS _dst_id, value AS w FROM range(1, {count} + 1)"
            );
            let options = format!(
                "'edge' 'person-knows-person', 'chunk_size' '4', 'file_type' '{file_type}', 'layouts' '{LAYOUTS}'"
            );
            rows(&ctx, &copy(&query, &options)).await;
            assert_sound(&ctx).await;
            let files = paths(&store).await;
            let part = "/ordered_by_source/adj_list/part0/";
            let found = files.iter().filter(|path| path.contains(part)).count();
            assert_eq!(found, chunks, "{file_type} {how:?}");
            ctx.register_graph("g", GRAPH).await.unwrap();
            let expected: Vec<String> = (1..=count).map(|i| format!("0 {i} {i}")).collect();
            assert_eq!(edges(&ctx).await, expected, "{file_type} {how:?}");
            let sql = "SELECT sum(w) FROM g.person_knows_person";
            assert_eq!(value(&ctx, sql).await, sum);
            let sql = "SELECT w FROM g.person_knows_person WHERE _dst_id >= 8 ORDER BY w";
            assert_eq!(rows(&ctx, sql).await, last, "{file_type} {how:?}");
        }
    }
}

/// A5.
#[tokio::test]
async fn appended_vertices_get_the_next_ids_with_their_own_values() {
    for how in ways() {
        // The last chunk is full, or has room for more, or for fewer than come.
        for chunk_size in [100, 120, 17] {
            let store = Arc::new(InMemory::new());
            let ctx = session(&store, &how);
            let query =
                "SELECT 1000 + value AS id, 'n' || value AS name FROM range(0, 100) ORDER BY value";
            let options = format!("'vertex' 'person', 'key' 'id', 'chunk_size' '{chunk_size}'");
            rows(&ctx, &copy(query, &options)).await;
            ctx.register_graph("g", GRAPH).await.unwrap();
            let insert = "INSERT INTO g.person (id, name) VALUES (1100, 'n100'), (1101, 'n101'), (1102, 'n102')";
            assert_eq!(value(&ctx, insert).await, "3");
            let sql = "SELECT _vertex_id, id, name FROM g.person WHERE _vertex_id >= 100 ORDER BY _vertex_id";
            let expected = ["100 1100 n100", "101 1101 n101", "102 1102 n102"];
            assert_eq!(rows(&ctx, sql).await, expected, "{how:?}");
            let sql = "SELECT count(*), count(id), count(DISTINCT id) FROM g.person
                       WHERE id = 1000 + _vertex_id AND name = 'n' || _vertex_id";
            assert_eq!(value(&ctx, sql).await, "103 103 103", "{how:?}");
            assert_sound(&ctx).await;
        }
    }
}

/// A6.
#[tokio::test]
async fn no_part_of_any_layout_loses_its_edges() {
    // A generator of numbers that look random.
    let mut state: i64 = 1;
    let mut next = || {
        state = (state * 48_271) % 2_147_483_647;
        state % 50
    };
    let all: Vec<(i64, i64)> = (0..500).map(|_| (next(), next())).collect();
    let values: Vec<String> = (0..500)
        .map(|i| format!("({}, {}, {i})", all[i].0, all[i].1))
        .collect();
    let mut expected: Vec<(i64, i64, usize)> = (0..500).map(|i| (all[i].0, all[i].1, i)).collect();
    expected.sort_unstable();
    let expected: Vec<String> = expected
        .iter()
        .map(|(s, d, w)| format!("{s} {d} {w}"))
        .collect();
    let of_parts = |ids: &dyn Fn(&(i64, i64)) -> i64| -> Vec<u64> {
        let count = |part| all.iter().filter(|edge| ids(edge) / 10 == part).count() as u64;
        (0..5).map(count).collect()
    };
    let (sources, destinations) = (of_parts(&|e| e.0), of_parts(&|e| e.1));
    assert_eq!(sources.iter().sum::<u64>(), 500);
    for file_type in [FileType::Csv, FileType::Parquet] {
        for how in few_ways() {
            let store = Arc::new(InMemory::new());
            let ctx = session(&store, &how);
            vertices(&ctx, 50, 10).await;
            let query = format!(
                "SELECT a AS _src_id, b AS _dst_id, w FROM (VALUES {}) t(a, b, w)",
                values.join(", ")
            );
            let options = format!(
                "'edge' 'person-knows-person', 'chunk_size' '16', 'file_type' '{file_type}', 'layouts' '{LAYOUTS}'"
            );
            rows(&ctx, &copy(&query, &options)).await;
            ctx.register_graph("g", GRAPH).await.unwrap();
            assert_eq!(edges(&ctx).await, expected, "{file_type} {how:?}");
            for (layout, parts) in [
                ("ordered_by_source", &sources),
                ("ordered_by_dest", &destinations),
                ("unordered_by_source", &sources),
                ("unordered_by_dest", &destinations),
            ] {
                let found = counts(&store, &format!("/{layout}/edge_count")).await;
                assert_eq!(&found, parts, "{file_type} {how:?}");
            }
            assert_sound(&ctx).await;
        }
    }
}

/// A7.
#[tokio::test]
async fn vertices_without_edges_have_their_count() {
    for how in ways() {
        let store = Arc::new(InMemory::new());
        let ctx = session(&store, &how);
        vertices(&ctx, 7, 3).await;
        assert_eq!(counts(&store, "/vertex_count").await, [7]);
        let ctx = reopened(&store).await;
        assert_eq!(value(&ctx, "SELECT count(*) FROM g.person").await, "7");
        assert_sound(&ctx).await;
    }
}

/// A20.
#[tokio::test]
async fn the_session_that_inserts_and_a_refreshed_one_see_the_rows() {
    for how in ways() {
        let store = Arc::new(InMemory::new());
        let ctx = session(&store, &how);
        vertices(&ctx, 10, 3).await;
        let query = "SELECT value AS _src_id, value AS _dst_id FROM range(0, 10)";
        rows(&ctx, &copy(query, "'edge' 'person-knows-person'")).await;
        ctx.register_graph("g", GRAPH).await.unwrap();
        let other = session(&store, &how);
        other.register_graph("g", GRAPH).await.unwrap();
        let count =
            "SELECT (SELECT count(*) FROM g.person) AS a, (SELECT count(id) FROM g.person) AS b,
                            (SELECT count(*) FROM g.person_knows_person) AS c";
        for ctx in [&ctx, &other] {
            assert_eq!(value(ctx, count).await, "10 10 10");
        }
        rows(&ctx, "INSERT INTO g.person (id) VALUES (1), (2)").await;
        let insert = "INSERT INTO g.person_knows_person (_src_id, _dst_id) VALUES (11, 0), (0, 11)";
        rows(&ctx, insert).await;
        assert_eq!(value(&ctx, count).await, "12 12 12");
        let refresh =
            format!("CREATE OR REPLACE EXTERNAL TABLE g STORED AS GRAPHAR LOCATION '{GRAPH}'");
        rows(&other, &refresh).await;
        assert_eq!(value(&other, count).await, "12 12 12");
        assert_sound(&ctx).await;
    }
}

/// A34.
#[tokio::test]
async fn key_columns_anywhere_leave_the_properties_as_they_are() {
    for how in ways() {
        let store = Arc::new(InMemory::new());
        let ctx = session(&store, &how);
        vertices(&ctx, 10, 3).await;
        let query =
            "SELECT 10 * value AS w, 1000 + (value * 3) % 10 AS dst_key, 'n' || value AS note,
                            1000 + value AS src_key FROM range(0, 10)";
        let options =
            "'edge' 'person-knows-person', 'source_key' 'src_key', 'destination_key' 'dst_key'";
        rows(&ctx, &copy(query, options)).await;
        ctx.register_graph("g", GRAPH).await.unwrap();
        let sql = "SELECT array_to_string(properties, '; ') FROM g WHERE kind = 'edge'";
        assert_eq!(value(&ctx, sql).await, "w int64; note string");
        let sql = "SELECT * FROM g.person_knows_person ORDER BY w";
        let expected: Vec<String> = (0..10)
            .map(|i| format!("{} n{i} {i} {}", 10 * i, (i * 3) % 10))
            .collect();
        assert_eq!(rows(&ctx, sql).await, expected, "{how:?}");
        assert_sound(&ctx).await;
    }
}

/// A38, the second half.
#[tokio::test]
async fn two_hundred_thousand_long_keys_are_as_unique_as_they_are() {
    let (store, ctx) = empty();
    let query = "SELECT repeat('long ', 12) || value AS id FROM range(0, 200000)";
    rows(&ctx, &copy(query, "'vertex' 'person', 'key' 'id'")).await;
    let ctx = reopened(&store).await;
    let sql =
        "SELECT count(DISTINCT id), min(octet_length(id)), max(octet_length(id)) FROM g.person";
    assert_eq!(value(&ctx, sql).await, "200000 61 66");
    assert_sound(&ctx).await;
}

/// A43.
#[tokio::test]
async fn chunks_of_any_size_and_a_hub_come_to_an_end() {
    for how in few_ways() {
        let work = async {
            for (n, chunk, m, other) in [(5, 1, 5, 1), (5, 100, 5, 100), (6, 2, 9, 3), (0, 2, 0, 3)]
            {
                let store = Arc::new(InMemory::new());
                let ctx = session(&store, &how);
                vertices(&ctx, n, chunk).await;
                let query = format!("SELECT value AS x FROM range(0, {m})");
                let options = format!("'vertex' 'place', 'chunk_size' '{other}'");
                rows(&ctx, &copy(&query, &options)).await;
                // All edges come from one hub; those of the last parts have none.
                let query =
                    format!("SELECT 1 AS _src_id, value % 4 AS _dst_id FROM range(0, 3 * {m})");
                let options =
                    format!("'edge' 'person-saw-place', 'chunk_size' '2', 'layouts' '{LAYOUTS}'");
                rows(&ctx, &copy(&query, &options)).await;
                ctx.register_graph("g", GRAPH).await.unwrap();
                for layout in LAYOUTS.split(',') {
                    let table = format!("g.\"person_saw_place${layout}\"");
                    let sql = format!(
                        "SELECT count(*), count(_dst_id) FILTER (WHERE _src_id = 1) FROM {table}"
                    );
                    let all = 3 * m;
                    assert_eq!(value(&ctx, &sql).await, format!("{all} {all}"), "{how:?}");
                    for (condition, expected) in [
                        ("_src_id = 1", all),
                        ("_src_id = 0", 0),
                        ("_dst_id = 0", (all + 3) / 4),
                        ("_dst_id >= 4", 0),
                    ] {
                        let sql = format!("SELECT count(*) FROM {table} WHERE {condition}");
                        assert_eq!(value(&ctx, &sql).await, expected.to_string(), "{sql}");
                    }
                }
                assert_sound(&ctx).await;
            }
        };
        timeout(Duration::from_secs(60), work).await.unwrap();
    }
}
