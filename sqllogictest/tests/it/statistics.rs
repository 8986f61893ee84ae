//! What the optimizer is told of properties, and that answers from it are those of the rows.

use std::sync::Arc;

use datafusion::arrow::array::{
    ArrayRef, BinaryArray, BooleanArray, Date32Array, Float32Array, Float64Array, Int32Array,
    Int64Array, RecordBatch, StringArray, TimestampMillisecondArray, TimestampSecondArray,
    UInt32Array, new_null_array,
};
use datafusion::common::stats::Precision;
use datafusion::common::{ColumnStatistics, ScalarValue, Statistics};
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::physical_plan::{StatisticsArgs, StatisticsContext, displayable};
use datafusion::prelude::SessionContext;
use datafusion_graphar::format::{FileType, Property, ScalarType};
use datafusion_graphar::session::{PreparedQuery, SessionContextExt};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use tokio::runtime::Runtime;

use crate::counting_store::CountingStore;
use crate::fixture::*;

const SCALARS: [(&str, ScalarType); 8] = [
    ("b", ScalarType::Bool),
    ("i", ScalarType::Int32),
    ("l", ScalarType::Int64),
    ("f", ScalarType::Float),
    ("d", ScalarType::Double),
    ("s", ScalarType::String),
    ("day", ScalarType::Date),
    ("at", ScalarType::Timestamp),
];

/// A row of all types, but for the key.
type Row = (
    Option<bool>,
    Option<i32>,
    Option<i64>,
    Option<f32>,
    Option<f64>,
    Option<String>,
    Option<i32>,
    Option<i64>,
);

fn row() -> impl Strategy<Value = Row> {
    let some = 0.6;
    let text = select(vec![0_usize, 3, 63, 64, 65, 200]);
    let text = (text, select(vec!["", "a", "b", "é", "\u{10ffff}"]));
    let text = text.prop_map(|(length, end)| format!("{}{end}", "x".repeat(length)));
    let real = select(vec![
        0.0,
        -0.0,
        1.5,
        -2.5,
        f64::NAN,
        -f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
    ]);
    let single = select(vec![0.0_f32, -0.0, 1.5, -2.5, f32::NAN, f32::INFINITY]);
    let long = prop_oneof![4 => -9..9_i64, 1 => select(vec![i64::MIN, i64::MAX])];
    let time = -100_000_000_000..100_000_000_000_i64;
    (
        option::weighted(some, any::<bool>()),
        option::weighted(some, -9..9_i32),
        option::weighted(some, long),
        option::weighted(some, single),
        option::weighted(some, real),
        option::weighted(some, text),
        option::weighted(some, -9..9_i32),
        option::weighted(some, time),
    )
}

fn columns(rows: &[Row]) -> RecordBatch {
    let key = ints((0..).take(rows.len()));
    let b: BooleanArray = rows.iter().map(|row| row.0).collect();
    let i: Int32Array = rows.iter().map(|row| row.1).collect();
    let l: Int64Array = rows.iter().map(|row| row.2).collect();
    let f: Float32Array = rows.iter().map(|row| row.3).collect();
    let d: Float64Array = rows.iter().map(|row| row.4).collect();
    let s: StringArray = rows.iter().map(|row| row.5.as_deref()).collect();
    let day: Date32Array = rows.iter().map(|row| row.6).collect();
    let at: TimestampMillisecondArray = rows.iter().map(|row| row.7).collect();
    batch(vec![
        ("id", key),
        ("b", Arc::new(b)),
        ("i", Arc::new(i)),
        ("l", Arc::new(l)),
        ("f", Arc::new(f)),
        ("d", Arc::new(d)),
        ("s", Arc::new(s)),
        ("day", Arc::new(day)),
        ("at", Arc::new(at)),
    ])
}

fn properties() -> Vec<Property> {
    let properties = SCALARS.iter();
    properties
        .map(|(name, scalar)| property(name, *scalar))
        .collect()
}

async fn write(rows: &[Row], chunk_size: u64, file_type: FileType) -> Archive {
    let mut info = person(chunk_size, file_type);
    info.property_groups.push(group(file_type, properties()));
    Fixture::new()
        .vertices(info, &columns(rows))
        .await
        .finish()
        .await
}

/// With statistics of properties or without them, all else equal.
fn how(statistics: bool) -> How {
    let mut how = How::of(3, 4, true);
    how.options.collect_statistics = statistics;
    how
}

