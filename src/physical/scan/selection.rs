//! Which rows a scan reads, and the chunks that hold them.

use std::ops::Range;
use std::sync::Arc;

use datafusion::error::Result;

use super::{ScanTable, TableRows};
use crate::format::{ChunkSlice, RowRanges};
use crate::storage::{FileAccess, PartOffsets};

/// The rows that conditions on ids leave over, as far as planning knows them.
#[derive(Debug, Clone, Default)]
pub enum Selection {
    /// All rows.
    #[default]
    All,
    /// The rows of these ids: row numbers of a vertex table, ids of the aligned end of an edge table,
    /// whose rows the offsets tell when the scan runs.
    Ids(Arc<RowRanges>),
}

impl Selection {
    /// The selected ids of a table.
    pub fn ids(&self, table: &ScanTable) -> RowRanges {
        match self {
            Self::All => RowRanges::all(table.ids()),
            Self::Ids(ids) => ids.as_ref().clone(),
        }
    }

    /// The rows of the table between the first and the last that can be selected.
    pub fn span(&self, table: &ScanTable) -> Range<u64> {
        let Self::Ids(ids) = self else {
            return 0..table.rows.total();
        };
        let Some(span) = ids.span() else {
            return 0..0;
        };
        match (&table.aligned, &table.rows) {
            (Some(aligned), TableRows::Edges(rows)) => {
                let size = aligned.part_size.max(1);
                let part =
                    |number: u64| usize::try_from(number).map_or(0..0, |part| rows.part(part));
                part(span.start / size).start..part((span.end - 1) / size).end
            }
            _ => span,
        }
    }

    /// About how many rows are selected: exact for vertices, by the average degree for edges.
    pub fn estimate(&self, table: &ScanTable) -> u64 {
        let total = table.rows.total();
        let Self::Ids(ids) = self else {
            return total;
        };
        match &table.aligned {
            None => ids.count(),
            Some(aligned) => {
                let share = u128::from(ids.count()) * u128::from(total);
                let rows = share.div_ceil(u128::from(aligned.vertices.max(1)));
                u64::try_from(rows).map_or(total, |rows| rows.min(total))
            }
        }
    }

    /// How many chunks of the first file set hold selected rows, at most, and how many there are.
    pub fn chunks(&self, table: &ScanTable) -> (u64, u64) {
        let count = |rows: &RowRanges| {
            let (mut chunks, mut last) = (0, None);
            for range in rows.ranges() {
                let mut left = range.clone();
                while let Some(slice) = table.rows.first_slice(&left) {
                    left.start += slice.rows.end - slice.rows.start;
                    if last != Some((slice.part, slice.chunk)) {
                        last = Some((slice.part, slice.chunk));
                        chunks += 1;
                    }
                }
            }
            chunks
        };
        let total = count(&RowRanges::all(table.rows.total()));
        let kept = match (self, &table.aligned, &table.rows) {
            (Self::All, ..) => total,
            (Self::Ids(ids), Some(aligned), TableRows::Edges(rows)) => {
                let size = aligned.part_size.max(1);
                let parts = ids
                    .ranges()
                    .iter()
                    .flat_map(|ids| ids.start / size..=(ids.end - 1) / size);
                let rows = parts.filter_map(|part| Some(rows.part(usize::try_from(part).ok()?)));
                count(&RowRanges::from_unsorted(rows.collect()))
            }
            (Self::Ids(ids), ..) => count(ids),
        };
        (kept, total)
    }
}

/// Selected rows of one chunk.
#[derive(Debug, Clone)]
pub(super) struct Piece {
    /// The chunk, and the rows of it from the first to behind the last selected.
    pub slice: ChunkSlice,
    /// The selected rows, counted inside the chunk.
    pub rows: RowRanges,
    /// Number in the table of the chunk's first row.
    pub base: u64,
    /// The offsets by which the rows were found, if they were.
    pub lookup: Option<Lookup>,
}

