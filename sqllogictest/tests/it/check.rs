//! `graph_check` on archives that are sound, and on copies with one thing wrong.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use datafusion::arrow::array::{ArrayRef, Int32Array, RecordBatch, StringArray};
use datafusion::arrow::datatypes::DataType;
use datafusion::execution::memory_pool::GreedyMemoryPool;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::prelude::SessionContext;
use datafusion_graphar::check::{Level, Rule, check};
use datafusion_graphar::format::{AdjListType, FileType};
use datafusion_graphar::session::SessionContextExt;
use datafusion_graphar::storage::{Location, Stores};
use futures::{StreamExt, TryStreamExt};
use object_store::memory::InMemory;
use tempfile::TempDir;

use crate::fixture::*;

const CREATED: &str = "edge/person_created_software/ordered_by_source";
const KNOWS: &str = "edge/person_knows_person";

const COLUMNS: [&str; 4] = ["file", "rule", "expected", "found"];

/// A copy of the sample graph in the local file system.
struct Copy {
    folder: TempDir,
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

impl Copy {
    /// Of the sample in this payload format.
    fn of(format: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/modern");
        copy(&data.join(format), folder.path());
        Self { folder }
    }

    fn path(&self, file: &str) -> PathBuf {
        self.folder.path().join(file)
    }

    fn put(&self, file: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.path(file), bytes).unwrap();
    }

    fn count(&self, file: &str, count: i64) {
        self.put(file, count.to_le_bytes());
    }

    fn remove(&self, file: &str) {
        let path = self.path(file);
        if path.is_dir() {
            fs::remove_dir_all(path).unwrap();
        } else {
            fs::remove_file(path).unwrap();
        }
    }

    fn replace(&self, file: &str, from: &str, to: &str) {
        let text = fs::read_to_string(self.path(file)).unwrap();
        assert!(text.contains(from), "{file}: {text}");
        self.put(file, text.replace(from, to));
    }

