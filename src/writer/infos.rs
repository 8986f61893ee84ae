//! Infos that are written: completed, and checked.

use super::output::length;
use crate::error::{GraphArError, Result};
use crate::format::{
    EdgeInfo, GraphInfo, InfoVersion, PropertyGroup, VertexInfo, join_prefix, validate_graph,
};

/// The folders of a vertex type's chunks.
pub(super) fn vertex_folders(info: &VertexInfo) -> Vec<String> {
    let prefix = info.prefix.as_deref().unwrap_or_default();
    let groups = info.property_groups.iter();
    let mut folders: Vec<_> = groups
        .map(|group| join_prefix(prefix, &group.folder()))
        .collect();
    if !info.labels.is_empty() {
        folders.push(join_prefix(prefix, "labels/"));
    }
    folders
}

/// The folders of an edge triplet's chunks.
pub(super) fn edge_folders(info: &EdgeInfo) -> Vec<String> {
    let prefix = info.prefix.as_deref().unwrap_or_default();
    let mut folders = vec![];
    for list in &info.adj_lists {
        let folder = join_prefix(prefix, &list.folder());
        folders.push(join_prefix(&folder, "adj_list/"));
        if list.layout.is_ordered() {
            folders.push(join_prefix(&folder, "offset/"));
        }
        let groups = info.property_groups.iter();
        folders.extend(groups.map(|group| join_prefix(&folder, &group.folder())));
    }
    folders
}

/// The first thing that keeps a graph with these infos from being opened. Whether the infos
/// fit each other was checked against what is written.
pub(super) fn check_graph(
    vertices: &[(String, VertexInfo)],
    edges: &[(String, EdgeInfo)],
) -> Result<()> {
    let problems = validate_graph("", &GraphInfo::default(), vertices, edges);
    match problems.into_iter().find(|problem| problem.fatal) {
        Some(problem) => Err(problem.error),
        None => Ok(()),
    }
}

pub(super) fn version() -> InfoVersion {
    InfoVersion::default()
}

/// The prefix to write: an empty one would have to be left out of the info file, where it
/// means the default, and some readers do not supply a slash at the end.
pub(super) fn spelled_out(prefix: Option<String>, default: String) -> String {
    match prefix {
        Some(prefix) if prefix.ends_with('/') => prefix,
        Some(prefix) if !prefix.is_empty() => format!("{prefix}/"),
        _ => default,
    }
}

pub(super) fn spell_out_groups(groups: &mut [PropertyGroup]) {
    for group in groups {
        group.prefix.take_if(|prefix| prefix.is_empty());
        group.prefix = Some(group.folder()).filter(|folder| !folder.is_empty());
    }
}

pub(super) fn check_name(file: &str, element: &str, name: &str) -> Result<()> {
    if name.is_empty() || name.contains('/') {
        return Err(GraphArError::Metadata {
            path: file.to_owned(),
            element: element.to_owned(),
            expected: "a name, without a slash".to_owned(),
            found: format!("'{name}'"),
        });
    }
    Ok(())
}

pub(super) fn check_size(file: &str, element: &str, size: u64) -> Result<()> {
    if length(size) == 0 {
        return Err(GraphArError::Metadata {
            path: file.to_owned(),
            element: element.to_owned(),
            expected: "at least 1".to_owned(),
            found: size.to_string(),
        });
    }
    Ok(())
}

pub(super) fn repeated(file: &str, element: &str, name: &str) -> GraphArError {
    GraphArError::Metadata {
        path: file.to_owned(),
        element: element.to_owned(),
        expected: "a name that is not written yet".to_owned(),
        found: format!("'{name}' a second time"),
    }
}
