//! Chunk files, counts and info files in an object store.
//!
//! Every path is computed from metadata and counts; the only listing there is finds the
//! graph info of a folder.

mod access;
mod archive;
mod cache;
mod columns;
mod counts;
mod files;
mod inspect;
mod local;
mod location;
mod meter;
mod offsets;
mod open;
pub mod payload;
mod root;
mod stores;

pub use access::FileAccess;
pub use archive::{
    Archive, EdgeData, InfoFile, Loaded, MissingInfo, VertexData, load_edge, load_vertex, root_of,
};
pub use cache::{FileCache, FileIdentity};
pub use columns::{adj_list_schema, edge_group_schema, label_schema, vertex_group_schema};
pub use counts::EdgeCounts;
pub use files::read_text;
pub(crate) use files::{exists, read_count};
pub use inspect::{InspectedArchive, Placed};
pub use location::Location;
pub use meter::{ReadBudget, ReadMeter};
pub use offsets::{OffsetFiles, PartOffsets};
pub use open::{Infos, find_infos};
pub use stores::Stores;
