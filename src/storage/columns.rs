//! The columns that the metadata declares for each kind of chunk file.

use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};

use crate::format::{DST_COLUMN, PropertyGroup, SRC_COLUMN, VERTEX_INDEX_COLUMN};

/// Vertex property chunk: the internal id, then the group's properties.
pub fn vertex_group_schema(group: &PropertyGroup) -> SchemaRef {
    let index = Field::new(VERTEX_INDEX_COLUMN, DataType::Int64, false);
    let properties = group.properties.iter().map(|p| p.arrow_field());
    Arc::new(Schema::new(
        [index].into_iter().chain(properties).collect::<Vec<_>>(),
    ))
}

/// Edge property chunk: the group's properties.
pub fn edge_group_schema(group: &PropertyGroup) -> SchemaRef {
    let properties = group.properties.iter().map(|p| p.arrow_field());
    Arc::new(Schema::new(properties.collect::<Vec<_>>()))
}

/// adj_list chunk: source, then destination.
pub fn adj_list_schema() -> SchemaRef {
    Arc::new(Schema::new(vec![
        Field::new(SRC_COLUMN, DataType::Int64, false),
        Field::new(DST_COLUMN, DataType::Int64, false),
    ]))
}

/// Label chunk: one column for each label, in their order.
pub fn label_schema(labels: &[String]) -> SchemaRef {
    let fields = labels
        .iter()
        .map(|label| Field::new(label, DataType::Boolean, true));
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}
