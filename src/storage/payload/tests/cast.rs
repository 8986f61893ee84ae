//! Stored types other than the declared ones, through Arrow IPC, which has them all.

use std::sync::Arc;

use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, BinaryArray, BinaryViewArray, Date32Array, Date64Array,
    DictionaryArray, FixedSizeListArray, Float32Array, Float64Array, Int8Array, Int32Array,
    Int64Array, LargeBinaryArray, LargeListArray, LargeStringArray, ListArray, NullArray,
    StringArray, StringViewArray, TimestampMicrosecondArray, TimestampMillisecondArray,
    TimestampNanosecondArray, TimestampSecondArray, UInt8Array, UInt32Array, UInt64Array,
    new_null_array,
};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Field, Float32Type, Int32Type, Int64Type, TimeUnit};

use super::support::{File, batch, schema, to_ipc};
use crate::error::Result;
use crate::format::FileType;

/// The array, stored as it is and read as the declared type.
fn stored_as(array: ArrayRef, declared: DataType) -> Result<ArrayRef> {
    let rows = array.len();
    let bytes = to_ipc(&batch(vec![("v", array)]), 8192, false, None);
    let file = File::new(FileType::Arrow, bytes, schema(vec![("v", declared)]), rows);
    file.read().map(|batch| Arc::clone(batch.column(0)))
}

const MILLIS: DataType = DataType::Timestamp(TimeUnit::Millisecond, None);

#[test]
fn stored_types_become_the_declared_ones() {
    let int32: ArrayRef = Arc::new(Int32Array::from(vec![Some(-5), None, Some(7)]));
    let int64: ArrayRef = Arc::new(Int64Array::from(vec![Some(-5), None, Some(7)]));
    let unsigned: ArrayRef = Arc::new(Int64Array::from(vec![Some(5), None]));
    let text: ArrayRef = Arc::new(StringViewArray::from(vec![
        Some("a"),
        None,
        Some("more than twelve bytes"),
    ]));
    let plain: ArrayRef = Arc::new(StringArray::from(vec![
        Some("a"),
        None,
        Some("more than twelve bytes"),
    ]));
    let bytes = || {
        text.as_string_view()
            .iter()
            .map(|text| text.map(str::as_bytes))
    };
    let dictionary: DictionaryArray<Int32Type> = text.as_string_view().iter().collect();
    let millis: ArrayRef = Arc::new(TimestampMillisecondArray::from(vec![
        Some(-1),
        Some(1),
        None,
        Some(-2),
    ]));
    let days: ArrayRef = Arc::new(Date32Array::from(vec![Some(-1), None, Some(0), Some(1)]));
    let cases: Vec<(&str, ArrayRef, ArrayRef)> = vec![
        ("int32 as int64", Arc::clone(&int32), Arc::clone(&int64)),
        ("int64 as int32", Arc::clone(&int64), Arc::clone(&int32)),
        (
            "int8",
            Arc::new(Int8Array::from(vec![Some(-5), None, Some(7)])),
            Arc::clone(&int64),
        ),
        (
            "uint8",
            Arc::new(UInt8Array::from(vec![Some(5), None])),
            Arc::clone(&unsigned),
        ),
        (
            "uint32",
            Arc::new(UInt32Array::from(vec![Some(5), None])),
            Arc::clone(&unsigned),
        ),
        (
            "uint64",
            Arc::new(UInt64Array::from(vec![Some(5), None])),
            Arc::clone(&unsigned),
        ),
        (
            "float",
            Arc::new(Float32Array::from(vec![1.5, f32::NAN])),
            Arc::new(Float64Array::from(vec![1.5, f64::NAN])),
        ),
        (
            "double",
            Arc::new(Float64Array::from(vec![0.1, f64::INFINITY])),
            Arc::new(Float32Array::from(vec![0.1, f32::INFINITY])),
        ),
        (
            "half",
            cast(&Float32Array::from(vec![1.5]), &DataType::Float16).unwrap(),
            Arc::new(Float32Array::from(vec![1.5])),
        ),
        (
            "large string",
            Arc::new(text.as_string_view().iter().collect::<LargeStringArray>()),
            Arc::clone(&text),
        ),
        ("string", Arc::clone(&plain), Arc::clone(&text)),
        ("view as string", Arc::clone(&text), plain),
        ("dictionary", Arc::new(dictionary), Arc::clone(&text)),
        (
            "binary",
            Arc::new(bytes().collect::<BinaryArray>()),
            Arc::clone(&text),
        ),
        (
            "large binary",
            Arc::new(bytes().collect::<LargeBinaryArray>()),
            Arc::clone(&text),
        ),
        (
            "binary view",
            Arc::new(bytes().collect::<BinaryViewArray>()),
            text,
        ),
        (
            "seconds",
            Arc::new(TimestampSecondArray::from(vec![-1]).with_timezone("+02:00")),
            Arc::new(TimestampMillisecondArray::from(vec![-1000])),
        ),
        (
            "milliseconds with zone",
            Arc::new(
                TimestampMillisecondArray::from(vec![Some(-1), Some(1), None, Some(-2)])
                    .with_timezone("UTC"),
            ),
            Arc::clone(&millis),
        ),
        (
            "microseconds",
            Arc::new(TimestampMicrosecondArray::from(vec![
                Some(-1),
                Some(1999),
                None,
                Some(-1001),
            ])),
            Arc::clone(&millis),
        ),
        (
            "nanoseconds",
            Arc::new(TimestampNanosecondArray::from(vec![
                Some(-1),
                Some(1_999_999),
                None,
                Some(-1_000_001),
            ])),
            Arc::clone(&millis),
        ),
        (
            "int64 as timestamp",
            Arc::new(Int64Array::from(vec![Some(-1), Some(1), None, Some(-2)])),
            millis,
        ),
        (
            "int32 as date",
            Arc::new(Int32Array::from(vec![Some(-1), None, Some(0), Some(1)])),
            Arc::clone(&days),
        ),
        (
            "milliseconds as date",
            Arc::new(TimestampMillisecondArray::from(vec![
                Some(-1),
                None,
                Some(86_399_999),
                Some(86_400_000),
            ])),
            Arc::clone(&days),
        ),
        (
            "date64",
            Arc::new(Date64Array::from(vec![
                Some(-1),
                None,
                Some(5),
                Some(86_400_000),
            ])),
            days,
        ),
        (
            "null",
            Arc::new(NullArray::new(2)),
            new_null_array(&DataType::Utf8View, 2),
        ),
    ];
    for (name, stored, expected) in cases {
        let found = stored_as(stored, expected.data_type().clone());
        assert_eq!(&found.unwrap(), &expected, "{name}");
    }
}

