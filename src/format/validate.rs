//! Consistency of a whole graph's metadata.
//!
//! What a single info file can get wrong is refused when it is read. Here stands what only
//! shows when the files are put side by side, and no library checks.

use std::collections::BTreeMap;

use super::yaml::metadata;
use super::{
    DST_COLUMN, EdgeInfo, GraphInfo, Property, PropertyGroup, SRC_COLUMN, VERTEX_INDEX_COLUMN,
    VertexInfo,
};
use crate::error::GraphArError;

/// Columns of a vertex table, and of its files, that are no properties.
const VERTEX_COLUMNS: [&str; 3] = ["_vertex_id", "_labels", VERTEX_INDEX_COLUMN];
/// Columns of an edge table, and of its files, that are no properties.
const EDGE_COLUMNS: [&str; 4] = ["_src_id", "_dst_id", SRC_COLUMN, DST_COLUMN];

/// Something that is wrong with a graph's metadata.
#[derive(Debug)]
pub struct Problem {
    /// Whether the graph cannot be opened. Otherwise a part of it cannot be used, or only in
    /// part, and the rest can.
    pub fatal: bool,
    /// What is wrong, and where.
    pub error: GraphArError,
}

/// All problems of a graph: of `graph`, read from `graph_path`, and the infos that it names,
/// each with the path that it was read from.
///
/// Fatal are two elements of one name, an info file that is listed twice, and properties with
/// the name of a built-in column. Not fatal are an end of an edge triplet that the graph does
/// not have, vertex chunk sizes that differ between an edge triplet and its vertex types, and
/// layouts of a triplet with different properties.
pub fn validate_graph(
    graph_path: &str,
    graph: &GraphInfo,
    vertices: &[(String, VertexInfo)],
    edges: &[(String, EdgeInfo)],
) -> Vec<Problem> {
    let mut problems = Problems(vec![]);
    problems.listed_twice(graph_path, "vertices", &graph.vertices);
    problems.listed_twice(graph_path, "edges", &graph.edges);
    let types = problems.vertices(vertices);
    problems.edges(graph_path, edges, &types);
    problems.0
}

/// The infos by their name, each with its path.
type Named<'a, T> = BTreeMap<String, (&'a str, &'a T)>;

struct Problems(Vec<Problem>);

impl Problems {
    fn fatal(&mut self, error: GraphArError) {
        self.0.push(Problem { fatal: true, error });
    }

    fn warning(&mut self, error: GraphArError) {
        self.0.push(Problem {
            fatal: false,
            error,
        });
    }

    fn listed_twice(&mut self, path: &str, key: &str, entries: &[String]) {
        let mut seen = BTreeMap::new();
        for (index, entry) in entries.iter().enumerate() {
            if let Some(first) = seen.get(entry) {
                let expected = format!("a file that differs from {key}[{first}]");
                self.fatal(metadata(
                    path,
                    format!("{key}[{index}]"),
                    expected,
                    format!("'{entry}'"),
                ));
            } else {
                seen.insert(entry, index);
            }
        }
    }

