use std::sync::Arc;

use datafusion::arrow::array::{
    ArrayRef, BinaryArray, BooleanArray, Decimal128Array, Float32Array, Float64Array, Int16Array,
    Int64Array, StringArray, UInt64Array,
};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::DataType;

use super::{column, ids, strategy};
use crate::graph::key_index::{ABSENT, KeyIndex, KeyIndexBuilder};

#[test]
fn strings_of_all_layouts_are_found() {
    let texts = ["", "ä", "a longer text than a view holds", "a", "日本"];
    let array: ArrayRef = Arc::new(StringArray::from(texts.to_vec()));
    let text = [DataType::Utf8, DataType::LargeUtf8, DataType::Utf8View];
    let dictionary = DataType::Dictionary(Box::new(DataType::Int8), Box::new(DataType::Utf8));
    let text = [&text[..], &[dictionary]].concat();
    for kept in &text {
        let index = KeyIndex::try_new(&[cast(&array, kept).unwrap()]).unwrap();
        assert_eq!(strategy(&index), "hash");
        for wanted in &text {
            let found = ids(&index, &[cast(&array, wanted).unwrap().slice(1, 4)]);
            assert_eq!(found, [Some(1), Some(2), Some(3), Some(4)]);
        }
        let found = index
            .ids(&column(StringArray::from(vec![Some("b"), None, Some("")])))
            .unwrap();
        assert_eq!(found.ids(), [ABSENT, ABSENT, 0]);
        assert_eq!(found.null_rows().collect::<Vec<_>>(), [1]);
        assert_eq!(found.absent_rows().collect::<Vec<_>>(), [0]);
        assert!(found.nulls().is_some_and(|nulls| nulls.is_null(1)));
    }
}

#[test]
fn a_null_is_not_the_value_that_it_hides() {
    let index = KeyIndex::try_new(&column(Int64Array::from(vec![0, 1, 2]))).unwrap();
    let found = index.ids(&column(Int64Array::from(vec![None, Some(2)])));
    assert_eq!(found.unwrap().into_ids(), [ABSENT, 2]);
}

#[test]
fn equal_floats_are_one_key() {
    let other_nan = f64::from_bits(f64::NAN.to_bits() ^ (1 << 63) ^ 1);
    let keys = column(Float64Array::from(vec![-0.0, f64::NAN, f64::INFINITY, 1.5]));
    let index = KeyIndex::try_new(&keys).unwrap();
    let wanted = Float64Array::from(vec![0.0, -0.0, other_nan, f64::INFINITY, 1.25, 1.5]);
    let found = ids(&index, &column(wanted));
    assert_eq!(found, [Some(0), Some(0), Some(1), Some(2), None, Some(3)]);
    for (one, other) in [(0.0, -0.0), (f64::NAN, other_nan)] {
        let keys = column(Float64Array::from(vec![one, other]));
        assert!(KeyIndex::try_new(&keys).is_err());
    }
    for narrow in [DataType::Float32, DataType::Float16] {
        let keys: ArrayRef = Arc::new(Float32Array::from(vec![-0.0, f32::NAN, 1.5]));
        let index = KeyIndex::try_new(&[cast(&keys, &narrow).unwrap()]).unwrap();
        let wanted: ArrayRef = Arc::new(Float32Array::from(vec![0.0, -f32::NAN, 1.5, 2.0]));
        let found = ids(&index, &[cast(&wanted, &narrow).unwrap()]);
        assert_eq!(found, [Some(0), Some(1), Some(2), None]);
    }
}

#[test]
fn booleans_decimals_and_bytes_are_found() {
    let keys = column(BooleanArray::from(vec![true, false]));
    let index = KeyIndex::try_new(&keys).unwrap();
    let found = ids(&index, &column(BooleanArray::from(vec![Some(false), None])));
    assert_eq!(found, [Some(1), None]);
    let decimals = |values: Vec<i128>| column(Decimal128Array::from(values));
    let index = KeyIndex::try_new(&decimals(vec![-1, 500, 1 << 80])).unwrap();
    let found = ids(&index, &decimals(vec![1 << 80, 1, -1]));
    assert_eq!(found, [Some(2), None, Some(0)]);
    let bytes: ArrayRef = Arc::new(BinaryArray::from(vec![&[255_u8, 0][..], &[], &[0]]));
    let index = KeyIndex::try_new(&[Arc::clone(&bytes)]).unwrap();
    for layout in [
        DataType::Binary,
        DataType::LargeBinary,
        DataType::BinaryView,
    ] {
        let found = ids(&index, &[cast(&bytes, &layout).unwrap()]);
        assert_eq!(found, [Some(0), Some(1), Some(2)]);
    }
}

#[test]
fn keys_of_several_columns_are_found_as_a_whole() {
    let names = |names: &[Option<&str>]| Arc::new(StringArray::from(names.to_vec())) as ArrayRef;
    let keys: [ArrayRef; 2] = [
        names(&[Some("a"), Some("a"), Some("")]),
        Arc::new(Int64Array::from(vec![1, 2, 1])),
    ];
    let index = KeyIndex::try_new(&keys).unwrap();
    assert_eq!(ids(&index, &keys), [Some(0), Some(1), Some(2)]);
    let wanted = [
        names(&[Some("a"), Some(""), None, Some("a"), Some("a")]),
        Arc::new(UInt64Array::from(vec![
            Some(2),
            Some(2),
            Some(1),
            None,
            Some(u64::MAX),
        ])),
    ];
    let found = index.ids(&wanted).unwrap();
    assert_eq!(found.ids(), [1, ABSENT, ABSENT, ABSENT, ABSENT]);
    assert_eq!(found.null_rows().collect::<Vec<_>>(), [2, 3]);
    assert_eq!(found.absent_rows().collect::<Vec<_>>(), [1, 4]);
    let narrow: [ArrayRef; 2] = [
        cast(&wanted[0], &DataType::Utf8View).unwrap().slice(0, 1),
        Arc::new(Int16Array::from(vec![2])),
    ];
    assert_eq!(ids(&index, &narrow), [Some(1)]);
}

#[test]
fn an_index_of_no_keys_has_none() {
    for types in [
        vec![DataType::Int64],
        vec![DataType::Utf8],
        vec![DataType::Int64, DataType::Int64],
    ] {
        let index = KeyIndexBuilder::try_new(&types).unwrap().finish().unwrap();
        assert!(index.is_empty());
        let one: ArrayRef = Arc::new(StringArray::from(vec!["1"]));
        let wanted: Vec<_> = types.iter().map(|t| cast(&one, t).unwrap()).collect();
        assert_eq!(ids(&index, &wanted), [None]);
        let none: Vec<_> = wanted.iter().map(|array| array.slice(0, 0)).collect();
        assert!(ids(&index, &none).is_empty());
    }
}
