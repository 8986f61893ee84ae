//! `neighbors` and `expand`: joins with an edge table, as the optimizer knows them.

use std::sync::Arc;

use datafusion::catalog::CatalogProviderList;
use datafusion::common::{Column, DFSchema, internal_err, not_impl_err, plan_err};
use datafusion::datasource::provider_as_source;
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::planner::RelationPlannerContext;
use datafusion::logical_expr::{Expr, JoinType, LogicalPlan, LogicalPlanBuilder, col, ident};
use datafusion::sql::sqlparser::ast::{Expr as SqlExpr, TableFactor};

use super::arguments::{Arguments, Name};
use super::calls::{graph_of, info_of, way};
use super::graphs::triplet;
use super::ids::ids;
use crate::format::{DESTINATION_ID, EdgeInfo, SOURCE_ID};
use crate::graph::algorithms::Way;
use crate::table::{ElementTable, Graph};

/// The column with the other end of an edge.
const NEIGHBOR: &str = "neighbor_id";

/// The column with the vertices of `neighbors` that are asked for.
const START: &str = "start_id";

/// What the input is called in plans.
const INPUT: &str = "input";

/// What edges are called in plans.
const EDGE: &str = "edge";

/// An edge table, and the ends that are started from.
struct Edges {
    table: Arc<ElementTable>,
    way: Way,
}

/// The plan of a call.
///
/// # Errors
/// If what the arguments name is not there, or columns have the same name.
pub fn plan(
    arguments: &Arguments,
    catalogs: &dyn CatalogProviderList,
    context: &mut dyn RelationPlannerContext,
) -> Result<LogicalPlan> {
    let edges = edges(arguments, catalogs, context)?;
    if arguments.function() == "neighbors" {
        if let Some(start) = outer(arguments, context) {
            return edges.of_outer(start);
        }
        let starts = ids(arguments, "start", context)?;
        let name = Column::from(starts.schema().qualified_field(0));
        let starts = LogicalPlanBuilder::from(starts);
        let starts = starts
            .project(vec![Expr::Column(name).alias(START)])?
            .build()?;
        return edges.of(&starts, START, arguments.function());
    }
    let input = input(arguments, context)?;
    let names: Vec<&str> = input
        .schema()
        .fields()
        .iter()
        .map(|field| field.name().as_str())
        .collect();
    let Some(on) = arguments.name("on")? else {
        return internal_err!("expand without 'on'");
    };
    let Some(on) = on.find(&names).map(str::to_owned) else {
        return plan_err!(
            "expand: the input has no column '{}' for 'on'; it has {}",
            on.text(),
            names.join(", ")
        );
    };
    check_ids(&input, &on)?;
    edges.of(&input, &on, arguments.function())
}

fn edges(
    arguments: &Arguments,
    catalogs: &dyn CatalogProviderList,
    context: &mut dyn RelationPlannerContext,
) -> Result<Edges> {
    let graph = graph_of(arguments, catalogs, context)?;
    let info = info_of(arguments, &graph)?;
    edges_of(arguments.function(), &graph, info, way(arguments, info)?)
}

/// The edges of ids in a column of a plan, behind its columns: what `expand` gives.
///
/// # Errors
/// If there are no such edges or no such column, it is no integer, or a column would come twice.
pub fn expanded(
    graph: &Graph,
    edge: &str,
    input: &LogicalPlan,
    on: &str,
    way: Way,
) -> Result<LogicalPlan> {
    let info = triplet("expand", &Name::Exact(edge.to_owned()), graph)?;
    check_ids(input, on)?;
    edges_of("expand", graph, info, way)?.of(input, on, "expand")
}

/// Fails unless a column is of ids.
fn check_ids(input: &LogicalPlan, on: &str) -> Result<()> {
    let data_type = input.schema().field_with_unqualified_name(on)?.data_type();
    match data_type.is_integer() {
        true => Ok(()),
        false => {
            plan_err!("expand: expected a column of ids for 'on', found '{on}' of type {data_type}")
        }
    }
}

fn edges_of(function: &str, graph: &Graph, info: &EdgeInfo, way: Way) -> Result<Edges> {
    if way == Way::Any && info.src_type != info.dst_type {
        return plan_err!(
            "{function}: edges of {} lead from {} to {}; their direction has to be 'out' or 'in'",
            info.key(),
            info.src_type,
            info.dst_type
        );
    }
    match graph.table(&info.key()).map_err(DataFusionError::from)? {
        Some(table) => Ok(Edges { table, way }),
        None => internal_err!("no table of {}", info.key()),
    }
}

