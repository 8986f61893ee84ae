//! Single pages of an id column: found by row, decoded whole, and remembered.
//!
//! Looking up the neighbours of a vertex takes a few rows of one column. A page is the least that
//! can be decoded, so it is decoded as a whole and kept: the next vertex is often in it.

use std::any::Any;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use bytes::Bytes;
use datafusion::arrow::array::Int64Array;
use datafusion::parquet::basic::{ConvertedType, LogicalType, Type as PhysicalType};
use datafusion::parquet::file::metadata::ColumnChunkMetaData;
use datafusion::parquet::file::page_index::column_index::ColumnIndexMetaData;
use datafusion::parquet::file::page_index::offset_index::PageLocation;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use object_store::path::Path;

use super::id_page::{PageBytes, decode_page};
use super::opened::ParquetFile;
use super::parquet_error;
use crate::error::{GraphArError, Result};
use crate::format::RowRanges;
use crate::storage::access::FileAccess;
use crate::storage::cache::CacheName;
use crate::storage::payload::{ChunkColumn, ChunkRequest, ColumnSource};

/// Pages that are fetched and decoded at once: what bounds the memory of a read of many.
const PAGES_AT_ONCE: usize = 32;

/// An id column of a Parquet file whose pages can be read one by one.
///
/// Cheap to clone.
#[derive(Debug, Clone)]
pub struct IdColumn {
    file: Arc<ParquetFile>,
    path: Path,
    leaf: usize,
    /// First row of each row group, and the number of rows at the end.
    groups: Arc<[u64]>,
}

/// A page by its row group and its number inside.
type PageId = (usize, usize);

impl IdColumn {
    /// The only column of `request`, if the file has it as integers without nesting, with an
    /// offset index. `None` where pages cannot be read one by one: then
    /// [`open_chunk`](crate::storage::payload::open_chunk) reads the column.
    ///
    /// # Errors
    /// As opening the chunk.
    pub async fn open(request: &ChunkRequest) -> Result<Option<Self>> {
        let [column] = request.columns.as_slice() else {
            return Ok(None);
        };
        let file = ParquetFile::open(request, true).await?;
        Ok(Self::of(file, &request.path, column))
    }

    fn of(file: Arc<ParquetFile>, path: &Path, column: &ChunkColumn) -> Option<Self> {
        let metadata = file.metadata();
        let ColumnSource::Name(name) = &column.source else {
            return None;
        };
        let descr = metadata.file_metadata().schema_descr();
        let leaf = descr
            .columns()
            .iter()
            .position(|leaf| leaf.path().parts() == [name.as_str()])?;
        let found = descr.column(leaf);
        let integer = matches!(
            (found.physical_type(), found.converted_type()),
            (
                PhysicalType::INT64,
                ConvertedType::NONE | ConvertedType::INT_64
            ) | (
                PhysicalType::INT32,
                ConvertedType::NONE | ConvertedType::INT_32
            )
        ) && found.logical_type_ref().is_none_or(
            |logical| matches!(logical, LogicalType::Integer(integer) if integer.is_signed),
        );
        let index = metadata.offset_index()?;
        let mut groups = Vec::with_capacity(metadata.num_row_groups() + 1);
        groups.push(0_u64);
        let mut first = 0;
        for (number, group) in metadata.row_groups().iter().enumerate() {
            first += u64::try_from(group.num_rows()).ok()?;
            groups.push(first);
            // Pages in order, that begin with the group: otherwise rows cannot be found by them.
            let pages = index.get(number)?.get(leaf)?.page_locations();
            let starts = pages.iter().map(|page| page.first_row_index);
            let sound = match pages.first() {
                Some(page) => page.first_row_index == 0 && starts.is_sorted_by(|a, b| a < b),
                None => group.num_rows() == 0,
            };
            let last = pages.last().map_or(0, |page| page.first_row_index);
            if !sound || (last >= group.num_rows() && group.num_rows() > 0) {
                return None;
            }
        }
        (integer && found.max_rep_level() == 0 && found.max_def_level() <= 1).then(|| Self {
            groups: groups.into(),
            path: path.clone(),
            leaf,
            file,
        })
    }

