//! Neighbours of single vertices, through the library and through SQL.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use datafusion::arrow::array::{Array, AsArray};
use datafusion::arrow::datatypes::Int64Type;
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use datafusion::parquet::file::properties::WriterProperties;
use datafusion_graphar::format::{AdjListType, FileType};
use datafusion_graphar::graph::{Adjacency, Direction};
use datafusion_graphar::session::SessionContextExt;
use object_store::memory::InMemory;
use proptest::prelude::*;
use tokio::runtime::Runtime;

use crate::counting_store::CountingStore;
use crate::fixture::*;

const TYPES: [FileType; 5] = [
    FileType::Parquet,
    FileType::Orc,
    FileType::Csv,
    FileType::Json,
    FileType::Arrow,
];

/// The edges as a graph of persons in both ordered layouts.
async fn graph(
    persons: i64,
    chunks: (u64, u64),
    edges: &[(i64, i64)],
    file_type: FileType,
) -> Archive {
    let mut info = knows(chunks.0, chunks.1, file_type);
    info.adj_lists = vec![
        list(AdjListType::OrderedBySource, file_type),
        list(AdjListType::OrderedByDest, file_type),
    ];
    Fixture::persons(persons, chunks.0, file_type)
        .await
        .edges(info, edges, None)
        .await
        .finish()
        .await
}

async fn adjacency(archive: &Archive, how: &How, direction: Direction) -> Adjacency {
    let ctx = how.session(Arc::<InMemory>::clone(&archive.store));
    let graph = ctx
        .register_graph("g", "memory://t/data/g.graph.yml")
        .await
        .unwrap();
    graph.adjacency("person_knows_person", direction).unwrap()
}

/// The neighbours of each vertex, sorted.
fn naive(persons: i64, edges: &[(i64, i64)], direction: Direction) -> BTreeMap<u64, Vec<i64>> {
    let mut lists: BTreeMap<u64, Vec<i64>> =
        (0..persons.unsigned_abs()).map(|v| (v, vec![])).collect();
    for (source, destination) in edges {
        let (from, to) = match direction {
            Direction::Out => (source, destination),
            Direction::In => (destination, source),
        };
        lists.get_mut(&from.unsigned_abs()).unwrap().push(*to);
    }
    lists.values_mut().for_each(|list| list.sort_unstable());
    lists
}

fn sorted(list: &dyn Array) -> Vec<i64> {
    let mut list = list.as_primitive::<Int64Type>().values().to_vec();
    list.sort_unstable();
    list
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn neighbours_are_those_of_the_edge_list(
        edges in proptest::collection::vec((0..9_i64, 0..9_i64), 0..40),
        chunks in (1..5_u64, 1..5_u64),
        file_type in proptest::sample::select(&TYPES[..]),
        asked in proptest::collection::vec(0..9_u64, 0..12),
        cached: bool,
    ) {
        let runtime = Runtime::new().unwrap();
        runtime.block_on(async {
            let archive = graph(9, chunks, &edges, file_type).await;
            let mut how = How::default();
            if !cached {
                how.options.cache_bytes = 0;
            }
            for direction in [Direction::Out, Direction::In] {
                let adjacency = adjacency(&archive, &how, direction).await;
                let expected = naive(9, &edges, direction);
                assert_eq!(adjacency.vertices(), 9);
                // Twice: the second time from the cache.
                for (vertex, expected) in expected.iter().chain(&expected) {
                    let found = adjacency.neighbors(*vertex).await.unwrap();
                    assert_eq!(sorted(&found), *expected);
                    assert_eq!(adjacency.degree(*vertex).await.unwrap(), expected.len() as u64);
                    let rows = adjacency.edge_range(*vertex).await.unwrap();
                    assert_eq!(rows.end - rows.start, expected.len() as u64);
                }
                let lists = adjacency.neighbors_of(&asked).await.unwrap();
                assert_eq!(lists.len(), asked.len());
                for (row, vertex) in asked.iter().enumerate() {
                    assert_eq!(sorted(&lists.value(row)), expected[vertex]);
                }
                let degrees = adjacency.degrees(&asked).await.unwrap();
                let expected: Vec<u64> = asked.iter().map(|v| expected[v].len() as u64).collect();
                assert_eq!(degrees, expected);
            }
        });
    }
}

