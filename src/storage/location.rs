//! Places inside object stores, and the rules by which prefixes lead from one to another.

use std::fmt;
use std::path;
use std::sync::Arc;

use datafusion::execution::object_store::ObjectStoreUrl;
use object_store::ObjectStore;
use object_store::path::Path;
use url::Url;

use super::stores::Stores;
use crate::error::{GraphArError, Result};

/// A file or folder inside a store. A folder has no slash at its end, the root is empty.
#[derive(Clone)]
pub struct Location {
    store: Arc<dyn ObjectStore>,
    store_url: ObjectStoreUrl,
    /// Decoded, without a slash at its begin or end.
    path: String,
}

impl Location {
    /// The place that `text` names: a URL, or a path of the local file system, relative to the
    /// working directory or absolute.
    ///
    /// # Errors
    /// If the text is not such a thing, or no store answers for its scheme and host.
    pub fn parse(text: &str, stores: &Stores) -> Result<Self> {
        let fail = |reason: String| GraphArError::Location {
            location: text.to_owned(),
            reason,
        };
        let url = if is_uri(text) {
            Url::parse(text).map_err(|e| fail(e.to_string()))?
        } else {
            if text.trim().is_empty() {
                return Err(fail("the location is empty".to_owned()));
            }
            let absolute = path::absolute(text).map_err(|e| fail(e.to_string()))?;
            Url::from_file_path(absolute).map_err(|()| fail("not a path".to_owned()))?
        };
        if url.query().is_some() || url.fragment().is_some() {
            return Err(fail("a query or fragment is not supported".to_owned()));
        }
        let (store_url, store) = stores.get(&url).map_err(|e| fail(e.to_string()))?;
        let path =
            percent_decode(url.path()).ok_or_else(|| fail("the path is not UTF-8".to_owned()))?;
        let path =
            normalise("", &path).ok_or_else(|| fail("the path leads above the root".to_owned()))?;
        Ok(Self {
            store,
            store_url,
            path,
        })
    }

    /// The place that `text` names seen from this folder: relative to it, absolute inside the
    /// same store, or a URI.
    ///
    /// # Errors
    /// As [`parse`](Self::parse), and if a relative path leads above the root.
    pub fn resolve(&self, text: &str, stores: &Stores) -> Result<Self> {
        if is_uri(text) {
            return Self::parse(text, stores);
        }
        let base = if text.starts_with('/') {
            ""
        } else {
            self.path.as_str()
        };
        let path = normalise(base, text).ok_or_else(|| GraphArError::Location {
            location: text.to_owned(),
            reason: format!("it leads above the root, seen from {self}"),
        })?;
        Ok(Self {
            path,
            ..self.clone()
        })
    }

    /// The folder that holds this file; the root holds itself.
    pub fn parent(&self) -> Self {
        let path = self
            .path
            .rsplit_once('/')
            .map_or("", |(parent, _)| parent)
            .to_owned();
        Self {
            path,
            ..self.clone()
        }
    }

    /// The last part of the path.
    pub fn file_name(&self) -> &str {
        self.path
            .rsplit_once('/')
            .map_or(self.path.as_str(), |(_, name)| name)
    }

    /// The place `rest` below this folder, also if `rest` begins with a slash. Parts that lead
    /// above the root of the store end there.
    pub fn join(&self, rest: &str) -> Self {
        let path = normalise(&self.path, rest).unwrap_or_default();
        Self {
            path,
            ..self.clone()
        }
    }

    /// Another place in the same store, by its path from the root.
    pub fn with_path(&self, path: &str) -> Self {
        let path = normalise("", path).unwrap_or_default();
        Self {
            path,
            ..self.clone()
        }
    }

    /// The path, without a slash at its begin or end.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The path as the store wants it.
    ///
    /// # Errors
    /// If a part of it is not allowed in a store.
    pub fn object_path(&self) -> Result<Path> {
        Path::parse(&self.path).map_err(|e| GraphArError::Location {
            location: self.to_string(),
            reason: e.to_string(),
        })
    }

