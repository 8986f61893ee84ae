//! The same table out of every payload, whole and in parts.

use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::{DataType, Field};
use datafusion::arrow::ipc::CompressionType;
use datafusion::parquet::file::properties::WriterProperties;

use super::support::{File, everything, read, scalars, to_csv, to_ipc, to_json, to_parquet};
use crate::error::GraphArError;
use crate::format::FileType;
use crate::storage::payload::{ChunkColumn, ColumnSource};

/// Each payload's file of the table, with a name for messages.
fn files() -> Vec<(&'static str, File, RecordBatch)> {
    let (plain, lists) = (scalars(), everything());
    let rows = plain.num_rows();
    let small = WriterProperties::builder()
        .set_max_row_group_row_count(Some(16))
        .set_data_page_row_count_limit(5)
        .set_write_batch_size(5)
        .build();
    let (zstd, lz4) = (
        Some(CompressionType::ZSTD),
        Some(CompressionType::LZ4_FRAME),
    );
    let encoded: Vec<(&str, FileType, Vec<u8>, &RecordBatch)> = vec![
        (
            "parquet",
            FileType::Parquet,
            to_parquet(&lists, WriterProperties::default()),
            &lists,
        ),
        (
            "parquet, small pages",
            FileType::Parquet,
            to_parquet(&lists, small),
            &lists,
        ),
        ("csv", FileType::Csv, to_csv(&plain, "\n").into(), &plain),
        (
            "csv, crlf",
            FileType::Csv,
            to_csv(&plain, "\r\n").into(),
            &plain,
        ),
        (
            "csv, mark",
            FileType::Csv,
            format!("\u{feff}{}", to_csv(&plain, "\n")).into(),
            &plain,
        ),
        (
            "csv, no break at the end",
            FileType::Csv,
            to_csv(&plain, "\n").trim_end().into(),
            &plain,
        ),
        ("json", FileType::Json, to_json(&lists).into(), &lists),
        (
            "json, no break at the end",
            FileType::Json,
            to_json(&lists).trim_end().into(),
            &lists,
        ),
        (
            "ipc",
            FileType::Arrow,
            to_ipc(&lists, 100, false, None),
            &lists,
        ),
        (
            "ipc, small batches",
            FileType::Arrow,
            to_ipc(&lists, 7, false, zstd),
            &lists,
        ),
        (
            "ipc stream",
            FileType::Arrow,
            to_ipc(&lists, 100, true, None),
            &lists,
        ),
        (
            "ipc stream, small batches",
            FileType::Arrow,
            to_ipc(&lists, 9, true, lz4),
            &lists,
        ),
        #[cfg(feature = "orc")]
        (
            "orc",
            FileType::Orc,
            super::support::to_orc(&scalars_for_orc(), 100),
            &plain,
        ),
        #[cfg(feature = "orc")]
        (
            "orc, small stripes",
            FileType::Orc,
            super::support::to_orc(&scalars_for_orc(), 11),
            &plain,
        ),
    ];
    let file = |(name, kind, bytes, table): (_, _, _, &RecordBatch)| {
        (
            name,
            File::new(kind, bytes, table.schema(), rows),
            table.clone(),
        )
    };
    encoded.into_iter().map(file).collect()
}

#[cfg(feature = "orc")]
fn scalars_for_orc() -> RecordBatch {
    scalars()
}

#[test]
fn every_payload_gives_the_same_rows_for_every_range_and_batch_size() {
    for (name, file, table) in files() {
        assert_eq!(file.read().unwrap(), table, "{name}");
        for batch_size in [1, 3, 8192] {
            for (start, end) in [
                (0, 41),
                (0, 1),
                (40, 41),
                (5, 5),
                (3, 20),
                (15, 33),
                (16, 32),
                (11, 41),
                (0, 40),
            ] {
                let mut request = file.request();
                (request.rows, request.batch_size) = (start..end, batch_size);
                let rows = read(file.kind, request).unwrap();
                let expected = table.slice(start as usize, (end - start) as usize);
                assert_eq!(rows, expected, "{name}, {start}..{end} by {batch_size}");
            }
        }
    }
}

#[test]
fn every_single_row_can_be_read_alone() {
    for (name, file, table) in files() {
        for row in 0..file.rows {
            let mut request = file.request();
            request.rows = row..row + 1;
            assert_eq!(
                read(file.kind, request).unwrap(),
                table.slice(row as usize, 1),
                "{name}, {row}"
            );
        }
    }
}

#[test]
fn columns_come_in_the_order_asked_for() {
    for (name, file, table) in files() {
        for wanted in [
            vec![5],
            vec![7, 0],
            vec![2, 2, 1],
            vec![6, 5, 4, 3, 2, 1, 0],
            vec![],
        ] {
            let mut request = file.request();
            request.columns = wanted
                .iter()
                .map(|&at| request.columns[at].clone())
                .collect();
            request.rows = 2..39;
            request.batch_size = 10;
            let rows = read(file.kind, request).unwrap();
            assert_eq!(
                rows,
                table.slice(2, 37).project(&wanted).unwrap(),
                "{name}, {wanted:?}"
            );
        }
    }
}

