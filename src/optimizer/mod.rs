//! Rules that turn parts of plans into the nodes of [`logical`](crate::logical).
//!
//! They run behind DataFusion's own rules, up to three times: what a rule has made it does not match again. Each has a
//! switch `graphar.rule_…`, and gives the same rows as the plan it replaces.

mod count_propagation;
mod dynamic_filters;
mod expand;
mod join_tree;

pub use count_propagation::CountPropagation;
pub use dynamic_filters::NamedDynamicFilters;
pub use expand::JoinToExpand;
