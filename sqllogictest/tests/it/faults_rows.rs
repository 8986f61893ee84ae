//! Faults that users of similar software met: rows that are missing, doubled or beside the wrong ones.

use std::sync::Arc;

use datafusion::arrow::array::{Int64Array, StringArray};
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::file::properties::WriterProperties;
use datafusion::prelude::SessionContext;
use datafusion_graphar::format::{AdjListType, FileType, ScalarType};

use crate::fixture::*;

const BUILT_IN: [FileType; 5] = FileType::ALL;

/// Edges 0→1, 0→2, 6→0 of seven vertices: the middle part is empty and has no folder.
async fn with_empty_part(file_type: FileType) -> Archive {
    Fixture::persons(7, 3, file_type)
        .await
        .edges(knows(3, 2, file_type), &[(0, 1), (0, 2), (6, 0)], None)
        .await
        .finish()
        .await
}

#[tokio::test]
async fn a_part_without_edges_needs_no_folder() {
    for file_type in BUILT_IN {
        let archive = with_empty_part(file_type).await;
        for how in How::all() {
            let ctx = archive.open(&how).await.unwrap();
            let sql = "SELECT _src_id, _dst_id FROM g.person_knows_person ORDER BY 1, 2";
            assert_eq!(
                rows(&ctx, sql).await,
                ["0 1", "0 2", "6 0"],
                "{file_type} {how:?}"
            );
            let sql = "SELECT count(*) FROM g.person_knows_person";
            assert_eq!(value(&ctx, sql).await, "3");
            let sql = "SELECT * FROM g.person_knows_person WHERE _src_id = 4";
            assert!(rows(&ctx, sql).await.is_empty());
        }
    }
}

#[tokio::test]
async fn edge_properties_stay_beside_their_edges_when_chunks_are_exactly_full() {
    for file_type in BUILT_IN {
        for last in [9, 8] {
            let edges: Vec<(i64, i64)> = (1..=last).map(|d| (0, d)).collect();
            let weights = ints(edges.iter().map(|(s, d)| 100 * s + d));
            let mut info = knows(5, 4, file_type);
            info.property_groups = vec![group(file_type, vec![property("w", ScalarType::Int64)])];
            let archive = Fixture::persons(10, 5, file_type)
                .await
                .edges(info, &edges, Some(batch(vec![("w", weights)])))
                .await
                .finish()
                .await;
            for how in How::all() {
                let ctx = archive.open(&how).await.unwrap();
                let table = "g.person_knows_person";
                let wrong = format!("SELECT * FROM {table} WHERE w <> 100 * _src_id + _dst_id");
                assert!(rows(&ctx, &wrong).await.is_empty(), "{file_type} {how:?}");
                let sum = value(&ctx, &format!("SELECT sum(w) FROM {table}")).await;
                assert_eq!(sum, (last * (last + 1) / 2).to_string());
                let sql = format!("SELECT w FROM {table} WHERE _dst_id >= 8 ORDER BY w");
                let expected = (8..=last).map(|w| w.to_string()).collect::<Vec<_>>();
                assert_eq!(rows(&ctx, &sql).await, expected);
            }
        }
    }
}

#[tokio::test]
async fn filters_on_the_internal_id_find_each_row_once_on_either_side_of_the_operator() {
    for file_type in BUILT_IN {
        let archive = Fixture::persons(10, 3, file_type).await.finish().await;
        for how in How::all() {
            let ctx = archive.open(&how).await.unwrap();
            for (filter, ids) in [
                ("_vertex_id = 7", vec!["1007"]),
                ("_vertex_id = 9", vec!["1009"]),
                ("_vertex_id = 10", vec![]),
                ("_vertex_id BETWEEN 2 AND 3", vec!["1002", "1003"]),
                ("7 = _vertex_id", vec!["1007"]),
                ("2 >= _vertex_id", vec!["1000", "1001", "1002"]),
            ] {
                let sql = format!("SELECT id FROM g.person WHERE {filter} ORDER BY id");
                assert_eq!(rows(&ctx, &sql).await, ids, "{filter} {how:?}");
            }
            for (first, second) in [
                ("7 = _vertex_id", "_vertex_id = 7"),
                ("2 >= _vertex_id", "_vertex_id <= 2"),
                ("5 <> _vertex_id", "_vertex_id <> 5"),
            ] {
                let first = scan_of(&ctx, first).await;
                assert_eq!(first.len(), 1, "{first:?}");
                assert_eq!(first, scan_of(&ctx, second).await);
            }
            let sql = "SELECT count(*) FROM g.person WHERE 5 <> _vertex_id";
            assert_eq!(value(&ctx, sql).await, "9");
        }
    }
}

