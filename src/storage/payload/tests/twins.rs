//! ORC files of another writer against their Parquet twins, `sqllogictest/data/orc_twins`.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use datafusion::arrow::array::{Array, AsArray};
use datafusion::arrow::datatypes::{
    DataType, Field, SchemaRef, TimeUnit, TimestampMillisecondType,
};

use super::support::{File, read, schema};
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
