//! Text payloads byte by byte, binary payloads read back by the libraries' own readers.

use std::sync::Arc;

use bytes::Bytes;
use datafusion::arrow::array::{
    ArrayRef, BooleanArray, Date32Array, Float32Array, Float64Array, Int32Array, Int64Array,
    ListBuilder, RecordBatch, StringArray, StringBuilder, StringViewArray,
    TimestampMillisecondArray, TimestampNanosecondArray, UInt8Array,
};
use datafusion::arrow::compute::cast;
use datafusion::arrow::ipc::reader::FileReader;
use datafusion::parquet::arrow::arrow_reader::ParquetRecordBatchReader;
use datafusion::parquet::basic::{
    Compression, Encoding, LogicalType, Repetition, TimeUnit as ParquetTimeUnit, Type,
};
use datafusion::parquet::file::reader::{FileReader as _, SerializedFileReader};

use super::{EncodeOptions, encode};
use crate::format::FileType;

fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, column)| {
        let nullable = column.null_count() > 0;
        (name, column, nullable)
    }))
    .unwrap()
}

fn built_in() -> impl Iterator<Item = FileType> {
    FileType::ALL
        .into_iter()
        .filter(|file_type| cfg!(feature = "orc") || *file_type != FileType::Orc)
}

fn encoded(file_type: FileType, batch: &RecordBatch) -> Bytes {
    encode(file_type, "some/chunk0", batch, &EncodeOptions::default()).unwrap()
}

fn text(file_type: FileType, batch: &RecordBatch) -> String {
    String::from_utf8(encoded(file_type, batch).to_vec()).unwrap()
}

fn error(file_type: FileType, column: ArrayRef) -> String {
    encode(
        file_type,
        "some/chunk0",
        &batch(vec![
            ("c", column),
            ("i", Arc::new(Int64Array::from(vec![0; 2]))),
        ]),
        &EncodeOptions::default(),
    )
    .unwrap_err()
    .to_string()
}

/// Two or three rows of every scalar type, with what breaks careless writers.
fn ugly() -> RecordBatch {
    batch(vec![
        (
            "big",
            Arc::new(Int64Array::from(vec![
                Some(i64::MIN),
                Some(9_007_199_254_740_993),
                None,
            ])),
        ),
        (
            "a \"b\", c",
            Arc::new(StringViewArray::from(vec![
                Some("say \"hi\", a\\b"),
                Some(""),
                None,
            ])),
        ),
        (
            "lines",
            Arc::new(StringArray::from(vec![" x\r\ny ", "007", "null"])),
        ),
        (
            "ok",
            Arc::new(BooleanArray::from(vec![Some(true), None, Some(false)])),
        ),
        (
            "small",
            Arc::new(Int32Array::from(vec![i32::MIN, 0, i32::MAX])),
        ),
        ("half", Arc::new(Float32Array::from(vec![0.1, 1e20, -0.0]))),
        (
            "double",
            Arc::new(Float64Array::from(vec![1.0, 1e300, 5e-324])),
        ),
        (
            "day",
            Arc::new(Date32Array::from(vec![Some(1), Some(-719_528), None])),
        ),
        (
            "time",
            Arc::new(TimestampMillisecondArray::from(vec![
                5,
                -62_167_219_200_000,
                253_402_300_799_999,
            ])),
        ),
    ])
}

#[test]
fn csv_tells_null_from_empty_and_quotes_strings_only() {
    assert_eq!(
        text(FileType::Csv, &ugly()),
        concat!(
            "\"big\",\"a \"\"b\"\", c\",\"lines\",\"ok\",\"small\",\"half\",\"double\",\"day\",\"time\"\n",
            "-9223372036854775808,\"say \"\"hi\"\", a\\b\",\" x\r\ny \",true,-2147483648,0.1,1,1970-01-02,",
            "1970-01-01 00:00:00.005\n",
            "9007199254740993,\"\",\"007\",,0,1e20,1e300,0000-01-01,0000-01-01 00:00:00.000\n",
            ",,\"null\",false,2147483647,-0,5e-324,,9999-12-31 23:59:59.999\n",
        )
    );
    let floats = Float64Array::from(vec![f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.1 + 0.2]);
    assert_eq!(
        text(FileType::Csv, &batch(vec![("f", Arc::new(floats))])),
        "\"f\"\nnan\ninf\n-inf\n0.30000000000000004\n"
    );
}