/// Questions whose answers may come from statistics.
fn questions() -> Vec<String> {
    let mut asked = vec![];
    for (name, _) in SCALARS.iter().chain(&[("id", ScalarType::Int64)]) {
        for what in ["min", "max", "count"] {
            asked.push(format!("{what}({name})"));
        }
    }
    let all = asked.join(", ");
    // Each by itself, too: statistics answer all of a query's aggregates or none.
    let mut questions: Vec<String> = asked
        .iter()
        .map(|what| format!("SELECT {what} FROM g.person"))
        .collect();
    questions.extend([
        format!("SELECT {all} FROM g.person"),
        format!("SELECT {all} FROM (SELECT * FROM g.person ORDER BY _vertex_id LIMIT 3)"),
        format!("SELECT {all} FROM g.person WHERE _vertex_id BETWEEN 1 AND 4"),
        format!("SELECT {all} FROM g.person WHERE i > 2"),
        format!("SELECT {all} FROM g.person WHERE b"),
        format!("SELECT {all} FROM g.person WHERE i > 100 OR d > 1e300"),
        format!("SELECT {all} FROM g.person WHERE s > 'y' AND day < 0"),
        format!("SELECT {all} FROM (SELECT * FROM g.person WHERE l < 0 LIMIT 100)"),
        "SELECT count(*), count(i), max(l) FROM g.person".to_owned(),
    ]);
    questions
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]
    #[test]
    fn answers_from_statistics_are_those_of_the_rows(
        rows_written in vec(row(), 0..14),
        nulls in 0..2_usize,
        chunk_size in 1..6_u64,
        file_type in prop_oneof![3 => Just(FileType::Parquet), 1 => select(FileType::ALL.to_vec())],
    ) {
        // The first chunk is of nulls, or none is.
        let mut written = rows_written;
        if file_type == FileType::Json {
            // JSON has no such numbers.
            for row in &mut written {
                row.3 = row.3.filter(|value| value.is_finite());
                row.4 = row.4.filter(|value| value.is_finite());
            }
        }
        for row in written.iter_mut().take(nulls * 5) {
            *row = (None, None, None, None, None, None, None, None);
        }
        Runtime::new().unwrap().block_on(async {
            let archive = write(&written, chunk_size, file_type).await;
            let told = archive.open(&how(true)).await.unwrap();
            let untold = archive.open(&how(false)).await.unwrap();
            // Conditions above the scan, which sees no more of them than their bounds.
            let mut above = how(true);
            above.options.filter_pushdown = false;
            let above = archive.open(&above).await.unwrap();
            for sql in questions() {
                // Of 0.0 and -0.0, which are equal, the one that comes first is the greatest.
                let answer = async |ctx: &SessionContext| {
                    let answer = rows(ctx, &sql).await;
                    let zeros = |row: &String| row.replace("-0.0", "0.0");
                    answer.iter().map(zeros).collect::<Vec<_>>()
                };
                let expected = answer(&untold).await;
                assert_eq!(answer(&above).await, expected, "{sql}");
                // Collected, then remembered.
                for _ in 0..2 {
                    assert_eq!(answer(&told).await, expected, "{sql}");
                }
            }
        });
    }
}

async fn statistics(ctx: &SessionContext, sql: &str) -> Statistics {
    let plan = ctx.sql(sql).await.unwrap();
    let plan = plan.create_physical_plan().await.unwrap();
    let args = StatisticsArgs::new();
    let found = StatisticsContext::new().compute(plan.as_ref(), &args);
    found.unwrap().as_ref().clone()
}

async fn plan(ctx: &SessionContext, sql: &str) -> String {
    let plan = ctx.sql(sql).await.unwrap();
    let plan = plan.create_physical_plan().await.unwrap();
    displayable(plan.as_ref()).indent(true).to_string()
}

fn known(column: &ColumnStatistics) -> (&Precision<ScalarValue>, &Precision<ScalarValue>) {
    (&column.min_value, &column.max_value)
}

