//! Opening archives: locations, prefixes, missing files, what is read and what is not.

use std::sync::Arc;
use std::time::Duration;

use datafusion::prelude::SessionContext;
use datafusion_graphar::format::FileType;
use datafusion_graphar::sample::write_sample;
use datafusion_graphar::session::SessionContextExt;
use object_store::ObjectStoreExt;
use object_store::local::LocalFileSystem;
use object_store::memory::InMemory;
use object_store::path::Path;

use crate::counting_store::CountingStore;
use crate::fixture::*;

const EDGES: [(i64, i64); 3] = [(0, 1), (4, 4), (9, 0)];

async fn graph() -> Archive {
    Fixture::persons(10, 3, FileType::Parquet)
        .await
        .edges(knows(3, 2, FileType::Parquet), &EDGES, None)
        .await
        .finish()
        .await
}

/// The archive's graph info with another first line.
async fn with_prefix(archive: &Archive, prefix: &str) -> String {
    let info = String::from_utf8(archive.get("g.graph.yml").await).unwrap();
    format!("prefix: {prefix}\n{info}")
}

#[tokio::test]
async fn a_prefix_may_be_relative_absent_absolute_or_a_uri() {
    let archive = graph().await;
    let plain = archive.get("g.graph.yml").await;
    let mut found = vec![];
    for prefix in [
        "./",
        "../data/",
        "",
        "''",
        "/data/",
        "/data",
        "memory://t/data/",
        "/nowhere/on/this/machine/",
        "hdfs://namenode:9000/graphs/",
    ] {
        let info = with_prefix(&archive, prefix).await;
        archive.put("g.graph.yml", info).await;
        let ctx = archive.session().await;
        let sql = "SELECT count(id), sum(id), sum(_vertex_id) FROM g.person";
        found.push((prefix, value(&ctx, sql).await));
        let sql = "SELECT count(_dst_id), sum(_dst_id) FROM g.person_knows_person";
        assert_eq!(value(&ctx, sql).await, "3 5", "{prefix}");
        archive.put("g.graph.yml", plain.clone()).await;
    }
    for (prefix, rows) in found {
        assert_eq!(rows, "10 10045 45", "{prefix}");
    }
}

#[tokio::test]
async fn info_files_may_lie_elsewhere_and_the_data_too() {
    let archive = graph().await;
    // The graph info alone in another folder, pointing at the data by its prefix: info files are
    // then found below the prefix, as Spark has them.
    let info = with_prefix(&archive, "../data/").await;
    let path = Path::from("other/h.graph.yml");
    archive
        .store
        .put(&path, info.into_bytes().into())
        .await
        .unwrap();
    let ctx = How::default().session(Arc::<InMemory>::clone(&archive.store));
    ctx.register_graph("g", "memory://t/other/h.graph.yml")
        .await
        .unwrap();
    assert_eq!(value(&ctx, "SELECT count(id) FROM g.person").await, "10");
}

#[tokio::test]
async fn without_a_prefix_an_element_is_found_by_either_default() {
    for (from, to) in [("vertex/person", "data/person"), ("vertex/person", "data")] {
        let archive = graph().await;
        for file in [
            "vertex_count",
            "id/chunk0",
            "id/chunk1",
            "id/chunk2",
            "id/chunk3",
        ] {
            let bytes = archive.get(&format!("{from}/{file}")).await;
            archive.delete(&format!("{from}/{file}")).await;
            let path = Path::from(format!("{to}/{file}"));
            archive.store.put(&path, bytes.into()).await.unwrap();
        }
        let info = String::from_utf8(archive.get("person.vertex.yml").await).unwrap();
        let info: Vec<&str> = info.lines().filter(|l| !l.starts_with("prefix:")).collect();
        archive.put("person.vertex.yml", info.join("\n")).await;
        let ctx = archive.session().await;
        assert_eq!(
            value(&ctx, "SELECT count(id) FROM g.person").await,
            "10",
            "{to}"
        );
    }
}

