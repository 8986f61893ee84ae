//! Tests of the payload readers: one logical table in every payload, and broken files.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the numbers are small, or meant to be cut"
)]

mod cast;
mod damage;
mod formats;
mod parquet;
mod support;
mod text;
#[cfg(feature = "orc")]
mod twins;
