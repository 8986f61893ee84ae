//! Running one file.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use sqllogictest::{
    MakeConnection, Normalizer, QueryExpect, Record, RecordOutput, Runner, default_validator,
    parse_file, strict_column_validator,
};

use crate::{GraphArColumn, GraphArDatabase, Places, SqlError, TestFile, switches};

const STACK_BYTES: usize = 16 << 20;
const WORKERS: usize = 4;

/// How files are run.
#[derive(Debug, Clone)]
pub struct RunOptions {
    /// Rewrite the expected results to what came out, then run the file again.
    pub complete: bool,
    /// Session options set before the first statement.
    pub settings: Vec<(String, String)>,
    /// A checkout of GraphAr's testing data.
    pub gar_test_data: Option<PathBuf>,
    /// A file that takes longer fails.
    pub time_limit: Duration,
}

/// A setting that is not `key=value`.
#[derive(Debug, thiserror::Error)]
#[error("expected a setting as key=value, found {setting}")]
pub struct SettingError {
    setting: String,
}

impl RunOptions {
    /// The options that the environment presets: `GAR_TEST_DATA`, and `SLT_SET` with settings
    /// as `key=value;key=value`.
    pub fn from_env() -> Result<Self, SettingError> {
        let mut options = Self {
            complete: false,
            settings: Vec::new(),
            gar_test_data: std::env::var_os("GAR_TEST_DATA")
                .filter(|data| !data.is_empty())
                .map(PathBuf::from),
            time_limit: Duration::from_secs(120),
        };
        let settings = std::env::var("SLT_SET").unwrap_or_default();
        for setting in settings
            .split(';')
            .filter(|setting| !setting.trim().is_empty())
        {
            options.add_setting(setting)?;
        }
        Ok(options)
    }

    /// Adds a setting written `key=value`.
    pub fn add_setting(&mut self, setting: &str) -> Result<(), SettingError> {
        match setting.split_once('=') {
            Some((key, value)) if !key.trim().is_empty() => {
                self.settings
                    .push((key.trim().to_owned(), value.trim().to_owned()));
                Ok(())
            }
            _ => Err(SettingError {
                setting: setting.to_owned(),
            }),
        }
    }

    /// The same with every switch of the pushdowns on or off, and partitions of single rows;
    /// settings that were given hold all the same.
    fn with_switches(&self, on: bool) -> Self {
        let mut settings: Vec<_> = switches(on)
            .into_iter()
            .map(|(name, value)| (format!("graphar.{name}"), value))
            .collect();
        settings.push(("graphar.min_partition_rows".to_owned(), "1".to_owned()));
        settings.extend(self.settings.iter().cloned());
        Self {
            settings,
            ..self.clone()
        }
    }

    /// Why the file cannot be run with these options, if so.
    pub fn skips(&self, file: &TestFile) -> Option<&'static str> {
        if !file.is_upstream() {
            None
        } else if self.gar_test_data.is_none() {
            Some("GAR_TEST_DATA is not set")
        } else if self.complete {
            Some("results below upstream/ are reference values and are not completed")
        } else {
            None
        }
    }
}

/// What became of a file.
#[derive(Debug)]
pub enum Outcome {
    /// All as expected, after this time.
    Passed(Duration),
    /// Not run, for this reason.
    Skipped(&'static str),
    /// The first thing that was not as expected.
    Failed(String),
}

/// Runs the file in a new session, with an empty scratch folder.
pub fn run_file(file: &TestFile, options: &RunOptions) -> Outcome {
    if let Some(reason) = options.skips(file) {
        return Outcome::Skipped(reason);
    }
    let start = Instant::now();
    let current = Arc::new(Mutex::new(String::new()));
    let (sender, receiver) = mpsc::channel();
    // A thread that never yields cannot be stopped from within its runtime. It is left behind,
    // to end with the process.
    let spawned = thread::Builder::new()
        .name(file.name.clone())
        .stack_size(STACK_BYTES)
        .spawn({
            let (file, options, current) = (file.clone(), options.clone(), Arc::clone(&current));
            move || {
                // Nobody listens any more if the time is over.
                let _ = sender
                    .send(run_here(&file, &options, &current).map_err(|error| error.to_string()));
            }
        });
    if let Err(error) = spawned {
        return Outcome::Failed(format!("cannot start a thread: {error}"));
    }
    let statement = || {
        current
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    };
    match receiver.recv_timeout(options.time_limit) {
        Ok(Ok(())) => Outcome::Passed(start.elapsed()),
        Ok(Err(message)) => Outcome::Failed(message),
        Err(RecvTimeoutError::Timeout) => {
            let seconds = options.time_limit.as_secs();
            Outcome::Failed(format!(
                "not finished after {seconds} s, at\n[SQL] {}",
                statement()
            ))
        }
        Err(RecvTimeoutError::Disconnected) => {
            Outcome::Failed(format!("panicked at\n[SQL] {}", statement()))
        }
    }
}

fn run_here(
    file: &TestFile,
    options: &RunOptions,
    current: &Arc<Mutex<String>>,
) -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(WORKERS)
        .thread_stack_size(STACK_BYTES)
        .enable_all()
        .build()?;
    if options.complete && has_records(&file.path)? {
        runtime.block_on(Box::pin(complete(file, options, current)))?;
    }
    if options.complete || !file.is_pushdown() {
        return runtime.block_on(Box::pin(check(file, options, current)));
    }
    for on in [true, false] {
        let result = runtime.block_on(Box::pin(check(file, &options.with_switches(on), current)));
        result.map_err(|error| {
            let state = if on { "on" } else { "off" };
            format!("with every switch {state}: {error}")
        })?;
    }
    Ok(())
}

