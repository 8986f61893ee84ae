//! Label chunks: one BOOLEAN column a label, always Parquet, without an index column.

use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, AsArray, BooleanArray, ListArray, RecordBatch};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Field, FieldRef, Schema};

use super::columns::{bad_input, batch, is_string};
use crate::error::{GraphArError, Result};

/// Membership of every vertex in the declared labels, in their order; readers find the
/// columns by position. `first` is the number of the first row.
///
/// # Errors
/// If `labels` has another number of rows, is no list of strings, or names a label that is
/// not declared. A null list, and a null in one, stand for no label.
pub(super) fn label_columns(
    owner: &str,
    declared: &[String],
    labels: &ListArray,
    first: u64,
    rows: usize,
) -> Result<RecordBatch> {
    if labels.len() != rows {
        return Err(bad_input(
            owner,
            "labels",
            format!("{rows} rows"),
            labels.len().to_string(),
        ));
    }
    if !is_string(&labels.value_type()) {
        return Err(bad_input(
            owner,
            "labels",
            "lists of strings",
            labels.data_type().to_string(),
        ));
    }
    let names = cast(labels.values(), &DataType::LargeUtf8)
        .map_err(|e| GraphArError::payload(format!("rows of {owner}"), e))?;
    let names = names.as_string::<i64>();
    let mut columns = vec![vec![false; rows]; declared.len()];
    let offsets = labels.offsets();
    for row in (0..rows).filter(|row| labels.is_valid(*row)) {
        for item in offsets[row]..offsets[row + 1] {
            // Offsets of a list array are never negative.
            let item = usize::try_from(item).unwrap_or(0);
            if names.is_null(item) {
                continue;
            }
            let Some(label) = declared.iter().position(|label| label == names.value(item)) else {
                return Err(GraphArError::UnknownElement {
                    kind: format!("label of {owner}, row {},", first + row as u64),
                    name: names.value(item).to_owned(),
                    candidates: declared.to_vec(),
                });
            };
            columns[label][row] = true;
        }
    }
    let columns = columns
        .into_iter()
        .map(|column| Arc::new(BooleanArray::from(column)) as ArrayRef)
        .collect();
    batch(Arc::new(Schema::new(label_fields(declared))), columns, rows)
}

/// The columns of a label chunk.
pub(super) fn label_fields(declared: &[String]) -> Vec<FieldRef> {
    let field = |label: &String| Arc::new(Field::new(label, DataType::Boolean, false));
    declared.iter().map(field).collect()
}
