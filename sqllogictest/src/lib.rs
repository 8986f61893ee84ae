//! Runner of the sqllogictest suites for GraphAr archives.
//!
//! A file is run in a session of its own ([`run_file`]), by the binary `sqllogictests` and by
//! the test target of the same name. What a file may rely on:
//!
//! * The session has default settings, except `target_partitions = 4` and what
//!   [`RunOptions::settings`] presets. Identifiers are normalised, so names with capitals or
//!   signs are quoted.
//! * `${DATA}` is the folder `data` of this package, `${SCRATCH}` a folder of the file's own
//!   that is emptied first, `${GAR_TEST_DATA}` a checkout of GraphAr's testing data. They are
//!   replaced in every statement without a `control substitution on`, which would also take
//!   the `$` of a table such as `person_knows_person$ordered_by_dest` for a variable.
//! * In results and errors these folders are shown as `<DATA>` and so on, so that a file does
//!   not depend on where it is run.
//! * Values are written as [`cells`] says; a plan is one row for each line.
//! * Queries that share a label (`query I rowsort same`) must give the same rows.
//! * Files below `pushdown/` run twice, with every switch of the pushdowns on and with every
//!   one off ([`switches`]), both times with partitions of single rows. The rows have to be the
//!   same, so their queries state an order or sort, and show no plans. Completing runs them
//!   once, with the defaults.
//! * A file that runs longer than [`RunOptions::time_limit`] fails.
//!
//! [`upstream`] writes the files below `test_files/upstream`.

pub mod cells;
mod column;
mod database;
mod discover;
mod places;
mod run;
mod switches;
pub mod upstream;

pub use column::GraphArColumn;
pub use database::{GraphArDatabase, SqlError};
pub use discover::{DiscoverError, TestFile, discover, test_files_root};
pub use places::Places;
pub use run::{Outcome, RunOptions, SettingError, run_file};
pub use switches::{SWITCHES, switches};
