//! What the archive says of its types.

use datafusion::arrow::datatypes::{DataType, Field, FieldRef};

use super::SocialGraph;
use super::edges::EdgeTable;
use super::vertices::VertexTable;
use crate::format::{
    AdjListType, AdjacentList, Cardinality, EdgeInfo, FileType, Property, PropertyGroup,
    PropertyType, ScalarType, VertexInfo,
};

pub(super) fn vertex(graph: &SocialGraph, table: &VertexTable) -> VertexInfo {
    let schema = table.rows.schema();
    let fields = schema.fields();
    let borders: Vec<usize> = [0]
        .into_iter()
        .chain(table.groups.iter().copied())
        .chain([fields.len()])
        .collect();
    let groups = borders.windows(2).map(|b| &fields[b[0]..b[1]]);
    VertexInfo {
        vertex_type: table.vertex_type.to_owned(),
        chunk_size: graph.vertex_chunk_size,
        prefix: None,
        property_groups: groups.map(|g| group(g, graph.file_type)).collect(),
        labels: table.declared.iter().map(|l| (*l).to_owned()).collect(),
        version: None,
    }
}

pub(super) fn edge(graph: &SocialGraph, table: &EdgeTable) -> EdgeInfo {
    let list = |layout| AdjacentList {
        layout,
        prefix: None,
        file_type: graph.file_type,
        property_groups: vec![],
    };
    let fields = table.rows.schema();
    let groups = (!fields.fields().is_empty()).then(|| group(fields.fields(), graph.file_type));
    EdgeInfo {
        src_type: table.source.to_owned(),
        edge_type: table.edge.to_owned(),
        dst_type: table.destination.to_owned(),
        chunk_size: graph.edge_chunk_size,
        src_chunk_size: graph.vertex_chunk_size,
        dst_chunk_size: graph.vertex_chunk_size,
        directed: Some(table.directed),
        prefix: None,
        adj_lists: vec![
            list(AdjListType::OrderedBySource),
            list(AdjListType::OrderedByDest),
        ],
        property_groups: groups.into_iter().collect(),
        version: None,
    }
}

fn group(fields: &[FieldRef], file_type: FileType) -> PropertyGroup {
    PropertyGroup {
        prefix: None,
        file_type,
        properties: fields.iter().map(|field| property(field)).collect(),
    }
}

fn property(field: &Field) -> Property {
    let key = field.name() == "id";
    let (data_type, cardinality) = match field.data_type() {
        DataType::List(_) => (ScalarType::String, Cardinality::List),
        DataType::Int64 => (ScalarType::Int64, Cardinality::Single),
        DataType::Int32 => (ScalarType::Int32, Cardinality::Single),
        DataType::Date32 => (ScalarType::Date, Cardinality::Single),
        DataType::Timestamp(..) => (ScalarType::Timestamp, Cardinality::Single),
        _ => (ScalarType::String, Cardinality::Single),
    };
    Property {
        name: field.name().clone(),
        data_type: PropertyType::Scalar(data_type),
        is_primary: key,
        is_nullable: !key,
        cardinality,
    }
}
