//! The cache that all graphs of a session share.

use std::sync::{Arc, OnceLock};

use datafusion::execution::runtime_env::RuntimeEnv;
use datafusion::prelude::SessionConfig;

use crate::config::GraphArOptions;
use crate::storage::FileCache;

/// An extension of the session's configuration that holds the cache, made when the first graph is
/// registered.
#[derive(Debug, Default)]
pub struct SessionCache(OnceLock<Arc<FileCache>>);

impl SessionCache {
    /// Gives a session a place for the cache, if it has none yet.
    pub fn install(config: &mut SessionConfig) {
        if config.get_extension::<Self>().is_none() {
            config.set_extension(Arc::new(Self::default()));
        }
    }

    /// The cache of a session; one of its own where the session has no place for it. `None` if the
    /// options say that nothing is to be remembered.
    pub fn of(
        config: &SessionConfig,
        runtime: &RuntimeEnv,
        options: &GraphArOptions,
    ) -> Option<Arc<FileCache>> {
        if options.cache_bytes == 0 {
            return None;
        }
        let make = || Arc::new(FileCache::new(options.cache_bytes, &runtime.memory_pool));
        Some(match config.get_extension::<Self>() {
            Some(shared) => Arc::clone(shared.0.get_or_init(make)),
            None => make(),
        })
    }
}
