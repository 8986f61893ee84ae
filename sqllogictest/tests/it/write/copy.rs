//! `COPY` of vertex types and edge triplets.

use datafusion::common::runtime::SpawnedTask;
use datafusion_graphar::format::FileType;
use datafusion_graphar::session::SessionContextExt;

use super::*;
use crate::fixture::{How, error, rows, value};

#[tokio::test]
async fn keys_become_internal_ids() {
    let (store, ctx) = empty();
    write_persons(&ctx, "(30, 'c', 0.5), (10, 'a', NULL), (20, NULL, 1.5)").await;
    write_knows(&ctx, "(10, 20, 1), (30, 30, 2), (10, 30, 3), (10, 20, 4)").await;
    let ctx = reopened(&store).await;
    assert_eq!(
        persons(&ctx).await,
        ["0 30 c 0.5", "1 10 a NULL", "2 20 NULL 1.5"]
    );
    assert_eq!(edges(&ctx).await, ["0 0 2", "1 0 3", "1 2 1", "1 2 4"]);
}

#[tokio::test]
async fn every_way_to_run_writes_the_same() {
    for partitions in [1, 2, 16] {
        for batch_size in [1, 3, 8192] {
            let store = Arc::new(InMemory::new());
            let how = How {
                partitions,
                batch_size,
                ..How::default()
            };
            let ctx = session(&store, &how);
            let query =
                "SELECT value AS id, 'n' || value AS name, value * 0.5 AS score FROM range(0, 57)";
            let options = "'vertex' 'person', 'key' 'id', 'chunk_size' '10'";
            rows(&ctx, &copy(query, options)).await;
            let query = "SELECT a.value AS a, b.value AS b, 100 * a.value + b.value AS w
                         FROM range(0, 57) a, range(0, 57) b WHERE (a.value * 7 + b.value) % 11 = 3";
            let options = "'edge' 'person-knows-person', 'source_key' 'a', 'destination_key' 'b', 'chunk_size' '6', \
                           'layouts' 'ordered_by_source,ordered_by_dest,unordered_by_source,unordered_by_dest'";
            rows(&ctx, &copy(query, options)).await;
            let ctx = reopened(&store).await;
            assert_eq!(
                value(&ctx, "SELECT count(*) FROM g.person WHERE name = 'n' || id").await,
                "57"
            );
            // The ids of the ends belong to the keys that the weight was made of.
            let sql = "SELECT count(*) FROM g.person_knows_person k
                       JOIN g.person a ON k._src_id = a._vertex_id JOIN g.person b ON k._dst_id = b._vertex_id
                       WHERE k.w = 100 * a.id + b.id";
            let expected = value(
                &ctx,
                "SELECT count(*) FROM range(0, 57) a, range(0, 57) b
                                        WHERE (a.value * 7 + b.value) % 11 = 3",
            )
            .await;
            assert_eq!(value(&ctx, sql).await, expected);
            assert_eq!(edges(&ctx).await.len().to_string(), expected);
        }
    }
}

#[tokio::test]
async fn types_of_sql_become_types_of_the_format() {
    let (store, ctx) = empty();
    let query = "SELECT arrow_cast(1, 'Int8') AS a, arrow_cast(2, 'UInt32') AS b, arrow_cast(3, 'UInt64') AS c,
                        arrow_cast('x', 'Dictionary(Int32, Utf8)') AS d, arrow_cast(1.5, 'Float32') AS e,
                        TIMESTAMP '1969-12-31T23:59:59.123' AS f, DATE '1900-01-01' AS h, [1, NULL] AS i, true AS j,
                        NULL AS k";
    rows(&ctx, &copy(query, "'vertex' 't'")).await;
    let ctx = reopened(&store).await;
    assert_eq!(
        rows(&ctx, "SELECT a, b, c, d, e, f, h, i, j, k FROM g.t").await,
        ["1 2 3 x 1.5 1969-12-31T23:59:59.123 1900-01-01 [1, NULL] true NULL"]
    );
    assert_eq!(
        value(&ctx, "SELECT array_to_string(properties, '; ') FROM g").await,
        "a int32; b int64; c int64; d string; e float; f timestamp; h date; i list of int64; j bool; k string"
    );
}

