//! Payload file types.

use std::fmt;

/// How the rows of a chunk are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FileType {
    /// Apache Parquet.
    Parquet,
    /// Apache ORC.
    Orc,
    /// Comma-separated text with a header line.
    Csv,
    /// One JSON object a line.
    Json,
    /// Arrow IPC; outside the specification, written by the Rust crate `graphar`.
    Arrow,
}

impl FileType {
    /// All file types.
    pub const ALL: [Self; 5] = [Self::Parquet, Self::Orc, Self::Csv, Self::Json, Self::Arrow];

    /// The name in info files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Parquet => "parquet",
            Self::Orc => "orc",
            Self::Csv => "csv",
            Self::Json => "json",
            Self::Arrow => "arrow",
        }
    }

    /// The file type of this name, exactly as [`name`](Self::name) spells it.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|file_type| file_type.name() == name)
    }
}

impl fmt::Display for FileType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
