//! One run of the command, from arguments to exit code.

use std::ffi::OsString;
use std::fs;
use std::io::{Read, Write};
use std::path::Path;

use tokio::runtime::{Builder, Runtime};

use crate::cli::args::{Args, Source};
use crate::cli::error::ShellError;
use crate::cli::repl;
use crate::cli::session;
use crate::cli::shell::{Outcome, Shell};

const SUCCESS: u8 = 0;
const FAILURE: u8 = 1;

/// Which of the standard streams are terminals.
#[derive(Debug, Clone, Copy, Default)]
pub struct Terminals {
    /// Somebody types.
    pub stdin: bool,
    /// Somebody reads messages.
    pub stderr: bool,
}

/// Runs the command and returns its exit code: 0 if everything worked, 1 if a statement or an
/// archive failed, 2 if the command line was wrong.
///
/// `args` starts with the program's name. Where `stdin` is a terminal, there is a prompt without `-c` and
/// `-f`, and a script read from `stdin` otherwise; where `stderr` is one, long writes show their progress. Results
/// go to `stdout`, messages to `stderr`; a closed `stdout` ends the run without an error.
pub fn run<I, T>(
    args: I,
    stdin: &mut dyn Read,
    terminals: Terminals,
    stdout: &mut dyn Write,
    stderr: &mut dyn Write,
) -> u8
where
    I: IntoIterator<Item = T>,
    T: Into<OsString> + Clone,
{
    let args = match Args::parse(args) {
        Ok(args) => args,
        Err(error) => {
            let text = error.render();
            // Nobody is left to tell if this fails.
            let _ = if error.use_stderr() {
                write!(stderr, "{text}")
            } else {
                write!(stdout, "{text}")
            };
            return u8::try_from(error.exit_code()).unwrap_or(FAILURE);
        }
    };
    let code = match open(&args, terminals.stderr && !args.quiet) {
        Ok((runtime, mut shell)) => {
            let Terminals { stdin: typed, .. } = terminals;
            let code = work(&args, &runtime, &mut shell, stdin, typed, stdout, stderr);
            // A task stuck in a blocking call must not keep a finished shell alive.
            runtime.shutdown_background();
            code
        }
        Err(error) => Err((None, error)),
    };
    match code {
        Ok(()) => SUCCESS,
        Err((_, error)) if error.is_broken_pipe() => SUCCESS,
        Err((place, error)) => {
            let place = place.unwrap_or_else(|| "error".to_owned());
            let _ = writeln!(stderr, "{place}: {}", error.message());
            FAILURE
        }
    }
}

/// An error, and the script and line it happened in.
type Failed = (Option<String>, ShellError);

fn open(args: &Args, progress: bool) -> Result<(Runtime, Shell), ShellError> {
    let mut builder = Builder::new_multi_thread();
    builder.enable_all();
    if let Some(threads) = args.threads {
        builder.worker_threads(threads.get());
    }
    let runtime = builder
        .build()
        .map_err(|e| ShellError::Usage(format!("cannot start threads: {e}")))?;
    let context = runtime.block_on(session::open(args))?;
    let shell = Shell::new(context, args.format).with_progress(progress);
    Ok((runtime, shell))
}

fn work(
    args: &Args,
    runtime: &Runtime,
    shell: &mut Shell,
    stdin: &mut dyn Read,
    terminal: bool,
    stdout: &mut dyn Write,
    stderr: &mut dyn Write,
) -> Result<(), Failed> {
    if args.sources.is_empty() && terminal {
        return repl::run(runtime, shell, args.quiet, stdout, stderr).map_err(|e| (None, e));
    }
    let standard_input = [Source::File("-".into())];
    let sources = if args.sources.is_empty() {
        &standard_input
    } else {
        args.sources.as_slice()
    };
    for source in sources {
        let (name, text) = read(source, stdin).map_err(|error| (None, error))?;
        let script = shell
            .cut(&text)
            .map_err(|error| (Some(name.clone()), error))?;
        for piece in script.pieces {
            let outcome = runtime.block_on(shell.perform(piece.work, stdout, stderr));
            match outcome {
                Ok(Outcome::Quit) => return Ok(()),
                Ok(_) => {}
                Err(error) => return Err((Some(format!("{name}:{}", piece.line)), error)),
            }
        }
    }
    Ok(())
}

/// The name of a script for messages, and its text.
fn read(source: &Source, stdin: &mut dyn Read) -> Result<(String, String), ShellError> {
    match source {
        Source::Command(text) => Ok(("-c".to_owned(), text.clone())),
        Source::File(path) if path == Path::new("-") => {
            let mut text = String::new();
            stdin
                .read_to_string(&mut text)
                .map_err(|e| ShellError::Usage(format!("cannot read standard input: {e}")))?;
            Ok(("stdin".to_owned(), text))
        }
        Source::File(path) => {
            let name = path.display().to_string();
            let text = fs::read_to_string(path)
                .map_err(|e| ShellError::Usage(format!("cannot read '{name}': {e}")))?;
            Ok((name, text))
        }
    }
}
