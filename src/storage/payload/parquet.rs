//! Parquet: row groups and pages of the wanted rows, decoded straight into the declared types.

mod footer;

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use datafusion::arrow::array::{Array, ArrayRef};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef, Schema, TimeUnit};
use datafusion::arrow::error::ArrowError;
use datafusion::parquet::arrow::ProjectionMask;
use datafusion::parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, RowSelection, RowSelectionPolicy, RowSelector,
};
use datafusion::parquet::arrow::async_reader::{AsyncFileReader, ParquetRecordBatchStreamBuilder};
use datafusion::parquet::basic::{ConvertedType, Type as PhysicalType};
use datafusion::parquet::errors::{ParquetError, Result as ParquetResult};
use datafusion::parquet::file::metadata::{
    PageIndexPolicy, ParquetMetaData, ParquetMetaDataReader,
};
use datafusion::parquet::schema::types::SchemaDescriptor;
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt};

use self::footer::{check_footer, check_lengths};
use super::ChunkRequest;
use super::checked::{RawStream, row_count_error};
use super::columns::{ColumnSet, rows_of_nulls};
use super::file::ChunkFile;
use crate::error::{GraphArError, Result};

/// Bytes at the end of a file: the length of the footer and the magic.
const TRAILER: u64 = 8;

/// See [`super::checked::RawStream`].
pub(super) async fn open(request: &ChunkRequest) -> Result<RawStream> {
    let failed = |e| parquet_error(&request.name(), e);
    let partial = request.rows != (0..request.chunk_rows);
    // Only a part of the rows is worth the bytes of the page index.
    let page_index = if partial {
        PageIndexPolicy::Optional
    } else {
        PageIndexPolicy::Skip
    };
    let mut source = Source(Arc::new(ChunkFile::open(request).await?));
    let metadata = Arc::new(read_metadata(&mut source, request, page_index).await?);
    check_rows(request, &metadata)?;

    let plain = plain_metadata(&metadata).map_err(failed)?;
    let columns = ColumnSet::find(
        request,
        plain.schema().fields().iter().map(|f| f.name().as_str()),
    )?;
    if columns.positions().is_empty() || request.rows.is_empty() {
        return Ok(rows_of_nulls(request));
    }
    let hinted = hinted_metadata(&columns, plain);
    let schema_descr = hinted.metadata().file_metadata().schema_descr();
    let unchecked = columns
        .positions()
        .iter()
        .map(|&root| unchecked_strings(schema_descr, root, hinted.schema().field(root).data_type()))
        .collect::<Vec<_>>();
    let mask = ProjectionMask::roots(schema_descr, columns.positions().iter().copied());
    let (groups, selection) = select_rows(&metadata, &request.rows);
    let wanted = usize::try_from(request.rows.end - request.rows.start).unwrap_or(usize::MAX);

    let mut builder = ParquetRecordBatchStreamBuilder::new_with_metadata(source, hinted)
        .with_projection(mask)
        .with_row_groups(groups)
        .with_batch_size(request.batch_size.clamp(1, wanted));
    if let Some(selection) = selection {
        // One run of rows: there is nothing to gain from a bit mask.
        builder = builder
            .with_row_selection(selection)
            .with_row_selection_policy(RowSelectionPolicy::Selectors);
    }
    let name = request.name();
    let batches = builder.build().map_err(failed)?.map(move |batch| {
        let batch = batch.map_err(|e| parquet_error(&name, e))?;
        for (column, _) in batch
            .columns()
            .iter()
            .zip(&unchecked)
            .filter(|(_, unchecked)| **unchecked)
        {
            check_strings(&name, column)?;
        }
        Ok(columns.arrange_batch(&batch))
    });
    Ok(batches.boxed())
}

/// See [`super::count_rows`].
pub(super) async fn count(request: &ChunkRequest) -> Result<u64> {
    let mut source = Source(Arc::new(ChunkFile::open(request).await?));
    let metadata = read_metadata(&mut source, request, PageIndexPolicy::Skip).await?;
    let rows = metadata.file_metadata().num_rows();
    u64::try_from(rows).map_err(|_| {
        GraphArError::corrupt(
            request.name(),
            "number of rows",
            "a number >= 0",
            rows.to_string(),
        )
    })
}

