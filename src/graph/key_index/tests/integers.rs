use std::sync::Arc;

use datafusion::arrow::array::{
    ArrayRef, Date32Array, Date64Array, Int8Array, Int16Array, Int32Array, Int64Array,
    TimestampMicrosecondArray, UInt8Array, UInt16Array, UInt32Array, UInt64Array,
};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::DataType;

use super::{column, ids, strategy};
use crate::graph::key_index::{ABSENT, KeyIndex, KeyIndexBuilder, SearchTree};

fn int64(keys: &[i64]) -> [ArrayRef; 1] {
    column(Int64Array::from(keys.to_vec()))
}

#[test]
fn the_keys_choose_what_an_index_is_made_of() {
    let cases: [(&[i64], &str); 12] = [
        (&[], "run"),
        (&[i64::MIN], "run"),
        (&[5, 6, 7], "run"),
        (&[-1, 0, 1], "run"),
        (&[i64::MAX - 1, i64::MAX], "run"),
        (&[7, 6, 5], "dense"),
        (&[i64::MAX, i64::MAX - 1], "dense"),
        (&[i64::MIN, i64::MIN + 7], "dense"),
        (&[i64::MIN, i64::MIN + 8], "tree"),
        (&[i64::MIN, i64::MAX], "tree"),
        (&[1, 2, 1 << 32], "tree"),
        (&[0, 1 << 32, 5], "tree"),
    ];
    for (keys, expected) in cases {
        let index = KeyIndex::try_new(&int64(keys)).unwrap();
        assert_eq!(strategy(&index), expected, "{keys:?}");
        assert_eq!(index.len(), keys.len() as u64);
        assert_eq!(index.is_empty(), keys.is_empty());
        let all: Vec<_> = (0..index.len()).map(Some).collect();
        assert_eq!(ids(&index, &int64(keys)), all, "{keys:?}");
        let beside: Vec<i64> = keys.iter().flat_map(|k| [k ^ 1, !k, k ^ 1 << 63]).collect();
        let expected: Vec<_> = beside
            .iter()
            .map(|key| keys.iter().position(|k| k == key).map(|id| id as u64))
            .collect();
        assert_eq!(ids(&index, &int64(&beside)), expected, "{keys:?}");
    }
}

#[test]
fn consecutive_keys_take_no_memory() {
    let index = KeyIndex::try_new(&int64(&(7..5000).collect::<Vec<_>>())).unwrap();
    assert_eq!(index.bytes(), 0);
}

#[test]
fn memory_follows_the_keys() {
    let keys: Vec<i64> = (0..10_000).map(|i| (i * 7919) % 10_007).collect();
    let dense = KeyIndex::try_new(&int64(&keys)).unwrap();
    assert_eq!(strategy(&dense), "dense");
    assert!((40_000..44_000).contains(&dense.bytes()));
    for (factor, least, most) in [(1000, 84_000, 90_000), (1 << 40, 128_000, 136_000)] {
        let keys: Vec<i64> = keys.iter().map(|key| key * factor).collect();
        let tree = KeyIndex::try_new(&int64(&keys)).unwrap();
        assert_eq!(strategy(&tree), "tree");
        assert!((least..most).contains(&tree.bytes()), "{}", tree.bytes());
    }
}

#[test]
fn a_builder_says_what_it_takes() {
    let mut builder = KeyIndexBuilder::try_new(&[DataType::Int64]).unwrap();
    assert_eq!(builder.bytes(), 0);
    builder.push(&int64(&[1, 2, 3])).unwrap();
    assert_eq!((builder.bytes(), builder.finish_bytes()), (0, 0));
    builder.push(&int64(&[1 << 40, 9])).unwrap();
    assert!(builder.bytes() >= 40 && builder.finish_bytes() > 0);
    assert_eq!(builder.rows(), 5);
    let index = builder.finish().unwrap();
    let found = ids(&index, &int64(&[9, 1 << 40, 3, 2, 1, 0]));
    assert_eq!(found, [Some(4), Some(3), Some(2), Some(1), Some(0), None]);
}

#[test]
fn runs_go_on_over_batches() {
    let mut builder = KeyIndexBuilder::try_new(&[DataType::Int64]).unwrap();
    for keys in [&[][..], &[-2, -1], &[], &[0, 1, 2]] {
        builder.push(&int64(keys)).unwrap();
    }
    let index = builder.finish().unwrap();
    assert_eq!(strategy(&index), "run");
    let found = ids(&index, &int64(&[2, -2, 3, -3]));
    assert_eq!(found, [Some(4), Some(0), None, None]);
}

