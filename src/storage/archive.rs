//! An archive with its metadata and counts in memory, and no payload file opened.

use std::sync::Arc;

use futures::{StreamExt, stream};

use super::counts::{EdgeCounts, load_edge_counts, load_vertex_count};
use super::files::exists;
use super::location::Location;
use super::open::{Infos, find_infos, open_infos};
use super::root::{data_root, element_folder, follow_link};
use super::stores::Stores;
use crate::error::{GraphArError, Result};
use crate::format::{
    AdjListPaths, AlignedBy, EdgeInfo, GraphInfo, InfoKind, VertexInfo, VertexPaths, chunk_count,
};

/// Element types whose counts are fetched at once.
const CONCURRENT_ELEMENTS: usize = 8;

/// An info file and where it was found.
#[derive(Debug, Clone)]
pub struct InfoFile<T> {
    /// What it says.
    pub info: T,
    /// Where it is.
    pub file: Location,
}

/// An info file that the graph info names, but that is not there.
#[derive(Debug, Clone)]
pub struct MissingInfo {
    /// What the graph info lists it as.
    pub kind: InfoKind,
    /// The file's name without its endings, which by convention is the element's name.
    pub name: String,
    /// The path that was looked for first.
    pub path: String,
}

impl MissingInfo {
    pub(super) fn new(kind: InfoKind, entry: &str, path: String) -> Self {
        let file = entry.rsplit('/').next().unwrap_or(entry);
        let stem = file
            .trim_end_matches(".yaml")
            .trim_end_matches(".yml")
            .trim_end_matches(".vertex")
            .trim_end_matches(".edge");
        Self {
            kind,
            name: stem.to_owned(),
            path,
        }
    }

    /// The error of every use of the element.
    pub fn error(&self) -> GraphArError {
        GraphArError::NoData {
            element: self.name.clone(),
            path: self.path.clone(),
        }
    }
}

/// Something read when the archive was opened, or why it could not be. An element that fails
/// leaves the others usable.
pub type Loaded<T> = Result<T, Arc<GraphArError>>;

/// One vertex type.
#[derive(Debug, Clone)]
pub struct VertexData {
    /// Its metadata.
    pub info: VertexInfo,
    /// The folder of its files.
    pub folder: Location,
    /// Number of vertices.
    pub count: Loaded<u64>,
    /// Whether label chunks exist. Some writers declare labels and store none; then
    /// the labels of every vertex are unknown.
    pub has_label_files: bool,
}

/// One edge triplet.
#[derive(Debug, Clone)]
pub struct EdgeData {
    /// Its metadata.
    pub info: EdgeInfo,
    /// The folder of its files.
    pub folder: Location,
    /// Counts of the layouts, in the order of `info.adj_lists`.
    pub layouts: Vec<Loaded<EdgeCounts>>,
    /// Number of vertices of the source type, where that is known.
    pub source_count: Option<u64>,
    /// Number of vertices of the destination type, where that is known.
    pub destination_count: Option<u64>,
}

/// An opened archive: one graph, or a single element type of one.
#[derive(Debug, Clone)]
pub struct Archive {
    /// The file that was opened.
    pub file: Location,
    /// What kind of info file that is.
    pub kind: InfoKind,
    /// The graph info; empty if a single type was opened.
    pub graph: GraphInfo,
    /// Vertex types, in the order of the graph info.
    pub vertices: Vec<VertexData>,
    /// Edge triplets, in the order of the graph info.
    pub edges: Vec<EdgeData>,
    /// Info files that are named but not there.
    pub missing: Vec<MissingInfo>,
}

impl Archive {
    /// Opens the archive at `location`: a graph info, a folder with one graph info in it, or
    /// the info of a single vertex type or edge triplet; a path or a URL.
    ///
    /// Reads the info files and the count files, a request each: one for every vertex type and
    /// layout, and one for every part of every layout. Asks whether the last chunk of each
    /// vertex type exists, and whether one follows a last chunk that is full. No payload
    /// file is opened, unless a count file is missing.
    ///
    /// # Errors
    /// If there is no such archive, an info file cannot be read, or together they make no
    /// graph. A missing or broken file behind an info file makes only its element unusable.
    pub async fn open(location: &str, stores: &Stores) -> Result<Self> {
        Self::of(open_infos(location, stores).await?, stores).await
    }

    /// Opens the archive whose info file is `file`.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub async fn open_at(file: Location, stores: &Stores) -> Result<Self> {
        match find_infos(&file, stores).await? {
            Some(infos) => Self::of(infos, stores).await,
            None => Err(GraphArError::Location {
                location: file.to_string(),
                reason: "there is no such file".to_owned(),
            }),
        }
    }

    async fn of(infos: Infos, stores: &Stores) -> Result<Self> {
        let Infos {
            file,
            kind,
            graph,
            vertices,
            edges,
            missing,
            problems: _,
        } = infos;
        let root = data_root(&graph, &file.parent(), &vertices, &edges, stores).await?;

        let vertices: Vec<VertexData> = stream::iter(vertices)
            .map(|v| load_vertex(v.info, &root))
            .buffered(CONCURRENT_ELEMENTS)
            .collect()
            .await;
        let count_of = |name: &str| {
            let vertex = vertices.iter().find(|v| v.info.vertex_type == name);
            vertex.and_then(|v| v.count.as_ref().ok().copied())
        };
        let edges = stream::iter(edges)
            .map(|e| {
                let counts = (count_of(&e.info.src_type), count_of(&e.info.dst_type));
                load_edge(e.info, &root, counts)
            })
            .buffered(CONCURRENT_ELEMENTS)
            .collect()
            .await;
        Ok(Self {
            file,
            kind,
            graph,
            vertices,
            edges,
            missing,
        })
    }

    /// The graph's name: as the graph info says, or the name of the file.
    pub fn name(&self) -> &str {
        if self.graph.name.is_empty() {
            let file = self.file.file_name();
            file.split_once('.').map_or(file, |(stem, _)| stem)
        } else {
            &self.graph.name
        }
    }
}

