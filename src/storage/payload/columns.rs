//! Where the requested columns stand in a file, and what stands in for those it lacks.

use std::ops::Range;

use datafusion::arrow::array::{ArrayRef, new_null_array};
use datafusion::arrow::datatypes::{Field, FieldRef};
use datafusion::arrow::record_batch::RecordBatch;
use futures::{StreamExt, stream};

use super::checked::{Decoded, RawStream};
use super::{ChunkRequest, ColumnSource};
use crate::error::{GraphArError, Result};

/// The requested columns, found in a file.
#[derive(Debug, Clone)]
pub(super) struct ColumnSet {
    fields: Vec<FieldRef>,
    /// The positions to read, ascending, each once.
    positions: Vec<usize>,
    /// For each requested column its index in `positions`.
    slots: Vec<Option<usize>>,
}

impl ColumnSet {
    /// Looks for the columns among the names that the file has, in the file's order.
    pub(super) fn find<'a>(
        request: &ChunkRequest,
        names: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self> {
        let names: Vec<&str> = names.into_iter().collect();
        let mut found = Vec::with_capacity(request.columns.len());
        for column in &request.columns {
            let position = match &column.source {
                ColumnSource::Name(wanted) => names.iter().position(|name| name == wanted),
                ColumnSource::Position(at) => Some(*at).filter(|at| *at < names.len()),
            };
            if position.is_none() {
                absent(request, &column.field, &column.source, &names)?;
            }
            found.push(position);
        }
        let mut positions: Vec<usize> = found.iter().flatten().copied().collect();
        positions.sort_unstable();
        positions.dedup();
        let slots = found
            .iter()
            .map(|at| at.and_then(|at| positions.binary_search(&at).ok()))
            .collect();
        let fields = request
            .columns
            .iter()
            .map(|column| FieldRef::clone(&column.field))
            .collect();
        Ok(Self {
            fields,
            positions,
            slots,
        })
    }

    /// The positions to read, ascending, each once.
    pub(super) fn positions(&self) -> &[usize] {
        &self.positions
    }

    /// The requested fields that the file has, each with its position in the file.
    pub(super) fn located(&self) -> impl Iterator<Item = (&Field, usize)> {
        let slots = self.fields.iter().zip(&self.slots);
        slots.filter_map(|(field, slot)| slot.map(|slot| (field.as_ref(), self.positions[slot])))
    }

    /// Takes the columns read, which are those at [`positions`](Self::positions), into the
    /// order of the request.
    pub(super) fn arrange(&self, columns: &[ArrayRef], rows: usize) -> Decoded {
        let column = |(field, slot): (&FieldRef, &Option<usize>)| match slot
            .and_then(|slot| columns.get(slot))
        {
            Some(column) => ArrayRef::clone(column),
            None => new_null_array(field.data_type(), rows),
        };
        Decoded {
            columns: self.fields.iter().zip(&self.slots).map(column).collect(),
            rows,
        }
    }

    /// [`arrange`](Self::arrange) for a batch.
    pub(super) fn arrange_batch(&self, batch: &RecordBatch) -> Decoded {
        self.arrange(batch.columns(), batch.num_rows())
    }
}

/// Rows when none of the columns is in the file: nothing to decode.
pub(super) fn rows_of_nulls(request: &ChunkRequest, rows: Range<u64>) -> RawStream {
    let most = request.batch_size.max(1) as u64;
    let fields: Vec<FieldRef> = request
        .columns
        .iter()
        .map(|column| FieldRef::clone(&column.field))
        .collect();
    let batches = stream::iter(rows.clone().step_by(request.batch_size.max(1))).map(move |first| {
        // Fits: it is at most the batch size, which is a `usize`.
        let count = usize::try_from(most.min(rows.end - first)).unwrap_or(0);
        let columns = fields
            .iter()
            .map(|field| new_null_array(field.data_type(), count))
            .collect();
        Ok(Decoded {
            columns,
            rows: count,
        })
    });
    batches.boxed()
}

/// A column that the file lacks is null in every row, if it may be.
fn absent(
    request: &ChunkRequest,
    field: &Field,
    source: &ColumnSource,
    names: &[&str],
) -> Result<()> {
    let what = match source {
        ColumnSource::Name(name) => format!("column '{name}'"),
        ColumnSource::Position(at) => format!("column '{}' at position {at}", field.name()),
    };
    if field.is_nullable() {
        log::warn!("{}: {what} is missing; its values are null", request.path);
        return Ok(());
    }
    let found = format!("the columns {}", names.join(", "));
    Err(GraphArError::corrupt(
        request.name(),
        what,
        "to be there",
        found,
    ))
}