#[tokio::test]
async fn a_location_may_be_a_folder_or_the_info_of_one_type() {
    let archive = graph().await;
    for location in ["memory://t/data", "memory://t/data/"] {
        let ctx = How::default().session(Arc::<InMemory>::clone(&archive.store));
        ctx.register_graph("g", location).await.unwrap();
        assert_eq!(value(&ctx, "SELECT count(id) FROM g.person").await, "10");
    }
    for (file, table) in [
        ("person.vertex.yml", "person"),
        ("person_knows_person.edge.yml", "person_knows_person"),
    ] {
        let ctx = How::default().session(Arc::<InMemory>::clone(&archive.store));
        let location = format!("memory://t/data/{file}");
        ctx.register_graph("one", &location).await.unwrap();
        let count = value(&ctx, &format!("SELECT count(*) FROM one.{table}")).await;
        let sql = format!("CREATE EXTERNAL TABLE t STORED AS GRAPHAR LOCATION '{location}'");
        rows(&ctx, &sql).await;
        assert_eq!(value(&ctx, "SELECT count(*) FROM t").await, count);
    }
    archive
        .put("second.graph.yml", archive.get("g.graph.yml").await)
        .await;
    let ctx = How::default().session(Arc::<InMemory>::clone(&archive.store));
    let error = ctx
        .register_graph("g", "memory://t/data")
        .await
        .unwrap_err();
    let message = error.strip_backtrace();
    assert!(
        message.contains("2 graphs") && message.contains("second.graph.yml"),
        "{message}"
    );
}

#[tokio::test]
async fn what_is_not_there_is_refused_and_leaves_nothing() {
    let archive = graph().await;
    let ctx = How::default().session(Arc::<InMemory>::clone(&archive.store));
    for location in [
        "memory://t/data/none.graph.yml",
        "memory://t/vertex",
        "memory://t/data/vertex",
        "memory://t/data/person.vertex.yml/x.yml",
        "memory://elsewhere/g.graph.yml",
        "no/such/folder/g.graph.yml",
        "no/such/folder",
        "",
    ] {
        assert!(
            ctx.register_graph("h", location).await.is_err(),
            "{location}"
        );
        let sql = format!("CREATE EXTERNAL TABLE h STORED AS GRAPHAR LOCATION '{location}'");
        let message = error(&ctx, &sql).await;
        assert!(!message.contains("Internal"), "{message}");
        error(&ctx, "SELECT * FROM h").await;
        error(&ctx, "SELECT * FROM h.person").await;
    }
}

#[tokio::test]
async fn an_element_without_files_reports_which_and_leaves_the_others() {
    let archive = graph().await;
    archive.delete("vertex/person/vertex_count").await;
    for chunk in 0..4 {
        archive
            .delete(&format!("vertex/person/id/chunk{chunk}"))
            .await;
    }
    let ctx = archive.session().await;
    let message = error(&ctx, "SELECT * FROM g.person").await;
    let path = "no data: missing file memory://t/data/vertex/person/vertex_count";
    assert!(message.contains(path), "{message}");
    let sql = "SELECT count(_src_id) FROM g.person_knows_person";
    assert_eq!(value(&ctx, sql).await, "3");
    let sql = "SELECT problem IS NULL FROM g ORDER BY name";
    assert_eq!(rows(&ctx, sql).await, ["false", "true"]);

    let archive = graph().await;
    archive.delete("person.vertex.yml").await;
    let ctx = archive.session().await;
    let message = error(&ctx, "SELECT * FROM g.person").await;
    assert!(
        message.contains("person has no data: missing file"),
        "{message}"
    );
    assert!(message.contains("data/person.vertex.yml"), "{message}");
    let sql = "SELECT count(_src_id) FROM g.person_knows_person";
    assert_eq!(value(&ctx, sql).await, "3");
    // A broken element must not take the catalog's own views with it.
    let sql = "SELECT DISTINCT table_name FROM information_schema.columns WHERE table_schema = 'g'";
    rows(&ctx, "SET datafusion.catalog.information_schema = true").await;
    assert_eq!(rows(&ctx, sql).await, ["person_knows_person"]);
}

#[tokio::test]
async fn missing_counts_are_made_up_from_the_chunks() {
    for file_type in FileType::ALL {
        let archive = Fixture::persons(10, 3, file_type)
            .await
            .edges(
                knows(3, 2, file_type),
                &[(0, 1), (0, 2), (0, 3), (9, 0)],
                None,
            )
            .await
            .finish()
            .await;
        archive.delete("vertex/person/vertex_count").await;
        let edges = "edge/person_knows_person/ordered_by_source";
        for file in ["vertex_count", "edge_count0", "edge_count3"] {
            archive.delete(&format!("{edges}/{file}")).await;
        }
        let ctx = archive.session().await;
        let sql = "SELECT count(id), sum(id) FROM g.person";
        assert_eq!(value(&ctx, sql).await, "10 10045", "{file_type}");
        let sql = "SELECT count(_src_id), sum(_dst_id) FROM g.person_knows_person";
        assert_eq!(value(&ctx, sql).await, "4 6", "{file_type}");
    }
}

