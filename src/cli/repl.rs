//! The prompt.

use std::io::{self, Write};

use datafusion::sql::sqlparser::dialect::GenericDialect;
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{CompletionType, Config, Context, Editor, Helper};
use tokio::runtime::Runtime;
use tokio::signal;

use crate::cli::complete::Names;
use crate::cli::error::ShellError;
use crate::cli::history;
use crate::cli::output::Format;
use crate::cli::script::Script;
use crate::cli::shell::{Outcome, Shell};

const PROMPT: &str = "graphar> ";

/// Reads statements from the terminal until the user leaves.
pub fn run(
    runtime: &Runtime,
    shell: &mut Shell,
    quiet: bool,
    stdout: &mut dyn Write,
    stderr: &mut dyn Write,
) -> Result<(), ShellError> {
    let config = Config::builder()
        .completion_type(CompletionType::List)
        .auto_add_history(false)
        .build();
    let mut editor: Editor<Prompt, FileHistory> =
        Editor::with_config(config).map_err(terminal_error)?;
    let history = history::file();
    if let Some(file) = &history {
        // The first run has none, and a broken one is no reason to refuse work.
        let _ = editor.load_history(file);
    }
    if !quiet {
        let version = env!("CARGO_PKG_VERSION");
        writeln!(
            stdout,
            "graphar-sql {version}; \\d lists the tables, \\? the commands"
        )?;
    }
    editor.set_helper(Some(Prompt {
        names: names(runtime, shell),
    }));
    loop {
        let text = match editor.readline(PROMPT) {
            Ok(text) => text,
            Err(ReadlineError::Interrupted) => continue,
            Err(ReadlineError::Eof) => return Ok(()),
            Err(error) => return Err(terminal_error(error)),
        };
        if text.trim().is_empty() {
            continue;
        }
        if editor.add_history_entry(text.trim()).unwrap_or(false)
            && let Some(file) = &history
        {
            let _ = editor.append_history(file);
        }
        match perform_all(runtime, shell, &text, quiet, stdout, stderr) {
            Ok(Outcome::Quit) => return Ok(()),
            Ok(_) => {}
            Err(error) if error.is_broken_pipe() => return Err(error),
            Err(error) => writeln!(stderr, "error: {}", error.message())?,
        }
        if let Some(helper) = editor.helper_mut() {
            helper.names = names(runtime, shell);
        }
    }
}

/// Performs what was typed, up to the first error or Ctrl-C.
fn perform_all(
    runtime: &Runtime,
    shell: &mut Shell,
    text: &str,
    quiet: bool,
    stdout: &mut dyn Write,
    stderr: &mut dyn Write,
) -> Result<Outcome, ShellError> {
    let mut last = Outcome::Done;
    for piece in shell.cut(text)?.pieces {
        let outcome = runtime.block_on(async {
            tokio::select! {
                biased;
                _ = signal::ctrl_c() => None,
                outcome = shell.perform(piece.work, stdout, stderr) => Some(outcome),
            }
        });
        last = match outcome {
            Some(outcome) => outcome?,
            None => return Err(ShellError::Usage("cancelled".to_owned())),
        };
        match last {
            Outcome::Quit => break,
            Outcome::Rows(rows) if !quiet && shell.format() == Format::Table => {
                let noun = if rows == 1 { "row" } else { "rows" };
                writeln!(stdout, "({rows} {noun})")?;
            }
            _ => {}
        }
    }
    Ok(last)
}

/// The names to complete; none if the catalog cannot be read, which statements will report.
fn names(runtime: &Runtime, shell: &Shell) -> Names {
    runtime
        .block_on(Names::of(shell.context()))
        .unwrap_or_default()
}

fn terminal_error(error: ReadlineError) -> ShellError {
    match error {
        ReadlineError::Io(error) => ShellError::Output(error),
        other => ShellError::Output(io::Error::other(other.to_string())),
    }
}

/// Tells the line editor when an input is complete, and what the tab key offers.
struct Prompt {
    names: Names,
}

impl Helper for Prompt {}
impl Highlighter for Prompt {}

impl Hinter for Prompt {
    type Hint = String;
}

impl Completer for Prompt {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        position: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<String>)> {
        Ok(self.names.complete(line, position))
    }
}

impl Validator for Prompt {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        let input = context.input();
        if Script::cut(input, &GenericDialect {}).complete {
            Ok(ValidationResult::Valid(None))
        } else {
            Ok(ValidationResult::Incomplete)
        }
    }
}
