//! The ends of the edges of one part.

use std::ops::Range;

use datafusion::arrow::array::AsArray;
use datafusion::arrow::datatypes::Int64Type;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::error::Result;

use super::Rule;
use super::chunks::Chunk;
use super::layouts::Checksum;
use super::look::{Look, Places};
use super::report::Report;
use crate::format::{AdjListType, AlignedBy, DST_COLUMN, SRC_COLUMN};

/// What is known of a part before its edges are looked at.
pub(super) struct Part {
    pub(super) layout: AdjListType,
    /// Its vertices of the aligned type.
    pub(super) vertices: Range<u64>,
    /// Numbers of sources and destinations, where known.
    pub(super) counts: (Option<u64>, Option<u64>),
}

/// Looks at the edges of a part, chunk after chunk.
pub(super) struct EdgeLook {
    part: Part,
    /// Edges of each vertex by the offsets, less those seen; `None` if there are no offsets to compare.
    pub(super) degrees: Option<Vec<u64>>,
    /// All edges seen.
    pub(super) sum: Checksum,
    /// Whether an edge was seen whose aligned end is no vertex of the part.
    pub(super) stray: bool,
    /// Whether an edge was seen with an end that cannot be.
    pub(super) unsound: bool,
    last: Option<u64>,
    source_null: Places,
    destination_null: Places,
    source: Places,
    destination: Places,
    outside: Places,
    order: Places,
}

impl EdgeLook {
    pub(super) fn new(part: Part, degrees: Option<Vec<u64>>) -> Self {
        Self {
            part,
            degrees,
            sum: Checksum::default(),
            stray: false,
            unsound: false,
            last: None,
            source_null: Places::default(),
            destination_null: Places::default(),
            source: Places::default(),
            destination: Places::default(),
            outside: Places::default(),
            order: Places::default(),
        }
    }

    fn edge(&mut self, row: u64, source: i64, destination: i64) {
        self.sum.add(source, destination);
        let known = |id: i64, count: Option<u64>| {
            let id = u64::try_from(id).ok();
            id.filter(|id| count.is_none_or(|count| *id < count))
        };
        let (sources, destinations) = self.part.counts;
        let ends = (known(source, sources), known(destination, destinations));
        if ends.0.is_none() {
            self.source.add(|| format!("{source} in row {row}"));
        }
        if ends.1.is_none() {
            self.destination
                .add(|| format!("{destination} in row {row}"));
        }
        self.unsound |= ends.0.is_none() || ends.1.is_none();
        let aligned = match self.part.layout.aligned_by() {
            AlignedBy::Source => ends.0,
            AlignedBy::Destination => ends.1,
        };
        let Some(aligned) = aligned else {
            self.stray = true;
            return;
        };
        if !self.part.vertices.contains(&aligned) {
            (self.stray, self.unsound) = (true, true);
            self.outside.add(|| format!("{aligned} in row {row}"));
            return;
        }
        if self.part.layout.is_ordered() {
            if let Some(last) = self.last
                && aligned < last
            {
                self.order
                    .add(|| format!("{aligned} after {last} in row {row}"));
            }
            self.last = Some(aligned.max(self.last.unwrap_or(0)));
        }
        let inside = usize::try_from(aligned - self.part.vertices.start).ok();
        if let (Some(degrees), Some(inside)) = (&mut self.degrees, inside)
            && let Some(degree) = degrees.get_mut(inside)
        {
            *degree = degree.wrapping_sub(1);
        }
    }
}

impl Look for EdgeLook {
    fn begin(&mut self, _: &Chunk) {
        for places in [
            &mut self.source_null,
            &mut self.destination_null,
            &mut self.source,
            &mut self.destination,
            &mut self.outside,
            &mut self.order,
        ] {
            *places = Places::default();
        }
    }

    fn batch(&mut self, row: u64, batch: &RecordBatch) -> Result<()> {
        let ids = |name: &str| {
            let column = batch.column_by_name(name)?;
            column.as_primitive_opt::<Int64Type>()
        };
        // One alone is not looked at: then the other cannot be read, and that has been reported.
        let (Some(sources), Some(destinations)) = (ids(SRC_COLUMN), ids(DST_COLUMN)) else {
            (self.stray, self.unsound) = (true, true);
            return Ok(());
        };
        for (row, ends) in (row..).zip(sources.iter().zip(destinations)) {
            if let (Some(source), Some(destination)) = ends {
                self.edge(row, source, destination);
                continue;
            }
            (self.stray, self.unsound) = (true, true);
            if ends.0.is_none() {
                self.source_null.add(|| format!("null in row {row}"));
            }
            if ends.1.is_none() {
                self.destination_null.add(|| format!("null in row {row}"));
            }
        }
        Ok(())
    }

    fn end(&mut self, chunk: &Chunk, report: &Report) {
        let file = &chunk.file;
        let (sources, destinations) = self.part.counts;
        let columns = [
            (&self.source_null, &self.source, SRC_COLUMN, sources),
            (
                &self.destination_null,
                &self.destination,
                DST_COLUMN,
                destinations,
            ),
        ];
        for (nulls, wrong, column, count) in columns {
            if let Some(found) = nulls.found() {
                let expected = format!("a value in each row of column '{column}'");
                report.add(file, Rule::NullValue, expected, found);
            }
            if let Some(found) = wrong.found() {
                let expected = match count {
                    Some(count) => format!("ids from 0 to below {count} in column '{column}'"),
                    None => format!("ids from 0 on in column '{column}'"),
                };
                report.add(file, Rule::EdgeEndpoint, expected, found);
            }
        }
        let aligned = match self.part.layout.aligned_by() {
            AlignedBy::Source => SRC_COLUMN,
            AlignedBy::Destination => DST_COLUMN,
        };
        if let Some(found) = self.outside.found() {
            let Range { start, end } = self.part.vertices;
            let expected = format!("ids from {start} to below {end} in column '{aligned}'");
            report.add(file, Rule::EdgePart, expected, found);
        }
        if let Some(found) = self.order.found() {
            let expected = format!("ascending ids in column '{aligned}'");
            report.add(file, Rule::EdgeOrder, expected, found);
        }
    }
}
