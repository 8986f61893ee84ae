//! The `graphar-sql` command.

use std::io::{IsTerminal, stderr, stdin, stdout};
use std::process::ExitCode;

use datafusion_graphar::cli;

fn main() -> ExitCode {
    cli::show_warnings();
    let input = stdin();
    let terminal = input.is_terminal();
    ExitCode::from(cli::run(
        std::env::args_os(),
        &mut input.lock(),
        terminal,
        &mut stdout().lock(),
        &mut stderr(),
    ))
}
