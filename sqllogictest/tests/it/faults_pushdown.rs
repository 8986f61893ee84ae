//! Faults that users of similar software met: conditions, limits and skipped pages that lose or invent rows.

use std::sync::Arc;

use datafusion::arrow::array::{Int64Array, RecordBatch, StringArray};
use datafusion::parquet::file::properties::WriterProperties;
use datafusion_graphar::format::{
    AdjListType, AlignedBy, DST_COLUMN, EdgeInfo, FileType, SRC_COLUMN, ScalarType,
};
use datafusion_graphar::sql::sql_with_names;

use crate::faults_pages::parquet;
use crate::fixture::*;

/// Edges in all layouts.
fn in_all_layouts(mut info: EdgeInfo, file_type: FileType) -> EdgeInfo {
    info.adj_lists = AdjListType::ALL
        .map(|layout| list(layout, file_type))
        .to_vec();
    info
}

/// The default table of the edges, and the table of each layout.
fn edge_tables() -> Vec<String> {
    let layouts = AdjListType::ALL.map(|l| format!("g.\"person_knows_person${l}\""));
    let default = "g.person_knows_person".to_owned();
    std::iter::once(default).chain(layouts).collect()
}

/// All ways for Parquet, whose rows can be skipped in most ways, and some for the others.
fn ways(file_type: FileType) -> Vec<How> {
    match file_type {
        FileType::Parquet => How::all(),
        _ => vec![How::of(16, 3, true), How::of(1, 8192, false)],
    }
}

#[tokio::test]
async fn conditions_on_ends_open_no_part_without_edges() {
    for file_type in FileType::ALL {
        let info = in_all_layouts(knows(3, 2, file_type), file_type);
        let archive = Fixture::persons(7, 3, file_type)
            .await
            .edges(info, &[(0, 1), (0, 2), (6, 0)], None)
            .await
            .finish()
            .await;
        for how in ways(file_type) {
            let ctx = archive.open(&how).await.unwrap();
            for table in edge_tables() {
                for (condition, expected) in [
                    ("_src_id = 4", vec![]),
                    ("_src_id BETWEEN 3 AND 5", vec![]),
                    ("_src_id IN (3, 4, 6)", vec!["6 0"]),
                    ("_src_id >= 1", vec!["6 0"]),
                    ("_src_id < 6", vec!["0 1", "0 2"]),
                    ("_src_id <> 0 OR _dst_id = 2", vec!["0 2", "6 0"]),
                    ("_dst_id IN (4, 6)", vec![]),
                    ("_dst_id <= 1", vec!["0 1", "6 0"]),
                    ("_dst_id > 2", vec![]),
                ] {
                    let sql = format!(
                        "SELECT _src_id, _dst_id FROM {table} WHERE {condition} ORDER BY 1, 2"
                    );
                    assert_eq!(
                        rows(&ctx, &sql).await,
                        expected,
                        "{sql} {file_type} {how:?}"
                    );
                }
            }
        }
    }
}

#[tokio::test]
async fn edge_properties_stay_beside_their_edges_under_conditions() {
    for file_type in FileType::ALL {
        for last in [9, 8] {
            let edges: Vec<(i64, i64)> = (1..=last).map(|d| (0, d)).collect();
            let weights = ints(edges.iter().map(|(s, d)| 100 * s + d));
            let mut info = in_all_layouts(knows(5, 4, file_type), file_type);
            info.property_groups = vec![group(file_type, vec![property("w", ScalarType::Int64)])];
            let archive = Fixture::persons(10, 5, file_type)
                .await
                .edges(info, &edges, Some(batch(vec![("w", weights)])))
                .await
                .finish()
                .await;
            for how in ways(file_type) {
                let ctx = archive.open(&how).await.unwrap();
                for table in edge_tables() {
                    for (condition, least) in [
                        ("_dst_id >= 8", 8),
                        ("_src_id = 0 AND _dst_id >= 7", 7),
                        ("w >= 5", 5),
                        ("_dst_id >= 4 AND w >= 3", 4),
                    ] {
                        let sql =
                            format!("SELECT w, _dst_id FROM {table} WHERE {condition} ORDER BY 1");
                        let expected: Vec<_> = (least..=last).map(|w| format!("{w} {w}")).collect();
                        assert_eq!(rows(&ctx, &sql).await, expected, "{sql} {how:?}");
                    }
                }
            }
        }
    }
}

