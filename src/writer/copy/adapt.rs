//! From the types of SQL to those of the format, without losing a value.

use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, AsArray, RecordBatch, RecordBatchOptions};
use datafusion::arrow::compute::{CastOptions, cast_with_options, kernels::cmp::distinct};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef, Schema, SchemaRef, TimeUnit};
use datafusion::error::Result;

use crate::error::GraphArError;
use crate::format::{Cardinality, Property, PropertyType, ScalarType};
use crate::writer::columns::is_string;

/// The property that holds a column's values.
///
/// Small and unsigned integers become the next larger signed ones (64-bit unsigned ones as long as they
/// fit), times of day have no type, and neither have decimals: the message says what to cast them to.
///
/// # Errors
/// If no property type holds the column's type.
pub fn property_of(field: &Field) -> Result<Property, GraphArError> {
    let list = |item: &FieldRef| scalar(field.name(), item.data_type());
    let (data_type, cardinality) = match field.data_type() {
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::ListView(item)
        | DataType::LargeListView(item)
        | DataType::FixedSizeList(item, _) => (list(item)?, Cardinality::List),
        other => (scalar(field.name(), other)?, Cardinality::Single),
    };
    Ok(Property {
        name: field.name().clone(),
        data_type: PropertyType::Scalar(data_type),
        is_primary: false,
        is_nullable: field.is_nullable(),
        cardinality,
    })
}

fn scalar(name: &str, data_type: &DataType) -> Result<ScalarType, GraphArError> {
    let hint = match data_type {
        DataType::Boolean => return Ok(ScalarType::Bool),
        DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::UInt8 | DataType::UInt16 => {
            return Ok(ScalarType::Int32);
        }
        DataType::Int64 | DataType::UInt32 | DataType::UInt64 => return Ok(ScalarType::Int64),
        DataType::Float16 | DataType::Float32 => return Ok(ScalarType::Float),
        DataType::Float64 => return Ok(ScalarType::Double),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Null => {
            return Ok(ScalarType::String);
        }
        DataType::Date32 | DataType::Date64 => return Ok(ScalarType::Date),
        DataType::Timestamp(..) => return Ok(ScalarType::Timestamp),
        DataType::Dictionary(_, values) => return scalar(name, values),
        DataType::Decimal32(..)
        | DataType::Decimal64(..)
        | DataType::Decimal128(..)
        | DataType::Decimal256(..) => "; cast it to DOUBLE, or to VARCHAR to keep every digit",
        DataType::Time32(_) | DataType::Time64(_) | DataType::Interval(_) => "; cast it to VARCHAR",
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => {
            "; write it as text, for example with encode(column, 'base64')"
        }
        _ => "",
    };
    Err(GraphArError::Unsupported {
        path: format!("column '{name}'"),
        feature: format!("a property of type {data_type}"),
        hint: hint.to_owned(),
    })
}

/// Brings rows into the types of properties.
#[derive(Debug)]
pub struct Adapter {
    schema: SchemaRef,
}

impl Adapter {
    /// Rows of the schema `from` in these types; columns that `to` gives no type stay as they are.
    pub fn new(from: &Schema, to: impl Fn(&str) -> Option<DataType>) -> Self {
        let fields = from.fields().iter().map(|field| match to(field.name()) {
            // Layouts of strings are stored alike.
            Some(wanted) if is_string(field.data_type()) && is_string(&wanted) => Arc::clone(field),
            Some(wanted) => Arc::new(Field::new(field.name(), wanted, field.is_nullable())),
            None => Arc::clone(field),
        });
        Self {
            schema: Arc::new(Schema::new(fields.collect::<Vec<_>>())),
        }
    }

    /// The schema of the adapted rows.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Adapts rows, of which `first` is the number of the first.
    ///
    /// # Errors
    /// If a value has no equal in the other type: too large, or a time between two milliseconds.
    pub fn adapt(&self, rows: &RecordBatch, first: u64) -> Result<RecordBatch> {
        let mut columns: Vec<ArrayRef> = Vec::with_capacity(rows.num_columns());
        for (column, field) in rows.columns().iter().zip(self.schema.fields()) {
            columns.push(convert(column, field, first)?);
        }
        let options = RecordBatchOptions::new().with_row_count(Some(rows.num_rows()));
        let schema = Arc::clone(&self.schema);
        Ok(RecordBatch::try_new_with_options(
            schema, columns, &options,
        )?)
    }
}

fn convert(column: &ArrayRef, field: &Field, first: u64) -> Result<ArrayRef> {
    let wanted = field.data_type();
    if column.data_type() == wanted {
        return Ok(Arc::clone(column));
    }
    let options = CastOptions {
        safe: false,
        ..CastOptions::default()
    };
    let cast = cast_with_options(column, wanted, &options).map_err(|e| {
        GraphArError::corrupt(
            "rows",
            format!("column '{}'", field.name()),
            format!("values that fit {wanted}"),
            e.to_string(),
        )
    })?;
    if let Some(row) = changed(column, &cast)? {
        let element = format!("column '{}', row {}", field.name(), first + row as u64);
        let expected = "a time in whole milliseconds, or a whole day for a date";
        let found = column.data_type().to_string();
        return Err(GraphArError::corrupt("rows", element, expected, found).into());
    }
    Ok(cast)
}

/// The first value that was cut off; only times and dates can be.
fn changed(before: &ArrayRef, after: &ArrayRef) -> Result<Option<usize>> {
    let finer = |unit: &TimeUnit| matches!(unit, TimeUnit::Microsecond | TimeUnit::Nanosecond);
    let (before, after): (ArrayRef, ArrayRef) = match (before.data_type(), after.data_type()) {
        (DataType::Timestamp(unit, _), _) if finer(unit) => (Arc::clone(before), Arc::clone(after)),
        (DataType::Date64, _) => (Arc::clone(before), Arc::clone(after)),
        (DataType::List(_), DataType::List(_)) => (
            Arc::clone(before.as_list::<i32>().values()),
            Arc::clone(after.as_list::<i32>().values()),
        ),
        _ => return Ok(None),
    };
    let times = matches!(
        before.data_type(),
        DataType::Timestamp(..) | DataType::Date64
    );
    if !times {
        return Ok(None);
    }
    let back = cast_with_options(&after, before.data_type(), &CastOptions::default())?;
    let differ = distinct(&before, &back)?;
    Ok(differ.values().set_indices().next())
}
