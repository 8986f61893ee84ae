//! Warnings of the library, on the standard error stream.

use std::io::{self, Write};
use std::sync::atomic::{AtomicUsize, Ordering};

use log::{LevelFilter, Log, Metadata, Record};

/// Warnings shown; an archive with a fault in every chunk has thousands.
const MOST: usize = 20;

/// Shows the warnings of this crate from now on. Does nothing if a logger is set already.
pub fn show() {
    static LOGGER: Warnings = Warnings {
        shown: AtomicUsize::new(0),
    };
    if log::set_logger(&LOGGER).is_ok() {
        log::set_max_level(LevelFilter::Warn);
    }
}

struct Warnings {
    shown: AtomicUsize,
}

impl Log for Warnings {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("datafusion_graphar")
    }

    fn log(&self, record: &Record<'_>) {
        if !self.enabled(record.metadata()) {
            return;
        }
        let text = match self.shown.fetch_add(1, Ordering::Relaxed) {
            shown if shown < MOST => format!("warning: {}\n", record.args()),
            MOST => "warning: there are more warnings, which are not shown\n".to_owned(),
            _ => return,
        };
        // Nobody is left to tell if this cannot be written.
        let _ = io::stderr().write_all(text.as_bytes());
    }

    fn flush(&self) {}
}
