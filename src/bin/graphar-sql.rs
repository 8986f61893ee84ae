//! The `graphar-sql` command.

use std::io::{IsTerminal, stderr, stdin, stdout};
use std::process::ExitCode;

use datafusion_graphar::cli;

fn main() -> ExitCode {
    cli::show_warnings();
    let input = stdin();
    let terminals = cli::Terminals {
        stdin: input.is_terminal(),
        stderr: stderr().is_terminal(),
    };
    ExitCode::from(cli::run(
        std::env::args_os(),
        &mut input.lock(),
        terminals,
        &mut stdout().lock(),
        &mut stderr(),
    ))
}
