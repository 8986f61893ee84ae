//! Edge info: one edge triplet.

use super::{AdjListType, AdjacentList, AlignedBy, InfoVersion, Property, PropertyGroup};

/// What an `.edge.yml` file says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EdgeInfo {
    /// Vertex type of the sources.
    pub src_type: String,
    /// Name of the edge type.
    pub edge_type: String,
    /// Vertex type of the destinations.
    pub dst_type: String,
    /// Rows of an edge chunk, at least 1.
    pub chunk_size: u64,
    /// Vertex chunk size on the source side; cuts the parts of layouts aligned by source.
    pub src_chunk_size: u64,
    /// Vertex chunk size on the destination side.
    pub dst_chunk_size: u64,
    /// Whether the edges have a direction; `None` where the file does not say.
    pub directed: Option<bool>,
    /// Prefix below the data root as written; `None` means the default.
    pub prefix: Option<String>,
    /// The stored layouts, at most one entry each.
    pub adj_lists: Vec<AdjacentList>,
    /// Property groups of all layouts, in declared order.
    pub property_groups: Vec<PropertyGroup>,
    /// Version of the format.
    pub version: Option<InfoVersion>,
}

impl EdgeInfo {
    /// The triplet's key and table name, `<source>_<edge>_<destination>`.
    pub fn key(&self) -> String {
        format!("{}_{}_{}", self.src_type, self.edge_type, self.dst_type)
    }

    /// The entry of a layout, if it is stored.
    pub fn adj_list(&self, layout: AdjListType) -> Option<&AdjacentList> {
        self.adj_lists.iter().find(|list| list.layout == layout)
    }

    /// The property groups that hold for a layout: those of the top level, or the old
    /// place inside the layout if there are none.
    pub fn property_groups_of(&self, layout: AdjListType) -> &[PropertyGroup] {
        match self.adj_list(layout) {
            Some(list) if self.property_groups.is_empty() => &list.property_groups,
            _ => &self.property_groups,
        }
    }

    /// All properties, in declared order: of the top level, or of the first layout that has some.
    pub fn properties(&self) -> impl Iterator<Item = &Property> {
        let groups = if self.property_groups.is_empty() {
            self.adj_lists
                .iter()
                .map(|list| &list.property_groups)
                .find(|groups| !groups.is_empty())
        } else {
            Some(&self.property_groups)
        };
        groups
            .into_iter()
            .flatten()
            .flat_map(|group| &group.properties)
    }

    /// The vertex chunk size that cuts the parts of a layout.
    pub fn part_size(&self, layout: AdjListType) -> u64 {
        match layout.aligned_by() {
            AlignedBy::Source => self.src_chunk_size,
            AlignedBy::Destination => self.dst_chunk_size,
        }
    }
}
