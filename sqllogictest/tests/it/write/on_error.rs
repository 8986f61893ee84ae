//! Rows that cannot be written: they fail, are left out, or go to a file.

use datafusion::arrow::array::ArrayRef;
use datafusion::execution::memory_pool::GreedyMemoryPool;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion_graphar::format::FileType;
use datafusion_graphar::storage::{Location, Stores};
use datafusion_graphar::writer::{GraphWriter, OnError, WriteOptions};
use futures::stream;
use object_store::ObjectStoreExt;
use object_store::path::Path;

use super::*;
use crate::fixture::{batch, error, ints, person as person_info, value};

const FILE: &str = "w/bad.csv";

/// A query with bad rows, and what is to become of it.
struct Case {
    query: &'static str,
    options: &'static str,
    /// What the statement fails with.
    message: &'static str,
    /// What is written without the bad rows.
    read: &'static str,
    written: &'static [&'static str],
    /// The file of the bad rows.
    file: &'static str,
}

const CASES: [Case; 6] = [
    Case {
        query: "SELECT * FROM (VALUES (7, 'a', 1), (NULL, 'b', 2), (8, NULL, 3), (7, 'c', 4), (8, 'd', 5), (9, 'e', 6),
                (8, 'x, \"y\"', 7), (9, '', 8)) t(id, name, n)",
        options: "'vertex' 'thing', 'key' 'id', 'not_null' 'name', 'chunk_size' '2'",
        message: "null",
        read: "SELECT _vertex_id, id, name, n FROM g.thing ORDER BY 1",
        written: &["0 7 a 1", "1 8 d 5", "2 9 e 6"],
        file: "row,reason,id,name,n\n\
               1,\"primary key of thing: expected a value, found null in column 'id'\",,b,2\n\
               2,\"column 'name': expected a value, since the property is not nullable, found null\",8,,3\n\
               3,\"primary key of thing: expected a key that no other vertex has, found 7, as row 0 has it\",7,c,4\n\
               6,\"primary key of thing: expected a key that no other vertex has, found 8, as row 4 has it\",8,\"x, \"\"y\"\"\",7\n\
               7,\"primary key of thing: expected a key that no other vertex has, found 9, as row 5 has it\",9,\"\",8\n",
    },
    Case {
        query: "SELECT * FROM (VALUES ('é', 1, [1, NULL]), ('é', 2, NULL), ('é', 1, [2]), (NULL, 1, [])) t(k, n, tags)",
        options: "'vertex' 'thing', 'key' 'k, n'",
        message: "primary key of row",
        read: "SELECT _vertex_id, k, n, tags FROM g.thing ORDER BY 1",
        written: &["0 é 1 [1, NULL]", "1 é 2 NULL"],
        file: "row,reason,k,n,tags\n\
               2,\"primary key of thing: expected a key that no other vertex has, found é, 1, as row 0 has it\",é,1,[2]\n\
               3,\"primary key of thing: expected a value, found null in column 'k'\",,1,[]\n",
    },
    Case {
        query: "SELECT * FROM (VALUES (1), (NULL), (1)) t(n)",
        options: "'vertex' 'thing', 'not_null' 'n'",
        message: "column 'n', row",
        read: "SELECT _vertex_id, n FROM g.thing ORDER BY 1",
        written: &["0 1", "1 1"],
        file: "row,reason,n\n\
               1,\"column 'n': expected a value, since the property is not nullable, found null\",\n",
    },
    Case {
        query: "SELECT * FROM (VALUES (10, 20, 1), (10, 21, 2), (NULL, 10, 3), (20, 10, NULL), (99, 98, NULL), (20, 20, 6))
                t(a, b, w)",
        options: "'edge' 'person-likes-person', 'source_key' 'a', 'destination_key' 'b', 'not_null' 'w'",
        message: "of row",
        read: "SELECT _src_id, _dst_id, w FROM g.person_likes_person ORDER BY 1, 2",
        written: &["0 1 1", "1 1 6"],
        file: "row,reason,a,b,w\n\
               1,\"destination of person_likes_person: expected the primary key of one of the 2 vertices of 'person', found 21\",10,21,2\n\
               2,\"source of person_likes_person: expected the primary key of one of the 2 vertices of 'person', found NULL\",,10,3\n\
               3,\"column 'w': expected a value, since the property is not nullable, found null\",20,10,\n\
               4,\"source of person_likes_person: expected the primary key of one of the 2 vertices of 'person', found 99\",99,98,\n",
    },
    Case {
        query: "SELECT * FROM (VALUES (0, 2), (-1, 1), (1, 0), (NULL, 1), (1, NULL)) t(a, b)",
        options: "'edge' 'person-likes-person', 'source_id' 'a', 'destination_id' 'b'",
        message: "of row",
        read: "SELECT _src_id, _dst_id FROM g.person_likes_person",
        written: &["1 0"],
        file: "row,reason,a,b\n\
               0,\"destination of person_likes_person: expected an internal id of one of the 2 vertices of 'person', found 2\",0,2\n\
               1,\"source of person_likes_person: expected an internal id of one of the 2 vertices of 'person', found -1\",-1,1\n\
               3,\"source of person_likes_person: expected an internal id of one of the 2 vertices of 'person', found null\",,1\n\
               4,\"destination of person_likes_person: expected an internal id of one of the 2 vertices of 'person', found null\",1,\n",
    },
    Case {
        query: "SELECT * FROM (VALUES (10, 1), (30, 1), (20, 7)) t(a, b)",
        options: "'edge' 'person-likes-person', 'source_key' 'a', 'destination_id' 'b'",
        message: "of row",
        read: "SELECT _src_id, _dst_id FROM g.person_likes_person",
        written: &["0 1"],
        file: "row,reason,a,b\n\
               1,\"source of person_likes_person: expected the primary key of one of the 2 vertices of 'person', found 30\",30,1\n\
               2,\"destination of person_likes_person: expected an internal id of one of the 2 vertices of 'person', found 7\",20,7\n",
    },
];

