//! Column types of the suites.

use datafusion::arrow::datatypes::DataType;
use sqllogictest::ColumnType;

/// Type of a result column, one character each in `query <types>`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GraphArColumn {
    /// `B`: booleans.
    Boolean,
    /// `I`: integers of any width.
    Integer,
    /// `R`: floating point numbers and decimals.
    Real,
    /// `T`: text, whatever its Arrow representation.
    Text,
    /// `D`: dates.
    Date,
    /// `P`: timestamps.
    Timestamp,
    /// `?`: all else, lists above all.
    Other,
}

impl ColumnType for GraphArColumn {
    fn from_char(value: char) -> Option<Self> {
        match value {
            'B' => Some(Self::Boolean),
            'I' => Some(Self::Integer),
            'R' => Some(Self::Real),
            'T' => Some(Self::Text),
            'D' => Some(Self::Date),
            'P' => Some(Self::Timestamp),
            '?' => Some(Self::Other),
            _ => None,
        }
    }

    fn to_char(&self) -> char {
        match self {
            Self::Boolean => 'B',
            Self::Integer => 'I',
            Self::Real => 'R',
            Self::Text => 'T',
            Self::Date => 'D',
            Self::Timestamp => 'P',
            Self::Other => '?',
        }
    }
}

impl From<&DataType> for GraphArColumn {
    fn from(data_type: &DataType) -> Self {
        match data_type {
            DataType::Boolean => Self::Boolean,
            data_type if data_type.is_integer() => Self::Integer,
            data_type if data_type.is_floating() || data_type.is_decimal() => Self::Real,
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Self::Text,
            DataType::Date32 | DataType::Date64 => Self::Date,
            DataType::Timestamp(..) => Self::Timestamp,
            DataType::Dictionary(_, values) => Self::from(values.as_ref()),
            _ => Self::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_character_names_its_type() {
        for character in "BIRTDP?".chars() {
            let column = GraphArColumn::from_char(character).unwrap();
            assert_eq!(column.to_char(), character);
        }
        assert_eq!(GraphArColumn::from_char('X'), None);
    }
}
