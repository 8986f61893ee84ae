//! All suites as a test target: one test for each file below `test_files`.
//!
//! After `--` stand the arguments of a usual test target, and `--complete` and
//! `--set key=value` as in the binary `sqllogictests`.

use std::error::Error;
use std::io::{self, Write};
use std::process::ExitCode;

use datafusion_graphar_sqllogictest::{
    Outcome, RunOptions, TestFile, discover, run_file, test_files_root,
};
use libtest_mimic::{Arguments, Failed, Trial};

fn main() -> ExitCode {
    match run() {
        Ok(code) => code,
        Err(error) => {
            let _ = writeln!(io::stderr(), "error: {error}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<ExitCode, Box<dyn Error>> {
    let mut options = RunOptions::from_env()?;
    let mut usual = Vec::new();
    let mut arguments = std::env::args();
    while let Some(argument) = arguments.next() {
        if argument == "--complete" {
            options.complete = true;
        } else if argument == "--set" {
            options.add_setting(&arguments.next().unwrap_or_default())?;
        } else if let Some(setting) = argument.strip_prefix("--set=") {
            options.add_setting(setting)?;
        } else {
            usual.push(argument);
        }
    }
    let arguments = Arguments::from_iter(usual);
    let files = discover(&[test_files_root()])?;
    // A listing is read by other programs.
    if !arguments.list && options.gar_test_data.is_none() {
        writeln!(
            io::stdout(),
            "note: files below upstream/ are ignored, since GAR_TEST_DATA is not set"
        )?;
    }
    let trials = files
        .into_iter()
        .map(|file| trial(file, options.clone()))
        .collect();
    Ok(libtest_mimic::run(&arguments, trials).exit_code())
}

fn trial(file: TestFile, options: RunOptions) -> Trial {
    let ignored = options.skips(&file).is_some();
    Trial::test(file.name.clone(), move || match run_file(&file, &options) {
        Outcome::Passed(_) => Ok(()),
        Outcome::Skipped(reason) => Err(Failed::from(reason)),
        Outcome::Failed(message) => Err(Failed::from(message)),
    })
    .with_ignored_flag(ignored)
}
