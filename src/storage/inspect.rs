//! An archive whose info files were read as far as that goes, for looking at what is wrong with it.

use super::archive::{InfoFile, MissingInfo};
use super::files::exists;
use super::location::Location;
use super::open::{Infos, inspect_infos};
use super::root::{data_root, element_folder, follow_link};
use super::stores::Stores;
use crate::error::Result;
use crate::format::{AdjListPaths, EdgeInfo, InfoKind, Problem, VertexInfo, VertexPaths};

/// An info file, and where the data are that it describes.
#[derive(Debug, Clone)]
pub struct Placed<T> {
    /// What it says.
    pub info: T,
    /// Where it is.
    pub file: Location,
    /// The folder of the element's files.
    pub folder: Location,
}

/// The info files of an archive, of which some may be missing, broken, or at odds with each other.
/// No count and no payload file was read.
#[derive(Debug)]
pub struct InspectedArchive {
    /// The file that was opened.
    pub file: Location,
    /// What kind of info file that is.
    pub kind: InfoKind,
    /// Vertex types, in the order of the graph info.
    pub vertices: Vec<Placed<VertexInfo>>,
    /// Edge triplets, in the order of the graph info.
    pub edges: Vec<Placed<EdgeInfo>>,
    /// Info files that are named but not there.
    pub missing: Vec<MissingInfo>,
    /// What is wrong with the info files.
    pub problems: Vec<Problem>,
}

impl InspectedArchive {
    /// Reads the info files that `place` leads to: a graph info, a folder with one graph info in it, or
    /// the info of a single type. Whatever [`Archive::open`](super::Archive::open) would fail with is
    /// in [`problems`](Self::problems), and what else there is can be used.
    ///
    /// # Errors
    /// If there is no info file, or the first one cannot be read as such.
    pub async fn open(place: &Location, stores: &Stores) -> Result<Self> {
        let Infos {
            file,
            kind,
            graph,
            vertices,
            edges,
            missing,
            mut problems,
        } = inspect_infos(place, &place.to_string(), stores).await?;
        let beside = file.parent();
        let root = match data_root(&graph, &beside, &vertices, &edges, stores).await {
            Ok(root) => root,
            Err(error) => {
                problems.push(Problem { fatal: true, error });
                beside
            }
        };
        let mut placed = vec![];
        for InfoFile { info, file } in vertices {
            match vertex_folder(&info, &root).await {
                Ok(folder) => placed.push(Placed { info, file, folder }),
                Err(error) => problems.push(Problem { fatal: true, error }),
            }
        }
        let vertices = placed;
        let mut placed = vec![];
        for InfoFile { info, file } in edges {
            match edge_folder(&info, &root).await {
                Ok(folder) => placed.push(Placed { info, file, folder }),
                Err(error) => problems.push(Problem { fatal: true, error }),
            }
        }
        Ok(Self {
            file,
            kind,
            vertices,
            edges: placed,
            missing,
            problems,
        })
    }
}

async fn vertex_folder(info: &VertexInfo, root: &Location) -> Result<Location> {
    let default = format!("{}/", info.vertex_type);
    let probes = [VertexPaths::new("").vertex_count()];
    folder(root, info.prefix.as_deref(), &default, &probes).await
}

async fn edge_folder(info: &EdgeInfo, root: &Location) -> Result<Location> {
    let lists = info.adj_lists.iter();
    let probes: Vec<String> = lists
        .map(|list| AdjListPaths::new("", list).vertex_count())
        .collect();
    let default = info.default_folder();
    folder(root, info.prefix.as_deref(), &default, &probes).await
}

/// The folder of an element, which has one of the `probes` if it has any data.
async fn folder(
    root: &Location,
    prefix: Option<&str>,
    default: &str,
    probes: &[String],
) -> Result<Location> {
    let folder = element_folder(root, prefix, default, probes).await?;
    for probe in probes {
        if exists(&folder.join(probe)).await? {
            return Ok(folder);
        }
    }
    let target = follow_link(root, prefix.unwrap_or(default)).await?;
    Ok(target.unwrap_or(folder))
}
