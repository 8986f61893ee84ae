//! Session options with the prefix `graphar`.

use datafusion::common::extensions_options;
use datafusion::config::{ConfigExtension, ConfigOptions};

extensions_options! {
    /// Options of GraphAr tables, set by `SET graphar.<name> = <value>` or
    /// `SessionConfig::with_option_extension`. A session without them has the defaults.
    pub struct GraphArOptions {
        /// Open only the property groups that a query needs. Off: every file of every
        /// row read is opened and decoded. For comparison and for looking for damage.
        pub projection_pushdown: bool, default = true

        /// Tell the optimizer the number of rows that the count files give, so that
        /// `count(*)` opens no payload file.
        pub row_count_statistics: bool, default = true

        /// Take `is_nullable: false` for a promise: the column is NOT NULL, and a null in a
        /// file is an error. Off: every property is nullable. Read when a graph is registered.
        pub enforce_not_null: bool, default = true

        /// Check that the endpoint ids of the edges read lie inside their vertex types, and
        /// the aligned end inside its part. Read when a graph is registered.
        pub check_endpoints: bool, default = true

        /// A scan is not split into partitions of fewer rows than this.
        pub min_partition_rows: usize, default = 8192
    }
}

impl ConfigExtension for GraphArOptions {
    const PREFIX: &'static str = "graphar";
}

impl GraphArOptions {
    /// The options of a session, or the defaults where it has none.
    pub fn of(config: &ConfigOptions) -> Self {
        config.extensions.get::<Self>().cloned().unwrap_or_default()
    }
}
