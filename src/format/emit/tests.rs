use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::error::GraphArError;
use crate::format::{AdjListType, ScalarType};

fn property(name: &str, data_type: PropertyType) -> Property {
    Property {
        name: name.to_owned(),
        data_type,
        is_primary: false,
        is_nullable: true,
        cardinality: Cardinality::Single,
    }
}

fn group(file_type: FileType, properties: Vec<Property>) -> PropertyGroup {
    PropertyGroup {
        prefix: None,
        file_type,
        properties,
    }
}

fn person() -> VertexInfo {
    let mut id = property("id", PropertyType::Scalar(ScalarType::Int64));
    id.is_primary = true;
    let mut group = group(FileType::Parquet, vec![id]);
    group.prefix = Some("id".into());
    VertexInfo {
        vertex_type: "person".into(),
        chunk_size: 100,
        prefix: Some("vertex/person".into()),
        property_groups: vec![group],
        labels: vec![],
        version: Some(InfoVersion::default()),
    }
}

fn knows() -> EdgeInfo {
    let list = |layout, prefix: Option<&str>| AdjacentList {
        layout,
        prefix: prefix.map(str::to_owned),
        file_type: FileType::Csv,
        property_groups: vec![],
    };
    let weights = property("w-1", PropertyType::List(ScalarType::Double));
    EdgeInfo {
        src_type: "person".into(),
        edge_type: "knows".into(),
        dst_type: "person".into(),
        chunk_size: 1024,
        src_chunk_size: 100,
        dst_chunk_size: 100,
        directed: Some(false),
        prefix: None,
        adj_lists: vec![
            list(AdjListType::OrderedBySource, Some("csr/")),
            list(AdjListType::UnorderedByDest, None),
        ],
        property_groups: vec![group(FileType::Orc, vec![weights])],
        version: None,
    }
}

#[test]
fn a_vertex_info_looks_like_the_template_that_all_libraries_load() {
    let text = "type: person\nchunk_size: 100\nprefix: vertex/person/\nproperty_groups:\n  - prefix: id/\n    \
                file_type: parquet\n    properties:\n      - name: id\n        data_type: int64\n        \
                is_primary: true\n        is_nullable: false\nversion: gar/v1\n";
    assert_eq!(person().to_yaml().unwrap(), text);
}

#[test]
fn an_edge_info_has_its_layouts_and_quoted_list_types() {
    let text = "src_type: person\nedge_type: knows\ndst_type: person\nchunk_size: 1024\nsrc_chunk_size: 100\n\
                dst_chunk_size: 100\ndirected: false\nadj_lists:\n  - ordered: true\n    aligned_by: src\n    \
                prefix: csr/\n    file_type: csv\n  - ordered: false\n    aligned_by: dst\n    file_type: csv\n\
                property_groups:\n  - file_type: orc\n    properties:\n      - name: \"w-1\"\n        \
                data_type: \"list<double>\"\n        is_primary: false\n        is_nullable: true\n";
    assert_eq!(knows().to_yaml().unwrap(), text);
}

#[test]
fn a_graph_info_has_no_key_without_a_value() {
    let mut info = GraphInfo {
        name: "g".into(),
        vertices: vec!["person.vertex.yml".into()],
        ..GraphInfo::default()
    };
    assert_eq!(
        info.to_yaml().unwrap(),
        "name: g\nvertices:\n  - person.vertex.yml\n"
    );
    info.labels = vec!["a".into(), "true".into()];
    info.extra_info = vec![("k".into(), "v:w".into()), ("flag".into(), String::new())];
    info.version = Some(InfoVersion {
        number: 1,
        user_types: vec!["t1".into(), "t2".into()],
    });
    assert_eq!(
        info.to_yaml().unwrap(),
        "name: g\nvertices:\n  - person.vertex.yml\nlabels:\n  - a\n  - \"true\"\nextra_info:\n  - key: k\n    \
         value: \"v:w\"\n  - key: flag\nversion: \"gar/v1 (t1,t2)\"\n"
    );
}

