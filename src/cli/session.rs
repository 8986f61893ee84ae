//! The session a shell runs in: engine settings, memory limit, and the graphs it was given.

use std::num::NonZeroUsize;
use std::sync::Arc;

use datafusion::common::Result;
use datafusion::execution::SessionStateBuilder;
use datafusion::execution::memory_pool::{FairSpillPool, TrackConsumersPool};
use datafusion::execution::runtime_env::{RuntimeEnv, RuntimeEnvBuilder};
use datafusion::object_store::ObjectStore;
use datafusion::object_store::memory::InMemory;
use datafusion::object_store::path::Path;
use datafusion::prelude::{SessionConfig, SessionContext};
use url::Url;

use crate::cli::args::Args;
use crate::cli::error::ShellError;
use crate::sample::write_sample;
use crate::session::{SessionContextExt, SessionStateBuilderExt};

/// How many memory consumers an out-of-memory message names.
const NAMED_CONSUMERS: NonZeroUsize = NonZeroUsize::MIN.saturating_add(4);

/// Schema of the built-in graph.
const SAMPLE: &str = "sample";

/// A session with the graphs of the command line in it.
pub async fn open(args: &Args) -> Result<SessionContext, ShellError> {
    let context = build(args)?;
    let mut graphs = Vec::with_capacity(args.archives.len() + 1);
    for archive in &args.archives {
        context
            .register_graph(&archive.name, &archive.location)
            .await?;
        graphs.push(archive.name.as_str());
    }
    if args.sample {
        open_sample(&context).await?;
        graphs.push(SAMPLE);
    }
    if let Some(first) = graphs.first() {
        // Only now: the listing tables of the graphs stand in the original default schema.
        let state = context.state_ref();
        let mut state = state.write();
        state.config_mut().options_mut().catalog.default_schema = (*first).to_owned();
    }
    Ok(context)
}

/// An empty session with the settings of the command line.
fn build(args: &Args) -> Result<SessionContext> {
    let mut config = SessionConfig::new().with_information_schema(true);
    if let Some(threads) = args.threads {
        config = config.with_target_partitions(threads.get());
    }
    // Property names are rarely lower case; `resolve_names` gives back that case does not matter.
    config.options_mut().sql_parser.enable_ident_normalization = false;
    let state = SessionStateBuilder::new()
        .with_default_features()
        .with_config(config)
        .with_runtime_env(runtime(args.memory_limit)?)
        .with_graphar()
        .build();
    // Files are tables under their paths: `FROM 'person.csv'`.
    Ok(SessionContext::new_with_state(state).enable_url_table())
}

fn runtime(memory_limit: Option<usize>) -> Result<Arc<RuntimeEnv>> {
    let mut builder = RuntimeEnvBuilder::new();
    if let Some(bytes) = memory_limit {
        let pool = TrackConsumersPool::new(FairSpillPool::new(bytes), NAMED_CONSUMERS);
        builder = builder.with_memory_pool(Arc::new(pool));
    }
    builder.build_arc()
}

async fn open_sample(context: &SessionContext) -> Result<(), ShellError> {
    let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    let url = Url::parse("memory://sample/")
        .map_err(|error| ShellError::Usage(format!("sample graph: {error}")))?;
    context.register_object_store(&url, Arc::clone(&store));
    let info = write_sample(store, Path::default())
        .await
        .map_err(|e| ShellError::Query(e.into()))?;
    context
        .register_graph(SAMPLE, &format!("{url}{info}"))
        .await?;
    Ok(())
}
