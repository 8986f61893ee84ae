//! Archives as tables: one provider for every vertex type and edge triplet, a listing of them,
//! and the schema that holds them all.

mod element_table;
mod factory;
mod function_edges;
mod graph;
mod graph_schema;
mod graph_table;
mod insert;
mod registered;
mod repair;
mod session_cache;
mod tables;

pub use crate::format::{DESTINATION_ID, LABELS, SOURCE_ID, VERTEX_ID};
pub use element_table::ElementTable;
pub use factory::GraphArTableFactory;
pub(crate) use factory::{STORED_AS, register_schema};
pub use graph::Graph;
pub use graph_schema::GraphSchema;
pub use graph_table::GraphTable;
pub use insert::{InsertSink, InsertTarget};
pub use registered::RegisteredGraph;
pub use repair::{Repair, repair};
pub use session_cache::SessionCache;