#[tokio::test]
async fn a_vertex_that_is_not_there_is_an_error() {
    let archive = graph(7, (3, 2), &[(0, 1), (6, 0)], FileType::Parquet).await;
    let adjacency = adjacency(&archive, &How::default(), Direction::Out).await;
    let error = adjacency.neighbors(7).await.unwrap_err().to_string();
    assert_eq!(error, "unknown vertex '7'; known: ids from 0 to below 7");
    assert!(adjacency.neighbors_of(&[0, 7]).await.is_err());
    assert_eq!(adjacency.neighbors_of(&[]).await.unwrap().len(), 0);
}

#[tokio::test]
async fn only_ordered_layouts_and_known_triplets_can_be_looked_up() {
    let archive = Fixture::persons(7, 3, FileType::Parquet)
        .await
        .edges(knows(3, 2, FileType::Parquet), &[(0, 1)], None)
        .await
        .finish()
        .await;
    let ctx = How::default().session(Arc::<InMemory>::clone(&archive.store));
    let graph = ctx
        .register_graph("g", "memory://t/data/g.graph.yml")
        .await
        .unwrap();
    let error = |name: &str, direction| graph.adjacency(name, direction).unwrap_err().to_string();
    assert_eq!(
        error("person_likes_person", Direction::Out),
        "unknown edge triplet 'person_likes_person'; known: person_knows_person"
    );
    assert_eq!(
        error("person_knows_person", Direction::In),
        "unknown layout of person_knows_person 'ordered_by_dest'; known: ordered_by_source"
    );
}

/// An offset chunk as the writer of this project lays it out, in CSV, which a test can write by hand.
fn offsets(values: &[i64]) -> String {
    let lines: Vec<String> = values.iter().map(ToString::to_string).collect();
    format!("_graphArOffset\n{}\n", lines.join("\n"))
}

const A1: [(i64, i64); 3] = [(0, 1), (0, 2), (6, 0)];

fn offset_chunk(part: u64) -> String {
    format!("edge/person_knows_person/ordered_by_source/offset/chunk{part}")
}

#[tokio::test]
async fn offsets_that_cannot_be_right_are_made_from_the_edges() {
    for wrong in [
        offsets(&[0, 2, 1, 2]),
        offsets(&[0, 2, 2, 3]),
        offsets(&[1, 2, 2, 2]),
        offsets(&[0, 2]),
        offsets(&[0, -1, 2, 2]),
    ] {
        let archive = graph(7, (3, 2), &A1, FileType::Csv).await;
        archive.put(&offset_chunk(0), wrong.clone()).await;
        let adjacency = adjacency(&archive, &How::default(), Direction::Out).await;
        assert_eq!(
            sorted(&adjacency.neighbors(0).await.unwrap()),
            [1, 2],
            "{wrong}"
        );
        assert_eq!(adjacency.degree(1).await.unwrap(), 0);
        let ctx = archive.session().await;
        let sql = "SELECT _dst_id FROM g.person_knows_person WHERE _src_id = 0 ORDER BY _dst_id";
        assert_eq!(rows(&ctx, sql).await, ["1", "2"], "{wrong}");
    }
}

#[tokio::test]
async fn missing_and_padded_offsets_make_no_difference() {
    let archive = graph(7, (3, 2), &A1, FileType::Csv).await;
    archive.delete(&offset_chunk(0)).await;
    archive.put(&offset_chunk(2), offsets(&[0, 1, 1, 1])).await;
    let long = adjacency(&archive, &How::default(), Direction::Out).await;
    assert_eq!(sorted(&long.neighbors(0).await.unwrap()), [1, 2]);
    assert_eq!(sorted(&long.neighbors(6).await.unwrap()), [0]);
    archive.put(&offset_chunk(2), offsets(&[0, 1])).await;
    let short = adjacency(&archive, &How::default(), Direction::Out).await;
    assert_eq!(sorted(&short.neighbors(6).await.unwrap()), [0]);
}

#[tokio::test]
async fn plausible_offsets_of_other_edges_are_an_error_and_not_other_rows() {
    let archive = graph(7, (3, 2), &A1, FileType::Csv).await;
    archive.put(&offset_chunk(0), offsets(&[0, 1, 2, 2])).await;
    let ctx = archive.session().await;
    let sql = "SELECT _dst_id FROM g.person_knows_person WHERE _src_id = 1";
    let error = error(&ctx, sql).await;
    assert!(
        error.contains("edge/person_knows_person/ordered_by_source/adj_list/part0/chunk0: _src_id")
            && error.contains("offset chunk"),
        "{error}"
    );
}