#[test]
fn json_leaves_nulls_out_and_keeps_integers_exact() {
    assert_eq!(
        text(FileType::Json, &ugly()),
        concat!(
            r#"{"big":-9223372036854775808,"a \"b\", c":"say \"hi\", a\\b","lines":" x\r\ny ","ok":true,"#,
            r#""small":-2147483648,"half":0.1,"double":1.0,"day":"1970-01-02","time":"1970-01-01 00:00:00.005"}"#,
            "\n",
            r#"{"big":9007199254740993,"a \"b\", c":"","lines":"007","small":0,"half":1.0e20,"double":1.0e300,"#,
            r#""day":"0000-01-01","time":"0000-01-01 00:00:00.000"}"#,
            "\n",
            r#"{"lines":"null","ok":false,"small":2147483647,"half":-0.0,"double":5.0e-324,"#,
            r#""time":"9999-12-31 23:59:59.999"}"#,
            "\n",
        )
    );
    let nothing = batch(vec![("x", Arc::new(Int64Array::from(vec![None, Some(1)])))]);
    assert_eq!(text(FileType::Json, &nothing), "{}\n{\"x\":1}\n");
}

fn lists() -> ArrayRef {
    let mut lists = ListBuilder::new(StringBuilder::new());
    lists.append_value([Some("a,b"), Some("c\"d"), None]);
    lists.append_value([None::<&str>; 0]);
    lists.append_null();
    Arc::new(lists.finish())
}

#[test]
fn lists_where_the_payload_can_hold_them() {
    let rows = batch(vec![("l", lists())]);
    assert_eq!(
        text(FileType::Json, &rows),
        "{\"l\":[\"a,b\",\"c\\\"d\",null]}\n{\"l\":[]}\n{}\n"
    );
    for file_type in built_in().filter(|t| [FileType::Csv, FileType::Orc].contains(t)) {
        let error = encode(file_type, "p", &rows, &EncodeOptions::default())
            .unwrap_err()
            .to_string();
        assert!(error.contains("column 'l' of type List"), "{error}");
    }
    let back = read_parquet(encoded(FileType::Parquet, &rows));
    assert_eq!(
        &cast(back.column(0), rows.column(0).data_type()).unwrap(),
        rows.column(0)
    );
    let back = read_ipc(encoded(FileType::Arrow, &rows));
    assert_eq!(back.column(0), rows.column(0));
    let file = SerializedFileReader::new(encoded(FileType::Parquet, &rows)).unwrap();
    assert_eq!(
        file.metadata()
            .file_metadata()
            .schema_descr()
            .column(0)
            .path()
            .string(),
        "l.list.element"
    );
}

#[test]
fn values_that_a_payload_cannot_hold_are_refused() {
    let late: ArrayRef = Arc::new(TimestampMillisecondArray::from(vec![
        0,
        253_402_300_800_000,
    ]));
    let early: ArrayRef = Arc::new(Date32Array::from(vec![0, -719_529]));
    for file_type in [FileType::Csv, FileType::Json] {
        for column in [&late, &early] {
            let error = error(file_type, Arc::clone(column));
            assert!(
                error.contains("column 'c', row 1: a year outside"),
                "{error}"
            );
        }
    }
    let nan = error(
        FileType::Json,
        Arc::new(Float64Array::from(vec![0.0, f64::NAN])),
    );
    assert!(nan.contains("column 'c', row 1: NaN"), "{nan}");
    let infinite = error(
        FileType::Json,
        Arc::new(Float32Array::from(vec![f32::INFINITY, 0.0])),
    );
    assert!(infinite.contains("row 0: inf"), "{infinite}");
    #[cfg(feature = "orc")]
    {
        let before = error(
            FileType::Orc,
            Arc::new(TimestampMillisecondArray::from(vec![-1000, -1])),
        );
        assert!(before.contains("column 'c', row 1: -1 ms"), "{before}");
    }
    for file_type in built_in() {
        for column in [
            Arc::new(UInt8Array::from(vec![1, 2])) as ArrayRef,
            Arc::new(TimestampNanosecondArray::from(vec![1, 2])),
            Arc::new(TimestampMillisecondArray::from(vec![1, 2]).with_timezone("UTC")),
        ] {
            let error = error(file_type, column);
            assert!(error.contains("column 'c' of type"), "{error}");
        }
    }
    let lone = batch(vec![("c", Arc::new(Int64Array::from(vec![Some(1), None])))]);
    let error = encode(FileType::Csv, "p", &lone, &EncodeOptions::default())
        .unwrap_err()
        .to_string();
    assert!(error.contains("a null in column 'c'"), "{error}");
}

fn read_parquet(bytes: Bytes) -> RecordBatch {
    ParquetRecordBatchReader::try_new(bytes, 1 << 22)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
}

fn read_ipc(bytes: Bytes) -> RecordBatch {
    FileReader::try_new(std::io::Cursor::new(bytes), None)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
}

