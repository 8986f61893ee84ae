//! A graph to try things on: TinkerPop's "modern" graph.
//!
//! Four persons and two pieces of software:
//!
//! ```text
//! marko (29) --knows 0.5--> vadas (27)      marko --created 0.4--> lop (java)
//! marko      --knows 1.0--> josh (32)       josh  --created 1.0--> ripple (java)
//! peter (35)                                josh  --created 0.4--> lop
//!                                           peter --created 0.2--> lop
//! ```

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use object_store::ObjectStore;
use object_store::path::Path;

use crate::error::{GraphArError, Result};
use crate::format::{
    AdjListType, AdjacentList, Cardinality, EdgeInfo, FileType, InfoVersion, Property,
    PropertyGroup, PropertyType, ScalarType, VertexInfo,
};
use crate::writer::GraphWriter;

/// Rows of a vertex chunk and of an edge chunk; small enough for several of each.
const CHUNK_SIZE: u64 = 2;

/// Writes the sample with Parquet chunks below `root`. Gives the path of its graph info,
/// `<root>/modern.graph.yml`.
///
/// Vertex types are `person` (`id`, the primary key; `name`; `age`) and `software` (`id`,
/// `name`, `lang`), each in two property groups; edge triplets are `person_knows_person` and
/// `person_created_software` (`weight`), each ordered by source and by destination. All chunk
/// sizes are 2.
///
/// # Errors
/// If the store fails.
pub async fn write_sample(store: Arc<dyn ObjectStore>, root: Path) -> Result<Path> {
    write_sample_as(store, root, FileType::Parquet).await
}

/// Writes the sample like [`write_sample`], with all chunks in this file type.
///
/// # Errors
/// If the store fails, or the file type is not built in.
pub async fn write_sample_as(
    store: Arc<dyn ObjectStore>,
    root: Path,
    file_type: FileType,
) -> Result<Path> {
    let mut writer = GraphWriter::create(store, root, "modern");
    let persons = rows([
        ("id", ints([1, 2, 4, 6])),
        ("name", strings(["marko", "vadas", "josh", "peter"])),
        ("age", ints([29, 27, 32, 35])),
    ])?;
    writer
        .write_vertices(
            vertex_info("person", ("age", ScalarType::Int64), file_type),
            &persons,
            None,
        )
        .await?;
    let software = rows([
        ("id", ints([3, 5])),
        ("name", strings(["lop", "ripple"])),
        ("lang", strings(["java", "java"])),
    ])?;
    writer
        .write_vertices(
            vertex_info("software", ("lang", ScalarType::String), file_type),
            &software,
            None,
        )
        .await?;
    let knows = rows([("weight", floats([0.5, 1.0]))])?;
    let ends = (
        Int64Array::from_iter_values([0, 0]),
        Int64Array::from_iter_values([1, 2]),
    );
    writer
        .write_edges(
            edge_info("knows", "person", file_type),
            &ends.0,
            &ends.1,
            &knows,
        )
        .await?;
    let created = rows([("weight", floats([0.4, 1.0, 0.4, 0.2]))])?;
    let ends = (
        Int64Array::from_iter_values([0, 2, 2, 3]),
        Int64Array::from_iter_values([0, 1, 0, 0]),
    );
    writer
        .write_edges(
            edge_info("created", "software", file_type),
            &ends.0,
            &ends.1,
            &created,
        )
        .await?;
    writer.commit().await
}

fn vertex_info(vertex_type: &str, last: (&str, ScalarType), file_type: FileType) -> VertexInfo {
    let id = Property {
        is_primary: true,
        is_nullable: false,
        ..property("id", ScalarType::Int64)
    };
    let rest = vec![
        property("name", ScalarType::String),
        property(last.0, last.1),
    ];
    VertexInfo {
        vertex_type: vertex_type.to_owned(),
        chunk_size: CHUNK_SIZE,
        prefix: None,
        property_groups: vec![group(vec![id], file_type), group(rest, file_type)],
        labels: vec![],
        version: Some(InfoVersion::default()),
    }
}

fn edge_info(edge_type: &str, dst_type: &str, file_type: FileType) -> EdgeInfo {
    let list = |layout| AdjacentList {
        layout,
        prefix: None,
        file_type,
        property_groups: vec![],
    };
    EdgeInfo {
        src_type: "person".to_owned(),
        edge_type: edge_type.to_owned(),
        dst_type: dst_type.to_owned(),
        chunk_size: CHUNK_SIZE,
        src_chunk_size: CHUNK_SIZE,
        dst_chunk_size: CHUNK_SIZE,
        directed: Some(true),
        prefix: None,
        adj_lists: vec![
            list(AdjListType::OrderedBySource),
            list(AdjListType::OrderedByDest),
        ],
        property_groups: vec![group(
            vec![property("weight", ScalarType::Double)],
            file_type,
        )],
        version: Some(InfoVersion::default()),
    }
}

fn group(properties: Vec<Property>, file_type: FileType) -> PropertyGroup {
    PropertyGroup {
        prefix: None,
        file_type,
        properties,
    }
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

fn ints<const N: usize>(values: [i64; N]) -> ArrayRef {
    Arc::new(Int64Array::from_iter_values(values))
}

fn floats<const N: usize>(values: [f64; N]) -> ArrayRef {
    Arc::new(Float64Array::from_iter_values(values))
}

fn strings<const N: usize>(values: [&str; N]) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(values))
}