/// The file of bad rows, if it is there.
async fn file(store: &InMemory) -> Option<String> {
    let found = store.get(&Path::from(FILE)).await.ok()?;
    Some(String::from_utf8(found.bytes().await.unwrap().to_vec()).unwrap())
}

fn reject(options: &str) -> String {
    format!("{options}, 'on_error' 'reject', 'reject_file' 'memory://t/{FILE}'")
}

#[tokio::test]
async fn bad_rows_fail_are_left_out_or_go_to_a_file() {
    for batch_size in [1, 3, 8192] {
        for case in CASES {
            let store = Arc::new(InMemory::new());
            let how = How {
                // With one partition rows come in their order.
                partitions: 1,
                batch_size,
                ..How::default()
            };
            let ctx = session(&store, &how);
            write_persons(&ctx, "(10, 'a', 0.0), (20, 'b', 0.0)").await;
            for fail in ["", ", 'on_error' 'fail'"] {
                let options = format!("{}{fail}", case.options);
                let message = error(&ctx, &copy(case.query, &options)).await;
                assert!(message.contains(case.message), "{message}");
            }
            let skip = format!("{}, 'on_error' 'skip'", case.options);
            for (options, expected) in [
                (skip, None),
                (reject(case.options), Some(case.file.to_owned())),
            ] {
                let count = rows(&ctx, &copy(case.query, &options)).await;
                assert_eq!(count, [case.written.len().to_string()]);
                let ctx = reopened(&store).await;
                assert_eq!(rows(&ctx, case.read).await, case.written, "{batch_size}");
                let deep = "SELECT count(*) FROM graph_check('g', 'deep')";
                assert_eq!(value(&ctx, deep).await, "0");
                assert_eq!(file(&store).await, expected, "{batch_size}");
            }
        }
    }
}

#[tokio::test]
async fn without_bad_rows_there_is_no_file() {
    let (store, ctx) = empty();
    write_persons(&ctx, "(10, 'a', 0.0)").await;
    for (query, options) in [
        ("SELECT 1 AS id", "'vertex' 'thing', 'key' 'id'"),
        ("SELECT 1 AS id WHERE false", "'vertex' 'thing', 'key' 'id'"),
        (
            "SELECT 10 AS a, 0 AS b",
            "'edge' 'person-likes-person', 'source_key' 'a', 'destination_id' 'b'",
        ),
    ] {
        rows(&ctx, &copy(query, &reject(options))).await;
        assert_eq!(file(&store).await, None);
    }
}

#[tokio::test]
async fn a_statement_that_fails_leaves_no_file() {
    let (store, ctx) = empty();
    // The label is found to be unknown after rows were rejected.
    let query = "SELECT * FROM (VALUES (1, ['x']), (1, ['x']), (2, ['y'])) t(id, _labels)";
    let options = reject("'vertex' 'thing', 'key' 'id', 'labels' 'x'");
    let message = error(&ctx, &copy(query, &options)).await;
    assert!(message.contains("unknown label"), "{message}");
    assert_eq!(file(&store).await, None);
}

