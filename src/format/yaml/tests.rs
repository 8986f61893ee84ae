use super::*;

const VERTEX: &str = "type: person\nchunk_size: 100\n";
const EDGE: &str = "src_type: a\nedge_type: to\ndst_type: b\nchunk_size: 8\nsrc_chunk_size: 4\ndst_chunk_size: 2\n";

fn vertex(rest: &str) -> Result<VertexInfo> {
    VertexInfo::from_yaml(&format!("{VERTEX}{rest}"), "v.yml")
}

/// A vertex info with one property, given by its keys in flow style.
fn property(keys: &str) -> Result<Property> {
    let groups = format!("property_groups: [{{file_type: parquet, properties: [{{{keys}}}]}}]\n");
    Ok(vertex(&groups)?.properties().next().unwrap().clone())
}

/// An edge info with these layouts, given in flow style.
fn edge(lists: &str) -> Result<EdgeInfo> {
    EdgeInfo::from_yaml(&format!("{EDGE}adj_lists: [{lists}]\n"), "e.yml")
}

fn message<T: std::fmt::Debug>(result: Result<T>) -> String {
    let error = result.unwrap_err();
    assert!(matches!(error, GraphArError::Metadata { .. }), "{error:?}");
    error.to_string()
}

#[test]
fn a_graph_info_is_read_with_all_its_keys() {
    let text = "labels:\n  - l1\nname: g\nprefix: /data/g\nedges:\n- e.yml\nvertices:\n  - v.yml\n  - w.yaml\n\
                extra_info:\n  - key: a\n    value: b\n  - key: c\nversion: gar/v1 (t)\nunknown: [1, {x: y}]\n";
    let info = GraphInfo::from_yaml(text, "g.yml").unwrap();
    assert_eq!(
        info,
        GraphInfo {
            name: "g".into(),
            prefix: Some("/data/g".into()),
            vertices: vec!["v.yml".into(), "w.yaml".into()],
            edges: vec!["e.yml".into()],
            labels: vec!["l1".into()],
            extra_info: vec![("a".into(), "b".into()), ("c".into(), String::new())],
            version: Some(InfoVersion {
                number: 1,
                user_types: vec!["t".into()]
            }),
        }
    );
}

#[test]
fn a_graph_info_needs_no_key() {
    for text in [
        "{}",
        "name:\nvertices:\nedges: ~\nprefix: '  '\nversion: ''\nextra_info:\n",
        "labels: []",
    ] {
        assert_eq!(
            GraphInfo::from_yaml(text, "g.yml").unwrap(),
            GraphInfo::default(),
            "{text}"
        );
    }
}

#[test]
fn extra_info_may_be_a_plain_map() {
    let info = GraphInfo::from_yaml("extra_info:\n  a: 1\n  b:\n", "g.yml").unwrap();
    assert_eq!(
        info.extra_info,
        [
            ("a".to_owned(), "1".to_owned()),
            ("b".to_owned(), String::new())
        ]
    );
}

#[test]
fn a_vertex_info_is_read_with_all_its_keys() {
    let text = "version: gar/v1\nproperty_groups:\n  - properties:\n      - data_type: int64\n        name: id\n        \
                is_primary: true\n        is_nullable: true\n    file_type: orc\n    prefix: id/\n  - file_type: json\n    \
                properties:\n    - name: emails\n      data_type: string\n      cardinality: set\n    - name: x\n      \
                data_type: list<float>\n      is_nullable: false\nlabels:\n  - old\n  - new\nprefix: vertex/person\n\
                chunk_size: 7\ntype: person";
    let info = VertexInfo::from_yaml(text, "v.yml").unwrap();
    assert_eq!((info.vertex_type.as_str(), info.chunk_size), ("person", 7));
    assert_eq!(info.prefix.as_deref(), Some("vertex/person"));
    assert_eq!(info.labels, ["old", "new"]);
    assert_eq!(info.version, Some(InfoVersion::default()));
    assert_eq!(info.property_groups.len(), 2);
    assert_eq!(info.property_groups[0].prefix.as_deref(), Some("id/"));
    assert_eq!(info.property_groups[0].file_type, FileType::Orc);
    assert_eq!(info.property_groups[1].folder(), "emails_x/");
    let properties: Vec<_> = info.properties().collect();
    // A key is never null, whatever the file says.
    assert!(properties[0].is_primary && !properties[0].is_nullable);
    assert_eq!(properties[1].cardinality, Cardinality::Set);
    assert!(properties[1].is_nullable && !properties[2].is_nullable);
    assert_eq!(
        properties[2].data_type,
        PropertyType::List(ScalarType::Float)
    );
}

