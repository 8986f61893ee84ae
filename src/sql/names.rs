//! Names that match without regard to case, over schemas whose names are of mixed case.
//!
//! SQL folds unquoted names, so `firstName` means `firstname` and finds nothing. Here an unquoted
//! name means the table, alias or column of exactly that name, and if there is none, the only one
//! that differs in case alone. Several of those are an error that lists them. Quoted names are
//! taken as they are, and so are names that nothing fits, for the engine to complain about.
//!
//! Scopes are those of SQL: a name belongs to the innermost query that has anything fitting it;
//! in ORDER BY a name of the select list wins over a column that fits no better. A table that is
//! missing in the default schema is also looked for in `public`.

mod catalog;
mod expression;
mod matching;
mod scope;
mod statement;
mod walk;

use datafusion::common::Result;
use datafusion::dataframe::DataFrame;
use datafusion::execution::SessionState;
use datafusion::prelude::SessionContext;
use datafusion::sql::parser::Statement;

use crate::sql::names::catalog::Tables;
use crate::sql::names::walk::Walker;

#[cfg(test)]
mod tests;

/// Replaces the unquoted names of a statement by the ones they stand for, quoted.
///
/// Works with identifier normalization on or off; with it off, names that the statement itself
/// defines, such as `AS N`, also keep their case.
///
/// ```
/// # use datafusion::prelude::*;
/// # use datafusion_graphar::sql::resolve_names;
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> datafusion::error::Result<()> {
/// let context = SessionContext::new();
/// context.sql(r#"CREATE TABLE person AS SELECT 'Ann' AS "firstName""#).await?;
/// let state = context.state();
/// let dialect = &state.config_options().sql_parser.dialect;
/// let statement = state.sql_to_statement("SELECT FIRSTNAME FROM Person", dialect)?;
/// let statement = resolve_names(&state, statement).await?;
/// assert_eq!(statement.to_string(), r#"SELECT "firstName" FROM "person""#);
/// # Ok(())
/// # }
/// ```
pub async fn resolve_names(state: &SessionState, mut statement: Statement) -> Result<Statement> {
    let tables = Tables::of(state, &statement).await?;
    let normalizes = state.config_options().sql_parser.enable_ident_normalization;
    Walker::new(&tables, normalizes).whole(&mut statement)?;
    Ok(statement)
}

/// [`SessionContext::sql`] with the names resolved by [`resolve_names`].
pub async fn sql_with_names(context: &SessionContext, sql: &str) -> Result<DataFrame> {
    let state = context.state();
    let dialect = &state.config_options().sql_parser.dialect;
    let statement = state.sql_to_statement(sql, dialect)?;
    let statement = resolve_names(&state, statement).await?;
    let plan = state.statement_to_plan(statement).await?;
    context.execute_logical_plan(plan).await
}