/// The footer, and the offsets of the pages if these are asked for. The decoder believes the
/// lengths of their lists, so they are checked before it sees them.
async fn read_metadata(
    source: &mut Source,
    request: &ChunkRequest,
    page_index: PageIndexPolicy,
) -> Result<ParquetMetaData> {
    let failed = |e| parquet_error(&request.name(), e);
    let corrupt = |element: &str, found: String| {
        GraphArError::corrupt(request.name(), element, "lengths that fit its bytes", found)
    };
    let (size, tail) = (source.0.size(), source.0.tail_len());
    // A file without this much is refused by the decoder, in its own words.
    if let Some(trailer) = size.checked_sub(TRAILER) {
        let bytes = source.0.range(trailer..size).await?;
        let length = u64::from(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]));
        if let Some(begin) = trailer.checked_sub(length) {
            let footer = source.0.range(begin..trailer).await?;
            check_footer(&footer).map_err(|found| corrupt("footer", found))?;
        }
    }
    let mut reader = ParquetMetaDataReader::new()
        .with_page_index_policy(PageIndexPolicy::Skip)
        .with_prefetch_hint(Some(tail));
    reader.try_load(&mut *source, size).await.map_err(failed)?;
    let metadata = reader.finish().map_err(failed)?;
    if page_index == PageIndexPolicy::Skip {
        return Ok(metadata);
    }
    for column in metadata
        .row_groups()
        .iter()
        .flat_map(|group| group.columns())
    {
        let (Some(begin), Some(length)) =
            (column.offset_index_offset(), column.offset_index_length())
        else {
            continue;
        };
        let range = u64::try_from(begin).ok().zip(u64::try_from(length).ok());
        let Some((begin, length)) = range else {
            return Err(corrupt(
                "offset index",
                format!("{length} bytes at {begin}"),
            ));
        };
        let index = source.0.range(begin..begin.saturating_add(length)).await?;
        check_lengths(&index).map_err(|found| corrupt("offset index", found))?;
    }
    let mut reader = ParquetMetaDataReader::new_with_metadata(metadata)
        .with_column_index_policy(PageIndexPolicy::Skip)
        .with_offset_index_policy(page_index);
    reader.load_page_index(&mut *source).await.map_err(failed)?;
    reader.finish().map_err(failed)
}

/// The number of rows must be right in the footer, before any row is decoded.
fn check_rows(request: &ChunkRequest, metadata: &ParquetMetaData) -> Result<()> {
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
        (Ok(whole), Some(sum)) if sum == whole => Err(row_count_error(request, whole.to_string())),
        _ => Err(row_count_error(
            request,
            format!("{whole} by the footer, other numbers in the row groups"),
        )),
    }
}

/// The row groups that hold wanted rows, and the rows inside them unless it is all.
fn select_rows(
    metadata: &ParquetMetaData,
    rows: &Range<u64>,
) -> (Vec<usize>, Option<RowSelection>) {
    let count = |rows: u64| usize::try_from(rows).unwrap_or(usize::MAX);
    let (mut groups, mut first, mut skip, mut total) = (vec![], 0_u64, 0_u64, 0_u64);
    for (index, group) in metadata.row_groups().iter().enumerate() {
        let end = first + group.num_rows().unsigned_abs();
        if first < rows.end && rows.start < end {
            if groups.is_empty() {
                skip = rows.start - first;
            }
            groups.push(index);
            total += end - first;
        }
        first = end;
    }
    let wanted = rows.end - rows.start;
    let selection = (wanted < total).then(|| {
        RowSelection::from(vec![
            RowSelector::skip(count(skip)),
            RowSelector::select(count(wanted)),
            RowSelector::skip(count(total - skip - wanted)),
        ])
    });
    (groups, selection)
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

/// The same, with the wanted columns in types that need no conversion afterwards.
fn hinted_metadata(columns: &ColumnSet, plain: ArrowReaderMetadata) -> ArrowReaderMetadata {
    let descr = plain.metadata().file_metadata().schema_descr();
    let mut fields: Vec<FieldRef> = plain.schema().fields().iter().cloned().collect();
    for (field, root) in columns.located() {
        let leaf = Leaf::of(descr, root);
        let hint = hinted_type(fields[root].data_type(), field.data_type(), leaf);
        fields[root] = Arc::new(fields[root].as_ref().clone().with_data_type(hint));
    }
    let schema = Arc::new(Schema::new_with_metadata(
        fields,
        plain.schema().metadata().clone(),
    ));
    let options = ArrowReaderOptions::new().with_schema(schema);
    // The hint is for speed only: `cast` does the same, later.
    ArrowReaderMetadata::try_new(Arc::clone(plain.metadata()), options).unwrap_or(plain)
}

/// What matters about the single leaf of a root column.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Leaf {
    /// Bytes that the decoder checks to be UTF-8.
    String,
    /// The old timestamps of Spark.
    Int96,
    Other,
}