/// The offsets of a part of an edge table.
#[derive(Debug, Clone)]
pub(super) struct Lookup {
    pub offsets: Arc<PartOffsets>,
    /// Number in the table of the part's first row.
    pub first_row: u64,
    /// Id of the part's first vertex.
    pub first_id: u64,
}

/// Gives the selected rows of a range of rows, chunk by chunk. The rows of the ids of an ordered
/// edge table are looked up part by part, when they are reached.
#[derive(Debug)]
pub(super) struct Pieces {
    table: Arc<ScanTable>,
    /// Rows that are still to be looked at.
    left: Range<u64>,
    /// Rows found, and not given out.
    found: RowRanges,
    /// How they were found.
    lookup: Option<Lookup>,
}

impl Pieces {
    pub fn new(table: Arc<ScanTable>, rows: Range<u64>) -> Self {
        Self {
            table,
            left: rows,
            found: RowRanges::empty(),
            lookup: None,
        }
    }

    /// The next piece. `ids` are the ids that are wanted by now; they may have become fewer.
    pub async fn next(
        &mut self,
        access: &FileAccess,
        ids: Option<&RowRanges>,
    ) -> Result<Option<Piece>> {
        loop {
            if let Some(span) = self.found.span() {
                let Some(slice) = self.table.rows.first_slice(&span) else {
                    return Ok(None);
                };
                let base = span.start - slice.rows.start;
                let chunk = base..base + slice.chunk_rows;
                let rows = self.found.within(&chunk);
                self.found = self.found.within(&(chunk.end..span.end));
                let rows = match (ids, &self.table.aligned) {
                    // Row numbers are ids: ids that fell away since are left out.
                    (Some(ids), None) => rows.intersect(&ids.within(&chunk)),
                    _ => rows,
                };
                let Some(inside) = rows.span() else {
                    continue;
                };
                return Ok(Some(Piece {
                    slice: ChunkSlice {
                        rows: inside.start - base..inside.end - base,
                        ..slice
                    },
                    rows: rows.less(base),
                    base,
                    lookup: self.lookup.clone(),
                }));
            }
            if !self.look(access, ids).await? {
                return Ok(None);
            }
        }
    }

    /// Finds the selected rows of the next part, or of all vertices; false at the end.
    async fn look(&mut self, access: &FileAccess, ids: Option<&RowRanges>) -> Result<bool> {
        if self.left.is_empty() {
            return Ok(false);
        }
        let (Some(aligned), Some(ids), TableRows::Edges(rows)) =
            (&self.table.aligned, ids, &self.table.rows)
        else {
            let all = RowRanges::of(self.left.clone());
            self.left.start = self.left.end;
            self.found = match ids {
                Some(ids) => all.intersect(ids),
                None => all,
            };
            return Ok(true);
        };
        let Some(slice) = rows.first_slice(&self.left) else {
            return Ok(false);
        };
        let part_rows = usize::try_from(slice.part).map_or(0..0, |part| rows.part(part));
        let inside = self.left.start..self.left.end.min(part_rows.end);
        self.left.start = inside.end;
        let begin = slice.part.saturating_mul(aligned.part_size);
        let ids = ids.within(&(begin..begin.saturating_add(aligned.part_size)));
        if ids.is_empty() {
            return Ok(true);
        }
        let all_of_part = ids.count()
            >= aligned
                .part_size
                .min(aligned.vertices.saturating_sub(begin));
        self.lookup = None;
        self.found = match &aligned.offsets {
            Some(offsets) if !all_of_part => {
                let offsets = offsets.load(access, slice.part).await?;
                self.lookup = Some(Lookup {
                    offsets: Arc::clone(&offsets),
                    first_row: part_rows.start,
                    first_id: begin,
                });
                let windows = ids.ranges().iter().map(|ids| {
                    let rows = offsets.rows(&(ids.start - begin..ids.end - begin));
                    part_rows.start + rows.start..part_rows.start + rows.end
                });
                RowRanges::from_unsorted(windows.collect()).within(&inside)
            }
            _ => RowRanges::of(inside),
        };
        Ok(true)
    }
}
