//! Which of the three info files a text is.

use std::collections::BTreeMap;

use serde::de::IgnoredAny;

use super::yaml::{metadata, parse};
use crate::error::Result;

/// Kind of an info file. The name of the file is only a convention, so its keys decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InfoKind {
    /// Lists the info files of a graph.
    Graph,
    /// Describes a vertex type.
    Vertex,
    /// Describes an edge triplet.
    Edge,
}

impl InfoKind {
    /// The kind of an info file, by the keys that only this kind has.
    ///
    /// # Errors
    /// If the text is not a YAML map, or has none of these keys.
    pub fn of(text: &str, path: &str) -> Result<Self> {
        let map: BTreeMap<String, IgnoredAny> = parse(text, path)?;
        let has = |keys: &[&str]| keys.iter().any(|key| map.contains_key(*key));
        if has(&["edge_type", "edge_label", "adj_lists"]) {
            Ok(Self::Edge)
        } else if has(&["chunk_size", "property_groups"]) {
            Ok(Self::Vertex)
        } else if has(&["vertices", "edges", "name", "prefix", "version"]) {
            Ok(Self::Graph)
        } else {
            let keys: Vec<&str> = map.keys().map(String::as_str).take(8).collect();
            Err(metadata(
                path,
                "document",
                "a graph, vertex or edge info",
                format!("the keys {}", keys.join(", ")),
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_tell_the_kind() {
        for (text, kind) in [
            ("name: g\nvertices:\n  - a.vertex.yml\n", InfoKind::Graph),
            ("version: gar/v1\nname: empty\n", InfoKind::Graph),
            ("type: a\nchunk_size: 3\n", InfoKind::Vertex),
            ("label: a\nchunk_size: 3\nprefix: a/\n", InfoKind::Vertex),
            (
                "src_type: a\nedge_type: b\ndst_type: c\nchunk_size: 3\n",
                InfoKind::Edge,
            ),
            (
                "src_label: a\nedge_label: b\ndst_label: c\n",
                InfoKind::Edge,
            ),
        ] {
            assert_eq!(InfoKind::of(text, "x").unwrap(), kind, "{text}");
        }
    }

    #[test]
    fn other_text_is_refused_with_the_path() {
        for text in ["", "- a\n", "services:\n  web: {}\n", "a: b: c"] {
            let error = InfoKind::of(text, "dir/x.yml").unwrap_err().to_string();
            assert!(
                error.starts_with("dir/x.yml: document: expected"),
                "{error}"
            );
        }
    }
}
