//! Vertex info: one vertex type.

use super::{InfoVersion, Property, PropertyGroup};

/// What a `.vertex.yml` file says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VertexInfo {
    /// Name of the vertex type.
    pub vertex_type: String,
    /// Rows of a vertex chunk, at least 1.
    pub chunk_size: u64,
    /// Prefix below the data root as written; `None` means the default, see
    /// [`crate::storage`] for which of the two defaults holds.
    pub prefix: Option<String>,
    /// Property groups in declared order.
    pub property_groups: Vec<PropertyGroup>,
    /// Labels beside the type's own; membership stands in label chunks.
    pub labels: Vec<String>,
    /// Version of the format.
    pub version: Option<InfoVersion>,
}

impl VertexInfo {
    /// All properties, in declared order.
    pub fn properties(&self) -> impl Iterator<Item = &Property> {
        self.property_groups
            .iter()
            .flat_map(|group| &group.properties)
    }

    /// The user's key, if one is declared.
    pub fn primary_key(&self) -> Option<&Property> {
        self.properties().find(|property| property.is_primary)
    }
}
