//! Damaged files: an error or rows, but never a panic, and never for long.

use std::panic;
use std::time::{Duration, Instant};

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::ipc::CompressionType;
use datafusion::parquet::basic::Compression;
use datafusion::parquet::file::properties::WriterProperties;

use super::support::{File, everything, read, scalars, to_csv, to_ipc, to_json, to_parquet};
use crate::format::FileType;

/// Files of every payload and codec.
fn files() -> Vec<(&'static str, FileType, Vec<u8>, RecordBatch)> {
    let (plain, lists) = (scalars(), everything());
    let zstd = WriterProperties::builder().set_compression(Compression::ZSTD(Default::default()));
    let small = WriterProperties::builder()
        .set_max_row_group_row_count(Some(16))
        .set_dictionary_enabled(false);
    vec![
        (
            "parquet",
            FileType::Parquet,
            to_parquet(&lists, WriterProperties::default()),
            lists.clone(),
        ),
        (
            "parquet zstd",
            FileType::Parquet,
            to_parquet(&lists, zstd.build()),
            lists.clone(),
        ),
        (
            "parquet plain",
            FileType::Parquet,
            to_parquet(&lists, small.build()),
            lists.clone(),
        ),
        (
            "csv",
            FileType::Csv,
            to_csv(&plain, "\n").into(),
            plain.clone(),
        ),
        (
            "json",
            FileType::Json,
            to_json(&lists).into(),
            lists.clone(),
        ),
        (
            "ipc",
            FileType::Arrow,
            to_ipc(&lists, 20, false, None),
            lists.clone(),
        ),
        (
            "ipc stream",
            FileType::Arrow,
            to_ipc(&lists, 20, true, None),
            lists.clone(),
        ),
        (
            "ipc lz4",
            FileType::Arrow,
            to_ipc(&lists, 20, false, Some(CompressionType::LZ4_FRAME)),
            lists.clone(),
        ),
        (
            "ipc zstd",
            FileType::Arrow,
            to_ipc(&lists, 20, true, Some(CompressionType::ZSTD)),
            lists.clone(),
        ),
        #[cfg(feature = "orc")]
        (
            "orc",
            FileType::Orc,
            super::support::to_orc(&plain, 20),
            plain.clone(),
        ),
    ]
}

/// Pseudo-random numbers, the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % bound
    }
}

/// Reads all rows, some rows and some columns; whatever comes must come soon.
fn try_out(name: &str, file: &File) {
    let begin = Instant::now();
    let mut part = file.request();
    part.rows = file.rows / 3..file.rows / 2;
    part.columns = part.columns.iter().rev().step_by(2).cloned().collect();
    for request in [file.request(), part] {
        if let Err(error) = read(file.kind, request) {
            assert!(
                error.to_string().contains("part0/chunk0"),
                "{name}: {error}"
            );
        }
    }
    assert!(begin.elapsed() < Duration::from_secs(5), "{name}");
}

/// Panics of decoders are caught, but would be printed a thousand times.
fn quietly(test: impl FnOnce()) {
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|info| {
        if info
            .location()
            .is_some_and(|at| at.file().contains("payload"))
        {
            eprintln!("{info}");
        }
    }));
    test();
    panic::set_hook(hook);
}

#[test]
fn flipped_bytes_never_panic() {
    quietly(|| {
        for (name, kind, bytes, table) in files() {
            damage(name, kind, &bytes, &table, 500);
        }
    });
}

#[cfg(feature = "orc")]
#[test]
fn flipped_bytes_of_compressed_orc_never_panic() {
    use std::fs;
    use std::path::Path;

    use datafusion::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("sqllogictest/data/orc_twins");
    let twin = fs::File::open(folder.join("values.parquet")).unwrap();
    let table = ParquetRecordBatchReaderBuilder::try_new(twin)
        .unwrap()
        .build()
        .unwrap()
        .next()
        .unwrap()
        .unwrap();
    quietly(|| {
        for kind in ["uncompressed", "zlib", "snappy", "lz4", "zstd"] {
            let bytes = fs::read(folder.join(format!("values_{kind}.orc"))).unwrap();
            damage(kind, FileType::Orc, &bytes, &table, 300);
        }
    });
}

fn damage(name: &str, kind: FileType, bytes: &[u8], table: &RecordBatch, rounds: usize) {
    let mut numbers = Numbers(bytes.len() as u64);
    for round in 0..rounds {
        let mut damaged = bytes.to_vec();
        for _ in 0..=round % 3 {
            // Half of the damage goes to the end, where the footers are.
            let at = match round % 2 {
                0 => numbers.below(damaged.len()),
                _ => damaged.len() - 1 - numbers.below(damaged.len().min(800)),
            };
            damaged[at] = match numbers.below(4) {
                0 => 0xff,
                1 => 0,
                _ => damaged[at] ^ (1 << numbers.below(8)),
            };
        }
        let file = File::new(kind, damaged, table.schema(), table.num_rows());
        try_out(&format!("{name}, round {round}"), &file);
    }
}

#[test]
fn truncated_files_are_errors() {
    quietly(|| {
        for (name, kind, bytes, table) in files() {
            for length in (0..bytes.len() - 8).step_by(bytes.len() / 60 + 1) {
                let file = File::new(
                    kind,
                    bytes[..length].to_vec(),
                    table.schema(),
                    table.num_rows(),
                );
                let error = file.error();
                assert!(error.contains("part0/chunk0"), "{name}, {length}: {error}");
            }
        }
    });
}

#[test]
fn a_file_of_another_kind_is_an_error() {
    quietly(|| {
        for (name, _, bytes, table) in files() {
            for kind in FileType::ALL {
                let file = File::new(kind, bytes.clone(), table.schema(), table.num_rows());
                let same = name.starts_with(&kind.name()[..3])
                    || (kind == FileType::Arrow && name.starts_with("ipc"));
                assert!(same || file.read().is_err(), "{name} as {kind}");
            }
        }
    });
}
