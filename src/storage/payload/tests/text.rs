//! What is special about the text payloads.

use std::sync::Arc;

use datafusion::arrow::array::{Array, AsArray, StringViewArray};
use datafusion::arrow::datatypes::{
    DataType, Float64Type, Int64Type, TimeUnit, TimestampMillisecondType,
};

use super::support::{File, batch, read, schema, to_csv, to_json};
use crate::format::FileType;

const MILLIS: DataType = DataType::Timestamp(TimeUnit::Millisecond, None);

fn csv(text: &str, fields: Vec<(&str, DataType)>, rows: usize) -> File {
    File::new(FileType::Csv, text.to_owned(), schema(fields), rows)
}

fn json(text: &str, fields: Vec<(&str, DataType)>, rows: usize) -> File {
    File::new(FileType::Json, text.to_owned(), schema(fields), rows)
}

#[test]
fn an_empty_line_of_one_column_is_a_null() {
    for (text, rows) in [
        ("v\na\n\nb\n", 3),
        ("v\na\n\nb\n\n", 4),
        ("v\n\n\n", 2),
        ("\"v\"\n\n", 1),
        ("v\n", 0),
        ("v", 0),
    ] {
        let file = csv(text, vec![("v", DataType::Utf8View)], rows);
        let found = file.read().unwrap();
        assert_eq!(found.num_rows(), rows, "{text:?}");
        let nulls = text.lines().skip(1).filter(|line| line.is_empty()).count();
        assert_eq!(found.column(0).null_count(), nulls, "{text:?}");
    }
    let file = csv("v\n\"\"\n\n", vec![("v", DataType::Utf8View)], 2);
    let found = file.read().unwrap();
    assert_eq!(
        found.column(0).as_string_view(),
        &StringViewArray::from(vec![Some(""), None])
    );
}

#[test]
fn csv_errors_name_row_and_value() {
    let int = || vec![("n", DataType::Int32), ("s", DataType::Utf8View)];
    let cases: [(&str, usize, &[&str]); 12] = [
        (
            "n,s\n1,a\nx,b\n",
            2,
            &["column 'n', row 1", "int32", "\"x\""],
        ),
        ("n,s\n2147483648,a\n", 1, &["row 0", "2147483648"]),
        ("n,s\n\"\",a\n", 1, &["column 'n', row 0", "found \"\""]),
        ("n,s\n 1,a\n", 1, &["row 0", "\" 1\""]),
        ("n,s\n1,a,b\n", 1, &["row 0", "2 fields", "found 3"]),
        ("n,s\n1\n", 1, &["row 0", "2 fields", "found 1"]),
        ("n,s\n1,a\n\n", 1, &["number of rows"]),
        ("n,s\n1,\"a\n2,b\n", 2, &["row 0", "not closed"]),
        ("n,s\n1,\"a\"b\n", 1, &["row 0", "behind a closing quote"]),
        ("n,s\n1,a\n", 2, &["number of rows", "2 by", "found 1"]),
        (
            "n,s\n1,a\n2,b\n3,c\n",
            2,
            &["number of rows", "more than 2"],
        ),
        ("", 2, &["number of rows", "empty file"]),
    ];
    for (text, rows, parts) in cases {
        let error = csv(text, int(), rows).error();
        for part in parts.iter().chain(&["part0/chunk0"]) {
            assert!(error.contains(part), "{part} in {error}");
        }
    }
    let long = format!("n,s\n{},a\n", "9".repeat(500));
    assert!(csv(&long, int(), 1).error().len() < 200);
    let bad = File::new(
        FileType::Csv,
        b"s\n\xff\n".to_vec(),
        schema(vec![("s", DataType::Utf8View)]),
        1,
    );
    assert!(bad.error().contains("column 's', row 0"));
}

#[test]
fn csv_does_not_guess() {
    let text = "a,b,c\n007,1.50,True\nNA,null,NaN\n";
    let all = ["a", "b", "c"]
        .map(|name| (name, DataType::Utf8View))
        .to_vec();
    let rows = csv(text, all, 2).read().unwrap();
    assert_eq!(
        rows.column(0).as_string_view(),
        &StringViewArray::from(vec!["007", "NA"])
    );
    assert_eq!(
        rows.column(1).as_string_view(),
        &StringViewArray::from(vec!["1.50", "null"])
    );
    assert_eq!(
        rows.column(2).as_string_view(),
        &StringViewArray::from(vec!["True", "NaN"])
    );
}

