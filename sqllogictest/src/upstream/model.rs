//! The reference values, as far as the suites use them.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

/// What is known about one graph.
#[derive(Debug, Deserialize)]
pub struct Graph {
    /// By vertex type.
    pub vertices: BTreeMap<String, Vertex>,
    /// By `source|edge|destination`.
    pub edges: BTreeMap<String, Edge>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Status {
    Ok,
    Partial,
    NoData,
}

/// One vertex type.
#[derive(Debug, Deserialize)]
pub struct Vertex {
    pub(super) status: Status,
    #[serde(default)]
    pub(super) errors: Vec<String>,
    pub(super) rows: Option<u64>,
    pub(super) labels: Vec<String>,
    pub(super) label_data: Option<LabelData>,
    pub(super) properties: Vec<Property>,
    pub(super) first_3_rows: Vec<BTreeMap<String, Value>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct LabelData {
    pub(super) true_counts: BTreeMap<String, u64>,
    pub(super) rows_without_label: u64,
    pub(super) rows_with_several_labels: u64,
    pub(super) first_3_rows: Vec<Vec<String>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Property {
    pub(super) name: String,
    pub(super) data_type: String,
    #[serde(default)]
    pub(super) cardinality: Option<String>,
    pub(super) null_count: Option<u64>,
    pub(super) checksum: Option<Checksum>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Checksum {
    List {
        items: u64,
        null_items: u64,
        item_sum: Value,
    },
    Scalar(Value),
}

/// One edge triplet.
#[derive(Debug, Deserialize)]
pub struct Edge {
    pub(super) src_type: String,
    pub(super) edge_type: String,
    pub(super) dst_type: String,
    pub(super) adj_lists: BTreeMap<String, AdjList>,
}

#[derive(Debug, Deserialize)]
pub(super) struct AdjList {
    pub(super) status: Status,
    #[serde(default)]
    pub(super) errors: Vec<String>,
    pub(super) edge_count_from_chunks: Option<u64>,
    pub(super) sum_src: Option<i64>,
    pub(super) sum_dst: Option<i64>,
    pub(super) vertices_with_out_degree: Option<u64>,
    pub(super) max_out_degree: Option<u64>,
    pub(super) vertices_with_in_degree: Option<u64>,
    pub(super) max_in_degree: Option<u64>,
    pub(super) two_hop_paths: Option<u64>,
    pub(super) properties: Vec<Property>,
    #[serde(default)]
    pub(super) first_3_rows: Vec<BTreeMap<String, Value>>,
}

/// The path in an error such as `vertex/person/vertex_count: missing file`.
pub(super) fn missing_file(errors: &[String]) -> Option<&str> {
    errors
        .iter()
        .find_map(|error| error.strip_suffix(": missing file"))
}
