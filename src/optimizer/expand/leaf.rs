//! The relations of joins, as far as graph operators know them.

use std::sync::Arc;

use datafusion::catalog::TableProvider;
use datafusion::catalog::default_table_source::source_as_provider;
use datafusion::common::Column;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::error::Result;
use datafusion::logical_expr::utils::split_conjunction_owned;
use datafusion::logical_expr::{Expr, LogicalPlan, TableScan};

use crate::format::{DESTINATION_ID, SOURCE_ID, VERTEX_ID};
use crate::optimizer::join_tree::is_plain;
use crate::physical::walks::EdgeSource;
use crate::table::ElementTable;

/// A relation of joins.
pub(super) struct Leaf {
    /// The table of a graph that it reads, if that is all it does.
    pub(super) element: Option<Element>,
    /// About how many rows it has.
    pub(super) rows: f64,
}

/// A table of a graph, with conditions.
pub(super) struct Element {
    provider: Arc<dyn TableProvider>,
    /// Conditions on the columns of the table.
    pub(super) filters: Vec<Expr>,
    /// Its numbers of vertices and edges, if it is an edge triplet with an ordered layout.
    pub(super) edges: Option<EdgeSource>,
    /// The part of its rows that fulfil the conditions, about.
    pub(super) selectivity: f64,
}

/// The part of rows that fulfil a condition of which nothing is known, as DataFusion has it.
const SELECTIVITY: f64 = 0.2;

/// Rows of a relation of which nothing is known.
const UNKNOWN: f64 = 1e6;

impl Leaf {
    pub(super) fn of(plan: &LogicalPlan) -> Self {
        let element = Element::of(plan);
        let rows = match &element {
            Some(element) => element.rows(),
            None => rows_of(plan),
        };
        Self { element, rows }
    }
}

impl Element {
    fn of(plan: &LogicalPlan) -> Option<Self> {
        let mut filters = vec![];
        let scan = scan_below(plan, &mut filters)?;
        let provider = source_as_provider(&scan.source).ok()?;
        let table = provider.downcast_ref::<ElementTable>()?;
        table.rows().as_ref().ok()?;
        if !filters.iter().all(is_plain) {
            return None;
        }
        let filters = filters
            .into_iter()
            .map(unqualified)
            .collect::<Result<Vec<_>>>()
            .ok()?;
        let (selected, all) = table.estimate(&filters)?;
        let on_ids = |filter: &Expr| {
            let mut names = filter.column_refs().into_iter();
            names.all(|column| [VERTEX_ID, SOURCE_ID, DESTINATION_ID].contains(&column.name()))
        };
        let other = filters.iter().filter(|filter| !on_ids(filter)).count();
        let other = i32::try_from(other).unwrap_or(i32::MAX);
        let selectivity = selected as f64 / all.max(1) as f64 * SELECTIVITY.powi(other);
        let edges = table.edge_source();
        Some(Self {
            filters,
            edges,
            selectivity,
            provider,
        })
    }

    /// The table.
    pub(super) fn table(&self) -> Option<&ElementTable> {
        self.provider.downcast_ref::<ElementTable>()
    }

    /// The number of rows of the table.
    pub(super) fn total(&self) -> f64 {
        let table = self.table().and_then(|table| table.rows().as_ref().ok());
        table.map_or(0.0, |table| table.rows.total() as f64)
    }

    fn rows(&self) -> f64 {
        (self.total() * self.selectivity).max(1.0)
    }
}

/// The scan of a table below nothing but conditions, which are collected.
fn scan_below<'a>(plan: &'a LogicalPlan, filters: &mut Vec<Expr>) -> Option<&'a TableScan> {
    match plan {
        LogicalPlan::TableScan(scan) if scan.fetch.is_none() => {
            filters.extend(scan.filters.iter().cloned());
            Some(scan)
        }
        LogicalPlan::Filter(filter) => {
            filters.extend(split_conjunction_owned(filter.predicate.clone()));
            scan_below(&filter.input, filters)
        }
        LogicalPlan::SubqueryAlias(alias) => scan_below(&alias.input, filters),
        _ => None,
    }
}

/// A condition on the columns of one table, by their bare names.
fn unqualified(expr: Expr) -> Result<Expr> {
    let bare = expr.transform_up(|expr| match expr {
        Expr::Column(column) => Ok(Transformed::yes(Expr::Column(Column::from_name(
            column.name,
        )))),
        expr => Ok(Transformed::no(expr)),
    })?;
    Ok(bare.data)
}

/// About how many rows a plan has.
fn rows_of(plan: &LogicalPlan) -> f64 {
    match plan {
        LogicalPlan::Values(values) => values.values.len() as f64,
        LogicalPlan::EmptyRelation(empty) => f64::from(u8::from(empty.produce_one_row)),
        LogicalPlan::Projection(projection) => rows_of(&projection.input),
        LogicalPlan::SubqueryAlias(alias) => rows_of(&alias.input),
        LogicalPlan::Sort(sort) => {
            let rows = rows_of(&sort.input);
            sort.fetch.map_or(rows, |fetch| rows.min(fetch as f64))
        }
        LogicalPlan::Distinct(distinct) => rows_of(distinct.input()),
        LogicalPlan::Filter(filter) => (rows_of(&filter.input) * SELECTIVITY).max(1.0),
        LogicalPlan::Limit(limit) => match limit.get_fetch_type() {
            Ok(datafusion::logical_expr::FetchType::Literal(Some(fetch))) => {
                rows_of(&limit.input).min(fetch as f64)
            }
            _ => rows_of(&limit.input),
        },
        LogicalPlan::Aggregate(aggregate) if aggregate.group_expr.is_empty() => 1.0,
        LogicalPlan::Aggregate(aggregate) => rows_of(&aggregate.input),
        LogicalPlan::Union(union) => union.inputs.iter().map(|input| rows_of(input)).sum(),
        LogicalPlan::TableScan(scan) => {
            let provider = source_as_provider(&scan.source).ok();
            let known = provider.and_then(|provider| provider.statistics());
            let rows = known.and_then(|known| known.num_rows.get_value().copied());
            rows.map_or(UNKNOWN, |rows| rows as f64)
        }
        _ => UNKNOWN,
    }
}
