//! Vertex types, labels, mistakes.

use std::sync::Arc;

use datafusion::arrow::array::{
    ArrayRef, AsArray, Float64Array, Int32Array, Int64Array, ListBuilder, RecordBatch, StringArray,
    StringBuilder, StringViewArray,
};
use datafusion::arrow::datatypes::DataType;

use super::*;
use crate::format::GraphInfo;

#[tokio::test]
async fn vertices_alone_have_a_count_and_full_chunks() {
    let (store, writer) = with_persons(7, 3, FileType::Parquet).await;
    writer.commit().await.unwrap();
    let files = files(&store).await;
    assert_eq!(count(&files, "g/vertex/person/vertex_count"), 7);
    assert_eq!(
        rows(&files, "g/vertex/person/id/chunk0", FileType::Parquet),
        [[0, 1000], [1, 1001], [2, 1002]]
    );
    assert_eq!(
        rows(&files, "g/vertex/person/id/chunk1", FileType::Parquet),
        [[3, 1003], [4, 1004], [5, 1005]]
    );
    assert_eq!(
        rows(&files, "g/vertex/person/id/chunk2", FileType::Parquet),
        [[6, 1006]]
    );
    assert_eq!(files.len(), 4 + 2);
}

#[tokio::test]
async fn labels_are_boolean_columns_in_declared_order() {
    let (store, mut writer) = new_writer();
    let mut info = person(2, vec![property("id", ScalarType::Int64)], FileType::Csv);
    info.labels = vec!["z".to_owned(), "a".to_owned()];
    let mut labels = ListBuilder::new(StringBuilder::new());
    labels.append_value([Some("a"), None]);
    labels.append_null();
    labels.append_value([Some("a"), Some("z")]);
    let labels = labels.finish();
    writer
        .write_vertices(info, &ids(3), Some(&labels))
        .await
        .unwrap();
    let files = files(&store).await;
    let chunk = parquet(files["g/vertex/person/labels/chunk0"].clone());
    assert!(
        chunk
            .schema()
            .fields()
            .iter()
            .all(|f| !f.is_nullable() && f.data_type() == &DataType::Boolean)
    );
    assert_eq!(chunk.schema().field(0).name(), "z");
    let column = |chunk: &RecordBatch, i: usize| {
        chunk
            .column(i)
            .as_boolean()
            .iter()
            .flatten()
            .collect::<Vec<_>>()
    };
    assert_eq!(
        (column(&chunk, 0), column(&chunk, 1)),
        (vec![false, false], vec![true, false])
    );
    let chunk = parquet(files["g/vertex/person/labels/chunk1"].clone());
    assert_eq!(
        (column(&chunk, 0), column(&chunk, 1)),
        (vec![true], vec![true])
    );

    let (_, mut writer) = new_writer();
    let info = person(2, vec![property("id", ScalarType::Int64)], FileType::Csv);
    let error = writer
        .write_vertices(info, &ids(3), Some(&labels))
        .await
        .unwrap_err();
    assert!(error.to_string().contains("row 0, 'a'"), "{error}");
}

#[tokio::test]
async fn strings_of_any_layout_and_columns_in_any_order() {
    for name in [
        Arc::new(StringArray::from(vec![Some("x"), None])) as ArrayRef,
        Arc::new(StringViewArray::from(vec![Some("x"), None])),
    ] {
        let (store, mut writer) = new_writer();
        let rows = RecordBatch::try_from_iter_with_nullable([
            ("name", name, true),
            (
                "other",
                Arc::new(Int32Array::from(vec![1, 2])) as ArrayRef,
                false,
            ),
            ("id", Arc::new(Int64Array::from(vec![1, 2])), false),
        ]);
        let mut info = person(2, vec![], FileType::Csv);
        let properties = vec![
            property("id", ScalarType::Int64),
            property("name", ScalarType::String),
        ];
        info.property_groups = vec![group(properties, FileType::Csv)];
        writer
            .write_vertices(info, &rows.unwrap(), None)
            .await
            .unwrap();
        assert_eq!(
            files(&store).await["g/vertex/person/id_name/chunk0"],
            "\"_graphArVertexIndex\",\"id\",\"name\"\n0,1,\"x\"\n1,2,\n"
        );
    }
}

