//! A Parquet file whose footer has been read, and is remembered.

use std::ops::Range;
use std::sync::Arc;

use datafusion::arrow::datatypes::Schema;
use datafusion::parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use datafusion::parquet::basic::ConvertedType;
use datafusion::parquet::errors::Result as ParquetResult;
use datafusion::parquet::file::metadata::{
    PageIndexPolicy, ParquetMetaData, ParquetMetaDataReader,
};
use datafusion::parquet::file::statistics::Statistics;
use object_store::path::Path;

use super::footer::{check_footer, check_lengths};
use super::parquet_error;
use super::source::Source;
use crate::error::{GraphArError, Result};
use crate::storage::access::FileAccess;
use crate::storage::cache::FileIdentity;
use crate::storage::payload::checked::row_count_error;
use crate::storage::payload::file::{ChunkFile, FileState};
use crate::storage::payload::{ChunkRequest, ColumnSource};

/// Bytes at the end of a file: the length of the footer and the magic.
const TRAILER: u64 = 8;

/// A state of a file, without anything that stands in it.
#[derive(Debug, Clone)]
pub struct FileStamp {
    path: Path,
    identity: FileIdentity,
}

impl FileStamp {
    /// Whether the file is still in this state. Costs a request where the file is not open.
    pub(crate) async fn is_current(&self, access: &FileAccess) -> Result<bool> {
        access.is_current(&self.path, &self.identity).await
    }
}

/// One state of a Parquet file: its footer, with the page index if that was asked for.
#[derive(Debug)]
pub struct ParquetFile {
    /// Tells this state from all others of this process.
    number: u64,
    state: FileState,
    /// The footer and the file's own Arrow schema.
    plain: ArrowReaderMetadata,
    has_page_index: bool,
    /// About how much memory all of this takes.
    bytes: usize,
}

impl ParquetFile {
    /// Opens the file of a request; `page_index` if single pages will be looked for.
    ///
    /// # Errors
    /// If the file is missing or its footer damaged, or it has another number of rows than the request says.
    pub(crate) async fn open(request: &ChunkRequest, page_index: bool) -> Result<Arc<Self>> {
        let known = request.opened.as_ref();
        if let Some(file) = known.filter(|file| file.has_page_index || !page_index) {
            return Ok(Arc::clone(file));
        }
        let file = match Self::remembered(request, page_index).await? {
            Some(file) => file,
            None => Self::load(request, page_index).await?,
        };
        file.check_rows(request)?;
        Ok(file)
    }

    /// The same where the number of rows is not known yet.
    pub(super) async fn open_uncounted(request: &ChunkRequest) -> Result<Arc<Self>> {
        match Self::remembered(request, false).await? {
            Some(file) => Ok(file),
            None => Self::load(request, false).await,
        }
    }

    /// Row groups, pages and statistics.
    pub fn metadata(&self) -> &Arc<ParquetMetaData> {
        self.plain.metadata()
    }

    /// The bounds of a column of signed integers by the statistics of all row groups; `None` if one has none.
    pub(crate) fn integer_bounds(&self, column: &ColumnSource) -> Option<(i64, i64)> {
        let ColumnSource::Name(name) = column else {
            return None;
        };
        let metadata = self.metadata();
        let columns = metadata.file_metadata().schema_descr().columns();
        let leaf = columns
            .iter()
            .position(|leaf| leaf.path().parts() == [name.as_str()])?;
        let signed = matches!(
            columns[leaf].converted_type(),
            ConvertedType::NONE | ConvertedType::INT_64 | ConvertedType::INT_32
        );
        let mut bounds: Option<(i64, i64)> = None;
        for group in metadata.row_groups().iter().filter(|_| signed) {
            let (least, most) = match group.column(leaf).statistics()? {
                Statistics::Int64(values) => (*values.min_opt()?, *values.max_opt()?),
                Statistics::Int32(values) => {
                    (i64::from(*values.min_opt()?), i64::from(*values.max_opt()?))
                }
                _ => return None,
            };
            bounds = Some(match bounds {
                Some((low, high)) => (low.min(least), high.max(most)),
                None => (least, most),
            });
        }
        bounds
    }

    /// What tells whether the file is still in this state.
    pub(crate) fn stamp(&self, path: &Path) -> FileStamp {
        FileStamp {
            path: path.clone(),
            identity: self.state.identity.clone(),
        }
    }

    /// The file's own schema in Arrow.
    pub fn arrow_schema(&self) -> &Schema {
        self.plain.schema()
    }

    /// The same, as the decoder takes it.
    pub(super) fn plain(&self) -> &ArrowReaderMetadata {
        &self.plain
    }

    /// About how many bytes of memory this takes.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The number of this state of the file.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// Reads of this state.
    pub(super) fn reader(&self, access: &FileAccess, path: &Path) -> ChunkFile {
        ChunkFile::known(access, path, self.state.clone())
    }

    /// From the cache, if the store still has the same state of the file.
    async fn remembered(request: &ChunkRequest, page_index: bool) -> Result<Option<Arc<Self>>> {
        let access = &request.access;
        let Some(cache) = &access.cache else {
            return Ok(None);
        };
        let name = access.footer_name(&request.path);
        let Some(file) = cache.get::<Self>(&name) else {
            return Ok(None);
        };
        if page_index && !file.has_page_index {
            return Ok(None);
        }
        if access.validate
            && access.meter.first_use(file.number)
            && !access
                .is_current(&request.path, &file.state.identity)
                .await?
        {
            cache.remove(&name);
            return Ok(None);
        }
        access.meter.hit();
        Ok(Some(file))
    }

