//! Whatever an index is made of, it finds what a map finds.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, Int32Array, Int64Array, StringArray, UInt64Array};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::DataType;
use proptest::collection::vec;
use proptest::prelude::*;

use super::column;
use crate::graph::key_index::{ABSENT, FoundIds, KeyError, KeyIndex, KeyIndexBuilder, SearchTree};

/// The ids of keys, or the rows of the first key that stands there twice.
fn model<K: Ord + Clone>(keys: &[K]) -> Result<BTreeMap<K, u64>, (u64, u64)> {
    let mut ids = BTreeMap::new();
    for (key, id) in keys.iter().zip(0..) {
        match ids.entry(key.clone()) {
            Entry::Occupied(first) => return Err((*first.get(), id)),
            Entry::Vacant(place) => place.insert(id),
        };
    }
    Ok(ids)
}

/// Builds an index of batches, and compares it with a map: look-ups, nulls, and errors.
fn compare<K: Ord + Clone + std::fmt::Debug>(
    keys: &[K],
    wanted: &[Option<K>],
    batch: usize,
    arrays: impl Fn(&[Option<K>]) -> Vec<ArrayRef>,
    look_up: impl Fn(&KeyIndex, &[Option<K>]) -> FoundIds,
) -> Result<(), TestCaseError> {
    let types: Vec<_> = arrays(&[]).iter().map(|a| a.data_type().clone()).collect();
    let mut builder = KeyIndexBuilder::try_new(&types).unwrap();
    for keys in keys.chunks(batch) {
        let keys: Vec<_> = keys.iter().cloned().map(Some).collect();
        builder.push(&arrays(&keys)).unwrap();
    }
    prop_assert_eq!(builder.rows(), keys.len() as u64);
    let most = builder.bytes() + builder.finish_bytes();
    let (index, ids) = match (builder.finish(), model(keys)) {
        (Ok(index), Ok(ids)) => (index, ids),
        (Err(KeyError::Duplicate { first, second, .. }), Err(expected)) => {
            prop_assert_eq!((first, second), expected);
            return Ok(());
        }
        (found, expected) => panic!("{found:?} {expected:?}"),
    };
    prop_assert!(index.bytes() <= most);
    let all: Vec<_> = keys.iter().cloned().map(Some).collect();
    for wanted in [wanted, &all] {
        let found = look_up(&index, wanted);
        let id = |key: &K| ids.get(key).copied().unwrap_or(ABSENT);
        let expected: Vec<u64> = wanted
            .iter()
            .map(|key| key.as_ref().map_or(ABSENT, id))
            .collect();
        prop_assert_eq!(found.ids(), expected);
        let rows = |is: &dyn Fn(&Option<K>) -> bool| -> Vec<usize> {
            (0..wanted.len()).filter(|row| is(&wanted[*row])).collect()
        };
        let nulls = rows(&Option::is_none);
        prop_assert_eq!(found.null_rows().collect::<Vec<_>>(), nulls);
        let absent = rows(&|key| key.as_ref().is_some_and(|key| id(key) == ABSENT));
        prop_assert_eq!(found.absent_rows().collect::<Vec<_>>(), absent);
    }
    Ok(())
}

/// Keys of all densities, often the greatest and least, seldom twice.
fn int64() -> impl Strategy<Value = Vec<i64>> {
    let edge = prop_oneof![Just(i64::MIN), Just(i64::MAX), Just(0), Just(-1)];
    let number = prop_oneof![1 => edge, 20 => any::<i64>()];
    prop_oneof![
        vec(number, 0..300),
        vec(-400_i64..400, 0..20),
        vec(-100_000_i64..100_000, 0..300),
        (any::<i64>(), 0..300_i64)
            .prop_map(|(first, count)| { (0..count).map(|i| first.wrapping_add(i)).collect() }),
        (0..300_usize, 1..1000_i64)
            .prop_map(|(count, step)| { (0..count).map(|i| i as i64 * step - 5000).collect() }),
        (0..300_usize).prop_map(|count| (0..count).map(|i| i as i64 ^ 5).collect()),
    ]
}

fn uint64() -> impl Strategy<Value = Vec<u64>> {
    prop_oneof![
        vec(any::<u64>(), 0..300),
        vec(u64::MAX - 1_000_000..=u64::MAX, 0..300),
        (1..300_u64).prop_map(|count| (0..count).map(|i| u64::MAX - i).collect()),
        (1..300_u64).prop_map(|count| (0..count).map(|i| (1 << 63) - 5 + i).collect()),
    ]
}

/// Numbers of which some are keys and some stand beside one.
fn near(keys: &[i64], picks: &[(usize, i64, bool)]) -> Vec<Option<i64>> {
    let near = |&(pick, by, null): &(usize, i64, bool)| {
        let key = keys.get(pick % keys.len().max(1)).copied().unwrap_or(0);
        (!null).then_some(key.wrapping_add(by))
    };
    picks.iter().map(near).collect()
}

fn picks() -> impl Strategy<Value = Vec<(usize, i64, bool)>> {
    let by = prop_oneof![-1_i64..=1, any::<i64>()];
    vec((any::<usize>(), by, prop::bool::weighted(0.1)), 0..100)
}

fn without_duplicates<K: Ord + Clone>(keys: Vec<K>, keep: bool) -> Vec<K> {
    let mut seen = std::collections::BTreeSet::new();
    let keep = |key: &K| seen.insert(key.clone()) || keep;
    let mut keys = keys;
    let mut keep = keep;
    keys.retain(|key| keep(key));
    keys
}