#[tokio::test]
async fn mistakes_are_named_and_nothing_is_written() {
    let (store, mut writer) = with_persons(7, 3, FileType::Parquet).await;
    let before = files(&store).await.len();
    let info = || knows(2, 3, vec![], FileType::Parquet);
    let mut faults = vec![];
    for (edges, text) in [
        (
            vec![(0, 1), (0, 7)],
            "destination of row 1: expected an internal id of one of the 7 vertices of 'person'",
        ),
        (
            vec![(-1, 1)],
            "source of row 0: expected an internal id of one of the 7 vertices",
        ),
    ] {
        faults.push((write_edges(&mut writer, info(), &edges).await, text));
    }
    let other = EdgeInfo {
        dst_type: "place".to_owned(),
        ..info()
    };
    faults.push((
        write_edges(&mut writer, other, &[]).await,
        "unknown vertex type 'place'; known: person",
    ));
    faults.push((
        write_edges(&mut writer, knows(2, 4, vec![], FileType::Csv), &[]).await,
        "src_chunk_size: expected 3",
    ));
    let offset = knows(2, 3, vec![property("w", ScalarType::String)], FileType::Csv);
    faults.push((
        write_edges(&mut writer, offset, &[(0, 1)]).await,
        "column 'w': expected Utf8View, found Int64",
    ));
    let mut same = info();
    same.property_groups = vec![PropertyGroup {
        prefix: Some("offset/".to_owned()),
        ..group(vec![property("w", ScalarType::Int64)], FileType::Csv)
    }];
    faults.push((
        write_edges(&mut writer, same, &[(0, 1)]).await,
        "ordered_by_source/offset/' a second time",
    ));
    let twice = person(3, vec![property("id", ScalarType::Int64)], FileType::Csv);
    faults.push((
        writer.write_vertices(twice, &ids(1), None).await,
        "'person' a second time",
    ));
    let mut missing = person(3, vec![property("nick", ScalarType::String)], FileType::Csv);
    missing.vertex_type = "place".to_owned();
    faults.push((
        writer.write_vertices(missing.clone(), &ids(1), None).await,
        "'nick'; known: id",
    ));
    missing.property_groups = vec![group(vec![], FileType::Csv)];
    faults.push((
        writer.write_vertices(missing.clone(), &ids(1), None).await,
        "property_groups[0].properties: expected",
    ));
    missing.property_groups = vec![group(
        vec![Property {
            is_primary: true,
            ..property("id", ScalarType::Int64)
        }],
        FileType::Csv,
    )];
    let null = RecordBatch::try_from_iter([(
        "id",
        Arc::new(Int64Array::from(vec![Some(1), None])) as ArrayRef,
    )]);
    faults.push((
        writer.write_vertices(missing, &null.unwrap(), None).await,
        "column 'id', row 1: expected a value",
    ));
    for (result, text) in faults {
        let error = result.unwrap_err().to_string();
        assert!(error.contains(text), "{error}");
    }
    assert_eq!(files(&store).await.len(), before);
    let store: Arc<dyn ObjectStore> = store;
    let writer = GraphWriter::create(store, Path::from("g"), "a/b");
    assert!(writer.commit().await.is_err());
}

#[test]
fn writing_can_move_between_threads() {
    fn check<T: Send>(_: T) {}
    let (_, mut writer) = new_writer();
    let rows = ids(1);
    check(writer.write_vertices(person(1, vec![], FileType::Csv), &rows, None));
    let ends = Int64Array::from(vec![0]);
    check(writer.write_edges(knows(1, 1, vec![], FileType::Csv), &ends, &ends, &rows));
    check(writer.commit());
}

#[tokio::test]
async fn a_type_that_failed_can_be_tried_again() {
    let (store, mut writer) = new_writer();
    let info = || person(2, vec![property("f", ScalarType::Double)], FileType::Json);
    let rows = |f: f64| {
        RecordBatch::try_from_iter([("f", Arc::new(Float64Array::from(vec![f])) as ArrayRef)])
            .unwrap()
    };
    assert!(
        writer
            .write_vertices(info(), &rows(f64::NAN), None)
            .await
            .is_err()
    );
    writer
        .write_vertices(info(), &rows(0.5), None)
        .await
        .unwrap();
    writer.commit().await.unwrap();
    let files = files(&store).await;
    assert_eq!(
        files["g/vertex/person/f/chunk0"],
        "{\"_graphArVertexIndex\":0,\"f\":0.5}\n"
    );
    let graph =
        GraphInfo::from_yaml(std::str::from_utf8(&files["g/g.graph.yml"]).unwrap(), "g").unwrap();
    assert_eq!(
        (graph.vertices, graph.edges.len(), graph.prefix),
        (vec!["person.vertex.yml".to_owned()], 0, None)
    );
    let text = std::str::from_utf8(&files["g/person.vertex.yml"]).unwrap();
    let back = VertexInfo::from_yaml(text, "person.vertex.yml").unwrap();
    assert_eq!(back.prefix.as_deref(), Some("vertex/person/"));
    assert_eq!(back.property_groups[0].prefix.as_deref(), Some("f/"));
    assert_eq!(back.version.unwrap().to_string(), "gar/v1");
}

#[tokio::test]
async fn prefixes_get_the_slash_that_readers_need() {
    let (store, mut writer) = new_writer();
    let mut info = person(2, vec![property("id", ScalarType::Int64)], FileType::Csv);
    info.prefix = Some("people".to_owned());
    info.property_groups[0].prefix = Some("x/y".to_owned());
    writer.write_vertices(info, &ids(1), None).await.unwrap();
    writer.commit().await.unwrap();
    let files = files(&store).await;
    assert!(files.contains_key("g/people/x/y/chunk0"));
    let text = std::str::from_utf8(&files["g/person.vertex.yml"]).unwrap();
    assert!(
        text.contains("prefix: people/\n") && text.contains("prefix: x/y/\n"),
        "{text}"
    );
}