    fn parquet(&self, file: &str, columns: Vec<(&str, ArrayRef)>) {
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let file = fs::File::create(self.path(file)).unwrap();
        let mut writer = ArrowWriter::try_new(file, batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
    }

    fn graph(&self) -> String {
        self.path("modern.graph.yml").to_str().unwrap().to_owned()
    }

    /// The violations as `file rule: expected …, found …`, sorted.
    async fn check(&self, level: &str) -> Vec<String> {
        let ctx = session();
        let sql = format!(
            "SELECT file || ' ' || rule || ': expected ' || expected || ', found ' || found \
             FROM graph_check('{}', '{level}')",
            self.graph()
        );
        let folder = format!("{}/", self.folder.path().display());
        let found = rows(&ctx, &sql).await;
        let mut found: Vec<String> = found.iter().map(|row| row.replace(&folder, "")).collect();
        found.sort();
        found
    }
}

fn session() -> SessionContext {
    How::default().session(Arc::new(InMemory::new()))
}

fn strings(values: &[&str]) -> ArrayRef {
    Arc::new(StringArray::from(values.to_vec()))
}

#[tokio::test]
async fn a_sound_archive_has_no_violations() {
    for format in ["parquet", "orc", "csv", "json", "arrow"] {
        let archive = Copy::of(format);
        for level in ["deep", "shallow"] {
            let found = archive.check(level).await;
            assert_eq!(found, Vec::<String>::new(), "{format} {level}");
        }
    }
}

/// Parts without edges, chunks that are exactly full, no vertices at all, equal edges, loops.
#[tokio::test]
async fn archives_of_the_writer_have_no_violations() {
    for file_type in FileType::ALL {
        for (vertices, vertex_chunk, edge_chunk) in [(0, 3, 2), (1, 1, 1), (9, 3, 4), (40, 7, 5)] {
            let mut info = knows(vertex_chunk, edge_chunk, file_type);
            info.adj_lists = AdjListType::ALL
                .map(|layout| list(layout, file_type))
                .to_vec();
            let count = if vertices == 0 { 0 } else { 60 };
            let edges: Vec<(i64, i64)> = (0..count)
                .map(|i| (i * i * 3 % vertices % 20, i * 5 % vertices / 2))
                .collect();
            let archive = Fixture::persons(vertices, vertex_chunk, file_type)
                .await
                .edges(info, &edges, None)
                .await
                .finish()
                .await;
            let ctx = archive.session().await;
            for level in ["deep", "shallow"] {
                let sql = format!("SELECT * FROM graph_check('g', '{level}')");
                let found = rows(&ctx, &sql).await;
                assert!(found.is_empty(), "{file_type} {vertices} {found:#?}");
            }
        }
    }
}

/// Something that is done to an archive, and the rows that a deep check then has.
type Damage = (&'static str, fn(&Copy), &'static [&'static str]);

async fn each(format: &str, level: &str, damages: &[Damage]) {
    for (what, damage, expected) in damages {
        let archive = Copy::of(format);
        damage(&archive);
        assert_eq!(archive.check(level).await, *expected, "{what}");
    }
}

#[tokio::test]
async fn damage_to_infos_and_counts_is_found() {
    let damages: &[Damage] = &[
        (
            "an info that is not there",
            |a| {
                a.replace(
                    "modern.graph.yml",
                    "  - software.vertex.yml",
                    "  - software.vertex.yml\n  - city.vertex.yml",
                )
            },
            &[
                "city.vertex.yml missing_info: expected the vertex info that modern.graph.yml names, found no such file",
            ],
        ),
        (
            "an info that cannot be parsed, and something else behind it",
            |a| {
                a.replace("software.vertex.yml", "int64", "integer64");
                a.count(&format!("{CREATED}/vertex_count"), 5);
            },
            &[
                "edge/person_created_software/ordered_by_source/vertex_count aligned_count: expected 4, the vertices of type person, found 5",
                "software.vertex.yml metadata: expected a type for property 'id', one of bool, int32, int64, float, double, string, date, timestamp or list<...> of them (property_groups[0].properties[0].data_type), found 'integer64'",
            ],
        ),
        (
            "chunk sizes that differ",
            |a| {
                a.replace(
                    "person_knows_person.edge.yml",
                    "dst_chunk_size: 2",
                    "dst_chunk_size: 4",
                )
            },
            &[
                "edge/person_knows_person/ordered_by_dest layout_edges: expected 2 edges, as in ordered_by_source, found 1",
                "edge/person_knows_person/ordered_by_dest/offset/chunk0 offset_count: expected at least 5, for the 4 vertices of part 0, found 3",
                "person_knows_person.edge.yml metadata: expected 2, the chunk_size of person.vertex.yml (dst_chunk_size), found 4",
            ],
        ),
        (
            "a count that is too short",
            |a| a.put(&format!("{CREATED}/edge_count0"), [1, 0, 0]),
            &[
                "edge/person_created_software/ordered_by_source/edge_count0 count_file: expected 8 bytes, a number >= 0, found 3 bytes",
            ],
        ),
        (
            "a count that is not there",
            |a| a.remove("vertex/person/vertex_count"),
            &[
                "vertex/person/vertex_count missing_file: expected the number of vertices of type person, found no such file",
            ],
        ),
        (
            "a part without a count",
            |a| a.remove(&format!("{CREATED}/edge_count1")),
            &[
                "edge/person_created_software/ordered_by_source/edge_count1 missing_file: expected the number of edges of part 1 of 2, found no such file",
            ],
        ),
        (
            "more vertices than there are",
            |a| a.count("vertex/software/vertex_count", 3),
            &[
                "edge/person_created_software/ordered_by_dest/edge_count1 missing_file: expected the number of edges of part 1 of 2, found no such file",
                "edge/person_created_software/ordered_by_dest/vertex_count aligned_count: expected 3, the vertices of type software, found 2",
                "vertex/software/id/chunk1 missing_file: expected chunk 2 of the 2 for 3 rows by vertex_count, found no such file",
                "vertex/software/name_lang/chunk1 missing_file: expected chunk 2 of the 2 for 3 rows by vertex_count, found no such file",
            ],
        ),
        (
            "fewer vertices than there are",
            |a| a.count("vertex/person/vertex_count", 3),
            &[
                "vertex/person/vertex_count wrong_count: expected 4 rows, as its chunks have, found 3 rows",
            ],
        ),
        (
            "fewer edges than there are",
            |a| a.count(&format!("{CREATED}/edge_count1"), 2),
            &[
                "edge/person_created_software/ordered_by_source/edge_count1 wrong_count: expected 3 rows, as its chunks have, found 2 rows",
            ],
        ),
        (
            "more edges than there are",
            |a| a.count(&format!("{CREATED}/edge_count1"), 4),
            &[
                "edge/person_created_software/ordered_by_source/edge_count1 wrong_count: expected 3 rows, as its chunks have, found 4 rows",
            ],
        ),
        (
            "edges in an empty part",
            |a| a.count(&format!("{KNOWS}/ordered_by_source/edge_count1"), 2),
            &[
                "edge/person_knows_person/ordered_by_source/adj_list/part1/chunk0 missing_file: expected chunk 1 of the 1 for 2 rows by edge_count1, found no such file",
                "edge/person_knows_person/ordered_by_source/weight/part1/chunk0 missing_file: expected chunk 1 of the 1 for 2 rows by edge_count1, found no such file",
            ],
        ),
        (
            "a layout without files",
            |a| a.remove(&format!("{KNOWS}/ordered_by_dest")),
            &[
                "edge/person_knows_person/ordered_by_dest/vertex_count no_data: expected the files of person_knows_person (ordered_by_dest), found no such file",
            ],
        ),
        (
            "a vertex type without files",
            |a| a.remove("vertex/software"),
            &[
                "vertex/software/vertex_count no_data: expected the files of vertex type software, found no such file",
            ],
        ),
    ];
    each("csv", "deep", damages).await;
}

#[tokio::test]
async fn damage_to_vertices_is_found() {
    let damages: &[Damage] = &[
        (
            "a chunk that is not there",
            |a| a.remove("vertex/person/name_age/chunk0"),
            &[
                "vertex/person/name_age/chunk0 missing_file: expected chunk 1 of the 2 for 4 rows by vertex_count, found no such file",
            ],
        ),
        (
            "a chunk with more rows",
            |a| a.replace("vertex/person/id/chunk1", "3,6", "3,6\n4,8"),
            &[
                "vertex/person/id/chunk1 row_count: expected 2 rows, of 4 by vertex_count, found 3 rows",
            ],
        ),
        (
            "a chunk with fewer rows",
            |a| a.replace("vertex/person/id/chunk0", "1,2\n", ""),
            &[
                "vertex/person/id/chunk0 row_count: expected 2 rows, of 4 by vertex_count, found 1 row",
            ],
        ),
        (
            "a chunk too many",
            |a| a.put("vertex/person/id/chunk2", "_graphArVertexIndex,id\n4,8\n"),
            &[
                "vertex/person/id/chunk2 extra_chunk: expected no chunk behind the 4 rows by vertex_count, found 1 row",
            ],
        ),
        (
            "another index",
            |a| a.replace("vertex/person/id/chunk1", "2,4\n3,6", "3,4\n2,6"),
            &[
                "vertex/person/id/chunk1 vertex_index: expected the number of the row, 2 in the first, found 3 in row 0, and in 1 row more",
            ],
        ),
        (
            "an index that is missing in one row",
            |a| a.replace("vertex/person/id/chunk1", "3,6", ",6"),
            &[
                "vertex/person/id/chunk1 vertex_index: expected the number of the row, 2 in the first, found null in row 1",
            ],
        ),
        (
            "no index column",
            |a| a.put("vertex/person/id/chunk1", "id\n4\n6\n"),
            &[],
        ),
        (
            "a null in a key",
            |a| a.replace("vertex/person/id/chunk1", "3,6", "3,"),
            &[
                "vertex/person/id/chunk1 null_key: expected a value in each row of column 'id', found null in row 1",
            ],
        ),
        (
            "a key that is there twice",
            |a| a.replace("vertex/person/id/chunk1", "2,4\n3,6", "2,1\n3,1"),
            &[
                "vertex/person/id/chunk1 duplicate_key: expected each value of column 'id' once, found 1 of vertex 0 again in row 0, and in 1 row more",
            ],
        ),
        (
            "nulls where none are declared",
            |a| {
                a.replace("person.vertex.yml", "name: age\n        data_type: int64\n        is_primary: false\n        is_nullable: true",
                    "name: age\n        data_type: int64\n        is_primary: false\n        is_nullable: false");
                a.replace(
                    "vertex/person/name_age/chunk1",
                    "\"peter\",35",
                    "\"peter\",",
                );
            },
            &[
                "vertex/person/name_age/chunk1 null_value: expected a value in each row of column 'age', found null in row 1",
            ],
        ),
        (
            "a value of another type, and one behind it",
            |a| {
                a.replace(
                    "vertex/person/name_age/chunk1",
                    "2,\"josh\",32\n3",
                    "2,\"josh\",old\n4",
                )
            },
            &[
                "vertex/person/name_age/chunk1 bad_value: expected int64 (column 'age', row 0), found \"old\"",
                "vertex/person/name_age/chunk1 vertex_index: expected the number of the row, 2 in the first, found 4 in row 1",
            ],
        ),
        (
            "a column that is not there",
            |a| {
                a.put(
                    "vertex/person/name_age/chunk1",
                    "_graphArVertexIndex,age\n2,32\n3,35\n",
                )
            },
            &[
                "vertex/person/name_age/chunk1 missing_column: expected the column 'name', found the columns _graphArVertexIndex, age",
            ],
        ),
        (
            "text that is no CSV",
            |a| a.replace("vertex/person/name_age/chunk1", "\"josh\",32", "\"josh\""),
            &["vertex/person/name_age/chunk1 damaged_file: expected 3 fields (row 0), found 2"],
        ),
    ];
    each("csv", "deep", damages).await;
}

#[tokio::test]
async fn damage_to_edges_is_found() {
    let damages: &[Damage] = &[
        (
            "an edge chunk that is not there",
            |a| a.remove(&format!("{CREATED}/adj_list/part1/chunk0")),
            &[
                "edge/person_created_software/ordered_by_source/adj_list/part1/chunk0 missing_file: expected chunk 1 of the 2 for 3 rows by edge_count1, found no such file",
            ],
        ),
        (
            "a property chunk that is not there",
            |a| a.remove(&format!("{CREATED}/weight/part1/chunk1")),
            &[
                "edge/person_created_software/ordered_by_source/weight/part1/chunk1 missing_file: expected chunk 2 of the 2 for 3 rows by edge_count1, found no such file",
            ],
        ),
        (
            "an edge to no vertex",
            |a| a.replace(&format!("{CREATED}/adj_list/part1/chunk1"), "3,0", "3,2"),
            &[
                "edge/person_created_software/ordered_by_source/adj_list/part1/chunk1 edge_endpoint: expected ids from 0 to below 2 in column '_graphArDstIndex', found 2 in row 0",
            ],
        ),
        (
            "edges from no vertex",
            |a| {
                a.replace(
                    &format!("{CREATED}/adj_list/part1/chunk0"),
                    "2,1\n2,0",
                    "-2,1\n7,0",
                )
            },
            &[
                "edge/person_created_software/ordered_by_source/adj_list/part1/chunk0 edge_endpoint: expected ids from 0 to below 4 in column '_graphArSrcIndex', found -2 in row 0, and in 1 row more",
            ],
        ),
        (
            "an edge of another part",
            |a| a.replace(&format!("{CREATED}/adj_list/part1/chunk1"), "3,0", "1,0"),
            &[
                "edge/person_created_software/ordered_by_source/adj_list/part1/chunk1 edge_part: expected ids from 2 to below 4 in column '_graphArSrcIndex', found 1 in row 0",
            ],
        ),
        (
            "an edge without a source",
            |a| a.replace(&format!("{CREATED}/adj_list/part1/chunk1"), "3,0", ",0"),
            &[
                "edge/person_created_software/ordered_by_source/adj_list/part1/chunk1 null_value: expected a value in each row of column '_graphArSrcIndex', found null in row 0",
            ],
        ),
        (
            "edges in another order",
            |a| {
                a.replace(&format!("{CREATED}/adj_list/part1/chunk0"), "2,1", "3,0");
                a.replace(&format!("{CREATED}/adj_list/part1/chunk1"), "3,0", "2,1");
            },
            &[
                "edge/person_created_software/ordered_by_source/adj_list/part1/chunk0 edge_order: expected ascending ids in column '_graphArSrcIndex', found 2 after 3 in row 1",
                "edge/person_created_software/ordered_by_source/adj_list/part1/chunk1 edge_order: expected ascending ids in column '_graphArSrcIndex', found 2 after 3 in row 0",
            ],
        ),
        (
            "one layout with another edge",
            |a| {
                a.replace(
                    &format!("{KNOWS}/ordered_by_source/adj_list/part0/chunk0"),
                    "0,2",
                    "0,3",
                )
            },
            &[
                "edge/person_knows_person/ordered_by_dest layout_edges: expected the same edges as in ordered_by_source, found as many, 2, but others",
            ],
        ),
        (
            "offsets that are shifted",
            |a| a.replace(&format!("{CREATED}/offset/chunk1"), "0\n2\n3", "0\n1\n3"),
            &[
                "edge/person_created_software/ordered_by_source/offset/chunk1 offsets: expected the number of edges that vertex 2 has, found 1 fewer, and 1 vertex more is wrong",
            ],
        ),
        (
            "offsets that end elsewhere",
            |a| a.replace(&format!("{CREATED}/offset/chunk1"), "0\n2\n3", "0\n2\n4"),
            &[
                "edge/person_created_software/ordered_by_source/offset/chunk1 offsets: expected 3 at the end, the number of edges, found 4",
            ],
        ),
        (
            "offsets that begin elsewhere",
            |a| a.replace(&format!("{CREATED}/offset/chunk1"), "0\n2\n3", "1\n2\n3"),
            &[
                "edge/person_created_software/ordered_by_source/offset/chunk1 offsets: expected 0 in the first row, found 1 in row 0",
            ],
        ),
        (
            "offsets that descend",
            |a| a.replace(&format!("{CREATED}/offset/chunk1"), "0\n2\n3", "0\n3\n2"),
            &[
                "edge/person_created_software/ordered_by_source/offset/chunk1 offsets: expected ascending numbers, 3 before, found 2 in row 2",
            ],
        ),
        (
            "too few offsets",
            |a| a.replace(&format!("{CREATED}/offset/chunk1"), "0\n2\n3", "0\n2"),
            &[
                "edge/person_created_software/ordered_by_source/offset/chunk1 offset_count: expected at least 3, for the 2 vertices of part 1, found 2",
            ],
        ),
        (
            "offsets padded with the last value",
            |a| {
                a.replace(
                    &format!("{CREATED}/offset/chunk1"),
                    "0\n2\n3",
                    "0\n2\n3\n3\n3",
                )
            },
            &[],
        ),
        (
            "offsets padded with another value",
            |a| a.replace(&format!("{CREATED}/offset/chunk1"), "0\n2\n3", "0\n2\n3\n4"),
            &[
                "edge/person_created_software/ordered_by_source/offset/chunk1 offsets: expected 3 behind the last vertex, found 4 in row 3",
            ],
        ),
        (
            "no offsets for an empty part",
            |a| a.remove(&format!("{KNOWS}/ordered_by_source/offset/chunk1")),
            &[
                "edge/person_knows_person/ordered_by_source/offset/chunk1 missing_file: expected the offsets of the 2 vertices of part 1, found no such file",
            ],
        ),
    ];
    each("csv", "deep", damages).await;
}

#[tokio::test]
async fn damage_to_parquet_is_found() {
    let damages: &[Damage] = &[
        (
            "a chunk that is cut off",
            |a| {
                let file = "vertex/person/name_age/chunk0";
                let bytes = fs::read(a.path(file)).unwrap();
                a.put(file, &bytes[..bytes.len() / 2]);
            },
            &[
                "vertex/person/name_age/chunk0 damaged_file: expected a file that can be decoded, found Parquet error: Invalid Parquet file. Corrupt footer",
            ],
        ),
        (
            "an empty chunk",
            |a| a.put(&format!("{CREATED}/adj_list/part1/chunk0"), []),
            &[
                "edge/person_created_software/ordered_by_source/adj_list/part1/chunk0 damaged_file: expected a file that can be decoded, found EOF: file size of 0 is less than footer",
            ],
        ),
        (
            "a key stored as text",
            |a| {
                let columns = vec![
                    ("_graphArVertexIndex", ints([2, 3])),
                    ("id", strings(&["4", "6"])),
                ];
                a.parquet("vertex/person/id/chunk1", columns);
            },
            &["vertex/person/id/chunk1 stored_type: expected int64 in column 'id', found string"],
        ),
        (
            "ends of edges stored as text",
            |a| {
                let columns = vec![
                    ("_graphArSrcIndex", strings(&["3"])),
                    ("_graphArDstIndex", ints([0])),
                ];
                a.parquet(&format!("{CREATED}/adj_list/part1/chunk1"), columns);
            },
            &[
                "edge/person_created_software/ordered_by_source/adj_list/part1/chunk1 stored_type: expected int64 in column '_graphArSrcIndex', found string",
            ],
        ),
        (
            "offsets stored as text",
            |a| {
                a.parquet(
                    &format!("{CREATED}/offset/chunk1"),
                    vec![("_graphArOffset", strings(&["0", "2", "3"]))],
                )
            },
            &[
                "edge/person_created_software/ordered_by_source/offset/chunk1 stored_type: expected int64 in column '_graphArOffset', found string",
            ],
        ),
        (
            "offsets of 32 bits",
            |a| {
                let offsets: ArrayRef = Arc::new(Int32Array::from(vec![0, 2, 3]));
                a.parquet(
                    &format!("{CREATED}/offset/chunk1"),
                    vec![("_graphArOffset", offsets)],
                );
            },
            &[],
        ),
        (
            "keys of 32 bits, without an index",
            |a| {
                let ids: ArrayRef = Arc::new(Int32Array::from(vec![4, 6]));
                a.parquet("vertex/person/id/chunk1", vec![("id", ids)]);
            },
            &[],
        ),
        (
            "more rows than counted",
            |a| {
                let columns = vec![
                    ("_graphArSrcIndex", ints([3, 3])),
                    ("_graphArDstIndex", ints([0, 0])),
                ];
                a.parquet(&format!("{CREATED}/adj_list/part1/chunk1"), columns);
            },
            &[
                "edge/person_created_software/ordered_by_dest layout_edges: expected 5 edges, as in ordered_by_source, found 4",
                "edge/person_created_software/ordered_by_source/adj_list/part1/chunk1 row_count: expected 1 row, of 3 by edge_count1, found 2 rows",
                "edge/person_created_software/ordered_by_source/offset/chunk1 offsets: expected 4 at the end, the number of edges, found 3",
            ],
        ),
        (
            "columns of other names",
            |a| {
                let columns = vec![("src", ints([3])), ("dst", ints([0]))];
                a.parquet(&format!("{CREATED}/adj_list/part1/chunk1"), columns);
            },
            &[
                "edge/person_created_software/ordered_by_source/adj_list/part1/chunk1 missing_column: expected the column '_graphArDstIndex', found the columns src, dst",
                "edge/person_created_software/ordered_by_source/adj_list/part1/chunk1 missing_column: expected the column '_graphArSrcIndex', found the columns src, dst",
            ],
        ),
    ];
    each("parquet", "deep", damages).await;
}

#[tokio::test]
async fn a_shallow_check_finds_what_takes_no_look_inside() {
    let damages: &[Damage] = &[
        (
            "wrong values",
            |a| {
                a.parquet("vertex/person/id/chunk1", vec![("id", ints([1, 1]))]);
                a.parquet(
                    &format!("{CREATED}/offset/chunk1"),
                    vec![("_graphArOffset", ints([0, 1, 3]))],
                );
            },
            &[],
        ),
        (
            "wrong numbers of rows",
            |a| {
                a.parquet("vertex/person/id/chunk1", vec![("id", ints([4]))]);
                a.parquet(
                    &format!("{CREATED}/offset/chunk1"),
                    vec![("_graphArOffset", ints([0, 3]))],
                );
            },
            &[
                "edge/person_created_software/ordered_by_source/offset/chunk1 offset_count: expected at least 3, for the 2 vertices of part 1, found 2",
                "vertex/person/id/chunk1 row_count: expected 2 rows, of 4 by vertex_count, found 1 row",
            ],
        ),
        (
            "files that are not there",
            |a| {
                a.remove("vertex/person/id/chunk1");
                a.remove(&format!("{CREATED}/offset/chunk1"));
                a.remove(&format!("{CREATED}/edge_count0"));
            },
            &[
                "edge/person_created_software/ordered_by_source/edge_count0 missing_file: expected the number of edges of part 0 of 2, found no such file",
                "edge/person_created_software/ordered_by_source/offset/chunk1 missing_file: expected the offsets of the 2 vertices of part 1, found no such file",
                "vertex/person/id/chunk1 missing_file: expected chunk 2 of the 2 for 4 rows by vertex_count, found no such file",
            ],
        ),
    ];
    each("parquet", "shallow", damages).await;
    let damages: &[Damage] = &[
        (
            "text with wrong numbers of rows",
            |a| {
                a.replace("vertex/person/id/chunk1", "3,6\n", "");
                a.replace(&format!("{CREATED}/offset/chunk1"), "0\n2\n3", "0\n2");
            },
            &[],
        ),
        (
            "text files that are not there",
            |a| {
                a.remove("vertex/person/id/chunk1");
                a.remove(&format!("{CREATED}/offset/chunk1"));
            },
            &[
                "edge/person_created_software/ordered_by_source/offset/chunk1 missing_file: expected the offsets of the 2 vertices of part 1, found no such file",
                "vertex/person/id/chunk1 missing_file: expected chunk 2 of the 2 for 4 rows by vertex_count, found no such file",
            ],
        ),
        (
            "different numbers of edges",
            |a| {
                a.count(&format!("{KNOWS}/ordered_by_source/edge_count0"), 1);
            },
            &[
                "edge/person_knows_person/ordered_by_dest layout_edges: expected 1 edges, as in ordered_by_source, found 2",
            ],
        ),
    ];
    each("csv", "shallow", damages).await;
}

#[tokio::test]
async fn the_layout_that_most_others_contradict_is_named() {
    let csv = FileType::Csv;
    let (mut info, layouts) = (knows(3, 4, csv), AdjListType::ALL);
    info.adj_lists = layouts.map(|layout| list(layout, csv)).to_vec();
    let archive = Fixture::persons(7, 3, csv)
        .await
        .edges(info, &[(0, 1), (6, 2), (5, 5)], None)
        .await
        .finish()
        .await;
    let chunk = "edge/person_knows_person/ordered_by_source/adj_list/part2/chunk0";
    let text = String::from_utf8(archive.get(chunk).await).unwrap();
    archive.put(chunk, text.replace("6,2", "6,1")).await;
    let sql = "SELECT file, rule, expected FROM graph_check('g')";
    assert_eq!(
        rows(&archive.session().await, sql).await,
        [
            "memory://t/data/edge/person_knows_person/ordered_by_source layout_edges the same edges as in ordered_by_dest"
        ]
    );
}

#[tokio::test]
async fn counts_beyond_all_bounds_end_at_once() {
    let archive = Copy::of("csv");
    archive.count("vertex/person/vertex_count", i64::MAX);
    archive.count(&format!("{CREATED}/edge_count0"), i64::MAX);
    archive.count(&format!("{KNOWS}/ordered_by_dest/vertex_count"), i64::MAX);
    let done = tokio::time::timeout(Duration::from_secs(60), archive.check("deep")).await;
    let found = done.unwrap();
    assert!(
        found
            .iter()
            .any(|row| row.contains("behind it were not looked for"))
    );
    assert!(
        found
            .iter()
            .any(|row| row.contains("parts behind it were not looked at"))
    );
    assert!(found.len() < 80, "{found:#?}");
}

#[tokio::test]
async fn all_that_is_wrong_is_found_at_once() {
    let archive = Copy::of("csv");
    archive.replace("software.vertex.yml", "int64", "integer64");
    archive.put("vertex/person/id/chunk0", "no,such,columns\n");
    archive.remove("vertex/person/name_age/chunk1");
    archive.replace(&format!("{CREATED}/offset/chunk1"), "0\n2\n3", "0\n1\n3");
    archive.replace(
        &format!("{KNOWS}/ordered_by_source/adj_list/part0/chunk0"),
        "0,2",
        "0,9",
    );
    let mut rules = vec![];
    for row in archive.check("deep").await {
        let (file, rest) = row.split_once(' ').unwrap();
        rules.push(format!("{file} {}", rest.split_once(':').unwrap().0));
    }
    assert_eq!(
        rules,
        [
            "edge/person_created_software/ordered_by_source/offset/chunk1 offsets",
            "edge/person_knows_person/ordered_by_source/adj_list/part0/chunk0 edge_endpoint",
            "software.vertex.yml metadata",
            "vertex/person/id/chunk0 missing_column",
            "vertex/person/id/chunk0 row_count",
            "vertex/person/name_age/chunk1 missing_file",
        ]
    );
}

/// All files below a folder, seen from it.
fn files(folder: &Path, below: &str, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder.join(below)).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{below}{}", entry.file_name().to_str().unwrap());
        if entry.path().is_dir() {
            files(folder, &format!("{name}/"), found);
        } else {
            found.push(name);
        }
    }
}

#[tokio::test]
async fn whichever_file_is_cut_off_overwritten_or_gone_is_named() {
    for format in ["parquet", "orc", "csv", "json", "arrow"] {
        let archive = Copy::of(format);
        let mut names = vec![];
        files(archive.folder.path(), "", &mut names);
        names.retain(|name| name != "modern.graph.yml");
        assert!(names.len() > 30);
        for name in names {
            let sound = fs::read(archive.path(&name)).unwrap();
            for round in 0..3 {
                match round {
                    // Half an info can be an info, too.
                    0 if name.ends_with(".yml") => continue,
                    0 => archive.put(&name, &sound[..sound.len() / 2]),
                    1 => archive.put(&name, vec![0xff; sound.len()]),
                    _ => archive.remove(&name),
                }
                let found = archive.check("deep").await;
                let named = found.iter().any(|row| row.starts_with(&format!("{name} ")));
                assert!(named, "{format} {name} {round}: {found:#?}");
                archive.put(&name, &sound);
            }
        }
        assert!(archive.check("deep").await.is_empty());
    }
}

#[tokio::test]
async fn a_registered_graph_is_checked_as_it_is_now() {
    let archive = Copy::of("csv");
    let ctx = SessionContext::new();
    ctx.register_graph("My Graph", &archive.graph())
        .await
        .unwrap();
    let sql = "SELECT rule FROM graph_check('My Graph')";
    assert_eq!(rows(&ctx, sql).await, Vec::<String>::new());
    let plan = ctx
        .sql(sql)
        .await
        .unwrap()
        .create_physical_plan()
        .await
        .unwrap();
    archive.remove("vertex/person/id/chunk1");
    let found = datafusion::physical_plan::collect(plan, ctx.task_ctx()).await;
    let count: usize = found.unwrap().iter().map(RecordBatch::num_rows).sum();
    assert_eq!(count, 1);
    let sql = "SELECT count(*) FROM GRAPH_CHECK('My Graph', 'Shallow') WHERE rule = 'missing_file'";
    assert_eq!(value(&ctx, sql).await, "1");
    let frame = ctx.sql("SELECT * FROM graph_check('My Graph')").await;
    for (field, name) in frame.unwrap().schema().fields().iter().zip(COLUMNS) {
        assert_eq!(field.name(), name);
        assert_eq!(
            (field.data_type(), field.is_nullable()),
            (&DataType::Utf8, false)
        );
    }
    // An info file that became unreadable is a row, too.
    archive.put("modern.graph.yml", "- nothing\n- like it\n");
    let sql = "SELECT rule FROM graph_check('My Graph')";
    assert_eq!(rows(&ctx, sql).await, ["metadata"]);
}

#[tokio::test]
async fn what_is_no_archive_is_an_error() {
    let ctx = session();
    for (arguments, message) in [
        (
            "",
            "takes a graph or location and a level, found 0 arguments",
        ),
        ("'a', 'deep', 'b'", "found 3 arguments"),
        ("1", "expected a text such as 'g'"),
        ("$1", "expected a text such as 'g', found $1"),
        (
            "'g', 'thorough'",
            "expected the level 'deep' or 'shallow', found 'thorough'",
        ),
        (
            "'no such graph'",
            "no graph of this name is registered, and cannot open",
        ),
        ("''", "the location is empty"),
        ("'nowhere://x/y.graph.yml'", "no object store is registered"),
    ] {
        let sql = format!("SELECT * FROM graph_check({arguments})");
        let message_found = error(&ctx, &sql).await;
        assert!(
            message_found.contains(message),
            "{arguments}: {message_found}"
        );
    }
}

#[tokio::test]
async fn a_check_stops_when_nobody_listens_any_more() {
    let archive = Copy::of("csv");
    archive.remove("vertex");
    let ctx = session();
    let sql = format!(
        "SELECT rule FROM graph_check('{}') LIMIT 1",
        archive.graph()
    );
    assert_eq!(rows(&ctx, &sql).await, ["no_data"]);

    let stores = Stores::new(ctx.runtime_env());
    let place = Location::parse(&archive.graph(), &stores).unwrap();
    let pool = Arc::clone(&ctx.runtime_env().memory_pool);
    let mut violations = check(place, Level::Deep, stores, &pool);
    let first = violations.next().await.unwrap().unwrap();
    assert_eq!(first.rule, Rule::NoData);
    drop(violations);
    assert_eq!(pool.reserved(), 0);
}

#[tokio::test]
async fn memory_for_keys_and_offsets_is_asked_for() {
    let archive = Copy::of("csv");
    for (bytes, enough) in [(8, false), (1 << 20, true)] {
        let runtime = RuntimeEnvBuilder::new()
            .with_memory_pool(Arc::new(GreedyMemoryPool::new(bytes)))
            .build_arc()
            .unwrap();
        let stores = Stores::new(Arc::clone(&runtime));
        let place = Location::parse(&archive.graph(), &stores).unwrap();
        let violations = check(place, Level::Deep, stores, &runtime.memory_pool);
        let found: Result<Vec<_>, _> = violations.try_collect().await;
        match found {
            Ok(found) => assert!(enough && found.is_empty(), "{found:?}"),
            Err(error) => {
                let message = error.to_string();
                assert!(!enough && message.contains("graph_check"), "{message}");
            }
        }
        assert_eq!(runtime.memory_pool.reserved(), 0);
    }
}

#[test]
fn every_rule_is_in_the_documentation() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/sql-reference/graph-check.md");
    let text = fs::read_to_string(docs).unwrap();
    for rule in Rule::ALL {
        assert!(text.contains(&format!("`{rule}`")), "{rule}");
    }
}