#[test]
fn an_edge_info_is_read_with_all_its_keys() {
    let text = format!(
        "{EDGE}directed: TRUE\nprefix: edge/x/\nproperty_groups: []\nadj_lists:\n  - ordered: true\n    aligned_by: src\n    \
         file_type: parquet\n  - aligned_by: dst\n    prefix: d/\n    file_type: csv\n    property_groups:\n      - \
         file_type: csv\n        properties:\n          - name: p\n            data_type: date\n"
    );
    let info = EdgeInfo::from_yaml(&text, "e.yml").unwrap();
    assert_eq!(info.key(), "a_to_b");
    assert_eq!(
        (info.chunk_size, info.src_chunk_size, info.dst_chunk_size),
        (8, 4, 2)
    );
    assert_eq!(
        (info.directed, info.prefix.as_deref()),
        (Some(true), Some("edge/x/"))
    );
    assert_eq!(info.property_groups, []);
    let layouts: Vec<_> = info
        .adj_lists
        .iter()
        .map(|list| (list.layout, list.folder(), list.file_type))
        .collect();
    assert_eq!(
        layouts,
        [
            (
                AdjListType::OrderedBySource,
                "ordered_by_source/".to_owned(),
                FileType::Parquet
            ),
            (AdjListType::UnorderedByDest, "d/".to_owned(), FileType::Csv),
        ]
    );
    assert_eq!(
        info.properties()
            .map(|p| p.name.as_str())
            .collect::<Vec<_>>(),
        ["p"]
    );
}

#[test]
fn old_names_of_keys_are_read() {
    let info = VertexInfo::from_yaml("label: person\nchunk_size: 1", "v.yml").unwrap();
    assert_eq!(info.vertex_type, "person");
    let text = EDGE.replace("_type", "_label") + "adj_lists: [{aligned_by: src, file_type: csv}]";
    assert_eq!(EdgeInfo::from_yaml(&text, "e.yml").unwrap().key(), "a_to_b");
    let info = VertexInfo::from_yaml("label: old\ntype: new\nchunk_size: 1", "v.yml").unwrap();
    assert_eq!(info.vertex_type, "new");
}

#[test]
fn texts_are_taken_as_written() {
    for (written, name) in [
        ("1e3", "1e3"),
        ("007", "007"),
        ("true", "true"),
        ("'it''s'", "it's"),
        ("\"a#b\"", "a#b"),
        ("a # comment", "a"),
        ("|\n  block", "block"),
        (">\n  folded\n  text\n", "folded text"),
        ("!!str 5", "5"),
        ("Müller", "Müller"),
    ] {
        let info =
            VertexInfo::from_yaml(&format!("chunk_size: 1\ntype: {written}"), "v.yml").unwrap();
        assert_eq!(info.vertex_type, name, "{written}");
    }
}

#[test]
fn line_ends_document_marks_and_byte_order_marks_are_passed_over() {
    let text = format!(
        "\u{feff}---\r\n# comment\r\n\r\n{}labels:\r\n- x\r\n...\r\n",
        VERTEX.replace('\n', "\r\n")
    );
    let info = VertexInfo::from_yaml(&text, "v.yml").unwrap();
    assert_eq!(
        (info.vertex_type.as_str(), info.chunk_size),
        ("person", 100)
    );
    assert_eq!(info.labels, ["x"]);
}

#[test]
fn the_last_of_duplicate_keys_counts() {
    let info = vertex("chunk_size: 5\nx: 1\nx: 2\nprefix: a/\nprefix:\n").unwrap();
    assert_eq!((info.chunk_size, info.prefix), (5, None));
}

