//! Graph info: the list of a graph's other info files.

use super::InfoVersion;

/// What a `.graph.yml` file says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GraphInfo {
    /// Name of the graph; may be empty.
    pub name: String,
    /// Data root as written; `None` means the directory of the graph info.
    pub prefix: Option<String>,
    /// Paths of the vertex info files, as written.
    pub vertices: Vec<String>,
    /// Paths of the edge info files, as written.
    pub edges: Vec<String>,
    /// Vertex labels used in the graph (written by the C++ library only).
    pub labels: Vec<String>,
    /// Free key-value pairs, kept in their order.
    pub extra_info: Vec<(String, String)>,
    /// Version of the format.
    pub version: Option<InfoVersion>,
}
