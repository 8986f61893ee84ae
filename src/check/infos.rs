//! Info files: there, readable, and in agreement.

use super::{Context, Rule};
use crate::error::GraphArError;
use crate::format::InfoKind;
use crate::storage::InspectedArchive;

/// Reports what is wrong with the info files.
pub(super) fn check_infos(context: &Context, archive: &InspectedArchive) {
    let report = &context.report;
    let graph = &archive.file;
    for missing in &archive.missing {
        let kind = match missing.kind {
            InfoKind::Graph => "graph",
            InfoKind::Vertex => "vertex",
            InfoKind::Edge => "edge",
        };
        let expected = format!("the {kind} info that {} names", graph.file_name());
        report.add(&missing.path, Rule::MissingInfo, expected, "no such file");
    }
    // The end of a triplet has no type for us if the info of one cannot be read, or no other was opened.
    let incomplete = archive.kind != InfoKind::Graph
        || archive.missing.iter().any(|m| m.kind == InfoKind::Vertex)
        || archive.problems.iter().any(|problem| problem.fatal);
    for problem in &archive.problems {
        let unknown_end = !problem.fatal
            && matches!(&problem.error, GraphArError::Metadata { element, .. }
                if element == "src_type" || element == "dst_type");
        if !(unknown_end && incomplete) {
            let error = &problem.error;
            match path_of(error) {
                Some(path) => report.error(&path, error),
                None => report.error(graph, error),
            }
        }
    }
}

/// The file that an error is about.
fn path_of(error: &GraphArError) -> Option<&str> {
    match error {
        GraphArError::Metadata { path, .. }
        | GraphArError::CorruptFile { path, .. }
        | GraphArError::Payload { path, .. }
        | GraphArError::Store { path, .. } => Some(path),
        _ => None,
    }
}