#[tokio::test]
async fn conditions_on_ids_take_each_edge_once_with_the_constant_on_either_side() {
    let edges: Vec<(i64, i64)> = (0..10).map(|i| (i, (i * 3) % 10)).collect();
    let info = in_all_layouts(knows(3, 2, FileType::Parquet), FileType::Parquet);
    let archive = Fixture::persons(10, 3, FileType::Parquet)
        .await
        .edges(info, &edges, None)
        .await
        .finish()
        .await;
    type Test = fn(i64) -> bool;
    let conditions: [(&str, &str, Test); 8] = [
        ("{} = 7", "7 = {}", |id| id == 7),
        ("{} = 10", "10 = {}", |id| id == 10),
        ("{} <= 2", "2 >= {}", |id| id <= 2),
        ("{} <> 5", "5 <> {}", |id| id != 5),
        ("{} > 8", "8 < {}", |id| id > 8),
        ("{} < 0", "0 > {}", |id| id < 0),
        ("{} BETWEEN 2 AND 3", "2 <= {} AND 3 >= {}", |id| {
            (2..=3).contains(&id)
        }),
        ("NOT {} >= 9", "NOT 9 <= {}", |id| id < 9),
    ];
    for how in How::all().into_iter().filter(|how| how.batch_size == 3) {
        let ctx = archive.open(&how).await.unwrap();
        for (first, second, test) in conditions {
            for condition in [first, second] {
                let on = condition.replace("{}", "_vertex_id");
                let ids: Vec<_> = (0..10).filter(|id| test(*id)).collect();
                let expected: Vec<_> = ids.iter().map(|id| (1000 + id).to_string()).collect();
                let sql = format!("SELECT id FROM g.person WHERE {on} ORDER BY id");
                assert_eq!(rows(&ctx, &sql).await, expected, "{sql} {how:?}");
                for table in edge_tables() {
                    for (column, end) in [("_src_id", 0), ("_dst_id", 1)] {
                        let on = condition.replace("{}", column);
                        let chosen = edges.iter().filter(|e| test([e.0, e.1][end]));
                        let expected: Vec<_> = chosen.map(|(s, d)| format!("{s} {d}")).collect();
                        let sql = format!("SELECT * FROM {table} WHERE {on} ORDER BY _src_id");
                        assert_eq!(rows(&ctx, &sql).await, expected, "{sql} {how:?}");
                    }
                }
            }
        }
    }
}

#[tokio::test]
async fn a_limit_counts_the_rows_that_pass_and_not_those_read() {
    for file_type in [FileType::Parquet, FileType::Csv] {
        let names = (0..1000).map(|i| if i == 950 { "z" } else { "a" });
        let mut info = person(100, file_type);
        let name = vec![property("name", ScalarType::String)];
        info.property_groups.push(group(file_type, name));
        let names = Arc::new(StringArray::from_iter_values(names));
        let rows_of = batch(vec![("id", ints(1000..2000)), ("name", names)]);
        let archive = Fixture::new().vertices(info, &rows_of).await.finish().await;
        for how in How::all().into_iter().filter(|how| how.batch_size > 1) {
            let ctx = archive.open(&how).await.unwrap();
            for (sql, expected) in [
                ("SELECT id FROM g.person WHERE name = 'z' LIMIT 1", "1950"),
                ("SELECT id FROM g.person WHERE name = 'z' LIMIT 5", "1950"),
                (
                    "SELECT id FROM g.person WHERE name > 'a' AND _vertex_id > 9 LIMIT 2",
                    "1950",
                ),
                (
                    "SELECT name FROM g.person WHERE _vertex_id = 950 LIMIT 1",
                    "z",
                ),
                (
                    "SELECT count(*) FROM (SELECT 1 FROM g.person WHERE name = 'a' LIMIT 998)",
                    "998",
                ),
                (
                    "SELECT count(*) FROM (SELECT 1 FROM g.person WHERE name = 'a' OFFSET 900)",
                    "99",
                ),
            ] {
                assert_eq!(value(&ctx, sql).await, expected, "{sql} {how:?}");
            }
        }
    }
}

