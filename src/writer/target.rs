//! The graph that is written to: where it is, what it was, and the moment in which it changes.

mod leftovers;
mod lock;
mod publish;

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher, RandomState};

use object_store::path::Path;

pub(super) use self::lock::{Lock, local_path};
pub(super) use self::publish::Change;
use super::stored::StoredEdges;
use crate::error::{GraphArError, Result};
use crate::format::{EdgeInfo, GraphInfo, InfoKind};
use crate::storage::{
    Infos, Location, Stores, VertexData, find_infos, load_edge, load_vertex, root_of,
};

/// Ending of a graph info file.
const GRAPH_FILE: &str = ".graph.yml";

/// A graph in a place, which may not be there yet.
///
/// Every file of a write has a fresh name, but for the graph info: replacing it makes the write
/// visible, all at once.
pub(super) struct Target {
    /// The graph info file.
    pub file: Location,
    /// Where the data of the graph's elements lie.
    pub root: Location,
    /// The graph as it was when this was opened.
    pub base: Option<Infos>,
    /// Part of all fresh names of this write: 8 digits of the graph, whose own states are told by them from those
    /// of other graphs in the same folder, then 8 random ones.
    pub token: String,
    stores: Stores,
}

impl Target {
    /// Reads what is at `file`, the place of a `.graph.yml`, which need not be there.
    ///
    /// # Errors
    /// If the name has another ending, or the graph there cannot be read.
    pub(super) async fn open(file: Location, stores: &Stores) -> Result<Self> {
        let refused = |reason: &str| GraphArError::Location {
            location: file.to_string(),
            reason: reason.to_owned(),
        };
        let name = file.file_name();
        if !name.ends_with(GRAPH_FILE) && !name.ends_with(".graph.yaml") {
            return Err(refused("a graph is written to a file <name>.graph.yml"));
        }
        let base = find_infos(&file, stores).await?;
        if base
            .as_ref()
            .is_some_and(|base| base.kind != InfoKind::Graph)
        {
            return Err(refused("the file there is not the info of a graph"));
        }
        let root = match &base {
            Some(base) => root_of(base, stores).await?,
            None => file.parent(),
        };
        let own = BuildHasherDefault::<DefaultHasher>::default().hash_one(file.to_string());
        let random = RandomState::new().hash_one(file.path());
        Ok(Self {
            root,
            base,
            token: format!("{:08x}{:08x}", own & 0xffff_ffff, random & 0xffff_ffff),
            stores: stores.clone(),
            file,
        })
    }

    /// The name of the graph: as it says itself, or as its file is called.
    pub(super) fn name(&self) -> &str {
        let file = self.file.file_name();
        let named = self.base.as_ref().map(|base| base.graph.name.as_str());
        match named.filter(|name| !name.is_empty()) {
            Some(name) => name,
            None => file.split_once('.').map_or(file, |(stem, _)| stem),
        }
    }

    /// A vertex type as it was.
    pub(super) async fn vertices(&self, vertex_type: &str) -> Option<VertexData> {
        let vertices = self.base.iter().flat_map(|base| &base.vertices);
        for vertex in vertices {
            if vertex.info.vertex_type == vertex_type {
                return Some(load_vertex(vertex.info.clone(), &self.root).await);
            }
        }
        None
    }

    /// The files of an edge triplet as they were.
    ///
    /// # Errors
    /// If a count is missing or broken.
    pub(super) async fn edges(&self, info: &EdgeInfo) -> Result<StoredEdges> {
        let source = self.vertices(&info.src_type).await;
        let destination = self.vertices(&info.dst_type).await;
        let count = |vertex: Option<VertexData>| vertex.and_then(|v| v.count.ok());
        let counts = (count(source), count(destination));
        let found = load_edge(info.clone(), &self.root, counts).await;
        let counts = found
            .layouts
            .into_iter()
            .map(|layout| layout.map_err(GraphArError::Shared));
        Ok(StoredEdges {
            info: found.info,
            folder: found.folder,
            counts: counts.collect::<Result<_>>()?,
        })
    }

    /// The edge triplets as they were.
    pub(super) fn edge_infos(&self) -> impl Iterator<Item = &EdgeInfo> {
        let edges = self.base.iter().flat_map(|base| &base.edges);
        edges.map(|edge| &edge.info)
    }

    /// The names of all vertex types.
    pub(super) fn vertex_types(&self) -> Vec<String> {
        let vertices = self.base.iter().flat_map(|base| &base.vertices);
        vertices.map(|v| v.info.vertex_type.clone()).collect()
    }
}

/// The names behind a graph info's entries, for comparison.
fn entries(graph: &GraphInfo) -> impl Iterator<Item = &String> {
    graph.vertices.iter().chain(&graph.edges)
}

/// A place as a path of its store.
fn path_of(location: &Location) -> Result<Path> {
    location.object_path()
}
