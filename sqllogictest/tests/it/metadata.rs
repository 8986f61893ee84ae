//! Metadata that is odd, and archives whose files hold other types than they declare.

use std::sync::Arc;

use datafusion::arrow::array::{
    ArrayRef, BooleanArray, Int32Array, Int64Array, LargeStringArray, ListBuilder, RecordBatch,
    RecordBatchOptions, StringArray, StringBuilder,
};
use datafusion::arrow::datatypes::Schema;
use datafusion::parquet::arrow::ArrowWriter;
use datafusion_graphar::format::{FileType, ScalarType};

use crate::fixture::*;

fn parquet(rows: &RecordBatch) -> Vec<u8> {
    let mut bytes = vec![];
    let mut writer = ArrowWriter::try_new(&mut bytes, rows.schema(), None).unwrap();
    writer.write(rows).unwrap();
    writer.close().unwrap();
    bytes
}

#[tokio::test]
async fn stored_types_become_the_declared_ones_or_an_error_that_names_the_value() {
    let archive = Fixture::persons(3, 3, FileType::Parquet)
        .await
        .finish()
        .await;
    let chunk = "vertex/person/id/chunk0";
    let narrow: ArrayRef = Arc::new(Int32Array::from(vec![1000, 1001, 1002]));
    archive
        .put(chunk, parquet(&batch(vec![("id", narrow)])))
        .await;
    let ctx = archive.session().await;
    assert_eq!(
        value(&ctx, "SELECT sum(id), max(id) + 9000000000 FROM g.person").await,
        "3003 9000001002"
    );

    let info = String::from_utf8(archive.get("person.vertex.yml").await).unwrap();
    archive
        .put("person.vertex.yml", info.replace("int64", "int32"))
        .await;
    let wide: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 1 << 40]));
    archive
        .put(chunk, parquet(&batch(vec![("id", wide)])))
        .await;
    let ctx = archive.session().await;
    let message = error(&ctx, "SELECT id FROM g.person").await;
    for part in ["vertex/person/id/chunk0", "id", "1099511627776"] {
        assert!(message.contains(part), "{message}");
    }

    archive
        .put("person.vertex.yml", info.replace("int64", "string"))
        .await;
    let large: ArrayRef = Arc::new(LargeStringArray::from(vec!["a", "", "c"]));
    archive
        .put(chunk, parquet(&batch(vec![("id", large)])))
        .await;
    let ctx = archive.session().await;
    let sql = "SELECT string_agg(id, '-' ORDER BY _vertex_id), count(id) FROM g.person";
    assert_eq!(value(&ctx, sql).await, "a--c 3");
}

#[tokio::test]
async fn a_null_under_a_promise_is_an_error_or_a_null_but_nothing_internal() {
    let mut info = person(3, FileType::Parquet);
    let mut score = property("score", ScalarType::Int64);
    score.is_nullable = false;
    info.property_groups
        .push(group(FileType::Parquet, vec![score]));
    let rows_of = |score: Vec<Option<i64>>| {
        let score: ArrayRef = Arc::new(Int64Array::from(score));
        RecordBatch::try_from_iter_with_nullable([("score", score, true)]).unwrap()
    };
    let archive = Fixture::new()
        .vertices(
            info,
            &batch(vec![("id", ints([1, 2, 3])), ("score", ints([7, 8, 7]))]),
        )
        .await
        .finish()
        .await;
    let chunk = "vertex/person/score/chunk0";
    let sql = "SELECT score, count(*), count(score) FROM g.person GROUP BY score ORDER BY score";
    archive
        .put(chunk, parquet(&rows_of(vec![Some(7), Some(8), Some(7)])))
        .await;
    for how in How::all() {
        let ctx = archive.open(&how).await.unwrap();
        assert_eq!(rows(&ctx, sql).await, ["7 2 2", "8 1 1"]);
    }
    archive
        .put(chunk, parquet(&rows_of(vec![Some(7), None, Some(7)])))
        .await;
    for mut how in How::all() {
        let ctx = archive.open(&how).await.unwrap();
        let message = error(&ctx, sql).await;
        for part in ["score/chunk0", "'score'", "row 1"] {
            assert!(message.contains(part), "{message}");
        }
        assert!(!message.contains("Internal"), "{message}");
        how.options.enforce_not_null = false;
        let ctx = archive.open(&how).await.unwrap();
        assert_eq!(rows(&ctx, sql).await, ["7 2 2", "NULL 1 0"]);
    }
}

