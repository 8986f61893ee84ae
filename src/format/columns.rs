//! Names of the columns that tables have besides the properties.

/// Column of vertex tables: the internal id, `BIGINT NOT NULL`.
pub const VERTEX_ID: &str = "_vertex_id";
/// Column of vertex tables: the names of a vertex's labels.
pub const LABELS: &str = "_labels";
/// Column of edge tables: the internal id of the source, `BIGINT NOT NULL`.
pub const SOURCE_ID: &str = "_src_id";
/// Column of edge tables: the internal id of the destination, `BIGINT NOT NULL`.
pub const DESTINATION_ID: &str = "_dst_id";
