//! Parquet: row groups and pages of the wanted rows, decoded straight into the declared types.

mod flags;
mod footer;
mod id_page;
mod opened;
mod pages;
mod source;

use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef, Schema, TimeUnit};
use datafusion::arrow::error::ArrowError;
use datafusion::parquet::arrow::ProjectionMask;
use datafusion::parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, RowSelection, RowSelectionPolicy,
};
use datafusion::parquet::arrow::async_reader::ParquetRecordBatchStreamBuilder;
use datafusion::parquet::basic::{ConvertedType, Type as PhysicalType};
use datafusion::parquet::errors::ParquetError;
use datafusion::parquet::file::metadata::ParquetMetaData;
use datafusion::parquet::schema::types::SchemaDescriptor;
use futures::StreamExt;

pub use self::flags::TrueRows;
pub use self::opened::{FileStamp, ParquetFile};
pub use self::pages::IdColumn;
use self::source::Source;
use super::ChunkRequest;
use super::checked::RawStream;
use super::columns::{ColumnSet, rows_of_nulls};
use super::outline::{Outline, StoredColumn};
use crate::error::{GraphArError, Result};
use crate::format::RowRanges;

/// See [`super::checked::RawStream`]; gives the picked rows only.
pub(super) async fn open(request: &ChunkRequest) -> Result<RawStream> {
    let failed = |e| parquet_error(&request.name(), e);
    // Only a part of the rows is worth the bytes of the page index.
    let partial = request.wanted() < request.chunk_rows;
    let file = ParquetFile::open(request, partial).await?;
    let metadata = file.metadata();
    let source = Source::new(file.reader(&request.access, &request.path));
    let plain = file.plain().clone();
    let columns = ColumnSet::find(
        request,
        plain.schema().fields().iter().map(|f| f.name().as_str()),
    )?;
    if columns.positions().is_empty() || request.rows.is_empty() {
        return Ok(rows_of_nulls(request, 0..request.wanted()));
    }
    let hinted = hinted_metadata(&columns, plain);
    let schema_descr = hinted.metadata().file_metadata().schema_descr();
    let unchecked = columns
        .positions()
        .iter()
        .map(|&root| unchecked_strings(schema_descr, root, hinted.schema().field(root).data_type()))
        .collect::<Vec<_>>();
    let mask = ProjectionMask::roots(schema_descr, columns.positions().iter().copied());
    let whole;
    let picked = match &request.picked {
        Some(picked) => picked,
        None => {
            whole = RowRanges::of(request.rows.clone());
            &whole
        }
    };
    let (groups, selection) = select_rows(metadata, picked);
    let wanted = usize::try_from(request.wanted()).unwrap_or(usize::MAX);

    let mut builder = ParquetRecordBatchStreamBuilder::new_with_metadata(source, hinted)
        .with_projection(mask)
        .with_row_groups(groups)
        .with_batch_size(request.batch_size.clamp(1, wanted));
    if let Some(selection) = selection {
        builder = builder.with_row_selection(selection);
        if picked.ranges().len() == 1 {
            // One run of rows: there is nothing to gain from a bit mask.
            builder = builder.with_row_selection_policy(RowSelectionPolicy::Selectors);
        }
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

/// See [`super::outline`].
pub(super) async fn outline(request: &ChunkRequest) -> Result<Outline> {
    let file = ParquetFile::open_uncounted(request).await?;
    let rows = file.metadata().file_metadata().num_rows();
    let rows = u64::try_from(rows).map_err(|_| {
        GraphArError::corrupt(
            request.name(),
            "number of rows",
            "a number >= 0",
            rows.to_string(),
        )
    })?;
    let fields = file.arrow_schema().fields().iter();
    let columns = fields.map(|field| StoredColumn {
        name: field.name().clone(),
        data_type: Some(field.data_type().clone()),
    });
    Ok(Outline {
        rows,
        columns: Some(columns.collect()),
    })
}

/// The row groups that hold wanted rows, and the rows inside them unless it is all.
fn select_rows(metadata: &ParquetMetaData, rows: &RowRanges) -> (Vec<usize>, Option<RowSelection>) {
    let row = |row: u64| usize::try_from(row).unwrap_or(usize::MAX);
    let (mut groups, mut pieces) = (vec![], vec![]);
    // Rows before this group: in the file, and in the groups that are read.
    let (mut first, mut total) = (0_u64, 0_u64);
    for (index, group) in metadata.row_groups().iter().enumerate() {
        let end = first + group.num_rows().unsigned_abs();
        let inside = rows.within(&(first..end));
        if !inside.is_empty() {
            groups.push(index);
            let moved = |at: u64| row(at - first + total);
            let inside = inside.ranges().iter();
            pieces.extend(inside.map(|range| moved(range.start)..moved(range.end)));
            total += end - first;
        }
        first = end;
    }
    let selection = (rows.count() < total)
        .then(|| RowSelection::from_consecutive_ranges(pieces.into_iter(), row(total)));
    (groups, selection)
}

/// The file's schema with the wanted columns in types that need no conversion afterwards.
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
