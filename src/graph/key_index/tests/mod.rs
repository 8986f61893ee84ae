//! Tests of the whole index.

mod errors;
mod integers;
mod properties;
mod values;

use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef};

use super::index::Keys;
use super::integer_index::IntegerIndex;
use super::{ABSENT, KeyIndex};

fn column(array: impl Array + 'static) -> [ArrayRef; 1] {
    [Arc::new(array)]
}

/// What an index is made of.
fn strategy(index: &KeyIndex) -> &'static str {
    match &index.keys {
        Keys::Integers(IntegerIndex::Run { .. }) => "run",
        Keys::Integers(IntegerIndex::Dense(_)) => "dense",
        Keys::Integers(IntegerIndex::Tree(_)) => "tree",
        Keys::Bytes(_) => "hash",
    }
}

fn ids(index: &KeyIndex, columns: &[ArrayRef]) -> Vec<Option<u64>> {
    let found = index.ids(columns).unwrap();
    let ids = found.ids().iter();
    ids.map(|id| (*id != ABSENT).then_some(*id)).collect()
}
