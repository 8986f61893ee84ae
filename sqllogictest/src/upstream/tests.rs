use super::*;

const GRAPH: &str = r#"{"a/b.graph.yml": {
  "vertices": {
    "p": {"status": "ok", "rows": 2, "labels": [], "properties": [
        {"name": "day", "data_type": "date", "cardinality": "single", "null_count": 1, "checksum": 10},
        {"name": "x", "data_type": "float", "cardinality": "single", "null_count": 2, "checksum": 0.0}],
      "first_3_rows": [{"day": null, "x": null}, {"day": 10, "x": null}]},
    "q": {"status": "no_data", "errors": ["vertex/q/vertex_count: missing file"], "rows": null,
      "labels": [], "properties": [], "first_3_rows": []}},
  "edges": {
    "p|e|p": {"src_type": "p", "edge_type": "e", "dst_type": "p", "adj_lists": {
      "ordered_by_source": {"status": "ok", "edge_count_from_chunks": 1, "sum_src": 0, "sum_dst": 1,
        "vertices_with_out_degree": 1, "max_out_degree": 1, "vertices_with_in_degree": 1,
        "max_in_degree": 1, "two_hop_paths": 0, "properties": [], "first_3_rows": [{"src": 0, "dst": 1}]}}}}}}"#;

fn text() -> String {
    let graphs = parse(GRAPH).unwrap();
    suite("a/b.graph.yml", &graphs["a/b.graph.yml"]).unwrap()
}

#[test]
fn slashes_of_the_path_become_hyphens() {
    assert_eq!(file_name("java/csv/x.graph.yml"), "java-csv-x.slt");
}

#[test]
fn a_graph_is_registered_and_dropped() {
    let text = text();
    assert!(text.contains("LOCATION '${GAR_TEST_DATA}/a/b.graph.yml'\n"));
    assert!(text.ends_with("statement ok\nDROP TABLE g\n"));
}

#[test]
fn dates_are_summed_and_shown_as_days() {
    let text = text();
    assert!(text.contains("sum(arrow_cast(\"day\", 'Int32')) FROM g.\"p\"\n----\n1 10\n"));
    assert!(text.contains("ORDER BY _vertex_id LIMIT 3\n----\n0 NULL NULL\n1 10 NULL\n"));
}

#[test]
fn a_sum_of_nulls_is_null() {
    assert!(text().contains("round(sum(\"x\"), 6) FROM g.\"p\"\n----\n2 NULL\n"));
}

#[test]
fn an_element_without_data_names_the_missing_file() {
    let expected =
        "query error no data: missing file .*vertex/q/vertex_count\nSELECT count(*) FROM g.\"q\"\n";
    assert!(text().contains(expected));
}

#[test]
fn each_layout_is_compared_with_the_table() {
    let text = text();
    assert!(text.contains("SELECT _src_id, _dst_id, 1 AS copies FROM g.\"p_e_p\"\n"));
    assert!(text.contains("SELECT _src_id, _dst_id, -1 FROM g.\"p_e_p$ordered_by_source\")\n"));
    assert!(text.contains("FROM g.\"p_e_p$ordered_by_source\" LIMIT 3\n----\n0 1\n"));
}
