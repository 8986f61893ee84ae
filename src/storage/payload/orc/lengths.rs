//! Whether the lengths in a stripe can be true.
//!
//! The decoder allocates room for all items of a batch once it has the lengths of the lists,
//! and for all entries of a dictionary; damage makes that a number for which there is no memory.

use std::io::Read;

use orc_rust::proto::column_encoding::Kind as Encoding;
use orc_rust::proto::stream::Kind;
use orc_rust::schema::DataType;
use orc_rust::stripe::Stripe;

use super::run::Runs;

/// Most items or dictionary entries of a stripe, far above what its usual size allows.
const MOST: u128 = 1 << 28;

/// Checks the columns that were read of a stripe.
pub(super) fn check(stripe: &Stripe) -> Result<(), String> {
    let mut columns = stripe.columns().to_vec();
    while let Some(column) = columns.pop() {
        if column.dictionary_size() as u128 > MOST {
            return Err(format!(
                "a dictionary of {} entries",
                column.dictionary_size()
            ));
        }
        if !matches!(column.data_type(), DataType::List { .. }) {
            continue;
        }
        let mut lengths = vec![];
        let mut stream = stripe.stream_map().get(&column, Kind::Length);
        stream
            .read_to_end(&mut lengths)
            .map_err(|e| e.to_string())?;
        let second_version = matches!(
            column.encoding().kind(),
            Encoding::DirectV2 | Encoding::DictionaryV2
        );
        let mut runs = Runs::new(&lengths, second_version, false);
        let (mut items, mut run) = (0_u128, vec![]);
        while runs.next(&mut run)? {
            // A length below zero is one above the signed numbers.
            items += run
                .drain(..)
                .map(|length| u128::from(length.cast_unsigned()))
                .sum::<u128>();
        }
        if items > MOST {
            return Err(format!("lists of {items} items"));
        }
        columns.extend(column.children());
    }
    Ok(())
}
