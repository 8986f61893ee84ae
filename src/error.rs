//! The error of the format, storage and writer layers, and its way into DataFusion's.

use std::error::Error as StdError;
use std::sync::Arc;

use datafusion::error::DataFusionError;

/// Result of the format, storage and writer layers.
pub type Result<T, E = GraphArError> = std::result::Result<T, E>;

/// What can be wrong with an archive, with the facts needed to mend it.
///
/// Every variant names the file (`path`), so that a message can be acted on
/// without a debugger.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GraphArError {
    /// An info file says something that cannot be.
    #[error("{path}: {element}: expected {expected}, found {found}")]
    Metadata {
        /// The info file.
        path: String,
        /// The key or element, such as `property_groups[0].file_type`.
        element: String,
        /// What the format asks for.
        expected: String,
        /// What stands there.
        found: String,
    },
    /// Several things are wrong with the info files of one graph.
    #[error("{path}: {} problems: {}", problems.len(), join(problems))]
    Invalid {
        /// The graph info.
        path: String,
        /// What is wrong, each with its own file.
        problems: Vec<GraphArError>,
    },
    /// An element is declared, but its files are not there.
    #[error("{element} has no data: missing file {path}")]
    NoData {
        /// The vertex type or edge triplet.
        element: String,
        /// The first file that was looked for and not found.
        path: String,
    },
    /// A file that the counts call for is not there.
    #[error("missing file {path}: expected {expected}")]
    MissingFile {
        /// The file.
        path: String,
        /// What it should hold.
        expected: String,
    },
    /// A data file contradicts the metadata, or itself.
    #[error("{path}: {element}: expected {expected}, found {found}")]
    CorruptFile {
        /// The file.
        path: String,
        /// The column, row or structure that is wrong.
        element: String,
        /// What the metadata or the file format asks for.
        expected: String,
        /// What the file holds.
        found: String,
    },
    /// A sound file uses something that is not built in.
    #[error("{path}: {feature} is not supported{hint}")]
    Unsupported {
        /// The file.
        path: String,
        /// What it asks for.
        feature: String,
        /// Empty, or `: ` and what to do about it.
        hint: String,
    },
    /// A name that nothing has.
    #[error("unknown {kind} '{name}'; known: {}", candidates.join(", "))]
    UnknownElement {
        /// `vertex type`, `edge triplet`, `layout`, …
        kind: String,
        /// The name as given.
        name: String,
        /// The names there are.
        candidates: Vec<String>,
    },
    /// A payload decoder or encoder failed.
    #[error("{path}: {source}")]
    Payload {
        /// The file.
        path: String,
        /// The error of the Arrow, Parquet, ORC or JSON library.
        source: Box<dyn StdError + Send + Sync>,
    },
    /// The object store failed for another reason than a missing file.
    #[error("{path}: {source}")]
    Store {
        /// The file.
        path: String,
        /// The store's error.
        source: Box<object_store::Error>,
    },
    /// The error of an element, met before.
    #[error("{0}")]
    Shared(Arc<GraphArError>),
    /// A scan asked for more of its object store than the session allows.
    #[error("{path}: the scan needs more than the {limit} {what} that {option} allows")]
    Limit {
        /// The file whose read would exceed the limit.
        path: String,
        /// `requests` or `bytes`.
        what: &'static str,
        /// The session option.
        option: &'static str,
        /// Its value.
        limit: u64,
    },
    /// A file changed while it was read.
    #[error("{path}: the file was replaced while it was read; run the statement again")]
    Replaced {
        /// The file.
        path: String,
    },
    /// Another writer was faster.
    #[error("{path}: {element} was changed by another writer; run the statement again")]
    Conflict {
        /// The graph info.
        path: String,
        /// What both have written.
        element: String,
    },
    /// A location that does not name an archive.
    #[error("cannot open '{location}': {reason}")]
    Location {
        /// The location as given.
        location: String,
        /// Why it is none.
        reason: String,
    },
}

impl GraphArError {
    /// A decoder's or encoder's error, with the file it happened in.
    pub fn payload(
        path: impl Into<String>,
        source: impl Into<Box<dyn StdError + Send + Sync>>,
    ) -> Self {
        Self::Payload {
            path: path.into(),
            source: source.into(),
        }
    }

    /// A store's error; a missing file keeps its class, so that callers can tell it apart.
    pub fn store(path: impl Into<String>, expected: &str, source: object_store::Error) -> Self {
        match source {
            object_store::Error::NotFound { .. } => Self::MissingFile {
                path: path.into(),
                expected: expected.to_owned(),
            },
            object_store::Error::Precondition { .. } => Self::Replaced { path: path.into() },
            source => Self::Store {
                path: path.into(),
                source: Box::new(source),
            },
        }
    }

    /// The error of an element, which every use of it reports again.
    pub fn again(error: &Arc<Self>) -> DataFusionError {
        match error.as_ref() {
            Self::Unsupported { .. } => DataFusionError::NotImplemented(error.to_string()),
            _ => DataFusionError::External(Box::new(Arc::clone(error))),
        }
    }

    /// A data file that contradicts the metadata, or itself.
    pub fn corrupt(
        path: impl Into<String>,
        element: impl Into<String>,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> Self {
        Self::CorruptFile {
            path: path.into(),
            element: element.into(),
            expected: expected.into(),
            found: found.into(),
        }
    }
}

fn join(problems: &[GraphArError]) -> String {
    let texts: Vec<String> = problems.iter().map(ToString::to_string).collect();
    texts.join("; ")
}

impl From<GraphArError> for DataFusionError {
    fn from(error: GraphArError) -> Self {
        match error {
            GraphArError::Unsupported { .. } => Self::NotImplemented(error.to_string()),
            GraphArError::UnknownElement { .. } => Self::Plan(error.to_string()),
            GraphArError::Shared(error) => GraphArError::again(&error),
            GraphArError::Limit { .. } => Self::ResourcesExhausted(error.to_string()),
            other => Self::External(Box::new(other)),
        }
    }
}
