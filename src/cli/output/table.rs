//! Results in boxes.

use std::io::Write;

use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::arrow::util::display::ArrayFormatter;

use crate::cli::error::ShellError;
use crate::cli::output::{ResultWriter, cell_options};

/// Rows that decide the column widths; longer cells further down stick out of their box.
const ROWS_MEASURED: usize = 1000;

/// A cell, line by line.
type Cell = Vec<String>;

/// Writes a result in boxes.
pub struct Table {
    header: Vec<Cell>,
    waiting: Vec<Vec<Cell>>,
    /// Known once the head has been written.
    widths: Option<Vec<usize>>,
}

impl Table {
    /// A table with these columns.
    pub fn new(schema: &SchemaRef) -> Self {
        let header = schema
            .fields()
            .iter()
            .map(|field| cell(field.name()))
            .collect();
        Self {
            header,
            waiting: vec![],
            widths: None,
        }
    }

    /// Writes the head and the rows that were held back, and settles the widths.
    fn settle(&mut self, out: &mut dyn Write) -> Result<Vec<usize>, ShellError> {
        if let Some(widths) = &self.widths {
            return Ok(widths.clone());
        }
        let waiting = std::mem::take(&mut self.waiting);
        let mut widths = vec![0; self.header.len()];
        for row in waiting.iter().chain([&self.header]) {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = cell
                    .iter()
                    .map(|line| width_of(line))
                    .fold(*width, usize::max);
            }
        }
        write_rule(out, &widths)?;
        write_row(out, &widths, &self.header)?;
        write_rule(out, &widths)?;
        for row in &waiting {
            write_row(out, &widths, row)?;
        }
        self.widths = Some(widths.clone());
        Ok(widths)
    }
}

impl ResultWriter for Table {
    fn batch(&mut self, out: &mut dyn Write, batch: &RecordBatch) -> Result<(), ShellError> {
        let options = cell_options();
        let columns = batch
            .columns()
            .iter()
            .map(|column| ArrayFormatter::try_new(column.as_ref(), &options))
            .collect::<Result<Vec<_>, _>>()?;
        for row in 0..batch.num_rows() {
            let cells = columns
                .iter()
                .map(|column| Ok(cell(&column.value(row).try_to_string()?)))
                .collect::<Result<Vec<Cell>, ShellError>>()?;
            if self.widths.is_none() && self.waiting.len() < ROWS_MEASURED {
                self.waiting.push(cells);
            } else {
                let widths = self.settle(out)?;
                write_row(out, &widths, &cells)?;
            }
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut dyn Write) -> Result<(), ShellError> {
        let widths = self.settle(out)?;
        write_rule(out, &widths)
    }
}

/// Cuts a text into lines a terminal can show: no tabs, no control characters.
fn cell(text: &str) -> Cell {
    let clean = |line: &str| line.replace('\t', "    ").replace(char::is_control, " ");
    let lines: Cell = text.lines().map(clean).collect();
    if lines.is_empty() {
        vec![String::new()]
    } else {
        lines
    }
}

fn write_rule(out: &mut dyn Write, widths: &[usize]) -> Result<(), ShellError> {
    let dashes: Vec<String> = widths.iter().map(|width| "-".repeat(width + 2)).collect();
    Ok(writeln!(out, "+{}+", dashes.join("+"))?)
}

fn write_row(out: &mut dyn Write, widths: &[usize], row: &[Cell]) -> Result<(), ShellError> {
    let height = row.iter().map(Vec::len).max().unwrap_or(1);
    for line in 0..height {
        for (width, cell) in widths.iter().zip(row) {
            let text = cell.get(line).map_or("", String::as_str);
            let padding = width.saturating_sub(width_of(text));
            write!(out, "| {text}{:padding$} ", "")?;
        }
        writeln!(out, "|")?;
    }
    Ok(())
}

/// Columns of a terminal that a text takes.
fn width_of(text: &str) -> usize {
    text.chars()
        .map(|c| match u32::from(c) {
            // Combining marks, joiners and variation selectors.
            0x0300..=0x036F | 0x200B..=0x200F | 0x20D0..=0x20FF | 0xFE00..=0xFE0F => 0,
            // East Asian wide forms and emoji.
            0x1100..=0x115F
            | 0x2E80..=0xA4CF
            | 0xAC00..=0xD7A3
            | 0xF900..=0xFAFF
            | 0xFE30..=0xFE6F
            | 0xFF00..=0xFF60
            | 0xFFE0..=0xFFE6
            | 0x1F300..=0x1F64F
            | 0x1F900..=0x1F9FF
            | 0x20000..=0x3FFFD => 2,
            _ => 1,
        })
        .sum()
}