/// The folder that the prefixes of an archive's elements start from.
///
/// # Errors
/// If the graph info names a place that no store answers for, or the store fails.
pub async fn root_of(infos: &Infos, stores: &Stores) -> Result<Location> {
    let beside = infos.file.parent();
    data_root(&infos.graph, &beside, &infos.vertices, &infos.edges, stores).await
}

/// The folder and count of a vertex type below the data root.
pub async fn load_vertex(info: VertexInfo, root: &Location) -> VertexData {
    let default = format!("{}/", info.vertex_type);
    let prefix = info.prefix.as_deref().unwrap_or(&default);
    let (folder, count, has_label_files) = match find_vertices(&info, root, &default).await {
        Ok((folder, count, labels)) => (folder, Ok(count), labels),
        Err(error) => (root.join(prefix), Err(Arc::new(error)), true),
    };
    if !has_label_files {
        log::warn!(
            "{folder}: vertex type {} declares labels, but has no label files; its labels are unknown",
            info.vertex_type
        );
    }
    VertexData {
        info,
        folder,
        count,
        has_label_files,
    }
}

/// The folder of a vertex type, its number of vertices, and whether it has label files.
async fn find_vertices(
    info: &VertexInfo,
    root: &Location,
    default: &str,
) -> Result<(Location, u64, bool)> {
    let prefix = info.prefix.as_deref();
    let probes = ["vertex_count".to_owned()];
    let mut folder = element_folder(root, prefix, default, &probes).await?;
    let mut count = load_vertex_count(info, &folder).await;
    if let Err(GraphArError::NoData { .. }) = &count
        && let Some(target) = follow_link(root, prefix.unwrap_or(default)).await?
    {
        count = load_vertex_count(info, &target).await;
        folder = target;
    }
    let count = count?;
    let last_chunk = chunk_count(count, info.chunk_size).checked_sub(1);
    let has_label_files = match last_chunk {
        Some(last) if !info.labels.is_empty() => {
            let paths = VertexPaths::new("");
            let has = async |chunk| exists(&folder.join(&paths.label_chunk(chunk))).await;
            // One that was lost is an error of its own; only without any are labels unknown.
            has(0).await? || has(last).await?
        }
        _ => true,
    };
    Ok((folder, count, has_label_files))
}

/// An edge triplet; `counts` are the numbers of sources and destinations, where known.
pub async fn load_edge(
    info: EdgeInfo,
    root: &Location,
    counts: (Option<u64>, Option<u64>),
) -> EdgeData {
    let default = info.default_folder();
    let prefix = info.prefix.as_deref().unwrap_or(&default);
    let (folder, layouts) = match find_edges(&info, root, &default, counts).await {
        Ok(found) => found,
        Err(error) => {
            let error = Arc::new(error);
            let layouts = info.adj_lists.iter().map(|_| Err(Arc::clone(&error)));
            (root.join(prefix), layouts.collect())
        }
    };
    let (source_count, destination_count) = counts;
    EdgeData {
        info,
        folder,
        layouts,
        source_count,
        destination_count,
    }
}

/// The folder of an edge triplet, and the counts of its layouts.
async fn find_edges(
    info: &EdgeInfo,
    root: &Location,
    default: &str,
    counts: (Option<u64>, Option<u64>),
) -> Result<(Location, Vec<Loaded<EdgeCounts>>)> {
    let prefix = info.prefix.as_deref();
    let probes: Vec<String> = info
        .adj_lists
        .iter()
        .map(|list| AdjListPaths::new("", list).vertex_count())
        .collect();
    let mut folder = element_folder(root, prefix, default, &probes).await?;
    let mut layouts = load_layouts(info, &folder, counts).await;
    let is_missing =
        |layout: &Result<EdgeCounts>| matches!(layout, Err(GraphArError::NoData { .. }));
    if layouts.iter().all(is_missing)
        && let Some(target) = follow_link(root, prefix.unwrap_or(default)).await?
    {
        layouts = load_layouts(info, &target, counts).await;
        folder = target;
    }
    let layouts = layouts.into_iter().map(|layout| layout.map_err(Arc::new));
    Ok((folder, layouts.collect()))
}

/// The counts of every layout.
async fn load_layouts(
    info: &EdgeInfo,
    folder: &Location,
    counts: (Option<u64>, Option<u64>),
) -> Vec<Result<EdgeCounts>> {
    let mut layouts = Vec::with_capacity(info.adj_lists.len());
    for list in &info.adj_lists {
        let aligned = match list.layout.aligned_by() {
            AlignedBy::Source => counts.0,
            AlignedBy::Destination => counts.1,
        };
        layouts.push(load_edge_counts(info, list, folder, aligned).await);
    }
    layouts
}
