//! The offsets of one part: for each of its vertices the rows of its edges.

use std::any::Any;
use std::ops::Range;
use std::sync::Arc;

use datafusion::arrow::array::AsArray;
use datafusion::arrow::datatypes::{DataType, Field, Int64Type, Schema};
use futures::TryStreamExt;
use object_store::path::Path;

use super::access::FileAccess;
use super::cache::{CacheName, FileIdentity};
use super::columns::adj_list_schema;
use super::payload::{ChunkColumn, ChunkRequest, ColumnSource, count_rows, open_chunk};
use crate::error::{GraphArError, Result};
use crate::format::{
    AdjListPaths, AlignedBy, ChunkSlice, DST_COLUMN, EdgeRows, FileType, OFFSET_COLUMN, SRC_COLUMN,
    chunk_rows, first_slice,
};

/// Rows decoded at once where offsets are made from the edges themselves.
const BATCH_ROWS: usize = 8192;

/// Where the edges of each vertex of a part begin, counted inside the part. At least one number.
#[derive(Debug, PartialEq, Eq)]
enum Starts {
    /// For parts of less than 2^32 edges.
    Narrow(Box<[u32]>),
    Wide(Box<[u64]>),
}

/// Which rows of a part belong to which of its vertices.
#[derive(Debug, PartialEq, Eq)]
pub struct PartOffsets {
    starts: Starts,
}

impl PartOffsets {
    /// Offsets of which the first is 0 and none is less than the one before: one more than vertices.
    pub fn new(starts: Vec<u64>) -> Self {
        let narrow: Result<Box<[u32]>, _> = starts.iter().map(|at| u32::try_from(*at)).collect();
        Self {
            starts: match narrow {
                Ok(narrow) => Starts::Narrow(narrow),
                Err(_) => Starts::Wide(starts.into()),
            },
        }
    }

    /// Number of vertices; those of a part without edges need not be counted.
    pub fn vertices(&self) -> u64 {
        let starts = match &self.starts {
            Starts::Narrow(starts) => starts.len(),
            Starts::Wide(starts) => starts.len(),
        };
        starts as u64 - 1
    }

    fn at(&self, index: usize) -> Option<u64> {
        match &self.starts {
            Starts::Narrow(starts) => starts.get(index).copied().map(u64::from),
            Starts::Wide(starts) => starts.get(index).copied(),
        }
    }

    /// The rows, counted inside the part, of the vertices `range`, counted inside the part as
    /// well; vertices beyond the last have none.
    pub fn rows(&self, range: &Range<u64>) -> Range<u64> {
        let last = self.vertices();
        let at = |vertex: u64| {
            let index = usize::try_from(vertex.min(last)).ok();
            index.and_then(|index| self.at(index)).unwrap_or(0)
        };
        at(range.start)..at(range.end)
    }

    /// Adds the numbers of edges of the first vertices of the part; those beyond the last have none.
    pub(crate) fn add_degrees(&self, vertices: u64, degrees: &mut Vec<u64>) {
        let count = usize::try_from(vertices).unwrap_or(usize::MAX);
        let end = degrees.len() + count;
        match &self.starts {
            Starts::Narrow(starts) => {
                let pairs = starts.windows(2).take(count);
                degrees.extend(pairs.map(|pair| u64::from(pair[1].saturating_sub(pair[0]))));
            }
            Starts::Wide(starts) => {
                let pairs = starts.windows(2).take(count);
                degrees.extend(pairs.map(|pair| pair[1].saturating_sub(pair[0])));
            }
        }
        degrees.resize(end, 0);
    }

    /// The vertex, counted inside the part, whose edges row `row` of the part is among.
    pub fn vertex_at(&self, row: u64) -> u64 {
        let before = match &self.starts {
            Starts::Narrow(starts) => starts.partition_point(|start| u64::from(*start) <= row),
            Starts::Wide(starts) => starts.partition_point(|start| *start <= row),
        };
        (before as u64).saturating_sub(1)
    }