/// Equal values, whatever the layout of strings and the nullability of fields.
fn assert_same(found: &RecordBatch, expected: &RecordBatch) {
    assert_eq!(found.num_columns(), expected.num_columns());
    for (i, field) in expected.schema().fields().iter().enumerate() {
        assert_eq!(found.schema().field(i).name(), field.name());
        assert_eq!(
            &cast(found.column(i), field.data_type()).unwrap(),
            expected.column(i),
            "{}",
            field.name()
        );
    }
}

#[test]
fn parquet_and_ipc_read_back_equal() {
    assert_same(&read_parquet(encoded(FileType::Parquet, &ugly())), &ugly());
    assert_same(&read_ipc(encoded(FileType::Arrow, &ugly())), &ugly());
    let slice = ugly().slice(1, 2);
    assert_same(&read_parquet(encoded(FileType::Parquet, &slice)), &slice);
    assert_same(&read_ipc(encoded(FileType::Arrow, &slice)), &slice);
}

#[test]
fn parquet_has_the_formats_own_types_in_one_row_group() {
    let bytes = encoded(FileType::Parquet, &ugly());
    let file = SerializedFileReader::new(bytes).unwrap();
    let metadata = file.metadata();
    assert!(metadata.file_metadata().key_value_metadata().is_none());
    let group = metadata.row_group(0);
    let millis = LogicalType::timestamp(false, ParquetTimeUnit::MILLIS);
    for (i, (physical, logical, repetition)) in [
        (Type::INT64, None, Repetition::OPTIONAL),
        (
            Type::BYTE_ARRAY,
            Some(LogicalType::String),
            Repetition::OPTIONAL,
        ),
        (
            Type::BYTE_ARRAY,
            Some(LogicalType::String),
            Repetition::REQUIRED,
        ),
        (Type::BOOLEAN, None, Repetition::OPTIONAL),
        (Type::INT32, None, Repetition::REQUIRED),
        (Type::FLOAT, None, Repetition::REQUIRED),
        (Type::DOUBLE, None, Repetition::REQUIRED),
        (Type::INT32, Some(LogicalType::Date), Repetition::OPTIONAL),
        (Type::INT64, Some(millis), Repetition::REQUIRED),
    ]
    .into_iter()
    .enumerate()
    {
        let column = group.column(i);
        let descr = column.column_descr();
        assert_eq!(column.column_type(), physical, "{}", descr.name());
        assert_eq!(
            descr.logical_type_ref(),
            logical.as_ref(),
            "{}",
            descr.name()
        );
        assert_eq!(
            descr.self_type().get_basic_info().repetition(),
            repetition,
            "{}",
            descr.name()
        );
        assert!(matches!(column.compression(), Compression::ZSTD(_)));
        let delta = column
            .encodings()
            .any(|e| e == Encoding::DELTA_BINARY_PACKED);
        assert_eq!(
            delta,
            matches!(physical, Type::INT32 | Type::INT64),
            "{}",
            descr.name()
        );
    }

    let rows = 1_100_000;
    let many = batch(vec![("n", Arc::new(Int64Array::from_iter_values(0..rows)))]);
    let file = SerializedFileReader::new(encoded(FileType::Parquet, &many)).unwrap();
    assert_eq!(file.metadata().num_row_groups(), 1);
    assert_eq!(file.metadata().row_group(0).num_rows(), rows);
}

#[cfg(feature = "orc")]
mod orc {
    use datafusion::arrow::compute::concat_batches;
    use datafusion::arrow::datatypes::{DataType, Field, Schema};
    use orc_rust::ArrowReaderBuilder;
    use proptest::prelude::*;

    use super::*;

    fn read(bytes: Bytes, rows: usize) -> RecordBatch {
        let reader = ArrowReaderBuilder::try_new(bytes)
            .unwrap()
            .with_batch_size(rows.max(1))
            .build();
        let batches: Vec<_> = reader.map(|batch| batch.unwrap()).collect();
        // The reader takes a column for required if the first stripe has no nulls in it.
        let fields = batches[0]
            .schema()
            .fields()
            .iter()
            .map(|f| f.as_ref().clone().with_nullable(true))
            .collect::<Vec<_>>();
        let schema = Arc::new(Schema::new(fields));
        let batches = batches
            .iter()
            .map(|b| RecordBatch::try_new(Arc::clone(&schema), b.columns().to_vec()).unwrap());
        concat_batches(&schema, &batches.collect::<Vec<_>>()).unwrap()
    }

    fn assert_round_trip(rows: &RecordBatch) {
        assert_same(&read(encoded(FileType::Orc, rows), rows.num_rows()), rows);
    }

