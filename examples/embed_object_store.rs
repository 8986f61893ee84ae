//! Queries an archive that lives in an object store of the application's own, here in memory.

#![allow(clippy::print_stdout)]

use std::sync::Arc;

use datafusion::arrow::array::AsArray;
use datafusion::arrow::datatypes::Int64Type;
use datafusion::prelude::SessionContext;
use datafusion_graphar::sample::write_sample;
use datafusion_graphar::session::SessionContextExt;
use object_store::memory::InMemory;
use object_store::path::Path;
use url::Url;

type Error = Box<dyn std::error::Error>;

#[tokio::main]
async fn main() -> Result<(), Error> {
    // A store can be anything that implements `ObjectStore`: memory, a cache, a vendor's own.
    let store = Arc::new(InMemory::new());
    let graph = write_sample(Arc::<InMemory>::clone(&store), Path::from("graphs/modern")).await?;

    // The session finds it by scheme and host; every file of the archive is then asked for by
    // its path, and nothing is listed.
    let ctx = SessionContext::new();
    ctx.register_object_store(&Url::parse("memory://embedded")?, store);
    let location = format!("memory://embedded/{graph}");
    ctx.register_graph("modern", &location).await?;

    let friends = ctx
        .sql(
            "SELECT count(*) FROM modern.person p
             JOIN modern.person_knows_person k ON k._src_id = p._vertex_id
             WHERE p.name = 'marko'",
        )
        .await?
        .collect()
        .await?;
    let count = friends[0].column(0).as_primitive::<Int64Type>().value(0);
    assert_eq!(count, 2, "marko knows vadas and josh");
    println!("{location}: marko knows {count} persons");
    Ok(())
}
