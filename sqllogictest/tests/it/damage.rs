//! Damaged archives: an error that names the file, or the right number of rows; never a panic, a
//! hang, or a part of the rows.

use std::time::Duration;

use datafusion::arrow::array::{Float64Array, RecordBatch};
use datafusion_graphar::format::{FileType, ScalarType};
use futures::TryStreamExt;
use object_store::ObjectStore;
use object_store::path::Path;

use crate::fixture::*;

async fn graph(file_type: FileType) -> Archive {
    let edges: Vec<(i64, i64)> = (0..40).map(|i| (i % 7, (i * 3) % 7)).collect();
    let mut info = knows(3, 4, file_type);
    info.property_groups = vec![group(file_type, vec![property("w", ScalarType::Double)])];
    let weights = Float64Array::from_iter_values((0..40).map(f64::from));
    let weights: RecordBatch = batch(vec![("w", std::sync::Arc::new(weights))]);
    Fixture::persons(7, 3, file_type)
        .await
        .edges(info, &edges, Some(weights))
        .await
        .finish()
        .await
}

const VERTICES: &str = "SELECT * FROM g.person";
const EDGES: &str = "SELECT * FROM g.person_knows_person";

#[tokio::test]
async fn a_fault_is_named_with_its_file() {
    let adj_list = "edge/person_knows_person/ordered_by_source/adj_list";
    for file_type in FileType::ALL {
        // A chunk that is gone.
        let archive = graph(file_type).await;
        archive.delete("vertex/person/id/chunk1").await;
        let message = error(&archive.session().await, VERTICES).await;
        assert!(
            message.contains("missing file data/vertex/person/id/chunk1"),
            "{message}"
        );

        // More vertices than the chunks have, in the last chunk or beyond it, and fewer.
        for count in [9_i64, 12, 5] {
            let archive = graph(file_type).await;
            archive
                .put("vertex/person/vertex_count", count.to_le_bytes())
                .await;
            let message = error(&archive.session().await, VERTICES).await;
            assert!(
                message.contains("vertex/person/id/chunk"),
                "{count} {message}"
            );
            let missing = format!("missing file data/vertex/person/id/chunk{}", 3);
            let counted = message.contains("by the count files");
            assert!(counted || message.contains(&missing), "{count} {message}");
        }

        // A chunk of another place.
        let archive = graph(file_type).await;
        let other = archive.get(&format!("{adj_list}/part2/chunk0")).await;
        archive
            .put(&format!("{adj_list}/part0/chunk0"), other)
            .await;
        let message = error(&archive.session().await, EDGES).await;
        assert!(message.contains("adj_list/part0/chunk0"), "{message}");
        assert!(
            message.contains("vertex ids from 0 to below 3"),
            "{message}"
        );
    }

    // An end beyond the vertices.
    let archive = graph(FileType::Csv).await;
    let chunk = format!("{adj_list}/part0/chunk0");
    let text = String::from_utf8(archive.get(&chunk).await).unwrap();
    let line = text.lines().nth(2).unwrap();
    let (source, _) = line.split_once(',').unwrap();
    archive
        .put(&chunk, text.replacen(line, &format!("{source},99"), 1))
        .await;
    let message = error(&archive.session().await, EDGES).await;
    assert!(
        message.contains("adj_list/part0/chunk0: _dst_id"),
        "{message}"
    );
    assert!(message.contains("found 99"), "{message}");
    // The switch, and queries that do not read the ids, are not bothered.
    let mut how = How::default();
    how.options.check_endpoints = false;
    let ctx = archive.open(&how).await.unwrap();
    assert_eq!(
        value(&ctx, "SELECT max(_dst_id) FROM g.person_knows_person").await,
        "99"
    );
}

#[tokio::test]
async fn counts_beyond_all_bounds_end_at_once() {
    let archive = graph(FileType::Csv).await;
    archive
        .put("vertex/person/vertex_count", i64::MAX.to_le_bytes())
        .await;
    let list = "edge/person_knows_person/ordered_by_source";
    archive
        .put(&format!("{list}/edge_count0"), i64::MAX.to_le_bytes())
        .await;
    let ctx = archive.session().await;
    let message = error(&ctx, VERTICES).await;
    assert!(message.contains("vertex/person/id/chunk"), "{message}");
    let message = error(&ctx, EDGES).await;
    assert!(message.contains("2^63"), "{message}");

    let archive = graph(FileType::Csv).await;
    archive
        .put(&format!("{list}/vertex_count"), i64::MAX.to_le_bytes())
        .await;
    let message = error(&archive.session().await, EDGES).await;
    assert!(message.contains("edge_count3"), "{message}");
    archive
        .put(&format!("{list}/vertex_count"), (-1_i64).to_le_bytes())
        .await;
    let message = error(&archive.session().await, EDGES).await;
    assert!(
        message.contains("vertex_count: count: expected 8 bytes"),
        "{message}"
    );
}

