//! Archives in the local file system, whose files stay open.

use std::fs;
use std::path::Path as FilePath;
use std::sync::Arc;

use datafusion::prelude::SessionContext;
use datafusion_graphar::format::FileType;
use datafusion_graphar::session::SessionContextExt;
use futures::TryStreamExt;
use object_store::local::LocalFileSystem;
use object_store::{ObjectStore, ObjectStoreExt};

use crate::fixture::*;

/// Writes `V(n, 100)` and edges below `folder`.
async fn write(folder: &FilePath, edges: &[(i64, i64)]) {
    let archive = Fixture::persons(300, 100, FileType::Parquet)
        .await
        .edges(knows(100, 64, FileType::Parquet), edges, None)
        .await
        .finish()
        .await;
    let target = LocalFileSystem::new_with_prefix(folder).unwrap();
    let files: Vec<_> = archive.store.list(None).try_collect().await.unwrap();
    for file in files {
        let bytes = archive
            .store
            .get(&file.location)
            .await
            .unwrap()
            .bytes()
            .await
            .unwrap();
        target.put(&file.location, bytes.into()).await.unwrap();
    }
}

fn edges(step: i64) -> Vec<(i64, i64)> {
    (0..300)
        .flat_map(|v| [(v, (v * step) % 300), (v, (v + step) % 300)])
        .collect()
}

async fn session(folder: &FilePath, how: &How) -> SessionContext {
    let ctx = how.session(Arc::new(object_store::memory::InMemory::new()));
    let file = folder.join(ROOT).join("g.graph.yml");
    ctx.register_graph("g", file.to_str().unwrap())
        .await
        .unwrap();
    ctx
}

#[tokio::test]
async fn every_vertex_has_its_neighbours_with_and_without_a_cache() {
    let folder = tempfile::tempdir().unwrap();
    let edges = edges(7);
    write(folder.path(), &edges).await;
    for cache_bytes in [0, 2000, 1 << 20] {
        let mut how = How::default();
        how.options.cache_bytes = cache_bytes;
        let ctx = session(folder.path(), &how).await;
        for vertex in (0..300).step_by(17).chain((0..300).step_by(17)) {
            let sql = format!(
                "SELECT _dst_id FROM g.person_knows_person WHERE _src_id = {vertex} ORDER BY _dst_id"
            );
            let mut expected: Vec<i64> = edges
                .iter()
                .filter(|edge| edge.0 == vertex)
                .map(|edge| edge.1)
                .collect();
            expected.sort_unstable();
            let expected: Vec<String> = expected.iter().map(ToString::to_string).collect();
            assert_eq!(rows(&ctx, &sql).await, expected);
        }
        assert_eq!(
            value(&ctx, "SELECT sum(id) FROM g.person WHERE _vertex_id >= 290").await,
            "12945"
        );
    }
}

#[tokio::test]
async fn files_replaced_or_overwritten_are_noticed() {
    let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    write(folder.path(), &edges(7)).await;
    write(other.path(), &edges(11)).await;
    let ctx = session(folder.path(), &How::default()).await;
    let sql = "SELECT _dst_id FROM g.person_knows_person WHERE _src_id = 150 ORDER BY _dst_id";
    for _ in 0..2 {
        assert_eq!(rows(&ctx, sql).await, ["150", "157"]);
    }
    let layout = "edge/person_knows_person/ordered_by_source";
    let places = |file: &str| {
        let at = |folder: &FilePath| folder.join(ROOT).join(layout).join(file);
        (at(folder.path()), at(other.path()))
    };
    for chunk in 0..4 {
        let (old, new) = places(&format!("adj_list/part1/chunk{chunk}"));
        if chunk % 2 == 0 {
            fs::rename(new, old).unwrap();
        } else {
            fs::copy(new, old).unwrap();
        }
    }
    for _ in 0..2 {
        assert_eq!(rows(&ctx, sql).await, ["150", "161"]);
    }
    // A file that is gone is an error, however much of it is remembered.
    fs::remove_file(places("adj_list/part1/chunk1").0).unwrap();
    let message = error(&ctx, sql).await;
    assert!(message.contains("adj_list/part1/chunk1"), "{message}");
}
