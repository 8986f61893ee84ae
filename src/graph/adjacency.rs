//! Neighbours of single vertices, straight from the files.

use std::ops::Range;
use std::sync::Arc;

use datafusion::arrow::array::{Array, AsArray, Int64Array, ListArray};
use datafusion::arrow::buffer::{OffsetBuffer, ScalarBuffer};
use datafusion::arrow::compute::concat;
use datafusion::arrow::datatypes::{DataType, Field, Int64Type};
use futures::TryStreamExt;
use object_store::path::Path;

use super::Direction;
use crate::error::{GraphArError, Result};
use crate::format::{AlignedBy, ChunkSlice, DST_COLUMN, FileType, RowRanges, SRC_COLUMN};
use crate::storage::payload::{
    ChunkColumn, ChunkRequest, ColumnSource, IdColumn, ParquetFile, open_chunk,
};
use crate::storage::{FileAccess, OffsetFiles, PartOffsets, ReadMeter, adj_list_schema};

/// Rows decoded at once where a chunk cannot be read by page.
const BATCH_ROWS: usize = 8192;

/// The neighbours of the vertices of one type along one edge triplet and direction, looked up in an
/// ordered layout.
///
/// A look-up reads the offsets of the vertex's part, which say in which rows of the part its edges
/// are, and then the pages of the neighbour column that hold these rows. Both stay in the
/// session's cache, so a look-up whose page is there copies nothing and does no I/O: O(1). Without
/// them it costs one offset chunk (its vertices once for a part), and one page for most
/// vertices: two where the edges cross a border of pages, and as many as a hub fills.
///
/// A handle sees the files as they were when it first used them. All calls can be cancelled by dropping
/// them, and run at the same time. Files other than Parquet are read from their beginning to
/// the rows wanted.
///
/// ```
/// # use datafusion::prelude::SessionContext;
/// # use datafusion_graphar::graph::Direction;
/// # use datafusion_graphar::session::SessionContextExt;
/// # async fn example() -> datafusion::error::Result<()> {
/// let ctx = SessionContext::new();
/// let graph = ctx.register_graph("g", "social/social.graph.yml").await?;
/// let knows = graph.adjacency("person_knows_person", Direction::Out)?;
/// let friends = knows.neighbors(42).await?;
/// assert_eq!(friends.values().len() as u64, knows.degree(42).await?);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Adjacency {
    pub(super) offsets: Arc<OffsetFiles>,
    direction: Direction,
    pub(super) access: FileAccess,
}

impl Adjacency {
    /// Look-ups in the ordered layout that `offsets` belong to.
    pub fn new(offsets: OffsetFiles, access: FileAccess) -> Self {
        let direction = match offsets.aligned_by {
            AlignedBy::Source => Direction::Out,
            AlignedBy::Destination => Direction::In,
        };
        Self {
            offsets: Arc::new(offsets),
            direction,
            access,
        }
    }

    /// The direction in which edges are followed.
    pub fn direction(&self) -> Direction {
        self.direction
    }

    /// Number of vertices that can be looked up; their ids begin at 0.
    pub fn vertices(&self) -> u64 {
        self.offsets.vertices
    }

    /// What the look-ups of this handle and its clones have read.
    pub fn meter(&self) -> &ReadMeter {
        &self.access.meter
    }

    /// The rows of the layout's table that hold the edges of a vertex.
    ///
    /// # Errors
    /// If there is no such vertex, or the offsets cannot be read.
    pub async fn edge_range(&self, vertex: u64) -> Result<Range<u64>> {
        let (part, inside) = self.place(vertex)?;
        let offsets = match self.offsets.resident(&self.access, part) {
            Some(offsets) => offsets,
            None => self.offsets.load(&self.access, part).await?,
        };
        let first = self.offsets.part_rows(part).start;
        let rows = offsets.rows(&(inside..inside + 1));
        Ok(first + rows.start..first + rows.end)
    }

    /// The number of edges of a vertex. See [`edge_range`](Self::edge_range).
    pub async fn degree(&self, vertex: u64) -> Result<u64> {
        let rows = self.edge_range(vertex).await?;
        Ok(rows.end - rows.start)
    }