#[tokio::test]
async fn layouts_that_disagree_are_an_error_of_the_table_but_can_be_read() {
    let mut info = knows(3, 4, FileType::Csv);
    let layouts = datafusion_graphar::format::AdjListType::ALL;
    info.adj_lists = layouts.map(|layout| list(layout, FileType::Csv)).to_vec();
    let archive = Fixture::persons(7, 3, FileType::Csv)
        .await
        .edges(info, &[(0, 1), (6, 2)], None)
        .await
        .finish()
        .await;
    let count = "edge/person_knows_person/ordered_by_dest/edge_count0";
    archive.put(count, 0_i64.to_le_bytes()).await;
    archive
        .put(
            "edge/person_knows_person/ordered_by_dest/edge_count1",
            0_i64.to_le_bytes(),
        )
        .await;
    let ctx = archive.session().await;
    let message = error(&ctx, EDGES).await;
    assert!(
        message.contains("ordered_by_dest") && message.contains("expected 2"),
        "{message}"
    );
    let sql = "SELECT count(*) FROM g.\"person_knows_person$ordered_by_source\"";
    assert_eq!(value(&ctx, sql).await, "2");
}

/// Every file of an archive, cut off, overwritten and with single bytes changed.
#[tokio::test]
async fn no_damage_makes_a_panic_a_hang_or_a_partial_result() {
    for file_type in FileType::ALL {
        let archive = graph(file_type).await;
        let files: Vec<Path> = archive
            .store
            .list(None)
            .map_ok(|meta| meta.location)
            .try_collect()
            .await
            .unwrap();
        let mut random = Random(0x1234_5678);
        for path in files {
            let path = path.as_ref().strip_prefix("data/").unwrap().to_owned();
            let sound = archive.get(&path).await;
            for round in 0..12 {
                let bytes = damaged(&sound, round, &mut random);
                archive.put(&path, bytes).await;
                let query = query_all(&archive);
                let done = tokio::time::timeout(Duration::from_secs(60), query).await;
                assert!(done.is_ok(), "{file_type} {path} round {round} hangs");
            }
            archive.put(&path, sound).await;
        }
        let ctx = archive.session().await;
        assert_eq!(rows(&ctx, VERTICES).await.len(), 7, "{file_type}");
        assert_eq!(rows(&ctx, EDGES).await.len(), 40, "{file_type}");
    }
}

async fn query_all(archive: &Archive) {
    let Ok(ctx) = archive.open(&How::default()).await else {
        return;
    };
    for (sql, count) in [(VERTICES, 7), (EDGES, 40)] {
        match try_rows(&ctx, sql).await {
            // A changed count may make another table of it, but only one that the files agree with.
            Ok(rows) => assert_eq!(rows.len(), count, "{sql}"),
            Err(error) => {
                let message = error.strip_backtrace();
                assert!(!message.contains("Internal error"), "{message}");
            }
        }
    }
}

fn damaged(sound: &[u8], round: usize, random: &mut Random) -> Vec<u8> {
    let mut bytes = sound.to_vec();
    match round {
        0 => bytes.clear(),
        1 => bytes.truncate(sound.len() / 2),
        2 => bytes.truncate(sound.len().saturating_sub(1)),
        3 => bytes.fill(0xff),
        4 => bytes[..4.min(sound.len())].fill(b'X'),
        5 => bytes.extend_from_slice(&sound[..sound.len().min(100)]),
        _ => {
            for _ in 0..=round % 3 {
                let at = random.below(sound.len());
                bytes[at] ^= 1 << random.below(8);
            }
        }
    }
    bytes
}

/// A small linear congruential generator: the same damage in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        usize::try_from(self.0 >> 33).unwrap() % end.max(1)
    }
}

#[tokio::test]
async fn counts_that_are_too_small_do_not_hide_rows() {
    let list = "edge/person_knows_person/ordered_by_source";
    for file_type in FileType::ALL {
        for count in [0_i64, 3, 5, 6] {
            let archive = graph(file_type).await;
            let file = format!("{list}/vertex_count");
            archive.put(&file, count.to_le_bytes()).await;
            let message = error(&archive.session().await, EDGES).await;
            assert!(message.contains(&file), "{count} {message}");
            assert!(message.contains("expected 7"), "{count} {message}");
        }
        // At the border of a chunk: part 0 has 18 edges in chunks of 4.
        for (file, count, sql) in [
            ("vertex/person/vertex_count".to_owned(), 6_i64, VERTICES),
            ("vertex/person/vertex_count".to_owned(), 3, VERTICES),
            (format!("{list}/edge_count0"), 16, EDGES),
        ] {
            let archive = graph(file_type).await;
            archive.put(&file, count.to_le_bytes()).await;
            let message = error(&archive.session().await, sql).await;
            let text = format!("expected no rows beyond the {count}");
            assert!(message.contains(&text), "{file} {count} {message}");
        }
    }
}

#[tokio::test]
async fn a_session_goes_on_after_a_damaged_file() {
    for file_type in FileType::ALL {
        let archive = graph(file_type).await;
        archive.put("vertex/person/id/chunk1", vec![]).await;
        let ctx = archive.session().await;
        for _ in 0..2 {
            let message = error(&ctx, VERTICES).await;
            assert!(message.contains("vertex/person/id/chunk1"), "{message}");
            assert_eq!(rows(&ctx, EDGES).await.len(), 40, "{file_type}");
        }
    }
}
