//! Archives with much wrong at once, and each file of one damaged.

use std::fs;
use std::path::Path;
use std::time::Duration;

use super::{CREATED, Copy, KNOWS};

#[tokio::test]
async fn counts_beyond_all_bounds_end_at_once() {
    let archive = Copy::of("csv");
    archive.count("vertex/person/vertex_count", i64::MAX);
    archive.count(&format!("{CREATED}/edge_count0"), i64::MAX);
    archive.count(&format!("{KNOWS}/ordered_by_dest/vertex_count"), i64::MAX);
    let done = tokio::time::timeout(Duration::from_secs(60), archive.check("deep")).await;
    let found = done.unwrap();
    assert!(
        found
            .iter()
            .any(|row| row.contains("behind it were not looked for"))
    );
    assert!(
        found
            .iter()
            .any(|row| row.contains("parts behind it were not looked at"))
    );
    assert!(found.len() < 80, "{found:#?}");
}

#[tokio::test]
async fn all_that_is_wrong_is_found_at_once() {
    let archive = Copy::of("csv");
    archive.replace("software.vertex.yml", "int64", "integer64");
    archive.put("vertex/person/id/chunk0", "no,such,columns\n");
    archive.remove("vertex/person/name_age/chunk1");
    archive.replace(&format!("{CREATED}/offset/chunk1"), "0\n2\n3", "0\n1\n3");
    archive.replace(
        &format!("{KNOWS}/ordered_by_source/adj_list/part0/chunk0"),
        "0,2",
        "0,9",
    );
    let mut rules = vec![];
    for row in archive.check("deep").await {
        let (file, rest) = row.split_once(' ').unwrap();
        rules.push(format!("{file} {}", rest.split_once(':').unwrap().0));
    }
    assert_eq!(
        rules,
        [
            "edge/person_created_software/ordered_by_source/offset/chunk1 offsets",
            "edge/person_knows_person/ordered_by_source/adj_list/part0/chunk0 edge_endpoint",
            "software.vertex.yml metadata",
            "vertex/person/id/chunk0 missing_column",
            "vertex/person/id/chunk0 row_count",
            "vertex/person/name_age/chunk1 missing_file",
        ]
    );
}

/// All files below a folder, seen from it.
fn files(folder: &Path, below: &str, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder.join(below)).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{below}{}", entry.file_name().to_str().unwrap());
        if entry.path().is_dir() {
            files(folder, &format!("{name}/"), found);
        } else {
            found.push(name);
        }
    }
}

#[tokio::test]
async fn whichever_file_is_cut_off_overwritten_or_gone_is_named() {
    for format in ["parquet", "orc", "csv", "json", "arrow"] {
        let archive = Copy::of(format);
        let mut names = vec![];
        files(archive.folder.path(), "", &mut names);
        names.retain(|name| name != "modern.graph.yml");
        assert!(names.len() > 30);
        for name in names {
            let sound = fs::read(archive.path(&name)).unwrap();
            for round in 0..3 {
                match round {
                    // Half an info can be an info, too.
                    0 if name.ends_with(".yml") => continue,
                    0 => archive.put(&name, &sound[..sound.len() / 2]),
                    1 => archive.put(&name, vec![0xff; sound.len()]),
                    _ => archive.remove(&name),
                }
                let found = archive.check("deep").await;
                let named = found.iter().any(|row| row.starts_with(&format!("{name} ")));
                assert!(named, "{format} {name} {round}: {found:#?}");
                archive.put(&name, &sound);
            }
        }
        assert!(archive.check("deep").await.is_empty());
    }
}