#[tokio::test]
async fn counts_of_edges_do_not_forget_conditions_or_limits() {
    let edges: Vec<(i64, i64)> = (0..9).map(|i| (i, i + 1)).collect();
    let info = in_all_layouts(knows(3, 2, FileType::Parquet), FileType::Parquet);
    let archive = Fixture::persons(10, 3, FileType::Parquet)
        .await
        .edges(info, &edges, None)
        .await
        .finish()
        .await;
    for how in How::all() {
        let ctx = archive.open(&how).await.unwrap();
        for table in edge_tables() {
            for (rest, expected) in [
                ("", "9 0 9"),
                ("WHERE _src_id >= 5", "4 5 9"),
                ("WHERE _dst_id < 3", "2 0 2"),
                ("WHERE _src_id + _dst_id > 14", "2 7 9"),
                ("WHERE _src_id > 8", "0 NULL NULL"),
            ] {
                let sql =
                    format!("SELECT count(*), min(_src_id), max(_dst_id) FROM {table} {rest}");
                assert_eq!(value(&ctx, &sql).await, expected, "{sql} {how:?}");
            }
            let limited = format!("(SELECT * FROM {table} WHERE _src_id >= 5 LIMIT 3)");
            let sql = format!("SELECT count(*) FROM {limited}");
            assert_eq!(value(&ctx, &sql).await, "3", "{sql} {how:?}");
            let sql =
                format!("SELECT count(*) FROM g.person, {table} WHERE id > 1004 AND _src_id < 3");
            assert_eq!(value(&ctx, &sql).await, "15", "{sql} {how:?}");
            assert_eq!(
                rows(&ctx, &format!("SELECT 1 FROM {table}")).await,
                ["1"; 9]
            );
            let sql = format!("SELECT 1 FROM {table} WHERE _dst_id IN (3, 5)");
            assert_eq!(rows(&ctx, &sql).await, ["1"; 2], "{how:?}");
        }
    }
}

#[tokio::test]
async fn a_column_declared_not_null_groups_under_a_condition() {
    let mut info = person(3, FileType::Parquet);
    let mut score = property("score", ScalarType::Int64);
    score.is_nullable = false;
    info.property_groups
        .push(group(FileType::Parquet, vec![score]));
    let rows_of = vec![("id", ints(0..7)), ("score", ints([7, 8, 7, 9, 8, 8, 7]))];
    let archive = Fixture::new()
        .vertices(info, &batch(rows_of))
        .await
        .finish()
        .await;
    // Stored as a column that could hold nulls.
    let stored: Int64Array = [Some(7), Some(8), Some(7)].into_iter().collect();
    let stored = RecordBatch::try_from_iter_with_nullable([("score", Arc::new(stored) as _, true)]);
    let chunk = parquet(&stored.unwrap(), WriterProperties::default());
    archive.put("vertex/person/score/chunk0", chunk).await;
    let select = "SELECT score, count(*), count(score) FROM g.person";
    for how in How::all() {
        let ctx = archive.open(&how).await.unwrap();
        for (condition, expected) in [
            ("score > 7", vec!["8 3 3", "9 1 1"]),
            ("score IS NULL", vec![]),
            (
                "score IS NOT NULL AND _vertex_id < 4",
                vec!["7 2 2", "8 1 1", "9 1 1"],
            ),
            ("_vertex_id IN (0, 6)", vec!["7 2 2"]),
        ] {
            let sql = format!("{select} WHERE {condition} GROUP BY score ORDER BY score");
            assert_eq!(rows(&ctx, &sql).await, expected, "{sql} {how:?}");
        }
    }
}

#[tokio::test]
async fn conditions_tell_columns_apart_that_differ_in_capitals_only() {
    let mut info = person(2, FileType::Parquet);
    let rest = ["firstName", "a", "A"].map(|name| property(name, ScalarType::Int64));
    info.property_groups
        .push(group(FileType::Parquet, rest.to_vec()));
    let rows_of = vec![
        ("id", ints(0..5)),
        ("firstName", ints(10..15)),
        ("a", ints(20..25)),
        ("A", ints(30..35)),
    ];
    let archive = Fixture::new()
        .vertices(info, &batch(rows_of))
        .await
        .finish()
        .await;
    for how in How::all() {
        let ctx = archive.open(&how).await.unwrap();
        for (sql, expected) in [
            ("SELECT \"A\" FROM g.person WHERE \"a\" = 23", "33"),
            ("SELECT \"a\" FROM g.person WHERE \"A\" = 33", "23"),
            (
                "SELECT \"a\" FROM g.person WHERE \"A\" = 33 AND _vertex_id > 1",
                "23",
            ),
            ("SELECT id FROM g.person WHERE \"firstName\" = 14", "4"),
            (
                "SELECT count(*) FROM g.person WHERE \"a\" = 33 OR \"A\" = 23",
                "0",
            ),
        ] {
            assert_eq!(value(&ctx, sql).await, expected, "{sql} {how:?}");
        }
        // As the shell does it.
        let sql = "SELECT firstName, A FROM g.person WHERE firstName > 13";
        let frame = sql_with_names(&ctx, sql).await.unwrap();
        let found = frame.collect().await.unwrap();
        let found: Vec<&RecordBatch> = found.iter().filter(|b| b.num_rows() > 0).collect();
        assert_eq!(found.len(), 1);
        let expected = batch(vec![("firstName", ints([14])), ("A", ints([34]))]);
        assert_eq!(found[0].columns(), expected.columns(), "{how:?}");
    }
}