#[tokio::test]
async fn thousands_of_small_chunks_are_planned_without_opening_one() {
    let archive = Fixture::persons(10_000, 2, FileType::Csv)
        .await
        .finish()
        .await;
    let store = Arc::new(CountingStore::new(Arc::clone(&archive.store)));
    let ctx = How::default().session(Arc::<CountingStore>::clone(&store));
    let open = async {
        ctx.register_graph("g", "memory://t/data/g.graph.yml")
            .await
            .unwrap();
        let plan = ctx.sql("SELECT id FROM g.person LIMIT 1").await.unwrap();
        plan.create_physical_plan().await.unwrap();
    };
    tokio::time::timeout(Duration::from_secs(30), open)
        .await
        .unwrap();
    let (reads, lists) = store.take();
    // The last chunk is asked for, but not opened: 10,000 rows in chunks of 2 end with chunk 4,999.
    let files = [
        "g.graph.yml",
        "person.vertex.yml",
        "vertex/person/id/chunk4999",
        "vertex/person/id/chunk5000",
        "vertex/person/vertex_count",
    ];
    assert_eq!(reads, files.map(|file| format!("data/{file}")));
    assert_eq!(lists, 0);

    assert_eq!(value(&ctx, "SELECT count(*) FROM g.person").await, "10000");
    assert_eq!(store.take().0, Vec::<String>::new());
    assert_eq!(rows(&ctx, "SELECT id FROM g.person LIMIT 1").await.len(), 1);
    let (reads, lists) = store.take();
    assert!(reads.len() <= 2, "{reads:?}");
    assert_eq!(lists, 0);
}

#[tokio::test]
async fn a_projection_opens_only_the_groups_that_it_needs() {
    let store = Arc::new(InMemory::new());
    write_sample(Arc::<InMemory>::clone(&store), Path::from("data"))
        .await
        .unwrap();
    let store = Arc::new(CountingStore::new(store));
    let how = How::default();
    let ctx = how.session(Arc::<CountingStore>::clone(&store));
    ctx.register_graph("g", "memory://t/data/modern.graph.yml")
        .await
        .unwrap();
    store.take();

    let opened = async |ctx: &SessionContext, sql: &str| {
        rows(ctx, sql).await;
        let (reads, lists) = store.take();
        assert_eq!(lists, 0);
        let mut folders: Vec<String> = reads
            .iter()
            .map(|path| path.rsplit('/').nth(1).unwrap().to_owned())
            .collect();
        folders.dedup();
        folders
    };
    assert_eq!(opened(&ctx, "SELECT id FROM g.person").await, ["id"]);
    assert_eq!(
        opened(&ctx, "SELECT name FROM g.person").await,
        ["name_age"]
    );
    assert_eq!(
        opened(&ctx, "SELECT age + id FROM g.person").await,
        ["id", "name_age"]
    );
    assert!(
        opened(&ctx, "SELECT _vertex_id FROM g.person")
            .await
            .is_empty()
    );
    assert!(
        opened(&ctx, "SELECT count(*) FROM g.person")
            .await
            .is_empty()
    );
    rows(&ctx, "SET graphar.projection_pushdown = false").await;
    assert_eq!(
        opened(&ctx, "SELECT id FROM g.person").await,
        ["id", "name_age"]
    );
}

#[tokio::test]
async fn an_archive_in_a_folder_of_the_file_system_opens_from_anywhere() {
    let folder = tempfile::Builder::new()
        .prefix("a b %20 é")
        .tempdir()
        .unwrap();
    let store = LocalFileSystem::new_with_prefix(folder.path()).unwrap();
    write_sample(Arc::new(store), Path::default())
        .await
        .unwrap();
    let path = folder.path().display().to_string();
    let url = url::Url::from_file_path(folder.path()).unwrap();
    for location in [
        path.clone(),
        format!("{path}/modern.graph.yml"),
        format!("{path}/person/../modern.graph.yml"),
        format!("{url}/modern.graph.yml"),
    ] {
        let ctx = SessionContext::new();
        ctx.register_graph("g", &location).await.unwrap();
        assert_eq!(
            value(&ctx, "SELECT sum(age) FROM g.person").await,
            "123",
            "{location}"
        );
    }
}

#[tokio::test]
async fn attaching_nothing_creates_nothing_on_disk() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("empty")).unwrap();
    let ctx = How::default().session(Arc::new(InMemory::new()));
    for name in ["empty", "missing", "missing/g.graph.yml"] {
        let location = folder.path().join(name).display().to_string();
        let Err(refused) = ctx.register_graph("h", &location).await else {
            panic!("{location} was opened");
        };
        let message = refused.strip_backtrace();
        assert!(message.contains(&location), "{message}");
        let sql = format!("CREATE EXTERNAL TABLE h STORED AS GRAPHAR LOCATION '{location}'");
        error(&ctx, &sql).await;
        error(&ctx, "SELECT * FROM h").await;
    }
    assert!(!folder.path().join("missing").exists());
    let left = std::fs::read_dir(folder.path().join("empty")).unwrap();
    assert_eq!(left.count(), 0);
}