#[test]
fn cardinality_stands_only_where_there_are_several_values() {
    let mut info = person();
    info.property_groups[0].properties[0].cardinality = Cardinality::Set;
    assert!(
        info.to_yaml()
            .unwrap()
            .ends_with("        is_nullable: false\n        cardinality: set\nversion: gar/v1\n")
    );
}

#[test]
fn names_that_a_library_cannot_load_are_refused() {
    for name in [
        "", " ", "é", "a~", "it's", "a\"b", "a\\b", "a\nb", "a\tb", "\u{7f}",
    ] {
        let mut info = person();
        info.property_groups[0].properties[0].name = name.to_owned();
        match info.to_yaml() {
            Err(GraphArError::Metadata { path, element, .. }) => {
                assert_eq!(path, "person.vertex.yml");
                assert_eq!(element, "property_groups[0].properties[0].name", "{name:?}");
            }
            other => panic!("{name:?}: {other:?}"),
        }
    }
}

#[test]
fn what_no_reader_takes_is_not_written() {
    let vertex = |change: fn(&mut VertexInfo)| {
        let mut info = person();
        change(&mut info);
        info.to_yaml().unwrap_err().to_string()
    };
    let edge = |change: fn(&mut EdgeInfo)| {
        let mut info = knows();
        change(&mut info);
        info.to_yaml().unwrap_err().to_string()
    };
    for (message, element) in [
        (vertex(|v| v.chunk_size = 0), "chunk_size"),
        (vertex(|v| v.chunk_size = u64::MAX), "chunk_size"),
        (
            vertex(|v| {
                v.version = Some(InfoVersion {
                    number: 2,
                    user_types: vec![],
                })
            }),
            "version",
        ),
        (
            vertex(|v| v.property_groups.push(v.property_groups[0].clone())),
            "property_groups[1].properties[0].name",
        ),
        (
            vertex(|v| v.property_groups[0].properties.clear()),
            "property_groups[0].properties",
        ),
        (
            vertex(|v| v.labels = vec!["a".into(), String::new()]),
            "labels[1]",
        ),
        (edge(|e| e.adj_lists.clear()), "adj_lists"),
        (
            edge(|e| e.adj_lists[1].layout = AdjListType::OrderedBySource),
            "adj_lists[1]",
        ),
        (
            edge(|e| e.property_groups[0].file_type = FileType::Csv),
            "property_groups[0].properties[0].data_type",
        ),
        (
            edge(|e| e.property_groups[0].properties[0].cardinality = Cardinality::List),
            "property_groups[0].properties[0].cardinality",
        ),
        (edge(|e| e.edge_type = "a/b".into()), "prefix"),
        (
            edge(|e| e.property_groups[0].properties[0].name = "a/b".into()),
            "property_groups[0].prefix",
        ),
    ] {
        assert!(
            message.contains(&format!(".yml: {element}: expected ")),
            "{message}"
        );
    }
}

/// Holds a text against the limits of the C++ library's parser, line by line.
fn check_dialect(text: &str) -> Result<(), TestCaseError> {
    prop_assert!(
        text.chars().all(|c| c == '\n' || (' '..='}').contains(&c)),
        "characters: {text}"
    );
    prop_assert!(text.ends_with('\n') && !text.contains("\n\n"));
    // Column of the keys, or of the dashes, that the next line must have; `None` after a scalar.
    let mut list_at: Option<usize> = None;
    for line in text.lines() {
        let blanks = line.len() - line.trim_start().len();
        let (is_item, content) = match line[blanks..].strip_prefix("- ") {
            Some(content) => (true, content),
            None => (false, &line[blanks..]),
        };
        prop_assert!(blanks % 2 == 0, "indentation: {line}");
        if let Some(expected) = list_at {
            prop_assert!(
                is_item && blanks == expected,
                "a list below its key: {line}"
            );
        }
        // A key is a bare word; what begins otherwise is an item of a list of scalars.
        let key = content.split(':').next().filter(|key| {
            content.len() > key.len() && key.chars().all(|c| c.is_ascii_lowercase() || c == '_')
        });
        let value = match key {
            Some(key) => &content[key.len() + 1..],
            None => {
                prop_assert!(is_item, "neither key nor item: {line}");
                list_at = None;
                check_scalar(content)?;
                continue;
            }
        };
        if value.is_empty() {
            list_at = Some(blanks + if is_item { 4 } else { 2 });
            continue;
        }
        list_at = None;
        prop_assert!(value.starts_with(' '), "{line}");
        check_scalar(&value[1..])?;
        if key == Some("prefix") {
            prop_assert!(value.trim_end_matches('"').ends_with('/'), "slash: {line}");
        }
        if matches!(
            key,
            Some("is_primary" | "is_nullable" | "ordered" | "directed")
        ) {
            prop_assert!(matches!(value, " true" | " false"), "{line}");
        }
    }
    prop_assert!(list_at.is_none(), "a key without a value: {text}");
    Ok(())
}

