//! SQL and expected text for a property.

use serde_json::Value;

use super::SuiteError;
use super::model::{Checksum, Property};
use super::text::{Suite, quoted};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scalar {
    Bool,
    Integer,
    Float,
    Text,
    Date,
    Timestamp,
}

impl Property {
    fn scalar(&self) -> Result<Scalar, SuiteError> {
        let name = self
            .data_type
            .strip_prefix("list<")
            .and_then(|name| name.strip_suffix('>'));
        match name.unwrap_or(&self.data_type) {
            "bool" => Ok(Scalar::Bool),
            "int32" | "int64" => Ok(Scalar::Integer),
            "float" | "double" => Ok(Scalar::Float),
            "string" => Ok(Scalar::Text),
            "date" => Ok(Scalar::Date),
            "timestamp" => Ok(Scalar::Timestamp),
            other => Err(SuiteError::new(
                &self.name,
                format!("unknown data type {other}"),
            )),
        }
    }

    fn is_list(&self) -> bool {
        self.data_type.starts_with("list<")
            || self
                .cardinality
                .as_deref()
                .is_some_and(|word| word != "single")
    }

    /// The character of the column as it is stored in the table.
    pub(super) fn column_type(&self) -> Result<char, SuiteError> {
        if self.is_list() {
            return Ok('?');
        }
        Ok(match self.scalar()? {
            Scalar::Bool => 'B',
            Scalar::Integer => 'I',
            Scalar::Float => 'R',
            Scalar::Text => 'T',
            Scalar::Date => 'D',
            Scalar::Timestamp => 'P',
        })
    }

    /// Expression and column type for showing a value: dates as days, timestamps as
    /// milliseconds, since that is how the reference values are written.
    pub(super) fn shown(&self) -> Result<(String, char), SuiteError> {
        let column = quoted(&self.name);
        if self.is_list() {
            return Ok((column, '?'));
        }
        Ok(match self.scalar()? {
            Scalar::Date => (format!("arrow_cast({column}, 'Int32')"), 'I'),
            Scalar::Timestamp => (format!("arrow_cast({column}, 'Int64')"), 'I'),
            _ => (column, self.column_type()?),
        })
    }

    /// Writes the queries for nulls and the checksum over `rows` rows of `table`.
    pub(super) fn check(
        &self,
        suite: &mut Suite,
        table: &str,
        rows: u64,
    ) -> Result<(), SuiteError> {
        let missing = || SuiteError::new(&self.name, "no null count or checksum".to_owned());
        let nulls = self.null_count.ok_or_else(missing)?;
        let checksum = self.checksum.as_ref().ok_or_else(missing)?;
        let column = quoted(&self.name);
        match checksum {
            Checksum::List {
                items,
                null_items,
                item_sum,
            } => {
                suite.query(
                    "I",
                    &format!("SELECT count(*) - count({column}) FROM {table}"),
                    &[vec![nulls.to_string()]],
                );
                let (sum, character) = self.sum("item")?;
                let expected = sum_text(item_sum, items - null_items)?;
                suite.query(
                    &format!("II{character}"),
                    &format!(
                        "SELECT count(*), count(*) - count(item), {sum}\n\
                         FROM (SELECT unnest({column}) AS item FROM {table})"
                    ),
                    &[vec![items.to_string(), null_items.to_string(), expected]],
                );
            }
            Checksum::Scalar(value) => {
                let (sum, character) = self.sum(&column)?;
                suite.query(
                    &format!("I{character}"),
                    &format!("SELECT count(*) - count({column}), {sum} FROM {table}"),
                    &[vec![nulls.to_string(), sum_text(value, rows - nulls)?]],
                );
            }
        }
        Ok(())
    }

    /// The checksum of an expression, as the reference values define it.
    fn sum(&self, expression: &str) -> Result<(String, char), SuiteError> {
        Ok(match self.scalar()? {
            Scalar::Bool => (
                format!("sum(CASE WHEN {expression} THEN 1 ELSE 0 END)"),
                'I',
            ),
            Scalar::Integer => (format!("sum({expression})"), 'I'),
            // The order of the rows changes the last digits of the sum.
            Scalar::Float => (format!("round(sum({expression}), 6)"), 'R'),
            Scalar::Text => (format!("sum(octet_length({expression}))"), 'I'),
            Scalar::Date => (format!("sum(arrow_cast({expression}, 'Int32'))"), 'I'),
            Scalar::Timestamp => (format!("sum(arrow_cast({expression}, 'Int64'))"), 'I'),
        })
    }
}

/// SQL has no sum of nothing, the reference values say 0.
fn sum_text(value: &Value, values: u64) -> Result<String, SuiteError> {
    if values == 0 {
        Ok("NULL".to_owned())
    } else {
        value_text(value)
    }
}

/// A reference value as the runner writes it.
pub(super) fn value_text(value: &Value) -> Result<String, SuiteError> {
    Ok(match value {
        Value::Null => "NULL".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(integer), _) => integer.to_string(),
            (None, Some(float)) => float.to_string(),
            (None, None) => return Err(SuiteError::new("number", number.to_string())),
        },
        Value::String(text) if text.is_empty() => "(empty)".to_owned(),
        Value::String(text) => text
            .replace('\n', "\\n")
            .replace('\r', "\\r")
            .replace('\t', "\\t"),
        Value::Array(items) => {
            let items = items
                .iter()
                .map(value_text)
                .collect::<Result<Vec<_>, _>>()?;
            format!("[{}]", items.join(", "))
        }
        Value::Object(_) => return Err(SuiteError::new("value", "unexpected object".to_owned())),
    })
}
