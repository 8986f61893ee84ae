//! Conditions on labels, walked run by run.

use std::sync::Arc;

use bytes::Bytes;
use datafusion::arrow::array::{ArrayRef, BooleanArray, ListBuilder, StringBuilder};
use datafusion::arrow::datatypes::{DataType, Field, Schema};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::basic::{Compression, Encoding, ZstdLevel};
use datafusion::parquet::file::properties::{WriterProperties, WriterVersion};
use datafusion::parquet::file::reader::FileReader;
use datafusion::parquet::file::serialized_reader::SerializedFileReader;
use datafusion::prelude::SessionContext;
use datafusion_graphar::format::FileType;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use tokio::runtime::Runtime;

use crate::fixture::*;

const LABELS: [&str; 3] = ["x", "y", "z"];

/// For each vertex whether it has the label; `None` is a null in the file.
type Flags = Vec<Option<bool>>;

/// How a label file is encoded.
#[derive(Debug, Clone)]
struct Encoded {
    version: WriterVersion,
    encoding: Encoding,
    compression: Compression,
    group_rows: usize,
    page_rows: usize,
    optional: bool,
}

fn encoded() -> impl Strategy<Value = Encoded> {
    let zstd = Compression::ZSTD(ZstdLevel::default());
    (
        select(vec![WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0]),
        select(vec![Encoding::RLE, Encoding::PLAIN]),
        select(vec![Compression::UNCOMPRESSED, Compression::SNAPPY, zstd]),
        select(vec![37_usize, 256, 10_000]),
        select(vec![1_usize, 20, 100, 10_000]),
        any::<bool>(),
    )
        .prop_map(
            |(version, encoding, compression, group_rows, page_rows, optional)| Encoded {
                version,
                encoding,
                compression,
                group_rows,
                page_rows,
                optional,
            },
        )
}

/// Runs of equal values, some long and some short.
fn flags(nulls: bool) -> impl Strategy<Value = Flags> {
    let value = if nulls {
        prop_oneof![8 => any::<bool>().prop_map(Some), 1 => Just(None)].boxed()
    } else {
        any::<bool>().prop_map(Some).boxed()
    };
    let length = prop_oneof![3 => 1..4_usize, 2 => 60..70_usize, 2 => 100..400_usize];
    vec((value, length), 1..20).prop_map(|runs| {
        let runs = runs.into_iter();
        runs.flat_map(|(value, length)| std::iter::repeat_n(value, length))
            .collect()
    })
}

#[derive(Debug, Clone)]
enum Condition {
    Has(usize),
    /// A label that is not declared.
    HasOther,
    Not(Box<Condition>),
    And(Box<Condition>, Box<Condition>),
    Or(Box<Condition>, Box<Condition>),
    Below(i64),
    Even,
}

fn condition() -> impl Strategy<Value = Condition> {
    let leaf = prop_oneof![
        8 => (0..LABELS.len()).prop_map(Condition::Has),
        1 => Just(Condition::HasOther),
        1 => (0..700_i64).prop_map(Condition::Below),
        1 => Just(Condition::Even),
    ];
    leaf.prop_recursive(3, 8, 2, |inner| {
        let pair = || (inner.clone(), inner.clone());
        prop_oneof![
            pair().prop_map(|(a, b)| Condition::And(Box::new(a), Box::new(b))),
            pair().prop_map(|(a, b)| Condition::Or(Box::new(a), Box::new(b))),
            inner.clone().prop_map(|a| Condition::Not(Box::new(a))),
        ]
    })
}

impl Condition {
    fn sql(&self) -> String {
        match self {
            Self::Has(label) => format!("has_label(_labels, '{}')", LABELS[*label]),
            Self::HasOther => "has_label(_labels, 'other')".to_owned(),
            Self::Not(of) => format!("(NOT {})", of.sql()),
            Self::And(a, b) => format!("({} AND {})", a.sql(), b.sql()),
            Self::Or(a, b) => format!("({} OR {})", a.sql(), b.sql()),
            Self::Below(id) => format!("_vertex_id < {id}"),
            Self::Even => "id % 2 = 0".to_owned(),
        }
    }

    fn holds(&self, row: usize, labels: &[Flags]) -> bool {
        match self {
            Self::Has(label) => labels[*label][row] == Some(true),
            Self::HasOther => false,
            Self::Not(of) => !of.holds(row, labels),
            Self::And(a, b) => a.holds(row, labels) && b.holds(row, labels),
            Self::Or(a, b) => a.holds(row, labels) || b.holds(row, labels),
            Self::Below(id) => i64::try_from(row).unwrap() < *id,
            Self::Even => row.is_multiple_of(2),
        }
    }
}

