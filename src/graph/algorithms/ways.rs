//! Which edges are followed.

use std::sync::Arc;

use crate::graph::Csr;

/// How edges are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Way {
    /// From source to destination.
    Out,
    /// From destination to source.
    In,
    /// Either way.
    Any,
}

impl Way {
    /// Its name in SQL.
    pub fn name(self) -> &'static str {
        match self {
            Self::Out => "out",
            Self::In => "in",
            Self::Any => "any",
        }
    }

    /// The ends of the edges whose lists are followed; 0 is the source.
    pub fn ends(self) -> &'static [usize] {
        match self {
            Self::Out => &[0],
            Self::In => &[1],
            Self::Any => &[0, 1],
        }
    }

    /// The other way round.
    pub fn back(self) -> Self {
        match self {
            Self::Out => Self::In,
            Self::In => Self::Out,
            Self::Any => Self::Any,
        }
    }
}

/// Adjacency along which steps go: the lists of one end of the edges, or of both where edges are followed either way.
#[derive(Debug, Clone, Default)]
pub struct Ways {
    /// Lists of the vertices that a step leads to.
    pub forward: Vec<Arc<Csr>>,
    /// Lists of the vertices that it comes from; may be left out.
    pub backward: Vec<Arc<Csr>>,
}

impl Ways {
    /// Number of vertices.
    pub fn vertices(&self) -> u64 {
        self.forward.first().map_or(0, |csr| csr.vertices())
    }

    /// Number of steps there are.
    pub(super) fn steps(&self) -> u64 {
        self.forward.iter().map(|csr| csr.edges()).sum()
    }
}

/// Number of steps from a vertex.
pub(super) fn degree(lists: &[Arc<Csr>], vertex: u32) -> u64 {
    lists.iter().map(|csr| csr.degree(u64::from(vertex))).sum()
}

/// Does something with each vertex that a step leads to.
#[inline]
pub(super) fn each(lists: &[Arc<Csr>], vertex: u32, mut each: impl FnMut(usize)) {
    for csr in lists {
        csr.each_neighbor(u64::from(vertex), &mut each);
    }
}
