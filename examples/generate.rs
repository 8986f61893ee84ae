//! A graph of any size to try things on, the same on every machine.
//!
//! `cargo run --features cli --example generate` makes a small one and asks it something;
//! `… --example generate -- social FOLDER 10000` leaves a social network of 10,000 persons,
//! `… --example generate -- power-law FOLDER 1000000` one of a million vertices with ten edges each and some hubs.

#![allow(clippy::print_stdout)]

use std::path::Path;
use std::sync::Arc;

use datafusion::arrow::array::AsArray;
use datafusion::arrow::datatypes::Int64Type;
use datafusion::arrow::util::pretty::pretty_format_batches;
use datafusion::common::exec_err;
use datafusion::error::Result;
use datafusion::prelude::SessionContext;
use datafusion_graphar::session::SessionContextExt;
use datafusion_graphar::synthetic::{SocialGraph, SyntheticGraph};
use object_store::local::LocalFileSystem;
use object_store::path::Path as StorePath;

/// Writes a graph; gives the path of its graph info.
async fn generate(kind: &str, folder: &Path, size: u32) -> Result<String> {
    std::fs::create_dir_all(folder)?;
    let store = Arc::new(LocalFileSystem::new_with_prefix(folder)?);
    let info = match kind {
        "social" => {
            SocialGraph::new(size)
                .write(store, StorePath::default())
                .await?
        }
        "power-law" => {
            let graph = SyntheticGraph::new(size, size.saturating_mul(10));
            graph.write(store, StorePath::default()).await?
        }
        other => return exec_err!("graph: expected social or power-law, found {other}"),
    };
    Ok(folder.join(info.as_ref()).display().to_string())
}

#[tokio::main]
async fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.as_slice() {
        [] => {}
        [kind, folder, size] => {
            let Ok(size) = size.parse() else {
                return exec_err!("size: expected a whole number below 2^32, found {size}");
            };
            println!("{}", generate(kind, Path::new(folder), size).await?);
            return Ok(());
        }
        _ => return exec_err!("expected: generate social|power-law FOLDER SIZE"),
    }

    let folder = tempfile::tempdir()?;
    let file = generate("social", folder.path(), 200).await?;
    let ctx = SessionContext::new();
    ctx.register_graph("social", &file).await?;
    let sql = "SELECT o.name, count(*) AS students
               FROM social.\"person_studyAt_organisation\" s
               JOIN social.organisation o ON o._vertex_id = s._dst_id
               WHERE array_has(o._labels, 'university')
               GROUP BY o.name ORDER BY students DESC, o.name LIMIT 3";
    let rows = ctx.sql(sql).await?.collect().await?;
    println!("{}", pretty_format_batches(&rows)?);

    let persons = "SELECT count(*) FROM social.person";
    let rows = ctx.sql(persons).await?.collect().await?;
    assert_eq!(rows[0].column(0).as_primitive::<Int64Type>().value(0), 200);
    let self_loops = "SELECT count(*) FROM social.person_knows_person WHERE _src_id = _dst_id";
    let rows = ctx.sql(self_loops).await?.collect().await?;
    assert_eq!(rows[0].column(0).as_primitive::<Int64Type>().value(0), 0);
    Ok(())
}
