//! Parquet files that the crate's own writer does not make: DELTA_BINARY_PACKED in blocks of 1024 values and
//! four mini-blocks of 256.

use std::sync::Arc;

use bytes::Bytes;
use datafusion::parquet::basic::{Compression, Encoding, Repetition, Type as PhysicalType};
use datafusion::parquet::column::page::{CompressedPage, Page, PageWriter};
use datafusion::parquet::column::writer::ColumnCloseResult;
use datafusion::parquet::file::metadata::{ColumnChunkMetaData, OffsetIndexBuilder};
use datafusion::parquet::file::properties::WriterProperties;
use datafusion::parquet::file::writer::{SerializedFileWriter, SerializedPageWriter, TrackedWrite};
use datafusion::parquet::schema::types::{ColumnDescPtr, Type};

const MINI_BLOCKS: usize = 4;
const MINI_BLOCK: usize = 256;

/// A file of required 64-bit integers, each column in pages of `page_rows` values, with or
/// without an index of the pages.
pub fn file_of(columns: &[(&str, &[i64])], page_rows: usize, page_index: bool) -> Vec<u8> {
    let fields = columns.iter().map(|(name, _)| {
        let field = Type::primitive_type_builder(name, PhysicalType::INT64);
        Arc::new(field.with_repetition(Repetition::REQUIRED).build().unwrap())
    });
    let schema = Type::group_type_builder("schema").with_fields(fields.collect());
    let schema = Arc::new(schema.build().unwrap());
    let properties = Arc::new(WriterProperties::builder().build());
    let mut writer = SerializedFileWriter::new(vec![], schema, properties).unwrap();
    let descriptions = writer.schema_descr().columns().to_vec();
    let mut rows = writer.next_row_group().unwrap();
    for ((_, values), description) in columns.iter().zip(descriptions) {
        let (bytes, close) = column_of(values, page_rows, page_index, description);
        rows.append_column(&bytes, close).unwrap();
    }
    rows.close().unwrap();
    writer.into_inner().unwrap()
}

fn column_of(
    values: &[i64],
    page_rows: usize,
    page_index: bool,
    description: ColumnDescPtr,
) -> (Bytes, ColumnCloseResult) {
    let mut sink = TrackedWrite::new(vec![]);
    let mut index = OffsetIndexBuilder::new();
    let mut pages = SerializedPageWriter::new(&mut sink);
    for page in values.chunks(page_rows) {
        let body = encode(page);
        let size = body.len();
        let page_values = u32::try_from(page.len()).unwrap();
        let page = Page::DataPage {
            buf: body.into(),
            num_values: page_values,
            encoding: Encoding::DELTA_BINARY_PACKED,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        };
        let spec = pages.write_page(CompressedPage::new(page, size)).unwrap();
        let written = i32::try_from(spec.bytes_written).unwrap();
        index.append_row_count(page_values.into());
        index.append_offset_and_size(i64::try_from(spec.offset).unwrap(), written);
    }
    pages.close().unwrap();
    let bytes = Bytes::from(sink.into_inner().unwrap());
    let size = i64::try_from(bytes.len()).unwrap();
    let metadata = ColumnChunkMetaData::builder(description)
        .set_encodings(vec![Encoding::DELTA_BINARY_PACKED, Encoding::RLE])
        .set_compression(Compression::UNCOMPRESSED)
        .set_num_values(i64::try_from(values.len()).unwrap())
        .set_total_compressed_size(size)
        .set_total_uncompressed_size(size)
        .set_data_page_offset(0);
    let close = ColumnCloseResult {
        bytes_written: bytes.len() as u64,
        rows_written: values.len() as u64,
        metadata: metadata.build().unwrap(),
        bloom_filter: None,
        column_index: None,
        offset_index: page_index.then(|| index.build()),
    };
    (bytes, close)
}

/// The values of a page, which are at least one.
fn encode(values: &[i64]) -> Vec<u8> {
    let mut out = vec![];
    push_varint(&mut out, (MINI_BLOCKS * MINI_BLOCK) as u64);
    push_varint(&mut out, MINI_BLOCKS as u64);
    push_varint(&mut out, values.len() as u64);
    push_zigzag(&mut out, values[0]);
    let deltas: Vec<i64> = values.windows(2).map(|w| w[1].wrapping_sub(w[0])).collect();
    for block in deltas.chunks(MINI_BLOCKS * MINI_BLOCK) {
        let least = *block.iter().min().unwrap();
        push_zigzag(&mut out, least);
        let above: Vec<u64> = block
            .iter()
            .map(|delta| delta.wrapping_sub(least).cast_unsigned())
            .collect();
        let widths = out.len();
        // A mini-block without values has no body, and any width.
        out.extend([0; MINI_BLOCKS]);
        for (number, mini_block) in above.chunks(MINI_BLOCK).enumerate() {
            let width = mini_block.iter().map(|v| 64 - v.leading_zeros()).max();
            let width = u8::try_from(width.unwrap()).unwrap();
            out[widths + number] = width;
            push_packed(&mut out, mini_block, usize::from(width));
        }
    }
    out
}

/// The values in `width` bits each, the lowest first, filled up to a whole mini-block.
fn push_packed(out: &mut Vec<u8>, values: &[u64], width: usize) {
    let first = out.len();
    out.resize(first + MINI_BLOCK * width / 8, 0);
    for (number, value) in values.iter().enumerate() {
        for bit in (0..width).filter(|bit| value >> bit & 1 == 1) {
            let at = number * width + bit;
            out[first + at / 8] |= 1 << (at % 8);
        }
    }
}

fn push_zigzag(out: &mut Vec<u8>, value: i64) {
    push_varint(out, ((value << 1) ^ (value >> 63)).cast_unsigned());
}

fn push_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    out.push(value.to_le_bytes()[0]);
}
