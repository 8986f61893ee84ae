//! Arrow IPC, as a file or as a stream.
//!
//! The whole file is in memory while its batches are decoded: uncompressed columns are then
//! slices of it. The lengths in it are checked before the decoder, which trusts some of
//! them, sees them.

mod block;

use std::sync::Arc;

use datafusion::arrow::array::ArrayRef;
use datafusion::arrow::buffer::Buffer;
use datafusion::arrow::datatypes::{Field, Schema};
use datafusion::arrow::error::ArrowError;
use datafusion::arrow::ipc::reader::FileDecoder;
use futures::{StreamExt, stream};

use self::block::{BlockKind, Layout, MessageBlock};
use super::ChunkRequest;
use super::checked::{Decoded, RawStream, row_count_error};
use super::columns::{ColumnSet, rows_of_nulls};
use super::file::ChunkFile;
use super::outline::{Outline, StoredColumn};
use crate::error::{GraphArError, Result};

/// See [`super::checked::RawStream`].
pub(super) async fn open(request: &ChunkRequest) -> Result<RawStream> {
    let file = ChunkFile::open(request).await?;
    let bytes = Buffer::from(file.range(0..file.size()).await?);
    let corrupt = |found: String| {
        GraphArError::corrupt(request.name(), "Arrow IPC messages", "sound lengths", found)
    };
    let Layout {
        schema,
        version,
        blocks,
    } = Layout::read(&bytes).map_err(corrupt)?;

    let rows = blocks
        .iter()
        .try_fold(0_u64, |sum, block| sum.checked_add(block.rows));
    if rows != Some(request.chunk_rows) {
        return Err(row_count_error(
            request,
            rows.map_or("too many".to_owned(), |rows| rows.to_string()),
        ));
    }
    let columns = ColumnSet::find(
        request,
        schema.fields().iter().map(|field| field.name().as_str()),
    )?;
    if columns.positions().is_empty() || request.rows.is_empty() {
        return Ok(rows_of_nulls(request, request.rows.clone()));
    }
    // A null where the file promises none is for `cast` to judge, not for the decoder.
    let fields: Vec<_> = schema
        .fields()
        .iter()
        .map(|f| Field::clone(f).with_nullable(true))
        .collect();
    let schema = Arc::new(Schema::new(fields));
    let decoder = FileDecoder::new(schema, version).with_projection(columns.positions().to_vec());

    let reader = Reader {
        request: request.clone(),
        bytes,
        decoder,
        blocks: blocks.into_iter(),
        columns,
        row: 0,
        batch: None,
    };
    let name = request.name();
    let batches = stream::try_unfold((reader, name), |(mut reader, name)| async move {
        let batch = reader
            .next()
            .map_err(|e| GraphArError::payload(name.as_str(), e))?;
        Ok(batch.map(|batch| (batch, (reader, name))))
    });
    Ok(batches.boxed())
}

/// See [`super::outline`].
pub(super) async fn outline(request: &ChunkRequest) -> Result<Outline> {
    let file = ChunkFile::open(request).await?;
    let bytes = file.range(0..file.size()).await?;
    let corrupt = |found: String| {
        GraphArError::corrupt(request.name(), "Arrow IPC messages", "sound lengths", found)
    };
    let Layout { schema, blocks, .. } = Layout::read(&bytes).map_err(corrupt)?;
    let rows = blocks
        .iter()
        .try_fold(0_u64, |sum, block| sum.checked_add(block.rows));
    let rows = rows.ok_or_else(|| corrupt("more rows than 64 bits can count".to_owned()))?;
    let columns = schema.fields().iter().map(|field| StoredColumn {
        name: field.name().clone(),
        data_type: Some(field.data_type().clone()),
    });
    Ok(Outline {
        rows,
        columns: Some(columns.collect()),
    })
}

struct Reader {
    request: ChunkRequest,
    bytes: Buffer,
    decoder: FileDecoder,
    blocks: std::vec::IntoIter<MessageBlock>,
    columns: ColumnSet,
    /// Row of the file that the next block begins with.
    row: u64,
    /// What is left of a decoded block.
    batch: Option<(Vec<ArrayRef>, usize)>,
}

impl Reader {
    fn next(&mut self) -> Result<Option<Decoded>, ArrowError> {
        let most = self.request.batch_size.max(1);
        loop {
            if let Some((columns, rows)) = self.batch.take() {
                let count = rows.min(most);
                if count < rows {
                    let rest = columns
                        .iter()
                        .map(|column| column.slice(count, rows - count))
                        .collect();
                    self.batch = Some((rest, rows - count));
                }
                let columns: Vec<_> = columns
                    .iter()
                    .map(|column| column.slice(0, count))
                    .collect();
                return Ok(Some(self.columns.arrange(&columns, count)));
            }
            if !self.advance()? {
                return Ok(None);
            }
        }
    }

    /// Decodes the next block of wanted rows; false if there is none.
    fn advance(&mut self) -> Result<bool, ArrowError> {
        let wanted = &self.request.rows;
        for block in self.blocks.by_ref() {
            if self.row >= wanted.end {
                return Ok(false);
            }
            let bytes = self.bytes.slice_with_length(block.start, block.length);
            if block.kind == BlockKind::Dictionary {
                self.decoder.read_dictionary(&block.block, &bytes)?;
                continue;
            }
            let (first, end) = (self.row, self.row + block.rows);
            self.row = end;
            if end <= wanted.start || block.rows == 0 {
                continue;
            }
            if let Some(batch) = self.decoder.read_record_batch(&block.block, &bytes)? {
                let from = wanted.start.saturating_sub(first).min(block.rows);
                let to = (wanted.end - first).min(block.rows);
                let index = |row: u64| {
                    usize::try_from(row).map_err(|e| ArrowError::IpcError(e.to_string()))
                };
                let batch = batch.slice(index(from)?, index(to - from)?);
                self.batch = Some((batch.columns().to_vec(), batch.num_rows()));
                return Ok(true);
            }
        }
        Ok(false)
    }
}