#[tokio::test]
async fn bounds_are_exact_only_where_they_must_be_values() {
    let long = |end: &str| Some(format!("{}{end}", "x".repeat(100)));
    let none = (None, None, None, None, None, None, None, None);
    let rows_written = [
        (
            Some(true),
            Some(4),
            Some(7),
            Some(1.0),
            Some(2.0),
            long("b"),
            Some(3),
            Some(5),
        ),
        (None, Some(-4), None, None, None, long("a"), None, None),
        none.clone(),
        none,
    ];
    let archive = write(&rows_written, 2, FileType::Parquet).await;
    let ctx = archive.open(&how(true)).await.unwrap();
    let of = statistics(&ctx, "SELECT i, l, f, d, s FROM g.person").await;
    assert_eq!(of.num_rows, Precision::Exact(4));
    let column = |at: usize| &of.column_statistics[at];
    let exact = |value: ScalarValue| Precision::Exact(value);
    let pair = (
        exact(ScalarValue::Int32(Some(-4))),
        exact(ScalarValue::Int32(Some(4))),
    );
    assert_eq!(known(column(0)), (&pair.0, &pair.1));
    assert_eq!(column(0).null_count, Precision::Exact(2));
    assert_eq!(column(1).null_count, Precision::Exact(3));
    for at in [2, 3] {
        assert_eq!(known(column(at)), (&Precision::Absent, &Precision::Absent));
        assert_eq!(column(at).null_count, Precision::Exact(3));
    }
    assert!(matches!(
        known(column(4)),
        (Precision::Inexact(_), Precision::Inexact(_))
    ));
    // Under a condition nothing is exact.
    for condition in ["l > 0", "_vertex_id < 3"] {
        let sql = format!("SELECT i FROM g.person WHERE {condition}");
        let of = statistics(&ctx, &sql).await;
        assert!(!matches!(
            of.column_statistics[0].min_value,
            Precision::Exact(_)
        ));
        assert!(!matches!(
            of.column_statistics[0].null_count,
            Precision::Exact(_)
        ));
    }
    let shown = plan(&ctx, "SELECT min(i), max(l), count(s) FROM g.person").await;
    assert!(shown.contains("PlaceholderRowExec"), "{shown}");
    let shown = plan(&ctx, "SELECT max(s) FROM g.person").await;
    assert!(!shown.contains("PlaceholderRowExec"), "{shown}");
    let shown = plan(&ctx, "SELECT max(d) FROM g.person").await;
    assert!(!shown.contains("PlaceholderRowExec"), "{shown}");
}

fn parquet(columns: Vec<(&str, ArrayRef)>) -> Vec<u8> {
    let rows = batch(columns);
    let mut bytes = vec![];
    let mut writer = ArrowWriter::try_new(&mut bytes, rows.schema(), None).unwrap();
    writer.write(&rows).unwrap();
    writer.close().unwrap();
    bytes
}

#[tokio::test]
async fn stored_types_other_than_the_declared_ones_give_no_wrong_bounds() {
    let numbers = |values: [i64; 3]| -> ArrayRef { ints(values) };
    let small: ArrayRef = Arc::new(Int32Array::from(vec![Some(3), None, Some(-1)]));
    let unsigned: ArrayRef = Arc::new(UInt32Array::from(vec![10, 9, u32::MAX]));
    let bytes: ArrayRef = Arc::new(BinaryArray::from(vec![
        "b".as_bytes(),
        "é".as_bytes(),
        b"a",
    ]));
    let seconds: ArrayRef = Arc::new(TimestampSecondArray::from(vec![Some(10), Some(9), None]));
    let single: ArrayRef = Arc::new(Float32Array::from(vec![Some(0.1), Some(f32::NAN), None]));
    let cases: Vec<(ScalarType, ArrayRef)> = vec![
        (ScalarType::String, bytes),
        (ScalarType::Int64, small),
        (ScalarType::Int64, unsigned),
        (ScalarType::Int32, numbers([10, 9, 100])),
        (ScalarType::Timestamp, seconds),
        (ScalarType::Double, single),
    ];
    for (scalar, stored) in cases {
        let mut info = person(10, FileType::Parquet);
        info.property_groups
            .push(group(FileType::Parquet, vec![property("v", scalar)]));
        let declared = property("v", scalar).arrow_field();
        let v = new_null_array(declared.data_type(), 3);
        let given = batch(vec![("id", ints(0..3)), ("v", v)]);
        let archive = Fixture::new().vertices(info, &given).await.finish().await;
        archive
            .put("vertex/person/v/chunk0", parquet(vec![("v", stored)]))
            .await;
        let told = archive.open(&how(true)).await.unwrap();
        let untold = archive.open(&how(false)).await.unwrap();
        for what in ["min(v)", "max(v)", "count(v)"] {
            let sql = format!("SELECT {what} FROM g.person");
            assert_eq!(
                value(&told, &sql).await,
                value(&untold, &sql).await,
                "{scalar:?} {sql}"
            );
        }
    }
}