fn rows<const N: usize>(columns: [(&str, ArrayRef); N]) -> Result<RecordBatch> {
    RecordBatch::try_from_iter(columns).map_err(|e| GraphArError::payload("sample", e))
}

#[cfg(test)]
mod tests {
    use futures::TryStreamExt;
    use object_store::memory::InMemory;
    use object_store::{ObjectStore, ObjectStoreExt};

    use super::*;

    async fn sample(root: Path, file_type: FileType) -> (Arc<InMemory>, Path) {
        let store = Arc::new(InMemory::new());
        let path = write_sample_as(Arc::clone(&store) as Arc<dyn ObjectStore>, root, file_type)
            .await
            .unwrap();
        (store, path)
    }

    async fn text(store: &InMemory, name: &str) -> String {
        let bytes = store
            .get(&Path::from(name))
            .await
            .unwrap()
            .bytes()
            .await
            .unwrap();
        String::from_utf8(bytes.to_vec()).unwrap()
    }

    #[tokio::test]
    async fn every_file_of_the_format_and_no_other() {
        for file_type in FileType::ALL {
            if cfg!(not(feature = "orc")) && file_type == FileType::Orc {
                continue;
            }
            let (store, path) = sample(Path::from("a/b"), file_type).await;
            assert_eq!(path.as_ref(), "a/b/modern.graph.yml");
            let mut names: Vec<_> = store
                .list(None)
                .map_ok(|meta| meta.location.to_string())
                .try_collect()
                .await
                .unwrap();
            names.sort();

            let mut expected: Vec<String> = vec!["modern.graph.yml".into()];
            expected.extend(["person.vertex.yml", "software.vertex.yml"].map(Into::into));
            expected.extend(
                [
                    "person_knows_person.edge.yml",
                    "person_created_software.edge.yml",
                ]
                .map(Into::into),
            );
            for (vertex_type, groups, chunks) in [
                ("person", ["id", "name_age"], 2),
                ("software", ["id", "name_lang"], 1),
            ] {
                expected.push(format!("vertex/{vertex_type}/vertex_count"));
                for group in groups {
                    expected.extend(
                        (0..chunks)
                            .map(|chunk| format!("vertex/{vertex_type}/{group}/chunk{chunk}")),
                    );
                }
            }
            // The last column is the number of edges of each part.
            for (edge, layout, parts) in [
                ("person_knows_person", "ordered_by_source", vec![2, 0]),
                ("person_knows_person", "ordered_by_dest", vec![1, 1]),
                ("person_created_software", "ordered_by_source", vec![1, 3]),
                ("person_created_software", "ordered_by_dest", vec![4]),
            ] {
                let folder = format!("edge/{edge}/{layout}");
                expected.push(format!("{folder}/vertex_count"));
                for (part, edges) in parts.into_iter().enumerate() {
                    expected.push(format!("{folder}/edge_count{part}"));
                    expected.push(format!("{folder}/offset/chunk{part}"));
                    for chunk in 0..usize::div_ceil(edges, 2) {
                        expected.push(format!("{folder}/adj_list/part{part}/chunk{chunk}"));
                        expected.push(format!("{folder}/weight/part{part}/chunk{chunk}"));
                    }
                }
            }
            let mut expected: Vec<_> = expected
                .into_iter()
                .map(|name| format!("a/b/{name}"))
                .collect();
            expected.sort();
            assert_eq!(names, expected, "{file_type}");
        }
    }

    #[tokio::test]
    async fn chunks_and_infos_as_text() {
        let (store, _) = sample(Path::default(), FileType::Csv).await;
        assert_eq!(
            text(&store, "vertex/person/name_age/chunk1").await,
            "\"_graphArVertexIndex\",\"name\",\"age\"\n2,\"josh\",32\n3,\"peter\",35\n"
        );
        let folder = "edge/person_created_software/ordered_by_source";
        for (name, rows) in [
            (
                "adj_list/part1/chunk0",
                "\"_graphArSrcIndex\",\"_graphArDstIndex\"\n2,1\n2,0\n",
            ),
            ("weight/part1/chunk0", "\"weight\"\n1\n0.4\n"),
            ("offset/chunk0", "\"_graphArOffset\"\n0\n1\n1\n"),
            ("offset/chunk1", "\"_graphArOffset\"\n0\n2\n3\n"),
        ] {
            assert_eq!(text(&store, &format!("{folder}/{name}")).await, rows);
        }
        let graph = text(&store, "modern.graph.yml").await;
        assert!(!graph.contains("prefix"), "{graph}");
        assert!(
            graph.contains("  - person_created_software.edge.yml\n"),
            "{graph}"
        );
        let info = text(&store, "person_created_software.edge.yml").await;
        for line in [
            "prefix: edge/person_created_software/\n",
            "prefix: ordered_by_dest/\n",
            "version: gar/v1\n",
        ] {
            assert!(info.contains(line), "{info}");
        }
    }
}