proptest! {
    #[test]
    fn signed_keys_are_found(
        keys in int64(),
        picks in picks(),
        batch in 1..100_usize,
        duplicates in prop::bool::weighted(0.3),
        narrow in any::<bool>(),
    ) {
        let keys = without_duplicates(keys, duplicates);
        let mut wanted = near(&keys, &picks);
        if narrow {
            wanted.retain(|key| key.is_none_or(|key| i32::try_from(key).is_ok()));
        }
        let array = |keys: &[Option<i64>]| Arc::new(Int64Array::from(keys.to_vec())) as ArrayRef;
        compare(&keys, &wanted, batch, |keys| vec![array(keys)], |index, wanted| {
            let fits = |key: &Option<i64>| key.is_none_or(|key| i32::try_from(key).is_ok());
            let array = if wanted.iter().all(fits) {
                cast(&array(wanted), &DataType::Int32).unwrap()
            } else {
                array(wanted)
            };
            index.ids(&[array]).unwrap()
        })?;
    }

    #[test]
    fn unsigned_keys_are_found(
        keys in uint64(),
        picks in picks(),
        batch in 1..100_usize,
        duplicates in prop::bool::weighted(0.3),
    ) {
        let keys = without_duplicates(keys, duplicates);
        let signed: Vec<i64> = keys.iter().map(|key| key.cast_signed()).collect();
        let wanted = near(&signed, &picks);
        let wanted: Vec<_> = wanted.iter().map(|key| key.map(i64::cast_unsigned)).collect();
        let array = |keys: &[Option<u64>]| Arc::new(UInt64Array::from(keys.to_vec())) as ArrayRef;
        compare(&keys, &wanted, batch, |keys| vec![array(keys)], |index, wanted| {
            index.ids(&[array(wanted)]).unwrap()
        })?;
    }

    #[test]
    fn keys_are_found_in_columns_of_the_other_sign(
        keys in int64(),
        unsigned in uint64(),
        picks in picks(),
    ) {
        let keys = without_duplicates(keys, false);
        let index = KeyIndex::try_new(&column(Int64Array::from(keys.clone()))).unwrap();
        let ids = model(&keys).unwrap();
        let near = near(&keys, &picks).into_iter().flatten().map(i64::cast_unsigned);
        let wanted: Vec<u64> = unsigned.into_iter().chain(near).collect();
        let expected = wanted.iter().map(|key| {
            let key = i64::try_from(*key).ok();
            key.and_then(|key| ids.get(&key).copied()).unwrap_or(ABSENT)
        });
        let expected: Vec<u64> = expected.collect();
        let found = index.ids(&column(UInt64Array::from(wanted))).unwrap();
        prop_assert_eq!(found.ids(), expected);
        prop_assert_eq!(found.null_rows().count(), 0);
    }

    #[test]
    fn a_tree_finds_one_key_as_it_finds_many(keys in uint64(), others in uint64()) {
        let keys = without_duplicates(keys, false);
        if let Some(tree) = SearchTree::new(&keys) {
            let wanted = [keys, others].concat();
            let mut found = vec![0; wanted.len()];
            tree.find_all(&wanted, &mut found);
            for (key, id) in wanted.iter().zip(found) {
                prop_assert_eq!(tree.find(*key).unwrap_or(ABSENT), id);
            }
        }
    }

    #[test]
    fn strings_are_found(
        keys in vec("[aä日]{0,3}|[a-c]{14}", 0..60),
        others in vec(proptest::option::of("[aä日]{0,3}|[a-c]{14}"), 0..60),
        batch in 1..20_usize,
        duplicates in prop::bool::weighted(0.3),
        view in any::<bool>(),
    ) {
        let keys = without_duplicates(keys, duplicates);
        let array = |keys: &[Option<String>]| Arc::new(StringArray::from(keys.to_vec())) as ArrayRef;
        compare(&keys, &others, batch, |keys| vec![array(keys)], |index, wanted| {
            let layout = if view { DataType::Utf8View } else { DataType::LargeUtf8 };
            index.ids(&[cast(&array(wanted), &layout).unwrap()]).unwrap()
        })?;
    }

    #[test]
    fn pairs_of_string_and_number_are_found(
        keys in vec(("[ab]{0,3}", -3..3_i32), 0..40),
        others in vec(proptest::option::of(("[ab]{0,3}", -3..3_i32)), 0..60),
        batch in 1..20_usize,
        duplicates in prop::bool::weighted(0.3),
        null_name in any::<bool>(),
    ) {
        let keys = without_duplicates(keys, duplicates);
        // One of both is null where the key is.
        let arrays = |keys: &[Option<(String, i32)>]| -> Vec<ArrayRef> {
            let names = keys.iter().map(|key| match key {
                Some((name, _)) => Some(name.clone()),
                None => (!null_name).then(String::new),
            });
            let numbers = keys.iter().map(|key| match key {
                Some((_, number)) => Some(*number),
                None => null_name.then_some(1),
            });
            vec![Arc::new(names.collect::<StringArray>()), Arc::new(numbers.collect::<Int32Array>())]
        };
        compare(&keys, &others, batch, arrays, |index, wanted| {
            let mut wanted = arrays(wanted);
            wanted[1] = cast(&wanted[1], &DataType::Int64).unwrap();
            index.ids(&wanted).unwrap()
        })?;
    }
}