fn check_scalar(value: &str) -> Result<(), TestCaseError> {
    prop_assert!(!value.is_empty());
    let quoted = value
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'));
    let inner = quoted.unwrap_or(value);
    prop_assert!(
        !inner.trim().is_empty() && !inner.contains(['"', '\'', '\\']),
        "quotes: {value}"
    );
    if quoted.is_none() {
        prop_assert!(
            !value.contains(|c| SPECIAL.contains(c)),
            "special characters: {value}"
        );
        prop_assert_eq!(value, value.trim());
    }
    Ok(())
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-zA-Z_][a-zA-Z0-9_]{0,12}",
        "[ -&(-.0-\\[\\]-}]{1,10}"
            .prop_filter("a name is not blank, and '/' needs a prefix", |name| {
                !name.trim().is_empty() && !name.contains(['"', '/'])
            }),
        proptest::sample::select(vec![
            "null", "Yes", "1e3", "0x1", "- a", "#", "%", "---", "...", "<<", ".5"
        ])
        .prop_map(str::to_owned),
    ]
}

fn prefix() -> impl Strategy<Value = Option<String>> {
    proptest::option::of(name().prop_map(|name| format!("x/{name}/")))
}

fn version() -> impl Strategy<Value = Option<InfoVersion>> {
    proptest::option::of(
        vec("[a-z][a-z0-9_]{0,5}", 0..3).prop_map(|user_types| InfoVersion {
            number: 1,
            user_types,
        }),
    )
}

/// Property groups with names that differ over all groups.
fn groups(with_lists: bool) -> impl Strategy<Value = Vec<PropertyGroup>> {
    let flags = (
        any::<bool>(),
        any::<bool>(),
        0..8_usize,
        any::<bool>(),
        0..3_usize,
    );
    let group = (prefix(), 0..5_usize, vec((name(), flags), 1..4));
    vec(group, 0..3).prop_map(move |groups| {
        let mut count = 0;
        let mut unique = |name: String| {
            count += 1;
            format!("{name}{count}")
        };
        let groups = groups.into_iter().map(|(prefix, file_type, properties)| {
            let file_type = FileType::ALL[file_type];
            let single = !with_lists || file_type == FileType::Csv;
            let properties = properties.into_iter().map(
                |(name, (primary, nullable, scalar, list, cardinality))| {
                    let scalar = ScalarType::ALL[scalar];
                    Property {
                        name: unique(name),
                        data_type: if list && !single {
                            PropertyType::List(scalar)
                        } else {
                            PropertyType::Scalar(scalar)
                        },
                        is_primary: primary,
                        is_nullable: nullable && !primary,
                        cardinality: if single {
                            Cardinality::Single
                        } else {
                            Cardinality::ALL[cardinality]
                        },
                    }
                },
            );
            PropertyGroup {
                prefix,
                file_type,
                properties: properties.collect(),
            }
        });
        groups.collect()
    })
}

