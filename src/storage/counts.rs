//! Numbers of vertices and edges: from the count files, or from the chunks where those are missing.

use std::sync::Arc;

use futures::{StreamExt, TryStreamExt, stream};

use super::access::FileAccess;
use super::files::{exists, read_count};
use super::location::Location;
use super::payload::count_rows;
use crate::error::{GraphArError, Result};
use crate::format::{
    AdjListPaths, AdjacentList, EdgeInfo, EdgeRows, FileType, VertexInfo, VertexPaths, chunk_count,
};

/// Count files fetched at once for one layout.
const CONCURRENT_COUNTS: usize = 32;

/// Counts of one layout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EdgeCounts {
    /// Vertices on the aligned side.
    pub aligned: u64,
    /// Edges by part, and their chunks.
    pub rows: EdgeRows,
}

/// The number of vertices of a type.
///
/// # Errors
/// `NoData` if there is neither a count file nor a chunk; otherwise if the count is broken.
pub(super) async fn load_vertex_count(info: &VertexInfo, folder: &Location) -> Result<u64> {
    let paths = VertexPaths::new(folder.path());
    let file = at(folder, &paths.vertex_count());
    if let Some(count) = read_count(&file).await? {
        if let Some(group) = info.property_groups.first() {
            let chunk = |i| at(folder, &paths.property_chunk(group, i));
            check_last_chunk(group.file_type, chunk, count, info.chunk_size).await?;
        }
        return Ok(count);
    }
    let no_data = || GraphArError::NoData {
        element: format!("vertex type {}", info.vertex_type),
        path: file.to_string(),
    };
    let group = info.property_groups.first().ok_or_else(no_data)?;
    let chunk = |i| at(folder, &paths.property_chunk(group, i));
    match rows_of_chunks(group.file_type, chunk, info.chunk_size).await? {
        Some(rows) => Ok(rows),
        None => Err(no_data()),
    }
}

/// The numbers of edges of a layout, by part. `expected` is the number of vertices of the
/// aligned type, if known, which the layout's own count has to equal.
///
/// # Errors
/// `NoData` if there are neither count files nor chunks; otherwise if a count is broken.
pub(super) async fn load_edge_counts(
    info: &EdgeInfo,
    list: &AdjacentList,
    folder: &Location,
    expected: Option<u64>,
) -> Result<EdgeCounts> {
    let paths = AdjListPaths::new(folder.path(), list);
    let file = at(folder, &paths.vertex_count());
    let no_data = |path: &Location| GraphArError::NoData {
        element: format!("edge triplet {} ({})", info.key(), list.layout),
        path: path.to_string(),
    };
    let stored = read_count(&file).await?;
    let aligned = stored.or(expected).ok_or_else(|| no_data(&file))?;
    let parts = chunk_count(aligned, info.part_size(list.layout));
    // A stream, so that an absurd number of parts ends at the first file that is not there.
    let counts: Vec<u64> = stream::iter(0..parts)
        .map(|part| {
            let (paths, no_data, list_file) = (&paths, &no_data, &file);
            async move {
                let file = at(folder, &paths.edge_count(part));
                let chunk = |j| at(folder, &paths.adj_list_chunk(part, j));
                if let Some(count) = read_count(&file).await? {
                    check_beyond(list.file_type, chunk, count, info.chunk_size).await?;
                    return Ok(count);
                }
                rows_of_chunks(list.file_type, chunk, info.chunk_size)
                    .await?
                    .ok_or_else(|| match stored {
                        // Nothing of the layout is there: then name the first of its files.
                        None if part == 0 => no_data(list_file),
                        _ => no_data(&file),
                    })
            }
        })
        .buffered(CONCURRENT_COUNTS)
        .try_collect()
        .await?;
    if let (Some(stored), Some(expected)) = (stored, expected)
        && stored != expected
    {
        return Err(GraphArError::corrupt(
            file.to_string(),
            "count",
            format!("{expected}, the number of vertices of the aligned type"),
            stored.to_string(),
        ));
    }
    let rows = EdgeRows::try_new(&counts, info.chunk_size).ok_or_else(|| {
        GraphArError::corrupt(
            at(folder, &paths.edge_count(0)).to_string(),
            "sum over all parts",
            "at most 2^63 - 1 edges",
            "more",
        )
    })?;
    Ok(EdgeCounts { aligned, rows })
}

/// Checks a count of vertices against the chunk files as far as that takes no look inside them.
///
/// # Errors
/// If the last chunk is missing, or one follows it.
async fn check_last_chunk(
    file_type: FileType,
    chunk: impl Fn(u64) -> Location,
    count: u64,
    chunk_size: u64,
) -> Result<()> {
    if let Some(last) = chunk_count(count, chunk_size).checked_sub(1) {
        let file = chunk(last);
        if !exists(&file).await? {
            return Err(GraphArError::MissingFile {
                path: file.to_string(),
                expected: format!("the last of {count} rows by the count files"),
            });
        }
    }
    check_beyond(file_type, chunk, count, chunk_size).await
}

/// Checks that no chunk with rows follows a last one that is full. If the last is not full, its
/// number of rows is checked when it is read. Parts without edges are taken at their word.
async fn check_beyond(
    file_type: FileType,
    chunk: impl Fn(u64) -> Location,
    count: u64,
    chunk_size: u64,
) -> Result<()> {
    if count == 0 || !count.is_multiple_of(chunk_size.max(1)) {
        return Ok(());
    }
    let file = chunk(chunk_count(count, chunk_size));
    if !exists(&file).await? {
        return Ok(());
    }
    match count_rows(file_type, &access(&file), &file.object_path()?).await? {
        0 => Ok(()),
        rows => Err(GraphArError::corrupt(
            file.to_string(),
            "number of rows",
            format!("no rows beyond the {count} of the count files"),
            rows.to_string(),
        )),
    }
}

/// Adds up the rows of the chunks `0, 1, …` up to the first that is not there. `None` if there is
/// not even the first.
async fn rows_of_chunks(
    file_type: FileType,
    chunk: impl Fn(u64) -> Location,
    chunk_size: u64,
) -> Result<Option<u64>> {
    let mut total = 0_u64;
    for number in 0.. {
        let file = chunk(number);
        if !exists(&file).await? {
            return Ok((number > 0).then_some(total));
        }
        let path = file.object_path()?;
        let rows = count_rows(file_type, &access(&file), &path).await?;
        if total != number.saturating_mul(chunk_size) || rows > chunk_size {
            return Err(GraphArError::corrupt(
                file.to_string(),
                "number of rows",
                format!("{chunk_size} in every chunk but the last"),
                format!("{rows} in this one after {total} in the {number} before it"),
            ));
        }
        total += rows;
    }
    Ok(None)
}

/// A path that was computed below the folder's own, as a place in its store.
fn at(folder: &Location, path: &str) -> Location {
    folder.with_path(path)
}
/// Counting remembers nothing: the caches of the session begin with the first scan.
fn access(file: &Location) -> FileAccess {
    FileAccess::uncached(Arc::clone(file.store()))
}
