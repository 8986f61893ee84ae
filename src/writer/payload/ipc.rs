//! Arrow IPC chunks: the file format, uncompressed.

use bytes::Bytes;
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::error::ArrowError;
use datafusion::arrow::ipc::writer::FileWriter;

use super::plain_strings;
use crate::error::{GraphArError, Result};

/// Encodes the rows as one record batch. Strings are plain, since not every Arrow
/// implementation reads views.
pub(super) fn encode(path: &str, batch: &RecordBatch) -> Result<Bytes> {
    let batch = plain_strings(path, batch)?;
    let write = || {
        let mut bytes = vec![];
        let mut writer = FileWriter::try_new(&mut bytes, batch.schema_ref())?;
        writer.write(&batch)?;
        writer.finish()?;
        drop(writer);
        Ok::<_, ArrowError>(bytes)
    };
    write()
        .map(Bytes::from)
        .map_err(|e| GraphArError::payload(path, e))
}
