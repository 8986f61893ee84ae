//! Property types and their Arrow counterparts.

use std::fmt;
use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field, TimeUnit};

/// Type of a single value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ScalarType {
    /// `bool`
    Bool,
    /// `int32`
    Int32,
    /// `int64`
    Int64,
    /// `float`, 32 bits
    Float,
    /// `double`, 64 bits
    Double,
    /// `string`, UTF-8
    String,
    /// `date`, days since 1970-01-01
    Date,
    /// `timestamp`, milliseconds since 1970-01-01T00:00:00 without a zone
    Timestamp,
}

impl ScalarType {
    /// All scalar types.
    pub const ALL: [Self; 8] = [
        Self::Bool,
        Self::Int32,
        Self::Int64,
        Self::Float,
        Self::Double,
        Self::String,
        Self::Date,
        Self::Timestamp,
    ];

    /// The name in info files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::Int32 => "int32",
            Self::Int64 => "int64",
            Self::Float => "float",
            Self::Double => "double",
            Self::String => "string",
            Self::Date => "date",
            Self::Timestamp => "timestamp",
        }
    }

    /// The type of this name, or of a synonym that a writer has used.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "int" | "integer" => Some(Self::Int32),
            "long" => Some(Self::Int64),
            "boolean" => Some(Self::Bool),
            _ => Self::ALL.into_iter().find(|scalar| scalar.name() == name),
        }
    }
}

/// Type of a property: a scalar, or a list of scalars.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PropertyType {
    /// One value.
    Scalar(ScalarType),
    /// `list<…>`.
    List(ScalarType),
}

impl PropertyType {
    /// The type that an info file names, blanks inside `list< >` allowed.
    pub fn from_name(name: &str) -> Option<Self> {
        match name
            .strip_prefix("list<")
            .and_then(|rest| rest.strip_suffix('>'))
        {
            Some(item) => ScalarType::from_name(item.trim()).map(Self::List),
            None => ScalarType::from_name(name).map(Self::Scalar),
        }
    }

    /// The Arrow type of one value. Strings are views, which Parquet decodes without a copy;
    /// inside lists they are plain, which every list function takes.
    pub fn arrow_type(self) -> DataType {
        match self {
            Self::Scalar(ScalarType::String) => DataType::Utf8View,
            Self::Scalar(scalar) => item_type(scalar),
            Self::List(scalar) => list_of(item_type(scalar)),
        }
    }

    /// The Arrow type of several values: `set` and `list` cardinality.
    pub fn arrow_list_type(self) -> DataType {
        match self {
            Self::Scalar(scalar) => list_of(item_type(scalar)),
            Self::List(scalar) => list_of(list_of(item_type(scalar))),
        }
    }
}

impl fmt::Display for PropertyType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scalar(scalar) => f.write_str(scalar.name()),
            Self::List(scalar) => write!(f, "list<{}>", scalar.name()),
        }
    }
}

fn item_type(scalar: ScalarType) -> DataType {
    match scalar {
        ScalarType::Bool => DataType::Boolean,
        ScalarType::Int32 => DataType::Int32,
        ScalarType::Int64 => DataType::Int64,
        ScalarType::Float => DataType::Float32,
        ScalarType::Double => DataType::Float64,
        ScalarType::String => DataType::Utf8,
        ScalarType::Date => DataType::Date32,
        ScalarType::Timestamp => DataType::Timestamp(TimeUnit::Millisecond, None),
    }
}

fn list_of(item: DataType) -> DataType {
    DataType::List(Arc::new(Field::new_list_field(item, true)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_read_back_alone_and_in_a_list() {
        for scalar in ScalarType::ALL {
            assert_eq!(
                PropertyType::from_name(scalar.name()),
                Some(PropertyType::Scalar(scalar))
            );
            let list = PropertyType::List(scalar);
            assert_eq!(PropertyType::from_name(&list.to_string()), Some(list));
        }
    }

    #[test]
    fn synonyms_of_other_writers_are_known() {
        for (name, scalar) in [
            ("int", ScalarType::Int32),
            ("integer", ScalarType::Int32),
            ("long", ScalarType::Int64),
            ("boolean", ScalarType::Bool),
        ] {
            assert_eq!(
                PropertyType::from_name(name),
                Some(PropertyType::Scalar(scalar))
            );
            assert_eq!(
                PropertyType::from_name(&format!("list< {name} >")),
                Some(PropertyType::List(scalar))
            );
        }
    }

    #[test]
    fn other_names_are_no_types() {
        for name in [
            "",
            "Int32",
            "list",
            "list<>",
            "list<list<int32>>",
            "time",
            "list<int32",
            " int64",
        ] {
            assert_eq!(PropertyType::from_name(name), None, "{name}");
        }
    }

    #[test]
    fn strings_are_views_outside_lists_only() {
        let string = PropertyType::Scalar(ScalarType::String);
        assert_eq!(string.arrow_type(), DataType::Utf8View);
        assert_eq!(string.arrow_list_type(), list_of(DataType::Utf8));
        let list = PropertyType::List(ScalarType::String);
        assert_eq!(list.arrow_type(), list_of(DataType::Utf8));
        assert_eq!(list.arrow_list_type(), list_of(list_of(DataType::Utf8)));
    }

    #[test]
    fn times_are_days_and_zoneless_milliseconds() {
        assert_eq!(
            PropertyType::Scalar(ScalarType::Date).arrow_type(),
            DataType::Date32
        );
        assert_eq!(
            PropertyType::Scalar(ScalarType::Timestamp).arrow_type(),
            DataType::Timestamp(TimeUnit::Millisecond, None)
        );
    }
}
