//! Runs sqllogictest files; see `--help`.

use std::error::Error;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use datafusion_graphar_sqllogictest::{
    Outcome, RunOptions, TestFile, discover, run_file, test_files_root,
};

/// Runs sqllogictest files on DataFusion with GraphAr.
///
/// Files below test_files/upstream need the environment variable GAR_TEST_DATA, the path of a
/// checkout of GraphAr's testing data, and are skipped without it.
#[derive(Parser)]
struct Arguments {
    /// Files that end in .slt, and folders; all else is a filter: of the files found, those are
    /// run whose name contains one of the filters. Without a path, all suites are searched.
    what: Vec<String>,
    /// Rewrite the expected results to what comes out, then run again.
    #[arg(long)]
    complete: bool,
    /// Print the names of the files and run none.
    #[arg(long)]
    list: bool,
    /// A session option that holds from the first statement on; may be repeated. SLT_SET takes
    /// the same, separated by semicolons.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    settings: Vec<String>,
    /// Seconds after which a file has failed.
    #[arg(long, default_value_t = 120, value_name = "SECONDS")]
    time_limit: u64,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            // Nothing is left to do if standard error is closed.
            let _ = writeln!(io::stderr(), "error: {error}");
            ExitCode::from(2)
        }
    }
}

/// Whether no file failed.
fn run(arguments: &Arguments) -> Result<bool, Box<dyn Error>> {
    let mut options = RunOptions::from_env()?;
    options.complete = arguments.complete;
    options.time_limit = Duration::from_secs(arguments.time_limit);
    for setting in &arguments.settings {
        options.add_setting(setting)?;
    }
    let files = selected(&arguments.what)?;
    if files.is_empty() {
        return Err("no file matches".into());
    }
    let mut out = io::stdout().lock();
    if arguments.list {
        for file in &files {
            writeln!(out, "{}", file.name)?;
        }
        return Ok(true);
    }
    let (mut passed, mut skipped, mut failed) = (0, 0, Vec::new());
    for file in &files {
        write!(out, "{} ... ", file.name)?;
        out.flush()?;
        match run_file(file, &options) {
            Outcome::Passed(time) => {
                passed += 1;
                writeln!(out, "ok ({:.2} s)", time.as_secs_f64())?;
            }
            Outcome::Skipped(reason) => {
                skipped += 1;
                writeln!(out, "skipped: {reason}")?;
            }
            Outcome::Failed(message) => {
                failed.push(&file.name);
                writeln!(out, "FAILED\n{message}\n")?;
            }
        }
    }
    for name in &failed {
        writeln!(out, "failed: {name}")?;
    }
    writeln!(
        out,
        "{passed} passed, {} failed, {skipped} skipped",
        failed.len()
    )?;
    Ok(failed.is_empty())
}

fn selected(what: &[String]) -> Result<Vec<TestFile>, Box<dyn Error>> {
    let (mut paths, mut filters) = (Vec::new(), Vec::new());
    for argument in what {
        let path = PathBuf::from(argument);
        if argument.ends_with(".slt") || path.is_dir() {
            paths.push(path);
        } else {
            filters.push(argument.as_str());
        }
    }
    if paths.is_empty() {
        paths.push(test_files_root());
    }
    let mut files = discover(&paths)?;
    files.retain(|file| {
        filters.is_empty() || filters.iter().any(|filter| file.name.contains(filter))
    });
    Ok(files)
}