#[test]
fn booleans_are_those_of_the_cpp_library() {
    for (written, value) in [
        ("true", true),
        ("Yes", true),
        ("'1'", true),
        ("1", true),
        ("false", false),
        ("on", false),
        ("y", false),
        ("t", false),
        ("0", false),
        ("2", false),
    ] {
        let property =
            property(&format!("name: a, data_type: bool, is_nullable: {written}")).unwrap();
        assert_eq!(property.is_nullable, value, "{written}");
    }
    assert_eq!(
        edge("{aligned_by: src, file_type: csv}").unwrap().directed,
        None
    );
}

#[test]
fn chunk_sizes_are_positive_integers() {
    for (written, size) in [
        ("\"100\"", 100),
        ("1", 1),
        ("9223372036854775807", i64::MAX.unsigned_abs()),
    ] {
        assert_eq!(
            vertex(&format!("chunk_size: {written}"))
                .unwrap()
                .chunk_size,
            size
        );
    }
    for written in ["0", "-1", "1.5", "many", "9223372036854775808", "0x10"] {
        assert_eq!(
            message(vertex(&format!("chunk_size: {written}"))),
            format!(
                "v.yml: chunk_size: expected an integer from 1 to {}, found '{written}'",
                i64::MAX
            )
        );
    }
    assert!(message(vertex("chunk_size:")).ends_with("found nothing"));
}

#[test]
fn the_aligned_end_is_never_guessed() {
    let layout = |list: &str| edge(list).map(|edge| edge.adj_lists[0].layout);
    for (list, expected) in [
        (
            "{ordered: true, aligned_by: src, file_type: csv}",
            AdjListType::OrderedBySource,
        ),
        (
            "{ordered: true, aligned_by: dst, file_type: csv}",
            AdjListType::OrderedByDest,
        ),
        (
            "{aligned_by: src, file_type: csv}",
            AdjListType::UnorderedBySource,
        ),
        (
            "{ordered: true, prefix: ordered_by_source/, file_type: csv}",
            AdjListType::OrderedBySource,
        ),
        (
            "{aligned_by: DST, prefix: unordered_by_dest, file_type: csv}",
            AdjListType::UnorderedByDest,
        ),
        (
            "{ordered: true, aligned_by: dst, prefix: ordered_by_source/, file_type: csv}",
            AdjListType::OrderedByDest,
        ),
    ] {
        assert_eq!(layout(list).unwrap(), expected, "{list}");
    }
    let place = "e.yml: adj_lists[0].aligned_by: expected src or dst, found ";
    for (list, found) in [
        ("{ordered: true, file_type: csv}", "nothing"),
        (
            "{ordered: true, aligned_by: source, file_type: csv}",
            "'source'",
        ),
        (
            "{ordered: true, prefix: unordered_by_source/, file_type: csv}",
            "nothing",
        ),
    ] {
        assert_eq!(message(layout(list)), format!("{place}{found}"));
    }
}

#[test]
fn groups_without_properties_are_dropped() {
    for rest in [
        "property_groups: []",
        "property_groups:",
        "property_groups: [{file_type: csv, properties: []}]",
    ] {
        assert_eq!(vertex(rest).unwrap().property_groups, [], "{rest}");
    }
}

