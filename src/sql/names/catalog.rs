//! Looks up the tables that a statement names.

use std::ops::ControlFlow;

use datafusion::common::{HashMap, Result, TableReference};
use datafusion::error::DataFusionError;
use datafusion::execution::SessionState;
use datafusion::sql::parser::{CopyToSource, Statement};
use datafusion::sql::sqlparser::ast::{
    Ident, ObjectName, Statement as SqlStatement, TableFactor, Visit, Visitor,
};

use crate::sql::names::matching::{Match, best_match, idents, settle_function};

/// Where `SessionContext` keeps what belongs to no graph.
const FALLBACK_SCHEMA: &str = "public";

/// A table that a name stands for.
#[derive(Debug, Clone)]
pub struct Found {
    /// The name to write: as many parts as needed to reach the table.
    pub name: Vec<String>,
    /// Catalog, schema and table.
    pub full: Vec<String>,
    /// Its columns.
    pub columns: Vec<String>,
    /// Whether the name was written exactly so.
    pub exact: bool,
}

/// What a name in a statement may stand for.
#[derive(Debug, Clone)]
pub enum Lookup {
    /// No table has it.
    Missing,
    /// Several tables differ from it only in case.
    Ambiguous(Vec<String>),
    /// This table.
    Table(Found),
}

/// A name as written: its parts, and whether they are quoted.
type Key = Vec<(String, bool)>;

/// The tables and table functions of one statement.
#[derive(Debug, Default)]
pub struct Tables {
    lookups: HashMap<Key, Lookup>,
    /// Columns of table factors that are not plain tables, by their text.
    factors: HashMap<String, Vec<String>>,
    functions: Vec<String>,
}

impl Tables {
    /// Looks up everything that `statement` names.
    pub async fn of(state: &SessionState, statement: &Statement) -> Result<Self> {
        let mut collector = Collector::default();
        collector.statement(statement);
        let mut tables = Self {
            functions: state.table_functions().keys().cloned().collect(),
            ..Self::default()
        };
        for name in collector.names {
            if let Some(parts) = idents(&name)
                && !tables.lookups.contains_key(&key(&parts))
            {
                let found = lookup(state, &parts).await?;
                tables.lookups.insert(key(&parts), found);
            }
        }
        for mut factor in collector.factors {
            let text = factor.to_string();
            if let TableFactor::Table { name, .. } = &mut factor {
                settle_function(name, &tables.functions);
            }
            if let Some(columns) = columns_of(state, &factor).await {
                tables.factors.insert(text, columns);
            }
        }
        Ok(tables)
    }

    /// What a name stands for among the tables of the session.
    pub fn lookup(&self, parts: &[&Ident]) -> &Lookup {
        self.lookups.get(&key(parts)).unwrap_or(&Lookup::Missing)
    }

    /// The columns of a table function call or the like, by its text in the statement.
    pub fn factor_columns(&self, factor: &str) -> Option<&Vec<String>> {
        self.factors.get(factor)
    }

    /// The table functions of the session.
    pub fn functions(&self) -> &[String] {
        &self.functions
    }
}

fn key(parts: &[&Ident]) -> Key {
    parts
        .iter()
        .map(|ident| (ident.value.clone(), ident.quote_style.is_some()))
        .collect()
}

async fn lookup(state: &SessionState, parts: &[&Ident]) -> Result<Lookup> {
    let options = &state.config_options().catalog;
    let (catalog, schema, table) = match parts {
        [table] => (None, None, *table),
        [schema, table] => (None, Some(*schema), *table),
        [catalog, schema, table] => (Some(*catalog), Some(*schema), *table),
        _ => return Ok(Lookup::Missing),
    };
    let (catalog, catalog_exact) = match catalog {
        None => (options.default_catalog.clone(), true),
        Some(ident) => match best_match(ident, &state.catalog_list().catalog_names()) {
            Match::Exact(name) => (name, true),
            Match::Folded(name) => (name, false),
            Match::Ambiguous(names) => return Ok(Lookup::Ambiguous(names)),
            Match::None => return Ok(Lookup::Missing),
        },
    };
    let Some(schema) = schema else {
        let default = options.default_schema.clone();
        let in_default = in_schema(state, &catalog, &default, table).await?;
        if !matches!(in_default, Lookup::Missing) || default == FALLBACK_SCHEMA {
            return Ok(trim(in_default, 1));
        }
        return Ok(trim(
            in_schema(state, &catalog, FALLBACK_SCHEMA, table).await?,
            2,
        ));
    };
    let Some(provider) = state.catalog_list().catalog(&catalog) else {
        return Ok(Lookup::Missing);
    };
    let mut schemas = provider.schema_names();
    if state.config().information_schema() {
        schemas.push("information_schema".to_owned());
    }
    let (schema, schema_exact) = match best_match(schema, &schemas) {
        Match::Exact(name) => (name, true),
        Match::Folded(name) => (name, false),
        Match::Ambiguous(names) => return Ok(Lookup::Ambiguous(names)),
        Match::None => return Ok(Lookup::Missing),
    };
    let mut found = in_schema(state, &catalog, &schema, table).await?;
    if let Lookup::Table(found) = &mut found {
        found.exact &= catalog_exact && schema_exact;
    }
    Ok(trim(found, parts.len()))
}

