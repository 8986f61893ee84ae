//! ORC chunks: one stripe where possible, ZSTD.
//!
//! The ORC library's encoder is not trusted. Version 0.9 damages some runs of integers that
//! have outliers (the width of the outliers is compared with a rounded one), without an
//! error in optimised builds. So every chunk is read back before it is given away. Where that
//! shows a fault, stripes of fewer rows are tried, since the encoder starts afresh in each
//! stripe and cannot take the faulty way with three rows or less.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use bytes::Bytes;
use datafusion::arrow::array::{Array, AsArray, RecordBatch};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Field, Schema, TimeUnit, TimestampMillisecondType};
use orc_rust::compression::CompressionType;
use orc_rust::{ArrowReaderBuilder, ArrowWriterBuilder};

use super::plain_strings;
use crate::error::{GraphArError, Result};

/// Rows of a stripe that the encoder always gets right.
const SAFE_ROWS: usize = 3;

/// Encodes the rows. The encoder panics on types it does not know; they were refused before.
pub(super) fn encode(path: &str, batch: &RecordBatch) -> Result<Bytes> {
    check_timestamps(path, batch)?;
    let batch = plain_strings(path, batch)?;
    encode_with(&batch, &[batch.num_rows()])
        .or_else(|_| {
            let mut stripes = vec![];
            find_stripes(&batch, &mut stripes)?;
            encode_with(&batch, &stripes)
        })
        .map_err(|fault| GraphArError::payload(path, format!("cannot be written as orc: {fault}")))
}

/// Appends the lengths of consecutive stripes that read back right.
fn find_stripes(batch: &RecordBatch, stripes: &mut Vec<usize>) -> Result<(), String> {
    let rows = batch.num_rows();
    match encode_with(batch, &[rows]) {
        Ok(_) => stripes.push(rows),
        Err(fault) if rows <= SAFE_ROWS => return Err(fault),
        Err(_) => {
            let half = rows / 2;
            find_stripes(&batch.slice(0, half), stripes)?;
            find_stripes(&batch.slice(half, rows - half), stripes)?;
        }
    }
    Ok(())
}

/// The file with stripes of these lengths, if it reads back equal to the rows.
fn encode_with(batch: &RecordBatch, stripes: &[usize]) -> Result<Bytes, String> {
    catch_unwind(AssertUnwindSafe(|| {
        let bytes = write(batch, stripes)?;
        read_back(&bytes, batch)?;
        Ok(bytes)
    }))
    .unwrap_or_else(|_| Err("the encoder panicked".to_owned()))
}

fn write(batch: &RecordBatch, stripes: &[usize]) -> Result<Bytes, String> {
    let mut bytes = vec![];
    let mut writer = ArrowWriterBuilder::new(&mut bytes, batch.schema())
        .with_compression(CompressionType::Zstd)
        // Only the stripes asked for; a reader may treat their ends like those of row groups.
        .with_stripe_byte_size(usize::MAX)
        .try_build()
        .map_err(|e| e.to_string())?;
    let mut start = 0;
    for rows in stripes {
        writer
            .write(&batch.slice(start, *rows))
            .map_err(|e| e.to_string())?;
        writer.flush_stripe().map_err(|e| e.to_string())?;
        start += rows;
    }
    writer.close().map_err(|e| e.to_string())?;
    Ok(Bytes::from(bytes))
}

/// Compares a file with the rows it should hold.
fn read_back(bytes: &Bytes, expected: &RecordBatch) -> Result<(), String> {
    // Nanoseconds, the reader's choice, would end in the year 2262.
    let fields = expected.schema_ref().fields().iter().map(|field| {
        let data_type = match field.data_type() {
            DataType::Timestamp(..) => DataType::Timestamp(TimeUnit::Microsecond, None),
            DataType::LargeUtf8 => DataType::Utf8,
            other => other.clone(),
        };
        Field::new(field.name(), data_type, true)
    });
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    let reader = ArrowReaderBuilder::try_new(bytes.clone())
        .map_err(|e| e.to_string())?
        .with_schema(schema)
        .build();
    let mut start = 0;
    for batch in reader {
        let batch = batch.map_err(|e| e.to_string())?;
        let rows = batch.num_rows();
        if rows > expected.num_rows() - start {
            return Err("more rows than given".to_owned());
        }
        for (i, field) in expected.schema_ref().fields().iter().enumerate() {
            let found = cast(batch.column(i), field.data_type()).map_err(|e| e.to_string())?;
            if found.to_data() != expected.column(i).slice(start, rows).to_data() {
                return Err(format!("column '{}' reads back differently", field.name()));
            }
        }
        start += rows;
    }
    if start == expected.num_rows() {
        Ok(())
    } else {
        Err("fewer rows than given".to_owned())
    }
}

/// ORC stores seconds rounded towards zero beside a fraction without a sign, so that the
/// fractions of the last second before 1970 look like those of the first one after it.
fn check_timestamps(path: &str, batch: &RecordBatch) -> Result<()> {
    for (field, column) in batch.schema_ref().fields().iter().zip(batch.columns()) {
        if field.data_type() != &DataType::Timestamp(TimeUnit::Millisecond, None) {
            continue;
        }
        let times = column.as_primitive::<TimestampMillisecondType>();
        let lost = |row: &usize| times.is_valid(*row) && (-999..0).contains(&times.value(*row));
        if let Some(row) = (0..times.len()).find(lost) {
            return Err(GraphArError::Unsupported {
                path: path.to_owned(),
                feature: format!(
                    "column '{}', row {row}: {} ms, inside the last second before 1970, in an orc file",
                    field.name(),
                    times.value(row)
                ),
                hint: ": use another file type".to_owned(),
            });
        }
    }
    Ok(())
}
