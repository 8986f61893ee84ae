//! Faults that users of similar software met: pages whose rows are skipped, and small files in great number.

use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::basic::Encoding;
use datafusion::parquet::file::properties::WriterProperties;
use datafusion_graphar::config::GraphArOptions;
use datafusion_graphar::format::{DST_COLUMN, FileType, SRC_COLUMN, ScalarType};
use datafusion_graphar::session::SessionContextExt;

use crate::counting_store::CountingStore;
use crate::delta_page;
use crate::fixture::*;

/// The rows as a Parquet file.
pub fn parquet(rows: &RecordBatch, properties: WriterProperties) -> Vec<u8> {
    let mut bytes = vec![];
    let mut writer = ArrowWriter::try_new(&mut bytes, rows.schema(), Some(properties)).unwrap();
    writer.write(rows).unwrap();
    writer.close().unwrap();
    bytes
}

#[tokio::test]
async fn rows_are_skipped_in_delta_packed_pages_with_mini_blocks_of_256_values() {
    let count = |source: i64| if source == 17 { 700 } else { 40 + source * 3 };
    let sources = (0..40).flat_map(|source| (0..count(source)).map(move |_| source));
    // Steps of different widths, so that mini-blocks differ.
    let step = |i: i64| (i * i * 7 + if i / 300 % 2 == 0 { i } else { i * 37 }) % 40;
    let edges: Vec<(i64, i64)> = sources.zip((0..).map(step)).collect();
    let ends = |of: fn(&(i64, i64)) -> i64| edges.iter().map(of).collect::<Vec<_>>();
    let (sources, destinations) = (ends(|e| e.0), ends(|e| e.1));
    let archive = Fixture::persons(40, 40, FileType::Parquet)
        .await
        .edges(knows(40, 8192, FileType::Parquet), &edges, None)
        .await
        .finish()
        .await;
    for (page_rows, page_index) in [(8192, false), (1300, false), (1300, true), (77, true)] {
        let columns = [(SRC_COLUMN, &sources[..]), (DST_COLUMN, &destinations[..])];
        let chunk = "edge/person_knows_person/ordered_by_source/adj_list/part0/chunk0";
        let bytes = delta_page::file_of(&columns, page_rows, page_index);
        archive.put(chunk, bytes).await;
        for how in How::all().into_iter().filter(|how| how.batch_size > 1) {
            let ctx = archive.open(&how).await.unwrap();
            let all = "SELECT _src_id, _dst_id FROM g.person_knows_person";
            let found = rows(&ctx, &format!("{all} ORDER BY _src_id")).await;
            assert_eq!(found.len(), edges.len());
            for source in [0, 1, 16, 17, 18, 39] {
                let chosen = edges.iter().filter(|edge| edge.0 == source);
                let mut expected: Vec<_> = chosen.map(|(s, d)| format!("{s} {d}")).collect();
                let mut found = rows(&ctx, &format!("{all} WHERE _src_id = {source}")).await;
                expected.sort();
                found.sort();
                let place = format!("{source} {page_rows} {page_index} {how:?}");
                assert_eq!(found, expected, "{place}");
            }
            let sql = "SELECT sum(_dst_id), count(*) FROM g.person_knows_person
                       WHERE _src_id IN (3, 17, 38) AND _dst_id > 5";
            let chosen = edges
                .iter()
                .filter(|(s, d)| [3, 17, 38].contains(s) && *d > 5);
            let (sum, count) = chosen.fold((0, 0), |(sum, count), e| (sum + e.1, count + 1));
            assert_eq!(value(&ctx, sql).await, format!("{sum} {count}"), "{how:?}");
        }
    }
}

