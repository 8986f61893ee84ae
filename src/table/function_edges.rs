//! The edges of a triplet, as table functions see them.

use std::sync::Arc;

use super::Graph;
use crate::error::{GraphArError, Result};
use crate::format::EdgeInfo;
use crate::physical::functions::FunctionEdges;

impl Graph {
    /// The metadata of all edge triplets.
    pub fn edge_infos(&self) -> impl Iterator<Item = &EdgeInfo> {
        self.archive().edges.iter().map(|edge| &edge.info)
    }

    /// The edges of the triplet of this metadata.
    ///
    /// # Errors
    /// If its table cannot be read, or the number of vertices at an end is not known.
    pub fn function_edges(&self, info: &EdgeInfo) -> Result<FunctionEdges> {
        let name = info.key();
        let edges = &self.archive().edges;
        let edge = edges.iter().find(|edge| edge.info.key() == name);
        let (Some(edge), Some(table)) = (edge, self.table(&name)?) else {
            return Err(GraphArError::UnknownElement {
                kind: "edge triplet".to_owned(),
                name,
                candidates: self.edge_infos().map(EdgeInfo::key).collect(),
            });
        };
        let rows = match table.rows() {
            Ok(rows) => Arc::clone(rows),
            Err(error) => return Err(GraphArError::Shared(Arc::clone(error))),
        };
        let unknown = |vertex_type: &str| GraphArError::NoData {
            element: format!("{name} needs the number of vertices of {vertex_type}, which"),
            path: edge.folder.to_string(),
        };
        let vertices = [
            edge.source_count.ok_or_else(|| unknown(&info.src_type))?,
            edge.destination_count
                .ok_or_else(|| unknown(&info.dst_type))?,
        ];
        let mut copies = vec![];
        for list in &info.adj_lists {
            let copy = self.table(&format!("{name}${}", list.layout))?;
            copies.extend(copy.and_then(|copy| copy.rows().as_ref().ok().cloned()));
        }
        let same = info.src_type == info.dst_type;
        Ok(FunctionEdges::new(
            &name,
            vertices,
            rows,
            copies.iter(),
            same,
        ))
    }
}
