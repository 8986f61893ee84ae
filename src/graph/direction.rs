//! Directions in which an edge can be followed.

use crate::format::AlignedBy;

/// Which way edges are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// From source to destination.
    Out,
    /// From destination to source.
    In,
}

impl Direction {
    /// The end of an edge that is started from.
    pub fn from(self) -> AlignedBy {
        match self {
            Self::Out => AlignedBy::Source,
            Self::In => AlignedBy::Destination,
        }
    }
}
