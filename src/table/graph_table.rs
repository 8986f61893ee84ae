//! The listing of a graph: one row for every vertex type and edge triplet.

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::array::{
    ArrayRef, BooleanArray, Int64Array, ListBuilder, RecordBatch, StringArray, StringBuilder,
};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::{MemTable, Session, TableProvider};
use datafusion::datasource::TableType;
use datafusion::error::Result;
use datafusion::logical_expr::Expr;
use datafusion::physical_plan::ExecutionPlan;

use super::{ElementTable, Graph, RegisteredGraph};
use crate::format::{InfoKind, Property};
use crate::storage::{EdgeData, VertexData};

/// The table under the graph's own name, which owns the registered graph.
///
/// | column | |
/// |---|---|
/// | `kind` | `vertex` or `edge` |
/// | `name` | name of the element's table |
/// | `labels` | names that a pattern can use for it |
/// | `source`, `edge`, `destination` | the parts of an edge triplet |
/// | `row_count` | number of vertices or edges, by the count files |
/// | `properties` | name and type of each property, in declared order |
/// | `layouts` | stored layouts of an edge triplet |
/// | `directed` | as declared; null where the archive does not say |
/// | `problem` | why the table cannot be read; null if it can |
#[derive(Debug)]
pub struct GraphTable {
    registered: Arc<RegisteredGraph>,
    schema: SchemaRef,
}

impl GraphTable {
    /// The listing of a graph.
    ///
    /// # Errors
    /// None for a graph that was opened; the result type is that of building a batch.
    pub fn try_new(registered: Arc<RegisteredGraph>) -> Result<Self> {
        let schema = listing(&registered.graph())?.schema();
        Ok(Self { registered, schema })
    }

    /// The graph listed, as it was last read.
    pub fn graph(&self) -> Arc<Graph> {
        self.registered.graph()
    }

    /// The graph listed.
    pub fn registered(&self) -> &Arc<RegisteredGraph> {
        &self.registered
    }
}

#[async_trait]
impl TableProvider for GraphTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let batch = listing(&self.graph())?;
        let rows = MemTable::try_new(batch.schema(), vec![vec![batch]])?;
        rows.scan(state, projection, filters, limit).await
    }
}

/// One row of the listing.
#[derive(Default)]
struct Row {
    kind: Option<&'static str>,
    name: String,
    labels: Vec<String>,
    triplet: Option<[String; 3]>,
    row_count: Option<i64>,
    properties: Vec<String>,
    layouts: Vec<String>,
    directed: Option<bool>,
    problem: Option<String>,
}

impl Row {
    fn with_table(mut self, table: Option<&ElementTable>) -> Self {
        match table.map(ElementTable::rows) {
            Some(Ok(rows)) => self.row_count = i64::try_from(rows.rows.total()).ok(),
            Some(Err(error)) => self.problem = Some(error.to_string()),
            None => {}
        }
        self
    }

    fn vertex(vertex: &VertexData) -> Self {
        let info = &vertex.info;
        let own = std::iter::once(info.vertex_type.clone());
        Self {
            kind: Some("vertex"),
            name: info.vertex_type.clone(),
            labels: own.chain(info.labels.iter().cloned()).collect(),
            properties: info.properties().map(describe).collect(),
            ..Self::default()
        }
    }

    fn edge(edge: &EdgeData) -> Self {
        let info = &edge.info;
        let layouts = info.adj_lists.iter().map(|list| list.layout.to_string());
        Self {
            kind: Some("edge"),
            name: info.key(),
            labels: vec![info.edge_type.clone(), info.key()],
            triplet: Some([
                info.src_type.clone(),
                info.edge_type.clone(),
                info.dst_type.clone(),
            ]),
            properties: info.properties().map(describe).collect(),
            layouts: layouts.collect(),
            directed: info.directed,
            ..Self::default()
        }
    }
}

fn describe(property: &Property) -> String {
    match property.cardinality.name() {
        "single" => format!("{} {}", property.name, property.data_type),
        several => format!("{} {several} of {}", property.name, property.data_type),
    }
}

fn listing(graph: &Graph) -> Result<RecordBatch> {
    let archive = graph.archive();
    let tables = graph.tables();
    let table_of = |name: &str| {
        let found = tables.iter().find(|(own, _)| own == name);
        found.map(|(_, table)| table.as_ref())
    };
    let vertices = archive.vertices.iter().map(Row::vertex);
    let edges = archive.edges.iter().map(Row::edge);
    let mut rows: Vec<Row> = vertices
        .chain(edges)
        .map(|row| {
            let table = table_of(&row.name);
            row.with_table(table)
        })
        .collect();
    rows.extend(archive.missing.iter().map(|missing| Row {
        kind: match missing.kind {
            InfoKind::Vertex => Some("vertex"),
            InfoKind::Edge => Some("edge"),
            InfoKind::Graph => None,
        },
        name: missing.name.clone(),
        problem: Some(missing.error().to_string()),
        ..Row::default()
    }));

    let part = |number: usize| -> ArrayRef {
        let parts = rows
            .iter()
            .map(|row| row.triplet.as_ref().map(|triplet| triplet[number].as_str()));
        Arc::new(parts.collect::<StringArray>())
    };
    let columns: Vec<(&str, ArrayRef)> = vec![
        (
            "kind",
            Arc::new(rows.iter().map(|r| r.kind).collect::<StringArray>()),
        ),
        (
            "name",
            Arc::new(
                rows.iter()
                    .map(|r| Some(r.name.as_str()))
                    .collect::<StringArray>(),
            ),
        ),
        ("labels", lists(rows.iter().map(|r| &r.labels))),
        ("source", part(0)),
        ("edge", part(1)),
        ("destination", part(2)),
        (
            "row_count",
            Arc::new(rows.iter().map(|r| r.row_count).collect::<Int64Array>()),
        ),
        ("properties", lists(rows.iter().map(|r| &r.properties))),
        ("layouts", lists(rows.iter().map(|r| &r.layouts))),
        (
            "directed",
            Arc::new(rows.iter().map(|r| r.directed).collect::<BooleanArray>()),
        ),
        (
            "problem",
            Arc::new(
                rows.iter()
                    .map(|r| r.problem.as_deref())
                    .collect::<StringArray>(),
            ),
        ),
    ];
    let columns = columns
        .into_iter()
        .map(|(name, column)| (name, column, true));
    Ok(RecordBatch::try_from_iter_with_nullable(columns)?)
}

fn lists<'a>(rows: impl Iterator<Item = &'a Vec<String>>) -> ArrayRef {
    let mut lists = ListBuilder::new(StringBuilder::new());
    for texts in rows {
        lists.append_value(texts.iter().map(Some));
    }
    Arc::new(lists.finish())
}
