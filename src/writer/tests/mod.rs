//! Bytes on the store against naive readers: none of the crate's own reading code.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use datafusion::arrow::array::{ArrayRef, AsArray, Int64Array, RecordBatch, RecordBatchOptions};
use datafusion::arrow::datatypes::{Int64Type, Schema};
use datafusion::parquet::arrow::arrow_reader::ParquetRecordBatchReader;
use futures::TryStreamExt;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};

use super::{GraphWriter, Written};
use crate::error::GraphArError;
use crate::format::{
    AdjListType, AdjacentList, Cardinality, EdgeInfo, FileType, Property, PropertyGroup,
    PropertyType, ScalarType, VertexInfo,
};

mod archive;
mod edges;

type Files = BTreeMap<String, Bytes>;

async fn files(store: &InMemory) -> Files {
    let mut out = Files::new();
    for meta in store.list(None).try_collect::<Vec<_>>().await.unwrap() {
        let bytes = store
            .get(&meta.location)
            .await
            .unwrap()
            .bytes()
            .await
            .unwrap();
        out.insert(meta.location.to_string(), bytes);
    }
    out
}

fn count(files: &Files, name: &str) -> i64 {
    let bytes: [u8; 8] = files[name].as_ref().try_into().unwrap();
    i64::from_le_bytes(bytes)
}

/// The integer columns of a chunk, row by row.
fn rows(files: &Files, name: &str, file_type: FileType) -> Vec<Vec<i64>> {
    let bytes = files.get(name).unwrap_or_else(|| panic!("{name}")).clone();
    if file_type == FileType::Csv {
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        return text
            .lines()
            .skip(1)
            .map(|l| l.split(',').map(|v| v.parse().unwrap()).collect())
            .collect();
    }
    assert_eq!(file_type, FileType::Parquet);
    let batch = parquet(bytes);
    let columns: Vec<_> = batch
        .columns()
        .iter()
        .map(|c| c.as_primitive::<Int64Type>().values().to_vec())
        .collect();
    (0..batch.num_rows())
        .map(|r| columns.iter().map(|c| c[r]).collect())
        .collect()
}

fn parquet(bytes: Bytes) -> RecordBatch {
    let mut batches: Vec<_> = ParquetRecordBatchReader::try_new(bytes, 1 << 20)
        .unwrap()
        .map(|batch| batch.unwrap())
        .collect();
    assert_eq!(batches.len(), 1);
    batches.remove(0)
}

fn property(name: &str, scalar: ScalarType) -> Property {
    Property {
        name: name.to_owned(),
        data_type: PropertyType::Scalar(scalar),
        is_primary: false,
        is_nullable: true,
        cardinality: Cardinality::Single,
    }
}

fn group(properties: Vec<Property>, file_type: FileType) -> PropertyGroup {
    PropertyGroup {
        prefix: None,
        file_type,
        properties,
    }
}

fn person(chunk_size: u64, properties: Vec<Property>, file_type: FileType) -> VertexInfo {
    VertexInfo {
        vertex_type: "person".to_owned(),
        chunk_size,
        prefix: None,
        property_groups: properties
            .into_iter()
            .map(|p| group(vec![p], file_type))
            .collect(),
        labels: vec![],
        version: None,
    }
}

fn knows(
    chunk_size: u64,
    vertex_chunk_size: u64,
    properties: Vec<Property>,
    file_type: FileType,
) -> EdgeInfo {
    EdgeInfo {
        src_type: "person".to_owned(),
        edge_type: "knows".to_owned(),
        dst_type: "person".to_owned(),
        chunk_size,
        src_chunk_size: vertex_chunk_size,
        dst_chunk_size: vertex_chunk_size,
        directed: Some(true),
        prefix: None,
        adj_lists: AdjListType::ALL
            .map(|layout| AdjacentList {
                layout,
                prefix: None,
                file_type,
                property_groups: vec![],
            })
            .to_vec(),
        property_groups: properties
            .into_iter()
            .map(|p| group(vec![p], file_type))
            .collect(),
        version: None,
    }
}

fn ids(count: i64) -> RecordBatch {
    ints("id", (1000..1000 + count).collect())
}

fn ints(name: &str, values: Vec<i64>) -> RecordBatch {
    RecordBatch::try_from_iter([(name, Arc::new(Int64Array::from(values)) as ArrayRef)]).unwrap()
}

fn nothing(rows: usize) -> RecordBatch {
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(Arc::new(Schema::empty()), vec![], &options).unwrap()
}

fn new_writer() -> (Arc<InMemory>, GraphWriter) {
    let store = Arc::new(InMemory::new());
    let writer = GraphWriter::create(
        Arc::clone(&store) as Arc<dyn ObjectStore>,
        Path::from("g"),
        "g",
    );
    (store, writer)
}

/// A writer with `V(vertices, chunk_size)`, `id = 1000 + index`.
async fn with_persons(
    vertices: i64,
    chunk_size: u64,
    file_type: FileType,
) -> (Arc<InMemory>, GraphWriter) {
    let (store, mut writer) = new_writer();
    let info = person(
        chunk_size,
        vec![property("id", ScalarType::Int64)],
        file_type,
    );
    writer
        .write_vertices(info, &ids(vertices), None)
        .await
        .unwrap();
    (store, writer)
}

async fn write_edges(
    writer: &mut GraphWriter,
    info: EdgeInfo,
    edges: &[(i64, i64)],
) -> Result<Written, GraphArError> {
    let properties = match info.property_groups.is_empty() {
        true => nothing(edges.len()),
        false => ints(
            "w",
            edges.iter().map(|(src, dst)| 100 * src + dst).collect(),
        ),
    };
    let source = Int64Array::from_iter_values(edges.iter().map(|e| e.0));
    let destination = Int64Array::from_iter_values(edges.iter().map(|e| e.1));
    writer
        .write_edges(info, &source, &destination, &properties)
        .await
}
