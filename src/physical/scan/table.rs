//! What a scan has to know of a table: its rows, its files, and where each column comes from.

use std::ops::Range;

use datafusion::arrow::datatypes::SchemaRef;
use datafusion::execution::object_store::ObjectStoreUrl;

use crate::format::{
    AdjListPaths, ChunkSlice, EdgeRows, FileType, PropertyGroup, VertexPaths, first_slice,
};
use crate::storage::payload::ChunkColumn;

/// How the rows of a table are cut into chunks.
#[derive(Debug, Clone)]
pub enum TableRows {
    /// Rows of a vertex type.
    Vertices {
        /// Number of vertices.
        count: u64,
        /// Rows of a chunk.
        chunk_size: u64,
    },
    /// Rows of one layout of an edge triplet, through all parts.
    Edges(EdgeRows),
}

impl TableRows {
    /// Number of rows.
    pub fn total(&self) -> u64 {
        match self {
            Self::Vertices { count, .. } => *count,
            Self::Edges(rows) => rows.total(),
        }
    }

    /// The chunk at the beginning of a range of rows.
    pub fn first_slice(&self, range: &Range<u64>) -> Option<ChunkSlice> {
        match self {
            Self::Vertices { count, chunk_size } => first_slice(*count, *chunk_size, range),
            Self::Edges(rows) => rows.first_slice(range),
        }
    }
}

/// Names of the files of one set, by chunk.
#[derive(Debug, Clone)]
pub enum FileNames {
    /// Chunks of a vertex property group.
    Vertices(VertexPaths, PropertyGroup),
    /// Label chunks.
    Labels(VertexPaths),
    /// Chunks of source and destination ids.
    AdjList(AdjListPaths),
    /// Chunks of an edge property group.
    Edges(AdjListPaths, PropertyGroup),
}

impl FileNames {
    /// Path of the file that holds a slice, from the root of the store.
    pub fn path(&self, slice: &ChunkSlice) -> String {
        match self {
            Self::Vertices(paths, group) => paths.property_chunk(group, slice.chunk),
            Self::Labels(paths) => paths.label_chunk(slice.chunk),
            Self::AdjList(paths) => paths.adj_list_chunk(slice.part, slice.chunk),
            Self::Edges(paths, group) => paths.property_chunk(group, slice.part, slice.chunk),
        }
    }
}

/// Files of the same columns, one for every chunk.
#[derive(Debug, Clone)]
pub struct FileSet {
    /// Their names.
    pub names: FileNames,
    /// Their type.
    pub file_type: FileType,
    /// The columns that they are declared to have.
    pub declared: SchemaRef,
}

/// Where a column of the table comes from.
#[derive(Debug, Clone)]
pub enum ColumnOrigin {
    /// A column of a file set, by the set's number.
    File(usize, ChunkColumn),
    /// The row number.
    RowNumber,
    /// The names of the labels whose columns are true, in the order of the columns of a file set.
    Labels(usize, Vec<ChunkColumn>),
    /// Null in every row, of the column's type.
    Null,
}

/// Which ids an edge's end may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EndpointCheck {
    /// Column of the table.
    pub column: usize,
    /// Number of vertices of the type, if known.
    pub count: Option<u64>,
    /// The vertices of a part, if this is the aligned end.
    pub part_size: Option<u64>,
}

/// A table as a scan sees it.
#[derive(Debug, Clone)]
pub struct ScanTable {
    /// Name for messages and plans: `person`, `person_knows_person (ordered_by_source)`.
    pub name: String,
    /// The folder of the files, for plans.
    pub folder: String,
    /// The store of the files.
    pub store_url: ObjectStoreUrl,
    /// Columns.
    pub schema: SchemaRef,
    /// Where they come from, in the same order.
    pub origins: Vec<ColumnOrigin>,
    /// The files.
    pub files: Vec<FileSet>,
    /// The rows.
    pub rows: TableRows,
    /// Ends of edges to be checked.
    pub endpoints: Vec<EndpointCheck>,
}

impl ScanTable {
    /// Whether a range of rows may begin inside a chunk without reading all that is before
    /// it. Only Parquet can skip rows cheaply.
    pub fn can_cut_chunks(&self) -> bool {
        let mut files = self.files.iter();
        files.all(|set| set.file_type == FileType::Parquet)
    }
}
