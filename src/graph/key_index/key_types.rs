//! The types of key columns, and the forms in which their values are kept.

use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, AsArray, Int64Array, UInt64Array};
use datafusion::arrow::buffer::NullBuffer;
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Int64Type, UInt64Type};
use datafusion::arrow::row::{RowConverter, SortField};
use datafusion::arrow::util::display::array_value_to_string;

use super::KeyError;
use super::key_batch::{KeyBatch, KeyValues};
use super::key_values::{kept_type, one_form};

/// The types of the columns of a key.
#[derive(Debug)]
pub(super) struct KeyTypes {
    columns: Vec<KeyType>,
    form: Form,
}

#[derive(Debug)]
struct KeyType {
    /// The type that was asked for.
    given: DataType,
    /// The type to which the columns are brought: one for all that may be compared.
    kept: DataType,
}

/// What the columns of a key become.
#[derive(Debug)]
pub(super) enum Form {
    /// One column of integers, or of what is kept as such.
    Integers { signed: bool },
    /// One column of strings of text or bytes.
    Bytes,
    /// Anything else.
    Rows(RowConverter),
}

impl KeyTypes {
    /// Fails if a type cannot be that of a key, or there is none.
    pub fn try_new(types: &[DataType]) -> Result<Self, KeyError> {
        let mut columns = vec![];
        for (column, given) in types.iter().enumerate() {
            let kept = kept_type(given).ok_or_else(|| KeyError::Unsupported {
                column,
                data_type: given.clone(),
            })?;
            columns.push(KeyType {
                given: given.clone(),
                kept,
            });
        }
        let form = match columns.as_slice() {
            [] => {
                return Err(KeyError::ColumnCount {
                    expected: 1,
                    found: 0,
                });
            }
            [only] => match only.kept {
                DataType::UInt64 => Form::Integers { signed: false },
                DataType::Int64
                | DataType::Date32
                | DataType::Date64
                | DataType::Timestamp(_, _) => Form::Integers { signed: true },
                DataType::Utf8View | DataType::BinaryView => Form::Bytes,
                _ => rows(&columns)?,
            },
            _ => rows(&columns)?,
        };
        Ok(Self { columns, form })
    }

    /// What the columns become.
    pub fn form(&self) -> &Form {
        &self.form
    }

    /// Brings columns into the form of the keys.
    pub fn read(&self, columns: &[ArrayRef]) -> Result<KeyBatch, KeyError> {
        if columns.len() != self.columns.len() {
            return Err(KeyError::ColumnCount {
                expected: self.columns.len(),
                found: columns.len(),
            });
        }
        let rows = columns.first().map_or(0, |column| column.len());
        let mut arrays = Vec::with_capacity(columns.len());
        let (mut nulls, mut fitting, mut misfit) = (None, None, None);
        for (number, (array, key)) in columns.iter().zip(&self.columns).enumerate() {
            if array.len() != rows {
                return Err(KeyError::ColumnLength {
                    column: number,
                    expected: rows,
                    found: array.len(),
                });
            }
            let found = array.data_type();
            let comparable = kept_type(found).is_some_and(|kept| {
                kept == key.kept || (kept.is_integer() && key.kept.is_integer())
            });
            if !comparable {
                return Err(self.misfit(number, found));
            }
            let before = array.logical_nulls();
            let array = one_form(array, &key.kept)?;
            // Integers beyond the range of the type become null.
            let count = before.as_ref().map_or(0, NullBuffer::null_count);
            if array.null_count() > count && misfit.is_none() {
                misfit = Some(number);
            }
            nulls = NullBuffer::union(nulls.as_ref(), before.as_ref());
            fitting = NullBuffer::union(fitting.as_ref(), array.nulls());
            arrays.push(array);
        }
        Ok(KeyBatch {
            rows,
            values: self.values(&arrays)?,
            nulls: nulls.filter(|nulls| nulls.null_count() > 0),
            fitting: fitting.filter(|fitting| fitting.null_count() > 0),
            misfit,
        })
    }

    /// The error of a column that has another type than this.
    pub fn misfit(&self, column: usize, found: &DataType) -> KeyError {
        let expected = self.columns.get(column).map(|key| key.given.clone());
        KeyError::ColumnType {
            column,
            expected: expected.unwrap_or(DataType::Null),
            found: found.clone(),
        }
    }

    fn values(&self, arrays: &[ArrayRef]) -> Result<KeyValues, KeyError> {
        Ok(match (&self.form, arrays) {
            (Form::Integers { signed: false }, [only]) => {
                KeyValues::Integers(only.as_primitive::<UInt64Type>().values().clone())
            }
            (Form::Integers { signed: true }, [only]) => {
                let array = cast(only, &DataType::Int64)?;
                let values = array.as_primitive::<Int64Type>().values().inner().clone();
                KeyValues::Integers(values.into())
            }
            (Form::Bytes, [only]) => match only.as_string_view_opt() {
                Some(text) => KeyValues::Bytes(text.clone().to_binary_view()),
                None => KeyValues::Bytes(only.as_binary_view().clone()),
            },
            (Form::Rows(converter), _) => KeyValues::Rows(converter.convert_columns(arrays)?),
            // One column each, by construction.
            _ => KeyValues::Integers(vec![].into()),
        })
    }

    /// A key that is kept as an integer, as text.
    pub fn integer_text(&self, key: u64) -> String {
        let array: ArrayRef = match self.form {
            Form::Integers { signed: false } => Arc::new(UInt64Array::from(vec![key])),
            _ => Arc::new(Int64Array::from(vec![key.cast_signed()])),
        };
        let kept = self.columns.first().map(|key| &key.kept);
        match cast(&array, kept.unwrap_or(array.data_type())) {
            Ok(array) => text(&[array]),
            Err(_) => text(&[array]),
        }
    }

    /// A key that is kept as bytes, as text.
    pub fn bytes_text(&self, key: &[u8]) -> String {
        match &self.form {
            Form::Rows(converter) => {
                let parser = converter.parser();
                let columns = converter.convert_rows([parser.parse(key)]);
                columns.map_or_else(|_| hex(key), |columns| text(&columns))
            }
            _ => match std::str::from_utf8(key) {
                Ok(key) => format!("'{key}'"),
                Err(_) => hex(key),
            },
        }
    }

    /// Memory used.
    pub fn bytes(&self) -> usize {
        match &self.form {
            Form::Rows(converter) => converter.size(),
            _ => 0,
        }
    }
}

fn rows(columns: &[KeyType]) -> Result<Form, KeyError> {
    let fields = columns.iter().map(|key| SortField::new(key.kept.clone()));
    Ok(Form::Rows(RowConverter::new(fields.collect())?))
}

/// The first row of columns, as `a` or `(a, b)`.
fn text(columns: &[ArrayRef]) -> String {
    let texts = columns.iter().map(|array| {
        let text = array_value_to_string(array, 0);
        let text = text.unwrap_or_else(|_| format!("of {}", array.data_type()));
        match array.data_type() {
            DataType::Utf8View => format!("'{text}'"),
            _ => text,
        }
    });
    let texts: Vec<String> = texts.collect();
    match texts.as_slice() {
        [only] => only.clone(),
        _ => format!("({})", texts.join(", ")),
    }
}

fn hex(key: &[u8]) -> String {
    let digits: String = key.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("x'{digits}'")
}