/// The lines of the plan that say what is read under a filter.
async fn scan_of(ctx: &SessionContext, filter: &str) -> Vec<String> {
    let sql = format!("EXPLAIN FORMAT INDENT SELECT id FROM g.person WHERE {filter}");
    let plan = rows(ctx, &sql).await.join("\n");
    let lines = plan.lines().filter(|line| line.contains("DataSourceExec"));
    lines.map(str::to_owned).collect()
}

#[tokio::test]
async fn a_filter_or_limit_is_not_forgotten_by_counts() {
    let archive = Fixture::persons(10, 3, FileType::Parquet)
        .await
        .finish()
        .await;
    for how in How::all() {
        let ctx = archive.open(&how).await.unwrap();
        for (sql, count) in [
            ("SELECT count(*) FROM g.person WHERE _vertex_id >= 5", "5"),
            ("SELECT count(*) FROM (SELECT * FROM g.person LIMIT 3)", "3"),
            (
                "SELECT count(*) FROM (SELECT * FROM g.person WHERE _vertex_id >= 5 LIMIT 3)",
                "3",
            ),
            (
                "SELECT count(*) FROM (SELECT * FROM g.person OFFSET 8)",
                "2",
            ),
        ] {
            assert_eq!(value(&ctx, sql).await, count, "{sql} {how:?}");
        }
        let plan = rows(
            &ctx,
            "EXPLAIN SELECT count(*) FROM g.person WHERE _vertex_id >= 5",
        )
        .await;
        assert!(!plan.join("\n").contains("10 as count"), "{plan:?}");
    }
}

#[tokio::test]
async fn a_join_that_finds_nothing_counts_nothing() {
    let edges: Vec<(i64, i64)> = (0..9).map(|i| (i, i + 1)).collect();
    let archive = Fixture::persons(10, 3, FileType::Parquet)
        .await
        .edges(knows(3, 2, FileType::Parquet), &edges, None)
        .await
        .finish()
        .await;
    for how in How::all() {
        let ctx = archive.open(&how).await.unwrap();
        for (filter, paths) in [
            ("a._src_id < 3 AND d._dst_id > 8", 0),
            ("a._src_id < 3 AND d._dst_id > 5", 1),
            ("a._src_id < 3 AND d._dst_id > 3", 3),
        ] {
            let sql = format!(
                "SELECT a._src_id FROM g.person_knows_person a
                 JOIN g.person_knows_person b ON a._dst_id = b._src_id
                 JOIN g.person_knows_person c ON b._dst_id = c._src_id
                 JOIN g.person_knows_person d ON c._dst_id = d._src_id
                 WHERE {filter}"
            );
            assert_eq!(rows(&ctx, &sql).await.len(), paths, "{filter} {how:?}");
            let count = ctx.sql(&sql).await.unwrap().count().await.unwrap();
            assert_eq!(count, paths, "{filter} {how:?}");
        }
    }
}

#[tokio::test]
async fn a_scan_without_columns_keeps_its_rows() {
    let archive = Fixture::persons(10, 3, FileType::Parquet)
        .await
        .edges(
            knows(3, 2, FileType::Parquet),
            &[(0, 1), (4, 4), (9, 0)],
            None,
        )
        .await
        .finish()
        .await;
    for how in How::all() {
        let ctx = archive.open(&how).await.unwrap();
        for (sql, count) in [
            ("SELECT count(*) FROM g.person", "10"),
            ("SELECT count(1) FROM g.person", "10"),
            ("SELECT count(*) FROM g.person WHERE id > 1004", "5"),
            ("SELECT count(*) FROM g.person, g.person_knows_person", "30"),
        ] {
            assert_eq!(value(&ctx, sql).await, count, "{sql} {how:?}");
        }
        assert_eq!(
            rows(&ctx, "SELECT 1 FROM g.person").await,
            ["1"; 10],
            "{how:?}"
        );
    }
}

#[tokio::test]
async fn the_least_and_greatest_of_long_strings_are_whole() {
    let long = |end: char| format!("{}{end}", "x".repeat(200));
    let names = StringArray::from_iter_values(['b', 'c', 'a'].map(long));
    let mut info = person(1, FileType::Parquet);
    info.property_groups = vec![group(
        FileType::Parquet,
        vec![property("name", ScalarType::String)],
    )];
    let archive = Fixture::new()
        .vertices(info, &batch(vec![("name", Arc::new(names))]))
        .await
        .finish()
        .await;
    for how in How::all() {
        let ctx = archive.open(&how).await.unwrap();
        let found = value(&ctx, "SELECT min(name), max(name) FROM g.person").await;
        assert_eq!(found, format!("{} {}", long('a'), long('c')));
    }
}

