//! Edges that do not fit into memory: the files are those that are written with all memory there is.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path as FilePath;
use std::task::Poll;

use datafusion::common::exec_datafusion_err;
use datafusion::execution::SessionStateBuilder;
use datafusion::execution::disk_manager::{DiskManagerBuilder, DiskManagerMode};
use datafusion::execution::memory_pool::{FairSpillPool, GreedyMemoryPool, MemoryPool};
use datafusion::execution::runtime_env::{RuntimeEnv, RuntimeEnvBuilder};
use datafusion::physical_plan::metrics::ExecutionPlanMetricsSet;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::prelude::SessionConfig;
use datafusion_graphar::format::FileType;
use datafusion_graphar::session::SessionStateBuilderExt;
use datafusion_graphar::storage::Stores;
use datafusion_graphar::writer::{GraphWriter, Spilling, WriteOptions};
use futures::{StreamExt, TryStreamExt, pin_mut, poll, stream};
use object_store::ObjectStoreExt;
use object_store::path::Path;
use url::Url;

use super::*;
use crate::fixture::{batch, error, ints, knows, rows, try_rows};

/// A session with little memory, and the folder of its temporary files.
struct Small {
    ctx: SessionContext,
    folder: tempfile::TempDir,
}

impl Small {
    fn new(store: &Arc<InMemory>, pool: Arc<dyn MemoryPool>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mode = DiskManagerMode::Directories(vec![folder.path().to_owned()]);
        let runtime = runtime(pool, mode);
        Self {
            ctx: limited(store, &runtime),
            folder,
        }
    }

    fn greedy(store: &Arc<InMemory>, limit: usize) -> Self {
        Self::new(store, Arc::new(GreedyMemoryPool::new(limit)))
    }

    /// How many files the statement spilled. None are left.
    async fn spills(&self, sql: &str) -> usize {
        let plan = rows(&self.ctx, &format!("EXPLAIN ANALYZE {sql}")).await;
        let plan = plan.join("\n");
        assert_eq!(files_of(self.folder.path()), 0, "{sql}");
        let metric = |name: &str| {
            let (_, rest) = plan
                .split_once(name)
                .unwrap_or_else(|| panic!("{name}: {plan}"));
            rest.chars()
                .take_while(char::is_ascii_digit)
                .collect::<String>()
        };
        let count = metric("spill_count=").parse().unwrap();
        assert_eq!(count == 0, metric("spilled_rows=") == "0", "{plan}");
        assert_eq!(count == 0, metric("spilled_bytes=") == "0", "{plan}");
        count
    }
}

fn runtime(pool: Arc<dyn MemoryPool>, mode: DiskManagerMode) -> Arc<RuntimeEnv> {
    RuntimeEnvBuilder::new()
        .with_memory_pool(pool)
        .with_disk_manager_builder(DiskManagerBuilder::default().with_mode(mode))
        .build_arc()
        .unwrap()
}

fn limited(store: &Arc<InMemory>, runtime: &Arc<RuntimeEnv>) -> SessionContext {
    let config = SessionConfig::new()
        .with_target_partitions(1)
        .with_batch_size(200);
    let state = SessionStateBuilder::new()
        .with_config(config)
        .with_runtime_env(Arc::clone(runtime))
        .with_default_features()
        .with_graphar()
        .build();
    let ctx = SessionContext::new_with_state(state);
    let store = Arc::<InMemory>::clone(store) as Arc<dyn ObjectStore>;
    ctx.register_object_store(&Url::parse("memory://t").unwrap(), store);
    ctx
}

fn files_of(folder: &FilePath) -> usize {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    entries
        .map(|entry| match entry.path().is_dir() {
            true => files_of(&entry.path()),
            false => 1,
        })
        .sum()
}

/// Rows in one order.
fn one() -> How {
    How {
        partitions: 1,
        ..How::default()
    }
}

const VERTICES: usize = 400;

/// 400 persons, with keys 1000 to 1399, in chunks of this size.
async fn persons_in_chunks(size: usize) -> Arc<InMemory> {
    let (store, ctx) = empty();
    let query = format!(
        "SELECT value + 1000 AS id FROM generate_series(0, {}) ORDER BY 1",
        VERTICES - 1
    );
    let options = format!("'vertex' 'person', 'key' 'id', 'chunk_size' '{size}'");
    rows(&ctx, &copy(&query, &options)).await;
    store
}

/// Edges between ids from `base` on, every twentieth of which ends at one vertex.
fn random_edges(count: usize, base: usize, seed: usize) -> String {
    format!(
        "SELECT (value * 7919 + value * value * 31 + {seed}) % {VERTICES} + {base} AS a, \
         CASE WHEN value % 20 = 3 THEN 7 ELSE (value * 104729 + value * value * 17 + {seed}) % {VERTICES} END + {base} AS b, \
         value AS w, concat('text of ', value) AS t, \
         CASE WHEN value % 3 > 0 THEN value % 2 = 0 END AS f \
         FROM generate_series(1, {count})"
    )
}