/// The rows that `expand` follows edges from.
fn input(arguments: &Arguments, context: &mut dyn RelationPlannerContext) -> Result<LogicalPlan> {
    let Some(mut value) = arguments.value("input") else {
        return internal_err!("expand without 'input'");
    };
    while let SqlExpr::Nested(inner) = value {
        value = inner;
    }
    let SqlExpr::Subquery(query) = value else {
        return plan_err!("expand: expected a subquery for 'input', found {value}");
    };
    let plan = context.plan(TableFactor::Derived {
        lateral: false,
        subquery: query.clone(),
        alias: None,
        sample: None,
    })?;
    if !plan.all_out_ref_exprs().is_empty() {
        return not_impl_err!("expand: an input that depends on other relations");
    }
    Ok(plan)
}

/// The start, if it is a value of another relation of `FROM`.
fn outer(arguments: &Arguments, context: &mut dyn RelationPlannerContext) -> Option<Expr> {
    let value = arguments.value("start")?;
    if matches!(value, SqlExpr::Subquery(_)) {
        return None;
    }
    let expr = context
        .sql_to_expr(value.clone(), &DFSchema::empty())
        .ok()?;
    expr.contains_outer().then_some(expr)
}

impl Edges {
    fn scan(&self) -> Result<LogicalPlanBuilder> {
        let source = provider_as_source(Arc::clone(&self.table) as _);
        LogicalPlanBuilder::scan(EDGE, source, None)
    }

    /// The columns of edges that come behind the ids.
    fn properties(&self) -> Vec<String> {
        let schema = match self.table.rows() {
            Ok(table) => Arc::clone(&table.schema),
            Err(_) => return vec![],
        };
        let names = schema.fields().iter().map(|field| field.name().clone());
        names
            .filter(|name| ![SOURCE_ID, DESTINATION_ID].contains(&name.as_str()))
            .collect()
    }

    /// The ends, near and far, of each direction that is followed.
    fn ends(&self) -> Vec<[&'static str; 2]> {
        let (out, into) = ([SOURCE_ID, DESTINATION_ID], [DESTINATION_ID, SOURCE_ID]);
        match self.way {
            Way::Out => vec![out],
            Way::In => vec![into],
            Way::Any => vec![out, into],
        }
    }

    /// The edges of the ids in a column of the input, behind its columns.
    fn of(&self, input: &LogicalPlan, on: &str, function: &str) -> Result<LogicalPlan> {
        let properties = self.properties();
        let names = input
            .schema()
            .fields()
            .iter()
            .map(|field| field.name().clone());
        let names: Vec<String> = names.collect();
        for name in &names {
            let twice = names.iter().filter(|other| *other == name).count() > 1;
            if twice || name == NEIGHBOR || properties.contains(name) {
                return plan_err!(
                    "{function}: column '{name}' would come twice; give it another name in the input"
                );
            }
        }
        let mut plan: Option<LogicalPlanBuilder> = None;
        for (number, [near, far]) in self.ends().into_iter().enumerate() {
            let mut edges = self.scan()?;
            if number > 0 {
                // An edge from a vertex to itself is one edge.
                edges = edges.filter(col(SOURCE_ID).not_eq(col(DESTINATION_ID)))?;
            }
            let rows = LogicalPlanBuilder::from(input.clone()).alias(INPUT)?;
            let keys = (
                vec![Column::new(Some(INPUT), on)],
                vec![Column::new(Some(EDGE), near)],
            );
            let joined = rows.join(edges.build()?, JoinType::Inner, keys, None)?;
            let own = names.iter().map(|name| qualified(INPUT, name).alias(name));
            let far = std::iter::once(qualified(EDGE, far).alias(NEIGHBOR));
            let more = properties
                .iter()
                .map(|name| qualified(EDGE, name).alias(name));
            let one = joined.project(own.chain(far).chain(more).collect::<Vec<_>>())?;
            plan = Some(match plan {
                Some(before) => before.union(one.build()?)?,
                None => one,
            });
        }
        match plan {
            Some(plan) => plan.build(),
            None => internal_err!("edges in no direction"),
        }
    }

    /// The edges of a value of another relation.
    fn of_outer(&self, start: Expr) -> Result<LogicalPlan> {
        let [[near, far]] = self.ends()[..] else {
            return not_impl_err!(
                "neighbors: a start of another relation with the direction 'any'; join with both directions instead"
            );
        };
        let properties = self.properties();
        let ids = [ident(near).alias(START), ident(far).alias(NEIGHBOR)];
        let more = properties.iter().map(|name| ident(name).alias(name));
        self.scan()?
            .filter(ident(near).eq(start))?
            .project(ids.into_iter().chain(more).collect::<Vec<_>>())?
            .build()
    }
}

fn qualified(relation: &str, name: &str) -> Expr {
    Expr::Column(Column::new(Some(relation), name))
}