#[tokio::test]
async fn many_rejected_rows_are_streamed() {
    let (store, ctx) = empty();
    let query = "SELECT value % 3 AS id, repeat('0123456789', 20) AS text FROM range(0, 60000)";
    rows(&ctx, &copy(query, &reject("'vertex' 'thing', 'key' 'id'"))).await;
    // More than a part of an upload.
    let text = file(&store).await.unwrap();
    assert!(text.len() > 12 << 20);
    assert_eq!(text.lines().count(), 60000 - 3 + 1);
    assert_eq!(
        value(&reopened(&store).await, "SELECT count(*) FROM g.thing").await,
        "3"
    );
}

#[tokio::test]
async fn rejected_rows_and_keys_are_charged_to_the_memory_pool() {
    let (_, ctx) = empty();
    let stores = Stores::new(ctx.runtime_env());
    let file = Location::parse(&format!("memory://t/{FILE}"), &stores).unwrap();
    // What is enough without a file is not enough for the rows that wait for it.
    for (limit, on_error, fits) in [
        (1 << 10, OnError::Skip, false),
        (100 << 10, OnError::Skip, true),
        (100 << 10, OnError::Reject(file), false),
    ] {
        let options = WriteOptions {
            pool: Arc::new(GreedyMemoryPool::new(limit)),
            on_error,
            ..WriteOptions::default()
        };
        let mut writer = GraphWriter::open(GRAPH, &stores, options).await.unwrap();
        let rows = batch(vec![("id", ints([7; 128]))]);
        let schema = rows.schema();
        let rows = stream::iter((0..64).map(move |_| Ok(rows.clone())));
        let rows = Box::pin(RecordBatchStreamAdapter::new(schema, rows));
        let info = person_info(1 << 10, FileType::Parquet);
        match writer.write_vertex_stream(info, rows).await {
            Ok(written) => assert!(fits && written.skipped.rows() == 64 * 128 - 1),
            Err(error) => {
                let error = error.strip_backtrace();
                assert!(!fits && error.contains("Resources exhausted"), "{error}");
            }
        }
    }
}

#[tokio::test]
async fn totals_are_metrics() {
    let (_, ctx) = empty();
    let query = "SELECT * FROM (VALUES (1), (1), (NULL), (2)) t(id)";
    let options = "'vertex' 'thing', 'key' 'id', 'on_error' 'skip'";
    let plan = rows(&ctx, &format!("EXPLAIN ANALYZE {}", copy(query, options))).await;
    let plan = plan.join("\n");
    for part in ["rows_written=2", "rows_skipped=2", "on_error=skip"] {
        assert!(plan.contains(part), "{plan}");
    }
}

#[tokio::test]
async fn options_that_contradict_each_other_are_named() {
    let (_, ctx) = empty();
    for (options, part) in [
        (
            "'on_error' 'ignore'",
            "option 'on_error': expected fail, skip or reject, found 'ignore'",
        ),
        (
            "'on_error' 'reject'",
            "reject needs the option 'reject_file'",
        ),
        (
            "'on_error' 'skip', 'reject_file' 'memory://t/x.csv'",
            "option 'reject_file' goes with 'on_error' 'reject'",
        ),
        (
            "'reject_file' 'memory://t/x.csv'",
            "option 'reject_file' goes with 'on_error' 'reject'",
        ),
        (
            "'on_error' 'reject', 'reject_file' 'nowhere://t/x.csv'",
            "nowhere://t",
        ),
    ] {
        let options = format!("'vertex' 'p', 'key' 'id', {options}");
        let message = error(&ctx, &copy("SELECT 1 AS id", &options)).await;
        assert!(message.contains(part), "{options}: {message}");
    }
    let twice = "SELECT * FROM (VALUES (1), (1)) t(id)";
    let options = format!("'vertex' 'p', 'key' 'id', 'on_error' 'reject', 'reject_file' '{GRAPH}'");
    let message = error(&ctx, &copy(twice, &options)).await;
    assert!(message.contains("nothing else is written to"), "{message}");
}

#[tokio::test]
async fn inserted_rows_fail() {
    let (store, ctx) = empty();
    write_persons(&ctx, "(10, 'a', 0.0)").await;
    ctx.register_graph("g", GRAPH).await.unwrap();
    let message = error(&ctx, "INSERT INTO g.person (id) VALUES (11), (10)").await;
    assert!(message.contains("primary key of row 1"), "{message}");
    assert_eq!(persons(&reopened(&store).await).await, ["0 10 a 0.0"]);
}

