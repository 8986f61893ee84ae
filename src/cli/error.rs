//! Why a statement or command did not finish.

use std::io;

use datafusion::arrow::error::ArrowError;
use datafusion::error::DataFusionError;

/// Why a statement or command did not finish.
#[derive(Debug)]
pub enum ShellError {
    /// The engine refused or failed.
    Query(DataFusionError),
    /// A backslash command or an input file was wrong.
    Usage(String),
    /// The result could not be written.
    Output(io::Error),
}

impl ShellError {
    /// Whether the reader of the output went away, as `head` does.
    pub fn is_broken_pipe(&self) -> bool {
        matches!(self, Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }

    /// One line for a human.
    pub fn message(&self) -> String {
        match self {
            // The archive's own errors say all that is to be said.
            Self::Query(DataFusionError::External(error)) => one_line(&error.to_string()),
            Self::Query(error) => one_line(&error.strip_backtrace()),
            Self::Usage(message) => one_line(message),
            Self::Output(error) => format!("cannot write the result: {error}"),
        }
    }
}

fn one_line(text: &str) -> String {
    let lines: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    lines.join(" ")
}

impl From<DataFusionError> for ShellError {
    fn from(error: DataFusionError) -> Self {
        Self::Query(error)
    }
}

impl From<ArrowError> for ShellError {
    fn from(error: ArrowError) -> Self {
        Self::Query(error.into())
    }
}

impl From<io::Error> for ShellError {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}
