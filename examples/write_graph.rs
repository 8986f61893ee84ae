//! A graph written from record batches, and added to: `GraphWriter` below SQL.
//!
//! `cargo run --features cli --example write_graph`

#![allow(clippy::print_stdout)]

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, AsArray, Int64Array, RecordBatch, StringArray};
use datafusion::arrow::datatypes::Int64Type;
use datafusion::arrow::util::pretty::pretty_format_batches;
use datafusion::error::Result;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::prelude::SessionContext;
use datafusion_graphar::format::{
    AdjListType, AdjacentList, Cardinality, EdgeInfo, FileType, Property, PropertyGroup,
    PropertyType, ScalarType, VertexInfo,
};
use datafusion_graphar::session::SessionContextExt;
use datafusion_graphar::storage::Stores;
use datafusion_graphar::writer::{GraphWriter, WriteOptions};
use futures::stream;

fn property(name: &str, scalar: ScalarType, key: bool) -> Property {
    Property {
        name: name.to_owned(),
        data_type: PropertyType::Scalar(scalar),
        is_primary: key,
        is_nullable: !key,
        cardinality: Cardinality::Single,
    }
}

fn person() -> VertexInfo {
    VertexInfo {
        vertex_type: "person".to_owned(),
        chunk_size: 2,
        prefix: None,
        property_groups: vec![PropertyGroup {
            prefix: None,
            file_type: FileType::Parquet,
            properties: vec![
                property("id", ScalarType::Int64, true),
                property("name", ScalarType::String, false),
            ],
        }],
        labels: vec![],
        version: None,
    }
}

fn knows() -> EdgeInfo {
    let list = |layout| AdjacentList {
        layout,
        prefix: None,
        file_type: FileType::Parquet,
        property_groups: vec![],
    };
    EdgeInfo {
        src_type: "person".to_owned(),
        edge_type: "knows".to_owned(),
        dst_type: "person".to_owned(),
        chunk_size: 1024,
        src_chunk_size: 2,
        dst_chunk_size: 2,
        directed: Some(true),
        prefix: None,
        adj_lists: vec![
            list(AdjListType::OrderedBySource),
            list(AdjListType::OrderedByDest),
        ],
        property_groups: vec![],
        version: None,
    }
}

fn persons(ids: &[i64], names: &[&str]) -> Result<RecordBatch> {
    let ids: ArrayRef = Arc::new(Int64Array::from(ids.to_vec()));
    let names: ArrayRef = Arc::new(StringArray::from(names.to_vec()));
    Ok(RecordBatch::try_from_iter([("id", ids), ("name", names)])?)
}

#[tokio::main]
async fn main() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("social.graph.yml").display().to_string();
    let ctx = SessionContext::new();
    let stores = Stores::new(ctx.runtime_env());

    // Vertices first, then the edges between them, by their row numbers.
    let mut writer = GraphWriter::open(&file, &stores, WriteOptions::default()).await?;
    let rows = persons(&[10, 20, 30], &["Ada", "Alan", "Edsger"])?;
    writer.write_vertices(person(), &rows, None).await?;
    let (source, destination) = (
        Int64Array::from(vec![1, 2, 2]),
        Int64Array::from(vec![0, 0, 1]),
    );
    let nothing = rows.project(&[])?;
    writer
        .write_edges(knows(), &source, &destination, &nothing)
        .await?;
    // Up to here nobody sees anything of it.
    writer.commit().await?;

    // More vertices, from a stream.
    let more = persons(&[40], &["Grace"])?;
    let schema = more.schema();
    let more = RecordBatchStreamAdapter::new(schema, stream::iter([Ok(more)]));
    let mut writer = GraphWriter::open(&file, &stores, WriteOptions::default()).await?;
    let written = writer.append_vertices("person", Box::pin(more)).await?;
    assert_eq!(written.rows, 1);
    writer.commit().await?;

    ctx.register_graph("social", &file).await?;
    let known = "SELECT p.name, count(k._src_id) AS known_by
                 FROM social.person p LEFT JOIN social.person_knows_person k ON k._dst_id = p._vertex_id
                 GROUP BY p.name ORDER BY known_by DESC, p.name";
    let rows = ctx.sql(known).await?.collect().await?;
    println!("{}", pretty_format_batches(&rows)?);
    let counts: Vec<i64> = rows
        .iter()
        .flat_map(|batch| {
            batch
                .column(1)
                .as_primitive::<Int64Type>()
                .values()
                .to_vec()
        })
        .collect();
    assert_eq!(counts, [2, 1, 0, 0], "Ada is known by two, Alan by one");
    Ok(())
}
