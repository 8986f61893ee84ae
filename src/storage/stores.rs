//! Object stores by URL: those a session knows, and those built from their scheme.

use std::env;
use std::sync::Arc;

use datafusion::execution::object_store::ObjectStoreUrl;
use datafusion::execution::runtime_env::RuntimeEnv;
use object_store::ObjectStore;
use object_store::path::Path;
use url::{Position, Url};

use crate::error::{GraphArError, Result};

/// The object stores of a session.
///
/// A store that is not registered is built from the scheme of the URL if the crate was built
/// with its feature (`aws`, `gcp`, `azure`, `http`), with the settings that `object_store`
/// documents taken from the environment (`AWS_ENDPOINT`, `AWS_SKIP_SIGNATURE`, …) and from the
/// options given; it is then registered with the session, so that scans find it.
#[derive(Debug, Clone, Default)]
pub struct Stores {
    runtime: Arc<RuntimeEnv>,
    options: Vec<(String, String)>,
}

impl Stores {
    /// The stores of this runtime.
    pub fn new(runtime: Arc<RuntimeEnv>) -> Self {
        Self {
            runtime,
            options: vec![],
        }
    }

    /// With settings for stores that have yet to be built, such as `aws_region`.
    pub fn with_options(mut self, options: Vec<(String, String)>) -> Self {
        self.options = options;
        self
    }

    /// Registers a store for a URL such as `memory://m`. A URL that cannot be parsed does nothing.
    #[cfg(test)]
    pub(crate) fn register(&self, url: &str, store: Arc<dyn ObjectStore>) {
        let url = Url::parse(url).unwrap();
        self.runtime.register_object_store(&url, store);
    }

    /// The store that answers for `url`, and the URL under which the session knows it.
    ///
    /// # Errors
    /// If none is registered and none can be built.
    pub fn get(&self, url: &Url) -> Result<(ObjectStoreUrl, Arc<dyn ObjectStore>)> {
        let fail = |reason: String| GraphArError::Location {
            location: url.to_string(),
            reason,
        };
        if !url.username().is_empty() || url.password().is_some() {
            // The session's registry tells stores apart by scheme, host and port alone.
            return Err(fail(
                "a user or container before the host is not supported".to_owned(),
            ));
        }
        let base = &url[..Position::BeforePath];
        let store_url = ObjectStoreUrl::parse(base).map_err(|e| fail(e.to_string()))?;
        let local = matches!(url.scheme(), "file" | "memory");
        if local && !self.options.is_empty() {
            let names: Vec<&str> = self.options.iter().map(|(name, _)| name.as_str()).collect();
            return Err(fail(format!(
                "it takes no options, found {}",
                names.join(", ")
            )));
        }
        // Options ask for a store with these settings, also in place of one without.
        if self.options.is_empty()
            && let Ok(store) = self.runtime.object_store(&store_url)
        {
            return Ok((store_url, store));
        }
        if local {
            return Err(fail(format!("no object store is registered for {base}")));
        }
        let settings = env::vars_os()
            .filter_map(|(key, value)| Some((key.into_string().ok()?, value.into_string().ok()?)))
            .filter(|(key, _)| {
                ["AWS_", "AZURE_", "GOOGLE_"]
                    .iter()
                    .any(|p| key.starts_with(p))
            })
            .chain(self.options.iter().cloned());
        let (store, path) = object_store::parse_url_opts(url, settings)
            .map_err(|e| fail(format!("no object store is registered for {base}: {e}")))?;
        if Path::from_url_path(url.path()).ok().as_ref() != Some(&path) {
            return Err(fail(
                "write the bucket as host, as in s3://bucket/path".to_owned(),
            ));
        }
        let store: Arc<dyn ObjectStore> = Arc::from(store);
        self.runtime
            .register_object_store(store_url.as_ref(), Arc::clone(&store));
        Ok((store_url, store))
    }
}