/// Persons with these labels, whose label files are written anew in another encoding.
async fn labelled(labels: &[Flags], chunk_size: usize, encoded: Option<&Encoded>) -> Archive {
    let count = labels[0].len();
    let mut info = person(chunk_size as u64, FileType::Parquet);
    info.labels = LABELS.map(str::to_owned).to_vec();
    let mut lists = ListBuilder::new(StringBuilder::new());
    for row in 0..count {
        let names = LABELS.iter().zip(labels);
        let names = names.filter(|(_, flags)| flags[row] == Some(true));
        lists.append_value(names.map(|(name, _)| Some(name)));
    }
    let rows = batch(vec![("id", ints((0..).take(count)))]);
    let archive = Fixture::new()
        .labelled(info, &rows, &lists.finish())
        .await
        .finish()
        .await;
    let Some(encoded) = encoded else {
        return archive;
    };
    for (chunk, first) in (0..count).step_by(chunk_size).enumerate() {
        let end = count.min(first + chunk_size);
        let arrays = labels.iter().map(|flags| -> ArrayRef {
            Arc::new(flags[first..end].iter().copied().collect::<BooleanArray>())
        });
        let fields = LABELS.map(|name| Field::new(name, DataType::Boolean, encoded.optional));
        let schema = Arc::new(Schema::new(fields.to_vec()));
        let rows = RecordBatch::try_new(Arc::clone(&schema), arrays.collect()).unwrap();
        let properties = WriterProperties::builder()
            .set_writer_version(encoded.version)
            .set_encoding(encoded.encoding)
            .set_compression(encoded.compression)
            .set_max_row_group_row_count(Some(encoded.group_rows))
            .set_data_page_row_count_limit(encoded.page_rows)
            .set_write_batch_size(encoded.page_rows.min(1024))
            .build();
        let mut bytes = vec![];
        let mut writer = ArrowWriter::try_new(&mut bytes, schema, Some(properties)).unwrap();
        writer.write(&rows).unwrap();
        writer.close().unwrap();
        archive
            .put(&format!("vertex/person/labels/chunk{chunk}"), bytes)
            .await;
    }
    archive
}

fn how(runs: bool) -> How {
    let mut how = How::of(3, 100, true);
    how.options.label_runs = runs;
    how
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn runs_and_values_give_the_same_vertices(
        labels in any::<bool>().prop_flat_map(|nulls| vec(flags(nulls), LABELS.len())),
        mut encoded in encoded(),
        chunk_size in select(vec![64_usize, 500, 10_000]),
        conditions in vec(condition(), 6),
        limit in 0..50_usize,
    ) {
        let count = labels.iter().map(Vec::len).min().unwrap();
        let labels: Vec<Flags> = labels.iter().map(|flags| flags[..count].to_vec()).collect();
        encoded.optional |= labels.iter().flatten().any(Option::is_none);
        Runtime::new().unwrap().block_on(async {
            let archive = labelled(&labels, chunk_size, Some(&encoded)).await;
            let (by_run, by_value) = (
                archive.open(&how(true)).await.unwrap(),
                archive.open(&how(false)).await.unwrap(),
            );
            for condition in &conditions {
                let expected: Vec<String> = (0..count)
                    .filter(|row| condition.holds(*row, &labels))
                    .map(|row| format!("{row} {row}"))
                    .collect();
                let sql = format!(
                    "SELECT _vertex_id, id FROM g.person WHERE {} ORDER BY _vertex_id",
                    condition.sql()
                );
                assert_eq!(rows(&by_run, &sql).await, expected, "{sql}");
                assert_eq!(rows(&by_value, &sql).await, expected, "{sql}");
                let least = expected.len().min(limit);
                let sql = format!("{sql} LIMIT {limit}");
                assert_eq!(rows(&by_run, &sql).await, expected[..least], "{sql}");
            }
        });
    }
}

/// A counter of the scan, as `EXPLAIN ANALYZE` shows it: of many it gives the thousands.
async fn counted(ctx: &SessionContext, sql: &str, counter: &str) -> usize {
    let shown = rows(ctx, &format!("EXPLAIN ANALYZE {sql}"))
        .await
        .join("\n");
    let (_, after) = shown.split_once(&format!("{counter}=")).unwrap();
    let digits: String = after.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap()
}

#[tokio::test]
async fn long_runs_are_looked_at_once() {
    let half: Flags = (0..50_000).map(|row| Some(row < 20_000)).collect();
    let all: Flags = vec![Some(true); 50_000];
    let mixed: Flags = (0..50_000).map(|row| Some(row % 2 == 0)).collect();
    let archive = labelled(&[half, all, mixed], 1 << 16, None).await;
    let mut by_run = How {
        partitions: 1,
        ..How::default()
    };
    let ctx = archive.open(&by_run).await.unwrap();
    let written = archive.get("vertex/person/labels/chunk0").await;
    let file = SerializedFileReader::new(Bytes::from(written)).unwrap();
    for column in file.metadata().row_group(0).columns() {
        assert!(column.encodings().all(|encoding| encoding == Encoding::RLE));
    }
    let sql = "SELECT count(*) FROM g.person WHERE has_label(_labels, 'x') AND NOT has_label(_labels, 'y')";
    assert_eq!(value(&ctx, sql).await, "0");
    let runs = counted(&ctx, sql, "label_runs").await;
    assert!((2..100).contains(&runs), "{runs}");
    assert_eq!(counted(&ctx, sql, "rows_decoded").await, 0);
    let sql = "SELECT count(*) FROM g.person WHERE has_label(_labels, 'z')";
    assert_eq!(value(&ctx, sql).await, "25000");
    let runs = counted(&ctx, sql, "label_runs").await;
    assert!((700..2_000).contains(&runs), "{runs}");
    // Where the labels themselves are wanted they are decoded.
    let sql = "SELECT _labels FROM g.person WHERE has_label(_labels, 'x')";
    assert_eq!(rows(&ctx, sql).await.len(), 20_000);
    by_run.options.label_runs = false;
    let ctx = archive.open(&by_run).await.unwrap();
    let sql = "SELECT count(*) FROM g.person WHERE has_label(_labels, 'x')";
    assert_eq!(counted(&ctx, sql, "label_runs").await, 0);
    assert!(counted(&ctx, sql, "rows_decoded").await > 0);
}
