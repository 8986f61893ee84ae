//! Where the data of a graph and of its elements lie (format reference, "path resolution").
//!
//! Two libraries disagree on what an absent prefix means, and a prefix can name a folder of
//! the machine on which the archive was written. So there can be more than one candidate;
//! the first that has a count file is taken, and the first of all if none has.

use super::archive::InfoFile;
use super::files::{exists, read_link};
use super::location::Location;
use super::stores::Stores;
use crate::error::Result;
use crate::format::{AdjListPaths, EdgeInfo, GraphInfo, VertexInfo};

/// The folder that all element prefixes start from: the graph info's own prefix, or its
/// folder if there is no prefix or nothing behind it.
pub(super) async fn data_root(
    graph: &GraphInfo,
    beside: &Location,
    vertices: &[InfoFile<VertexInfo>],
    edges: &[InfoFile<EdgeInfo>],
    stores: &Stores,
) -> Result<Location> {
    let Some(prefix) = graph.prefix.as_deref() else {
        return Ok(beside.clone());
    };
    let given = match beside.resolve(prefix, stores) {
        Ok(given) if given.same_as(beside) => return Ok(given),
        Ok(given) => given,
        Err(error) => {
            if has_data(beside, vertices, edges).await? {
                log::warn!("{error}; using {beside}, where the graph info is");
                return Ok(beside.clone());
            }
            return Err(error);
        }
    };
    if has_data(&given, vertices, edges).await? {
        return Ok(given);
    }
    if has_data(beside, vertices, edges).await? {
        log::warn!("no data below {given}; using {beside}, where the graph info is");
        return Ok(beside.clone());
    }
    Ok(given)
}

/// Whether a count file of any element lies below `root`.
async fn has_data(
    root: &Location,
    vertices: &[InfoFile<VertexInfo>],
    edges: &[InfoFile<EdgeInfo>],
) -> Result<bool> {
    for vertex in vertices {
        let info = &vertex.info;
        for folder in folders(info.prefix.as_deref(), &format!("{}/", info.vertex_type)) {
            let folder = root.join(folder);
            if exists(&folder.join("vertex_count")).await? {
                return Ok(true);
            }
        }
    }
    for edge in edges {
        let info = &edge.info;
        for folder in folders(info.prefix.as_deref(), &info.default_folder()) {
            let folder = root.join(folder);
            for list in &info.adj_lists {
                let count = AdjListPaths::new("", list).vertex_count();
                if exists(&folder.join(&count)).await? {
                    return Ok(true);
                }
            }
        }
    }
    Ok(false)
}

/// The folder of an element: its prefix below the root. Without a prefix it is the element's
/// name (C++), or the root itself (Spark, Java) if only there is one of the `probes`.
pub(super) async fn element_folder(
    root: &Location,
    prefix: Option<&str>,
    default: &str,
    probes: &[String],
) -> Result<Location> {
    let candidates = folders(prefix, default);
    if candidates.len() > 1 {
        for folder in &candidates {
            let folder = root.join(folder);
            for probe in probes {
                if exists(&folder.join(probe)).await? {
                    return Ok(folder);
                }
            }
        }
    }
    Ok(root.join(candidates[0]))
}

/// Where `folder` is if the first part of its path that is a file names another place.
///
/// Archives with symbolic links that were copied to where there are none have small files with
/// the target's path instead, as git writes them.
pub(super) async fn follow_link(root: &Location, folder: &str) -> Result<Option<Location>> {
    let mut place = root.clone();
    let mut parts = folder.split('/').filter(|part| !part.is_empty());
    while let Some(part) = parts.next() {
        let link = place.join(part);
        if let Some(target) = read_link(&link).await? {
            let rest: Vec<&str> = parts.collect();
            return Ok(Some(place.join(&target).join(&rest.join("/"))));
        }
        place = link;
    }
    Ok(None)
}

fn folders<'a>(prefix: Option<&'a str>, default: &'a str) -> Vec<&'a str> {
    match prefix {
        Some(prefix) => vec![prefix],
        None => vec![default, ""],
    }
}
