//! Statements that write graphs, and what is there afterwards.

mod append;
mod copy;
mod crash;
mod disk_full;
mod failing_store;
mod faults;
mod faults_damage;
mod faults_refused;
mod local;
mod on_error;
mod random;
mod refused;
mod round_trip;
mod spill;
mod subgraph;
mod upstream;

use std::sync::Arc;

use datafusion::prelude::SessionContext;
use datafusion_graphar::session::SessionContextExt;
use object_store::ObjectStore;
use object_store::memory::InMemory;

use crate::fixture::{How, rows};

/// The graph that statements of these tests write.
pub const GRAPH: &str = "memory://t/w/social.graph.yml";

/// A session with an empty store.
pub fn empty() -> (Arc<InMemory>, SessionContext) {
    let store = Arc::new(InMemory::new());
    let ctx = session(&store, &How::default());
    (store, ctx)
}

pub fn session(store: &Arc<InMemory>, how: &How) -> SessionContext {
    how.session(Arc::<InMemory>::clone(store) as Arc<dyn ObjectStore>)
}

/// Writes an element type from a query.
pub fn copy(query: &str, options: &str) -> String {
    format!("COPY ({query}) TO '{GRAPH}' STORED AS GRAPHAR OPTIONS ({options})")
}

/// Persons with these keys, names and scores, in chunks of two.
pub async fn write_persons(ctx: &SessionContext, values: &str) {
    let query = format!("SELECT * FROM (VALUES {values}) t(id, name, score)");
    let options = "'vertex' 'person', 'key' 'id', 'chunk_size' '2'";
    rows(ctx, &copy(&query, options)).await;
}

/// Edges between persons by their keys, in chunks of two.
pub async fn write_knows(ctx: &SessionContext, values: &str) {
    let query = format!("SELECT * FROM (VALUES {values}) t(a, b, w)");
    let options = "'edge' 'person-knows-person', 'source_key' 'a', 'destination_key' 'b', 'chunk_size' '2', \
                   'layouts' 'ordered_by_source,ordered_by_dest,unordered_by_source,unordered_by_dest'";
    rows(ctx, &copy(&query, options)).await;
}

/// Opens the graph anew in a session of its own.
pub async fn reopened(store: &Arc<InMemory>) -> SessionContext {
    let ctx = session(store, &How::default());
    ctx.register_graph("g", GRAPH).await.unwrap();
    ctx
}

/// All persons, in the order of their ids.
pub async fn persons(ctx: &SessionContext) -> Vec<String> {
    rows(
        ctx,
        "SELECT _vertex_id, id, name, score FROM g.person ORDER BY _vertex_id",
    )
    .await
}

/// All edges of every layout, sorted; they have to be the same.
pub async fn edges(ctx: &SessionContext) -> Vec<String> {
    let mut all: Option<Vec<String>> = None;
    for layout in [
        "",
        "$ordered_by_source",
        "$ordered_by_dest",
        "$unordered_by_source",
        "$unordered_by_dest",
    ] {
        let sql = format!(
            r#"SELECT _src_id, _dst_id, w FROM g."person_knows_person{layout}" ORDER BY 1, 2, 3"#
        );
        let found = rows(ctx, &sql).await;
        assert_eq!(all.get_or_insert_with(|| found.clone()), &found, "{layout}");
    }
    all.unwrap_or_default()
}

/// All layouts, as the option names them.
pub const LAYOUTS: &str = "ordered_by_source,ordered_by_dest,unordered_by_source,unordered_by_dest";

/// One partition and many, batches of one row, of a few and of all.
pub fn ways() -> Vec<How> {
    let mut ways = vec![];
    for partitions in [1, 16] {
        for batch_size in [1, 3, 8192] {
            ways.push(How {
                partitions,
                batch_size,
                ..How::default()
            });
        }
    }
    ways
}

/// Three of them, where there is more to try.
pub fn few_ways() -> Vec<How> {
    let all = ways();
    [1, 3, 5].map(|way| all[way].clone()).to_vec()
}

/// Fails if anything is wrong in the files of the graph.
pub async fn assert_sound(ctx: &SessionContext) {
    let found = rows(ctx, &format!("SELECT * FROM graph_check('{GRAPH}')")).await;
    assert!(found.is_empty(), "{found:#?}");
}