    /// The neighbours of a vertex, one for each edge, in the order of the file.
    ///
    /// # Errors
    /// As [`edge_range`](Self::edge_range), or if an edge chunk cannot be read, or its statistics say
    /// that these are not edges of the vertex.
    pub async fn neighbors(&self, vertex: u64) -> Result<Int64Array> {
        if let Some(found) = self.in_known_part(vertex).await? {
            return Ok(found);
        }
        let rows = self.edge_range(vertex).await?;
        if rows.is_empty() {
            return Ok(none());
        }
        let found = self
            .read(&RowRanges::of(rows), i64::try_from(vertex).ok())
            .await?;
        self.keep(vertex).await?;
        Ok(found)
    }

    /// The rows of several vertices, in the order given. See [`edge_range`](Self::edge_range).
    pub async fn edge_ranges(&self, vertices: &[u64]) -> Result<Vec<Range<u64>>> {
        let mut ranges = Vec::with_capacity(vertices.len());
        for vertex in vertices {
            ranges.push(self.edge_range(*vertex).await?);
        }
        Ok(ranges)
    }

    /// The numbers of edges of several vertices, in the order given.
    ///
    /// # Errors
    /// As [`edge_range`](Self::edge_range).
    pub async fn degrees(&self, vertices: &[u64]) -> Result<Vec<u64>> {
        let ranges = self.edge_ranges(vertices).await?;
        Ok(ranges
            .into_iter()
            .map(|rows| rows.end - rows.start)
            .collect())
    }

    /// The neighbours of several vertices: a list for each, in the order given. Vertices may come in any
    /// order and more than once; each page is decoded once. Takes memory for the result
    /// and for each edge once more.
    ///
    /// # Errors
    /// As [`neighbors`](Self::neighbors), or if the result has more than 2^31 - 1 neighbours.
    pub async fn neighbors_of(&self, vertices: &[u64]) -> Result<ListArray> {
        let windows = self.edge_ranges(vertices).await?;
        let rows = RowRanges::from_unsorted(windows.clone());
        let read = self.read(&rows, None).await?;
        // Where the first row of each range stands in what was read.
        let mut starts = Vec::with_capacity(rows.ranges().len());
        let mut total = 0;
        for range in rows.ranges() {
            starts.push(total);
            total += range.end - range.start;
        }
        let total: u64 = windows.iter().map(|rows| rows.end - rows.start).sum();
        let too_many = || GraphArError::Unsupported {
            path: self.offsets.folder.to_string(),
            feature: format!("a result of {total} neighbours"),
            hint: ": look up fewer vertices at once".to_owned(),
        };
        if i32::try_from(total).is_err() {
            return Err(too_many());
        }
        let mut neighbors = Vec::with_capacity(usize::try_from(total).map_err(|_| too_many())?);
        for window in windows.iter().filter(|window| !window.is_empty()) {
            let range = rows
                .ranges()
                .partition_point(|range| range.end <= window.start);
            let at = starts[range] + window.start - rows.ranges()[range].start;
            // Inside an array that is in memory.
            let begin = usize::try_from(at).map_err(|_| too_many())?;
            let length = usize::try_from(window.end - window.start).map_err(|_| too_many())?;
            neighbors.extend_from_slice(&read.values()[begin..begin + length]);
        }
        let lengths = windows
            .iter()
            .map(|rows| usize::try_from(rows.end - rows.start));
        let lengths: Result<Vec<_>, _> = lengths.collect();
        let offsets = OffsetBuffer::from_lengths(lengths.map_err(|_| too_many())?);
        let field = Arc::new(Field::new_list_field(DataType::Int64, false));
        let neighbors = Arc::new(Int64Array::from(neighbors));
        ListArray::try_new(field, offsets, neighbors, None)
            .map_err(|e| GraphArError::payload(self.offsets.folder.as_ref(), e))
    }