#[test]
fn lists_of_every_layout_become_lists() {
    let rows = || {
        vec![
            Some(vec![Some(1), None]),
            None,
            Some(vec![]),
            Some(vec![Some(3)]),
        ]
    };
    let expected: ArrayRef = Arc::new(ListArray::from_iter_primitive::<Int64Type, _, _>(rows()));
    let narrow = ListArray::from_iter_primitive::<Int32Type, _, _>(rows().into_iter().map(|row| {
        row.map(|row| {
            row.into_iter()
                .map(|item| item.map(|item| item as i32))
                .collect::<Vec<_>>()
        })
    }));
    let large = LargeListArray::from_iter_primitive::<Int64Type, _, _>(rows());
    let view = cast(
        &expected,
        &DataType::ListView(Arc::new(Field::new("item", DataType::Int64, true))),
    )
    .unwrap();
    for stored in [
        Arc::new(narrow) as ArrayRef,
        Arc::new(large),
        view,
        Arc::clone(&expected),
    ] {
        let kind = stored.data_type().clone();
        assert_eq!(
            &stored_as(stored, expected.data_type().clone()).unwrap(),
            &expected,
            "{kind}"
        );
    }
    let fixed = FixedSizeListArray::from_iter_primitive::<Int64Type, _, _>(
        vec![Some(vec![Some(1), None]), None],
        2,
    );
    let found = stored_as(Arc::new(fixed), expected.data_type().clone()).unwrap();
    let expected =
        ListArray::from_iter_primitive::<Int64Type, _, _>(vec![Some(vec![Some(1), None]), None]);
    assert_eq!(found.as_list::<i32>(), &expected);
    let named = Field::new("element", DataType::Float32, false);
    let floats = ListArray::from_iter_primitive::<Float32Type, _, _>(vec![Some(vec![Some(1.5)])]);
    let (_, offsets, values, nulls) = floats.into_parts();
    let stored = ListArray::new(Arc::new(named), offsets, values, nulls);
    let wanted = DataType::new_list(DataType::Float64, true);
    let found = stored_as(Arc::new(stored), wanted).unwrap();
    assert_eq!(found.as_list::<i32>().value(0).len(), 1);
}

#[test]
fn what_does_not_fit_names_file_column_row_and_value() {
    let cases: Vec<(ArrayRef, DataType, &[&str])> = vec![
        (
            Arc::new(Int64Array::from(vec![Some(1), None, Some(1 << 40)])),
            DataType::Int32,
            &["column 'v', row 2", "int32", "1099511627776"],
        ),
        (
            Arc::new(UInt64Array::from(vec![1, u64::MAX])),
            DataType::Int64,
            &["row 1", "18446744073709551615"],
        ),
        (
            Arc::new(Float64Array::from(vec![1e300])),
            DataType::Float32,
            &["row 0", "float"],
        ),
        (
            Arc::new(TimestampSecondArray::from(vec![i64::MAX])),
            MILLIS,
            &["row 0", "timestamp", "9223372036854775807"],
        ),
        (
            Arc::new(Date64Array::from(vec![0, i64::MAX])),
            DataType::Date32,
            &["row 1", "date"],
        ),
        (
            Arc::new(BinaryArray::from(vec![b"ok".as_slice(), b"\xff"])),
            DataType::Utf8View,
            &["row 1", "string", "not UTF-8"],
        ),
        (
            Arc::new(ListArray::from_iter_primitive::<Int64Type, _, _>(vec![
                Some(vec![Some(1), Some(2)]),
                Some(vec![]),
                Some(vec![Some(3), Some(1 << 40)]),
            ])),
            DataType::new_list(DataType::Int32, true),
            &["row 2", "1099511627776"],
        ),
        (
            Arc::new(Int32Array::from(vec![1])),
            DataType::Utf8View,
            &["column 'v'", "string", "int32"],
        ),
        (
            Arc::new(StringArray::from(vec!["1"])),
            DataType::Int32,
            &["expected int32, found string"],
        ),
        (
            Arc::new(Float32Array::from(vec![1.0])),
            DataType::Int64,
            &["expected int64, found float"],
        ),
        (
            Arc::new(Int32Array::from(vec![1])),
            DataType::new_list(DataType::Int32, true),
            &["expected list<int32>, found int32"],
        ),
    ];
    for (stored, declared, parts) in cases {
        let error = stored_as(stored, declared).unwrap_err().to_string();
        for part in parts.iter().chain(&["part0/chunk0"]) {
            assert!(error.contains(part), "{part} in {error}");
        }
    }
}
