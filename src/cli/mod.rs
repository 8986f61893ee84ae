//! The `graphar-sql` shell: arguments, scripts, the prompt, and results as text.

mod args;
mod command;
mod complete;
mod error;
mod history;
mod output;
mod progress;
mod query;
mod repl;
mod run;
mod script;
mod session;
mod shell;
mod warnings;

pub use run::{Terminals, run};
pub use warnings::show as show_warnings;

#[cfg(test)]
mod tests;
