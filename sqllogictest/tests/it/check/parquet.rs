//! Parquet files with something wrong.

use std::fs;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, Int32Array, StringArray};

use super::{CREATED, Damage, each};
use crate::fixture::*;

fn strings(values: &[&str]) -> ArrayRef {
    Arc::new(StringArray::from(values.to_vec()))
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
