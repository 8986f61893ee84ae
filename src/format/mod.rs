//! The GraphAr format as types and arithmetic: no I/O, no async, no query engine.
//!
//! A graph has vertex types and edge triplets (source type, edge type, destination type).
//! Vertices of one type are numbered from 0; tables are cut into chunks by that number.
//! See the [format specification](https://graphar.apache.org/docs/specification/format).

mod adjacency;
mod chunk;
mod columns;
mod data_type;
mod edge_info;
mod emit;
mod file_type;
mod graph_info;
mod info_kind;
mod path;
mod property;
mod ranges;
mod validate;
mod version;
mod vertex_info;
mod yaml;

pub use adjacency::{AdjListType, AdjacentList, AlignedBy};
pub(crate) use chunk::first_slice;
pub use chunk::{ChunkSlice, EdgeRows, chunk_count, chunk_rows};
pub use columns::{DESTINATION_ID, LABELS, SOURCE_ID, VERTEX_ID};
pub use data_type::{PropertyType, ScalarType};
pub use edge_info::EdgeInfo;
pub use file_type::FileType;
pub use graph_info::GraphInfo;
pub use info_kind::InfoKind;
pub use path::{
    AdjListPaths, DST_COLUMN, OFFSET_COLUMN, SRC_COLUMN, VERTEX_INDEX_COLUMN, VertexPaths,
    join_prefix,
};
pub use property::{Cardinality, Property, PropertyGroup};
pub use ranges::RowRanges;
pub use validate::{Problem, validate_graph};
pub use version::InfoVersion;
pub use vertex_info::VertexInfo;