    async fn load(request: &ChunkRequest, page_index: bool) -> Result<Arc<Self>> {
        let access = &request.access;
        let mut source = Source::new(ChunkFile::open(request).await?);
        let metadata = read_metadata(&mut source, request, page_index).await?;
        let bytes = metadata.memory_size();
        let plain =
            plain_metadata(&Arc::new(metadata)).map_err(|e| parquet_error(&request.name(), e))?;
        let mut file = Self {
            number: 0,
            state: source.file().state().clone(),
            plain,
            has_page_index: page_index,
            bytes,
        };
        let Some(cache) = &access.cache else {
            return Ok(Arc::new(file));
        };
        file.number = cache.file_number();
        file.state = file.state.to_keep();
        file.bytes += file.state.tail.len();
        let file = Arc::new(file);
        cache.put(&access.footer_name(&request.path), &file, file.bytes);
        access.meter.first_use(file.number);
        Ok(file)
    }

    /// The number of rows must be right in the footer, before any row is decoded.
    fn check_rows(&self, request: &ChunkRequest) -> Result<()> {
        let metadata = self.metadata();
        let whole = metadata.file_metadata().num_rows();
        let groups = metadata
            .row_groups()
            .iter()
            .map(|group| u64::try_from(group.num_rows()).ok());
        let sum = groups
            .into_iter()
            .try_fold(0_u64, |sum, rows| sum.checked_add(rows?));
        match (u64::try_from(whole), sum) {
            (Ok(whole), Some(sum)) if whole == request.chunk_rows && sum == whole => Ok(()),
            (Ok(whole), Some(sum)) if sum == whole => {
                Err(row_count_error(request, whole.to_string()))
            }
            _ => Err(row_count_error(
                request,
                format!("{whole} by the footer, other numbers in the row groups"),
            )),
        }
    }
}

/// The footer, and the page index if that is asked for. The decoder believes the lengths of
/// their lists, so they are checked before it sees them.
async fn read_metadata(
    source: &mut Source,
    request: &ChunkRequest,
    page_index: bool,
) -> Result<ParquetMetaData> {
    let failed = |e| parquet_error(&request.name(), e);
    let corrupt = |element: &str, found: String| {
        GraphArError::corrupt(request.name(), element, "lengths that fit its bytes", found)
    };
    let file = source.file();
    let (size, tail) = (file.size(), file.tail_len());
    // A file without this much is refused by the decoder, in its own words.
    if let Some(trailer) = size.checked_sub(TRAILER) {
        let bytes = file.range(trailer..size).await?;
        let length = u64::from(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]));
        if let Some(begin) = trailer.checked_sub(length) {
            let footer = file.range(begin..trailer).await?;
            check_footer(&footer).map_err(|found| corrupt("footer", found))?;
        }
    }
    let mut reader = ParquetMetaDataReader::new()
        .with_page_index_policy(PageIndexPolicy::Skip)
        .with_prefetch_hint(Some(tail));
    reader.try_load(&mut *source, size).await.map_err(failed)?;
    let metadata = reader.finish().map_err(failed)?;
    if !page_index {
        return Ok(metadata);
    }
    let indexes = page_indexes(&metadata).map_err(|found| corrupt("page index", found))?;
    if let Some(begin) = indexes.iter().map(|index| index.start).min() {
        // All of them stand between the pages and the footer: one request for what is missing.
        source.file().extend_tail(begin.min(size)).await?;
    }
    for index in indexes {
        let bytes = source.file().range(index).await?;
        check_lengths(&bytes).map_err(|found| corrupt("page index", found))?;
    }
    let mut reader = ParquetMetaDataReader::new_with_metadata(metadata)
        .with_page_index_policy(PageIndexPolicy::Optional);
    reader.load_page_index(&mut *source).await.map_err(failed)?;
    reader.finish().map_err(failed)
}

/// Where the page indexes stand; an error says what was found instead of a place.
fn page_indexes(metadata: &ParquetMetaData) -> Result<Vec<Range<u64>>, String> {
    let mut found = vec![];
    for column in metadata
        .row_groups()
        .iter()
        .flat_map(|group| group.columns())
    {
        for place in [
            (column.offset_index_offset(), column.offset_index_length()),
            (column.column_index_offset(), column.column_index_length()),
        ] {
            let (Some(begin), Some(length)) = place else {
                continue;
            };
            match (u64::try_from(begin), u64::try_from(length)) {
                (Ok(begin), Ok(length)) => found.push(begin..begin.saturating_add(length)),
                _ => return Err(format!("{length} bytes at {begin}")),
            }
        }
    }
    Ok(found)
}

/// The file's Arrow schema. Some writers embed one, which may say more than Parquet can
/// (seconds, for example), but a strange one must not keep anybody from the data.
fn plain_metadata(metadata: &Arc<ParquetMetaData>) -> ParquetResult<ArrowReaderMetadata> {
    let read = |skip| {
        let options = ArrowReaderOptions::new().with_skip_arrow_metadata(skip);
        ArrowReaderMetadata::try_new(Arc::clone(metadata), options)
    };
    read(false).or_else(|_| read(true))
}
