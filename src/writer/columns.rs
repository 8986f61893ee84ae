//! The columns of property groups, found in the caller's rows and checked against the info.

use std::ops::Range;
use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, RecordBatch, RecordBatchOptions};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Field, FieldRef, Schema, SchemaRef};

use super::payload::check_columns;
use crate::error::{GraphArError, Result};
use crate::format::{Property, PropertyGroup};

/// Where the columns of all property groups stand in the rows of one schema.
///
/// [`rows`](Self::rows) brings them into the order of the groups, one group behind the other.
#[derive(Debug)]
pub(super) struct Selection {
    owner: String,
    positions: Vec<usize>,
    /// The columns in the order of the groups.
    schema: SchemaRef,
    /// The columns of each group.
    groups: Vec<Range<usize>>,
}

impl Selection {
    /// Finds the columns of all groups by property name. Columns that no property names are
    /// left alone. `info` is the name of the info file, `owner` what it declares.
    ///
    /// # Errors
    /// If a group has no property, a property has no column, or two; if a column's type is not
    /// the declared one or the group's file type cannot hold it.
    pub(super) fn try_new(
        info: &str,
        owner: &str,
        groups: &[PropertyGroup],
        rows: &Schema,
    ) -> Result<Self> {
        let mut positions = vec![];
        let mut fields: Vec<FieldRef> = vec![];
        let mut ranges = vec![];
        for (i, group) in groups.iter().enumerate() {
            if group.properties.is_empty() {
                return Err(GraphArError::Metadata {
                    path: info.to_owned(),
                    element: format!("property_groups[{i}].properties"),
                    expected: "at least one property".to_owned(),
                    found: "none".to_owned(),
                });
            }
            let first = fields.len();
            for property in &group.properties {
                let position = find(owner, property, rows)?;
                let data_type = rows.field(position).data_type().clone();
                let nullable = property.is_nullable && !property.is_primary;
                fields.push(Arc::new(Field::new(&property.name, data_type, nullable)));
                positions.push(position);
            }
            check_columns(
                group.file_type,
                info,
                &Schema::new(fields[first..].to_vec()),
            )?;
            ranges.push(first..fields.len());
        }
        Ok(Self {
            owner: owner.to_owned(),
            positions,
            schema: Arc::new(Schema::new(fields)),
            groups: ranges,
        })
    }

    /// The columns in the order of the groups.
    pub(super) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The selected columns of `rows`, of which `first` is the number of the first.
    ///
    /// # Errors
    /// If a column has a null and its property allows none.
    pub(super) fn rows(&self, rows: &RecordBatch, first: u64) -> Result<RecordBatch> {
        let mut columns = Vec::with_capacity(self.positions.len());
        for (position, field) in self.positions.iter().zip(self.schema.fields()) {
            let column = rows.column(*position);
            if !field.is_nullable() && column.null_count() > 0 {
                let row = (0..column.len()).find(|row| column.is_null(*row));
                return Err(bad_input(
                    &self.owner,
                    format!(
                        "column '{}', row {}",
                        field.name(),
                        first + row.unwrap_or(0) as u64
                    ),
                    "a value, since the property is not nullable",
                    "null",
                ));
            }
            columns.push(Arc::clone(column));
        }
        batch(Arc::clone(&self.schema), columns, rows.num_rows())
    }

    /// The columns of one group among `rows` as [`rows`](Self::rows) gave them, behind those of `first`.
    pub(super) fn group(
        &self,
        group: usize,
        first: Option<(FieldRef, ArrayRef)>,
        rows: &RecordBatch,
    ) -> Result<RecordBatch> {
        let columns = self.groups[group].clone();
        let (mut fields, mut arrays): (Vec<_>, Vec<_>) = first.into_iter().unzip();
        fields.extend(self.schema.fields()[columns.clone()].iter().map(Arc::clone));
        arrays.extend_from_slice(&rows.columns()[columns]);
        batch(Arc::new(Schema::new(fields)), arrays, rows.num_rows())
    }
}

/// A batch of checked columns.
pub(super) fn batch(schema: SchemaRef, columns: Vec<ArrayRef>, rows: usize) -> Result<RecordBatch> {
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(schema, columns, &options)
        .map_err(|e| GraphArError::payload("rows in memory", e))
}

/// Stored columns in the types of `schema`, which holds the same values.
pub(super) fn batch_as(
    schema: &SchemaRef,
    columns: &[ArrayRef],
    rows: usize,
) -> Result<RecordBatch> {
    let columns = columns.iter().zip(schema.fields()).map(|(column, field)| {
        cast(column, field.data_type()).map_err(|e| GraphArError::payload(field.name(), e))
    });
    batch(Arc::clone(schema), columns.collect::<Result<_>>()?, rows)
}

fn find(owner: &str, property: &Property, rows: &Schema) -> Result<usize> {
    let mut found = rows
        .fields()
        .iter()
        .enumerate()
        .filter(|(_, field)| field.name() == &property.name);
    let Some((position, field)) = found.next() else {
        return Err(GraphArError::UnknownElement {
            kind: format!("column of the rows of {owner}"),
            name: property.name.clone(),
            candidates: rows
                .fields()
                .iter()
                .map(|field| field.name().clone())
                .collect(),
        });
    };
    if found.next().is_some() {
        return Err(bad_input(
            owner,
            format!("column '{}'", property.name),
            "one column of this name",
            "several",
        ));
    }
    let declared = property.arrow_type();
    if !same_type(field.data_type(), &declared) {
        return Err(bad_input(
            owner,
            format!("column '{}'", property.name),
            declared.to_string(),
            field.data_type().to_string(),
        ));
    }
    Ok(position)
}

/// Whether values of the two types are stored alike: equal but for the layout of strings and
/// the name and nullability of list items.
fn same_type(given: &DataType, declared: &DataType) -> bool {
    match (given, declared) {
        (DataType::List(given), DataType::List(declared)) => {
            same_type(given.data_type(), declared.data_type())
        }
        _ => given == declared || (is_string(given) && is_string(declared)),
    }
}

/// Whether the type is one of the layouts of strings.
pub(super) fn is_string(data_type: &DataType) -> bool {
    matches!(
        data_type,
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View
    )
}

/// An error about rows that a caller gave.
pub(super) fn bad_input(
    owner: &str,
    element: impl Into<String>,
    expected: impl Into<String>,
    found: impl Into<String>,
) -> GraphArError {
    GraphArError::corrupt(format!("rows of {owner}"), element, expected, found)
}