    /// The part of a vertex, and its number inside.
    fn place(&self, vertex: u64) -> Result<(u64, u64)> {
        if vertex >= self.offsets.vertices {
            return Err(GraphArError::UnknownElement {
                kind: "vertex".to_owned(),
                name: vertex.to_string(),
                candidates: vec![format!("ids from 0 to below {}", self.offsets.vertices)],
            });
        }
        let size = self.offsets.part_size.max(1);
        Ok((vertex / size, vertex % size))
    }

    /// The neighbours of a vertex whose part is known, if they lie in one page of the first chunk: one look-up
    /// in the cache for the part and one for the page, which is decoded if it is not there.
    async fn in_known_part(&self, vertex: u64) -> Result<Option<Int64Array>> {
        let (part, inside) = self.place(vertex)?;
        let slice = first_chunk(part);
        let known: Option<Arc<Part>> = self.offsets.resident_column(&self.access, &slice);
        let Some(known) = known else {
            return Ok(None);
        };
        let rows = known.offsets.rows(&(inside..inside + 1));
        if rows.is_empty() {
            return Ok(Some(none()));
        }
        if rows.end > self.offsets.chunk_size {
            return Ok(None);
        }
        let columns = &known.columns;
        if let Some(found) = columns.neighbors.resident(&self.access, &rows) {
            return Ok(Some(found));
        }
        let path = || self.chunk_path(part, 0);
        if let Ok(vertex) = i64::try_from(vertex) {
            columns.check(vertex, &RowRanges::of(rows.clone()), path)?;
        }
        columns.neighbors.read_in_page(&self.access, &rows).await
    }

    /// Remembers what [`in_known_part`](Self::in_known_part) needs of a vertex's part.
    async fn keep(&self, vertex: u64) -> Result<()> {
        let (part, _) = self.place(vertex)?;
        let slice = first_chunk(part);
        let known = self.offsets.resident_column::<Part>(&self.access, &slice);
        let offsets = self.offsets.resident(&self.access, part);
        let rows = self.offsets.part_rows(part);
        let chunk = self.offsets.rows.first_slice(&rows);
        if known.is_some() || rows.is_empty() {
            return Ok(());
        }
        if let (Some(offsets), Some(chunk)) = (offsets, chunk)
            && let Some(columns) = self.columns(&chunk).await?
        {
            let bytes = offsets.bytes() + columns.neighbors.file_bytes();
            let known = Arc::new(Part { offsets, columns });
            self.offsets
                .keep_column(&self.access, &slice, &known, bytes);
        }
        Ok(())
    }

    /// The neighbours in these rows. `vertex` is the one whose edges they should be.
    async fn read(&self, rows: &RowRanges, vertex: Option<i64>) -> Result<Int64Array> {
        let mut pieces: Vec<Int64Array> = vec![];
        let mut left = rows.clone();
        while let Some(span) = left.span()
            && let Some(slice) = self.offsets.rows.first_slice(&span)
        {
            let base = span.start - slice.rows.start;
            let inside = left.within(&(base..base + slice.chunk_rows)).less(base);
            left = left.within(&(base + slice.chunk_rows..span.end));
            match self.columns(&slice).await? {
                Some(columns) => {
                    if let Some(vertex) = vertex {
                        let path = || self.chunk_path(slice.part, slice.chunk);
                        columns.check(vertex, &inside, path)?;
                    }
                    let mut found = columns.neighbors.read(&self.access, &inside);
                    while let Some(piece) = found.try_next().await? {
                        pieces.push(piece);
                    }
                }
                None => {
                    let request = self.request(&slice, self.column(true), &inside)?;
                    let mut found = open_chunk(self.offsets.file_type, request).await?;
                    while let Some(batch) = found.try_next().await? {
                        pieces.push(batch.column(0).as_primitive::<Int64Type>().clone());
                    }
                }
            }
        }
        if let [only] = pieces.as_slice() {
            return Ok(only.clone());
        }
        if pieces.is_empty() {
            return Ok(none());
        }
        let arrays: Vec<&dyn Array> = pieces.iter().map(|piece| piece as _).collect();
        let joined = concat(&arrays);
        let joined = joined.map_err(|e| GraphArError::payload(self.offsets.folder.as_ref(), e))?;
        Ok(joined.as_primitive::<Int64Type>().clone())
    }