#[tokio::test]
async fn groups_file_types_labels_and_sets() {
    for file_type in FileType::ALL {
        let (store, ctx) = empty();
        let query =
            "SELECT * FROM (VALUES (1, 'a', 2.5, ['x']), (2, 'b', NULL, []), (3, NULL, 0.5, NULL))
                     t(id, name, score, tags)";
        let options = format!(
            "'vertex' 'p', 'key' 'id', 'groups' 'id as {file_type}; name, score as {file_type}', 'set' 'tags', \
             'chunk_size' '2', 'compression' 'zstd(3)', 'page_rows' '1', 'row_group_rows' '1'"
        );
        rows(&ctx, &copy(query, &options)).await;
        let query = "SELECT 1 AS n, ['b', 'a'] AS _labels UNION ALL SELECT 2, NULL";
        rows(&ctx, &copy(query, "'vertex' 'q', 'labels' 'a, b'")).await;
        let ctx = reopened(&store).await;
        assert_eq!(
            rows(&ctx, "SELECT id, name, score, tags FROM g.p ORDER BY id").await,
            ["1 a 2.5 [x]", "2 b NULL []", "3 NULL 0.5 NULL"],
            "{file_type}"
        );
        assert_eq!(
            rows(&ctx, "SELECT n, _labels FROM g.q ORDER BY n").await,
            ["1 [a, b]", "2 []"]
        );
    }
}

#[tokio::test]
async fn a_type_is_replaced_and_the_others_stay() {
    let (store, ctx) = empty();
    write_persons(&ctx, "(1, 'a', 0.0)").await;
    rows(&ctx, &copy("SELECT 5 AS x", "'vertex' 'other'")).await;
    write_persons(&ctx, "(2, 'b', 0.0), (3, 'c', 0.0)").await;
    let ctx = reopened(&store).await;
    assert_eq!(persons(&ctx).await, ["0 2 b 0.0", "1 3 c 0.0"]);
    assert_eq!(rows(&ctx, "SELECT x FROM g.other").await, ["5"]);
    assert_eq!(
        rows(&ctx, "SELECT name FROM g ORDER BY name").await,
        ["other", "person"]
    );
}

#[tokio::test]
async fn vertices_with_edges_are_replaced_together_with_them_or_not_at_all() {
    let (store, ctx) = empty();
    write_persons(&ctx, "(1, 'a', 0.0), (2, 'b', 0.0)").await;
    write_knows(&ctx, "(1, 2, 7)").await;
    let replace = |more: &str| {
        copy(
            "SELECT 9 AS id",
            &format!("'vertex' 'person', 'key' 'id'{more}"),
        )
    };
    let message = error(&ctx, &replace("")).await;
    assert!(
        message.contains("person_knows_person") && message.contains("'drop'"),
        "{message}"
    );
    assert_eq!(edges(&reopened(&store).await).await, ["0 1 7"]);
    rows(&ctx, &replace(", 'edges' 'drop'")).await;
    let ctx = reopened(&store).await;
    assert_eq!(rows(&ctx, "SELECT name FROM g").await, ["person"]);
    assert_eq!(rows(&ctx, "SELECT id FROM g.person").await, ["9"]);
}

#[tokio::test]
async fn nothing_makes_an_empty_type() {
    let (store, ctx) = empty();
    let none = "SELECT 1 AS id WHERE false";
    rows(&ctx, &copy(none, "'vertex' 'person', 'key' 'id'")).await;
    let none = "SELECT 1 AS a, 1 AS b, 1 AS w WHERE false";
    let options = "'edge' 'person-knows-person', 'source_key' 'a', 'destination_key' 'b'";
    rows(&ctx, &copy(none, options)).await;
    let ctx = reopened(&store).await;
    assert_eq!(value(&ctx, "SELECT count(*) FROM g.person").await, "0");
    assert_eq!(
        value(&ctx, "SELECT count(*) FROM g.person_knows_person").await,
        "0"
    );
}

