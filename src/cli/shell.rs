//! What a shell remembers between statements, and how it performs one.

use std::io::{BufWriter, Write};
use std::time::Instant;

use datafusion::execution::SendableRecordBatchStream;
use datafusion::prelude::SessionContext;
use datafusion::sql::sqlparser::tokenizer::TokenWithSpan;
use futures::StreamExt;

use crate::cli::command::{self, Command};
use crate::cli::error::ShellError;
use crate::cli::output::Format;
use crate::cli::progress::{self, Pace};
use crate::cli::query::{self, Started};
use crate::cli::script::{Script, Work};

/// A session and its display settings.
pub struct Shell {
    context: SessionContext,
    format: Format,
    timing: bool,
    /// Whether the standard error stream is shown to somebody.
    progress: bool,
}

/// What a piece of work came to.
#[derive(Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A result with this many rows was written.
    Rows(usize),
    /// There was no result to write.
    Done,
    /// The user wants to leave.
    Quit,
}

impl Shell {
    /// A shell on a session.
    pub fn new(context: SessionContext, format: Format) -> Self {
        Self {
            context,
            format,
            timing: false,
            progress: false,
        }
    }

    /// With lines on the standard error stream that tell how far a long write has come.
    pub fn with_progress(mut self, progress: bool) -> Self {
        self.progress = progress;
        self
    }

    /// The session.
    pub fn context(&self) -> &SessionContext {
        &self.context
    }

    /// How results are written now.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Cuts a text into pieces of work.
    pub fn cut(&self, text: &str) -> Result<Script, ShellError> {
        Ok(Script::cut(text, query::dialect(&self.context)?.as_ref()))
    }

    /// Runs a statement or command. Dropping the future stops it.
    pub async fn perform(
        &mut self,
        work: Work,
        out: &mut dyn Write,
        err: &mut dyn Write,
    ) -> Result<Outcome, ShellError> {
        match work {
            Work::Statement(tokens) => {
                let began = Instant::now();
                let outcome = self.query(tokens, self.format, out, err).await?;
                if self.timing {
                    // Not among the results: they may be going to a program.
                    let millis = began.elapsed().as_secs_f64() * 1000.0;
                    let _ = writeln!(err, "Time: {millis:.3} ms");
                }
                Ok(outcome)
            }
            Work::Command(text) => self.command(Command::parse(&text)?, out, err).await,
            Work::Malformed(message) => Err(ShellError::Usage(message)),
        }
    }

    async fn command(
        &mut self,
        command: Command,
        out: &mut dyn Write,
        err: &mut dyn Write,
    ) -> Result<Outcome, ShellError> {
        match command {
            Command::Quit => return Ok(Outcome::Quit),
            Command::Help => out.write_all(command::HELP.as_bytes())?,
            Command::Format(format) => self.format = format,
            Command::Timing => {
                self.timing = !self.timing;
                let state = if self.timing { "on" } else { "off" };
                let _ = writeln!(err, "Timing is {state}.");
            }
            Command::ListTables => {
                let tables = command::list_tables(&self.context).await?;
                let mut writer = self.format.writer(&tables.schema());
                writer.batch(out, &tables)?;
                writer.finish(out)?;
            }
            Command::Describe(table) => {
                for piece in self.cut(&format!("DESCRIBE {table}"))?.pieces {
                    if let Work::Statement(tokens) = piece.work {
                        self.query(tokens, self.format, out, err).await?;
                    }
                }
            }
        }
        out.flush()?;
        Ok(Outcome::Done)
    }

    async fn query(
        &self,
        tokens: Vec<TokenWithSpan>,
        format: Format,
        out: &mut dyn Write,
        err: &mut dyn Write,
    ) -> Result<Outcome, ShellError> {
        let Started { rows, writes } = query::start(&self.context, tokens).await?;
        let stream = match self.progress && !writes.is_empty() {
            true => progress::wait(rows, &writes, Pace::default(), err).await,
            false => rows,
        };
        // A line-buffered terminal or pipe would take a system call per row.
        let mut out = BufWriter::new(out);
        let outcome = write(stream, format, &mut out).await;
        // The rows before an error are results too.
        let flushed = out.flush();
        let outcome = outcome?;
        flushed?;
        Ok(outcome)
    }
}

async fn write(
    mut stream: SendableRecordBatchStream,
    format: Format,
    out: &mut dyn Write,
) -> Result<Outcome, ShellError> {
    let schema = stream.schema();
    let mut writer = format.writer(&schema);
    let mut rows = 0;
    while let Some(batch) = stream.next().await {
        let batch = batch?;
        if !schema.fields().is_empty() {
            writer.batch(out, &batch)?;
            out.flush()?;
            rows += batch.num_rows();
        }
    }
    if schema.fields().is_empty() {
        return Ok(Outcome::Done);
    }
    writer.finish(out)?;
    Ok(Outcome::Rows(rows))
}
