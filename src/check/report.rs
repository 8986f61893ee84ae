//! Where violations go.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::sync::{Mutex, PoisonError};

use futures::channel::mpsc::{UnboundedReceiver, UnboundedSender, unbounded};

use super::Rule;
use crate::error::GraphArError;

/// One contradiction. What is wrong in many rows of a file, for the same rule and column, is one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Violation {
    /// The file, or the folder where no single file is at fault.
    pub file: String,
    /// The rule it breaks.
    pub rule: Rule,
    /// What the format, the metadata, or another file asks for.
    pub expected: String,
    /// What is there, with the first place and the number of places.
    pub found: String,
}

/// Takes violations, each once: element types can share files.
pub(super) struct Report {
    sender: UnboundedSender<Violation>,
    known: Mutex<BTreeSet<Violation>>,
}

impl Report {
    /// A report, and what is reported to it.
    pub(super) fn new() -> (Self, UnboundedReceiver<Violation>) {
        let (sender, receiver) = unbounded();
        let known = Mutex::default();
        (Self { sender, known }, receiver)
    }

    /// Reports a violation.
    pub(super) fn add(
        &self,
        file: impl Display,
        rule: Rule,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) {
        let violation = Violation {
            file: file.to_string(),
            rule,
            expected: expected.into(),
            found: found.into(),
        };
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.insert(violation.clone()) {
            // Nobody listens once the stream was dropped, and then this ends, too.
            let _ = self.sender.unbounded_send(violation);
        }
    }

    /// Reports an error that was met at `file`.
    pub(super) fn error(&self, file: &dyn Display, error: &GraphArError) {
        match error {
            GraphArError::Metadata {
                path,
                element,
                expected,
                found,
            } => self.add(path, Rule::Metadata, of(expected, element), found),
            GraphArError::Invalid { problems, .. } => {
                for problem in problems {
                    self.error(file, problem);
                }
            }
            GraphArError::NoData { element, .. } => {
                let expected = format!("the files of {element}");
                self.add(file, Rule::NoData, expected, "no such file");
            }
            GraphArError::MissingFile { expected, .. } => {
                self.add(file, Rule::MissingFile, expected, "no such file");
            }
            GraphArError::CorruptFile {
                element,
                expected,
                found,
                ..
            } => {
                let rule = match element.as_str() {
                    "count" => Rule::CountFile,
                    column if column.starts_with("column '") => Rule::BadValue,
                    _ => Rule::DamagedFile,
                };
                self.add(file, rule, of(expected, element), found);
            }
            GraphArError::Unsupported { feature, hint, .. } => {
                let expected = format!("a file that can be read{hint}");
                self.add(file, Rule::UnsupportedFile, expected, feature);
            }
            GraphArError::Payload { source, .. } => {
                let expected = "a file that can be decoded";
                self.add(file, Rule::DamagedFile, expected, source.to_string());
            }
            GraphArError::Shared(error) => self.error(file, error),
            error => {
                let expected = "a file that can be read";
                self.add(file, Rule::DamagedFile, expected, error.to_string());
            }
        }
    }
}

fn of(expected: &str, element: &str) -> String {
    match element {
        "count" => expected.to_owned(),
        element => format!("{expected} ({element})"),
    }
}
