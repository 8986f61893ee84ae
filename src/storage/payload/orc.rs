//! ORC: the stripes of the wanted rows, decoded by `orc-rust`, but for timestamps.

mod lengths;
mod proto;
mod run;
mod source;
mod tail;
mod time;

use std::sync::Arc;

use datafusion::arrow::array::ArrayRef;
use datafusion::arrow::datatypes::{DataType, Field, FieldRef, Schema, SchemaRef, TimeUnit};
use futures::{StreamExt, stream};
use orc_rust::array_decoder::NaiveStripeDecoder;
use orc_rust::projection::ProjectionMask;
use orc_rust::reader::metadata::{FileMetadata, read_metadata_async};
use orc_rust::schema::{DataType as OrcType, RootDataType};
use orc_rust::stripe::{Stripe, StripeMetadata};
use orc_rust::{RowSelection, RowSelector};

use self::source::Source;
use super::ChunkRequest;
use super::checked::{Decoded, RawStream, row_count_error};
use super::columns::{ColumnSet, rows_of_nulls};
use super::file::ChunkFile;
use super::outline::{Outline, StoredColumn};
use crate::error::{GraphArError, Result};

/// See [`super::checked::RawStream`].
pub(super) async fn open(request: &ChunkRequest) -> Result<RawStream> {
    let mut source = Source::open(request, ChunkFile::open(request).await?).await?;
    let metadata = read_metadata_async(&mut source)
        .await
        .map_err(|e| GraphArError::payload(request.name(), e))?;
    check_rows(request, &metadata)?;

    let root = metadata.root_data_type();
    let columns = ColumnSet::find(request, root.children().iter().map(|child| child.name()))?;
    if columns.positions().is_empty() || request.rows.is_empty() {
        return Ok(rows_of_nulls(request, request.rows.clone()));
    }
    for (field, at) in columns.located() {
        let stored = root.children()[at].data_type();
        if !is_known(stored) {
            let element = format!("column '{}'", field.name());
            return Err(GraphArError::corrupt(
                request.name(),
                element,
                "a property type",
                stored.to_string(),
            ));
        }
    }
    let types = columns
        .positions()
        .iter()
        .map(|&at| root.children()[at].data_type());
    let project = |times: bool| {
        let chosen = types
            .clone()
            .filter(|stored| is_time(stored) == times)
            .map(OrcType::column_index);
        root.project(&ProjectionMask::roots(root, chosen))
    };
    let (projection, times) = (project(false), project(true));
    let fields = projection.children().iter();
    let fields = fields.map(|child| {
        Arc::new(Field::new(
            child.name(),
            arrow_type(child.data_type()),
            true,
        ))
    });
    let reader = Reader {
        request: request.clone(),
        source,
        schema: Arc::new(Schema::new(fields.collect::<Vec<FieldRef>>())),
        is_time: types.clone().map(is_time).collect(),
        projection,
        times,
        columns,
        next_stripe: 0,
        metadata,
        stripe: None,
        row: 0,
    };
    let batches = stream::try_unfold(reader, |mut reader| async move {
        Ok(reader.next().await?.map(|batch| (batch, reader)))
    });
    Ok(batches.boxed())
}

/// See [`super::outline`].
pub(super) async fn outline(request: &ChunkRequest) -> Result<Outline> {
    let mut source = Source::open(request, ChunkFile::open(request).await?).await?;
    let metadata = read_metadata_async(&mut source)
        .await
        .map_err(|e| GraphArError::payload(request.name(), e))?;
    let columns = metadata.root_data_type().children().iter();
    let columns = columns.map(|child| StoredColumn {
        name: child.name().to_owned(),
        data_type: Some(stored_type(child.data_type())),
    });
    Ok(Outline {
        rows: metadata.number_of_rows(),
        columns: Some(columns.collect()),
    })
}

/// The type that values of a column have once they are read.
fn stored_type(stored: &OrcType) -> DataType {
    match stored {
        stored if is_time(stored) => DataType::Timestamp(TimeUnit::Millisecond, None),
        OrcType::List { child, .. } => DataType::new_list(stored_type(child), true),
        other => other.to_arrow_data_type(),
    }
}

/// The number of rows must be right in the footer, before any row is decoded.
fn check_rows(request: &ChunkRequest, metadata: &FileMetadata) -> Result<()> {
    let whole = metadata.number_of_rows();
    let stripes = metadata
        .stripe_metadatas()
        .iter()
        .map(StripeMetadata::number_of_rows);
    let sum = { stripes }.try_fold(0_u64, u64::checked_add);
    if sum != Some(whole) {
        let found = format!("{whole} by the footer, other numbers in the stripes");
        return Err(row_count_error(request, found));
    }
    if whole != request.chunk_rows {
        return Err(row_count_error(request, whole.to_string()));
    }
    Ok(())
}

/// The type that the library is to decode into.
fn arrow_type(stored: &OrcType) -> DataType {
    match stored {
        stored if is_time(stored) => time::decimal(),
        OrcType::List { child, .. } => DataType::new_list(arrow_type(child), true),
        other => other.to_arrow_data_type(),
    }
}