#[tokio::test]
async fn writers_append_without_bad_rows_and_give_the_totals() {
    let (store, ctx) = empty();
    rows(
        &ctx,
        &copy(
            "SELECT * FROM (VALUES (1000), (1001), (1002)) t(id)",
            "'vertex' 'person', 'key' 'id', 'chunk_size' '2'",
        ),
    )
    .await;
    rows(
        &ctx,
        &copy(
            "SELECT 0 AS a, 1 AS b",
            "'edge' 'person-knows-person', 'source_id' 'a', 'destination_id' 'b'",
        ),
    )
    .await;
    let stores = Stores::new(ctx.runtime_env());
    let options = WriteOptions {
        on_error: OnError::Reject(Location::parse(&format!("memory://t/{FILE}"), &stores).unwrap()),
        ..WriteOptions::default()
    };
    let stream = |columns: Vec<(&str, ArrayRef)>| {
        let rows = batch(columns);
        let schema = rows.schema();
        let rows = stream::iter((0..rows.num_rows()).map(move |row| Ok(rows.slice(row, 1))));
        Box::pin(RecordBatchStreamAdapter::new(schema, rows))
    };
    let mut writer = GraphWriter::open(GRAPH, &stores, options).await.unwrap();
    let new = stream(vec![("id", ints([7, 1001, 8, 7]))]);
    let written = writer.append_vertices("person", new).await.unwrap();
    assert_eq!((written.rows, written.skipped.rows()), (2, 2));
    assert_eq!(written.skipped.repeated_keys, 2);
    let first = written.skipped.first.unwrap();
    assert_eq!(first.row, 1);
    assert!(first.reason.contains("as vertex 1 has it"), "{first:?}");
    writer.commit().await.unwrap();
    assert!(
        file(&store)
            .await
            .unwrap()
            .contains("found 7, as row 0 has it\",7\n")
    );

    let mut writer = GraphWriter::open(GRAPH, &stores, WriteOptions::default())
        .await
        .unwrap();
    writer.set_on_error(OnError::Skip);
    let new = stream(vec![
        ("_src_id", ints([4, 5, 0])),
        ("_dst_id", ints([0, 0, -1])),
    ]);
    let written = writer
        .append_edges("person_knows_person", [0, 1], new)
        .await
        .unwrap();
    assert_eq!((written.rows, written.skipped.missing_ends), (1, 2));
    writer.commit().await.unwrap();
    let ctx = reopened(&store).await;
    assert_eq!(
        rows(&ctx, "SELECT _vertex_id, id FROM g.person ORDER BY 1").await,
        ["0 1000", "1 1001", "2 1002", "3 7", "4 8"]
    );
    assert_eq!(
        rows(
            &ctx,
            "SELECT _src_id, _dst_id FROM g.person_knows_person ORDER BY 1"
        )
        .await,
        ["0 1", "4 0"]
    );
}

#[tokio::test]
async fn a_file_takes_the_rows_of_one_type_if_the_graph_changes() {
    let store = Arc::new(InMemory::new());
    let ctx = session(&store, &How::default());
    let stores = Stores::new(ctx.runtime_env());
    let options = WriteOptions {
        on_error: OnError::Reject(Location::parse(&format!("memory://t/{FILE}"), &stores).unwrap()),
        ..WriteOptions::default()
    };
    let mut writer = GraphWriter::open(GRAPH, &stores, options.clone())
        .await
        .unwrap();
    let twice = || {
        let rows = batch(vec![("id", ints([1, 1]))]);
        let schema = rows.schema();
        Box::pin(RecordBatchStreamAdapter::new(
            schema,
            stream::iter([Ok(rows)]),
        ))
    };
    let info = person_info(2, FileType::Parquet);
    writer
        .write_vertex_stream(info.clone(), twice())
        .await
        .unwrap();
    let mut other = info;
    other.vertex_type = "other".to_owned();
    let message = writer
        .write_vertex_stream(other, twice())
        .await
        .unwrap_err();
    assert!(
        message.to_string().contains("nothing else is written to"),
        "{message}"
    );
    assert_eq!(file(&store).await, None);
    drop(writer);
    assert_eq!(file(&store).await, None);

    // Of two writers of one type the second fails, and takes its file back.
    let info = || person_info(2, FileType::Parquet);
    let mut writers = vec![];
    for _ in 0..2 {
        let mut writer = GraphWriter::open(GRAPH, &stores, options.clone())
            .await
            .unwrap();
        writer.write_vertex_stream(info(), twice()).await.unwrap();
        writers.push(writer);
    }
    let second = writers.pop().unwrap();
    writers.pop().unwrap().commit().await.unwrap();
    assert!(file(&store).await.is_some());
    let message = second.commit().await.unwrap_err().to_string();
    assert!(message.contains("another writer"), "{message}");
    assert_eq!(file(&store).await, None);
}
