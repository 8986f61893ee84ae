//! ORC files of another writer against their Parquet twins, `sqllogictest/data/orc_twins`.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, Date32Array, Float64Array, Int32Array, Int64Array,
    RecordBatch, StringViewArray,
};
use datafusion::arrow::datatypes::{
    DataType, Field, SchemaRef, TimeUnit, TimestampMillisecondType,
};

use super::support::{File, batch, read, schema, to_orc};
use crate::format::FileType;

fn twin(kind: FileType, name: &str, declared: SchemaRef, rows: usize) -> File {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("sqllogictest/data/orc_twins");
    File::new(kind, fs::read(folder.join(name)).unwrap(), declared, rows)
}

fn timestamps() -> SchemaRef {
    schema(vec![(
        "at",
        DataType::Timestamp(TimeUnit::Millisecond, None),
    )])
}

#[test]
fn timestamps_before_1970_keep_their_milliseconds() {
    let rows = twin(FileType::Orc, "timestamps.orc", timestamps(), 12)
        .read()
        .unwrap();
    let expected = twin(FileType::Parquet, "timestamps.parquet", timestamps(), 12)
        .read()
        .unwrap();
    let found = rows.column(0).as_primitive::<TimestampMillisecondType>();
    assert_eq!(rows, expected);
    assert_eq!(found.values()[..3], [-2_198_229_903_900, -1, 1]);
}

#[test]
fn integers_of_every_run_kind_are_those_of_the_twin() {
    let names = ["outlier", "alternating", "constant", "falling"];
    let mut fields: Vec<_> = names.iter().map(|name| (*name, DataType::Int64)).collect();
    fields.push(("small", DataType::Int32));
    let declared = schema(fields);
    let orc = twin(FileType::Orc, "integers.orc", Arc::clone(&declared), 1024);
    let expected = twin(FileType::Parquet, "integers.parquet", declared, 1024)
        .read()
        .unwrap();
    assert_eq!(orc.read().unwrap(), expected);
    for start in (0..1024).step_by(37) {
        let mut request = orc.request();
        (request.rows, request.batch_size) = (start..(start + 51).min(1024), 10);
        let rows = read(FileType::Orc, request).unwrap();
        assert_eq!(
            rows,
            expected.slice(start as usize, rows.num_rows()),
            "{start}"
        );
    }
}

#[test]
fn every_compression_and_type_is_that_of_the_twin() {
    let list = |item| DataType::List(Arc::new(Field::new_list_field(item, true)));
    let declared: SchemaRef = schema(vec![
        ("flag", DataType::Boolean),
        ("small", DataType::Int32),
        ("big", DataType::Int64),
        ("single", DataType::Float32),
        ("double", DataType::Float64),
        ("text", DataType::Utf8View),
        ("day", DataType::Date32),
        ("at", DataType::Timestamp(TimeUnit::Millisecond, None)),
        ("words", list(DataType::Utf8)),
        ("numbers", list(DataType::Int64)),
    ]);
    let expected = twin(
        FileType::Parquet,
        "values.parquet",
        Arc::clone(&declared),
        300,
    )
    .read()
    .unwrap();
    for kind in ["uncompressed", "zlib", "snappy", "lz4", "zstd"] {
        let orc = twin(
            FileType::Orc,
            &format!("values_{kind}.orc"),
            Arc::clone(&declared),
            300,
        );
        assert_eq!(orc.read().unwrap(), expected, "{kind}");
        for (start, end, batch_size) in [
            (0, 1, 1),
            (63, 65, 1),
            (100, 299, 7),
            (64, 128, 8192),
            (299, 300, 3),
        ] {
            let mut request = orc.request();
            (request.rows, request.batch_size) = (start..end, batch_size);
            let rows = read(FileType::Orc, request).unwrap();
            assert_eq!(
                rows,
                expected.slice(start as usize, (end - start) as usize),
                "{kind}, {start}..{end}"
            );
        }
        for column in 0..declared.fields().len() {
            let mut request = orc.request();
            request.columns = vec![request.columns[column].clone()];
            request.rows = 10..290;
            let rows = read(FileType::Orc, request).unwrap();
            assert_eq!(
                rows.column(0),
                &expected.column(column).slice(10, 280),
                "{kind}, {column}"
            );
        }
    }
}

/// Runs, literals, nulls and repeated texts, in one stripe or several.
fn varied(seed: u64, rows: usize) -> RecordBatch {
    let mut state = seed | 1;
    let mut next = |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below
    };
    let mut numbers = vec![];
    while numbers.len() < rows {
        let (value, run) = (next(1 << 40), next(700));
        match next(3) {
            0 => numbers.extend((0..run).map(|_| Some(value))),
            1 => numbers.extend((0..run).map(|step| Some(value + 3 * step))),
            _ => numbers.extend((0..run % 50).map(|_| (next(4) > 0).then(|| next(1 << 20)))),
        }
    }
    numbers.truncate(rows);
    let of = |f: fn(u64) -> i64| numbers.iter().map(move |number| number.map(f));
    let int64: Int64Array = of(|n| n as i64).collect();
    let int32: Int32Array = of(|n| n as i64 % 1000)
        .map(|n| n.map(|n| n as i32))
        .collect();
    let flags: BooleanArray = of(|n| n as i64 % 3).map(|n| n.map(|n| n == 0)).collect();
    let double: Float64Array = of(|n| n as i64)
        .map(|n| n.map(|n| n as f64 / 8.0))
        .collect();
    let texts: StringViewArray = of(|n| n as i64 % 500)
        .map(|n| n.map(|n| format!("text {n} {}", "x".repeat(n as usize % 20))))
        .collect();
    let dates: Date32Array = of(|n| n as i64 % 9000)
        .map(|n| n.map(|n| n as i32))
        .collect();
    batch(vec![
        ("int64", Arc::new(int64) as ArrayRef),
        ("int32", Arc::new(int32)),
        ("flags", Arc::new(flags)),
        ("double", Arc::new(double)),
        ("texts", Arc::new(texts)),
        ("dates", Arc::new(dates)),
    ])
}

#[test]
fn rows_that_are_passed_over_do_not_shift_the_others() {
    for seed in 1..12_u64 {
        let table = varied(seed * 0x9e37_79b9, 3_000);
        let stripe = [3_000, 1_024, 7][seed as usize % 3];
        let orc = File::new(FileType::Orc, to_orc(&table, stripe), table.schema(), 3_000);
        for step in 0..40_u64 {
            let start = (seed * 7_919 + step * step * 131) % 3_000;
            let end = (start + 1 + step * 37).min(3_000);
            let mut request = orc.request();
            (request.rows, request.batch_size) = (start..end, [1_024, 100, 3][step as usize % 3]);
            let rows = read(FileType::Orc, request).unwrap();
            let expected = table.slice(start as usize, (end - start) as usize);
            assert_eq!(rows, expected, "{seed}: {start}..{end}");
        }
    }
}