#[tokio::test]
async fn elements_without_properties_have_their_ids() {
    let mut info = person(3, FileType::Parquet);
    info.property_groups.clear();
    let none = RecordBatch::try_new_with_options(
        Arc::new(Schema::empty()),
        vec![],
        &RecordBatchOptions::new().with_row_count(Some(7)),
    )
    .unwrap();
    let archive = Fixture::new()
        .vertices(info, &none)
        .await
        .edges(knows(3, 2, FileType::Csv), &[(0, 1), (6, 6)], None)
        .await
        .finish()
        .await;
    for how in How::all() {
        let ctx = archive.open(&how).await.unwrap();
        let sql = "SELECT * FROM g.person ORDER BY _vertex_id DESC LIMIT 2";
        assert_eq!(rows(&ctx, sql).await, ["6", "5"]);
        assert_eq!(
            value(&ctx, "SELECT count(*), sum(_vertex_id) FROM g.person").await,
            "7 21"
        );
        let sql = "SELECT * FROM g.person_knows_person ORDER BY 1";
        assert_eq!(rows(&ctx, sql).await, ["0 1", "6 6"]);
    }
    // An empty list of groups, as some writers have it.
    let info = String::from_utf8(archive.get("person.vertex.yml").await).unwrap();
    archive
        .put("person.vertex.yml", format!("{info}property_groups: []\n"))
        .await;
    let ctx = archive.session().await;
    assert_eq!(
        value(&ctx, "SELECT count(_vertex_id) FROM g.person").await,
        "7"
    );
}

#[tokio::test]
async fn a_column_that_a_file_lacks_is_null_and_more_columns_are_ignored() {
    let mut info = person(3, FileType::Parquet);
    info.property_groups[0]
        .properties
        .push(property("nick", ScalarType::String));
    let nick: ArrayRef = Arc::new(StringArray::from(vec!["x"; 4]));
    let archive = Fixture::new()
        .vertices(info, &batch(vec![("id", ints(0..4)), ("nick", nick)]))
        .await
        .finish()
        .await;
    let less = batch(vec![("more", ints([5, 5, 5])), ("id", ints([0, 1, 2]))]);
    archive
        .put("vertex/person/id_nick/chunk0", parquet(&less))
        .await;
    let ctx = archive.session().await;
    let sql = "SELECT id, nick FROM g.person ORDER BY id";
    assert_eq!(rows(&ctx, sql).await, ["0 NULL", "1 NULL", "2 NULL", "3 x"]);
}

#[tokio::test]
async fn info_files_that_make_no_graph_are_refused_with_all_that_is_wrong() {
    let archive = Fixture::persons(3, 3, FileType::Parquet)
        .await
        .finish()
        .await;
    let info = String::from_utf8(archive.get("person.vertex.yml").await).unwrap();
    for (broken, parts) in [
        (info.replace("int64", "uint7"), vec!["data_type", "uint7"]),
        (
            info.replace("parquet", "lance"),
            vec!["file_type", "lance", "parquet"],
        ),
        (
            info.replace("chunk_size: 3", "chunk_size: 0"),
            vec!["chunk_size", "0"],
        ),
        (
            info.replace("name: id", "name: _vertex_id"),
            vec!["_vertex_id"],
        ),
        ("a: [".to_owned(), vec!["person.vertex.yml"]),
    ] {
        archive.put("person.vertex.yml", broken).await;
        let Err(refused) = archive.open(&How::default()).await else {
            panic!("{parts:?} was not refused");
        };
        let message = refused.strip_backtrace();
        for part in parts.iter().chain(&["data/person.vertex.yml"]) {
            assert!(message.contains(part), "{part}: {message}");
        }
    }
}

#[tokio::test]
async fn labels_are_found_by_position_and_unknown_without_files() {
    // Labels are Parquet whatever the properties are.
    let mut info = person(2, FileType::Csv);
    info.labels = vec!["x".to_owned(), "y".to_owned()];
    let mut labels = ListBuilder::new(StringBuilder::new());
    for names in [&["y"][..], &[], &["x", "y"], &["x"], &[]] {
        labels.append_value(names.iter().map(Some));
    }
    let ids = batch(vec![("id", ints(0..5))]);
    let archive = Fixture::new()
        .labelled(info, &ids, &labels.finish())
        .await
        .finish()
        .await;
    let sql = "SELECT _labels, _vertex_id FROM g.person ORDER BY _vertex_id";
    for how in How::all() {
        let ctx = archive.open(&how).await.unwrap();
        let expected = ["[y] 0", "[] 1", "[x, y] 2", "[x] 3", "[] 4"];
        assert_eq!(rows(&ctx, sql).await, expected, "{how:?}");
        let all = "SELECT * FROM g.person ORDER BY _vertex_id LIMIT 1";
        assert_eq!(value(&ctx, all).await, "0 [y] 0");
    }
    // Other column names: the position decides.
    let renamed = batch(vec![
        (
            "p",
            Arc::new(BooleanArray::from(vec![true, false])) as ArrayRef,
        ),
        (
            "q",
            Arc::new(BooleanArray::from(vec![false, true])) as ArrayRef,
        ),
    ]);
    archive
        .put("vertex/person/labels/chunk0", parquet(&renamed))
        .await;
    let found = rows(&archive.session().await, sql).await;
    assert_eq!(found[..2], ["[x] 0", "[y] 1"]);
    // One that is lost is an error; without any the labels are unknown.
    archive.delete("vertex/person/labels/chunk0").await;
    let message = error(&archive.session().await, sql).await;
    assert!(
        message.contains("missing file data/vertex/person/labels/chunk0"),
        "{message}"
    );
    for chunk in 1..3 {
        archive
            .delete(&format!("vertex/person/labels/chunk{chunk}"))
            .await;
    }
    let sql = "SELECT count(*), count(_labels) FROM g.person";
    assert_eq!(value(&archive.session().await, sql).await, "5 0");
}
