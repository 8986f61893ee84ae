//! Registers a graph in one's own session and queries it.
//!
//! `cargo run --example quickstart [ARCHIVE]`; without an archive, of a folder that the sample
//! graph is written to first.

use std::env;
use std::sync::Arc;

use datafusion::arrow::array::AsArray;
use datafusion::arrow::datatypes::Int64Type;
use datafusion::prelude::SessionContext;
use datafusion_graphar::sample::write_sample;
use datafusion_graphar::session::SessionContextExt;
use object_store::local::LocalFileSystem;
use object_store::path::Path;

type Error = Box<dyn std::error::Error>;

#[tokio::main]
async fn main() -> Result<(), Error> {
    let folder = tempfile::tempdir()?;
    let location = match env::args().nth(1) {
        Some(location) => location,
        None => {
            let store = Arc::new(LocalFileSystem::new_with_prefix(folder.path())?);
            let graph = write_sample(store, Path::default()).await?;
            folder.path().join(graph.as_ref()).display().to_string()
        }
    };

    // Any session will do. The graph is a schema of tables, and a table that lists them.
    let ctx = SessionContext::new();
    ctx.register_graph("g", &location).await?;
    ctx.sql("SELECT kind, name, row_count, properties, layouts FROM g")
        .await?
        .show()
        .await?;

    if env::args().nth(1).is_none() {
        let sql = "SELECT s.name, count(*) AS authors
                   FROM g.person_created_software c
                   JOIN g.software s ON s._vertex_id = c._dst_id
                   GROUP BY s.name ORDER BY authors DESC";
        let rows = ctx.sql(sql).await?.collect().await?;
        let authors = rows[0].column(1).as_primitive::<Int64Type>();
        assert_eq!(
            authors.values(),
            &[3, 1],
            "lop has three authors, ripple one"
        );
        ctx.sql(sql).await?.show().await?;
    }
    Ok(())
}
