//! The edges of a triplet, as a pass over them finds them.

use std::sync::Arc;

use datafusion::error::Result;
use datafusion::execution::TaskContext;

use crate::graph::{Adjacency, Direction};
use crate::physical::adjacency::open_adjacency;
use crate::physical::scan::ScanTable;

/// The stored layouts of an edge triplet, and how many vertices it joins.
#[derive(Debug)]
pub struct EdgeSource {
    /// The name of the edge table.
    name: String,
    /// Numbers of vertices of the source's and the destination's type.
    vertices: [u64; 2],
    edges: u64,
    /// The layouts ordered by source and by destination.
    layouts: [Option<Arc<ScanTable>>; 2],
}

impl EdgeSource {
    /// The edges that these layouts are copies of; `None` if they are no edges, the number of vertices of an end is not known, or
    /// no layout is ordered.
    pub fn of<'a>(tables: impl Iterator<Item = &'a Arc<ScanTable>>) -> Option<Self> {
        let (mut layouts, mut ends) = ([None, None], [None, None]);
        let (mut name, mut edges) = (None, 0);
        for table in tables {
            let aligned = table.aligned.as_ref()?;
            for (end, check) in ends.iter_mut().zip(&table.endpoints) {
                *end = end.or(check.count);
            }
            edges = table.rows.total();
            let offsets = aligned.offsets.as_ref();
            if let Some(offsets) = offsets {
                let number = usize::from(offsets.aligned_by != Direction::Out.from());
                layouts[number].get_or_insert_with(|| Arc::clone(table));
            }
            let own = table.name.split(" (").next().unwrap_or_default();
            name.get_or_insert_with(|| own.to_owned());
        }
        let [source, destination] = ends;
        let this = Self {
            name: name?,
            vertices: [source?, destination?],
            edges,
            layouts,
        };
        // Layouts that disagree on the number of vertices cannot be mixed.
        let agrees = |end: usize| {
            let aligned = this.layouts[end].as_ref().map(|table| table.ids());
            aligned.is_none_or(|count| count == this.vertices[end])
        };
        let any = this.layouts.iter().any(Option::is_some);
        (any && agrees(0) && agrees(1)).then_some(this)
    }

    /// The edges between so many vertices that these layouts are copies of, be any of them ordered or none. Layouts that count other
    /// vertices are left out.
    pub(crate) fn known<'a>(
        name: &str,
        vertices: [u64; 2],
        edges: u64,
        tables: impl Iterator<Item = &'a Arc<ScanTable>>,
    ) -> Self {
        let mut layouts = [None, None];
        for table in tables {
            let aligned = table.aligned.as_ref();
            let Some(offsets) = aligned.and_then(|aligned| aligned.offsets.as_ref()) else {
                continue;
            };
            let end = usize::from(offsets.aligned_by != Direction::Out.from());
            if table.ids() == vertices[end] {
                layouts[end].get_or_insert_with(|| Arc::clone(table));
            }
        }
        Self {
            name: name.to_owned(),
            vertices,
            edges,
            layouts,
        }
    }

    /// The name of the edge table.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Number of edges.
    pub fn edges(&self) -> u64 {
        self.edges
    }

    /// Number of vertices of an end: 0 is the source, 1 the destination.
    pub fn vertices(&self, end: usize) -> u64 {
        self.vertices[end]
    }

    /// Whether the edges of each vertex of an end can be found.
    pub fn has_lists_of(&self, end: usize) -> bool {
        self.layouts[end].is_some()
    }

    /// The layout ordered by an end, opened for reading.
    ///
    /// # Errors
    /// If there is none, or its store is not registered.
    pub fn open(&self, end: usize, context: &TaskContext) -> Result<Option<Adjacency>> {
        match &self.layouts[end] {
            Some(table) => open_adjacency(table, context),
            None => Ok(None),
        }
    }
}