    /// The store.
    pub fn store(&self) -> &Arc<dyn ObjectStore> {
        &self.store
    }

    /// The URL under which a session knows the store.
    pub fn store_url(&self) -> &ObjectStoreUrl {
        &self.store_url
    }

    /// Whether both are the same place.
    pub fn same_as(&self, other: &Self) -> bool {
        self.store_url == other.store_url && self.path == other.path
    }
}

/// As a user would write it: `/data/g.graph.yml`, `s3://bucket/g.graph.yml`.
impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.store_url.as_str() {
            "file:///" => write!(f, "/{}", self.path),
            url => write!(f, "{}/{}", url.trim_end_matches('/'), self.path),
        }
    }
}

impl fmt::Debug for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Location({self})")
    }
}

/// Whether the text begins with a scheme, as in `s3://bucket/x` or `file:/x`. One letter is
/// a drive, not a scheme.
fn is_uri(text: &str) -> bool {
    text.split_once(":/").is_some_and(|(scheme, _)| {
        scheme.len() > 1
            && scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
    })
}

/// `base/rest` without empty, `.` and `..` parts; `None` if it leads above the root.
fn normalise(base: &str, rest: &str) -> Option<String> {
    let mut parts: Vec<&str> = vec![];
    for part in base.split('/').chain(rest.split('/')) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// The text with its `%xx` taken for bytes; `None` if the result is not UTF-8.
fn percent_decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((byte, tail)) = rest.split_first() {
        let hex = |at: usize| tail.get(at).and_then(|b| char::from(*b).to_digit(16));
        match (byte, hex(0), hex(1)) {
            (b'%', Some(high), Some(low)) => {
                bytes.push(u8::try_from(high * 16 + low).ok()?);
                rest = &tail[2..];
            }
            _ => {
                bytes.push(*byte);
                rest = tail;
            }
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use object_store::memory::InMemory;

    use super::*;

    fn stores() -> Stores {
        let stores = Stores::default();
        stores.register("memory://m", Arc::new(InMemory::new()));
        stores
    }

    #[test]
    fn relative_absolute_and_uri_prefixes_resolve_against_the_folder() {
        let stores = stores();
        let file = Location::parse("memory://m/a/b/x.graph.yml", &stores).unwrap();
        assert_eq!(file.file_name(), "x.graph.yml");
        let folder = file.parent();
        for (text, path) in [
            ("./", "a/b"),
            ("vertex/person/", "a/b/vertex/person"),
            ("../c//d", "a/c/d"),
            ("/abs/x/", "abs/x"),
            ("memory://m/else/where/", "else/where"),
        ] {
            assert_eq!(
                folder.resolve(text, &stores).unwrap().path(),
                path,
                "{text}"
            );
        }
        assert!(folder.resolve("../../../x", &stores).is_err());
        assert!(
            folder
                .resolve("nowhere://x/y", &stores)
                .unwrap_err()
                .to_string()
                .contains("nowhere")
        );
    }

    #[test]
    fn local_paths_keep_blanks_percent_signs_and_accents() {
        let stores = Stores::default();
        let place = Location::parse("/tmp/a b/50%25 é/g.graph.yml", &stores).unwrap();
        assert_eq!(place.path(), "tmp/a b/50%25 é/g.graph.yml");
        assert_eq!(place.to_string(), "/tmp/a b/50%25 é/g.graph.yml");
        assert_eq!(place.object_path().unwrap().as_ref(), place.path());
        let url = Location::parse("file:///tmp/a%20b/c", &stores).unwrap();
        assert_eq!(url.path(), "tmp/a b/c");
        assert_eq!(url.parent().parent().parent().parent().path(), "");
    }

    #[test]
    fn what_is_no_location_is_refused() {
        let stores = stores();
        for text in ["", "  ", "memory://m/x?version=1", "memory://m/x#y"] {
            assert!(Location::parse(text, &stores).is_err(), "{text}");
        }
    }
}
