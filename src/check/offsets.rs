//! Offset chunks against the edges.

use std::sync::Arc;

use datafusion::arrow::array::AsArray;
use datafusion::arrow::datatypes::{DataType, Field, Int64Type, Schema};
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::memory_pool::MemoryReservation;
use futures::TryStreamExt;

use super::chunks::{Find, Series, nullable};
use super::{Context, Rule};
use crate::error::GraphArError;
use crate::format::{AdjListPaths, FileType, OFFSET_COLUMN};
use crate::storage::payload::{ChunkColumn, StoredColumn};
use crate::storage::{Location, exists};

/// Offsets that are sound in themselves.
pub(super) struct Offsets {
    file: Location,
    /// Number of edges of each vertex. Empty if the part has none at all.
    pub(super) degrees: Vec<u64>,
    /// Number of all edges.
    total: u64,
    _memory: MemoryReservation,
}

/// Reads the offset chunk of a part of so many vertices; a shallow check only looks at its number of rows. `None` if
/// there is nothing to compare with the edges.
pub(super) async fn read(
    context: &Context,
    paths: &AdjListPaths,
    file_type: FileType,
    (folder, part): (&Location, u64),
    vertices: u64,
) -> Result<Option<Offsets>> {
    let report = &context.report;
    let field = Field::new(OFFSET_COLUMN, DataType::Int64, false);
    let series = Series {
        folder,
        file_type,
        declared: Arc::new(Schema::new(vec![field.clone()])),
        find: Find::Name,
        rows: 0,
        chunk_size: 1,
        counted_in: String::new(),
        path: Box::new(|part| paths.offset_chunk(part)),
    };
    let file = series.file(part);
    let missing = |file: &Location| {
        let expected = format!("the offsets of the {vertices} vertices of part {part}");
        report.add(file, Rule::MissingFile, expected, "no such file");
    };
    if !context.is_deep() && matches!(file_type, FileType::Csv | FileType::Json) {
        match exists(&file).await {
            Ok(true) => {}
            Ok(false) => missing(&file),
            Err(error) => report.error(&file, &error),
        }
        return Ok(None);
    }
    let outline = match series.outline(&file).await {
        Ok(outline) => outline,
        Err(GraphArError::MissingFile { .. }) => {
            missing(&file);
            return Ok(None);
        }
        Err(error) => {
            report.error(&file, &error);
            return Ok(None);
        }
    };
    if outline.rows <= vertices {
        let least = vertices.saturating_add(1);
        let expected = format!("at least {least}, for the {vertices} vertices of part {part}");
        report.add(&file, Rule::OffsetCount, expected, outline.rows.to_string());
        return Ok(None);
    }
    if !context.is_deep() {
        return Ok(None);
    }
    let stored = outline
        .columns
        .iter()
        .flatten()
        .find(|c| c.name == OFFSET_COLUMN);
    match (stored, outline.columns.is_some()) {
        (Some(stored), _) if !stored.fits(&DataType::Int64) => {
            let expected = format!(
                "{} in column '{OFFSET_COLUMN}'",
                StoredColumn::name_of(&DataType::Int64)
            );
            report.add(&file, Rule::StoredType, expected, stored.type_name());
            return Ok(None);
        }
        (None, true) => {
            let names = outline.columns.iter().flatten().map(|c| c.name.as_str());
            let names: Vec<&str> = names.collect();
            let found = format!("the columns {}", names.join(", "));
            let expected = format!("the column '{OFFSET_COLUMN}'");
            report.add(&file, Rule::MissingColumn, expected, found);
            return Ok(None);
        }
        _ => {}
    }
    let columns = [ChunkColumn::named(nullable(&field))];
    let mut batches = match series.open(&file, &columns, outline.rows).await {
        Ok(batches) => batches,
        Err(error) => {
            report.error(&file, &error);
            return Ok(None);
        }
    };
    let mut taken = Taken::new(context, vertices)?;
    loop {
        match batches.try_next().await {
            Ok(Some(batch)) => {
                for value in batch.column(0).as_primitive::<Int64Type>() {
                    taken.next(value);
                }
                tokio::task::consume_budget().await;
            }
            Ok(None) => break,
            Err(error) => {
                report.error(&file, &error);
                return Ok(None);
            }
        }
    }
    if let Some((expected, found)) = taken.wrong {
        report.add(&file, Rule::Offsets, expected, found);
        return Ok(None);
    }
    Ok(Some(Offsets {
        file,
        degrees: taken.degrees,
        total: taken.total,
        _memory: taken.memory,
    }))
}

/// The values of an offset chunk, taken one after the other.
struct Taken {
    /// As many as the file has values for, so that a count that is absurd needs no memory.
    degrees: Vec<u64>,
    vertices: u64,
    row: u64,
    last: u64,
    total: u64,
    /// The first fault: what was expected, and what was found.
    wrong: Option<(String, String)>,
    memory: MemoryReservation,
}

impl Taken {
    fn new(context: &Context, vertices: u64) -> Result<Self> {
        let failed = |e: &dyn std::fmt::Display| DataFusionError::ResourcesExhausted(e.to_string());
        let size = usize::try_from(vertices).map_err(|e| failed(&e))?;
        let memory = context.reservation();
        memory.try_grow(size.saturating_mul(size_of::<u64>()))?;
        let mut degrees = vec![];
        degrees.try_reserve_exact(size).map_err(|e| failed(&e))?;
        Ok(Self {
            degrees,
            vertices,
            row: 0,
            last: 0,
            total: 0,
            wrong: None,
            memory,
        })
    }

    fn next(&mut self, value: Option<i64>) {
        let row = self.row;
        self.row += 1;
        if self.wrong.is_some() {
            return;
        }
        let number = value.and_then(|value| u64::try_from(value).ok());
        let shown = value.map_or("null".to_owned(), |value| value.to_string());
        let found = format!("{shown} in row {row}");
        match number {
            Some(0) if row == 0 => {}
            _ if row == 0 => self.wrong = Some(("0 in the first row".to_owned(), found)),
            Some(number) if number >= self.last => {
                if row <= self.vertices {
                    self.degrees.push(number - self.last);
                    self.total = number;
                } else if number != self.last {
                    // Behind the last vertex the chunk may be padded with the last value.
                    let expected = format!("{} behind the last vertex", self.last);
                    self.wrong = Some((expected, found));
                }
                self.last = number;
            }
            _ => {
                let expected = format!("ascending numbers, {} before", self.last);
                self.wrong = Some((expected, found));
            }
        }
    }
}

impl Offsets {
    /// Compares with the edges of the part, which `left` says how many of are missing of each vertex.
    pub(super) fn compare(&self, context: &Context, left: &[u64], edges: u64, first: u64) {
        let report = &context.report;
        let mut wrong = (first..).zip(left).filter(|(_, left)| **left != 0);
        if self.total != edges {
            let expected = format!("{edges} at the end, the number of edges");
            report.add(&self.file, Rule::Offsets, expected, self.total.to_string());
        } else if let Some((vertex, left)) = wrong.next() {
            let (by, word) = match left.cast_signed() {
                fewer @ ..0 => (fewer.unsigned_abs(), "fewer"),
                more => (more.unsigned_abs(), "more"),
            };
            let expected = format!("the number of edges that vertex {vertex} has");
            let others = match wrong.count() {
                0 => String::new(),
                1 => ", and 1 vertex more is wrong".to_owned(),
                others => format!(", and {others} vertices more are wrong"),
            };
            let found = format!("{by} {word}{others}");
            report.add(&self.file, Rule::Offsets, expected, found);
        }
    }
}
