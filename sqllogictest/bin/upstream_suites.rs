//! Writes `test_files/upstream/*.slt` from a file of reference values.
//!
//! `upstream-suites expected.json` reads what `make_expected.py` wrote about a checkout of
//! GraphAr's testing data and writes one suite for each graph.

use std::error::Error;
use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use datafusion_graphar_sqllogictest::{test_files_root, upstream};

/// Writes one suite for each graph of a file of reference values.
#[derive(Parser)]
struct Arguments {
    /// The reference values, as JSON.
    expected: PathBuf,
    /// Where the suites are written instead of test_files/upstream.
    #[arg(long)]
    output: Option<PathBuf>,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let text = fs::read_to_string(&arguments.expected)
        .map_err(|error| format!("cannot read {}: {error}", arguments.expected.display()))?;
    let graphs = upstream::parse(&text)?;
    let folder = arguments
        .output
        .clone()
        .unwrap_or_else(|| test_files_root().join("upstream"));
    fs::create_dir_all(&folder)?;
    let mut out = io::stdout().lock();
    for (path, graph) in &graphs {
        let file = folder.join(upstream::file_name(path));
        fs::write(&file, upstream::suite(path, graph)?)?;
        writeln!(out, "{}", file.display())?;
    }
    Ok(())
}
