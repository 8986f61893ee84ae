use std::error::Error;
use std::sync::Arc;

use datafusion::arrow::array::{
    ArrayRef, BinaryArray, BooleanArray, Date32Array, Float32Array, Float64Array, Int32Array,
    Int64Array, NullArray, StringArray, UInt64Array, new_empty_array,
};
use datafusion::arrow::datatypes::{DataType, Field};
use datafusion::arrow::error::ArrowError;

use super::column;
use crate::graph::key_index::{KeyError, KeyIndex, KeyIndexBuilder};

fn error(columns: &[ArrayRef]) -> String {
    KeyIndex::try_new(columns).unwrap_err().to_string()
}

#[test]
fn a_key_that_stands_twice_is_named_with_both_rows() {
    let cases: [(ArrayRef, &str); 12] = [
        (
            Arc::new(Int64Array::from(vec![5, 6, 7, 6, 5])),
            "rows 1 and 3 have the same key 6",
        ),
        (
            Arc::new(Int64Array::from(vec![-9, 1 << 20, 4, 1 << 20, -9, -9])),
            "rows 1 and 3 have the same key 1048576",
        ),
        (
            Arc::new(Int64Array::from(vec![i64::MIN, i64::MAX, 4, i64::MIN])),
            "rows 0 and 3 have the same key -9223372036854775808",
        ),
        (
            Arc::new(UInt64Array::from(vec![u64::MAX, 0, u64::MAX])),
            "rows 0 and 2 have the same key 18446744073709551615",
        ),
        (
            Arc::new(Int32Array::from(vec![3, 3])),
            "rows 0 and 1 have the same key 3",
        ),
        (
            Arc::new(Date32Array::from(vec![365, 0, 365])),
            "rows 0 and 2 have the same key 1971-01-01",
        ),
        (
            Arc::new(StringArray::from(vec!["a", "ä", "b", "ä", "a"])),
            "rows 1 and 3 have the same key 'ä'",
        ),
        (
            Arc::new(BinaryArray::from(vec![&[255_u8, 1][..], &[255, 1]])),
            "rows 0 and 1 have the same key x'ff01'",
        ),
        (
            Arc::new(Float64Array::from(vec![1.5, 0.0, -0.0])),
            "rows 1 and 2 have the same key 0.0",
        ),
        (
            Arc::new(Float32Array::from(vec![f32::NAN, -f32::NAN])),
            "rows 0 and 1 have the same key NaN",
        ),
        (
            Arc::new(BooleanArray::from(vec![true, false, true])),
            "rows 0 and 2 have the same key true",
        ),
        (
            Arc::new(Int64Array::from(vec![1 << 40, 3, 1 << 40, 3])),
            "rows 0 and 2 have the same key 1099511627776",
        ),
    ];
    for (keys, expected) in cases {
        assert_eq!(error(&[keys]), expected);
    }
    let names: ArrayRef = Arc::new(StringArray::from(vec!["a", "b", "a"]));
    let numbers: ArrayRef = Arc::new(Int32Array::from(vec![1, 1, 1]));
    let expected = "rows 0 and 2 have the same key ('a', 1)";
    assert_eq!(error(&[names, numbers]), expected);
}

#[test]
fn duplicates_are_found_over_batches() {
    let mut builder = KeyIndexBuilder::try_new(&[DataType::Int64]).unwrap();
    for keys in [[1, 2], [3, 4], [9, 2]] {
        builder
            .push(&column(Int64Array::from(keys.to_vec())))
            .unwrap();
    }
    match builder.finish() {
        Err(KeyError::Duplicate { key, first, second }) => {
            assert_eq!((key.as_str(), first, second), ("2", 1, 5));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_null_key_is_named_with_its_row_and_nothing_is_appended() {
    let mut builder = KeyIndexBuilder::try_new(&[DataType::Utf8]).unwrap();
    builder
        .push(&column(StringArray::from(vec!["a", "b"])))
        .unwrap();
    let batch = StringArray::from(vec![Some("c"), Some("d"), None, None]);
    let error = builder.push(&column(batch)).unwrap_err();
    assert_eq!(error.to_string(), "the key in row 4 is null");
    assert_eq!(builder.rows(), 2);
    assert_eq!(builder.finish().unwrap().len(), 2);
    let columns: [ArrayRef; 2] = [
        Arc::new(Int64Array::from(vec![1, 2])),
        Arc::new(Int64Array::from(vec![Some(1), None])),
    ];
    let error = KeyIndex::try_new(&columns).unwrap_err();
    assert!(matches!(error, KeyError::Null { row: 1 }));
}

#[test]
fn columns_that_do_not_match_are_named() {
    let ints = column(Int64Array::from(vec![1, 2]));
    let index = KeyIndex::try_new(&ints).unwrap();
    let text = column(StringArray::from(vec!["1"]));
    let error_of = |columns: &[ArrayRef]| index.ids(columns).unwrap_err().to_string();
    let expected = "key column 0: expected values of Int64, found Utf8";
    assert_eq!(error_of(&text), expected);
    let expected = "key column 0: expected values of Int64, found Date32";
    assert_eq!(error_of(&column(Date32Array::from(vec![1]))), expected);
    let expected = "key column 0: expected values of Int64, found Null";
    assert_eq!(error_of(&column(NullArray::new(1))), expected);
    assert_eq!(error_of(&[]), "expected keys of 1 columns, found 0");
    assert_eq!(error(&[]), "expected keys of 1 columns, found 0");
    let uneven = [Arc::clone(&ints[0]), Arc::clone(&text[0])];
    assert_eq!(error(&uneven), "key column 1: expected 2 rows, found 1");
}

#[test]
fn keys_beyond_the_type_of_a_builder_are_not_taken() {
    let mut builder = KeyIndexBuilder::try_new(&[DataType::Int32]).unwrap();
    builder
        .push(&column(UInt64Array::from(vec![1, 1 << 40])))
        .unwrap();
    let error = builder.push(&column(UInt64Array::from(vec![3, u64::MAX])));
    let expected = "key column 0: expected values of Int32, found UInt64";
    assert_eq!(error.unwrap_err().to_string(), expected);
    assert_eq!(builder.rows(), 2);
}

#[test]
fn lists_cannot_be_keys() {
    let list = DataType::List(Arc::new(Field::new_list_field(DataType::Int64, false)));
    let columns = [new_empty_array(&DataType::Int64), new_empty_array(&list)];
    assert!(matches!(
        KeyIndex::try_new(&columns).unwrap_err(),
        KeyError::Unsupported { column: 1, .. }
    ));
    assert!(error(&columns).starts_with("key column 1: List"));
}

#[test]
fn errors_of_arrow_keep_their_source() {
    let error = KeyError::from(ArrowError::DivideByZero);
    assert!(error.source().is_some());
    assert_eq!(error.to_string(), ArrowError::DivideByZero.to_string());
}
