//! A graph of one vertex type and one edge triplet, with hubs.
//!
//! Vertices of type `node` have an `id`, which is their internal id, a `score` from 0 to below a
//! million in no order, and a `name` in a property group of its own. Edges
//! `node_links_node` have sources spread evenly and destinations crowded towards vertex 0:
//! `destination = floor(n * u³)` with `u` even in `[0, 1)`, so that of a million vertices
//! vertex 0 alone has a hundredth of all incoming edges, as hubs have in real graphs.
//! Each edge has a `note`, `e<row>` with the row in which it was made, which tells a
//! property that slid against its edge.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, AsArray, Int64Array, RecordBatch, StringViewArray};
use datafusion::arrow::compute::concat_batches;
use datafusion::arrow::datatypes::{DataType, Field, Int64Type, Schema, SchemaRef};
use object_store::ObjectStore;
use object_store::path::Path;

use super::random::SplitMix;
use crate::error::{GraphArError, Result};
use crate::format::{
    AdjListType, AdjacentList, Cardinality, EdgeInfo, FileType, InfoVersion, Property,
    PropertyGroup, PropertyType, ScalarType, VertexInfo,
};
use crate::writer::GraphWriter;

/// Size and storage of a synthetic graph. Equal sizes give equal graphs, however stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntheticGraph {
    /// Number of vertices. Without vertices there are no edges either.
    pub vertices: u32,
    /// Number of edges.
    pub edges: u32,
    /// Rows of a vertex chunk, at least 1.
    pub vertex_chunk_size: u64,
    /// Rows of an edge chunk, at least 1.
    pub edge_chunk_size: u64,
    /// Stored layouts, at least one.
    pub layouts: Vec<AdjListType>,
    /// File type of all chunks.
    pub file_type: FileType,
}

impl SyntheticGraph {
    /// A graph of this size in Parquet, in both ordered layouts, with vertex chunks of 2^16
    /// and edge chunks of 2^20 rows.
    pub fn new(vertices: u32, edges: u32) -> Self {
        Self {
            vertices,
            edges,
            vertex_chunk_size: 1 << 16,
            edge_chunk_size: 1 << 20,
            layouts: vec![AdjListType::OrderedBySource, AdjListType::OrderedByDest],
            file_type: FileType::Parquet,
        }
    }

    /// Info of the vertex type `node`.
    pub fn vertex_info(&self) -> VertexInfo {
        VertexInfo {
            vertex_type: "node".to_owned(),
            chunk_size: self.vertex_chunk_size,
            prefix: None,
            property_groups: vec![
                self.group(&[("id", ScalarType::Int64), ("score", ScalarType::Int64)]),
                self.group(&[("name", ScalarType::String)]),
            ],
            labels: vec![],
            version: Some(InfoVersion::default()),
        }
    }

    /// Info of the edge triplet `node_links_node`.
    pub fn edge_info(&self) -> EdgeInfo {
        let list = |layout| AdjacentList {
            layout,
            prefix: None,
            file_type: self.file_type,
            property_groups: vec![],
        };
        EdgeInfo {
            src_type: "node".to_owned(),
            edge_type: "links".to_owned(),
            dst_type: "node".to_owned(),
            chunk_size: self.edge_chunk_size,
            src_chunk_size: self.vertex_chunk_size,
            dst_chunk_size: self.vertex_chunk_size,
            directed: Some(true),
            prefix: None,
            adj_lists: self.layouts.iter().copied().map(list).collect(),
            property_groups: vec![self.group(&[("note", ScalarType::String)])],
            version: Some(InfoVersion::default()),
        }
    }

    /// The vertices in batches of `batch_size` rows: `id`, `score`, `name` (`node <id>`).
    pub fn vertex_batches(&self, batch_size: u32) -> impl Iterator<Item = Result<RecordBatch>> {
        pieces(self.vertices, batch_size).map(|rows| {
            let names =
                StringViewArray::from_iter_values(rows.clone().map(|id| format!("node {id}")));
            let scores = rows.clone().map(|id| SplitMix(id.into()).below(SCORES));
            let scores = Arc::new(Int64Array::from_iter_values(scores));
            batch(vertex_schema(), vec![ids(rows), scores, Arc::new(names)])
        })
    }

    /// The edges in batches of `batch_size` rows: `source`, `destination`, `note`, the first
    /// two internal ids. The graph does not depend on the batch size.
    pub fn edge_batches(&self, batch_size: u32) -> impl Iterator<Item = Result<RecordBatch>> {
        let vertices = u64::from(self.vertices);
        let mut random = SplitMix(SEED);
        pieces(if vertices == 0 { 0 } else { self.edges }, batch_size).map(move |rows| {
            let mut sources = Vec::with_capacity(rows.len());
            let mut destinations = Vec::with_capacity(rows.len());
            for _ in rows.clone() {
                sources.push(random.below(vertices));
                destinations.push(random.skewed(vertices));
            }
            let notes = StringViewArray::from_iter_values(rows.map(|row| format!("e{row}")));
            let columns: Vec<ArrayRef> = vec![
                Arc::new(Int64Array::from(sources)),
                Arc::new(Int64Array::from(destinations)),
                Arc::new(notes),
            ];
            batch(edge_schema(), columns)
        })
    }