#[test]
fn columns_are_found_by_position_too() {
    for (name, file, table) in files() {
        let mut request = file.request();
        let field = |name: &str, at: usize| {
            Arc::new(Field::new(name, table.column(at).data_type().clone(), true))
        };
        request.columns = vec![
            ChunkColumn {
                field: field("x", 2),
                source: ColumnSource::Position(2),
            },
            ChunkColumn {
                field: field("y", 1),
                source: ColumnSource::Name("small".to_owned()),
            },
        ];
        let rows = read(file.kind, request).unwrap();
        assert_eq!(rows.column(0), table.column(2), "{name}");
        assert_eq!(rows.column(1), table.column(1), "{name}");
        assert_eq!(rows.schema().field(0).name(), "x");
    }
}

#[test]
fn a_missing_column_is_null_or_an_error() {
    for (name, file, table) in files() {
        for wanted in [vec!["none"], vec!["small", "none"]] {
            let mut request = file.request();
            let field =
                |name: &&str, nullable| Arc::new(Field::new(*name, DataType::Int32, nullable));
            request.columns = wanted
                .iter()
                .map(|name| ChunkColumn::named(field(name, true)))
                .collect();
            let rows = read(file.kind, request.clone()).unwrap();
            assert_eq!(rows.num_rows(), 41, "{name}");
            assert_eq!(rows.columns().last().unwrap().null_count(), 41, "{name}");
            if wanted.len() == 2 {
                assert_eq!(rows.column(0), table.column(1), "{name}");
            }
            request.columns = vec![ChunkColumn::named(field(&"none", false))];
            let error = read(file.kind, request).unwrap_err().to_string();
            assert!(
                error.contains("part0/chunk0") && error.contains("'none'"),
                "{name}: {error}"
            );
        }
    }
}

#[test]
fn a_wrong_number_of_rows_is_an_error() {
    for (name, file, _) in files() {
        for rows in [40, 42, 0, 1000] {
            let mut file = file.clone();
            file.rows = rows;
            let error = file.error();
            assert!(
                error.contains("number of rows") && error.contains(&rows.to_string()),
                "{name}: {error}"
            );
        }
        // Only the end of the file shows that it is too short.
        let mut request = file.request();
        (request.chunk_rows, request.rows) = (50, 35..45);
        assert!(read(file.kind, request).is_err(), "{name}");
    }
}

#[test]
fn a_file_without_rows_is_fine_if_none_are_expected() {
    let (plain, lists) = (scalars().slice(0, 0), everything().slice(0, 0));
    let files: Vec<(FileType, Vec<u8>, &RecordBatch)> = vec![
        (
            FileType::Parquet,
            to_parquet(&lists, WriterProperties::default()),
            &lists,
        ),
        (FileType::Csv, to_csv(&plain, "\n").into(), &plain),
        (FileType::Csv, vec![], &plain),
        (FileType::Json, vec![], &lists),
        (FileType::Arrow, to_ipc(&lists, 1, false, None), &lists),
        (FileType::Arrow, to_ipc(&lists, 1, true, None), &lists),
        #[cfg(feature = "orc")]
        (FileType::Orc, super::support::to_orc(&plain, 1), &plain),
    ];
    for (kind, bytes, table) in files {
        let mut file = File::new(kind, bytes, table.schema(), 0);
        assert_eq!(file.read().unwrap().num_rows(), 0, "{kind}");
        file.rows = 1;
        assert!(
            file.error().contains("number of rows"),
            "{kind}: {}",
            file.error()
        );
    }
}

#[test]
fn a_missing_file_is_told_apart() {
    for kind in FileType::ALL {
        let file = File::new(kind, "", scalars().schema(), 1);
        let mut request = file.request();
        request.path = "other".into();
        let error = read(kind, request).unwrap_err();
        assert!(
            matches!(error, GraphArError::MissingFile { .. }),
            "{kind}: {error}"
        );
    }
}

#[test]
fn a_value_of_another_type_names_the_column() {
    for (name, file, _) in files() {
        for wanted in [DataType::Boolean, DataType::Int32, DataType::Date32] {
            let mut request = file.request();
            request.columns = vec![ChunkColumn::named(Arc::new(Field::new(
                "text",
                wanted.clone(),
                true,
            )))];
            let error = read(file.kind, request).unwrap_err().to_string();
            assert!(error.starts_with("part0/chunk0: "), "{name}: {error}");
            // The JSON library says what is wrong, but not in which column.
            assert!(
                error.contains("'text'") || file.kind == FileType::Json,
                "{name}: {error}"
            );
        }
    }
}

#[test]
fn a_null_that_is_not_allowed_names_its_row() {
    for (name, file, _) in files() {
        let mut request = file.request();
        request.rows = 8..41;
        request.columns = vec![ChunkColumn::named(Arc::new(Field::new(
            "text",
            DataType::Utf8View,
            false,
        )))];
        let error = read(file.kind, request).unwrap_err().to_string();
        assert!(error.contains("column 'text', row 10"), "{name}: {error}");
        assert!(
            error.contains("not nullable") && !error.contains("declared as"),
            "{name}: {error}"
        );
    }
}
