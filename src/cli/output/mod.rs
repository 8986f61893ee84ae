//! Results as text: tables for people, CSV, TSV and JSON for programs.
//!
//! Every writer takes one batch at a time and holds a bounded number of rows.

mod delimited;
mod json;
mod table;

use std::io::Write;

use clap::ValueEnum;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::arrow::util::display::FormatOptions;
use datafusion::common::format::DEFAULT_FORMAT_OPTIONS;

use crate::cli::error::ShellError;
use crate::cli::output::delimited::Delimited;
use crate::cli::output::json::Json;
use crate::cli::output::table::Table;

/// How results are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Boxes for people
    Table,
    /// Comma-separated values with a header line
    Csv,
    /// Tab-separated values with a header line
    Tsv,
    /// One JSON array of objects
    Json,
    /// One JSON object per line
    Ndjson,
}

/// Writes the batches of one result.
pub trait ResultWriter {
    /// Writes the rows of one batch, and before the first one what stands above them.
    fn batch(&mut self, out: &mut dyn Write, batch: &RecordBatch) -> Result<(), ShellError>;

    /// Writes what stands below the rows; called only if no batch failed.
    fn finish(&mut self, out: &mut dyn Write) -> Result<(), ShellError>;
}

impl Format {
    /// A writer for a result with these columns.
    pub fn writer(self, schema: &SchemaRef) -> Box<dyn ResultWriter> {
        match self {
            Self::Table => Box::new(Table::new(schema)),
            Self::Csv => Box::new(Delimited::new(schema, ',')),
            Self::Tsv => Box::new(Delimited::new(schema, '\t')),
            Self::Json => Box::new(Json::array(schema)),
            Self::Ndjson => Box::new(Json::lines(schema)),
        }
    }
}

/// ISO dates and times, and an error text in the cell never: errors are returned.
fn cell_options() -> FormatOptions<'static> {
    DEFAULT_FORMAT_OPTIONS.with_display_error(false)
}
