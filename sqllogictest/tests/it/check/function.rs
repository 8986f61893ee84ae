//! The function itself: arguments, columns, cancellation, memory.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::DataType;
use datafusion::execution::memory_pool::GreedyMemoryPool;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::prelude::SessionContext;
use datafusion_graphar::check::{Level, Rule, check};
use datafusion_graphar::session::SessionContextExt;
use datafusion_graphar::storage::{Location, Stores};
use futures::{StreamExt, TryStreamExt};

use super::{Copy, session};
use crate::fixture::*;

const COLUMNS: [&str; 4] = ["file", "rule", "expected", "found"];

#[tokio::test]
async fn a_registered_graph_is_checked_as_it_is_now() {
    let archive = Copy::of("csv");
    let ctx = SessionContext::new();
    ctx.register_graph("My Graph", &archive.graph())
        .await
        .unwrap();
    let sql = "SELECT rule FROM graph_check('My Graph')";
    assert_eq!(rows(&ctx, sql).await, Vec::<String>::new());
    let plan = ctx
        .sql(sql)
        .await
        .unwrap()
        .create_physical_plan()
        .await
        .unwrap();
    archive.remove("vertex/person/id/chunk1");
    let found = datafusion::physical_plan::collect(plan, ctx.task_ctx()).await;
    let count: usize = found.unwrap().iter().map(RecordBatch::num_rows).sum();
    assert_eq!(count, 1);
    let sql = "SELECT count(*) FROM GRAPH_CHECK('My Graph', 'Shallow') WHERE rule = 'missing_file'";
    assert_eq!(value(&ctx, sql).await, "1");
    let frame = ctx.sql("SELECT * FROM graph_check('My Graph')").await;
    for (field, name) in frame.unwrap().schema().fields().iter().zip(COLUMNS) {
        assert_eq!(field.name(), name);
        assert_eq!(
            (field.data_type(), field.is_nullable()),
            (&DataType::Utf8, false)
        );
    }
    // An info file that became unreadable is a row, too.
    archive.put("modern.graph.yml", "- nothing\n- like it\n");
    let sql = "SELECT rule FROM graph_check('My Graph')";
    assert_eq!(rows(&ctx, sql).await, ["metadata"]);
}

#[tokio::test]
async fn what_is_no_archive_is_an_error() {
    let ctx = session();
    for (arguments, message) in [
        (
            "",
            "takes a graph or location and a level, found 0 arguments",
        ),
        ("'a', 'deep', 'b'", "found 3 arguments"),
        ("1", "expected a text such as 'g'"),
        ("$1", "expected a text such as 'g', found $1"),
        (
            "'g', 'thorough'",
            "expected the level 'deep' or 'shallow', found 'thorough'",
        ),
        (
            "'no such graph'",
            "no graph of this name is registered, and cannot open",
        ),
        ("''", "the location is empty"),
        ("'nowhere://x/y.graph.yml'", "no object store is registered"),
    ] {
        let sql = format!("SELECT * FROM graph_check({arguments})");
        let message_found = error(&ctx, &sql).await;
        assert!(
            message_found.contains(message),
            "{arguments}: {message_found}"
        );
    }
}

#[tokio::test]
async fn a_check_stops_when_nobody_listens_any_more() {
    let archive = Copy::of("csv");
    archive.remove("vertex");
    let ctx = session();
    let sql = format!(
        "SELECT rule FROM graph_check('{}') LIMIT 1",
        archive.graph()
    );
    assert_eq!(rows(&ctx, &sql).await, ["no_data"]);

    let stores = Stores::new(ctx.runtime_env());
    let place = Location::parse(&archive.graph(), &stores).unwrap();
    let pool = Arc::clone(&ctx.runtime_env().memory_pool);
    let mut violations = check(place, Level::Deep, stores, &pool);
    let first = violations.next().await.unwrap().unwrap();
    assert_eq!(first.rule, Rule::NoData);
    drop(violations);
    assert_eq!(pool.reserved(), 0);
}

#[tokio::test]
async fn memory_for_keys_and_offsets_is_asked_for() {
    let archive = Copy::of("csv");
    for (bytes, enough) in [(8, false), (1 << 20, true)] {
        let runtime = RuntimeEnvBuilder::new()
            .with_memory_pool(Arc::new(GreedyMemoryPool::new(bytes)))
            .build_arc()
            .unwrap();
        let stores = Stores::new(Arc::clone(&runtime));
        let place = Location::parse(&archive.graph(), &stores).unwrap();
        let violations = check(place, Level::Deep, stores, &runtime.memory_pool);
        let found: Result<Vec<_>, _> = violations.try_collect().await;
        match found {
            Ok(found) => assert!(enough && found.is_empty(), "{found:?}"),
            Err(error) => {
                let message = error.to_string();
                assert!(!enough && message.contains("graph_check"), "{message}");
            }
        }
        assert_eq!(runtime.memory_pool.reserved(), 0);
    }
}

#[test]
fn every_rule_is_in_the_documentation() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/sql-reference/graph-check.md");
    let text = fs::read_to_string(docs).unwrap();
    for rule in Rule::ALL {
        assert!(text.contains(&format!("`{rule}`")), "{rule}");
    }
}