#[tokio::test]
async fn files_without_rows_where_no_rows_belong_change_nothing() {
    let archive = with_empty_part(FileType::Parquet).await;
    let six = Fixture::persons(6, 3, FileType::Parquet)
        .await
        .finish()
        .await;
    // A chunk file without rows, taken from a graph whose only chunk has none.
    let empty = empty_chunk(&["_graphArVertexIndex", "id"]);
    six.put("vertex/person/id/chunk2", empty).await;
    let empty = empty_chunk(&["_graphArSrcIndex", "_graphArDstIndex"]);
    archive
        .put(
            "edge/person_knows_person/ordered_by_source/adj_list/part1/chunk0",
            empty,
        )
        .await;
    for how in How::all() {
        let ctx = six.open(&how).await.unwrap();
        assert_eq!(value(&ctx, "SELECT count(id) FROM g.person").await, "6");
        let sql = "SELECT _vertex_id FROM g.person ORDER BY _vertex_id DESC LIMIT 1";
        assert_eq!(value(&ctx, sql).await, "5");
        let ctx = archive.open(&how).await.unwrap();
        let sql = "SELECT count(_dst_id) FROM g.person_knows_person";
        assert_eq!(value(&ctx, sql).await, "3");
    }
}

fn empty_chunk(columns: &[&str]) -> Vec<u8> {
    let columns = columns
        .iter()
        .map(|name| (*name, Arc::new(Int64Array::from(Vec::<i64>::new())) as _))
        .collect();
    let rows = batch(columns);
    let mut bytes = vec![];
    let mut writer = ArrowWriter::try_new(&mut bytes, rows.schema(), None).unwrap();
    writer.write(&rows).unwrap();
    writer.close().unwrap();
    bytes
}

#[tokio::test]
async fn stored_copies_of_the_edges_are_counted_once() {
    for file_type in BUILT_IN {
        let edges = [
            (0, 1),
            (1, 2),
            (2, 0),
            (3, 3),
            (4, 0),
            (4, 1),
            (5, 9),
            (9, 5),
            (7, 8),
            (8, 0),
        ];
        let mut info = knows(3, 2, file_type);
        info.adj_lists = AdjListType::ALL
            .map(|layout| list(layout, file_type))
            .to_vec();
        let archive = Fixture::persons(10, 3, file_type)
            .await
            .edges(info, &edges, None)
            .await
            .finish()
            .await;
        let mut expected: Vec<String> = edges.iter().map(|(s, d)| format!("{s} {d}")).collect();
        expected.sort();
        for how in How::all() {
            let ctx = archive.open(&how).await.unwrap();
            let mut tables = vec!["person_knows_person".to_owned()];
            tables.extend(AdjListType::ALL.map(|l| format!("person_knows_person${l}")));
            for table in tables {
                let sql = format!("SELECT _src_id, _dst_id FROM g.\"{table}\"");
                let mut found = rows(&ctx, &sql).await;
                found.sort();
                assert_eq!(found, expected, "{table} {how:?}");
            }
            // An edge in either direction, a self-loop once.
            let sql = "SELECT count(*) FROM (
                SELECT _src_id, _dst_id FROM g.person_knows_person UNION ALL
                SELECT _dst_id, _src_id FROM g.person_knows_person WHERE _src_id <> _dst_id)";
            assert_eq!(value(&ctx, sql).await, "19");
        }
    }
}

#[tokio::test]
async fn an_edge_type_without_edges_has_no_rows() {
    let archive = Fixture::persons(7, 3, FileType::Parquet)
        .await
        .edges(knows(3, 2, FileType::Parquet), &[], None)
        .await
        .finish()
        .await;
    for how in How::all() {
        let ctx = archive.open(&how).await.unwrap();
        assert!(
            rows(&ctx, "SELECT * FROM g.person_knows_person")
                .await
                .is_empty()
        );
        let sql = "SELECT count(*) FROM g.person_knows_person a
                   JOIN g.person_knows_person b ON a._dst_id = b._src_id";
        assert_eq!(value(&ctx, sql).await, "0");
    }
}