    fn vertices<'a>(&mut self, vertices: &'a [(String, VertexInfo)]) -> Named<'a, VertexInfo> {
        let mut types = Named::new();
        for (path, info) in vertices {
            self.columns(path, "", &info.property_groups, &VERTEX_COLUMNS);
            match types.get(&info.vertex_type) {
                // A file that is listed twice has been reported as such.
                Some((first, _)) if *first == path => {}
                Some((first, _)) => {
                    let expected = format!("a vertex type that differs from the one of {first}");
                    self.fatal(metadata(
                        path,
                        "type",
                        expected,
                        format!("'{}'", info.vertex_type),
                    ));
                }
                None => {
                    types.insert(info.vertex_type.clone(), (path.as_str(), info));
                }
            }
        }
        types
    }

    fn edges(
        &mut self,
        graph_path: &str,
        edges: &[(String, EdgeInfo)],
        types: &Named<'_, VertexInfo>,
    ) {
        let mut keys: Named<'_, EdgeInfo> = Named::new();
        for (path, info) in edges {
            let key = info.key();
            if let Some((first, _)) = types.get(&key) {
                let expected = format!("a name that differs from the vertex type of {first}");
                self.fatal(metadata(path, "edge_type", expected, format!("'{key}'")));
            }
            match keys.get(&key) {
                Some((first, _)) if *first == path => continue,
                Some((first, other)) => self.same_key(path, info, first, other),
                None => {
                    keys.insert(key, (path.as_str(), info));
                }
            }
            self.end(
                graph_path,
                path,
                ["src_type", "src_chunk_size"],
                &info.src_type,
                info.src_chunk_size,
                types,
            );
            self.end(
                graph_path,
                path,
                ["dst_type", "dst_chunk_size"],
                &info.dst_type,
                info.dst_chunk_size,
                types,
            );
            self.columns(path, "", &info.property_groups, &EDGE_COLUMNS);
            for (index, list) in info.adj_lists.iter().enumerate() {
                self.columns(
                    path,
                    &format!("adj_lists[{index}]."),
                    &list.property_groups,
                    &EDGE_COLUMNS,
                );
            }
            self.layouts(path, info);
        }
    }

    /// Two triplets of one key: the same triplet, or another one whose names join to the same text.
    fn same_key(&mut self, path: &str, info: &EdgeInfo, first: &str, other: &EdgeInfo) {
        let triplet =
            |info: &EdgeInfo| format!("({}, {}, {})", info.src_type, info.edge_type, info.dst_type);
        let (found, taken) = (triplet(info), triplet(other));
        let expected = format!("an edge triplet of another key than {taken} of {first}");
        self.fatal(metadata(
            path,
            "edge_type",
            expected,
            format!("{found} with the key '{}'", info.key()),
        ));
    }

    /// One end of an edge triplet: its type, and the chunk size by which its edges are cut.
    fn end(
        &mut self,
        graph_path: &str,
        path: &str,
        [type_key, size_key]: [&str; 2],
        vertex_type: &str,
        chunk_size: u64,
        types: &Named<'_, VertexInfo>,
    ) {
        match types.get(vertex_type) {
            Some((vertex_path, vertex)) if vertex.chunk_size != chunk_size => {
                let expected = format!("{}, the chunk_size of {vertex_path}", vertex.chunk_size);
                // Parts are cut by the edge info's own size, so the edges can be read all the same.
                self.warning(metadata(path, size_key, expected, chunk_size.to_string()));
            }
            Some(_) => {}
            None => {
                let expected = format!("a vertex type of {graph_path}");
                self.warning(metadata(
                    path,
                    type_key,
                    expected,
                    format!("'{vertex_type}'"),
                ));
            }
        }
    }

    fn columns(&mut self, path: &str, owner: &str, groups: &[PropertyGroup], taken: &[&str]) {
        for (i, group) in groups.iter().enumerate() {
            for (j, property) in group.properties.iter().enumerate() {
                if taken.contains(&property.name.as_str()) {
                    let element = format!("{owner}property_groups[{i}].properties[{j}].name");
                    let expected = format!(
                        "another name than those of the columns {}",
                        taken.join(", ")
                    );
                    self.fatal(metadata(
                        path,
                        element,
                        expected,
                        format!("'{}'", property.name),
                    ));
                }
            }
        }
    }

    /// Property groups in the old place, inside the layouts, may differ from layout to layout.
    fn layouts(&mut self, path: &str, info: &EdgeInfo) {
        let mut all: Vec<&Property> = info.properties().collect();
        all.sort_by_key(|property| &property.name);
        for (index, list) in info.adj_lists.iter().enumerate() {
            let groups = info.property_groups_of(list.layout);
            let mut own: Vec<&Property> =
                groups.iter().flat_map(|group| &group.properties).collect();
            own.sort_by_key(|property| &property.name);
            if own != all {
                let element = format!("adj_lists[{index}].property_groups");
                self.warning(metadata(path, element, described(&all), described(&own)));
            }
        }
    }
}

