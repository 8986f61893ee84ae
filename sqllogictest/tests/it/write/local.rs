//! Graphs in the local file system.

use std::fs;
use std::path::Path;

use datafusion_graphar::session::SessionContextExt;

use super::*;
use crate::fixture::{error, rows, value};

fn statement(folder: &Path, query: &str, options: &str) -> String {
    let file = folder.join("deep/social.graph.yml");
    format!(
        "COPY ({query}) TO '{}' STORED AS GRAPHAR OPTIONS ({options})",
        file.display()
    )
}

/// The folders below `vertex`.
fn states(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder.join("deep/vertex")).unwrap();
    let mut names: Vec<_> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[tokio::test]
async fn folders_are_made_and_old_states_go() {
    let folder = tempfile::tempdir().unwrap();
    let (_, ctx) = empty();
    let write = |i: i32| {
        statement(
            folder.path(),
            &format!("SELECT {i} AS x"),
            "'vertex' 't', 'key' 'x'",
        )
    };
    for i in 0..4 {
        rows(&ctx, &write(i)).await;
    }
    // The last state, and the one before, which somebody may still read.
    assert_eq!(
        states(folder.path()).len(),
        2,
        "{:?}",
        states(folder.path())
    );
    // States of this graph begin with the same digits.
    let own = states(folder.path())[0].strip_prefix("t-").unwrap()[..8].to_owned();
    let deep = folder.path().join("deep");
    // What a writer left that did not end: its lock is free.
    let left = deep.join(format!("vertex/t-{own}0123abcd/x"));
    fs::create_dir_all(&left).unwrap();
    fs::write(left.join("chunk0"), "half").unwrap();
    let info = deep.join(format!("t-{own}0123abcd.vertex.yml"));
    fs::write(&info, "half").unwrap();
    // A writer that still runs.
    let running = deep.join(format!("vertex/t-{own}89abcdef"));
    fs::create_dir_all(&running).unwrap();
    let lock = fs::File::create(deep.join(format!("vertex/t-{own}89abcdef.lock"))).unwrap();
    lock.lock().unwrap();
    rows(&ctx, &write(9)).await;
    assert!(!left.exists() && running.exists());
    assert!(!info.exists());
    drop(lock);
    rows(&ctx, &write(10)).await;
    assert!(!running.exists());
    let file = folder.path().join("deep/social.graph.yml");
    ctx.register_graph("g", &file.display().to_string())
        .await
        .unwrap();
    assert_eq!(value(&ctx, "SELECT x FROM g.t").await, "10");
}

#[tokio::test]
async fn a_failed_write_leaves_no_files() {
    let folder = tempfile::tempdir().unwrap();
    let (_, ctx) = empty();
    rows(
        &ctx,
        &statement(folder.path(), "SELECT 1 AS x", "'vertex' 't', 'key' 'x'"),
    )
    .await;
    let before = states(folder.path());
    let twice = "SELECT value % 5 AS x FROM range(0, 10)";
    error(
        &ctx,
        &statement(
            folder.path(),
            twice,
            "'vertex' 't', 'key' 'x', 'chunk_size' '2'",
        ),
    )
    .await;
    assert_eq!(states(folder.path()), before);
}

#[tokio::test]
async fn many_statements_in_one_session() {
    let folder = tempfile::tempdir().unwrap();
    let (_, ctx) = empty();
    for i in 0..60 {
        let query = format!("SELECT {i} * value AS x FROM range(1, 31)");
        rows(&ctx, &statement(folder.path(), &query, "'vertex' 't'")).await;
    }
    assert_eq!(states(folder.path()).len(), 2);
}

#[tokio::test]
async fn graphs_in_one_folder_leave_each_other_alone() {
    let folder = tempfile::tempdir().unwrap();
    let (_, ctx) = empty();
    let file = |graph: &str| folder.path().join(format!("{graph}.graph.yml"));
    for i in 0..4 {
        for graph in ["a", "b"] {
            // The second is written once, before the states of the first are removed.
            if graph == "a" || i == 0 {
                let sql = format!(
                    "COPY (SELECT {i} AS x) TO '{}' STORED AS GRAPHAR OPTIONS ('vertex' 't')",
                    file(graph).display()
                );
                rows(&ctx, &sql).await;
            }
        }
    }
    for (graph, expected) in [("a", "3"), ("b", "0")] {
        let location = file(graph).display().to_string();
        ctx.register_graph(graph, &location).await.unwrap();
        assert_eq!(
            value(&ctx, &format!("SELECT x FROM {graph}.t")).await,
            expected
        );
    }
}