#[tokio::test]
async fn edges_out_of_order_fail_where_order_is_declared() {
    let archive = graph(7, (3, 2), &[(0, 1), (1, 2), (2, 0)], FileType::Csv).await;
    let chunk = "edge/person_knows_person/ordered_by_source/adj_list/part0/chunk0";
    archive
        .put(chunk, "_graphArSrcIndex,_graphArDstIndex\n1,2\n0,1\n")
        .await;
    let sql = r#"SELECT _src_id FROM g."person_knows_person$ordered_by_source" ORDER BY _src_id"#;
    let message = error(&archive.session().await, sql).await;
    assert!(
        message.contains(&format!(
            "{chunk}: _src_id: expected ids in ascending order"
        )),
        "{message}"
    );
    let mut how = How::default();
    how.options.declared_ordering = false;
    let ctx = archive.open(&how).await.unwrap();
    assert_eq!(rows(&ctx, sql).await, ["0", "1", "2"]);
}

/// Writes a Parquet chunk again with pages of this many rows.
async fn repage(archive: &Archive, path: &str, rows: usize) {
    let bytes = Bytes::from(archive.get(path).await);
    let reader = ParquetRecordBatchReaderBuilder::try_new(bytes).unwrap();
    let schema = Arc::clone(reader.schema());
    let properties = WriterProperties::builder()
        .set_data_page_row_count_limit(rows)
        .set_write_batch_size(rows)
        .set_dictionary_enabled(rows.is_multiple_of(2))
        .build();
    let mut out = vec![];
    let mut writer = ArrowWriter::try_new(&mut out, schema, Some(properties)).unwrap();
    for batch in reader.build().unwrap() {
        writer.write(&batch.unwrap()).unwrap();
    }
    writer.close().unwrap();
    archive.put(path, out).await;
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn windows_of_many_pages_hold_the_edges_of_their_vertices(
        edges in proptest::collection::vec((0..40_i64, 0..40_i64), 300..900),
        chunks in (9..41_u64, 100..600_u64),
        page in 5..60_usize,
        ids in proptest::collection::vec(0..45_i64, 1..9),
    ) {
        let runtime = Runtime::new().unwrap();
        runtime.block_on(async {
            let archive = graph(40, chunks, &edges, FileType::Parquet).await;
            let files: Vec<String> = archive.paths().await;
            for path in files.iter().filter(|path| path.contains("/adj_list/")) {
                repage(&archive, path, page).await;
            }
            let list: Vec<String> = ids.iter().map(ToString::to_string).collect();
            for (end, other, at) in [("_src_id", "_dst_id", 0), ("_dst_id", "_src_id", 1)] {
                let of = |edge: &(i64, i64)| if at == 0 { *edge } else { (edge.1, edge.0) };
                let mut expected: Vec<(i64, i64)> =
                    edges.iter().map(of).filter(|(id, _)| ids.contains(id)).collect();
                expected.sort_unstable();
                let expected: Vec<String> =
                    expected.iter().map(|(id, other)| format!("{id} {other}")).collect();
                let sql = format!(
                    "SELECT {end}, {other} FROM g.person_knows_person
                     WHERE {end} IN ({}) ORDER BY {end}, {other}",
                    list.join(", ")
                );
                for partitions in [1, 4] {
                    let mut how = How { partitions, ..How::default() };
                    how.options.min_partition_rows = 1;
                    let ctx = archive.open(&how).await.unwrap();
                    // Twice: the second time from the cache.
                    assert_eq!(rows(&ctx, &sql).await, expected, "{sql}");
                    assert_eq!(rows(&ctx, &sql).await, expected, "{sql}");
                }
                let direction = if at == 0 { Direction::Out } else { Direction::In };
                let adjacency = adjacency(&archive, &How::default(), direction).await;
                for (vertex, expected) in naive(40, &edges, direction) {
                    assert_eq!(sorted(&adjacency.neighbors(vertex).await.unwrap()), expected);
                }
            }
        });
    }
}

#[tokio::test]
async fn plausible_offsets_are_found_out_by_the_bounds_of_pages() {
    let edges: Vec<(i64, i64)> = (0..400).map(|i| (i / 10, i % 40)).collect();
    let archive = graph(40, (40, 400), &edges, FileType::Parquet).await;
    // As if the first edge belonged to the last vertex: all windows in between are one row off.
    let other: Vec<(i64, i64)> = (0..400)
        .map(|i| (if i == 0 { 39 } else { i / 10 }, i % 40))
        .collect();
    let shifted = graph(40, (40, 400), &other, FileType::Parquet).await;
    let path = offset_chunk(0);
    let wrong = shifted.get(&path).await;
    assert_ne!(wrong, archive.get(&path).await);
    archive.put(&path, wrong).await;
    repage(
        &archive,
        "edge/person_knows_person/ordered_by_source/adj_list/part0/chunk0",
        25,
    )
    .await;
    let ctx = archive.session().await;
    let sql = "SELECT _dst_id FROM g.person_knows_person WHERE _src_id = 20";
    let message = error(&ctx, sql).await;
    assert!(
        message.contains("adj_list/part0/chunk0") && message.contains("by the offset chunk"),
        "{message}"
    );
}

