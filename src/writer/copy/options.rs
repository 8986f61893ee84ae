//! The options of a `COPY`.

use std::collections::BTreeMap;

use datafusion::common::{config_err, plan_err};
use datafusion::error::Result;
use datafusion::parquet::basic::{BrotliLevel, Compression, GzipLevel, ZstdLevel};

use crate::format::{AdjListType, FileType};
use crate::storage::{Location, Stores};
use crate::writer::OnError;
use crate::writer::payload::EncodeOptions;

/// Vertices of a chunk. The largest power of two with which the C++ library looks up neighbours: it reads at most
/// 131,072 offsets at once, one more than there are vertices in a chunk.
pub(super) const VERTEX_CHUNK_SIZE: u64 = 1 << 16;

/// Edges of a chunk, as the format recommends.
pub(super) const EDGE_CHUNK_SIZE: u64 = 1 << 22;

/// All options, for messages.
const KNOWN: [&str; 24] = [
    "vertex",
    "edge",
    "source",
    "destination",
    "key",
    "labels",
    "source_id",
    "destination_id",
    "source_key",
    "destination_key",
    "layouts",
    "directed",
    "edges",
    "chunk_size",
    "groups",
    "file_type",
    "not_null",
    "set",
    "compression",
    "page_rows",
    "page_size",
    "row_group_rows",
    "on_error",
    "reject_file",
];

/// The options as they were given, by name. Every one that is read is taken out.
#[derive(Debug, Clone)]
pub(super) struct Options(BTreeMap<String, String>);

impl Options {
    /// Takes the options of a statement; their keys come with `format.` before them.
    ///
    /// # Errors
    /// If one is not known.
    pub(super) fn try_new(given: &BTreeMap<String, String>) -> Result<Self> {
        let mut options = BTreeMap::new();
        for (key, value) in given {
            let key = key.strip_prefix("format.").unwrap_or(key).to_lowercase();
            if !KNOWN.contains(&key.as_str()) {
                return config_err!(
                    "unknown option '{key}' of STORED AS GRAPHAR; known: {}",
                    KNOWN.join(", ")
                );
            }
            options.insert(key, value.clone());
        }
        Ok(Self(options))
    }

    /// The value of an option.
    pub(super) fn take(&mut self, name: &str) -> Option<String> {
        self.0.remove(name)
    }

    /// Names separated by commas.
    pub(super) fn take_names(&mut self, name: &str) -> Vec<String> {
        self.take(name).map_or_else(Vec::new, |text| names(&text))
    }

    /// A number of at least 1.
    pub(super) fn take_number(&mut self, name: &str) -> Result<Option<u64>> {
        let Some(text) = self.take(name) else {
            return Ok(None);
        };
        match text.trim().replace('_', "").parse() {
            Ok(number) if number > 0 => Ok(Some(number)),
            _ => config_err!("option '{name}': expected a number of at least 1, found '{text}'"),
        }
    }

    /// `true` or `false`.
    pub(super) fn take_flag(&mut self, name: &str) -> Result<Option<bool>> {
        let Some(text) = self.take(name) else {
            return Ok(None);
        };
        match text.trim().to_lowercase().as_str() {
            "true" => Ok(Some(true)),
            "false" => Ok(Some(false)),
            _ => config_err!("option '{name}': expected true or false, found '{text}'"),
        }
    }

    /// The type of payload files; Parquet where nothing is said.
    pub(super) fn take_file_type(&mut self) -> Result<FileType> {
        self.take("file_type")
            .map_or(Ok(FileType::Parquet), |text| file_type("file_type", &text))
    }

    /// The layouts of an edge triplet; both ordered ones where nothing is said.
    pub(super) fn take_layouts(&mut self) -> Result<Vec<AdjListType>> {
        let Some(text) = self.take("layouts") else {
            return Ok(vec![
                AdjListType::OrderedBySource,
                AdjListType::OrderedByDest,
            ]);
        };
        let mut layouts = vec![];
        for name in names(&text) {
            let found = AdjListType::ALL
                .into_iter()
                .find(|layout| layout.to_string() == name);
            match found {
                Some(layout) if !layouts.contains(&layout) => layouts.push(layout),
                Some(_) => return config_err!("option 'layouts': {name} stands there twice"),
                None => {
                    let known = AdjListType::ALL.map(|layout| layout.to_string());
                    return config_err!(
                        "option 'layouts': unknown layout '{name}'; known: {}",
                        known.join(", ")
                    );
                }
            }
        }
        if layouts.is_empty() {
            return config_err!("option 'layouts': expected at least one layout");
        }
        Ok(layouts)
    }

