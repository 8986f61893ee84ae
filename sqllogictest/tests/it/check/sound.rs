//! Archives without violations.

use datafusion_graphar::format::{AdjListType, FileType};

use super::{Copy, session};
use crate::fixture::*;

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
