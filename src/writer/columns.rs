//! The columns of property groups, found in the caller's rows and checked against the info.

use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, RecordBatch, RecordBatchOptions};
use datafusion::arrow::compute::take;
use datafusion::arrow::datatypes::{DataType, Field, FieldRef, Schema};

use super::payload::check_columns;
use crate::error::{GraphArError, Result};
use crate::format::{Property, PropertyGroup};

/// The columns of one property group, in file order.
pub(super) struct GroupColumns<'a> {
    /// The group.
    pub(super) group: &'a PropertyGroup,
    fields: Vec<FieldRef>,
    columns: Vec<ArrayRef>,
}

impl GroupColumns<'_> {
    /// `len` rows from `start`, behind the columns of `first`.
    pub(super) fn slice(
        &self,
        first: Option<(FieldRef, ArrayRef)>,
        start: usize,
        len: usize,
    ) -> Result<RecordBatch> {
        let (mut fields, mut columns): (Vec<_>, Vec<_>) = first.into_iter().unzip();
        fields.extend(self.fields.iter().map(Arc::clone));
        columns.extend(self.columns.iter().map(|column| column.slice(start, len)));
        batch(fields, columns, len)
    }

    /// The rows that `rows` names, in its order.
    pub(super) fn take(&self, rows: &dyn Array) -> Result<RecordBatch> {
        let columns = self
            .columns
            .iter()
            .map(|column| {
                take(column, rows, None).map_err(|e| GraphArError::payload(self.group.folder(), e))
            })
            .collect::<Result<_>>()?;
        batch(self.fields.clone(), columns, rows.len())
    }
}

/// A batch of checked columns.
pub(super) fn batch(
    fields: Vec<FieldRef>,
    columns: Vec<ArrayRef>,
    rows: usize,
) -> Result<RecordBatch> {
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), columns, &options)
        .map_err(|e| GraphArError::payload("rows in memory", e))
}

/// Finds the columns of all groups by property name. Columns that no property names are
/// left alone. `info` is the name of the info file, `owner` what it declares.
///
/// # Errors
/// If a group has no property, a property has no column, or two; if a column's type is not
/// the declared one or the group's file type cannot hold it; if a column has a null and its
/// property allows none.
pub(super) fn select<'a>(
    info: &str,
    owner: &str,
    groups: &'a [PropertyGroup],
    rows: &RecordBatch,
) -> Result<Vec<GroupColumns<'a>>> {
    let mut out = Vec::with_capacity(groups.len());
    for (i, group) in groups.iter().enumerate() {
        if group.properties.is_empty() {
            return Err(GraphArError::Metadata {
                path: info.to_owned(),
                element: format!("property_groups[{i}].properties"),
                expected: "at least one property".to_owned(),
                found: "none".to_owned(),
            });
        }
        let mut fields = vec![];
        let mut columns = vec![];
        for property in &group.properties {
            let column = find(owner, property, rows)?;
            let nullable = property.is_nullable && !property.is_primary;
            if !nullable && column.null_count() > 0 {
                let row = (0..column.len())
                    .find(|row| column.is_null(*row))
                    .unwrap_or(0);
                return Err(bad_input(
                    owner,
                    format!("column '{}', row {row}", property.name),
                    "a value, since the property is not nullable",
                    "null",
                ));
            }
            fields.push(Arc::new(Field::new(
                &property.name,
                column.data_type().clone(),
                nullable,
            )));
            columns.push(column);
        }
        check_columns(group.file_type, info, &Schema::new(fields.clone()))?;
        out.push(GroupColumns {
            group,
            fields,
            columns,
        });
    }
    Ok(out)
}

fn find(owner: &str, property: &Property, rows: &RecordBatch) -> Result<ArrayRef> {
    let schema = rows.schema_ref();
    let mut found = schema
        .fields()
        .iter()
        .zip(rows.columns())
        .filter(|(field, _)| field.name() == &property.name);
    let Some((_, column)) = found.next() else {
        return Err(GraphArError::UnknownElement {
            kind: format!("column of the rows of {owner}"),
            name: property.name.clone(),
            candidates: schema
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
    if !same_type(column.data_type(), &declared) {
        return Err(bad_input(
            owner,
            format!("column '{}'", property.name),
            declared.to_string(),
            column.data_type().to_string(),
        ));
    }
    Ok(Arc::clone(column))
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