    /// About how many bytes of memory this takes.
    pub fn bytes(&self) -> usize {
        match &self.starts {
            Starts::Narrow(starts) => size_of_val(starts.as_ref()),
            Starts::Wide(starts) => size_of_val(starts.as_ref()),
        }
    }
}

/// Offsets in the cache, and the state of the file that they came from.
struct Known {
    number: u64,
    identity: FileIdentity,
    offsets: Arc<PartOffsets>,
}

/// Where the offsets of an ordered layout are.
#[derive(Debug, Clone)]
pub struct OffsetFiles {
    /// Names of the layout's files.
    pub paths: AdjListPaths,
    /// The layout's folder, which names it in the cache.
    pub folder: Arc<str>,
    /// File type of offset and adj_list chunks.
    pub file_type: FileType,
    /// The end by which the layout is ordered.
    pub aligned_by: AlignedBy,
    /// Number of vertices of that end.
    pub vertices: u64,
    /// Vertices of a part.
    pub part_size: u64,
    /// Edges by part.
    pub rows: EdgeRows,
    /// Rows of an edge chunk.
    pub chunk_size: u64,
}

impl OffsetFiles {
    /// The column, in the files, of the end that orders the edges.
    pub fn aligned_column(&self) -> &'static str {
        match self.aligned_by {
            AlignedBy::Source => SRC_COLUMN,
            AlignedBy::Destination => DST_COLUMN,
        }
    }

    /// The offsets of a part, if the session remembers them. Their file is not compared with the store.
    pub fn resident(&self, access: &FileAccess, part: u64) -> Option<Arc<PartOffsets>> {
        let known: Arc<Known> = access.cache.as_ref()?.get(&self.name(access, part))?;
        access.meter.hit();
        Some(Arc::clone(&known.offsets))
    }

    /// The offsets of a part. Those of a file that is missing, too short, or at odds with the number
    /// of edges are made from the edges, which an ordered layout has sorted.
    ///
    /// # Errors
    /// If the file cannot be read, or the edges are not sorted where they are needed.
    pub async fn load(&self, access: &FileAccess, part: u64) -> Result<Arc<PartOffsets>> {
        let name = self.paths.offset_chunk(part);
        let path = Path::parse(&name).map_err(|e| GraphArError::payload(&name, e))?;
        if let Some(known) = self.remembered(access, part, &path).await? {
            return Ok(known);
        }
        let vertices = chunk_rows(self.vertices, self.part_size, part);
        let rows = self.part_rows(part);
        if rows.is_empty() {
            // No edges, whatever the number of vertices: nothing to allocate for.
            return Ok(Arc::new(PartOffsets::new(vec![0])));
        }
        // Before the file is read: a change in between is then found the next time.
        let identity = match access.head(&path).await {
            Ok(found) => Some(FileIdentity::from(&found)),
            Err(GraphArError::MissingFile { .. }) => {
                log::warn!("{name} is missing; offsets are made from the edges");
                None
            }
            Err(error) => return Err(error),
        };
        if let Some(identity) = identity
            && let Some(stored) = self
                .stored(access, &path, vertices, rows.end - rows.start)
                .await?
        {
            let offsets = Arc::new(PartOffsets::new(stored));
            if let Some(cache) = &access.cache {
                let known = Known {
                    number: cache.file_number(),
                    identity,
                    offsets: Arc::clone(&offsets),
                };
                access.meter.first_use(known.number);
                cache.put(&self.name(access, part), &Arc::new(known), offsets.bytes());
            }
            return Ok(offsets);
        }
        // Not kept: no file says when these are no longer right.
        let made = self.count_edges(access, part, vertices).await?;
        Ok(Arc::new(PartOffsets::new(made)))
    }

    /// From the cache, if the store still has the same state of the file.
    async fn remembered(
        &self,
        access: &FileAccess,
        part: u64,
        path: &Path,
    ) -> Result<Option<Arc<PartOffsets>>> {
        let Some(cache) = &access.cache else {
            return Ok(None);
        };
        let name = self.name(access, part);
        let Some(known) = cache.get::<Known>(&name) else {
            return Ok(None);
        };
        if access.validate
            && access.meter.first_use(known.number)
            && !access.is_current(path, &known.identity).await?
        {
            cache.remove(&name);
            return Ok(None);
        }
        access.meter.hit();
        Ok(Some(Arc::clone(&known.offsets)))
    }

    /// What is remembered of an edge chunk, whatever its type.
    pub(crate) fn resident_column<T: Any + Send + Sync>(
        &self,
        access: &FileAccess,
        slice: &ChunkSlice,
    ) -> Option<Arc<T>> {
        access.cache.as_ref()?.get(&access.handle.chunk_name(slice))
    }

    /// Remembers something of an edge chunk.
    pub(crate) fn keep_column<T: Any + Send + Sync>(
        &self,
        access: &FileAccess,
        slice: &ChunkSlice,
        value: &Arc<T>,
        bytes: usize,
    ) {
        if let Some(cache) = &access.cache {
            let name = access.handle.chunk_name(slice);
            cache.put(&name, value, bytes);
            access.handle.keeps(name);
        }
    }

    /// What is remembered of the layout as a whole.
    pub(crate) fn resident_layout<T: Any + Send + Sync>(
        &self,
        access: &FileAccess,
    ) -> Option<Arc<T>> {
        access.cache.as_ref()?.get(&self.layout_name(access))
    }

    /// Remembers something of the layout as a whole.
    pub(crate) fn keep_layout<T: Any + Send + Sync>(
        &self,
        access: &FileAccess,
        value: &Arc<T>,
        bytes: usize,
    ) {
        if let Some(cache) = &access.cache {
            cache.put(&self.layout_name(access), value, bytes);
        }
    }

    /// Forgets what is remembered of the layout as a whole.
    pub(crate) fn forget_layout(&self, access: &FileAccess) {
        if let Some(cache) = &access.cache {
            cache.remove(&self.layout_name(access));
        }
    }

    fn layout_name(&self, access: &FileAccess) -> CacheName {
        CacheName::Csr(Arc::clone(&access.store_url), Arc::clone(&self.folder))
    }

    /// The rows of a part in the table.
    pub fn part_rows(&self, part: u64) -> Range<u64> {
        usize::try_from(part).map_or(0..0, |part| self.rows.part(part))
    }

    fn name(&self, access: &FileAccess, part: u64) -> CacheName {
        CacheName::Offsets(
            Arc::clone(&access.store_url),
            Arc::clone(&self.folder),
            part,
        )
    }

    /// The file's offsets of the vertices that there are; `None` if they cannot be right.
    async fn stored(
        &self,
        access: &FileAccess,
        path: &Path,
        vertices: u64,
        edges: u64,
    ) -> Result<Option<Vec<u64>>> {
        let name = path.as_ref();
        let count = count_rows(self.file_type, access, path).await?;
        if count <= vertices {
            log::warn!(
                "{name}: {count} offsets for {vertices} vertices; they are made from the edges"
            );
            return Ok(None);
        }
        let field = Arc::new(Field::new(OFFSET_COLUMN, DataType::Int64, false));
        let declared = Arc::new(Schema::new(vec![Arc::clone(&field)]));
        let request = ChunkRequest {
            access: access.clone(),
            path: path.clone(),
            columns: vec![ChunkColumn::named(field)],
            declared,
            rows: 0..count,
            picked: None,
            opened: None,
            chunk_rows: count,
            batch_size: BATCH_ROWS,
        };
        let mut batches = open_chunk(self.file_type, request).await?;
        let (mut starts, mut sound) = (vec![], true);
        let mut last = 0;
        while let Some(batch) = batches.try_next().await? {
            for value in batch.column(0).as_primitive::<Int64Type>().values() {
                // Behind the last vertex the chunk may be padded with the last value.
                let value = u64::try_from(*value).unwrap_or(u64::MAX);
                let first = !starts.is_empty() || value == 0;
                sound &= first && value >= last && value <= edges;
                last = value;
                if starts.len() as u64 <= vertices {
                    starts.push(value);
                }
            }
        }
        sound &= starts.last() == Some(&edges);
        if !sound {
            log::warn!("{name}: not the offsets of {edges} edges; they are made from the edges");
        }
        Ok(sound.then_some(starts))
    }

    /// Counts the edges of each vertex.
    async fn count_edges(&self, access: &FileAccess, part: u64, vertices: u64) -> Result<Vec<u64>> {
        let size = usize::try_from(vertices)
            .map_err(|e| GraphArError::payload(self.paths.offset_chunk(part), e))?;
        let mut starts: Vec<u64> = vec![];
        starts
            .try_reserve_exact(size.saturating_add(1))
            .map_err(|e| GraphArError::payload(self.paths.offset_chunk(part), e))?;
        starts.resize(size + 1, 0);
        let (base, mut last) = (part.saturating_mul(self.part_size), 0_u64);
        let rows = self.part_rows(part);
        let mut left = 0..rows.end - rows.start;
        while let Some(slice) = first_slice(rows.end - rows.start, self.chunk_size, &left) {
            left.start += slice.rows.end - slice.rows.start;
            let name = self.paths.adj_list_chunk(part, slice.chunk);
            let field = Arc::new(Field::new(self.aligned_column(), DataType::Int64, false));
            let request = ChunkRequest {
                access: access.clone(),
                path: Path::parse(&name).map_err(|e| GraphArError::payload(&name, e))?,
                columns: vec![ChunkColumn {
                    source: ColumnSource::Name(self.aligned_column().to_owned()),
                    field,
                }],
                declared: adj_list_schema(),
                rows: slice.rows.clone(),
                picked: None,
                opened: None,
                chunk_rows: slice.chunk_rows,
                batch_size: BATCH_ROWS,
            };
            let mut batches = open_chunk(self.file_type, request).await?;
            while let Some(batch) = batches.try_next().await? {
                for id in batch.column(0).as_primitive::<Int64Type>().values() {
                    let inside = u64::try_from(*id).ok().and_then(|id| id.checked_sub(base));
                    let slot = inside.filter(|inside| *inside >= last && *inside < vertices);
                    let Some(inside) = slot else {
                        let expected = format!(
                            "ids from {} to below {} in order",
                            base + last,
                            base + vertices
                        );
                        let column = self.aligned_column();
                        return Err(GraphArError::corrupt(
                            name,
                            column,
                            expected,
                            id.to_string(),
                        ));
                    };
                    last = inside;
                    // Less than `vertices`, for which there is a place.
                    starts[usize::try_from(inside).unwrap_or(0) + 1] += 1;
                }
            }
        }
        for index in 1..starts.len() {
            starts[index] += starts[index - 1];
        }
        Ok(starts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rows_of_vertices_are_between_their_offsets() {
        for offsets in [
            PartOffsets::new(vec![0, 2, 2, 5]),
            PartOffsets {
                starts: Starts::Wide(Box::from([0, 2, 2, 5])),
            },
        ] {
            assert_eq!(offsets.vertices(), 3);
            assert_eq!(offsets.rows(&(0..1)), 0..2);
            assert_eq!(offsets.rows(&(1..2)), 2..2);
            assert_eq!(offsets.rows(&(0..3)), 0..5);
            assert_eq!(offsets.rows(&(2..9)), 2..5);
            assert_eq!(offsets.rows(&(7..9)), 5..5);
            let vertices: Vec<u64> = (0..5).map(|row| offsets.vertex_at(row)).collect();
            assert_eq!(vertices, [0, 0, 2, 2, 2]);
        }
    }

    #[test]
    fn a_part_without_edges_has_none_for_any_vertex() {
        let offsets = PartOffsets::new(vec![0]);
        assert_eq!(offsets.rows(&(0..1)), 0..0);
        assert_eq!(offsets.rows(&(7..u64::MAX)), 0..0);
    }

    #[test]
    fn large_parts_have_wide_offsets() {
        let offsets = PartOffsets::new(vec![0, 1 << 33]);
        assert_eq!(offsets.rows(&(0..1)), 0..1 << 33);
        assert_eq!(offsets.bytes(), 16);
    }
}