#[tokio::test]
async fn bounds_of_long_strings_rule_out_no_row() {
    let long = |end: &str| format!("{}{end}", "x".repeat(200));
    let ends = ["b", "c", "a", "", "\u{10ffff}", "bb"];
    let names = StringArray::from_iter_values(ends.map(long));
    let mut info = person(2, FileType::Parquet);
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
        for (row, end) in ends.iter().enumerate() {
            let sql = format!(
                "SELECT _vertex_id FROM g.person WHERE name = '{}'",
                long(end)
            );
            assert_eq!(value(&ctx, &sql).await, row.to_string(), "{end} {how:?}");
            for (operator, test) in [("<", -1), (">", 1)] {
                let chosen = ends.iter().filter(|other| match test {
                    -1 => *other < end,
                    _ => *other > end,
                });
                let expected = chosen.count().to_string();
                let sql = format!(
                    "SELECT count(*) FROM g.person WHERE name {operator} '{}'",
                    long(end)
                );
                assert_eq!(
                    value(&ctx, &sql).await,
                    expected,
                    "{operator} {end} {how:?}"
                );
            }
        }
        let sql = format!(
            "SELECT min(name) = '{}', max(name) = '{}' FROM g.person",
            long(""),
            long("\u{10ffff}")
        );
        assert_eq!(value(&ctx, &sql).await, "true true", "{how:?}");
        let sql = format!(
            "SELECT count(*) FROM g.person WHERE name LIKE '{}%'",
            long("b")
        );
        assert_eq!(value(&ctx, &sql).await, "2", "{how:?}");
    }
}

#[tokio::test]
async fn orders_and_conditions_hold_beside_files_without_rows() {
    let info = in_all_layouts(knows(3, 2, FileType::Parquet), FileType::Parquet);
    let archive = Fixture::persons(9, 3, FileType::Parquet)
        .await
        .edges(info, &[(0, 1), (0, 2), (8, 0)], None)
        .await
        .finish()
        .await;
    let none = |columns: &[&str]| {
        let columns = columns.iter().map(|name| (*name, ints([])));
        parquet(&batch(columns.collect()), WriterProperties::default())
    };
    let empty = none(&["_graphArVertexIndex", "id"]);
    archive.put("vertex/person/id/chunk3", empty).await;
    for layout in AdjListType::ALL {
        // In a part without edges, and behind a chunk that is full.
        let places: &[&str] = match layout.aligned_by() {
            AlignedBy::Source => &["part0/chunk1", "part1/chunk0"],
            AlignedBy::Destination => &["part1/chunk0"],
        };
        for place in places {
            let path = format!("edge/person_knows_person/{layout}/adj_list/{place}");
            archive.put(&path, none(&[SRC_COLUMN, DST_COLUMN])).await;
        }
    }
    for how in How::all() {
        let ctx = archive.open(&how).await.unwrap();
        for (sql, expected) in [
            (
                "SELECT _vertex_id FROM g.person ORDER BY 1 DESC LIMIT 1",
                "8",
            ),
            ("SELECT id FROM g.person WHERE _vertex_id >= 8", "1008"),
            ("SELECT count(id) FROM g.person WHERE _vertex_id >= 9", "0"),
            ("SELECT count(id) FROM g.person WHERE id > 1002", "6"),
        ] {
            assert_eq!(value(&ctx, sql).await, expected, "{sql} {how:?}");
        }
        for table in edge_tables() {
            let sql = format!("SELECT _dst_id FROM {table} ORDER BY _src_id DESC LIMIT 1");
            assert_eq!(value(&ctx, &sql).await, "0", "{sql} {how:?}");
            let sql =
                format!("SELECT count(*) FROM {table} WHERE _src_id IN (0, 4) AND _dst_id < 9");
            assert_eq!(value(&ctx, &sql).await, "2", "{sql} {how:?}");
        }
    }
}