    #[test]
    fn every_type_reads_back_equal() {
        // Read back in the reader's nanoseconds, the last column would end in 2262.
        let columns = (0..ugly().num_columns() - 1).collect::<Vec<_>>();
        assert_round_trip(&ugly().project(&columns).unwrap());
        encoded(FileType::Orc, &ugly());
        let times = vec![
            Some(5),
            None,
            Some(-2_198_229_903_900),
            Some(-1000),
            Some(1),
            Some(999),
            Some(1_420_070_400_001),
        ];
        assert_round_trip(&batch(vec![(
            "t",
            Arc::new(TimestampMillisecondArray::from(times)),
        )]));
    }

    #[test]
    fn hard_cases_of_integer_run_lengths() {
        let jump = (0..511).chain([1 << 40]).collect::<Vec<i64>>();
        let swing = (0..1000)
            .map(|i| if i % 2 == 0 { -(1 << 62) } else { 1 << 62 })
            .collect();
        let constant = [7; 2000]
            .into_iter()
            .chain([8; 3])
            .chain([-1; 700])
            .collect();
        let extremes = vec![
            i64::MIN,
            i64::MAX,
            0,
            -1,
            i64::MIN,
            i64::MIN,
            i64::MAX,
            i64::MAX,
        ];
        let steps = (0..3000)
            .map(|i| if i % 97 == 0 { -i * i } else { i })
            .collect();
        for values in [jump, swing, constant, extremes, steps] {
            assert_round_trip(&batch(vec![("n", Arc::new(Int64Array::from(values)))]));
        }
    }

    #[test]
    fn outliers_that_the_encoder_damages() {
        let row = |i: i64| if i % 12 == 5 { (1 << 30) + i } else { i % 7 };
        let rows = batch(vec![(
            "n",
            Arc::new(Int64Array::from_iter_values((0..2000).map(row))),
        )]);
        assert_round_trip(&rows);
        let small = (0..2000).map(|i| i32::try_from(row(i)).unwrap());
        assert_round_trip(&batch(vec![(
            "n",
            Arc::new(Int32Array::from_iter_values(small)),
        )]));
    }

    fn integer() -> impl Strategy<Value = i64> {
        prop_oneof![3 => -5..5_i64, 2 => any::<i64>(), 1 => any::<i32>().prop_map(i64::from), 1 => Just(i64::MAX)]
    }

    /// Runs of equal values, ascending runs and noise, one after the other.
    fn integers() -> impl Strategy<Value = Vec<i64>> {
        let run = (
            integer(),
            -3..4_i64,
            1..40_usize,
            prop::collection::vec(integer(), 0..12),
        )
            .prop_map(|(start, step, len, noise)| {
                (0..len)
                    .map(|i| start.wrapping_add(step.wrapping_mul(i as i64)))
                    .chain(noise)
                    .collect::<Vec<_>>()
            });
        prop::collection::vec(run, 1..20).prop_map(|runs| runs.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        #[test]
        fn integers_read_back_equal(values in integers(), nulls in prop::collection::vec(any::<bool>(), 1..7)) {
            let nullable: Int64Array = values.iter().zip(nulls.iter().cycle()).map(|(v, n)| n.then_some(*v)).collect();
            let texts: StringArray = values.iter().zip(nulls.iter().cycle()).map(|(v, n)| n.then(|| v.to_string())).collect();
            let flags: BooleanArray = values.iter().map(|v| (v % 3 != 0).then_some(v % 2 == 0)).collect();
            let rows = RecordBatch::try_new(
                Arc::new(Schema::new(vec![
                    Field::new("v", DataType::Int64, false),
                    Field::new("n", DataType::Int64, true),
                    Field::new("s", DataType::Utf8, true),
                    Field::new("b", DataType::Boolean, true),
                ])),
                vec![Arc::new(Int64Array::from(values)), Arc::new(nullable), Arc::new(texts), Arc::new(flags)],
            )
            .unwrap();
            assert_round_trip(&rows);
            assert_round_trip(&rows.slice(rows.num_rows() / 3, rows.num_rows() - rows.num_rows() / 3));
        }

        #[test]
        fn timestamps_read_back_equal(times in prop::collection::vec(-9_000_000_000_000..9_000_000_000_000_i64, 1..300)) {
            let times = times.into_iter().filter(|ms| !(-999..0).contains(ms));
            let rows = batch(vec![("t", Arc::new(TimestampMillisecondArray::from_iter_values(times)))]);
            prop_assume!(rows.num_rows() > 0);
            assert_round_trip(&rows);
        }
    }
}