#[tokio::test]
async fn internal_ids_and_keys_of_several_columns_and_of_text() {
    let (store, ctx) = empty();
    let query = "SELECT * FROM (VALUES ('é', 1), ('', 1), ('é', 2)) t(k, n)";
    rows(&ctx, &copy(query, "'vertex' 'place', 'key' 'k, n'")).await;
    rows(
        &ctx,
        &copy("SELECT 'only' AS k", "'vertex' 'thing', 'key' 'k'"),
    )
    .await;
    let query = "SELECT 'é' AS k, 2 AS n, 'only' AS t";
    let options = "'edge' 'at', 'source' 'place', 'destination' 'thing', 'source_key' 'k,n', 'destination_key' 't'";
    rows(&ctx, &copy(query, options)).await;
    let options =
        "'edge' 'place-near-place', 'source_id' 's', 'destination_id' 'd', 'directed' 'false'";
    rows(
        &ctx,
        &copy("SELECT arrow_cast(2, 'Int32') AS s, 0 AS d", options),
    )
    .await;
    let ctx = reopened(&store).await;
    assert_eq!(
        rows(&ctx, "SELECT _src_id, _dst_id FROM g.place_at_thing").await,
        ["2 0"]
    );
    assert_eq!(
        rows(&ctx, "SELECT _src_id, _dst_id FROM g.place_near_place").await,
        ["2 0"]
    );
    assert_eq!(
        value(
            &ctx,
            "SELECT directed FROM g WHERE name = 'place_near_place'"
        )
        .await,
        "false"
    );
}

#[tokio::test]
async fn a_hundred_writers_of_one_graph_lose_nothing() {
    let store = Arc::new(InMemory::new());
    let writers = (0..100).map(|i| {
        let ctx = session(&store, &How::default());
        SpawnedTask::spawn(async move {
            let statement = copy(
                &format!("SELECT {i} AS x"),
                &format!("'vertex' 't{i}', 'key' 'x'"),
            );
            rows(&ctx, &statement).await;
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.join().await.unwrap();
    }
    let ctx = reopened(&store).await;
    assert_eq!(value(&ctx, "SELECT count(*) FROM g").await, "100");
    for i in [0, 17, 99] {
        assert_eq!(
            value(&ctx, &format!("SELECT x FROM g.t{i}")).await,
            i.to_string()
        );
    }
}

#[tokio::test]
async fn plans_name_the_sink_and_planning_writes_nothing() {
    let (store, ctx) = empty();
    let plan = rows(
        &ctx,
        &format!("EXPLAIN {}", copy("SELECT 1 AS id", "'vertex' 'p'")),
    )
    .await;
    assert!(
        plan.join("\n").contains("GraphArSink: vertices p"),
        "{plan:?}"
    );
    let ctx = session(&store, &How::default());
    assert!(ctx.register_graph("g", GRAPH).await.is_err());
}

#[tokio::test]
async fn tables_are_exported_to_ordinary_files() {
    let (store, ctx) = empty();
    write_persons(&ctx, "(1, 'a', 0.5), (2, NULL, 1.5)").await;
    let ctx = {
        drop(ctx);
        reopened(&store).await
    };
    for format in ["parquet", "csv", "json"] {
        let file = format!("memory://t/out/person.{format}");
        rows(
            &ctx,
            &format!("COPY g.person TO '{file}' STORED AS {format}"),
        )
        .await;
        let table =
            format!("CREATE EXTERNAL TABLE {format}_copy STORED AS {format} LOCATION '{file}'");
        rows(&ctx, &table).await;
        let sql = format!("SELECT _vertex_id, id, name, score FROM {format}_copy ORDER BY id");
        assert_eq!(
            rows(&ctx, &sql).await,
            ["0 1 a 0.5", "1 2 NULL 1.5"],
            "{format}"
        );
    }
}