fn described(properties: &[&Property]) -> String {
    let items: Vec<String> = properties
        .iter()
        .map(|p| format!("{} ({})", p.name, p.data_type))
        .collect();
    if items.is_empty() {
        "no properties".to_owned()
    } else {
        format!("the properties {}", items.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vertex(name: &str, chunk_size: u64) -> (String, VertexInfo) {
        let path = format!("{name}.vertex.yml");
        let text = format!("type: {name}\nchunk_size: {chunk_size}\n");
        (path.clone(), VertexInfo::from_yaml(&text, &path).unwrap())
    }

    fn edge(
        path: &str,
        [src, edge, dst]: [&str; 3],
        sizes: [u64; 2],
        rest: &str,
    ) -> (String, EdgeInfo) {
        let text = format!(
            "src_type: {src}\nedge_type: {edge}\ndst_type: {dst}\nchunk_size: 9\nsrc_chunk_size: {}\n\
             dst_chunk_size: {}\nadj_lists:\n  - {{ordered: true, aligned_by: src, file_type: csv}}\n{rest}",
            sizes[0], sizes[1]
        );
        (path.to_owned(), EdgeInfo::from_yaml(&text, path).unwrap())
    }

    /// The problems, those that are not fatal with `?` before them.
    fn found(
        graph: &GraphInfo,
        vertices: &[(String, VertexInfo)],
        edges: &[(String, EdgeInfo)],
    ) -> Vec<String> {
        let problems = validate_graph("g.graph.yml", graph, vertices, edges);
        problems
            .iter()
            .map(|p| format!("{}{}", if p.fatal { "" } else { "?" }, p.error))
            .collect()
    }

    #[test]
    fn a_sound_graph_has_no_problems() {
        let edges = [
            edge("e", ["a", "to", "b"], [2, 3], ""),
            edge("f", ["b", "to", "b"], [3, 3], ""),
        ];
        let graph = GraphInfo {
            vertices: vec!["a".into(), "b".into()],
            ..GraphInfo::default()
        };
        assert_eq!(
            found(&graph, &[vertex("a", 2), vertex("b", 3)], &edges),
            Vec::<String>::new()
        );
    }

    #[test]
    fn all_problems_are_reported_at_once() {
        let mut twin = vertex("a", 2);
        twin.0 = "twin.yml".into();
        let vertices = [vertex("a", 2), twin, vertex("b", 3), vertex("a_to_b", 1)];
        let edges = [
            edge("e", ["a", "to", "b"], [2, 4], ""),
            edge("f", ["a", "to", "b"], [5, 3], ""),
            edge("g", ["a", "to", "c"], [2, 3], ""),
        ];
        let graph = GraphInfo {
            edges: vec!["e".into(), "f".into(), "e".into()],
            ..GraphInfo::default()
        };
        assert_eq!(
            found(&graph, &vertices, &edges),
            [
                "g.graph.yml: edges[2]: expected a file that differs from edges[0], found 'e'",
                "twin.yml: type: expected a vertex type that differs from the one of a.vertex.yml, found 'a'",
                "e: edge_type: expected a name that differs from the vertex type of a_to_b.vertex.yml, found 'a_to_b'",
                "?e: dst_chunk_size: expected 3, the chunk_size of b.vertex.yml, found 4",
                "f: edge_type: expected a name that differs from the vertex type of a_to_b.vertex.yml, found 'a_to_b'",
                "f: edge_type: expected an edge triplet of another key than (a, to, b) of e, \
                 found (a, to, b) with the key 'a_to_b'",
                "?f: src_chunk_size: expected 2, the chunk_size of a.vertex.yml, found 5",
                "?g: dst_type: expected a vertex type of g.graph.yml, found 'c'",
            ]
        );
    }

    #[test]
    fn triplets_whose_names_join_to_one_key_collide() {
        let vertices = [vertex("a_b", 1), vertex("a", 1), vertex("d", 1)];
        let edges = [
            edge("e", ["a_b", "c", "d"], [1, 1], ""),
            edge("f", ["a", "b_c", "d"], [1, 1], ""),
        ];
        assert_eq!(
            found(&GraphInfo::default(), &vertices, &edges),
            [
                "f: edge_type: expected an edge triplet of another key than (a_b, c, d) of e, \
              found (a, b_c, d) with the key 'a_b_c_d'"
            ]
        );
    }

    #[test]
    fn a_file_that_is_listed_twice_is_reported_once() {
        let graph = GraphInfo {
            vertices: vec!["a.yml".into(), "a.yml".into()],
            ..GraphInfo::default()
        };
        assert_eq!(
            found(&graph, &[vertex("a", 2), vertex("a", 2)], &[]),
            [
                "g.graph.yml: vertices[1]: expected a file that differs from vertices[0], found 'a.yml'"
            ]
        );
    }

    #[test]
    fn properties_may_not_be_named_like_built_in_columns() {
        let groups = |name: &str| {
            format!(
                "property_groups: [{{file_type: csv, properties: [{{name: {name}, data_type: bool}}]}}]"
            )
        };
        for name in VERTEX_COLUMNS {
            let text = format!("type: a\nchunk_size: 1\n{}", groups(name));
            let info = VertexInfo::from_yaml(&text, "v").unwrap();
            let problems = found(&GraphInfo::default(), &[("v".into(), info)], &[]);
            assert_eq!(problems.len(), 1, "{name}");
            assert!(
                problems[0].starts_with("v: property_groups[0].properties[0].name: "),
                "{}",
                problems[0]
            );
        }
        for name in EDGE_COLUMNS {
            let edges = [edge("e", ["a", "to", "a"], [1, 1], &groups(name))];
            assert_eq!(
                found(&GraphInfo::default(), &[vertex("a", 1)], &edges).len(),
                1,
                "{name}"
            );
        }
        let edges = [edge("e", ["a", "to", "a"], [1, 1], &groups("_vertex_id"))];
        assert_eq!(
            found(&GraphInfo::default(), &[vertex("a", 1)], &edges),
            Vec::<String>::new()
        );
    }

    #[test]
    fn layouts_with_other_properties_are_reported() {
        let rest = "  - aligned_by: dst\n    file_type: csv\n    property_groups:\n      - file_type: csv\n        \
                    properties: [{name: p, data_type: bool}]\n";
        let edges = [edge("e", ["a", "to", "a"], [1, 1], rest)];
        assert_eq!(
            found(&GraphInfo::default(), &[vertex("a", 1)], &edges),
            [
                "?e: adj_lists[0].property_groups: expected the properties p (bool), found no properties"
            ]
        );
    }
}
