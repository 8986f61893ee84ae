//! Tests of the library from outside, in one binary.

// All of it is tests, which the lint only takes for such inside the test functions themselves.
#![allow(clippy::panic, clippy::unwrap_used)]

mod check;
mod counting_store;
mod damage;
mod delta_page;
mod docs;
mod expand;
mod faults_pages;
mod faults_pushdown;
mod faults_rows;
mod fixture;
mod functions;
mod label_runs;
mod labels;
mod layers;
mod local_files;
mod lookup;
mod metadata;
mod opening;
mod partitions;
mod prepared;
mod pushdown;
mod random_graph;
mod random_query;
mod statistics;
mod walks;
mod write;
