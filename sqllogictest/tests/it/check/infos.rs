//! Info files and counts with something wrong.

use super::{CREATED, Damage, KNOWS, each};

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
