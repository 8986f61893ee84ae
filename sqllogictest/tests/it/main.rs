//! Tests of the library from outside, in one binary.

// All of it is tests, which the lint only takes for such inside the test functions themselves.
#![allow(clippy::panic, clippy::unwrap_used)]

mod counting_store;
mod damage;
mod docs;
mod faults_rows;
mod fixture;
mod layers;
mod metadata;
mod opening;