/// Archives of other writers have no violations but for files that are not there.
#[tokio::test]
async fn archives_of_other_writers_are_sound() {
    let Ok(data) = std::env::var("GAR_TEST_DATA") else {
        println!("skipped: GAR_TEST_DATA is not set");
        return;
    };
    let ctx = session();
    let no_data = |count: usize| vec!["no_data".to_owned(); count];
    for (graph, without_data) in [
        ("java/ldbc_sample/csv/ldbc_sample", 0),
        ("java/ldbc_sample/orc/ldbc_sample", 0),
        ("java/ldbc_sample/parquet/ldbc_sample", 0),
        ("ldbc/ldbc", 54),
        ("ldbc/parquet/ldbc", 5),
        ("ldbc_sample/csv/ldbc_sample", 0),
        ("ldbc_sample/json/LdbcSample", 0),
        ("ldbc_sample/orc/ldbc_sample", 0),
        ("ldbc_sample/parquet/ldbc_sample", 0),
        ("ldbc_sample/parquet/ldbc_sample_date", 0),
        ("ldbc_sample/parquet/ldbc_sample_timestamp", 0),
        ("ldbc_sample/parquet/ldbc_sample_with_feature", 0),
        ("modern_graph/modern_graph", 0),
        ("nebula/basketballplayergraph", 0),
        ("neo4j/MovieGraph", 0),
        ("transformer/ldbc_sample", 3),
    ] {
        for level in ["deep", "shallow"] {
            let sql =
                format!("SELECT rule FROM graph_check('{data}/{graph}.graph.yml', '{level}')");
            assert_eq!(
                rows(&ctx, &sql).await,
                no_data(without_data),
                "{graph} {level}"
            );
        }
    }
}