// Tests run in the folder of their package, so the working directory is another.
#[tokio::test]
async fn prefixes_of_a_local_archive_do_not_depend_on_the_working_directory() {
    let folder = tempfile::tempdir().unwrap();
    let store = LocalFileSystem::new_with_prefix(folder.path()).unwrap();
    write_sample(Arc::new(store), Path::default())
        .await
        .unwrap();
    let file = folder.path().join("modern.graph.yml");
    let plain = std::fs::read_to_string(&file).unwrap();
    let absolute = folder.path().display().to_string();
    let url = url::Url::from_file_path(folder.path()).unwrap();
    for prefix in [
        "",
        "./",
        &format!("{absolute}/"),
        &format!("{url}/"),
        "/no/such/root/",
    ] {
        let line = if prefix.is_empty() {
            String::new()
        } else {
            format!("prefix: {prefix}\n")
        };
        std::fs::write(&file, format!("{line}{plain}")).unwrap();
        let ctx = SessionContext::new();
        let location = file.display().to_string();
        ctx.register_graph("g", &location).await.unwrap();
        let sql = "SELECT sum(age), count(id), sum(_vertex_id) FROM g.person";
        assert_eq!(value(&ctx, sql).await, "123 4 6", "{prefix}");
    }
}

#[tokio::test]
async fn registering_again_reads_counts_again_and_a_refusal_changes_nothing() {
    let archive = graph().await;
    let ctx = archive.session().await;
    let location = "memory://t/data/g.graph.yml";
    archive
        .put("vertex/person/vertex_count", 4_i64.to_le_bytes())
        .await;
    archive.delete("vertex/person/id/chunk2").await;
    archive.delete("vertex/person/id/chunk3").await;
    archive.delete("person_knows_person.edge.yml").await;
    let count = "SELECT count(*) FROM g.person";
    assert_eq!(value(&ctx, count).await, "10");
    let sql = format!("CREATE OR REPLACE EXTERNAL TABLE g STORED AS GRAPHAR LOCATION '{location}'");
    rows(&ctx, &sql).await;
    assert_eq!(value(&ctx, count).await, "4");
    archive
        .put("vertex/person/vertex_count", 5_i64.to_le_bytes())
        .await;
    ctx.register_graph("g", location).await.unwrap();
    assert_eq!(value(&ctx, count).await, "5");

    // With the graph's schema as the default one, its name is taken only where a table has it.
    rows(&ctx, "SET datafusion.catalog.default_schema = g").await;
    ctx.register_graph("g", location).await.unwrap();
    assert_eq!(value(&ctx, "SELECT count(*) FROM person").await, "5");
    assert!(ctx.register_graph("person", location).await.is_err());
    assert!(
        ctx.register_graph("g", "memory://t/none.graph.yml")
            .await
            .is_err()
    );
    assert_eq!(value(&ctx, "SELECT count(*) FROM person").await, "5");
    rows(&ctx, "CREATE TABLE own AS SELECT 1 AS one").await;
    assert_eq!(value(&ctx, "SELECT one FROM g.own").await, "1");
    rows(&ctx, "DROP TABLE own").await;
    error(&ctx, "DROP TABLE person").await;
    assert_eq!(value(&ctx, "SELECT count(*) FROM person").await, "5");
}

/// Git writes symbolic links as small files where it cannot make links.
#[tokio::test]
async fn files_in_place_of_symbolic_links_are_followed() {
    let archive = graph().await;
    for file in [
        "g.graph.yml",
        "person.vertex.yml",
        "person_knows_person.edge.yml",
    ] {
        let path = Path::from(format!("linked/deep/{file}"));
        let bytes = archive.get(file).await;
        archive.store.put(&path, bytes.into()).await.unwrap();
    }
    for name in ["vertex", "edge"] {
        let path = Path::from(format!("linked/deep/{name}"));
        let target = format!("../../data/{name}");
        archive
            .store
            .put(&path, target.into_bytes().into())
            .await
            .unwrap();
    }
    let ctx = How::default().session(Arc::<InMemory>::clone(&archive.store));
    ctx.register_graph("g", "memory://t/linked/deep")
        .await
        .unwrap();
    assert_eq!(value(&ctx, "SELECT count(id) FROM g.person").await, "10");
    let sql = "SELECT sum(_dst_id) FROM g.person_knows_person";
    assert_eq!(value(&ctx, sql).await, "5");
}
