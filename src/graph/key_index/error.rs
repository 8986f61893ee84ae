//! What can be wrong with keys.

use std::error::Error;
use std::fmt;

use datafusion::arrow::datatypes::DataType;
use datafusion::arrow::error::ArrowError;

/// Why keys cannot be indexed or looked up.
#[derive(Debug)]
#[non_exhaustive]
pub enum KeyError {
    /// A key to be indexed is null, or has a null in one of its columns.
    Null {
        /// The row of the key, counted over all batches.
        row: u64,
    },
    /// Two rows have the same key.
    Duplicate {
        /// The key as text.
        key: String,
        /// The row that has it first.
        first: u64,
        /// The first row that has a key again.
        second: u64,
    },
    /// The number of key columns is another one than that of the index.
    ColumnCount {
        /// How many columns a key of the index has.
        expected: usize,
        /// How many were given.
        found: usize,
    },
    /// A column has a type whose values cannot be keys of the index.
    ColumnType {
        /// The number of the column, from 0.
        column: usize,
        /// The type of the index.
        expected: DataType,
        /// The type that was given.
        found: DataType,
    },
    /// The columns of a batch are not of one length.
    ColumnLength {
        /// The number of the column, from 0.
        column: usize,
        /// The length of the first column.
        expected: usize,
        /// The length of this column.
        found: usize,
    },
    /// Values of this type cannot be keys.
    Unsupported {
        /// The number of the column, from 0.
        column: usize,
        /// Its type.
        data_type: DataType,
    },
    /// Arrow failed to convert a column.
    Arrow(ArrowError),
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null { row } => write!(f, "the key in row {row} is null"),
            Self::Duplicate { key, first, second } => {
                write!(f, "rows {first} and {second} have the same key {key}")
            }
            Self::ColumnCount { expected, found } => {
                write!(f, "expected keys of {expected} columns, found {found}")
            }
            Self::ColumnType {
                column,
                expected,
                found,
            } => write!(
                f,
                "key column {column}: expected values of {expected}, found {found}"
            ),
            Self::ColumnLength {
                column,
                expected,
                found,
            } => write!(
                f,
                "key column {column}: expected {expected} rows, found {found}"
            ),
            Self::Unsupported { column, data_type } => {
                write!(f, "key column {column}: {data_type} is not supported")
            }
            Self::Arrow(error) => error.fmt(f),
        }
    }
}

impl Error for KeyError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Arrow(error) => Some(error),
            _ => None,
        }
    }
}

impl From<ArrowError> for KeyError {
    fn from(error: ArrowError) -> Self {
        Self::Arrow(error)
    }
}

/// A key that stands in two rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Twice {
    pub first: u64,
    pub second: u64,
}
