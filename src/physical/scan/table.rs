//! What a scan has to know of a table: its rows, its files, and where each column comes from.

use std::ops::Range;
use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::common::internal_err;
use datafusion::error::Result;
use datafusion::execution::object_store::ObjectStoreUrl;

use super::KnownProperties;
use super::conditions::hidden_name;
use crate::format::{
    AdjListPaths, ChunkSlice, EdgeRows, FileType, PropertyGroup, VertexPaths, first_slice,
};
use crate::storage::payload::ChunkColumn;
use crate::storage::{FileCache, OffsetFiles};

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

impl EndpointCheck {
    /// The ids that may stand in a chunk.
    pub(super) fn allowed(&self, slice: &ChunkSlice) -> Range<u64> {
        let count = self.count.unwrap_or(u64::MAX);
        match self.part_size {
            Some(size) => {
                let begin = slice.part.saturating_mul(size);
                begin..begin.saturating_add(size).min(count)
            }
            None => 0..count,
        }
    }
}

/// The end of the edges by which a layout is cut into parts.
#[derive(Debug, Clone)]
pub struct Aligned {
    /// Column of the table that holds its ids.
    pub column: usize,
    /// Number of its vertices.
    pub vertices: u64,
    /// Vertices of a part.
    pub part_size: u64,
    /// Where the edges of each vertex are found, if the layout is ordered.
    pub offsets: Option<OffsetFiles>,
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
    /// The aligned end of an edge table.
    pub aligned: Option<Aligned>,
    /// What the session remembers of the files.
    pub cache: Option<Arc<FileCache>>,
    /// What it remembers of the properties.
    pub properties: Arc<KnownProperties>,
}

impl ScanTable {
    /// The column whose ids lead to rows: the row number of vertices, the aligned end of edges.
    pub fn id_column(&self) -> Option<usize> {
        let row_number = |origin: &ColumnOrigin| matches!(origin, ColumnOrigin::RowNumber);
        match &self.aligned {
            Some(aligned) => Some(aligned.column),
            None => self.origins.iter().position(row_number),
        }
    }

    /// How many ids that column can have.
    pub fn ids(&self) -> u64 {
        match &self.aligned {
            Some(aligned) => aligned.vertices,
            None => self.rows.total(),
        }
    }

    /// Whether the rows of an id are found without reading others.
    pub fn finds_ids(&self) -> bool {
        self.aligned
            .as_ref()
            .is_none_or(|aligned| aligned.offsets.is_some())
    }

    /// The column by which the rows are in order, if any.
    pub fn order(&self) -> Option<usize> {
        self.id_column().filter(|_| self.finds_ids())
    }

    /// The labels whose columns are in the files, and the set of those; none where they are unknown.
    pub fn label_columns(&self) -> Option<(usize, usize, &[ChunkColumn])> {
        self.origins
            .iter()
            .enumerate()
            .find_map(|(column, origin)| match origin {
                ColumnOrigin::Labels(set, columns) => Some((column, *set, columns.as_slice())),
                _ => None,
            })
    }

    /// A column of a label, numbered behind the columns of the table.
    pub(super) fn label_column(&self, column: usize) -> Option<(usize, &ChunkColumn)> {
        let (_, set, labels) = self.label_columns()?;
        let label = column.checked_sub(self.schema.fields().len())?;
        Some((set, labels.get(label)?))
    }

    /// The schema of some columns, those of labels included.
    pub(super) fn schema_of(&self, columns: &[usize]) -> Result<Schema> {
        let mut fields = Vec::with_capacity(columns.len());
        for column in columns {
            fields.push(match self.schema.fields().get(*column) {
                Some(field) => Arc::clone(field),
                None => match self.label_column(*column) {
                    Some((_, label)) => {
                        let name = hidden_name(label.field.name());
                        Arc::new(Field::new(name, DataType::Boolean, false))
                    }
                    None => return internal_err!("table {} has no column {column}", self.name),
                },
            });
        }
        Ok(Schema::new(fields))
    }

    /// Whether the files of a set are Parquet.
    pub(super) fn is_parquet(&self, set: usize) -> bool {
        let set = self.files.get(set);
        set.is_some_and(|set| set.file_type == FileType::Parquet)
    }

    /// Whether a set is of Parquet files of source and destination ids.
    pub(super) fn is_ids(&self, set: usize) -> bool {
        let set = self.files.get(set);
        let ids = set.is_some_and(|set| matches!(set.names, FileNames::AdjList(_)));
        ids && set.is_some_and(|set| set.file_type == FileType::Parquet)
    }

    /// About how many bytes a value of the column takes.
    pub(super) fn width(&self, column: usize) -> usize {
        let field = self.schema.fields().get(column);
        let width = field.map_or(Some(1), |field| field.data_type().primitive_width());
        width.unwrap_or(16)
    }

    /// Whether a range of rows may begin inside a chunk without reading all that is before
    /// it. Only Parquet can skip rows cheaply.
    pub fn can_cut_chunks(&self) -> bool {
        let mut files = self.files.iter();
        files.all(|set| set.file_type == FileType::Parquet)
    }
}
