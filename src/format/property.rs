//! Properties and the groups that store them together.

use datafusion::arrow::datatypes::{DataType, Field};

use super::{FileType, PropertyType};

/// How many values a property of one vertex may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Cardinality {
    /// One value.
    #[default]
    Single,
    /// A list.
    List,
    /// A list without duplicates; stored as a list.
    Set,
}

impl Cardinality {
    /// All cardinalities.
    pub const ALL: [Self; 3] = [Self::Single, Self::List, Self::Set];

    /// The name in info files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Single => "single",
            Self::List => "list",
            Self::Set => "set",
        }
    }

    /// The cardinality of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|cardinality| cardinality.name() == name)
    }
}

/// One property of a vertex type or an edge triplet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Property {
    /// Column name; unique over all groups of the type.
    pub name: String,
    /// Type of one value.
    pub data_type: PropertyType,
    /// Whether this is the user's key. Not trusted to be unique.
    pub is_primary: bool,
    /// Whether nulls are allowed; a primary key never allows them.
    pub is_nullable: bool,
    /// Number of values.
    pub cardinality: Cardinality,
}

impl Property {
    /// The Arrow type of the column: the type of one value, in a list where there are several.
    pub fn arrow_type(&self) -> DataType {
        match self.cardinality {
            Cardinality::Single => self.data_type.arrow_type(),
            Cardinality::List | Cardinality::Set => self.data_type.arrow_list_type(),
        }
    }

    /// The Arrow field of the column.
    pub fn arrow_field(&self) -> Field {
        Field::new(&self.name, self.arrow_type(), self.is_nullable)
    }
}

/// Properties that are stored in the same files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PropertyGroup {
    /// Prefix as written; `None` means the property names joined with `_`.
    pub prefix: Option<String>,
    /// File type of the group's chunks.
    pub file_type: FileType,
    /// Columns, in file order.
    pub properties: Vec<Property>,
}

impl PropertyGroup {
    /// The prefix of the group, with a slash at its end.
    pub fn folder(&self) -> String {
        let names: Vec<&str> = self.properties.iter().map(|p| p.name.as_str()).collect();
        super::path::folder(self.prefix.as_deref(), &names.join("_"))
    }
}