    /// Writes the graph as the archive `synthetic` below `root`; gives the path of its graph
    /// info. Needs about 70 bytes of memory for an edge.
    ///
    /// # Errors
    /// If the store fails, or a size or the file type is not usable.
    pub async fn write(&self, store: Arc<dyn ObjectStore>, root: Path) -> Result<Path> {
        let mut writer = GraphWriter::create(store, root, "synthetic");
        let rows = collect(&vertex_schema(), self.vertex_batches(1 << 16))?;
        writer
            .write_vertices(self.vertex_info(), &rows, None)
            .await?;
        let rows = collect(&edge_schema(), self.edge_batches(1 << 16))?;
        let end = |column: usize| rows.column(column).as_primitive::<Int64Type>();
        writer
            .write_edges(self.edge_info(), end(0), end(1), &rows)
            .await?;
        writer.commit().await
    }

    fn group(&self, properties: &[(&str, ScalarType)]) -> PropertyGroup {
        let property = |(name, scalar): &(&str, ScalarType)| {
            let is_primary = *name == "id";
            Property {
                name: (*name).to_owned(),
                data_type: PropertyType::Scalar(*scalar),
                is_primary,
                is_nullable: !is_primary,
                cardinality: Cardinality::Single,
            }
        };
        PropertyGroup {
            prefix: None,
            file_type: self.file_type,
            properties: properties.iter().map(property).collect(),
        }
    }
}

/// Scores are below this.
const SCORES: u64 = 1_000_000;

const SEED: u64 = 0x6772_6170_6861_7221;

fn pieces(rows: u32, size: u32) -> impl Iterator<Item = std::ops::Range<u32>> {
    let size = size.max(1);
    (0..rows.div_ceil(size))
        .map(move |i| i * size..i.saturating_add(1).saturating_mul(size).min(rows))
}

fn ids(rows: std::ops::Range<u32>) -> ArrayRef {
    Arc::new(Int64Array::from_iter_values(rows.map(i64::from)))
}

fn vertex_schema() -> SchemaRef {
    schema([
        ("id", DataType::Int64),
        ("score", DataType::Int64),
        ("name", DataType::Utf8View),
    ])
}

fn edge_schema() -> SchemaRef {
    schema([
        ("source", DataType::Int64),
        ("destination", DataType::Int64),
        ("note", DataType::Utf8View),
    ])
}

fn schema<const N: usize>(columns: [(&str, DataType); N]) -> SchemaRef {
    Arc::new(Schema::new(
        columns
            .map(|(name, data_type)| Field::new(name, data_type, false))
            .to_vec(),
    ))
}

fn batch(schema: SchemaRef, columns: Vec<ArrayRef>) -> Result<RecordBatch> {
    RecordBatch::try_new(schema, columns).map_err(|e| GraphArError::payload("synthetic graph", e))
}

fn collect(
    schema: &SchemaRef,
    batches: impl Iterator<Item = Result<RecordBatch>>,
) -> Result<RecordBatch> {
    let batches = batches.collect::<Result<Vec<_>>>()?;
    concat_batches(schema, &batches).map_err(|e| GraphArError::payload("synthetic graph", e))
}

#[cfg(test)]
mod tests {
    use object_store::memory::InMemory;
    use object_store::{ObjectStore, ObjectStoreExt};

    use super::*;

    fn edges(graph: &SyntheticGraph, batch_size: u32) -> RecordBatch {
        collect(&edge_schema(), graph.edge_batches(batch_size)).unwrap()
    }

    #[test]
    fn the_graph_does_not_depend_on_the_batch_size() {
        let graph = SyntheticGraph::new(1000, 2500);
        assert_eq!(edges(&graph, 1), edges(&graph, 1000));
        assert_eq!(edges(&graph, 7), edges(&graph, u32::MAX));
        let vertices = |size| collect(&vertex_schema(), graph.vertex_batches(size)).unwrap();
        assert_eq!(vertices(3), vertices(0));
        assert_eq!(vertices(1000).num_rows(), 1000);
    }

    #[test]
    fn sources_are_even_and_destinations_crowd_at_zero() {
        let rows = edges(&SyntheticGraph::new(1000, 20_000), 4096);
        let below = |column: usize, bound: i64| {
            rows.column(column)
                .as_primitive::<Int64Type>()
                .values()
                .iter()
                .filter(|id| **id < bound)
                .count()
        };
        assert_eq!((below(0, 0), below(0, 1000)), (0, 20_000));
        assert_eq!((below(1, 0), below(1, 1000)), (0, 20_000));
        assert!((9_500..10_500).contains(&below(0, 500)));
        // Half of the cubes are below an eighth, a tenth below a thousandth.
        assert!((9_500..10_500).contains(&below(1, 125)));
        assert!((1_800..2_200).contains(&below(1, 1)));
        assert_eq!(rows.column(2).as_string_view().value(17), "e17");
    }

    #[tokio::test]
    async fn it_is_written_with_all_its_edges() {
        let store = Arc::new(InMemory::new());
        let graph = SyntheticGraph {
            vertex_chunk_size: 64,
            edge_chunk_size: 100,
            ..SyntheticGraph::new(200, 1000)
        };
        graph
            .write(Arc::clone(&store) as Arc<dyn ObjectStore>, Path::default())
            .await
            .unwrap();
        for layout in &graph.layouts {
            let mut total = 0;
            for part in 0..4 {
                let name = format!("edge/node_links_node/{layout}/edge_count{part}");
                let bytes = store
                    .get(&Path::from(name))
                    .await
                    .unwrap()
                    .bytes()
                    .await
                    .unwrap();
                total += i64::from_le_bytes(bytes.as_ref().try_into().unwrap());
            }
            assert_eq!(total, 1000);
        }
        assert_eq!(edges(&SyntheticGraph::new(0, 10), 4).num_rows(), 0);
        let empty = SyntheticGraph::new(0, 10);
        empty
            .write(
                Arc::clone(&store) as Arc<dyn ObjectStore>,
                Path::from("empty"),
            )
            .await
            .unwrap();
    }
}