    /// The id columns of a chunk, if it can be read by page.
    pub(super) async fn columns(&self, slice: &ChunkSlice) -> Result<Option<Arc<Columns>>> {
        if self.offsets.file_type != FileType::Parquet {
            return Ok(None);
        }
        if let Some(known) = self.offsets.resident_column(&self.access, slice) {
            return Ok(Some(known));
        }
        let all = RowRanges::all(slice.chunk_rows);
        let mut request = self.request(slice, self.column(true), &all)?;
        let opened = Some(ParquetFile::open(&request, true).await?);
        request.opened.clone_from(&opened);
        let Some(neighbors) = IdColumn::open(&request).await? else {
            return Ok(None);
        };
        let request = ChunkRequest {
            opened,
            ..self.request(slice, self.column(false), &all)?
        };
        let columns = Arc::new(Columns {
            aligned: IdColumn::open(&request).await?,
            neighbors,
        });
        let bytes = columns.neighbors.file_bytes();
        self.offsets
            .keep_column(&self.access, slice, &columns, bytes);
        Ok(Some(columns))
    }

    /// The column of the neighbours, or of the vertices that are looked up.
    pub(super) fn column(&self, neighbors: bool) -> &'static str {
        match (self.direction, neighbors) {
            (Direction::Out, true) | (Direction::In, false) => DST_COLUMN,
            (Direction::Out, false) | (Direction::In, true) => SRC_COLUMN,
        }
    }

    pub(super) fn chunk_path(&self, part: u64, chunk: u64) -> String {
        self.offsets.paths.adj_list_chunk(part, chunk)
    }

    fn path(&self, slice: &ChunkSlice) -> Result<Path> {
        let name = self.chunk_path(slice.part, slice.chunk);
        Path::parse(&name).map_err(|e| GraphArError::payload(name, e))
    }

    pub(super) fn request(
        &self,
        slice: &ChunkSlice,
        column: &str,
        rows: &RowRanges,
    ) -> Result<ChunkRequest> {
        let span = rows.span().unwrap_or(0..0);
        let gaps = rows.count() < span.end - span.start;
        Ok(ChunkRequest {
            access: self.access.clone(),
            path: self.path(slice)?,
            columns: vec![ChunkColumn {
                field: Arc::new(Field::new(column, DataType::Int64, false)),
                source: ColumnSource::Name(column.to_owned()),
            }],
            declared: adj_list_schema(),
            rows: span,
            picked: gaps.then(|| rows.clone()),
            opened: None,
            chunk_rows: slice.chunk_rows,
            batch_size: BATCH_ROWS,
        })
    }
}

/// The place in the cache for a part: chunks of a part are numbered from 0.
fn first_chunk(part: u64) -> ChunkSlice {
    ChunkSlice {
        part,
        chunk: u64::MAX,
        rows: 0..0,
        chunk_rows: 0,
    }
}

/// The offsets of a part, and the columns of its first chunk.
#[derive(Debug)]
struct Part {
    offsets: Arc<PartOffsets>,
    columns: Arc<Columns>,
}

/// The id columns of an edge chunk.
#[derive(Debug)]
pub(super) struct Columns {
    pub(super) neighbors: IdColumn,
    /// The ids by which the layout is ordered, if they can be read by page as well.
    pub(super) aligned: Option<IdColumn>,
}

impl Columns {
    /// Fails if the statistics of the aligned column say that these rows are not all of `vertex`.
    fn check(&self, vertex: i64, rows: &RowRanges, path: impl Fn() -> String) -> Result<()> {
        let Some(aligned) = &self.aligned else {
            return Ok(());
        };
        for (rows, least, most) in aligned.bounds(rows).unwrap_or_default() {
            if !(least..=most).contains(&vertex) {
                return Err(GraphArError::corrupt(
                    path(),
                    format!("rows {} to {}", rows.start, rows.end),
                    format!("edges of vertex {vertex}, by its offset chunk"),
                    format!("edges of vertices from {least} to {most}"),
                ));
            }
        }
        Ok(())
    }
}

fn none() -> Int64Array {
    Int64Array::new(ScalarBuffer::from(vec![]), None)
}
