//! Adjacency lists: the one to four copies in which the edges of a triplet are stored.

use std::fmt;

use super::{FileType, PropertyGroup};

/// The end of an edge by whose vertex chunk the edges are cut into parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AlignedBy {
    /// Parts follow the source's vertex chunks.
    Source,
    /// Parts follow the destination's vertex chunks.
    Destination,
}

/// The layout of one copy of the edges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AdjListType {
    /// CSR: parts by source, sorted by source, with offsets.
    OrderedBySource,
    /// CSC: parts by destination, sorted by destination, with offsets.
    OrderedByDest,
    /// COO: parts by source, in no promised order, without offsets.
    UnorderedBySource,
    /// COO: parts by destination, in no promised order, without offsets.
    UnorderedByDest,
}

impl AdjListType {
    /// All layouts, the one that a scan prefers first.
    pub const ALL: [Self; 4] = [
        Self::OrderedBySource,
        Self::OrderedByDest,
        Self::UnorderedBySource,
        Self::UnorderedByDest,
    ];

    /// The layout with this order and alignment.
    pub fn new(ordered: bool, aligned_by: AlignedBy) -> Self {
        match (ordered, aligned_by) {
            (true, AlignedBy::Source) => Self::OrderedBySource,
            (true, AlignedBy::Destination) => Self::OrderedByDest,
            (false, AlignedBy::Source) => Self::UnorderedBySource,
            (false, AlignedBy::Destination) => Self::UnorderedByDest,
        }
    }

    /// Whether the edges are sorted by the aligned end, which is when offset chunks exist.
    pub fn is_ordered(self) -> bool {
        matches!(self, Self::OrderedBySource | Self::OrderedByDest)
    }

    /// The end that decides the part.
    pub fn aligned_by(self) -> AlignedBy {
        match self {
            Self::OrderedBySource | Self::UnorderedBySource => AlignedBy::Source,
            Self::OrderedByDest | Self::UnorderedByDest => AlignedBy::Destination,
        }
    }

    /// The format's name of the layout, which is its default prefix too.
    pub fn name(self) -> &'static str {
        match self {
            Self::OrderedBySource => "ordered_by_source",
            Self::OrderedByDest => "ordered_by_dest",
            Self::UnorderedBySource => "unordered_by_source",
            Self::UnorderedByDest => "unordered_by_dest",
        }
    }

    /// The layout of this name, exactly as [`name`](Self::name) spells it.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|layout| layout.name() == name)
    }
}

impl fmt::Display for AdjListType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One entry of `adj_lists` in an edge info.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdjacentList {
    /// The layout.
    pub layout: AdjListType,
    /// Prefix below the edge prefix as written; `None` means the layout's name.
    pub prefix: Option<String>,
    /// File type of the adj_list and offset chunks.
    pub file_type: FileType,
    /// Property groups in the place where old archives have them. They count
    /// only if the edge info has none at its top level.
    pub property_groups: Vec<PropertyGroup>,
}

impl AdjacentList {
    /// The prefix below the edge prefix, with a slash at its end.
    pub fn folder(&self) -> String {
        super::path::folder(self.prefix.as_deref(), self.layout.name())
    }
}
