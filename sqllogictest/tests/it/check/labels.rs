//! Label chunks with something wrong.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, BooleanArray, ListBuilder, RecordBatch, StringBuilder};
use datafusion::parquet::arrow::ArrowWriter;
use datafusion_graphar::format::FileType;

use crate::fixture::*;

/// Seven persons in chunks of three, the even ones `x`, all `y`.
async fn labelled() -> Archive {
    let mut info = person(3, FileType::Csv);
    info.labels = ["x", "y"].map(str::to_owned).to_vec();
    let mut labels = ListBuilder::new(StringBuilder::new());
    for id in 0..7 {
        let names = [("x", 2), ("y", 1)].into_iter();
        labels.append_value(names.filter(|(_, step)| id % step == 0).map(|n| Some(n.0)));
    }
    let rows = batch(vec![("id", ints(0..7))]);
    Fixture::new()
        .labelled(info, &rows, &labels.finish())
        .await
        .finish()
        .await
}

async fn put(archive: &Archive, path: &str, columns: Vec<(&str, ArrayRef)>) {
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut bytes = vec![];
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    archive.put(path, bytes).await;
}

async fn check(archive: &Archive) -> Vec<String> {
    let sql = "SELECT replace(file, 'memory://t/data/vertex/person/', ''), rule, expected, found \
               FROM graph_check('g') ORDER BY file, rule";
    rows(&archive.session().await, sql).await
}

#[tokio::test]
async fn damage_to_labels_is_found_and_labels_without_files_are_none() {
    let archive = labelled().await;
    assert!(check(&archive).await.is_empty());

    let yes: ArrayRef = Arc::new(BooleanArray::from(vec![true; 3]));
    let some: ArrayRef = Arc::new(BooleanArray::from(vec![Some(true), None, Some(false)]));
    put(
        &archive,
        "vertex/person/labels/chunk0",
        vec![("x", Arc::clone(&yes)), ("y", some)],
    )
    .await;
    put(
        &archive,
        "vertex/person/labels/chunk1",
        vec![("x", ints(0..3)), ("y", yes)],
    )
    .await;
    archive.delete("vertex/person/labels/chunk2").await;
    assert_eq!(
        check(&archive).await,
        [
            "labels/chunk0 null_value a value in each row of column 'y' null in row 1",
            "labels/chunk1 stored_type bool in column 'x' int64",
            "labels/chunk2 missing_file chunk 3 of the 3 for 7 rows by vertex_count no such file",
        ]
    );

    archive.delete("vertex/person/labels/chunk0").await;
    archive.delete("vertex/person/labels/chunk1").await;
    assert!(check(&archive).await.is_empty());
}