    /// How Parquet files are encoded.
    pub(super) fn take_encoding(&mut self) -> Result<EncodeOptions> {
        let mut encode = EncodeOptions::default();
        let size = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        if let Some(text) = self.take("compression") {
            encode.compression = compression(&text)?;
        }
        if let Some(rows) = self.take_number("page_rows")? {
            encode.page_rows = Some(size(rows));
        }
        if let Some(bytes) = self.take_number("page_size")? {
            encode.page_bytes = size(bytes);
        }
        encode.row_group_rows = self.take_number("row_group_rows")?.map(size);
        Ok(encode)
    }

    /// What becomes of bad rows.
    pub(super) fn take_on_error(&mut self, stores: &Stores) -> Result<OnError> {
        let kind = self.take("on_error").map(|kind| kind.trim().to_lowercase());
        match (kind.as_deref(), self.take("reject_file")) {
            (None | Some("fail"), None) => Ok(OnError::Fail),
            (Some("skip"), None) => Ok(OnError::Skip),
            (Some("reject"), Some(file)) => Ok(OnError::Reject(Location::parse(&file, stores)?)),
            (Some("reject"), None) => config_err!(
                "option 'on_error': reject needs the option 'reject_file', the path or URL of the file that gets the rows"
            ),
            (None | Some("fail" | "skip"), Some(_)) => {
                config_err!("option 'reject_file' goes with 'on_error' 'reject'")
            }
            (Some(other), _) => {
                config_err!("option 'on_error': expected fail, skip or reject, found '{other}'")
            }
        }
    }

    /// Fails if an option is left that has no meaning for `kind`.
    pub(super) fn finish(self, kind: &str) -> Result<()> {
        match self.0.keys().next() {
            None => Ok(()),
            Some(key) => plan_err!("option '{key}' has no meaning for {kind}"),
        }
    }
}

/// Names separated by commas, without the blanks around them.
pub(super) fn names(text: &str) -> Vec<String> {
    let names = text.split(',').map(str::trim);
    names
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect()
}

/// A file type by its name in info files.
pub(super) fn file_type(option: &str, text: &str) -> Result<FileType> {
    let text = text.trim();
    let found = FileType::ALL
        .into_iter()
        .find(|known| known.to_string().eq_ignore_ascii_case(text));
    match found {
        Some(found) => Ok(found),
        None => {
            let known = FileType::ALL.map(|known| known.to_string());
            config_err!(
                "option '{option}': unknown file type '{text}'; known: {}",
                known.join(", ")
            )
        }
    }
}

/// A codec by its name, with a level in parentheses where it has levels.
fn compression(text: &str) -> Result<Compression> {
    let lower = text.trim().to_lowercase();
    let (name, level) = match lower.split_once('(') {
        Some((name, level)) => (name.trim(), level.strip_suffix(')').map(str::trim)),
        None => (lower.as_str(), None),
    };
    let number = level.map(str::parse::<i32>).transpose();
    let unsigned = level.map(str::parse::<u32>).transpose();
    let found = match (name, number, unsigned) {
        ("uncompressed" | "none", Ok(None), _) => Some(Compression::UNCOMPRESSED),
        ("snappy", Ok(None), _) => Some(Compression::SNAPPY),
        ("lz4_raw" | "lz4", Ok(None), _) => Some(Compression::LZ4_RAW),
        ("zstd", Ok(level), _) => level
            .map_or_else(|| Ok(ZstdLevel::default()), ZstdLevel::try_new)
            .ok()
            .map(Compression::ZSTD),
        ("gzip", _, Ok(level)) => level
            .map_or_else(|| Ok(GzipLevel::default()), GzipLevel::try_new)
            .ok()
            .map(Compression::GZIP),
        ("brotli", _, Ok(level)) => level
            .map_or_else(|| Ok(BrotliLevel::default()), BrotliLevel::try_new)
            .ok()
            .map(Compression::BROTLI),
        _ => None,
    };
    match found {
        Some(found) => Ok(found),
        None => config_err!(
            "option 'compression': expected zstd, zstd(1) to zstd(22), snappy, gzip, lz4, brotli or none, found '{text}'"
        ),
    }
}
