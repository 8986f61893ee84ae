//! Session options with the prefix `graphar`.

use std::fmt;
use std::str::FromStr;

use datafusion::common::{DataFusionError, config_err, extensions_options};
use datafusion::config::{ConfigExtension, ConfigField, ConfigOptions, Visit};
use datafusion::error::Result;

extensions_options! {
    /// Options of GraphAr tables, set by `SET graphar.<name> = <value>` or
    /// `SessionConfig::with_option_extension`. A session without them has the defaults.
    ///
    /// The switches of pushdowns change what is read, never what is answered.
    pub struct GraphArOptions {
        /// Open only the property groups that a query needs. Off: every file of every
        /// row read is opened and decoded. For comparison and for looking for damage.
        pub projection_pushdown: bool, default = true

        /// Turn conditions on `_vertex_id`, `_src_id` and `_dst_id` into ranges of rows, and
        /// choose the layout of an edge table by them. Off: every row is read and tested.
        pub id_pushdown: bool, default = true

        /// Test conditions on other columns in the scan: their columns are read first, the
        /// others for the rows that passed.
        pub filter_pushdown: bool, default = true

        /// Leave out chunks, row groups and pages whose statistics rule a condition out.
        pub page_pruning: bool, default = true

        /// Let the bounds that joins and `ORDER BY … LIMIT` find while they run narrow a scan.
        pub dynamic_filters: bool, default = true

        /// Answer conditions on labels from the columns of the labels that they name.
        pub label_pushdown: bool, default = true

        /// Walk the columns of labels run by run, where a condition is on labels alone. Off: every vertex is
        /// looked at.
        pub label_runs: bool, default = true

        /// Tell the optimizer the number of rows that the count files give, so that
        /// `count(*)` opens no payload file, and the bounds of the ids.
        pub row_count_statistics: bool, default = true

        /// Tell the optimizer how many nulls a property has, and its least and greatest values, by the footers
        /// of its Parquet files. They are read when a statement is planned that asks for whole columns, and
        /// remembered. A physical plan that is kept answers for the files of that moment, but `PreparedQuery` does
        /// not. Needs a cache, and no limit of requests or bytes.
        pub collect_statistics: bool, default = true

        /// Most Parquet files of a table that are read for that; tables of more have no such statistics.
        pub statistics_chunks: usize, default = 32

        /// Tell the optimizer that vertices come by id and the edges of an ordered layout by its
        /// end. The order is checked as it is read; an edge chunk out of order is an error.
        pub declared_ordering: bool, default = true

        /// Tell the optimizer that each partition of a vertex table has a range of ids of its own, so that
        /// groups and joins by `_vertex_id` need no exchange of rows.
        pub range_partitioning: bool, default = true

        /// Take `is_nullable: false` for a promise: the column is NOT NULL, and a null in a
        /// file is an error. Off: every property is nullable. Read when a graph is registered.
        pub enforce_not_null: bool, default = true

        /// Check that the endpoint ids of the edges read lie inside their vertex types, and
        /// the aligned end inside its part: by the bounds that a Parquet file states, or else one by one. Read when
        /// a graph is registered.
        pub check_endpoints: bool, default = true

        /// Count the matches of joins along edges without the joins, where nothing but their number is asked for.
        pub rule_count_propagation: bool, default = true

        /// Follow edges by offsets where a join asks for the edges of vertices, instead of hashing them.
        pub rule_join_to_expand: bool, default = true

        /// Join with a vertex type by the numbers of its rows, instead of hashing them.
        pub rule_vertex_lookup: bool, default = true

        /// Leave out joins with a vertex type of which nothing is asked for but the id.
        pub rule_elide_vertex_join: bool, default = true

        /// Where both ends of an edge are known, look for edges between the two. Off: all edges of one are followed,
        /// and those that end elsewhere are dropped.
        pub rule_close_cycle: bool, default = true

        /// Where the rows of ids come from when a join is followed by offsets: `offsets` reads windows of rows for each
        /// batch, `csr` puts all rows into memory first, `auto` does either by the number of ids, and
        /// `hash_join` leaves such joins to DataFusion.
        pub expand_strategy: ExpandStrategy, default = ExpandStrategy::Auto

        /// A scan is not split into partitions of fewer rows than this.
        pub min_partition_rows: usize, default = 8192

        /// Most bytes of footers, offsets and pages of neighbours that a session keeps; at most a
        /// quarter of a limited memory pool. 0 keeps nothing. Read when a graph is registered.
        pub cache_bytes: usize, default = 256 * 1024 * 1024

        /// Ask the store, once for each statement and file, whether a file that is in the cache was replaced.
        pub validate_cached_files: bool, default = true

        /// Most requests to object stores that the scan of one table may make; 0 is no limit.
        pub max_requests: usize, default = 0

        /// Most bytes that the scan of one table may read from object stores; 0 is no limit.
        pub max_bytes: usize, default = 0
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

/// Where the rows that belong to ids come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ExpandStrategy {
    /// By the number of ids.
    #[default]
    Auto,
    /// Windows of rows, for one batch of ids after the other.
    Offsets,
    /// All rows, in memory; windows where it has no room.
    Csr,
    /// Joins stay as they are.
    HashJoin,
}

impl ExpandStrategy {
    const ALL: [Self; 4] = [Self::Auto, Self::Offsets, Self::Csr, Self::HashJoin];

    /// The name of the strategy in `SET`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Offsets => "offsets",
            Self::Csr => "csr",
            Self::HashJoin => "hash_join",
        }
    }
}

impl fmt::Display for ExpandStrategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for ExpandStrategy {
    type Err = DataFusionError;

    fn from_str(text: &str) -> Result<Self> {
        let name = text.to_lowercase();
        match Self::ALL
            .into_iter()
            .find(|strategy| strategy.name() == name)
        {
            Some(strategy) => Ok(strategy),
            None => {
                let names = Self::ALL.map(Self::name).join(", ");
                config_err!("expand_strategy: expected one of {names}, found '{text}'")
            }
        }
    }
}

impl ConfigField for ExpandStrategy {
    fn visit<V: Visit>(&self, visitor: &mut V, key: &str, description: &'static str) {
        visitor.some(key, self, description);
    }

    fn set(&mut self, _key: &str, value: &str) -> Result<()> {
        *self = value.parse()?;
        Ok(())
    }
}
