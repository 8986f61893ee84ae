//! Backslash commands.

use std::sync::Arc;

use clap::ValueEnum;
use datafusion::arrow::array::{ArrayRef, StringArray, UInt64Array};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::catalog::TableProvider;
use datafusion::common::stats::Precision;
use datafusion::logical_expr::TableType;
use datafusion::physical_plan::{StatisticsArgs, StatisticsContext};
use datafusion::prelude::SessionContext;

use crate::cli::error::ShellError;
use crate::cli::output::Format;

/// What `\?` shows.
pub const HELP: &str = "\
\\d             list the tables of all schemas
\\d TABLE       list the columns of a table
\\format NAME   write results as table, csv, tsv, json or ndjson
\\timing        show how long statements take, or stop showing it
\\q             quit
\\?             this help
Statements end with a semicolon. Names match without regard to case unless quoted.
";

/// A backslash command.
#[derive(Debug, PartialEq, Eq)]
pub enum Command {
    /// `\d`
    ListTables,
    /// `\d TABLE`
    Describe(String),
    /// `\format NAME`
    Format(Format),
    /// `\?`
    Help,
    /// `\q`
    Quit,
    /// `\timing`
    Timing,
}

impl Command {
    /// Reads a command without its backslash.
    pub fn parse(text: &str) -> Result<Self, ShellError> {
        let (word, argument) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let argument = argument.trim().trim_end_matches(';').trim_end();
        let command = match word.trim_end_matches(';') {
            "d" if argument.is_empty() => Self::ListTables,
            "d" => return Ok(Self::Describe(argument.to_owned())),
            "format" => {
                return Format::from_str(argument, true)
                    .map(Self::Format)
                    .map_err(|_| {
                        let message = "\\format takes one of table, csv, tsv, json, ndjson";
                        ShellError::Usage(message.to_owned())
                    });
            }
            "timing" => Self::Timing,
            "q" | "quit" => Self::Quit,
            "?" | "h" | "help" => Self::Help,
            other => {
                let message = format!("unknown command \\{other}; \\? lists the commands");
                return Err(ShellError::Usage(message));
            }
        };
        if argument.is_empty() {
            Ok(command)
        } else {
            Err(ShellError::Usage(format!("\\{word} takes no argument")))
        }
    }
}

/// A table that a session can name.
pub struct Listed {
    /// Its schema.
    pub schema: String,
    /// Its name.
    pub name: String,
    /// The table.
    pub table: Arc<dyn TableProvider>,
}

/// All tables of the default catalog, sorted by name; a graph's listing stands before its tables.
pub async fn all_tables(context: &SessionContext) -> Result<Vec<Listed>, ShellError> {
    let catalog_name = context
        .state_ref()
        .read()
        .config_options()
        .catalog
        .default_catalog
        .clone();
    let mut tables = vec![];
    let Some(catalog) = context.catalog(&catalog_name) else {
        return Ok(tables);
    };
    let mut schemas = catalog.schema_names();
    schemas.sort_by_key(|name| (name != "public", name.clone()));
    for schema_name in schemas {
        let Some(schema) = catalog.schema(&schema_name) else {
            continue;
        };
        let mut names = schema.table_names();
        names.sort();
        for name in names {
            if let Some(table) = schema.table(&name).await? {
                tables.push(Listed {
                    schema: schema_name.clone(),
                    name,
                    table,
                });
            }
        }
    }
    Ok(tables)
}

/// Schema, name, kind and row count of every table.
pub async fn list_tables(context: &SessionContext) -> Result<RecordBatch, ShellError> {
    let tables = all_tables(context).await?;
    let schemas: Vec<&str> = tables.iter().map(|listed| listed.schema.as_str()).collect();
    let names: Vec<&str> = tables.iter().map(|listed| listed.name.as_str()).collect();
    let kinds: Vec<&str> = tables.iter().map(|listed| kind(listed, &schemas)).collect();
    let mut counts = Vec::with_capacity(tables.len());
    for listed in &tables {
        counts.push(rows(context, listed.table.as_ref()).await);
    }
    let columns: [(&str, ArrayRef); 4] = [
        ("schema", Arc::new(StringArray::from(schemas))),
        ("table", Arc::new(StringArray::from(names))),
        ("kind", Arc::new(StringArray::from(kinds))),
        ("rows", Arc::new(UInt64Array::from(counts))),
    ];
    Ok(RecordBatch::try_from_iter_with_nullable(
        columns
            .into_iter()
            .map(|(name, column)| (name, column, true)),
    )?)
}

/// What a table is, as far as its columns tell.
fn kind(listed: &Listed, schemas: &[&str]) -> &'static str {
    let columns = listed.table.schema();
    let has = |name| columns.column_with_name(name).is_some();
    if has("_src_id") && has("_dst_id") {
        "edge"
    } else if has("_vertex_id") {
        "vertex"
    } else if has("kind") && schemas.contains(&listed.name.as_str()) {
        "graph"
    } else if listed.table.table_type() == TableType::View {
        "view"
    } else {
        "table"
    }
}

/// How many rows a table has, if that is known without reading it.
async fn rows(context: &SessionContext, table: &dyn TableProvider) -> Option<u64> {
    let count = match table.statistics() {
        Some(statistics) => statistics.num_rows,
        // Planning a view means planning its query, whose rows are seldom known anyway.
        None if table.table_type() == TableType::View => return None,
        None => {
            let scan = table.scan(&context.state(), None, &[], None).await.ok()?;
            let statistics = StatisticsContext::new();
            statistics
                .compute(scan.as_ref(), &StatisticsArgs::new())
                .ok()?
                .num_rows
        }
    };
    match count {
        Precision::Exact(rows) => u64::try_from(rows).ok(),
        _ => None,
    }
}
