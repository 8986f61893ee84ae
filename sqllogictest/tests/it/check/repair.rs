//! `graph_repair` on copies with something wrong: what it plans, and what is there afterwards.

use std::collections::BTreeMap;
use std::path::Path;

use datafusion_graphar::session::SessionContextExt;

use super::*;

const BY_DEST: &str = "edge/person_created_software/ordered_by_dest";

/// All files below a folder.
fn files(folder: &Path, found: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else {
            found.insert(path.clone(), fs::read(path).unwrap());
        }
    }
}

impl Copy {
    fn all(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut found = BTreeMap::new();
        files(self.folder.path(), &mut found);
        found
    }

    /// The repairs as `file rule: action`, sorted.
    async fn repair(&self, what: &str) -> Vec<String> {
        let sql = format!(
            "SELECT file || ' ' || rule || ': ' || action FROM graph_repair('{}', '{what}')",
            self.graph()
        );
        let folder = format!("{}/", self.folder.path().display());
        let found = rows(&session(), &sql).await;
        let mut found: Vec<String> = found.iter().map(|row| row.replace(&folder, "")).collect();
        found.sort();
        found
    }

    /// The rows of all edge tables, layout by layout.
    async fn edges(&self) -> Vec<Vec<String>> {
        let ctx = session();
        ctx.register_graph("g", &self.graph()).await.unwrap();
        let mut tables = vec![];
        for name in ["person_knows_person", "person_created_software"] {
            for layout in ["", "$ordered_by_source", "$ordered_by_dest"] {
                let sql = format!(
                    "SELECT _src_id, _dst_id, weight FROM g.\"{name}{layout}\" ORDER BY 1, 2, 3"
                );
                tables.push(rows(&ctx, &sql).await);
                // Offsets are right as well: they find the edges of a vertex.
                let sql = format!(
                    "SELECT _src_id, _dst_id, weight FROM g.\"{name}{layout}\"
                     WHERE _src_id = 2 OR _dst_id = 0 ORDER BY 1, 2, 3"
                );
                tables.push(rows(&ctx, &sql).await);
            }
        }
        tables
    }
}

