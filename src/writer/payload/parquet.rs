//! Parquet chunks: one row group, ZSTD, the format's own types without Arrow's.

use bytes::Bytes;
use datafusion::arrow::array::{ArrayRef, AsArray, RecordBatch};
use datafusion::arrow::datatypes::{DataType, FieldRef};
use datafusion::common::HashSet;
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::arrow::arrow_writer::ArrowWriterOptions;
use datafusion::parquet::basic::{Compression, Encoding, ZstdLevel};
use datafusion::parquet::errors::ParquetError;
use datafusion::parquet::file::properties::WriterProperties;
use datafusion::parquet::schema::types::ColumnPath;

use crate::error::{GraphArError, Result};
use crate::format::OFFSET_COLUMN;

/// Most rows of a page.
const PAGE_ROWS: usize = 4096;

/// Most rows of a page of files with whole numbers only, as those of an edge's ends: the least that a look-up
/// of one vertex decodes.
const ID_PAGE_ROWS: usize = 2048;

/// Most bytes of a dictionary. A column with many different values soon goes on without: readers
/// fetch and decode the whole dictionary for a single row.
const DICTIONARY_BYTES: usize = 32 * 1024;

/// Most bytes of a page before compression, for columns of few long values.
const PAGE_BYTES: usize = 16 * 1024;

/// Rows between two looks at the size of a page.
const STEP: usize = 512;

/// Rows at the beginning of a chunk that tell whether a dictionary pays.
const SAMPLE: usize = 4096;

/// How Parquet chunks are encoded. The other file types have one way.
#[derive(Debug, Clone, PartialEq)]
pub struct EncodeOptions {
    /// Compression of pages. Every reader of the format has ZSTD.
    pub compression: Compression,
    /// Most rows of a page; `None` for 2,048 in files of whole numbers only, else 4,096.
    pub page_rows: Option<usize>,
    /// Most bytes of a page before compression.
    pub page_bytes: usize,
    /// Most rows of a row group; `None` for one row group whatever the size. Offset chunks always have one.
    pub row_group_rows: Option<usize>,
}

impl Default for EncodeOptions {
    fn default() -> Self {
        Self {
            compression: Compression::ZSTD(ZstdLevel::default()),
            page_rows: None,
            page_bytes: PAGE_BYTES,
            row_group_rows: None,
        }
    }
}

/// Encodes the rows.
///
/// - One row group whatever the size, unless the options ask for more: the C++ library reads offset pairs wrongly across the
///   boundary of two.
/// - No embedded Arrow schema: readers see the types of the format (String, Date,
///   Timestamp in milliseconds without a zone), not the layout that this process had in memory.
/// - List items are named `element`, as the Parquet specification asks for.
/// - Labels are written as runs.
/// - Whole numbers are delta-packed: ids and offsets ascend or are near each other.
pub(super) fn encode(path: &str, batch: &RecordBatch, options: &EncodeOptions) -> Result<Bytes> {
    let fields = batch.schema_ref().fields();
    let ids = fields.iter().all(|field| is_integer(field.data_type()));
    let offsets = fields.iter().any(|field| field.name() == OFFSET_COLUMN);
    let usual = if ids { ID_PAGE_ROWS } else { PAGE_ROWS };
    let page_rows = options.page_rows.unwrap_or(usual).max(1);
    let mut properties = WriterProperties::builder()
        .set_compression(options.compression)
        .set_max_row_group_row_count(options.row_group_rows.filter(|_| !offsets))
        .set_data_page_row_count_limit(page_rows)
        .set_data_page_size_limit(options.page_bytes)
        .set_write_batch_size(STEP.min(page_rows))
        .set_dictionary_page_size_limit(DICTIONARY_BYTES)
        .set_coerce_types(true);
    let is_flag =
        |field: &FieldRef| *field.data_type() == DataType::Boolean && !field.is_nullable();
    if fields.iter().all(is_flag) {
        // Labels have long runs, and the scan walks them run by run. The C++ library writes them so, too.
        properties = properties.set_encoding(Encoding::RLE);
    }
    for (field, values) in fields.iter().zip(batch.columns()) {
        if mostly_different(values) {
            let column = ColumnPath::from(field.name().as_str());
            properties = properties.set_column_dictionary_enabled(column, false);
        }
        if is_integer(field.data_type()) {
            let column = ColumnPath::from(field.name().as_str());
            properties = properties
                .set_column_dictionary_enabled(column.clone(), false)
                .set_column_encoding(column, Encoding::DELTA_BINARY_PACKED);
        }
    }
    let options = ArrowWriterOptions::new()
        .with_properties(properties.build())
        .with_skip_arrow_metadata(true);
    let write = || {
        let mut bytes = vec![];
        let mut writer = ArrowWriter::try_new_with_options(&mut bytes, batch.schema(), options)?;
        writer.write(batch)?;
        writer.close()?;
        Ok::<_, ParquetError>(bytes)
    };
    write()
        .map(Bytes::from)
        .map_err(|e| GraphArError::payload(path, e))
}

/// Whether texts repeat too little for a dictionary, as far as a sample tells.
fn mostly_different(values: &ArrayRef) -> bool {
    let Some(texts) = values.as_string_view_opt() else {
        return false;
    };
    let sample = texts.iter().take(SAMPLE).flatten();
    let (mut count, mut different) = (0, HashSet::new());
    for text in sample {
        count += 1;
        different.insert(text);
    }
    different.len() * 2 > count
}

/// Whether Parquet stores the type as INT32 or INT64.
fn is_integer(data_type: &DataType) -> bool {
    matches!(
        data_type,
        DataType::Int32 | DataType::Int64 | DataType::Date32 | DataType::Timestamp(..)
    )
}
