//! JSON, one object a line, read with the declared types.
//!
//! An absent key is null, an unknown one is ignored. Dates and timestamps are strings.

use std::sync::Arc;

use bytes::Bytes;
use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, Date32Builder, TimestampMillisecondBuilder,
};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef, Schema};
use datafusion::arrow::error::ArrowError;
use datafusion::arrow::json::ReaderBuilder;
use datafusion::arrow::json::reader::Decoder;
use datafusion::arrow::record_batch::RecordBatch;
use futures::{StreamExt, stream};

use super::checked::{Decoded, RawStream, row_count_error};
use super::columns::ColumnSet;
use super::file::{Blocks, ChunkFile};
use super::outline::Outline;
use super::{ChunkRequest, ColumnSource, time_text};
use crate::error::{GraphArError, Result};

/// See [`super::checked::RawStream`].
pub(super) async fn open(request: &ChunkRequest) -> Result<RawStream> {
    let blocks = Blocks::new(ChunkFile::open(request).await?);
    // Keys may be absent from every line, so every column counts as being there.
    let mut names: Vec<&str> = request
        .declared
        .fields()
        .iter()
        .map(|field| field.name().as_str())
        .collect();
    for column in &request.columns {
        if let ColumnSource::Name(name) = &column.source
            && !names.contains(&name.as_str())
        {
            names.push(name);
        }
    }
    let columns = ColumnSet::find(request, names.iter().copied())?;
    let mut fields: Vec<FieldRef> = vec![];
    for &position in columns.positions() {
        if let Some((field, _)) = columns.located().find(|(_, at)| *at == position) {
            fields.push(Arc::new(Field::new(
                names[position],
                text_type(field.data_type()),
                true,
            )));
        }
    }
    let decoder = ReaderBuilder::new(Arc::new(Schema::new(fields)))
        .with_batch_size(request.batch_size.max(1))
        .build_decoder()
        .map_err(|e| GraphArError::payload(request.name(), e))?;
    let reader = Reader {
        request: request.clone(),
        blocks,
        block: Bytes::new(),
        decoder,
        columns,
        row: 0,
        ended: false,
    };
    let batches = stream::try_unfold(reader, |mut reader| async move {
        Ok(reader.next().await?.map(|batch| (batch, reader)))
    });
    Ok(batches.boxed())
}

/// See [`super::outline`].
pub(super) async fn outline(request: &ChunkRequest) -> Result<Outline> {
    let decoder = ReaderBuilder::new(Arc::new(Schema::empty()))
        .build_decoder()
        .map_err(|e| GraphArError::payload(request.name(), e))?;
    let columns = ColumnSet::find(request, std::iter::empty())?;
    let blocks = Blocks::new(ChunkFile::open(request).await?);
    let mut reader = Reader {
        request: request.clone(),
        blocks,
        block: Bytes::new(),
        decoder,
        columns,
        row: 0,
        ended: false,
    };
    while let Some(batch) = reader.batch().await? {
        reader.row += batch.num_rows() as u64;
    }
    Ok(Outline {
        rows: reader.row,
        columns: None,
    })
}

/// Times are read as strings first: the rules for them are the same as in CSV.
fn text_type(declared: &DataType) -> DataType {
    match declared {
        DataType::Date32 | DataType::Timestamp(..) => DataType::Utf8View,
        other => other.clone(),
    }
}

struct Reader {
    request: ChunkRequest,
    blocks: Blocks,
    /// Bytes that the decoder has not taken yet.
    block: Bytes,
    decoder: Decoder,
    columns: ColumnSet,
    /// Number of the next row.
    row: u64,
    /// Whether the decoder was told that the text is at its end.
    ended: bool,
}

impl Reader {
    async fn next(&mut self) -> Result<Option<Decoded>> {
        let wanted = self.request.rows.clone();
        // Whether nothing follows is only worth reading for if all but the last rows were read.
        let stop = if wanted.end == self.request.chunk_rows {
            u64::MAX
        } else {
            wanted.end
        };
        while self.row < stop {
            let Some(batch) = self.batch().await? else {
                break;
            };
            let (first, end) = (self.row, self.row + batch.num_rows() as u64);
            self.row = end;
            if end > self.request.chunk_rows {
                return Err(row_count_error(&self.request, format!("{end} or more")));
            }
            let (from, to) = (wanted.start.clamp(first, end), wanted.end.clamp(first, end));
            if from < to {
                return self.slice(&batch, from - first, to - from, first).map(Some);
            }
        }
        if self.row < wanted.end || (stop == u64::MAX && self.row != self.request.chunk_rows) {
            return Err(row_count_error(&self.request, self.row.to_string()));
        }
        Ok(None)
    }

    /// The rows `skip..skip + count` of a batch that begins at row `first`.
    fn slice(&self, batch: &RecordBatch, skip: u64, count: u64, first: u64) -> Result<Decoded> {
        let index = |row: u64| {
            usize::try_from(row).map_err(|e| GraphArError::payload(self.request.name(), e))
        };
        let batch = batch.slice(index(skip)?, index(count)?);
        let mut arrays = batch.columns().to_vec();
        for (array, &position) in arrays.iter_mut().zip(self.columns.positions()) {
            if let Some((field, _)) = self.columns.located().find(|(_, at)| *at == position)
                && array.data_type() != field.data_type()
            {
                *array = times(array, field.data_type()).map_err(|(row, found)| {
                    let element = format!(
                        "column '{}', row {}",
                        field.name(),
                        first + skip + row as u64
                    );
                    let expected = if field.data_type() == &DataType::Date32 {
                        "date"
                    } else {
                        "timestamp"
                    };
                    GraphArError::corrupt(self.request.name(), element, expected, found)
                })?;
            }
        }
        Ok(self.columns.arrange(&arrays, batch.num_rows()))
    }

    /// The next batch of the decoder.
    async fn batch(&mut self) -> Result<Option<RecordBatch>> {
        let name = self.request.name();
        let failed = |e: ArrowError| GraphArError::payload(name.as_str(), e);
        loop {
            if self.block.is_empty() && !self.ended {
                match self.blocks.next(0).await? {
                    Some(block) => self.block = block,
                    None => self.ended = true,
                }
            }
            let taken = self.decoder.decode(&self.block).map_err(failed)?;
            self.block = self.block.slice(taken..);
            // Bytes that are left over mean a full batch; no bytes, the end of the text.
            if !self.block.is_empty() || self.ended {
                return self.decoder.flush().map_err(failed);
            }
        }
    }
}

/// Strings as dates or timestamps; the error is the row and the text of the first that is none.
fn times(array: &ArrayRef, to: &DataType) -> Result<ArrayRef, (usize, String)> {
    let Some(texts) = array.as_string_view_opt() else {
        return Ok(ArrayRef::clone(array));
    };
    let bad = |row: usize| (row, format!("{:?}", texts.value(row)));
    if to == &DataType::Date32 {
        let mut days = Date32Builder::with_capacity(texts.len());
        for (row, text) in texts.iter().enumerate() {
            let value = text.map(|text| time_text::date(text.as_bytes()).ok_or_else(|| bad(row)));
            days.append_option(value.transpose()?);
        }
        return Ok(Arc::new(days.finish()));
    }
    let mut millis = TimestampMillisecondBuilder::with_capacity(texts.len());
    for (row, text) in texts.iter().enumerate() {
        let value = text.map(|text| time_text::timestamp(text.as_bytes()).ok_or_else(|| bad(row)));
        millis.append_option(value.transpose()?);
    }
    Ok(Arc::new(millis.finish()))
}