#[tokio::test]
async fn a_file_that_was_replaced_or_has_no_column_is_noticed() {
    let rows_written = |least: i32| -> Vec<Row> {
        (0..6)
            .map(|step| (None, Some(least + step), None, None, None, None, None, None))
            .collect()
    };
    let (archive, other) = (
        write(&rows_written(10), 2, FileType::Parquet).await,
        write(&rows_written(50), 2, FileType::Parquet).await,
    );
    let ctx = archive.open(&how(true)).await.unwrap();
    let sql = "SELECT min(i), max(i), count(i) FROM g.person";
    assert_eq!(value(&ctx, sql).await, "10 15 6");
    assert_eq!(value(&ctx, sql).await, "10 15 6");
    let prepared = PreparedQuery::try_new(&ctx, "SELECT max(i) FROM g.person")
        .await
        .unwrap();
    let largest = async || {
        let batches = prepared.collect(Vec::<ScalarValue>::new()).await.unwrap();
        ScalarValue::try_from_array(batches[0].column(0), 0).unwrap()
    };
    assert_eq!(largest().await, ScalarValue::from(15));
    let paths = archive.paths().await;
    let path = paths
        .iter()
        .find(|path| path.contains("/b_i_") && path.ends_with("chunk1"));
    let path = path.unwrap();
    archive.put(path, other.get(path).await).await;
    assert_eq!(value(&ctx, sql).await, "10 53 6");
    assert_eq!(largest().await, ScalarValue::from(53));
    // The column is missing in a file: its values are null.
    let without = parquet(vec![("l", ints([1, 2]))]);
    archive.put(path, without).await;
    assert_eq!(value(&ctx, sql).await, "10 15 4");
    archive.delete(path).await;
    let message = error(&ctx, sql).await;
    assert!(message.contains("chunk1"), "{message}");
}

#[tokio::test]
async fn footers_are_read_once_of_few_files_and_of_whole_columns_only() {
    let rows_written: Vec<Row> = (0..40)
        .map(|step| (None, Some(step), None, None, None, None, None, None))
        .collect();
    let archive = write(&rows_written, 2, FileType::Parquet).await;
    let store = Arc::new(CountingStore::new(Arc::clone(&archive.store)));
    let open = async |most: usize| {
        let mut how = how(true);
        how.options.statistics_chunks = most;
        let ctx = how.session(Arc::<CountingStore>::clone(&store));
        ctx.register_graph("g", "memory://t/data/g.graph.yml")
            .await
            .unwrap();
        store.take();
        ctx
    };
    let planned = async |ctx: &SessionContext, sql: &str| {
        plan(ctx, sql).await;
        let noted = store.noted();
        (noted.paths().len(), noted.bytes(""))
    };
    let ctx = open(20).await;
    for sql in [
        "SELECT i FROM g.person WHERE _vertex_id = 7",
        "SELECT i FROM g.person LIMIT 1",
        "SELECT count(*), max(_vertex_id) FROM g.person",
        "SELECT id, i FROM g.person",
    ] {
        assert_eq!(planned(&ctx, sql).await, (0, 0), "{sql}");
    }
    let (files, bytes) = planned(&ctx, "SELECT i FROM g.person").await;
    assert!(files == 20 && bytes > 0);
    // Only whether they are still the same is asked.
    assert_eq!(planned(&ctx, "SELECT max(i) FROM g.person").await, (20, 0));
    let mut trusting = how(true);
    trusting.options.validate_cached_files = false;
    let ctx = trusting.session(Arc::<CountingStore>::clone(&store));
    ctx.register_graph("g", "memory://t/data/g.graph.yml")
        .await
        .unwrap();
    planned(&ctx, "SELECT i FROM g.person").await;
    assert_eq!(planned(&ctx, "SELECT max(i) FROM g.person").await, (0, 0));
    let ctx = open(19).await;
    assert_eq!(planned(&ctx, "SELECT i FROM g.person").await, (0, 0));
}