impl Leaf {
    fn of(descr: &SchemaDescriptor, root: usize) -> Self {
        let mut leaves =
            (0..descr.num_columns()).filter(|&leaf| descr.get_column_root_idx(leaf) == root);
        match (leaves.next(), leaves.next()) {
            (Some(leaf), None) => {
                let column = descr.column(leaf);
                match (column.physical_type(), column.converted_type()) {
                    (PhysicalType::INT96, _) => Self::Int96,
                    (PhysicalType::BYTE_ARRAY, ConvertedType::UTF8) => Self::String,
                    _ => Self::Other,
                }
            }
            _ => Self::Other,
        }
    }
}

fn hinted_type(file: &DataType, declared: &DataType, leaf: Leaf) -> DataType {
    match (file, declared, leaf) {
        (
            DataType::List(item) | DataType::LargeList(item) | DataType::ListView(item),
            DataType::List(wanted),
            _,
        ) => {
            let hint = hinted_type(item.data_type(), wanted.data_type(), leaf);
            DataType::List(Arc::new(Field::clone(item).with_data_type(hint)))
        }
        // Nanoseconds, the default, end in the year 2262.
        (DataType::Timestamp(..), _, Leaf::Int96) => {
            DataType::Timestamp(TimeUnit::Millisecond, None)
        }
        (_, DataType::Utf8View | DataType::Utf8, Leaf::String) => declared.clone(),
        _ => file.clone(),
    }
}

/// Whether the decoder makes strings of bytes that it did not check: it looks at the old
/// annotation only, and lets an embedded schema or JSON turn other bytes into strings.
fn unchecked_strings(descr: &SchemaDescriptor, root: usize, data_type: &DataType) -> bool {
    let string = match data_type {
        DataType::Dictionary(_, values) => values.as_ref(),
        other => other,
    };
    let has_strings = string.is_string() || string.is_nested();
    has_strings && !matches!(Leaf::of(descr, root), Leaf::String)
}

fn check_strings(name: &str, column: &ArrayRef) -> Result<()> {
    let data = column.to_data();
    data.validate_full()
        .map_err(|e: ArrowError| GraphArError::payload(name, e))
}

/// Errors of the store went through the decoder and come out as they were.
fn parquet_error(name: &str, error: ParquetError) -> GraphArError {
    match error {
        ParquetError::External(inner) => match inner.downcast::<GraphArError>() {
            Ok(error) => *error,
            Err(inner) => GraphArError::payload(name, inner),
        },
        error => GraphArError::payload(name, error),
    }
}

struct Source(Arc<ChunkFile>);

impl AsyncFileReader for Source {
    fn get_bytes(&mut self, range: Range<u64>) -> BoxFuture<'_, ParquetResult<Bytes>> {
        async move {
            self.0
                .range(range)
                .await
                .map_err(|e| ParquetError::External(Box::new(e)))
        }
        .boxed()
    }

    fn get_byte_ranges(
        &mut self,
        ranges: Vec<Range<u64>>,
    ) -> BoxFuture<'_, ParquetResult<Vec<Bytes>>> {
        async move {
            self.0
                .ranges(&ranges)
                .await
                .map_err(|e| ParquetError::External(Box::new(e)))
        }
        .boxed()
    }

    fn get_metadata<'a>(
        &'a mut self,
        options: Option<&'a ArrowReaderOptions>,
    ) -> BoxFuture<'a, ParquetResult<Arc<ParquetMetaData>>> {
        // Only called where the metadata are not given already, which they always are here.
        async move {
            let reader = ParquetMetaDataReader::new().with_arrow_reader_options(options);
            let size = self.0.size();
            Ok(Arc::new(reader.load_and_finish(self, size).await?))
        }
        .boxed()
    }
}
