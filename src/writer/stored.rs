//! Vertices and edges that are there already, read back chunk by chunk.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, RecordBatch};
use datafusion::arrow::compute::concat_batches;
use datafusion::arrow::datatypes::{Field, SchemaRef};
use futures::TryStreamExt;
use object_store::path::Path;

use super::output::length;
use crate::error::{GraphArError, Result};
use crate::format::{
    AdjListPaths, AdjacentList, EdgeInfo, FileType, Property, PropertyGroup, VertexInfo,
    VertexPaths, chunk_count,
};
use crate::storage::payload::{ChunkColumn, ChunkRequest, open_chunk};
use crate::storage::{
    EdgeCounts, FileAccess, Location, adj_list_schema, edge_group_schema, label_schema,
    vertex_group_schema,
};

/// Rows decoded at once.
const BATCH_ROWS: usize = 8192;

/// A vertex type and its files.
#[derive(Debug, Clone)]
pub(super) struct StoredVertices {
    pub info: VertexInfo,
    pub folder: Location,
    pub count: u64,
    /// Whether there are label chunks for the labels that are declared.
    pub has_labels: bool,
}

impl StoredVertices {
    /// Number of chunks.
    pub(super) fn chunks(&self) -> u64 {
        chunk_count(self.count, self.info.chunk_size)
    }

    /// Number of rows of a chunk.
    pub(super) fn chunk_rows(&self, chunk: u64) -> u64 {
        let size = self.info.chunk_size.max(1);
        (self.count - (chunk * size).min(self.count)).min(size)
    }

    /// The paths of the type's files, from the root of the store.
    pub(super) fn paths(&self) -> VertexPaths {
        VertexPaths::new(self.folder.path())
    }

    /// These properties of all rows of a chunk, in this order.
    ///
    /// # Errors
    /// If a file is missing, damaged, or has another number of rows.
    pub(super) async fn properties(
        &self,
        chunk: u64,
        wanted: &[&Property],
    ) -> Result<Vec<ArrayRef>> {
        let mut found: Vec<Option<ArrayRef>> = vec![None; wanted.len()];
        for group in &self.info.property_groups {
            let of_group = |property: &&Property| {
                wanted
                    .iter()
                    .position(|wanted| wanted.name == property.name)
            };
            let places: Vec<usize> = group
                .properties
                .iter()
                .filter_map(|p| of_group(&p))
                .collect();
            if places.is_empty() {
                continue;
            }
            let fields = places
                .iter()
                .map(|place| Arc::new(wanted[*place].arrow_field()));
            let rows = self.group(group, chunk, fields.collect()).await?;
            for (place, column) in places.into_iter().zip(rows.columns()) {
                found[place] = Some(Arc::clone(column));
            }
        }
        Ok(found.into_iter().flatten().collect())
    }

    async fn group(
        &self,
        group: &PropertyGroup,
        chunk: u64,
        fields: Vec<Arc<Field>>,
    ) -> Result<RecordBatch> {
        let name = self.paths().property_chunk(group, chunk);
        let columns = fields.into_iter().map(ChunkColumn::named).collect();
        let declared = vertex_group_schema(group);
        read(
            &self.folder,
            &name,
            group.file_type,
            columns,
            declared,
            self.chunk_rows(chunk),
        )
        .await
    }

    /// The labels of all rows of a chunk: a column of truth values for each declared label.
    ///
    /// # Errors
    /// As [`properties`](Self::properties).
    pub(super) async fn labels(&self, chunk: u64) -> Result<RecordBatch> {
        let declared = label_schema(&self.info.labels);
        let fields = declared.fields().iter().enumerate();
        let columns = fields.map(|(position, field)| ChunkColumn::at(position, field));
        let columns = columns.collect();
        let name = self.paths().label_chunk(chunk);
        read(
            &self.folder,
            &name,
            FileType::Parquet,
            columns,
            declared,
            self.chunk_rows(chunk),
        )
        .await
    }
}

/// An edge triplet and the files of its layouts.
#[derive(Debug, Clone)]
pub(super) struct StoredEdges {
    pub info: EdgeInfo,
    pub folder: Location,
    /// Counts of the layouts, in the order of the info.
    pub counts: Vec<EdgeCounts>,
}

impl StoredEdges {
    /// The paths of a layout's files, from the root of the store.
    pub(super) fn paths(&self, list: &AdjacentList) -> AdjListPaths {
        AdjListPaths::new(self.folder.path(), list)
    }

    /// The ends of all edges of a part, and their properties in the order of the groups.
    ///
    /// # Errors
    /// If a file is missing, damaged, or has another number of rows.
    pub(super) async fn part(
        &self,
        layout: usize,
        part: u64,
    ) -> Result<(Vec<RecordBatch>, Vec<Vec<ArrayRef>>)> {
        let list = &self.info.adj_lists[layout];
        let paths = self.paths(list);
        let edges = self.counts[layout].rows.part(length(part));
        let (mut rows, mut chunk) = (edges.end - edges.start, 0);
        let (mut ends, mut properties) = (vec![], vec![]);
        while rows > 0 {
            let count = rows.min(self.info.chunk_size);
            let declared = adj_list_schema();
            let columns = declared
                .fields()
                .iter()
                .map(|f| ChunkColumn::named(Arc::clone(f)));
            let columns = columns.collect();
            let name = paths.adj_list_chunk(part, chunk);
            ends.push(
                read(
                    &self.folder,
                    &name,
                    list.file_type,
                    columns,
                    declared,
                    count,
                )
                .await?,
            );
            let mut found = vec![];
            for group in self.info.property_groups_of(list.layout) {
                let declared = edge_group_schema(group);
                let columns = declared
                    .fields()
                    .iter()
                    .map(|f| ChunkColumn::named(Arc::clone(f)));
                let columns = columns.collect();
                let name = paths.property_chunk(group, part, chunk);
                let rows = read(
                    &self.folder,
                    &name,
                    group.file_type,
                    columns,
                    declared,
                    count,
                )
                .await?;
                found.extend_from_slice(rows.columns());
            }
            properties.push(found);
            rows -= count;
            chunk += 1;
        }
        Ok((ends, properties))
    }
}

/// All of these columns of a chunk.
async fn read(
    folder: &Location,
    name: &str,
    file_type: FileType,
    columns: Vec<ChunkColumn>,
    declared: SchemaRef,
    rows: u64,
) -> Result<RecordBatch> {
    let request = ChunkRequest {
        access: FileAccess::uncached(Arc::clone(folder.store())),
        path: Path::parse(name).map_err(|e| GraphArError::payload(name, e))?,
        columns,
        declared,
        rows: 0..rows,
        picked: None,
        opened: None,
        chunk_rows: rows,
        batch_size: BATCH_ROWS,
    };
    let schema = request.schema();
    let batches = open_chunk(file_type, request).await?;
    let batches: Vec<RecordBatch> = batches.try_collect().await?;
    concat_batches(&schema, &batches).map_err(|e| GraphArError::payload(name, e))
}
