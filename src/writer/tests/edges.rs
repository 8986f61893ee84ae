//! Layouts of edges against the rules of the format.

use datafusion::arrow::array::AsArray;
use datafusion::arrow::datatypes::Int64Type;

use super::{Files, count, files, knows, property, rows, with_persons, write_edges};
use crate::format::{AdjListType, FileType, ScalarType};
use crate::synthetic::SyntheticGraph;

/// Checks one layout against the edges in their input order, by the rules of the format.
fn check_layout(
    files: &Files,
    layout: AdjListType,
    file_type: FileType,
    edges: &[(i64, i64)],
    v: [usize; 3],
) {
    let [vertices, part_size, chunk_size] = v;
    let aligned = |e: &(i64, i64)| match layout.name().ends_with("source") {
        true => usize::try_from(e.0).unwrap(),
        false => usize::try_from(e.1).unwrap(),
    };
    let folder = format!("g/edge/person_knows_person/{layout}");
    assert_eq!(
        count(files, &format!("{folder}/vertex_count")),
        i64::try_from(vertices).unwrap()
    );
    let mut expected_files = 1;
    for part in 0..vertices.div_ceil(part_size) {
        let range = part * part_size..(part + 1) * part_size;
        let mut expected: Vec<_> = edges
            .iter()
            .filter(|e| range.contains(&aligned(e)))
            .copied()
            .collect();
        if layout.is_ordered() {
            expected.sort_by_key(aligned);
            let offsets: Vec<Vec<i64>> = range
                .clone()
                .chain([usize::MAX])
                .map(|v| {
                    vec![i64::try_from(expected.iter().filter(|e| aligned(e) < v).count()).unwrap()]
                })
                .collect();
            assert_eq!(
                rows(files, &format!("{folder}/offset/chunk{part}"), file_type),
                offsets
            );
            expected_files += 1;
        }
        assert_eq!(
            count(files, &format!("{folder}/edge_count{part}")),
            i64::try_from(expected.len()).unwrap()
        );
        expected_files += 1;
        for (chunk, expected) in expected.chunks(chunk_size).enumerate() {
            let place = format!("part{part}/chunk{chunk}");
            let found = rows(files, &format!("{folder}/adj_list/{place}"), file_type);
            assert_eq!(
                found,
                expected.iter().map(|e| vec![e.0, e.1]).collect::<Vec<_>>(),
                "{layout} {place}"
            );
            let found = rows(files, &format!("{folder}/w/{place}"), file_type);
            assert_eq!(
                found,
                expected
                    .iter()
                    .map(|e| vec![100 * e.0 + e.1])
                    .collect::<Vec<_>>()
            );
            expected_files += 2;
        }
    }
    // Nothing beside, above all no folder of an empty part.
    assert_eq!(
        files
            .keys()
            .filter(|name| name.starts_with(&format!("{folder}/")))
            .count(),
        expected_files
    );
}

#[tokio::test]
async fn the_padded_last_offset_chunk_of_the_format() {
    let (store, mut writer) = with_persons(7, 3, FileType::Csv).await;
    let info = knows(2, 3, vec![], FileType::Csv);
    write_edges(&mut writer, info, &[(6, 6), (0, 1), (0, 2), (2, 0)])
        .await
        .unwrap();
    let files = files(&store).await;
    let offsets = |part| {
        rows(
            &files,
            &format!("g/edge/person_knows_person/ordered_by_source/offset/chunk{part}"),
            FileType::Csv,
        )
    };
    assert_eq!(offsets(0), [[0], [2], [2], [3]]);
    assert_eq!(offsets(1), [[0], [0], [0], [0]]);
    assert_eq!(offsets(2), [[0], [1], [1], [1]]);
}

#[tokio::test]
async fn every_layout_has_every_edge_once() {
    // Hubs, loops, repeated edges and, with chunks of 10, parts of all kinds.
    let graph = SyntheticGraph::new(50, 500);
    let batch = graph.edge_batches(1000).next().unwrap().unwrap();
    let column = |i: usize| {
        batch
            .column(i)
            .as_primitive::<Int64Type>()
            .values()
            .to_vec()
    };
    let edges: Vec<_> = column(0).into_iter().zip(column(1)).collect();
    assert_eq!(edges.len(), 500);
    for file_type in [FileType::Csv, FileType::Parquet] {
        for chunk_size in [7, 64, 1000] {
            let (store, mut writer) = with_persons(50, 10, file_type).await;
            let info = knows(
                chunk_size as u64,
                10,
                vec![property("w", ScalarType::Int64)],
                file_type,
            );
            write_edges(&mut writer, info, &edges).await.unwrap();
            let files = files(&store).await;
            for layout in AdjListType::ALL {
                check_layout(&files, layout, file_type, &edges, [50, 10, chunk_size]);
            }
        }
    }
}

#[tokio::test]
async fn exactly_full_edge_chunks_keep_their_properties() {
    for edges in [9, 8] {
        let edges: Vec<_> = (1..=edges).map(|dst| (0, dst)).collect();
        for file_type in [FileType::Csv, FileType::Parquet] {
            let (store, mut writer) = with_persons(10, 5, file_type).await;
            let info = knows(4, 5, vec![property("w", ScalarType::Int64)], file_type);
            write_edges(&mut writer, info, &edges).await.unwrap();
            let files = files(&store).await;
            for layout in AdjListType::ALL {
                check_layout(&files, layout, file_type, &edges, [10, 5, 4]);
            }
        }
    }
}

#[tokio::test]
async fn no_edges_and_no_vertices() {
    let (store, mut writer) = with_persons(3, 2, FileType::Parquet).await;
    write_edges(
        &mut writer,
        knows(
            2,
            2,
            vec![property("w", ScalarType::Int64)],
            FileType::Parquet,
        ),
        &[],
    )
    .await
    .unwrap();
    for layout in AdjListType::ALL {
        check_layout(
            &files(&store).await,
            layout,
            FileType::Parquet,
            &[],
            [3, 2, 2],
        );
    }
    let (store, mut writer) = with_persons(0, 2, FileType::Parquet).await;
    write_edges(&mut writer, knows(2, 2, vec![], FileType::Parquet), &[])
        .await
        .unwrap();
    let files = files(&store).await;
    assert_eq!(files.len(), 5);
    assert_eq!(count(&files, "g/vertex/person/vertex_count"), 0);
    assert_eq!(
        count(
            &files,
            "g/edge/person_knows_person/ordered_by_dest/vertex_count"
        ),
        0
    );
}