/// The files below the folder of the graph: their names, without what tells one write from another, and what is in
/// those that have one form only. The state before has the same names.
async fn files(store: &Arc<InMemory>) -> BTreeMap<String, Vec<Vec<u8>>> {
    let found: Vec<_> = store.list(None::<&Path>).try_collect().await.unwrap();
    let mut files: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for file in found {
        let name = file.location.to_string();
        let mut parts: Vec<&str> = name.split('/').collect();
        for part in &mut parts {
            // `person_knows_person-3f9a1c2b5d60e718`
            *part = part.split_once('-').map_or(*part, |(first, _)| first);
        }
        let mut bytes = vec![];
        if name.contains("count") || name.ends_with(".csv") {
            let found = store.get(&file.location).await.unwrap();
            bytes = found.bytes().await.unwrap().to_vec();
        }
        files.entry(parts.join("/")).or_default().push(bytes);
    }
    files.values_mut().for_each(|states| states.sort());
    files
}

async fn copy_of(store: &Arc<InMemory>) -> Arc<InMemory> {
    let copy = Arc::new(InMemory::new());
    let found: Vec<_> = store.list(None::<&Path>).try_collect().await.unwrap();
    for file in found {
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

/// Fails unless two graphs have the same files and the same rows in the same order, and nothing is wrong in the second.
async fn assert_same(some: &Arc<InMemory>, other: &Arc<InMemory>, context: &str) {
    assert_eq!(files(some).await, files(other).await, "{context}");
    let (some, other) = (session(some, &one()), session(other, &one()));
    for ctx in [&some, &other] {
        ctx.register_graph("g", GRAPH).await.unwrap();
    }
    for layout in layouts_of(&some).await {
        let sql = format!(r#"SELECT * FROM g."person_knows_person${layout}""#);
        let (expected, found) = (rows(&some, &sql).await, rows(&other, &sql).await);
        assert!(expected.len() > 5000, "{context}");
        assert!(expected == found, "{context}: {layout}");
    }
    assert_sound(&other).await;
}

/// The layouts of the edges.
async fn layouts_of(ctx: &SessionContext) -> Vec<&'static str> {
    let mut layouts = vec![];
    for layout in LAYOUTS.split(',') {
        let sql = format!(r#"SELECT 1 FROM g."person_knows_person${layout}" LIMIT 1"#);
        if try_rows(ctx, &sql).await.is_ok() {
            layouts.push(layout);
        }
    }
    assert!(!layouts.is_empty());
    layouts
}

const BY_KEY: &str = "'edge' 'person-knows-person', 'source_key' 'a', 'destination_key' 'b'";
const BY_ID: &str = "'edge' 'person-knows-person', 'source_id' 'a', 'destination_id' 'b'";

#[tokio::test]
async fn spilled_edges_give_the_same_files() {
    for (number, (size, file_type)) in [
        (16, "parquet"),
        (1, "csv"),
        (50, "json"),
        (3, "arrow"),
        (7, "orc"),
    ]
    .into_iter()
    .enumerate()
    {
        let before = persons_in_chunks(size).await;
        let (keys, base) = if number % 2 == 0 {
            (BY_KEY, 1000)
        } else {
            (BY_ID, 0)
        };
        let options = format!(
            "{keys}, 'layouts' '{LAYOUTS}', 'chunk_size' '100', 'file_type' '{file_type}', 'groups' 'w; t, f'"
        );
        let sql = copy(&random_edges(6000, base, number), &options);
        let whole = copy_of(&before).await;
        rows(&session(&whole, &one()), &sql).await;
        let mut spilled = vec![];
        for limit in [200 << 10, 300 << 10, 64 << 20] {
            let store = copy_of(&before).await;
            spilled.push(Small::greedy(&store, limit).spills(&sql).await);
            assert_same(&whole, &store, &format!("{sql} with {limit} bytes")).await;
        }
        assert!(spilled[0] > 0 && spilled[1] > 0, "{spilled:?}");
        assert_eq!(spilled[2], 0);
        let store = copy_of(&before).await;
        let fair = Small::new(&store, Arc::new(FairSpillPool::new(200 << 10)));
        assert!(fair.spills(&sql).await > 0);
        assert_same(&whole, &store, &format!("{sql}, fair")).await;
    }
}

#[tokio::test]
async fn edges_without_properties_and_of_one_layout() {
    let before = persons_in_chunks(2).await;
    for layout in LAYOUTS.split(',') {
        let options = format!("{BY_ID}, 'layouts' '{layout}', 'chunk_size' '7'");
        let query = random_edges(20000, 0, 5);
        let sql = copy(&format!("SELECT a, b FROM ({query})"), &options);
        let whole = copy_of(&before).await;
        rows(&session(&whole, &one()), &sql).await;
        let store = copy_of(&before).await;
        assert!(Small::greedy(&store, 100 << 10).spills(&sql).await > 0);
        assert_same(&whole, &store, layout).await;
    }
}

#[tokio::test]
async fn bad_rows_are_left_out_all_the_same() {
    let before = persons_in_chunks(16).await;
    // Some keys are those that nobody has, or null.
    let query = format!(
        "SELECT CASE WHEN w % 101 = 0 THEN 5 WHEN w % 101 = 1 THEN NULL ELSE a END AS a, b, w, t FROM ({})",
        random_edges(6000, 1000, 1)
    );
    for on_error in ["'skip'", "'reject', 'reject_file' 'memory://t/bad.csv'"] {
        let options = format!("{BY_KEY}, 'layouts' '{LAYOUTS}', 'on_error' {on_error}");
        let sql = copy(&query, &options);
        let whole = copy_of(&before).await;
        rows(&session(&whole, &one()), &sql).await;
        let store = copy_of(&before).await;
        assert!(Small::greedy(&store, 400 << 10).spills(&sql).await > 0);
        assert_same(&whole, &store, on_error).await;
    }
}

#[tokio::test]
async fn inserted_edges_are_spilled_and_so_are_few_among_many() {
    let before = persons_in_chunks(16).await;
    let options = format!("{BY_ID}, 'layouts' '{LAYOUTS}', 'chunk_size' '100'");
    let sql = copy(&random_edges(6000, 0, 2), &options);
    rows(&session(&before, &one()), &sql).await;
    for count in [50, 5000] {
        let insert = format!(
            "INSERT INTO g.person_knows_person (_src_id, _dst_id, w, t, f) {}",
            random_edges(count, 0, 3)
        );
        let whole = copy_of(&before).await;
        let ctx = session(&whole, &one());
        ctx.register_graph("g", GRAPH).await.unwrap();
        rows(&ctx, &insert).await;
        for limit in [200 << 10, 400 << 10] {
            let store = copy_of(&before).await;
            let small = Small::greedy(&store, limit);
            small.ctx.register_graph("g", GRAPH).await.unwrap();
            assert!(small.spills(&insert).await > 0, "{count}, {limit}");
            assert_same(&whole, &store, &format!("{count} rows, {limit} bytes")).await;
        }
    }
}

#[tokio::test]
async fn a_part_that_does_not_fit_is_named() {
    let before = persons_in_chunks(100).await;
    let sql = copy(&random_edges(6000, 0, 2), BY_ID);
    let small = Small::greedy(&before, 100 << 10);
    let message = error(&small.ctx, &sql).await;
    for part in [
        "person_knows_person: layout ordered_by_source: part 0 is written as a whole",
        "edges need",
        "Resources exhausted",
    ] {
        assert!(message.contains(part), "{part}: {message}");
    }
    assert_eq!(files_of(small.folder.path()), 0);
    let runtime = runtime(
        Arc::new(GreedyMemoryPool::new(100 << 10)),
        DiskManagerMode::Disabled,
    );
    let message = error(&limited(&before, &runtime), &sql).await;
    assert!(message.contains("graphar edges"), "{message}");
    assert_eq!(runtime.memory_pool.reserved(), 0);
}

#[tokio::test]
async fn files_go_when_a_writer_fails_or_is_dropped() {
    let before = persons_in_chunks(16).await;
    for fails in [true, false] {
        let small = Small::greedy(&before, 30 << 10);
        let runtime = small.ctx.runtime_env();
        let stores = Stores::new(Arc::clone(&runtime));
        let metrics = ExecutionPlanMetricsSet::new();
        let options = WriteOptions {
            pool: Arc::clone(&runtime.memory_pool),
            spilling: Some(Spilling::new(Arc::clone(&runtime), &metrics)),
            ..WriteOptions::default()
        };
        let mut writer = GraphWriter::open(GRAPH, &stores, options).await.unwrap();
        let edges = batch(vec![("a", ints((0..400).rev())), ("b", ints(0..400))]);
        let schema = edges.schema();
        let some = stream::iter((0..20).map(move |_| Ok(edges.clone())));
        let end = match fails {
            true => stream::iter([Err(exec_datafusion_err!("no more"))]).boxed(),
            false => stream::pending().boxed(),
        };
        let edges = Box::pin(RecordBatchStreamAdapter::new(schema, some.chain(end)));
        {
            let info = knows(16, 100, FileType::Parquet);
            let written = writer.write_edge_stream(info, [0, 1], edges);
            pin_mut!(written);
            let spilled = || metrics.clone_inner().spill_count().unwrap_or(0) > 0;
            let end = loop {
                let state = poll!(&mut written);
                if let Poll::Ready(end) = state {
                    break Some(end);
                }
                if spilled() {
                    break None;
                }
            };
            match end {
                Some(end) => assert!(fails && end.unwrap_err().to_string().contains("no more")),
                None => assert!(files_of(small.folder.path()) > 0),
            }
            assert!(spilled());
        }
        drop(writer);
        assert_eq!(files_of(small.folder.path()), 0, "fails: {fails}");
        assert_eq!(runtime.memory_pool.reserved(), 0);
    }
    let ctx = session(&before, &How::default());
    assert!(
        try_rows(&ctx, &format!("SELECT * FROM graph_check('{GRAPH}')"))
            .await
            .unwrap()
            .is_empty()
    );
}
