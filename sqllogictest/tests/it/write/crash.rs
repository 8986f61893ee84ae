//! A write that ends at any point leaves the old graph or the new one.

use datafusion::common::Result;
use datafusion::common::runtime::SpawnedTask;
use datafusion_graphar::session::SessionContextExt;
use futures::TryStreamExt;
use object_store::ObjectStoreExt;
use object_store::path::Path;

use super::failing_store::FailingStore;
use super::*;
use crate::fixture::{How, try_rows};

/// The files of a graph with persons and edges.
async fn written() -> Arc<InMemory> {
    let (store, ctx) = empty();
    write_persons(&ctx, "(10, 'a', 0.0), (20, 'b', 1.0), (30, 'c', 2.0)").await;
    write_knows(&ctx, "(10, 20, 1), (30, 10, 2), (10, 30, 3)").await;
    store
}

/// A store with the same files.
async fn copy_of(store: &Arc<InMemory>) -> Arc<InMemory> {
    let copy = Arc::new(InMemory::new());
    let files: Vec<_> = store.list(None::<&Path>).try_collect().await.unwrap();
    for file in files {
        let bytes = store
            .get(&file.location)
            .await
            .unwrap()
            .bytes()
            .await
            .unwrap();
        copy.put(&file.location, bytes.into()).await.unwrap();
    }
    copy
}

async fn state(store: &Arc<InMemory>) -> (Vec<String>, Vec<String>) {
    let ctx = reopened(store).await;
    (persons(&ctx).await, edges(&ctx).await)
}

/// Whether all files of a graph are as they were, its info file too: then it is the same graph.
async fn is_untouched(before: &Arc<InMemory>, store: &Arc<InMemory>) -> bool {
    let files: Vec<_> = before.list(None::<&Path>).try_collect().await.unwrap();
    for file in files {
        let bytes = async |store: &Arc<InMemory>| {
            let found = store.get(&file.location).await.unwrap();
            found.bytes().await.unwrap()
        };
        if bytes(before).await != bytes(store).await {
            return false;
        }
    }
    true
}

async fn run(store: Arc<dyn ObjectStore>, register: bool, sql: &str) -> Result<Vec<String>> {
    let ctx = How::default().session(store);
    if register {
        ctx.register_graph("g", GRAPH).await?;
    }
    try_rows(&ctx, sql).await
}

#[tokio::test]
async fn killed_at_any_call_of_the_store() {
    let before = written().await;
    let old = state(&before).await;
    let statements = [
        (
            true,
            "INSERT INTO g.person (id, name) VALUES (40, 'd'), (50, 'e')".to_owned(),
        ),
        (
            true,
            "INSERT INTO g.person_knows_person (_src_id, _dst_id, w) VALUES (2, 2, 4), (0, 1, 5)"
                .to_owned(),
        ),
        (
            false,
            copy(
                "SELECT 10 AS a, 10 AS b, 6 AS w",
                "'edge' 'person-knows-person', 'source_key' 'a', 'destination_key' 'b', \
                 'layouts' 'ordered_by_source,ordered_by_dest,unordered_by_source,unordered_by_dest'",
            ),
        ),
    ];
    for (register, sql) in statements {
        let whole = copy_of(&before).await;
        run(Arc::<InMemory>::clone(&whole), register, &sql)
            .await
            .unwrap();
        let new = state(&whole).await;
        assert_ne!(new, old);
        let (mut calls, mut failures) = (0, 0);
        loop {
            let store = copy_of(&before).await;
            let failing = Arc::new(FailingStore::new(Arc::<InMemory>::clone(&store), calls));
            let result = run(Arc::<FailingStore>::clone(&failing), register, &sql).await;
            let untouched = is_untouched(&before, &store).await;
            assert!(!(untouched && result.is_ok()), "{sql}: after {calls} calls");
            if !untouched {
                assert_eq!(state(&store).await, new, "{sql}: after {calls} calls");
            }
            // The next writer is not disturbed by what is left.
            if calls % 40 == 7 {
                let more = copy("SELECT 1 AS x", "'vertex' 'more'");
                run(Arc::<InMemory>::clone(&store), false, &more)
                    .await
                    .unwrap();
                let expected = if untouched { &old } else { &new };
                assert_eq!(&state(&store).await, expected, "{sql}: after {calls} calls");
            }
            if !failing.has_failed() {
                break;
            }
            failures += 1;
            calls += 1;
        }
        assert!(failures > 10, "{sql}: {failures}");
    }
}

#[tokio::test]
async fn of_two_writers_of_one_type_one_wins_and_the_other_says_so() {
    let store = Arc::new(InMemory::new());
    let writers: Vec<_> = (0..20)
        .map(|i| {
            let store = Arc::clone(&store);
            SpawnedTask::spawn(async move {
                let sql = copy(&format!("SELECT {i} AS x"), "'vertex' 't', 'key' 'x'");
                run(store, false, &sql).await.map(|_| i)
            })
        })
        .collect();
    let mut won = vec![];
    for writer in writers {
        match writer.join().await.unwrap() {
            Ok(number) => won.push(number.to_string()),
            Err(error) => assert!(error.to_string().contains("another writer"), "{error}"),
        }
    }
    let ctx = reopened(&store).await;
    let found = rows(&ctx, "SELECT x FROM g.t").await;
    assert_eq!(found.len(), 1);
    assert!(won.contains(&found[0]), "{found:?} of {won:?}");
}