/// Damage, and the actions that are planned for it.
type Case = (&'static str, fn(&Copy), &'static [&'static str]);

#[tokio::test]
async fn edges_are_made_from_a_layout_that_is_sound() {
    let cases: &[Case] = &[
        (
            "offsets that are not there",
            |a| a.remove(&format!("{CREATED}/offset/chunk0")),
            &["rebuild from ordered_by_dest"],
        ),
        (
            "offsets of another layout",
            |a| {
                let other = fs::read(a.path(&format!("{BY_DEST}/offset/chunk0"))).unwrap();
                a.put(&format!("{CREATED}/offset/chunk1"), other);
            },
            &["rebuild from ordered_by_dest"],
        ),
        (
            "a count that is wrong",
            |a| a.count(&format!("{BY_DEST}/edge_count0"), 3),
            &["rebuild from ordered_by_source"],
        ),
        (
            "a count that is not there",
            |a| a.remove(&format!("{CREATED}/edge_count1")),
            &["rebuild from ordered_by_dest"],
        ),
        (
            "a layout that is not there",
            |a| a.remove(BY_DEST),
            &["rebuild from ordered_by_source"],
        ),
        (
            "a chunk that is not there",
            |a| a.remove(&format!("{CREATED}/weight/part1/chunk0")),
            &["rebuild from ordered_by_dest"],
        ),
        (
            "offsets of both layouts that are not there",
            |a| {
                a.remove(&format!("{CREATED}/offset"));
                a.remove(&format!("{BY_DEST}/offset"));
            },
            &["rebuild from"],
        ),
    ];
    for format in ["parquet", "csv"] {
        let sound = Copy::of(format).edges().await;
        for (what, damage, actions) in cases {
            let archive = Copy::of(format);
            damage(&archive);
            let before = archive.all();
            let planned = archive.repair("plan").await;
            assert!(!planned.is_empty(), "{format}, {what}");
            for (row, action) in planned.iter().zip(actions.iter().cycle()) {
                assert!(row.contains(action), "{format}, {what}: {row}");
            }
            assert!(
                archive.all() == before,
                "{format}, {what}: a plan changes nothing"
            );
            assert_eq!(archive.repair("apply").await, planned, "{format}, {what}");
            let left = archive.check("deep").await;
            assert!(left.is_empty(), "{format}, {what}: {left:?}");
            assert_eq!(archive.edges().await, sound, "{format}, {what}");
            assert!(archive.repair("apply").await.is_empty(), "{format}, {what}");
        }
    }
}

#[tokio::test]
async fn what_nothing_tells_is_left_as_it_is() {
    let cases: &[Case] = &[
        (
            "vertices",
            |a| a.count("vertex/person/vertex_count", 3),
            &["none: "],
        ),
        (
            "both layouts",
            |a| {
                a.remove(&format!("{CREATED}/edge_count0"));
                a.remove(&format!("{BY_DEST}/adj_list/part0/chunk0"));
            },
            &["none: no layout of its edges is sound"],
        ),
        (
            "two layouts with different edges",
            |a| {
                let source = Copy::of("parquet");
                let chunk = "edge/person_created_software/ordered_by_dest/adj_list/part0/chunk0";
                // Another creator of the same software.
                let ids = |values: [i64; 2]| ints(values);
                source.parquet(
                    chunk,
                    vec![
                        ("_graphArSrcIndex", ids([1, 2])),
                        ("_graphArDstIndex", ids([0, 0])),
                    ],
                );
                a.put(chunk, fs::read(source.path(chunk)).unwrap());
            },
            &["none: its layouts disagree"],
        ),
        (
            "the info of a type",
            |a| a.remove("person_knows_person.edge.yml"),
            &["none: "],
        ),
    ];
    for (what, damage, actions) in cases {
        let archive = Copy::of("parquet");
        damage(&archive);
        let before = archive.all();
        let planned = archive.repair("plan").await;
        assert!(!planned.is_empty(), "{what}");
        for row in &planned {
            assert!(row.contains(actions[0]), "{what}: {row}");
        }
        assert_eq!(archive.repair("apply").await, planned, "{what}");
        assert!(archive.all() == before, "{what}");
    }
}

#[tokio::test]
async fn a_sound_graph_is_not_touched() {
    let archive = Copy::of("orc");
    let before = archive.all();
    assert!(archive.repair("plan").await.is_empty());
    assert!(archive.repair("apply").await.is_empty());
    assert!(archive.all() == before);
}

#[tokio::test]
async fn explaining_a_repair_changes_nothing_and_bad_arguments_are_errors() {
    let archive = Copy::of("parquet");
    archive.remove(&format!("{CREATED}/offset/chunk0"));
    let before = archive.all();
    let ctx = session();
    let apply = format!("SELECT * FROM graph_repair('{}', 'apply')", archive.graph());
    rows(&ctx, &format!("EXPLAIN {apply}")).await;
    assert!(archive.all() == before);
    for (sql, expected) in [
        ("SELECT * FROM graph_repair('g', 'do')", "'plan' or 'apply'"),
        ("SELECT * FROM graph_repair()", "found 0 arguments"),
        ("SELECT * FROM graph_repair(7)", "expected a text"),
        (
            "SELECT * FROM graph_repair('/nowhere/g.graph.yml')",
            "no such file",
        ),
    ] {
        let message = error(&ctx, sql).await;
        assert!(
            message.contains("graph_repair") && message.contains(expected),
            "{sql}: {message}"
        );
    }

    // By its name, in any case.
    ctx.register_graph("g", &archive.graph()).await.unwrap();
    let found = rows(&ctx, "SELECT action FROM GRAPH_REPAIR('g', 'APPLY')").await;
    assert_eq!(found, ["rebuild from ordered_by_dest"]);
    assert!(archive.check("deep").await.is_empty());
}