async fn complete(
    file: &TestFile,
    options: &RunOptions,
    current: &Arc<Mutex<String>>,
) -> Result<(), Box<dyn Error>> {
    let mut runner = new_runner(file, options, current)?;
    let result = runner
        .update_test_file(&file.path, " ", validate, as_is, strict_column_validator)
        .await;
    runner.shutdown_async().await;
    result
}

async fn check(
    file: &TestFile,
    options: &RunOptions,
    current: &Arc<Mutex<String>>,
) -> Result<(), Box<dyn Error>> {
    let mut runner = new_runner(file, options, current)?;
    let mut labelled = BTreeMap::new();
    for record in parse_file::<GraphArColumn>(&file.path)? {
        if matches!(record, Record::Halt { .. }) {
            break;
        }
        let label = label(&record);
        let output = runner.run_async(record).await?;
        if let (Some((label, place)), RecordOutput::Query { rows, .. }) = (label, output) {
            let (first_place, first) = labelled
                .entry(label.clone())
                .or_insert_with(|| (place.clone(), rows.clone()));
            if *first != rows {
                return Err(format!(
                    "two queries with the label {label} give different rows:\n{} at {first_place}\n{} at {place}",
                    shown(first),
                    shown(&rows)
                )
                .into());
            }
        }
    }
    runner.shutdown_async().await;
    Ok(())
}

fn label(record: &Record<GraphArColumn>) -> Option<(String, String)> {
    match record {
        Record::Query {
            expected: QueryExpect::Results {
                label: Some(label), ..
            },
            loc,
            ..
        } => Some((label.clone(), loc.to_string())),
        _ => None,
    }
}

fn shown(rows: &[Vec<String>]) -> String {
    let mut text = format!("{} rows", rows.len());
    for row in rows.iter().take(10) {
        text.push_str("\n  ");
        text.push_str(&row.join(" "));
    }
    text
}

fn new_runner(
    file: &TestFile,
    options: &RunOptions,
    current: &Arc<Mutex<String>>,
) -> Result<
    Runner<GraphArDatabase, impl MakeConnection<Conn = GraphArDatabase> + use<>>,
    Box<dyn Error>,
> {
    if let Some(data) = options
        .gar_test_data
        .as_deref()
        .filter(|data| !data.is_dir())
    {
        return Err(format!("GAR_TEST_DATA is not a folder: {}", data.display()).into());
    }
    let scratch = file.scratch();
    empty_folder(&scratch)
        .map_err(|error| format!("cannot empty {}: {error}", scratch.display()))?;
    let places = Arc::new(Places::new(&scratch, options.gar_test_data.as_deref()));
    let (settings, current) = (options.settings.clone(), Arc::clone(current));
    let mut runner = Runner::new({
        let places = Arc::clone(&places);
        move || {
            let database =
                GraphArDatabase::try_new(Arc::clone(&places), &settings, Arc::clone(&current));
            async move { database.map_err(|error: SqlError| error) }
        }
    });
    for (name, folder) in places.variables() {
        // For `system` records, which do not pass through the session.
        runner.set_var(name.to_owned(), folder.to_owned());
    }
    runner.with_normalizer(as_is);
    runner.with_validator(validate);
    runner.with_column_validator(strict_column_validator);
    Ok(runner)
}

fn empty_folder(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    fs::create_dir_all(folder)
}

fn has_records(path: &Path) -> Result<bool, Box<dyn Error>> {
    Ok(!parse_file::<GraphArColumn>(path)?.is_empty())
}

/// Blanks count in a result, except at the end of a line, where editors remove them.
#[expect(clippy::ptr_arg, reason = "the signature that sqllogictest asks for")]
fn as_is(text: &String) -> String {
    text.trim_end().to_owned()
}

fn validate(normalizer: Normalizer, actual: &[Vec<String>], expected: &[String]) -> bool {
    if expected.iter().any(|line| line.contains("<slt:ignore>")) {
        return default_validator(normalizer, actual, expected);
    }
    let actual = actual.iter().map(|row| normalizer(&row.join(" ")));
    actual.eq(expected.iter().map(normalizer))
}
