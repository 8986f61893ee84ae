//! What a shallow check finds.

use super::{CREATED, Damage, KNOWS, each};
use crate::fixture::*;

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
