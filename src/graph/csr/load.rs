//! From the files of an ordered layout to adjacency in memory.

use std::ops::Range;
use std::sync::Arc;

use datafusion::arrow::array::AsArray;
use datafusion::arrow::datatypes::Int64Type;
use datafusion::common::runtime::SpawnedTask;
use futures::{StreamExt, TryStreamExt, stream};

use super::{Csr, CsrPart, PackedIds};
use crate::error::{GraphArError, Result};
use crate::format::{ChunkSlice, RowRanges};
use crate::graph::Adjacency;
use crate::storage::payload::open_chunk;
use crate::storage::{FileAccess, PartOffsets};

/// Rows that one task decodes: small enough to keep all threads busy, large enough to be worth a task.
const TASK_ROWS: u64 = 1 << 18;

/// How a layout is loaded.
#[derive(Debug, Clone, Copy)]
pub struct CsrLoad {
    /// Number of vertices of the other end.
    pub others: u64,
    /// Tasks that decode at the same time.
    pub parallel: usize,
}

impl Adjacency {
    /// Bytes of memory that [`load_csr`](Self::load_csr) is going to need, but for what is being decoded.
    pub fn csr_bytes(&self, others: u64) -> u64 {
        let offsets = self.vertices().saturating_mul(size_of::<u32>() as u64);
        let width = super::id_width(others) as u64;
        self.offsets
            .rows
            .total()
            .saturating_mul(width)
            .saturating_add(offsets)
    }

    /// The neighbours of all vertices, in memory. Reads the offset chunks, and of the edges the column of the neighbours: O(V + E).
    /// Pages are not put into the session's cache, as no one will look for them there.
    ///
    /// # Errors
    /// If a file cannot be read, an edge belongs to another vertex than its offset chunk says, or a neighbour is not below
    /// `others`.
    pub async fn load_csr(&self, load: CsrLoad) -> Result<Csr> {
        let part_size = self.offsets.part_size.max(1);
        let count = self.vertices().div_ceil(part_size);
        let mut parts = Vec::with_capacity(usize::try_from(count).unwrap_or(0));
        for part in 0..count {
            let offsets = self.offsets.load(&self.access, part).await?;
            let rows = self.offsets.part_rows(part);
            let jobs = self.windows(rows.clone());
            let capacity = usize::try_from(rows.end - rows.start)
                .map_err(|e| GraphArError::payload(self.offsets.folder.as_ref(), e))?;
            let mut neighbors = PackedIds::with_capacity(load.others, capacity);
            let mut pieces = stream::iter(jobs)
                .map(|slice| {
                    let (this, offsets) = (self.clone(), Arc::clone(&offsets));
                    let task = SpawnedTask::spawn(async move {
                        this.packed(&slice, &offsets, load.others).await
                    });
                    async move {
                        let done = task.join_unwind().await;
                        done.map_err(|e| GraphArError::payload("adjacency", e))?
                    }
                })
                .buffered(load.parallel.max(1));
            while let Some(piece) = pieces.try_next().await? {
                neighbors.append(&piece);
            }
            drop(pieces);
            parts.push(CsrPart { offsets, neighbors });
        }
        Ok(Csr {
            direction: self.direction(),
            vertices: self.vertices(),
            others: load.others,
            part_size,
            parts,
        })
    }

    /// The rows of a part, cut where chunks end and into what a task decodes.
    pub(super) fn windows(&self, rows: Range<u64>) -> Vec<ChunkSlice> {
        let mut windows = vec![];
        let mut left = rows;
        while let Some(slice) = self.offsets.rows.first_slice(&left) {
            left.start += slice.rows.end - slice.rows.start;
            let mut inside = slice.rows.clone();
            while !inside.is_empty() {
                let end = inside.end.min(inside.start + TASK_ROWS);
                windows.push(ChunkSlice {
                    rows: inside.start..end,
                    ..slice
                });
                inside.start = end;
            }
        }
        windows
    }

