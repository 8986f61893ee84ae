//! Edge triplets with something wrong.

use datafusion_graphar::format::{AdjListType, FileType};

use super::{CREATED, Damage, KNOWS, each};
use crate::fixture::*;

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