#[test]
fn errors_name_the_element() {
    let groups = |properties: &str| {
        message(vertex(&format!(
            "property_groups: [{{file_type: csv, properties: [{properties}]}}]"
        )))
    };
    let types = "bool, int32, int64, float, double, string, date, timestamp";
    for (found, expected) in [
        (
            groups("{name: a, data_type: bool}, {name: b, data_type: text}"),
            format!(
                "property_groups[0].properties[1].data_type: expected a type for property 'b', one of {types} \
                 or list<...> of them, found 'text'"
            ),
        ),
        (
            groups("{name: a, data_type: bool}, {name: a, data_type: int32}"),
            "property_groups[0].properties[1].name: expected a name that differs from the one of \
             property_groups[0].properties[0], found 'a'"
                .into(),
        ),
        (
            groups("{data_type: bool}"),
            "property_groups[0].properties[0].name: expected a name, found nothing".into(),
        ),
        (
            groups("{name: a, data_type: bool, cardinality: bag}"),
            "property_groups[0].properties[0].cardinality: expected one of single, list, set, found 'bag'".into(),
        ),
        (
            message(vertex("property_groups: [{file_type: txt, properties: [{name: a, data_type: bool}]}]")),
            "property_groups[0].file_type: expected one of parquet, orc, csv, json, arrow, found 'txt'".into(),
        ),
        (message(vertex("version: gar/v2")), "version: expected gar/v1, found 'gar/v2'".into()),
        (message(vertex("type: ' '")), "type: expected a name, found nothing".into()),
        (message(vertex("labels: [a, '']")), "labels[1]: expected a name, found nothing".into()),
    ] {
        assert_eq!(found, format!("v.yml: {expected}"));
    }
    let list = "{aligned_by: src, file_type: csv}";
    for (found, expected) in [
        (
            message(edge(&format!("{list}, {list}"))),
            "adj_lists[1]: expected a layout that differs from the one of adj_lists[0], found 'unordered_by_source'",
        ),
        (
            message(edge("")),
            "adj_lists: expected at least one layout, found nothing",
        ),
        (
            message(edge("{aligned_by: src}")),
            "adj_lists[0].file_type: expected one of parquet, orc, csv, json, arrow, found nothing",
        ),
        (
            message(edge(
                "{aligned_by: src, file_type: csv, property_groups: [{file_type: csv, properties: \
                 [{name: a, data_type: bool, cardinality: list}]}]}",
            )),
            "adj_lists[0].property_groups[0].properties[0].cardinality: expected single, the only cardinality \
             of edge properties, found 'list'",
        ),
    ] {
        assert_eq!(found, format!("e.yml: {expected}"));
    }
}

#[test]
fn declared_types_are_no_types_of_properties() {
    let text = "version: gar/v1 (money)\nproperty_groups: [{file_type: csv, properties: [{name: a, data_type: money}]}]";
    let message = message(vertex(text));
    assert!(
        message.contains("property 'a'") && message.contains("'version' declares"),
        "{message}"
    );
}

#[test]
fn wrong_shapes_are_reported_with_their_place() {
    for (text, start) in [
        ("labels: a", "v.yml: labels: expected a sequence"),
        ("type: [a]", "v.yml: type: expected a text"),
        (
            "property_groups: [x]",
            "v.yml: property_groups[0]: expected keys and values",
        ),
        (
            "property_groups: [{properties: [{name: {}}]}]",
            "v.yml: property_groups[0].properties[0].name: expected a text",
        ),
        ("x: 'open", "v.yml: document: expected YAML"),
    ] {
        let message = message(vertex(text));
        assert!(message.starts_with(start), "{message}");
    }
    for text in ["", "# nothing", "- a", "text", "a: b\n---\na: b"] {
        let message = message(GraphInfo::from_yaml(text, "g.yml"));
        assert!(
            message.starts_with("g.yml: document: expected "),
            "{text}: {message}"
        );
    }
}

#[test]
fn hostile_documents_end_in_an_error_or_are_passed_over() {
    // Nine aliases of nine aliases of …: a billion texts, were they spelt out.
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..10 {
        let items = vec![format!("*a{}", level - 1); 9].join(", ");
        bomb.push_str(&format!("a{level}: &a{level} [{items}]\n"));
    }
    assert!(vertex(&bomb).is_ok());
    assert!(vertex(&format!("{bomb}labels: *a9\n")).is_err());
    let groups = "g: &g {file_type: csv, properties: &p [{name: a, data_type: bool}]}\n";
    let many = vec!["*g"; 10_000].join(", ");
    assert!(vertex(&format!("{groups}property_groups: [{many}]\n")).is_err());
    for (open, times) in [
        ("[", 2_000),
        ("{a: ", 2_000),
        ("[", 1_000_000),
        ("{a: ", 1_000_000),
        ("- ", 1_000_000),
    ] {
        assert!(VertexInfo::from_yaml(&format!("type: {}", open.repeat(times)), "v.yml").is_err());
    }
}