    /// The neighbours in these rows of a chunk, whose edges belong to the vertices that the offsets say.
    pub(super) async fn packed(
        &self,
        slice: &ChunkSlice,
        offsets: &PartOffsets,
        others: u64,
    ) -> Result<PackedIds> {
        let rows = RowRanges::of(slice.rows.clone());
        let count = usize::try_from(slice.rows.end - slice.rows.start);
        let count = count.map_err(|e| GraphArError::payload(self.offsets.folder.as_ref(), e))?;
        let mut packed = PackedIds::with_capacity(others, count);
        let mut row = slice.rows.start;
        let add = |packed: &mut PackedIds, row: u64, ids: &[i64]| {
            packed.extend(ids, others).map_err(|place| {
                GraphArError::corrupt(
                    self.chunk_path(slice.part, slice.chunk),
                    format!(
                        "row {} of column '{}'",
                        row + place as u64,
                        self.column(true)
                    ),
                    format!("the internal id of one of {others} vertices"),
                    ids[place].to_string(),
                )
            })
        };
        // Pages that no look-up asked for are not put into the cache.
        let passing = FileAccess {
            cache: None,
            ..self.access.clone()
        };
        match self.columns(slice).await? {
            Some(columns) => {
                let known = columns.aligned.as_ref().and_then(|ids| ids.bounds(&rows));
                let known = known.filter(|pages| self.pages_agree(slice, pages, offsets));
                let mut pieces = columns.neighbors.read(&passing, &rows);
                while let Some(ids) = pieces.try_next().await? {
                    add(&mut packed, row, ids.values())?;
                    row += ids.len() as u64;
                }
                if known.is_none() {
                    self.check_aligned(slice, offsets).await?;
                }
            }
            None => {
                let request = self.request(slice, self.column(true), &rows)?;
                let mut pieces = open_chunk(self.offsets.file_type, request).await?;
                while let Some(batch) = pieces.try_next().await? {
                    let ids = batch.column(0).as_primitive::<Int64Type>();
                    add(&mut packed, row, ids.values())?;
                    row += ids.len() as u64;
                }
                self.check_aligned(slice, offsets).await?;
            }
        }
        Ok(packed)
    }

    /// Whether the bounds of the aligned ids of each page are those of its first and last row by the offsets. Between the two
    /// are only ids that ascend, as the layout is ordered.
    fn pages_agree(
        &self,
        slice: &ChunkSlice,
        pages: &[(Range<u64>, i64, i64)],
        offsets: &PartOffsets,
    ) -> bool {
        let vertex = |row: u64| i64::try_from(self.vertex_at(slice, row, offsets));
        pages.iter().all(|(rows, least, most)| {
            rows.is_empty()
                || (vertex(rows.start) == Ok(*least) && vertex(rows.end - 1) == Ok(*most))
        })
    }

    /// The vertex whose edge is in this row of a chunk, by the offsets.
    fn vertex_at(&self, slice: &ChunkSlice, row: u64, offsets: &PartOffsets) -> u64 {
        let before = slice.chunk.saturating_mul(self.offsets.chunk_size);
        let inside = offsets.vertex_at(before.saturating_add(row));
        slice
            .part
            .saturating_mul(self.offsets.part_size)
            .saturating_add(inside)
    }

    /// Fails unless each edge in these rows is of the vertex that the offsets say, by reading the ids.
    async fn check_aligned(&self, slice: &ChunkSlice, offsets: &PartOffsets) -> Result<()> {
        let rows = RowRanges::of(slice.rows.clone());
        let request = self.request(slice, self.column(false), &rows)?;
        let mut pieces = open_chunk(self.offsets.file_type, request).await?;
        let mut row = slice.rows.start;
        while let Some(batch) = pieces.try_next().await? {
            for id in batch.column(0).as_primitive::<Int64Type>().values() {
                let vertex = self.vertex_at(slice, row, offsets);
                if i64::try_from(vertex) != Ok(*id) {
                    return Err(GraphArError::corrupt(
                        self.chunk_path(slice.part, slice.chunk),
                        format!("row {row} of column '{}'", self.column(false)),
                        format!("{vertex}, by the offset chunk"),
                        id.to_string(),
                    ));
                }
                row += 1;
            }
        }
        Ok(())
    }
}