#[tokio::test]
async fn odd_chunk_sizes_empty_parts_and_hubs_are_read_whole() {
    let five = |chunk| Fixture::persons(5, chunk, FileType::Parquet);
    for chunk in [1, 2, 5, 100] {
        let archive = five(chunk)
            .await
            .edges(
                knows(chunk, 2, FileType::Parquet),
                &[(0, 0), (0, 1), (0, 4)],
                None,
            )
            .await
            .finish()
            .await;
        let ctx = archive.session().await;
        let sql = "SELECT count(id), sum(id) FROM g.person";
        assert_eq!(value(&ctx, sql).await, "5 5010");
        let sql = "SELECT count(*) FROM g.person_knows_person a
                   JOIN g.person_knows_person b ON a._dst_id = b._src_id";
        assert_eq!(value(&ctx, sql).await, "3");
    }
    // Sources cut by 2, destinations by 3; all edges leave one hub.
    let hub: Vec<(i64, i64)> = (0..5).map(|d| (1, d)).collect();
    let mut thing = person(3, FileType::Parquet);
    thing.vertex_type = "thing".to_owned();
    let mut info = knows(2, 2, FileType::Parquet);
    info.dst_type = "thing".to_owned();
    info.dst_chunk_size = 3;
    info.adj_lists = AdjListType::ALL
        .map(|layout| list(layout, FileType::Parquet))
        .to_vec();
    let archive = five(2)
        .await
        .vertices(thing, &batch(vec![("id", ints(0..5))]))
        .await
        .edges(info, &hub, None)
        .await
        .finish()
        .await;
    for how in How::all() {
        let ctx = archive.open(&how).await.unwrap();
        for layout in AdjListType::ALL {
            let sql = format!(
                "SELECT count(_src_id), sum(_dst_id) FROM g.\"person_knows_thing${layout}\""
            );
            assert_eq!(value(&ctx, &sql).await, "5 10", "{layout} {how:?}");
        }
        let sql = "SELECT count(*) FROM g.person_knows_thing a
                   JOIN g.person_knows_thing b ON a._dst_id = b._dst_id";
        assert_eq!(value(&ctx, sql).await, "5");
    }
}

#[tokio::test]
async fn groups_in_different_payloads_stay_side_by_side() {
    let names: Vec<String> = FileType::ALL.iter().map(|t| format!("p_{t}")).collect();
    let mut info = person(7, FileType::Parquet);
    for (name, file_type) in names.iter().zip(FileType::ALL) {
        let wanted = vec![property(name, ScalarType::Int64)];
        info.property_groups.push(group(file_type, wanted));
    }
    let mut columns = vec![("id", ints(0..50))];
    columns.extend(
        names
            .iter()
            .map(|name| (name.as_str(), ints((0..50).map(|i| i * 3)))),
    );
    let archive = Fixture::new()
        .vertices(info, &batch(columns))
        .await
        .finish()
        .await;
    let wrong: Vec<String> = names.iter().map(|n| format!("\"{n}\" <> 3 * id")).collect();
    let wrong = wrong.join(" OR ");
    let sql = format!("SELECT count(*) FROM g.person WHERE id <> _vertex_id OR {wrong}");
    for how in How::all() {
        let ctx = archive.open(&how).await.unwrap();
        assert_eq!(value(&ctx, &sql).await, "0", "{how:?}");
        let sql = "SELECT sum(p_csv), sum(p_orc), sum(p_arrow) FROM g.person";
        assert_eq!(value(&ctx, sql).await, "3675 3675 3675");
    }
}

#[tokio::test]
async fn groups_with_other_row_groups_and_pages_do_not_drift_apart() {
    let mut info = person(1000, FileType::Parquet);
    for name in ["a", "b"] {
        let wanted = vec![property(name, ScalarType::Int64)];
        info.property_groups.push(group(FileType::Parquet, wanted));
    }
    let columns = ["id", "a", "b"].map(|name| (name, ints(0..2500)));
    let archive = Fixture::new()
        .vertices(info, &batch(columns.to_vec()))
        .await
        .finish()
        .await;
    for (name, row_group, page) in [("id", 1000, 13), ("a", 7, 3), ("b", 331, 100)] {
        for (chunk, end) in [(0, 1000), (1, 2000), (2, 2500)] {
            let rows = batch(vec![(name, ints(chunk * 1000..end))]);
            let properties = WriterProperties::builder()
                .set_max_row_group_row_count(Some(row_group))
                .set_data_page_row_count_limit(page)
                .set_write_batch_size(page)
                .build();
            let mut bytes = vec![];
            let mut writer =
                ArrowWriter::try_new(&mut bytes, rows.schema(), Some(properties)).unwrap();
            writer.write(&rows).unwrap();
            writer.close().unwrap();
            archive
                .put(&format!("vertex/person/{name}/chunk{chunk}"), bytes)
                .await;
        }
    }
    for mut how in How::all() {
        for batch_size in [how.batch_size.max(3), 17, 128] {
            how.batch_size = batch_size;
            let ctx = archive.open(&how).await.unwrap();
            let sql = "SELECT count(*), sum(b) FROM g.person
                       WHERE id = a AND a = b AND b = _vertex_id";
            assert_eq!(value(&ctx, sql).await, "2500 3123750", "{how:?}");
        }
    }
}