#[test]
fn csv_takes_the_spellings_of_both_libraries() {
    let text = "f,b,t\nnan,true,1970-01-01 00:00:00.005\nNaN,TRUE,1970-01-01T00:00:00.005Z\nInfinity,False,\n-inf,false,1970-01-01T01:00:00+01:00\n";
    let fields = vec![
        ("f", DataType::Float64),
        ("b", DataType::Boolean),
        ("t", MILLIS),
    ];
    let rows = csv(text, fields, 4).read().unwrap();
    let floats = rows.column(0).as_primitive::<Float64Type>();
    assert!(floats.value(0).is_nan() && floats.value(1).is_nan());
    assert_eq!(floats.values()[2..], [f64::INFINITY, f64::NEG_INFINITY]);
    let flags: Vec<_> = rows.column(1).as_boolean().iter().collect();
    assert_eq!(flags, [Some(true), Some(true), Some(false), Some(false)]);
    let times: Vec<_> = rows
        .column(2)
        .as_primitive::<TimestampMillisecondType>()
        .iter()
        .collect();
    assert_eq!(times, [Some(5), Some(5), None, Some(0)]);
}

#[test]
fn csv_refuses_lists_by_name_of_the_rule() {
    let error = csv(
        "l\n1\n",
        vec![("l", DataType::new_list(DataType::Int32, true))],
        1,
    )
    .error();
    assert!(
        error.contains("column 'l'") && error.contains("not supported") && error.contains("lists"),
        "{error}"
    );
}

#[test]
fn text_of_several_blocks_is_read_whole_and_stopped_early() {
    // Longer than two blocks, with a record that is longer than one.
    let long = "x".repeat(5 << 20);
    let text = |i: usize| {
        if i == 30_000 {
            long.clone()
        } else {
            format!("row {i}, \"quoted\"\nsecond line {}", "y".repeat(60))
        }
    };
    let table = batch(vec![(
        "s",
        Arc::new(
            (0..60_000)
                .map(|i| Some(text(i)))
                .collect::<StringViewArray>(),
        ),
    )]);
    for (kind, bytes) in [
        (FileType::Csv, to_csv(&table, "\n")),
        (FileType::Json, to_json(&table)),
    ] {
        assert!(bytes.len() > 9 << 20);
        let file = File::new(kind, bytes, table.schema(), 60_000);
        assert_eq!(file.read().unwrap(), table, "{kind}");
        let mut request = file.request();
        request.rows = 29_990..30_010;
        assert_eq!(
            read(kind, request).unwrap(),
            table.slice(29_990, 20),
            "{kind}"
        );
    }
}

#[test]
fn json_is_exact_and_forgiving_about_keys() {
    let text = "{\"n\":9007199254740993,\"extra\":{\"a\":[1]}}\n{ \"s\" : \"2020-01-01T00:00:01\" }\n\n{\"n\":null,\"s\":\"\\u00eb\"}";
    let fields = vec![("n", DataType::Int64), ("s", DataType::Utf8View)];
    let rows = json(text, fields, 3).read().unwrap();
    let numbers: Vec<_> = rows.column(0).as_primitive::<Int64Type>().iter().collect();
    assert_eq!(numbers, [Some(9_007_199_254_740_993), None, None]);
    let texts = StringViewArray::from(vec![None, Some("2020-01-01T00:00:01"), Some("ë")]);
    assert_eq!(rows.column(1).as_string_view(), &texts);
}

#[test]
fn json_errors_name_the_file() {
    let cases = [
        ("{\"n\":1,\"s\":5}\n", "part0/chunk0"),
        ("{\"n\":\"x\"}\n", "part0/chunk0"),
        ("[1]\n", "part0/chunk0"),
        ("{\"n\":1", "part0/chunk0"),
        ("{\"t\":\"yesterday\"}\n", "column 't', row 0"),
        ("{\"n\":1}\n{\"n\":2}\n", "number of rows"),
        ("", "number of rows"),
    ];
    for (text, part) in cases {
        let fields = vec![
            ("n", DataType::Int64),
            ("s", DataType::Utf8View),
            ("t", MILLIS),
        ];
        let error = json(text, fields, 1).error();
        assert!(error.contains(part), "{part} in {error}");
    }
}
