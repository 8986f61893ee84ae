//! What stands for vertices: an id, a list of ids, a parameter, or a subquery.
//!
//! All of them become a relation of one `BIGINT` column, so that the engine plans subqueries and fills in parameters as it does elsewhere.

use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field};
use datafusion::common::{Column, DFSchema, plan_err};
use datafusion::error::Result;
use datafusion::logical_expr::planner::RelationPlannerContext;
use datafusion::logical_expr::{Expr, ExprSchemable, LogicalPlan, LogicalPlanBuilder, cast};
use datafusion::sql::sqlparser::ast::{Expr as SqlExpr, TableFactor};

use super::arguments::Arguments;

/// Name of the column.
const ID: &str = "id";

/// The relation of an argument's ids.
///
/// # Errors
/// If it is none of the forms there are, or its values are no integers.
pub fn ids(
    arguments: &Arguments,
    name: &str,
    context: &mut dyn RelationPlannerContext,
) -> Result<LogicalPlan> {
    let function = arguments.function();
    let Some(mut value) = arguments.value(name) else {
        return plan_err!("{function}: argument '{name}' is missing");
    };
    while let SqlExpr::Nested(inner) = value {
        value = inner;
    }
    let refuse = |found: &str| {
        plan_err!(
            "{function}: expected an id, a list of ids or a subquery of ids for '{name}', found {found}"
        )
    };
    if let SqlExpr::Subquery(query) = value {
        let plan = context.plan(TableFactor::Derived {
            lateral: false,
            subquery: query.clone(),
            alias: None,
            sample: None,
        })?;
        let [field] = plan.schema().fields().iter().as_slice() else {
            let found = plan.schema().fields().len();
            return refuse(&format!("a subquery of {found} columns"));
        };
        if !is_id(field.data_type()) {
            return refuse(&format!("a subquery of {}", field.data_type()));
        }
        if !plan.all_out_ref_exprs().is_empty() {
            return refuse(&format!("{value}, which depends on other relations"));
        }
        let column = Expr::Column(Column::from(plan.schema().qualified_field(0)));
        return cast_ids(LogicalPlanBuilder::from(plan), column);
    }
    let schema = DFSchema::empty();
    let Ok(expr) = context.sql_to_expr(value.clone(), &schema) else {
        return refuse(&value.to_string());
    };
    if expr.contains_outer() || !expr.column_refs().is_empty() {
        return refuse(&format!("{value}, which depends on other relations"));
    }
    let expr = match expr {
        // The type that a parameter should have, as there is nothing else to tell.
        Expr::Placeholder(mut placeholder) => {
            let field = Field::new(ID, DataType::Int64, true);
            placeholder.field.get_or_insert_with(|| Arc::new(field));
            Expr::Placeholder(placeholder)
        }
        other => other,
    };
    let Ok(data_type) = expr.get_type(&schema) else {
        return refuse(&value.to_string());
    };
    let row = LogicalPlanBuilder::empty(true);
    match &data_type {
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
            if !is_id(item.data_type()) {
                return refuse(&format!("a list of {}", item.data_type()));
            }
            let column = Column::from_name(ID);
            let rows = row.project(vec![expr.alias(ID)])?;
            let rows = rows.unnest_column(column.clone())?;
            cast_ids(rows, Expr::Column(column))
        }
        own if is_id(own) => cast_ids(row, expr),
        _ => refuse(&value.to_string()),
    }
}

fn is_id(data_type: &DataType) -> bool {
    data_type.is_integer() || data_type.is_null()
}

fn cast_ids(rows: LogicalPlanBuilder, ids: Expr) -> Result<LogicalPlan> {
    let ids = cast(ids, DataType::Int64).alias(ID);
    rows.project(vec![ids])?.build()
}
