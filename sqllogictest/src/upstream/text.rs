//! The text of a suite.

use std::fmt::Write;

/// A suite being written. Records are separated by an empty line.
#[derive(Debug, Default)]
pub(super) struct Suite {
    text: String,
}

impl Suite {
    /// A comment of one or more lines.
    pub(super) fn comment(&mut self, comment: &str) {
        for line in comment.lines() {
            self.line(format!("# {line}").trim_end());
        }
        self.line("");
    }

    /// A heading.
    pub(super) fn heading(&mut self, heading: &str) {
        let rule = "#".repeat(heading.chars().count() + 4);
        for line in [&rule, &format!("# {heading} #"), &rule, ""] {
            self.line(line);
        }
    }

    /// A statement that succeeds.
    pub(super) fn statement(&mut self, sql: &str) {
        for line in ["statement ok", sql, ""] {
            self.line(line);
        }
    }

    /// A query that fails with a message that matches the expression.
    pub(super) fn query_error(&mut self, expression: &str, sql: &str) {
        for line in [format!("query error {expression}").as_str(), sql, ""] {
            self.line(line);
        }
    }

    /// A query and its rows.
    pub(super) fn query(&mut self, types: &str, sql: &str, rows: &[Vec<String>]) {
        for line in [format!("query {types}").as_str(), sql, "----"] {
            self.line(line);
        }
        for row in rows {
            self.line(&row.join(" "));
        }
        self.line("");
    }

    /// The text, which ends with one newline.
    pub(super) fn finish(self) -> String {
        let mut text = self.text.trim_end().to_owned();
        text.push('\n');
        text
    }

    fn line(&mut self, line: &str) {
        // Writing to a string does not fail.
        let _ = writeln!(self.text, "{line}");
    }
}

/// An identifier in quotes.
pub(super) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A regular expression that matches the text.
pub(super) fn escaped(text: &str) -> String {
    let mut expression = String::new();
    for character in text.chars() {
        if !(character.is_alphanumeric() || matches!(character, '/' | '_' | '-')) {
            expression.push('\\');
        }
        expression.push(character);
    }
    expression
}
