//! From metadata to the tables that scans read.
//!
//! | element | columns |
//! |---|---|
//! | vertex type | its properties in declared order, `_labels` if labels are declared, `_vertex_id` |
//! | edge triplet | its properties in declared order, `_src_id`, `_dst_id` |

use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field, FieldRef, Schema};

use crate::config::GraphArOptions;
use crate::format::{
    AdjListPaths, AlignedBy, DESTINATION_ID, DST_COLUMN, FileType, LABELS, Property, PropertyGroup,
    SOURCE_ID, SRC_COLUMN, VERTEX_ID, VertexPaths,
};
use crate::physical::scan::{
    Aligned, ColumnOrigin, EndpointCheck, FileNames, FileSet, ScanTable, TableRows,
};
use crate::storage::payload::{ChunkColumn, ColumnSource};
use crate::storage::{
    EdgeCounts, EdgeData, FileCache, OffsetFiles, VertexData, adj_list_schema, edge_group_schema,
    label_schema, vertex_group_schema,
};

/// Columns and files of a table that is being put together.
#[derive(Default)]
struct Parts {
    fields: Vec<FieldRef>,
    origins: Vec<ColumnOrigin>,
    files: Vec<FileSet>,
    endpoints: Vec<EndpointCheck>,
}

impl Parts {
    fn push(&mut self, field: FieldRef, origin: ColumnOrigin) {
        self.fields.push(field);
        self.origins.push(origin);
    }

    /// The properties of a group whose files are the next set.
    fn push_group(&mut self, group: &PropertyGroup, files: FileSet, options: &GraphArOptions) {
        for property in &group.properties {
            let field = property_field(property, options);
            let origin =
                ColumnOrigin::File(self.files.len(), ChunkColumn::named(Arc::clone(&field)));
            self.push(field, origin);
        }
        self.files.push(files);
    }

    fn schema(&self) -> Arc<Schema> {
        Arc::new(Schema::new(self.fields.clone()))
    }
}

fn property_field(property: &Property, options: &GraphArOptions) -> FieldRef {
    let field = property.arrow_field();
    let nullable = field.is_nullable() || !options.enforce_not_null;
    Arc::new(field.with_nullable(nullable))
}

/// The table of a vertex type with `count` vertices.
pub(super) fn vertex_table(
    vertex: &VertexData,
    count: u64,
    options: &GraphArOptions,
    cache: Option<&Arc<FileCache>>,
) -> ScanTable {
    let info = &vertex.info;
    let paths = VertexPaths::new(vertex.folder.path());
    let mut parts = Parts::default();
    for group in &info.property_groups {
        let files = FileSet {
            names: FileNames::Vertices(paths.clone(), group.clone()),
            file_type: group.file_type,
            declared: vertex_group_schema(group),
        };
        parts.push_group(group, files, options);
    }
    if !info.labels.is_empty() {
        push_labels(vertex, paths, &mut parts);
    }
    let id = Arc::new(Field::new(VERTEX_ID, DataType::Int64, false));
    parts.push(id, ColumnOrigin::RowNumber);
    ScanTable {
        name: info.vertex_type.clone(),
        folder: vertex.folder.path().to_owned(),
        store_url: vertex.folder.store_url().clone(),
        schema: parts.schema(),
        origins: parts.origins,
        files: parts.files,
        rows: TableRows::Vertices {
            count,
            chunk_size: info.chunk_size,
        },
        endpoints: vec![],
        aligned: None,
        cache: cache.cloned(),
        properties: Arc::default(),
    }
}

/// Labels are found by position in their files, which have one column for each declared label.
fn push_labels(vertex: &VertexData, paths: VertexPaths, parts: &mut Parts) {
    let labels = &vertex.info.labels;
    let declared = label_schema(labels);
    let lists = DataType::List(Arc::new(Field::new_list_field(DataType::Utf8, true)));
    let field = Arc::new(Field::new(LABELS, lists, true));
    if !vertex.has_label_files {
        parts.push(field, ColumnOrigin::Null);
        return;
    }
    let columns = declared
        .fields()
        .iter()
        .enumerate()
        .map(|(position, field)| ChunkColumn {
            field: Arc::clone(field),
            source: ColumnSource::Position(position),
        })
        .collect();
    parts.push(field, ColumnOrigin::Labels(parts.files.len(), columns));
    parts.files.push(FileSet {
        names: FileNames::Labels(paths),
        // Labels are Parquet whatever the property groups are.
        file_type: FileType::Parquet,
        declared,
    });
}

/// The table of the layout number `layout` of an edge triplet.
pub(super) fn edge_table(
    edge: &EdgeData,
    layout: usize,
    counts: &EdgeCounts,
    options: &GraphArOptions,
    cache: Option<&Arc<FileCache>>,
) -> ScanTable {
    let info = &edge.info;
    let list = &info.adj_lists[layout];
    let paths = AdjListPaths::new(edge.folder.path(), list);
    let mut parts = Parts::default();
    parts.files.push(FileSet {
        names: FileNames::AdjList(paths.clone()),
        file_type: list.file_type,
        declared: adj_list_schema(),
    });
    for group in info.property_groups_of(list.layout) {
        let files = FileSet {
            names: FileNames::Edges(paths.clone(), group.clone()),
            file_type: group.file_type,
            declared: edge_group_schema(group),
        };
        parts.push_group(group, files, options);
    }
    let ends = [
        (SOURCE_ID, SRC_COLUMN, AlignedBy::Source, edge.source_count),
        (
            DESTINATION_ID,
            DST_COLUMN,
            AlignedBy::Destination,
            edge.destination_count,
        ),
    ];
    let folder = edge.folder.join(&list.folder()).path().to_owned();
    let mut aligned_end = None;
    for (name, stored, end, count) in ends {
        let aligned = list.layout.aligned_by() == end;
        if aligned {
            aligned_end = Some(Aligned {
                column: parts.fields.len(),
                vertices: counts.aligned,
                part_size: info.part_size(list.layout),
                offsets: list.layout.is_ordered().then(|| OffsetFiles {
                    paths: paths.clone(),
                    folder: Arc::from(folder.as_str()),
                    file_type: list.file_type,
                    aligned_by: end,
                    vertices: counts.aligned,
                    part_size: info.part_size(list.layout),
                    rows: counts.rows.clone(),
                    chunk_size: info.chunk_size,
                }),
            });
        }
        if options.check_endpoints {
            parts.endpoints.push(EndpointCheck {
                column: parts.fields.len(),
                count: count.or(aligned.then_some(counts.aligned)),
                part_size: aligned.then(|| info.part_size(list.layout)),
            });
        }
        let field = Arc::new(Field::new(name, DataType::Int64, false));
        let column = ChunkColumn {
            field: Arc::clone(&field),
            source: ColumnSource::Name(stored.to_owned()),
        };
        parts.push(field, ColumnOrigin::File(0, column));
    }
    ScanTable {
        name: format!("{} ({})", info.key(), list.layout),
        folder,
        store_url: edge.folder.store_url().clone(),
        schema: parts.schema(),
        origins: parts.origins,
        files: parts.files,
        rows: TableRows::Edges(counts.rows.clone()),
        endpoints: parts.endpoints,
        aligned: aligned_end,
        cache: cache.cloned(),
        properties: Arc::default(),
    }
}