/// Whether a property can be stored so. The decoders of the other types are not guarded.
fn is_known(stored: &OrcType) -> bool {
    match stored {
        OrcType::Struct { .. }
        | OrcType::Map { .. }
        | OrcType::Union { .. }
        | OrcType::Decimal { .. } => false,
        OrcType::List { child, .. } => is_known(child),
        _ => true,
    }
}

fn is_time(stored: &OrcType) -> bool {
    matches!(
        stored,
        OrcType::Timestamp { .. } | OrcType::TimestampWithLocalTimezone { .. }
    )
}

struct Reader {
    request: ChunkRequest,
    source: Source,
    metadata: FileMetadata,
    /// The columns that the library decodes, as they are in the file and in Arrow.
    projection: RootDataType,
    schema: SchemaRef,
    /// The timestamps.
    times: RootDataType,
    /// Which of the columns' positions are timestamps.
    is_time: Vec<bool>,
    columns: ColumnSet,
    next_stripe: usize,
    stripe: Option<OpenStripe>,
    /// Row of the file that the open or else the next stripe is at.
    row: u64,
}

struct OpenStripe {
    decoder: NaiveStripeDecoder,
    /// The timestamp columns of the whole stripe.
    times: Vec<ArrayRef>,
    /// Rows that were decoded or passed over.
    done: usize,
}

impl Reader {
    async fn next(&mut self) -> Result<Option<Decoded>> {
        let wanted = self.request.rows.clone();
        while self.row < wanted.end {
            let Some(stripe) = &mut self.stripe else {
                if self.open_stripe().await? {
                    continue;
                } else {
                    break;
                };
            };
            let Some(batch) = stripe.decoder.next() else {
                self.stripe = None;
                continue;
            };
            let batch = batch.map_err(|e| GraphArError::payload(self.request.name(), e))?;
            let (first, rows, offset) = (self.row, batch.num_rows(), stripe.done);
            self.row += rows as u64;
            stripe.done += rows;
            let (from, to) = (
                wanted.start.clamp(first, self.row),
                wanted.end.clamp(first, self.row),
            );
            if from == to {
                continue;
            }
            let mut decoded = batch.columns().iter();
            let mut times = stripe.times.iter();
            let index = |row: u64| {
                usize::try_from(row).map_err(|e| GraphArError::payload(self.request.name(), e))
            };
            let (skip, count) = (index(from - first)?, index(to - from)?);
            let mut arrays = Vec::with_capacity(self.is_time.len());
            for &is_time in &self.is_time {
                let (column, offset) = if is_time {
                    (times.next(), offset + skip)
                } else {
                    (decoded.next(), skip)
                };
                let column = column
                    .filter(|column| column.len() >= offset + count)
                    .ok_or_else(|| {
                        GraphArError::corrupt(
                            self.request.name(),
                            "stripe",
                            "columns of equal length",
                            "a shorter one",
                        )
                    })?;
                let column = time::decimals_in_millis(&column.slice(offset, count));
                arrays.push(column.map_err(|e| GraphArError::payload(self.request.name(), e))?);
            }
            return Ok(Some(self.columns.arrange(&arrays, count)));
        }
        Ok(None)
    }

    /// Begins with the next stripe of wanted rows; false if there is none.
    async fn open_stripe(&mut self) -> Result<bool> {
        while let Some(info) = self.metadata.stripe_metadatas().get(self.next_stripe) {
            let number = self.next_stripe;
            self.next_stripe += 1;
            let end = self.row + info.number_of_rows();
            if end <= self.request.rows.start {
                self.row = end;
                continue;
            }
            let failed = |e| GraphArError::payload(self.request.name(), e);
            let corrupt = |found: String| {
                GraphArError::corrupt(
                    self.request.name(),
                    format!("stripe {number}"),
                    "sound streams",
                    found,
                )
            };
            let mut times = vec![];
            if !self.times.children().is_empty() {
                let stripe =
                    Stripe::new_async(&mut self.source, &self.metadata, &self.times, info).await;
                times = time::decode(stripe.map_err(failed)?).map_err(corrupt)?;
            }
            let stripe =
                Stripe::new_async(&mut self.source, &self.metadata, &self.projection, info).await;
            let stripe = stripe.map_err(failed)?;
            lengths::check(&stripe).map_err(corrupt)?;
            let skipped = self.request.rows.start.saturating_sub(self.row);
            let index = |rows: u64| {
                usize::try_from(rows).map_err(|e| GraphArError::payload(self.request.name(), e))
            };
            let done = index(skipped)?;
            // Rows before the wanted ones are passed over without making values of them. The library does not
            // end a selection inside a stripe, so what follows is left to the reader.
            let selection = RowSelection::from(vec![
                RowSelector::skip(done),
                RowSelector::select(index(info.number_of_rows() - skipped)?),
            ]);
            let decoder = NaiveStripeDecoder::new_with_selection(
                stripe,
                SchemaRef::clone(&self.schema),
                self.request.batch_size.max(1),
                (done > 0).then_some(selection),
            );
            let decoder = decoder.map_err(failed)?;
            self.row += skipped;
            self.stripe = Some(OpenStripe {
                decoder,
                times,
                done,
            });
            return Ok(true);
        }
        Ok(false)
    }
}
