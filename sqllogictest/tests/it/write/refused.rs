//! Statements that write nothing, and say why.

use super::*;
use crate::fixture::error;

#[tokio::test]
async fn rows_that_do_not_fit_are_named() {
    let (store, ctx) = empty();
    write_persons(&ctx, "(10, 'a', 0.0), (20, 'b', 0.0)").await;
    write_knows(&ctx, "(10, 20, 7)").await;
    let person = "'vertex' 'person2', 'key' 'id'";
    let knows = "'edge' 'person-likes-person', 'source_key' 'a', 'destination_key' 'b'";
    let ids = "'edge' 'person-likes-person', 'source_id' 'a', 'destination_id' 'b'";
    for (query, options, part) in [
        (
            "SELECT * FROM (VALUES (7), (8), (7)) t(id)",
            person,
            "rows of person2: primary key of row 2: expected a key that no other row has, found 7, as in row 0",
        ),
        (
            "SELECT * FROM (VALUES (7), (NULL)) t(id)",
            person,
            "rows of person2: primary key of row 1: expected a value, found null",
        ),
        (
            "SELECT * FROM (VALUES (10, 20), (10, 21)) t(a, b)",
            knows,
            "destination of row 1: expected the primary key of one of the 2 vertices of 'person', found 21",
        ),
        (
            "SELECT * FROM (VALUES (10, 20), (NULL, 10)) t(a, b)",
            knows,
            "source of row 1: expected the primary key of one of the 2 vertices of 'person', found NULL",
        ),
        (
            "SELECT * FROM (VALUES (0, 2)) t(a, b)",
            ids,
            "destination of row 0: expected an internal id of one of the 2 vertices of 'person', counted from 0, found 2",
        ),
        (
            "SELECT * FROM (VALUES (-1, 1)) t(a, b)",
            ids,
            "source of row 0: expected an internal id of one of the 2 vertices of 'person', counted from 0, found -1",
        ),
        (
            "SELECT TIMESTAMP '2020-01-01T00:00:00.0001' AS at",
            "'vertex' 't'",
            "column 'at', row 0: expected a time in whole milliseconds",
        ),
        (
            "SELECT arrow_cast(18446744073709551615, 'UInt64') AS n",
            "'vertex' 't'",
            "column 'n'",
        ),
        (
            "SELECT 1.5::decimal(5,2) AS d",
            "'vertex' 't'",
            "cast it to DOUBLE",
        ),
        (
            "SELECT 1 AS x, ['z'] AS _labels",
            "'vertex' 't', 'labels' 'a'",
            "unknown label of t, row 0, 'z'",
        ),
    ] {
        let message = error(&ctx, &copy(query, options)).await;
        assert!(message.contains(part), "{query}: {message}");
    }
    // What was there is as it was, and nothing else has come.
    let ctx = reopened(&store).await;
    assert_eq!(persons(&ctx).await, ["0 10 a 0.0", "1 20 b 0.0"]);
    assert_eq!(edges(&ctx).await, ["0 1 7"]);
    assert_eq!(rows(&ctx, "SELECT count(*) FROM g").await, ["2"]);
}

#[tokio::test]
async fn options_that_mean_nothing_are_named_with_those_that_do() {
    let (_, ctx) = empty();
    write_persons(&ctx, "(10, 'a', 0.0)").await;
    let edge = "SELECT 1 AS a, 1 AS b";
    for (query, options, part) in [
        (
            "SELECT 1 AS id",
            "'vertex' 'p', 'kee' 'id'",
            "unknown option 'kee' of STORED AS GRAPHAR; known: vertex, edge,",
        ),
        (
            "SELECT 1 AS id",
            "'key' 'id'",
            "name it by the option 'vertex' or 'edge'",
        ),
        (
            "SELECT 1 AS id",
            "'vertex' 'p', 'edge' 'a-b-c'",
            "name it by the option 'vertex' or 'edge'",
        ),
        (
            "SELECT 1 AS id",
            "'vertex' 'p', 'key' 'no'",
            "option 'key': the rows have no column 'no'; they have id",
        ),
        (
            "SELECT 1 AS id",
            "'vertex' 'p', 'chunk_size' '0'",
            "expected a number of at least 1, found '0'",
        ),
        (
            "SELECT 1 AS id",
            "'vertex' 'p', 'layouts' 'ordered_by_source'",
            "option 'layouts' has no meaning for a vertex type",
        ),
        (
            "SELECT 1 AS id",
            "'vertex' 'p', 'file_type' 'exe'",
            "unknown file type 'exe'; known: parquet",
        ),
        (
            "SELECT 1 AS id",
            "'vertex' 'p', 'compression' 'zstd(99)'",
            "expected zstd, zstd(1) to zstd(22)",
        ),
        (
            "SELECT 1 AS id",
            "'vertex' 'p', 'groups' 'id; id'",
            "'id' is no column for a property, or stands there twice",
        ),
        (
            "SELECT 1 AS id",
            "'vertex' 'a/b'",
            "expected a name, without a slash",
        ),
        (
            "SELECT [1] AS l",
            "'vertex' 'p', 'file_type' 'csv'",
            "expected a single value, which is all that CSV holds",
        ),
        (
            edge,
            "'edge' 'person-likes-nobody', 'source_key' 'a', 'destination_key' 'b'",
            "unknown vertex type 'nobody'; known: person",
        ),
        (
            edge,
            "'edge' 'likes', 'source_key' 'a', 'destination_key' 'b'",
            "expected source-edge-destination",
        ),
        (
            edge,
            "'edge' 'person-likes-person', 'source_key' 'a'",
            "which column holds the destination?",
        ),
        (
            edge,
            "'edge' 'person-likes-person', 'source_key' 'a,b', 'destination_key' 'b'",
            "as many columns as the key of 'person' has: id",
        ),
        (
            edge,
            "'edge' 'person-likes-person', 'source_key' 'a', 'destination_key' 'b', 'layouts' 'sorted'",
            "unknown layout 'sorted'; known: ordered_by_source",
        ),
    ] {
        let message = error(&ctx, &copy(query, options)).await;
        assert!(message.contains(part), "{options}: {message}");
    }
    let message = error(
        &ctx,
        "COPY (SELECT 1 AS id) TO 'memory://t/w/x.yml' STORED AS GRAPHAR OPTIONS ('vertex' 'p')",
    )
    .await;
    assert!(message.contains("<name>.graph.yml"), "{message}");
}
