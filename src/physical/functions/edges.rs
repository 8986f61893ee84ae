//! The edges that a function is about.

use std::sync::Arc;

use crate::graph::Direction;
use crate::physical::scan::ScanTable;
use crate::physical::walks::EdgeSource;

/// The layouts of an edge triplet, and the one whose rows are the rows of its table.
#[derive(Debug)]
pub struct FunctionEdges {
    source: EdgeSource,
    table: Arc<ScanTable>,
    same_type: bool,
}

impl FunctionEdges {
    /// The edges of the table `name`, which reads `table` as a rule; `layouts` are its copies. `vertices` are those of the source's and
    /// the destination's type.
    pub fn new<'a>(
        name: &str,
        vertices: [u64; 2],
        table: Arc<ScanTable>,
        layouts: impl Iterator<Item = &'a Arc<ScanTable>>,
        same_type: bool,
    ) -> Self {
        let edges = table.rows.total();
        Self {
            source: EdgeSource::known(name, vertices, edges, layouts),
            table,
            same_type,
        }
    }

    /// The ordered layouts.
    pub fn source(&self) -> &EdgeSource {
        &self.source
    }

    /// The layout that is read as a rule.
    pub fn table(&self) -> &Arc<ScanTable> {
        &self.table
    }

    /// Whether both ends are of one vertex type.
    pub fn same_type(&self) -> bool {
        self.same_type
    }

    /// The name of a column of the edge table.
    pub fn column_name(&self, column: usize) -> &str {
        let field = self.table.schema.fields().get(column);
        field.map_or("", |field| field.name())
    }

    /// The end by which the rows of the table are ordered, if their lists can be found; 0 is the source.
    pub(super) fn default_end(&self) -> Option<usize> {
        let aligned = self.table.aligned.as_ref()?;
        let offsets = aligned.offsets.as_ref()?;
        let end = usize::from(offsets.aligned_by != Direction::Out.from());
        self.source.has_lists_of(end).then_some(end)
    }
}
