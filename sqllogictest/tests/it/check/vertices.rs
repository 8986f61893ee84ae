//! Vertex types with something wrong.

use super::{Damage, each};

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