#[test]
fn every_size_finds_its_keys_and_nothing_between() {
    for factor in [1000_u64, 1 << 50] {
        for count in 0..=300_u64 {
            for ascending in [true, false] {
                let mut keys: Vec<u64> = (1..=count).map(|i| i * factor).collect();
                if !ascending {
                    keys.reverse();
                }
                let index = KeyIndex::try_new(&column(UInt64Array::from(keys.clone()))).unwrap();
                let all: Vec<_> = (0..count).map(Some).collect();
                let found = ids(&index, &column(UInt64Array::from(keys.clone())));
                assert_eq!(found, all, "{count}");
                let mut others: Vec<u64> = keys.iter().flat_map(|k| [k - 1, k + 1]).collect();
                others.extend([0, u64::MAX, 1 << 63]);
                let found = ids(&index, &column(UInt64Array::from(others)));
                assert!(found.iter().all(Option::is_none), "{count}");
            }
        }
    }
}

#[test]
fn trees_of_several_levels_find_what_is_there() {
    for (factor, count) in [(97, 200_000_u64), (1 << 40, 70_000)] {
        let keys: Vec<u64> = (0..count).map(|i| (i * 48_271 % count) * factor).collect();
        let tree = SearchTree::new(&keys).unwrap();
        let mut found = vec![0; keys.len()];
        tree.find_all(&keys, &mut found);
        assert!(found.iter().copied().eq(0..count));
        let others: Vec<u64> = keys.iter().map(|key| key + 1).collect();
        tree.find_all(&others, &mut found);
        assert!(found.iter().all(|id| *id == ABSENT));
        for (key, id) in keys.iter().zip(0..).step_by(101) {
            assert_eq!(tree.find(*key), Some(id));
            assert_eq!(tree.find(key + 1), None);
        }
    }
    assert!(SearchTree::new(&[]).is_none());
    assert!(SearchTree::new(&[3, 1, 3]).is_none());
}

#[test]
fn integers_of_all_widths_are_found() {
    let values = [100_i64, 3, 7];
    let arrays: [ArrayRef; 8] = [
        Arc::new(Int8Array::from(vec![100, 3, 7])),
        Arc::new(Int16Array::from(vec![100, 3, 7])),
        Arc::new(Int32Array::from(vec![100, 3, 7])),
        Arc::new(Int64Array::from(values.to_vec())),
        Arc::new(UInt8Array::from(vec![100, 3, 7])),
        Arc::new(UInt16Array::from(vec![100, 3, 7])),
        Arc::new(UInt32Array::from(vec![100, 3, 7])),
        Arc::new(UInt64Array::from(vec![100, 3, 7])),
    ];
    for keys in &arrays {
        let index = KeyIndex::try_new(&[Arc::clone(keys)]).unwrap();
        for wanted in &arrays {
            let found = ids(&index, &[wanted.slice(1, 2)]);
            assert_eq!(found, [Some(1), Some(2)]);
            let dictionary = DataType::Dictionary(
                Box::new(DataType::Int32),
                Box::new(wanted.data_type().clone()),
            );
            let found = ids(&index, &[cast(wanted, &dictionary).unwrap()]);
            assert_eq!(found, [Some(0), Some(1), Some(2)]);
        }
    }
}

#[test]
fn integers_beyond_the_type_of_the_index_are_absent_and_not_null() {
    let signed = KeyIndex::try_new(&int64(&[-1, i64::MIN, 5])).unwrap();
    let wanted = UInt64Array::from(vec![Some(u64::MAX), Some(1 << 63), None, Some(5)]);
    let found = signed.ids(&column(wanted)).unwrap();
    assert_eq!(found.ids(), [ABSENT, ABSENT, ABSENT, 2]);
    assert_eq!(found.absent_rows().collect::<Vec<_>>(), [0, 1]);
    assert_eq!(found.null_rows().collect::<Vec<_>>(), [2]);
    let keys = UInt64Array::from(vec![u64::MAX, 1 << 63, 5]);
    let unsigned = KeyIndex::try_new(&column(keys)).unwrap();
    let found = ids(&unsigned, &int64(&[-1, i64::MIN, 5]));
    assert_eq!(found, [None, None, Some(2)]);
}

#[test]
fn dates_and_times_are_kept_as_integers() {
    let keys = column(Date32Array::from(vec![3, 4, 5]));
    let index = KeyIndex::try_new(&keys).unwrap();
    assert_eq!(strategy(&index), "run");
    assert_eq!(ids(&index, &keys), [Some(0), Some(1), Some(2)]);
    let keys = column(Date64Array::from(vec![86_400_000, -86_400_000]));
    let index = KeyIndex::try_new(&keys).unwrap();
    assert_eq!(strategy(&index), "tree");
    assert_eq!(ids(&index, &keys), [Some(0), Some(1)]);
    let keys = column(TimestampMicrosecondArray::from(vec![4, 2]).with_timezone("+02:00"));
    let index = KeyIndex::try_new(&keys).unwrap();
    assert_eq!(strategy(&index), "dense");
    assert_eq!(ids(&index, &keys), [Some(0), Some(1)]);
}