    /// The ids of these rows of the file, piece by piece in order. Each page is decoded once, a number of them
    /// at a time.
    ///
    /// # Errors
    /// If a page cannot be read or decoded, or holds a null.
    pub fn read(
        &self,
        access: &FileAccess,
        rows: &RowRanges,
    ) -> BoxStream<'static, Result<Int64Array>> {
        let (column, access) = (self.clone(), access.clone());
        let pages = self.pages_of(rows);
        let rows = rows.clone();
        let groups: Vec<Vec<PageId>> = pages.chunks(PAGES_AT_ONCE).map(<[_]>::to_vec).collect();
        stream::iter(groups)
            .then(move |pages| {
                let (column, access, rows) = (column.clone(), access.clone(), rows.clone());
                async move {
                    let decoded = column.load(&access, &pages).await?;
                    let mut pieces = vec![];
                    for (page, ids) in pages.into_iter().zip(decoded) {
                        column.cut(page, &ids, &rows, &mut pieces)?;
                    }
                    Ok(joined(pieces))
                }
            })
            .boxed()
    }

    /// The ids of a range of rows that lie in one page, if that page is in the cache.
    pub fn resident(&self, access: &FileAccess, rows: &Range<u64>) -> Option<Int64Array> {
        let page = self.page_at(rows.start)?;
        let span = self.rows_of(page)?;
        if rows.end > span.end {
            return None;
        }
        let ids = access.cache.as_ref()?.get::<Int64Array>(&self.name(page))?;
        access.meter.hit();
        let at = |row: u64| usize::try_from(row - span.start).ok();
        let (begin, end) = (at(rows.start)?, at(rows.end)?);
        (end <= ids.len()).then(|| ids.slice(begin, end - begin))
    }

    /// The ids of a range of rows, if they lie in one page: from the cache or the file.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub async fn read_in_page(
        &self,
        access: &FileAccess,
        rows: &Range<u64>,
    ) -> Result<Option<Int64Array>> {
        let within = |page: &PageId| self.rows_of(*page).is_some_and(|span| rows.end <= span.end);
        let Some(page) = self.page_at(rows.start).filter(within) else {
            return Ok(None);
        };
        let mut pieces = vec![];
        for ids in self.load(access, &[page]).await? {
            self.cut(page, &ids, &RowRanges::of(rows.clone()), &mut pieces)?;
        }
        Ok(Some(joined(pieces)))
    }

    /// About how many bytes of memory the file's footer takes.
    pub fn file_bytes(&self) -> usize {
        self.file.bytes()
    }

    /// The rows of each page that holds any of these rows, and the bounds of its ids; `None` if the file
    /// does not state them all.
    pub fn bounds(&self, rows: &RowRanges) -> Option<Vec<(Range<u64>, i64, i64)>> {
        let index = self.file.metadata().column_index()?;
        let mut bounds = vec![];
        for (group, page) in self.pages_of(rows) {
            let (least, most) = match index.get(group)?.get(self.leaf)? {
                ColumnIndexMetaData::INT64(index) => {
                    (*index.min_value(page)?, *index.max_value(page)?)
                }
                ColumnIndexMetaData::INT32(index) => (
                    i64::from(*index.min_value(page)?),
                    i64::from(*index.max_value(page)?),
                ),
                _ => return None,
            };
            bounds.push((self.rows_of((group, page))?, least, most));
        }
        Some(bounds)
    }

    /// The file's pages that hold any of these rows, each once, in order.
    fn pages_of(&self, rows: &RowRanges) -> Vec<PageId> {
        let mut pages: Vec<PageId> = vec![];
        for range in rows.ranges() {
            let mut row = range.start;
            while row < range.end
                && let Some(page) = self.page_at(row)
                && let Some(span) = self.rows_of(page)
            {
                if pages.last() != Some(&page) {
                    pages.push(page);
                }
                row = span.end;
            }
        }
        pages
    }

    /// The page that holds a row of the file.
    fn page_at(&self, row: u64) -> Option<PageId> {
        let group = self
            .groups
            .partition_point(|first| *first <= row)
            .checked_sub(1)?;
        let inside = i64::try_from(row - self.groups[group]).ok()?;
        let pages = self.locations(group)?;
        let page = pages.partition_point(|page| page.first_row_index <= inside);
        Some((group, page.checked_sub(1)?))
    }

    fn locations(&self, group: usize) -> Option<&[PageLocation]> {
        let index = self.file.metadata().offset_index()?;
        Some(
            index
                .get(group)?
                .get(self.leaf)?
                .page_locations()
                .as_slice(),
        )
    }

    /// The rows of the file that a page holds.
    fn rows_of(&self, (group, page): PageId) -> Option<Range<u64>> {
        let pages = self.locations(group)?;
        let first = *self.groups.get(group)?;
        let row = |page: &PageLocation| u64::try_from(page.first_row_index).ok();
        let begin = first + row(pages.get(page)?)?;
        let end = match pages.get(page + 1) {
            Some(next) => first + row(next)?,
            None => *self.groups.get(group + 1)?,
        };
        Some(begin..end)
    }

    fn name(&self, (group, page): PageId) -> CacheName {
        let small = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        CacheName::Page(
            self.file.number(),
            small(self.leaf),
            small(group),
            small(page),
        )
    }

    /// The whole pages, from the cache or the file.
    async fn load(&self, access: &FileAccess, pages: &[PageId]) -> Result<Vec<Arc<Int64Array>>> {
        let cache = access.cache.as_ref();
        let mut loaded: Vec<Option<Arc<Int64Array>>> = pages
            .iter()
            .map(|page| cache.and_then(|cache| cache.get(&self.name(*page))))
            .collect();
        let mut ranges = vec![];
        for (page, found) in pages.iter().zip(&loaded) {
            match found {
                Some(_) => access.meter.hit(),
                None => ranges.extend(self.byte_ranges(*page)?),
            }
        }
        let bytes = if ranges.is_empty() {
            vec![]
        } else {
            self.file.reader(access, &self.path).ranges(&ranges).await?
        };
        let mut bytes = ranges.into_iter().zip(bytes);
        for (page, slot) in pages.iter().zip(&mut loaded) {
            if slot.is_some() {
                continue;
            }
            let mut pieces = vec![];
            for _ in self.byte_ranges(*page)? {
                pieces.extend(bytes.next());
            }
            access.meter.page();
            let ids = Arc::new(self.decode(*page, pieces)?);
            if let Some(cache) = cache {
                cache.put(&self.name(*page), &ids, ids.len() * size_of::<i64>());
            }
            *slot = Some(ids);
        }
        Ok(loaded.into_iter().flatten().collect())
    }

    fn chunk(&self, group: usize) -> &ColumnChunkMetaData {
        self.file.metadata().row_group(group).column(self.leaf)
    }

    /// Where a page's bytes stand, and before them its dictionary's, if there is one.
    fn byte_ranges(&self, (group, page): PageId) -> Result<Vec<Range<u64>>> {
        let place = || {
            let pages = self.locations(group)?;
            let location = pages.get(page)?;
            let begin = u64::try_from(location.offset).ok()?;
            let length = u64::try_from(location.compressed_page_size).ok()?;
            let own = begin..begin.checked_add(length)?;
            let first = u64::try_from(pages.first()?.offset).ok()?;
            let dictionary = self.chunk(group).dictionary_page_offset();
            let dictionary = dictionary.and_then(|at| u64::try_from(at).ok());
            Some(match dictionary {
                Some(at) if at < first => vec![at..first, own],
                _ => vec![own],
            })
        };
        place().ok_or_else(|| self.corrupt((group, page), "offsets outside the file"))
    }

    /// Decodes a page from its bytes; those of its dictionary come first.
    fn decode(&self, page: PageId, pieces: Vec<(Range<u64>, Bytes)>) -> Result<Int64Array> {
        let rows = self.rows_of(page).map_or(0, |rows| rows.end - rows.start);
        let rows =
            usize::try_from(rows).map_err(|e| GraphArError::payload(self.path.to_string(), e))?;
        // Third-party code that a damaged page can drive into a panic.
        let decoded = catch_unwind(AssertUnwindSafe(|| {
            decode_page(self.chunk(page.0), PageBytes(pieces), rows)
        }));
        match decoded {
            Ok(Ok(Some(ids))) if ids.len() == rows => Ok(Int64Array::new(ids, None)),
            Ok(Ok(Some(ids))) => Err(self.corrupt(page, &format!("{} values", ids.len()))),
            Ok(Ok(None)) => Err(self.corrupt(page, "a null")),
            Ok(Err(error)) => Err(parquet_error(self.path.as_ref(), error)),
            Err(panic) => Err(self.corrupt(page, panic_text(panic.as_ref()))),
        }
    }

    fn corrupt(&self, page: PageId, found: &str) -> GraphArError {
        let column = self
            .file
            .metadata()
            .file_metadata()
            .schema_descr()
            .column(self.leaf);
        GraphArError::corrupt(
            self.path.to_string(),
            format!(
                "column '{}', page {} of row group {}",
                column.name(),
                page.1,
                page.0
            ),
            "one id for each of its rows",
            found,
        )
    }

    /// The wanted rows of a page.
    fn cut(
        &self,
        page: PageId,
        ids: &Int64Array,
        rows: &RowRanges,
        pieces: &mut Vec<Int64Array>,
    ) -> Result<()> {
        let span = self.rows_of(page).unwrap_or(0..0);
        for range in rows.within(&span).ranges() {
            let at = |row: u64| {
                usize::try_from(row - span.start)
                    .map_err(|e| GraphArError::payload(self.path.to_string(), e))
            };
            let (begin, end) = (at(range.start)?, at(range.end)?);
            pieces.push(ids.slice(begin, end - begin));
        }
        Ok(())
    }
}

/// Pieces in one array; a single one is not copied.
fn joined(pieces: Vec<Int64Array>) -> Int64Array {
    match <[Int64Array; 1]>::try_from(pieces) {
        Ok([only]) => only,
        Err(pieces) => {
            let mut ids = Vec::with_capacity(pieces.iter().map(Int64Array::len).sum());
            for piece in &pieces {
                ids.extend_from_slice(piece.values());
            }
            Int64Array::from(ids)
        }
    }
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("a panic")
}
