//! Decodes one page of an id column from its bytes.

use std::cell::RefCell;
use std::io::{self, Cursor};
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use datafusion::arrow::buffer::ScalarBuffer;
use datafusion::parquet::basic::Compression;
use datafusion::parquet::column::page::{Page, PageMetadata, PageReader};
use datafusion::parquet::column::reader::{ColumnReader, get_column_reader};
use datafusion::parquet::errors::{ParquetError, Result as ParquetResult};
use datafusion::parquet::file::metadata::ColumnChunkMetaData;
use datafusion::parquet::file::page_index::offset_index::PageLocation;
use datafusion::parquet::file::reader::{ChunkReader, Length};
use datafusion::parquet::file::serialized_reader::SerializedPageReader;
use zstd::bulk::Decompressor;
use zstd::zstd_safe::get_frame_content_size;

/// Most bytes of a page before compression for each of its rows: the widest encoding of an integer, its
/// level, and the headers of its block. Larger ones are left to the Parquet library.
const BYTES_PER_ROW: usize = 16;

/// Bytes of a page that do not depend on its rows.
const PAGE_OVERHEAD: usize = 1024;

thread_local! {
    /// Making a decompressor costs more than decompressing a page with it.
    static ZSTD: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
}

/// The values of one page; `None` if there is a null among them.
pub(super) fn decode_page(
    chunk: &ColumnChunkMetaData,
    bytes: PageBytes,
    rows: usize,
) -> ParquetResult<Option<ScalarBuffer<i64>>> {
    let bytes = Arc::new(bytes);
    let Some((own, page)) = bytes.0.last() else {
        return Err(ParquetError::General("a page without bytes".to_owned()));
    };
    let offset = i64::try_from(own.start)?;
    let location = PageLocation {
        offset,
        compressed_page_size: i32::try_from(page.len())?,
        first_row_index: 0,
    };
    // The reader takes what stands between the chunk's start and the first page for the dictionary.
    let dictionary = match bytes.0.as_slice() {
        [(dictionary, _), _] => Some(i64::try_from(dictionary.start)?),
        _ => None,
    };
    let open = |compression| {
        let only = ColumnChunkMetaData::builder(chunk.column_descr_ptr())
            .set_compression(compression)
            .set_data_page_offset(offset)
            .set_dictionary_page_offset(dictionary)
            .set_num_values(i64::try_from(rows)?)
            .build()?;
        let place = Some(vec![location.clone()]);
        SerializedPageReader::new(Arc::clone(&bytes), &only, rows, place)
    };
    let pages: Box<dyn PageReader> = match chunk.compression() {
        Compression::ZSTD(_) => {
            // As if it were not compressed: the reader gives the bytes as they are.
            let mut inflated = vec![];
            for page in open(Compression::UNCOMPRESSED)? {
                inflated.push(inflate(page?, rows)?);
            }
            match inflated.into_iter().collect::<Option<Vec<_>>>() {
                Some(pages) => Box::new(Pages(pages.into_iter())),
                None => Box::new(open(chunk.compression())?),
            }
        }
        compression => Box::new(open(compression)?),
    };
    let optional = chunk.column_descr().max_def_level() > 0;
    let mut levels = optional.then(Vec::new);
    match get_column_reader(chunk.column_descr_ptr(), pages) {
        ColumnReader::Int64ColumnReader(mut reader) => {
            let mut ids = Vec::with_capacity(rows);
            let (_, values, read) = reader.read_records(rows, levels.as_mut(), None, &mut ids)?;
            Ok((values == read).then(|| ids.into()))
        }
        ColumnReader::Int32ColumnReader(mut reader) => {
            let mut ids = Vec::with_capacity(rows);
            let (_, values, read) = reader.read_records(rows, levels.as_mut(), None, &mut ids)?;
            let wide = || ids.iter().copied().map(i64::from).collect();
            Ok((values == read).then(wide))
        }
        _ => Err(ParquetError::General("not a column of integers".to_owned())),
    }
}

/// The page without its ZSTD compression; `None` if the frame does not state its size, or one that no page of
/// this many ids has.
fn inflate(mut page: Page, rows: usize) -> ParquetResult<Option<Page>> {
    let (buf, plain) = match &mut page {
        Page::DataPage { buf, .. } | Page::DictionaryPage { buf, .. } => (buf, 0),
        Page::DataPageV2 {
            is_compressed: false,
            ..
        } => return Ok(Some(page)),
        Page::DataPageV2 {
            buf,
            def_levels_byte_len,
            rep_levels_byte_len,
            ..
        } => {
            let levels = u64::from(*def_levels_byte_len) + u64::from(*rep_levels_byte_len);
            (buf, usize::try_from(levels)?)
        }
    };
    let Some((levels, frame)) = buf.split_at_checked(plain) else {
        return Ok(None);
    };
    let Ok(Some(size)) = get_frame_content_size(frame) else {
        return Ok(None);
    };
    let size = usize::try_from(size)?;
    if size > rows.saturating_mul(BYTES_PER_ROW) + PAGE_OVERHEAD {
        return Ok(None);
    }
    let mut values = Vec::with_capacity(plain + size);
    values.extend_from_slice(levels);
    if size > 0 {
        let mut behind = Cursor::new(&mut values);
        behind.set_position(plain as u64);
        decompress(frame, &mut behind)?;
    }
    if values.len() != plain + size {
        return Err(ParquetError::General(format!(
            "a page of {} bytes, {} by its frame",
            values.len() - plain,
            size
        )));
    }
    *buf = values.into();
    Ok(Some(page))
}

fn decompress(frame: &[u8], values: &mut Cursor<&mut Vec<u8>>) -> io::Result<usize> {
    ZSTD.with_borrow_mut(|kept| {
        let decompressor = match kept {
            Some(kept) => kept,
            None => kept.insert(Decompressor::new()?),
        };
        decompressor.decompress_to_buffer(frame, values)
    })
}

/// Pages that are in memory.
struct Pages(std::vec::IntoIter<Page>);

impl Iterator for Pages {
    type Item = ParquetResult<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(Ok)
    }
}

impl PageReader for Pages {
    fn get_next_page(&mut self) -> ParquetResult<Option<Page>> {
        Ok(self.0.next())
    }

    fn peek_next_page(&mut self) -> ParquetResult<Option<PageMetadata>> {
        let page = self.0.as_slice().first();
        Ok(page.map(|page| PageMetadata {
            num_rows: None,
            num_levels: usize::try_from(page.num_values()).ok(),
            is_dict: !page.is_data_page(),
        }))
    }

    fn skip_next_page(&mut self) -> ParquetResult<()> {
        self.0.next();
        Ok(())
    }
}

/// The bytes of one page, and of its dictionary before it, at their places in the file.
pub(super) struct PageBytes(pub Vec<(Range<u64>, Bytes)>);

impl Length for PageBytes {
    fn len(&self) -> u64 {
        self.0.last().map_or(0, |(range, _)| range.end)
    }
}

impl ChunkReader for PageBytes {
    type T = Cursor<Bytes>;

    fn get_read(&self, start: u64) -> ParquetResult<Self::T> {
        self.get_bytes(start, 0).map(Cursor::new)
    }

    /// What stands at `start`, whatever the length: a dictionary seems to go on to the page.
    fn get_bytes(&self, start: u64, _length: usize) -> ParquetResult<Bytes> {
        let found = self.0.iter().find(|(range, _)| range.start == start);
        found
            .map(|(_, bytes)| bytes.clone())
            .ok_or_else(|| ParquetError::EOF(format!("no bytes at {start}")))
    }
}