#[tokio::test]
async fn large_jumps_in_delta_packed_pages_are_exact_wherever_reading_begins() {
    let large = 1_i64 << 40;
    let jump = |i: i64| if i % 2 == 0 { i / 2 * 5 } else { large + i };
    let mut info = person(500, FileType::Parquet);
    for name in ["plain", "jump"] {
        let wanted = vec![property(name, ScalarType::Int64)];
        info.property_groups.push(group(FileType::Parquet, wanted));
    }
    let columns = [("id", 0), ("plain", 1), ("jump", 1)].map(|(name, of)| match of {
        0 => (name, ints(0..1000)),
        _ => (name, ints((0..1000).map(jump))),
    });
    let archive = Fixture::new()
        .vertices(info, &batch(columns.to_vec()))
        .await
        .finish()
        .await;
    for chunk in 0..2 {
        let rows_of = batch(vec![(
            "jump",
            ints((chunk * 500..(chunk + 1) * 500).map(jump)),
        )]);
        let properties = WriterProperties::builder()
            .set_dictionary_enabled(false)
            .set_encoding(Encoding::DELTA_BINARY_PACKED)
            .set_data_page_row_count_limit(60)
            .set_write_batch_size(60)
            .build();
        let path = format!("vertex/person/jump/chunk{chunk}");
        archive.put(&path, parquet(&rows_of, properties)).await;
    }
    let sevenths: Vec<i64> = (0..1000).step_by(7).collect();
    let listed: Vec<String> = sevenths.iter().map(i64::to_string).collect();
    let expected: Vec<String> = sevenths.iter().map(|i| jump(*i).to_string()).collect();
    for how in How::all().into_iter().filter(|how| how.batch_size > 1) {
        let ctx = archive.open(&how).await.unwrap();
        let sql = "SELECT count(*), sum(jump) - sum(plain) FROM g.person WHERE jump = plain";
        assert_eq!(value(&ctx, sql).await, "1000 0", "{how:?}");
        for condition in [
            "_vertex_id % 7 = 0".to_owned(),
            format!("_vertex_id IN ({})", listed.join(", ")),
            "id % 7 = 0 AND _vertex_id >= 0".to_owned(),
        ] {
            let sql = format!("SELECT jump FROM g.person WHERE {condition} ORDER BY _vertex_id");
            assert_eq!(rows(&ctx, &sql).await, expected, "{condition} {how:?}");
        }
        for (condition, count) in [
            (format!("jump >= {large}"), 500),
            (format!("jump BETWEEN 5 AND {}", large + 3), 501),
            (format!("jump = {}", large + 501), 1),
            (
                "_vertex_id BETWEEN 59 AND 61 AND jump = plain".to_owned(),
                3,
            ),
            ("_vertex_id > 120 AND jump < 1000".to_owned(), 139),
        ] {
            let sql = format!("SELECT count(jump) FROM g.person WHERE {condition}");
            assert_eq!(value(&ctx, &sql).await, count.to_string(), "{sql} {how:?}");
        }
    }
}

#[tokio::test]
async fn a_limit_over_thousands_of_chunks_opens_no_more_than_it_needs() {
    let archive = Fixture::persons(10_000, 2, FileType::Parquet)
        .await
        .finish()
        .await;
    let store = Arc::new(CountingStore::new(Arc::clone(&archive.store)));
    for mut how in How::all() {
        how.options.min_partition_rows = GraphArOptions::default().min_partition_rows;
        let ctx = how.session(Arc::<CountingStore>::clone(&store));
        ctx.register_graph("g", "memory://t/data/g.graph.yml")
            .await
            .unwrap();
        store.noted();
        assert_eq!(rows(&ctx, "SELECT id FROM g.person LIMIT 1").await.len(), 1);
        let noted = store.noted();
        let paths = noted.paths();
        assert!(paths.len() <= 2, "{paths:?} {how:?}");
        let payload = |path: &String| path.contains("vertex/person/id/chunk");
        assert!(paths.iter().all(payload), "{paths:?}");
        assert!(noted.lists.is_empty(), "{:?}", noted.lists);
    }
}
