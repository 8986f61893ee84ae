//! The operating system refuses to write more: the graph stays as it was, and the next statement goes through.
//!
//! Statements run in a process of their own under a limit of the size of files, with the signal ignored, so that a
//! write in the middle of a file fails as it does on a disk that is full.

#![cfg(unix)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::{LAYOUTS, empty};
use crate::fixture::rows;

/// The environment variable of the statements.
const STATEMENTS: &str = "GRAPHAR_TEST_STATEMENTS";

/// Between statements.
const END: &str = ";\n";

/// What the process of its own does.
#[tokio::test]
#[ignore = "run by the other test of this file"]
async fn statements_of_the_environment() {
    let statements = std::env::var(STATEMENTS).unwrap();
    let (_, ctx) = empty();
    for statement in statements.split(END) {
        eprintln!("{:?}", rows(&ctx, statement).await);
    }
}

/// Runs statements, with files of at most so many blocks of 512 bytes.
fn run(blocks: Option<u64>, statements: &[String]) -> Output {
    let limit = match blocks {
        Some(blocks) => format!("trap '' XFSZ; ulimit -f {blocks}; "),
        None => String::new(),
    };
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("{limit}exec \"$0\" \"$@\""));
    command.arg(std::env::current_exe().unwrap());
    command.args(["--exact", "--ignored", "--nocapture"]);
    command.arg("write::disk_full::statements_of_the_environment");
    command.env(STATEMENTS, statements.join(END));
    command.output().unwrap()
}

fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(files(&path)),
            false => {
                found.insert(path.clone(), fs::read(&path).unwrap());
            }
        }
    }
    found
}

fn works(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, errors) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{out}{errors}");
    errors
}

#[test]
fn a_write_that_the_system_refuses_leaves_the_old_graph() {
    let folder = tempfile::tempdir().unwrap();
    let graph = folder.path().join("g.graph.yml");
    let graph = graph.display();
    let persons = |count: usize| {
        format!(
            "COPY (SELECT value AS id, concat(value * value * 7919 % 1000003, ' ', value * 104729 % 999983) AS name FROM generate_series(1, {count})) \
             TO '{graph}' STORED AS GRAPHAR OPTIONS ('vertex' 'person', 'key' 'id', 'edges' 'drop')"
        )
    };
    let edges = |count: usize| {
        format!(
            "COPY (SELECT value % 100 AS a, value % 77 AS b, concat(value * value * 7919 % 1000003, ' ', value * 104729 % 999983) AS t FROM generate_series(1, {count})) \
             TO '{graph}' STORED AS GRAPHAR \
             OPTIONS ('edge' 'person-knows-person', 'source_id' 'a', 'destination_id' 'b', 'layouts' '{LAYOUTS}')"
        )
    };
    let open = format!("CREATE EXTERNAL TABLE g STORED AS GRAPHAR LOCATION '{graph}'");
    let insert = |count: usize| {
        format!(
            "INSERT INTO g.person_knows_person (_src_id, _dst_id, t) \
             SELECT value % 100, value % 77, concat(value * value * 7919 % 1000003, ' ', value * 104729 % 999983) FROM generate_series(1, {count})"
        )
    };
    let insert_persons = |count: usize| {
        format!(
            "INSERT INTO g.person (id, name) SELECT value, concat(value * value * 7919 % 1000003, ' ', value * 104729 % 999983) \
             FROM generate_series(1001, {})",
            1000 + count
        )
    };
    works(&run(None, &[persons(100), edges(200)]));
    let before = files(folder.path());
    // The first fails in a chunk of vertices or edges, and so do the others.
    for statements in [
        vec![persons(20000)],
        vec![edges(20000)],
        vec![open.clone(), insert(20000)],
        vec![open.clone(), insert_persons(20000)],
    ] {
        let refused = run(Some(64), &statements);
        let errors = String::from_utf8_lossy(&refused.stderr);
        assert!(!refused.status.success(), "{statements:?}: {errors}");
        // The file, and what the system says of it.
        assert!(errors.contains("/chunk0"), "{statements:?}: {errors}");
        assert!(
            errors.contains("File too large"),
            "{statements:?}: {errors}"
        );
        let after = files(folder.path());
        for (path, bytes) in &before {
            assert!(after.get(path) == Some(bytes), "{statements:?}: {path:?}");
        }
    }
    let count = "SELECT (SELECT count(*) FROM g.person) AS persons, (SELECT count(*) FROM g.person_knows_person) AS edges";
    let check = format!("SELECT count(*) AS wrong FROM graph_check('{graph}')");
    let found = works(&run(None, &[open.clone(), count.to_owned(), check.clone()]));
    assert!(
        found.contains("100 200") && found.contains("[\"0\"]"),
        "{found}"
    );

    // Without the limit the same goes through, and nothing is left of what failed: the state and the one before.
    works(&run(
        None,
        &[open.clone(), insert(20000), insert_persons(20000)],
    ));
    let found = works(&run(None, &[open, count.to_owned(), check]));
    assert!(
        found.contains("20100 20200") && found.contains("[\"0\"]"),
        "{found}"
    );
    for kind in ["vertex", "edge"] {
        let left = fs::read_dir(folder.path().join(kind)).unwrap();
        let left = left.map(|entry| entry.unwrap().path());
        let states: Vec<_> = left.filter(|path| path.is_dir()).collect();
        assert!(states.len() <= 2, "{states:?}");
    }
}