prop_compose! {
    fn graph_info()(
        name in prop_oneof![Just(String::new()), name()],
        prefix in prefix(),
        [vertices, edges, labels] in [vec(name(), 0..3), vec(name(), 0..3), vec(name(), 0..3)],
        extra_info in vec((name(), prop_oneof![Just(String::new()), name()]), 0..3),
        version in version(),
    ) -> GraphInfo {
        GraphInfo { name, prefix, vertices, edges, labels, extra_info, version }
    }
}

prop_compose! {
    fn vertex_info()(
        vertex_type in name(),
        chunk_size in 1..=i64::MAX.unsigned_abs(),
        prefix in prefix(),
        property_groups in groups(true),
        labels in vec(name(), 0..3),
        version in version(),
    ) -> VertexInfo {
        VertexInfo { vertex_type, chunk_size, prefix, property_groups, labels, version }
    }
}

prop_compose! {
    fn edge_info()(
        [src_type, edge_type, dst_type] in [name(), name(), name()],
        [chunk_size, src_chunk_size, dst_chunk_size] in [1..99_u64, 1..99_u64, 1..99_u64],
        directed in any::<Option<bool>>(),
        prefix in prefix(),
        layouts in proptest::sample::subsequence(AdjListType::ALL.to_vec(), 1..=4),
        prefixes in [prefix(), prefix(), prefix(), prefix()],
        file_type in 0..5_usize,
        [property_groups, inner] in [groups(false), groups(false)],
        version in version(),
    ) -> EdgeInfo {
        let adj_lists = layouts.into_iter().zip(prefixes).map(|(layout, prefix)| AdjacentList {
            layout,
            prefix,
            file_type: FileType::ALL[file_type],
            property_groups: inner.clone(),
        });
        EdgeInfo {
            src_type, edge_type, dst_type, chunk_size, src_chunk_size, dst_chunk_size, directed, prefix,
            adj_lists: adj_lists.collect(), property_groups, version,
        }
    }
}

proptest! {
    #[test]
    fn graph_infos_are_read_back(info in graph_info()) {
        // Without any key there is no document.
        prop_assume!(info != GraphInfo::default());
        let text = info.to_yaml().unwrap();
        check_dialect(&text)?;
        prop_assert_eq!(GraphInfo::from_yaml(&text, "g").unwrap(), info, "{}", text);
    }

    #[test]
    fn vertex_infos_are_read_back(info in vertex_info()) {
        let text = info.to_yaml().unwrap();
        check_dialect(&text)?;
        let again = VertexInfo::from_yaml(&text, "v").unwrap();
        prop_assert_eq!(again.to_yaml().unwrap(), text.clone());
        prop_assert_eq!(again, info, "{}", text);
    }

    #[test]
    fn edge_infos_are_read_back(info in edge_info()) {
        let text = info.to_yaml().unwrap();
        check_dialect(&text)?;
        let again = EdgeInfo::from_yaml(&text, "e").unwrap();
        prop_assert_eq!(again.to_yaml().unwrap(), text.clone());
        prop_assert_eq!(again, info, "{}", text);
    }
}

#[test]
fn elements_without_properties_are_read_back() {
    let text = "type: a\nchunk_size: 3\nproperty_groups: []\n";
    let vertex = VertexInfo::from_yaml(text, "v").unwrap();
    let saved = vertex.to_yaml().unwrap();
    assert!(!saved.contains("property_groups"), "{saved}");
    let again = VertexInfo::from_yaml(&saved, "v").unwrap();
    assert_eq!((&again, again.to_yaml().unwrap()), (&vertex, saved));
    let text = "src_type: a\nedge_type: b\ndst_type: a\nchunk_size: 3\nsrc_chunk_size: 3\n\
                dst_chunk_size: 3\nadj_lists:\n  - ordered: true\n    aligned_by: src\n    file_type: csv\n";
    let edge = EdgeInfo::from_yaml(text, "e").unwrap();
    let saved = edge.to_yaml().unwrap();
    let again = EdgeInfo::from_yaml(&saved, "e").unwrap();
    assert_eq!(again.to_yaml().unwrap(), saved);
}