async fn in_schema(
    state: &SessionState,
    catalog: &str,
    schema: &str,
    table: &Ident,
) -> Result<Lookup> {
    let Ok(provider) = state.schema_for_ref(TableReference::full(catalog, schema, "")) else {
        return Ok(Lookup::Missing);
    };
    let (table, exact) = match best_match(table, &provider.table_names()) {
        Match::Exact(name) => (name, true),
        Match::Folded(name) => (name, false),
        Match::Ambiguous(names) => return Ok(Lookup::Ambiguous(names)),
        Match::None => return Ok(Lookup::Missing),
    };
    let Some(provider) = provider.table(&table).await? else {
        return Ok(Lookup::Missing);
    };
    let columns = provider
        .schema()
        .fields()
        .iter()
        .map(|field| field.name().clone())
        .collect();
    let full = vec![catalog.to_owned(), schema.to_owned(), table];
    Ok(Lookup::Table(Found {
        name: full.clone(),
        full,
        columns,
        exact,
    }))
}

/// Keeps the last `parts` parts of the name to write.
fn trim(mut lookup: Lookup, parts: usize) -> Lookup {
    if let Lookup::Table(found) = &mut lookup {
        let surplus = found.name.len().saturating_sub(parts);
        found.name.drain(..surplus);
    }
    lookup
}

/// The columns that a table factor gives by itself, found by planning it.
///
/// One that cannot be planned alone, such as a function of an outer column, has no known columns;
/// what is wrong with any other is reported when the whole statement is planned.
async fn columns_of(state: &SessionState, factor: &TableFactor) -> Option<Vec<String>> {
    let dialect = &state.config_options().sql_parser.dialect;
    let statement = state
        .sql_to_statement(&format!("SELECT * FROM {factor}"), dialect)
        .ok()?;
    let plan = state.statement_to_plan(statement).await.ok()?;
    Some(
        plan.schema()
            .fields()
            .iter()
            .map(|field| field.name().clone())
            .collect(),
    )
}

/// Gathers names of tables, real and not.
#[derive(Default)]
struct Collector {
    names: Vec<ObjectName>,
    factors: Vec<TableFactor>,
}

impl Collector {
    fn statement(&mut self, statement: &Statement) {
        // This visitor never breaks off.
        let _ = match statement {
            Statement::Statement(inner) => inner.visit(self),
            Statement::Explain(explain) => {
                self.statement(&explain.statement);
                return;
            }
            Statement::CopyTo(copy) => match &copy.source {
                CopyToSource::Relation(name) => {
                    self.names.push(name.clone());
                    return;
                }
                CopyToSource::Query(query) => query.visit(self),
            },
            Statement::CreateExternalTable(_) | Statement::Reset(_) => return,
        };
    }
}

impl Visitor for Collector {
    type Break = DataFusionError;

    fn pre_visit_relation(&mut self, relation: &ObjectName) -> ControlFlow<Self::Break> {
        self.names.push(relation.clone());
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<Self::Break> {
        let computed = match factor {
            TableFactor::Table { args, .. } => args.is_some(),
            TableFactor::Function { .. }
            | TableFactor::TableFunction { .. }
            | TableFactor::UNNEST { .. } => true,
            _ => false,
        };
        if computed {
            self.factors.push(factor.clone());
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_statement(&mut self, statement: &SqlStatement) -> ControlFlow<Self::Break> {
        match statement {
            SqlStatement::Drop { names, .. } => self.names.extend(names.iter().cloned()),
            SqlStatement::ShowCreate { obj_name, .. } => self.names.push(obj_name.clone()),
            _ => {}
        }
        ControlFlow::Continue(())
    }
}
