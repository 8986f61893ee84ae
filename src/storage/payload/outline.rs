//! What a chunk file says of itself, without a look at its values.

use datafusion::arrow::array::new_empty_array;
use datafusion::arrow::datatypes::DataType;

use super::cast::{convert, type_name};

/// A column that a file has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredColumn {
    /// Its name.
    pub name: String,
    /// Its type; `None` in text, which has no types.
    pub data_type: Option<DataType>,
}

impl StoredColumn {
    /// Whether values of the stored type can be read as the declared one, as far as types tell. A number
    /// may be too large for it all the same.
    pub fn fits(&self, declared: &DataType) -> bool {
        let stored = self.data_type.as_ref();
        stored.is_none_or(|stored| convert(&new_empty_array(stored), declared).is_ok())
    }

    /// The type as an info file would name it; empty in text.
    pub fn type_name(&self) -> String {
        self.data_type.as_ref().map(type_name).unwrap_or_default()
    }

    /// A type as an info file names it.
    pub fn name_of(declared: &DataType) -> String {
        type_name(declared)
    }
}

/// Rows and columns of a chunk file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outline {
    /// Number of rows.
    pub rows: u64,
    /// The columns in their order; `None` in JSON, where every row has its own keys.
    pub columns: Option<Vec<StoredColumn>>,
}
