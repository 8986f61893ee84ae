//! Queries that are planned once.

use datafusion::arrow::array::AsArray;
use datafusion::arrow::datatypes::Int64Type;
use datafusion::prelude::SessionContext;
use datafusion::scalar::ScalarValue;
use datafusion_graphar::format::{AdjListType, FileType};
use datafusion_graphar::session::PreparedQuery;

use crate::fixture::*;

const EDGES: [(i64, i64); 7] = [(0, 1), (0, 2), (1, 2), (4, 0), (4, 4), (6, 2), (6, 5)];

async fn session(how: &How) -> SessionContext {
    let mut info = knows(3, 2, FileType::Parquet);
    info.adj_lists = vec![
        list(AdjListType::OrderedBySource, FileType::Parquet),
        list(AdjListType::OrderedByDest, FileType::Parquet),
    ];
    let archive = Fixture::persons(7, 3, FileType::Parquet)
        .await
        .edges(info, &EDGES, None)
        .await
        .finish()
        .await;
    archive.open(how).await.unwrap()
}

/// The first column of what a prepared query gives.
async fn first_column(query: &PreparedQuery, values: Vec<ScalarValue>) -> Vec<i64> {
    let batches = query.collect(values).await.unwrap();
    let columns = batches
        .iter()
        .map(|batch| batch.column(0).as_primitive::<Int64Type>());
    columns
        .flat_map(|column| column.values().to_vec())
        .collect()
}

#[tokio::test]
async fn runs_give_what_the_query_gives_with_its_values_written_out() {
    for how in How::all() {
        let ctx = session(&how).await;
        for sql in [
            "SELECT id FROM g.person WHERE _vertex_id = $1 ORDER BY id",
            "SELECT id FROM g.person WHERE $1 <= _vertex_id AND _vertex_id < $2 ORDER BY id",
            "SELECT id FROM g.person WHERE _vertex_id IN ($1, $2) AND id <> 1002 ORDER BY id",
            "SELECT _dst_id FROM g.person_knows_person WHERE _src_id = $1 ORDER BY _dst_id",
            "SELECT _src_id FROM g.person_knows_person WHERE _dst_id = $1 ORDER BY _src_id",
            "SELECT _src_id FROM g.person_knows_person WHERE _dst_id = $1 AND _src_id <> $2 ORDER BY 1",
            "SELECT count(*) FROM g.person_knows_person WHERE _src_id BETWEEN $1 AND $2",
            "SELECT count(*) FROM g.person WHERE _vertex_id > $1",
            "SELECT id FROM g.person WHERE _vertex_id <= $2 ORDER BY id DESC LIMIT 2",
            "SELECT id FROM g.person WHERE _vertex_id >= $1 ORDER BY _vertex_id LIMIT 3",
            "SELECT p.id FROM g.person p JOIN g.person_knows_person k ON k._dst_id = p._vertex_id
             WHERE k._src_id = $1 ORDER BY p.id",
        ] {
            let query = PreparedQuery::try_new(&ctx, sql).await.unwrap();
            assert!(query.is_planned(), "{sql}");
            for (one, two) in [(0_i64, 2_i64), (2, 0), (4, 6), (6, 9), (-1, 100)] {
                let written = sql
                    .replace("$1", &one.to_string())
                    .replace("$2", &two.to_string());
                let expected = rows(&ctx, &written).await;
                let found = first_column(&query, vec![one.into(), two.into()]).await;
                let found: Vec<String> = found.iter().map(ToString::to_string).collect();
                assert_eq!(found, expected, "{written}");
            }
        }
    }
}

#[tokio::test]
async fn values_of_any_type_that_can_be_compared_are_taken() {
    let ctx = session(&How::default()).await;
    let sql = "SELECT id FROM g.person WHERE _vertex_id = $1";
    let query = PreparedQuery::try_new(&ctx, sql).await.unwrap();
    for (value, expected) in [
        (ScalarValue::Int32(Some(3)), vec![1003]),
        (ScalarValue::UInt64(Some(3)), vec![1003]),
        (ScalarValue::UInt64(Some(u64::MAX)), vec![]),
        (ScalarValue::Int64(None), vec![]),
        (ScalarValue::Null, vec![]),
    ] {
        assert_eq!(
            first_column(&query, vec![value.clone()]).await,
            expected,
            "{value:?}"
        );
    }
}

#[tokio::test]
async fn parameters_of_other_conditions_are_planned_for_each_run() {
    let ctx = session(&How::default()).await;
    let sql = "SELECT id FROM g.person WHERE id > $1 ORDER BY id";
    let query = PreparedQuery::try_new(&ctx, sql).await.unwrap();
    assert!(!query.is_planned());
    assert_eq!(
        first_column(&query, vec![1004_i64.into()]).await,
        [1005, 1006]
    );
    assert_eq!(first_column(&query, vec![1005_i64.into()]).await, [1006]);
}

#[tokio::test]
async fn a_parameter_without_a_value_is_an_error() {
    let ctx = session(&How::default()).await;
    let sql = "SELECT id FROM g.person WHERE _vertex_id = $1 OR _vertex_id = $2";
    let query = PreparedQuery::try_new(&ctx, sql).await.unwrap();
    let error = query
        .collect(vec![ScalarValue::from(1_i64)])
        .await
        .unwrap_err();
    assert!(error.to_string().contains("$2"), "{error}");
    // Nor can the plan run before it is bound.
    let error = error_of(&ctx, sql).await;
    assert!(
        error.contains("no value") || error.contains("laceholder"),
        "{error}"
    );
}

async fn error_of(ctx: &SessionContext, sql: &str) -> String {
    match ctx.sql(sql).await {
        Ok(frame) => frame.collect().await.unwrap_err().to_string(),
        Err(error) => error.to_string(),
    }
}
