//! The options that change what is read, and never what is answered.

/// Names of the switches, without the prefix `graphar`.
pub const SWITCHES: [&str; 17] = [
    "check_endpoints",
    "collect_statistics",
    "declared_ordering",
    "dynamic_filters",
    "filter_pushdown",
    "id_pushdown",
    "label_pushdown",
    "label_runs",
    "page_pruning",
    "projection_pushdown",
    "range_partitioning",
    "row_count_statistics",
    "rule_close_cycle",
    "rule_count_propagation",
    "rule_elide_vertex_join",
    "rule_join_to_expand",
    "rule_vertex_lookup",
];

/// Names and values that turn every switch on or off; without them nothing is kept in a cache
/// either.
pub fn switches(on: bool) -> Vec<(String, String)> {
    let cache = (!on).then(|| ("cache_bytes".to_owned(), "0".to_owned()));
    SWITCHES
        .map(|name| (name.to_owned(), on.to_string()))
        .into_iter()
        .chain(cache)
        .collect()
}

#[cfg(test)]
mod tests {
    use datafusion::config::ExtensionOptions;
    use datafusion_graphar::config::GraphArOptions;

    use super::*;

    /// Options that are on or off and no switches: they change answers, or what a change of
    /// files does.
    const OTHERS: [&str; 2] = ["enforce_not_null", "validate_cached_files"];

    #[test]
    fn every_option_that_is_on_or_off_is_a_switch_or_named_here() {
        let mut known: Vec<&str> = SWITCHES.into_iter().chain(OTHERS).collect();
        known.sort_unstable();
        let mut found: Vec<String> = GraphArOptions::default()
            .entries()
            .into_iter()
            .filter(|entry| matches!(entry.value.as_deref(), Some("true" | "false")))
            .map(|entry| entry.key)
            .collect();
        found.sort_unstable();
        let found: Vec<&str> = found
            .iter()
            .map(|key| key.trim_start_matches("graphar."))
            .collect();
        assert_eq!(found, known);
    }

    #[test]
    fn every_switch_can_be_set() {
        for on in [true, false] {
            let mut options = GraphArOptions::default();
            for (name, value) in switches(on) {
                options.set(&name, &value).unwrap();
            }
            assert_eq!(options.id_pushdown, on);
            assert_eq!(options.cache_bytes == 0, !on);
        }
    }
}