/// 60,000 vertices and 120,000 edges in one part: several pages of every column.
async fn large() -> Archive {
    // Destinations that do not compress, so that a chunk is larger than what is read of its end.
    let scattered = |i: i64| {
        let mixed = i.wrapping_mul(0x9e37_79b9_7f4a_7c15_u64.cast_signed());
        let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9_u64.cast_signed());
        mixed ^ (mixed >> 32)
    };
    let edges: Vec<(i64, i64)> = (0..120_000)
        .map(|i| (i / 2, scattered(i).rem_euclid(60_000)))
        .collect();
    graph(60_000, (1 << 16, 1 << 17), &edges, FileType::Parquet).await
}

#[tokio::test]
async fn a_point_query_reads_pages_and_not_chunks() {
    let archive = large().await;
    let store = Arc::new(CountingStore::new(Arc::clone(&archive.store)));
    let ctx = How::default().session(Arc::<CountingStore>::clone(&store));
    ctx.register_graph("g", "memory://t/data/g.graph.yml")
        .await
        .unwrap();
    store.take();
    let sql = "SELECT _dst_id FROM g.person_knows_person WHERE _src_id = 41234";
    assert_eq!(rows(&ctx, sql).await.len(), 2);
    let noted = store.noted();
    let size = archive
        .get("edge/person_knows_person/ordered_by_source/adj_list/part0/chunk0")
        .await
        .len() as u64;
    let read = noted.bytes("ordered_by_source/adj_list/");
    assert!(read * 2 < size, "{read} of {size} bytes");
    assert_eq!(noted.bytes("ordered_by_dest"), 0);
    // Again: the files are only asked whether they were replaced.
    assert_eq!(rows(&ctx, sql).await.len(), 2);
    assert_eq!(store.noted().bytes(""), 0);
}

#[tokio::test]
async fn a_file_replaced_in_place_is_noticed() {
    let old = graph(7, (3, 2), &A1, FileType::Parquet).await;
    let new = graph(7, (3, 2), &[(0, 4), (1, 5), (6, 3)], FileType::Parquet).await;
    let ctx = old.session().await;
    let sql = "SELECT _src_id, _dst_id FROM g.person_knows_person WHERE _src_id <= 1 ORDER BY 1, 2";
    for _ in 0..2 {
        assert_eq!(rows(&ctx, sql).await, ["0 1", "0 2"]);
    }
    for file in ["adj_list/part0/chunk0", "offset/chunk0"] {
        let path = format!("edge/person_knows_person/ordered_by_source/{file}");
        old.put(&path, new.get(&path).await).await;
    }
    for _ in 0..2 {
        assert_eq!(rows(&ctx, sql).await, ["0 4", "1 5"]);
    }
}

#[tokio::test]
async fn a_cache_stays_within_its_bytes() {
    let archive = large().await;
    let mut how = How::default();
    how.options.cache_bytes = 200_000;
    let ctx = archive.open(&how).await.unwrap();
    for vertex in (0..60_000).step_by(3000) {
        let sql = format!("SELECT _dst_id FROM g.person_knows_person WHERE _src_id = {vertex}");
        assert_eq!(rows(&ctx, &sql).await.len(), 2);
        let pool = &ctx.runtime_env().memory_pool;
        assert!(pool.reserved() <= 200_000, "{} bytes", pool.reserved());
    }
    drop(ctx);
}

#[tokio::test]
async fn a_budget_ends_the_query() {
    let archive = large().await;
    for (set, option) in [
        ("SET graphar.max_requests = 1", "graphar.max_requests"),
        ("SET graphar.max_bytes = 1000", "graphar.max_bytes"),
    ] {
        let ctx = archive.session().await;
        ctx.sql(set).await.unwrap();
        let message = error(&ctx, "SELECT sum(_dst_id) FROM g.person_knows_person").await;
        assert!(message.contains(option), "{message}");
        ctx.sql(&format!("SET {option} = 0")).await.unwrap();
        let sql = "SELECT count(_dst_id) FROM g.person_knows_person";
        assert_eq!(value(&ctx, sql).await, "120000");
    }
}
