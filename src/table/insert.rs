//! `INSERT INTO` a vertex type or an edge triplet.

use std::fmt;
use std::sync::{Arc, Weak};

use async_trait::async_trait;
use datafusion::arrow::array::{AsArray, RecordBatch};
use datafusion::arrow::datatypes::{Field, Int64Type, Schema, SchemaRef};
use datafusion::common::exec_err;
use datafusion::datasource::sink::DataSink;
use datafusion::error::Result;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::metrics::{ExecutionPlanMetricsSet, MetricsSet};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType};
use futures::{StreamExt, TryStreamExt};

use super::RegisteredGraph;
use crate::format::{DESTINATION_ID, InfoKind, SOURCE_ID, VERTEX_ID};
use crate::storage::Archive;
use crate::writer::{GraphWriter, Spilling, WriteOptions, WriteProgress};

/// The element type of a registered graph that rows are added to.
#[derive(Debug, Clone)]
pub struct InsertTarget {
    registered: Weak<RegisteredGraph>,
    name: String,
    vertices: bool,
}

impl InsertTarget {
    /// The element `name` of an archive; `None` for single layouts, and for archives that are the info of one type.
    pub fn of(registered: &Arc<RegisteredGraph>, archive: &Archive, name: &str) -> Option<Self> {
        let vertices = archive.vertices.iter().any(|v| v.info.vertex_type == name);
        let edges = archive.edges.iter().any(|e| e.info.key() == name);
        (archive.kind == InfoKind::Graph && (vertices || edges)).then(|| Self {
            registered: Arc::downgrade(registered),
            name: name.to_owned(),
            vertices,
        })
    }
}

/// Appends rows to an element type, makes them visible, and reads the graph again.
#[derive(Debug)]
pub struct InsertSink {
    target: InsertTarget,
    /// The columns of the table; ids of vertices may be null, since they come by themselves.
    schema: SchemaRef,
    progress: Arc<WriteProgress>,
    metrics: ExecutionPlanMetricsSet,
}

impl InsertSink {
    /// Rows with the columns of the table `table`.
    pub fn new(target: InsertTarget, table: &Schema) -> Self {
        let fields = table.fields().iter().map(|field| {
            if field.name() == VERTEX_ID {
                Arc::new(Field::clone(field).with_nullable(true))
            } else {
                Arc::clone(field)
            }
        });
        Self {
            schema: Arc::new(Schema::new(fields.collect::<Vec<_>>())),
            target,
            progress: Arc::default(),
            metrics: ExecutionPlanMetricsSet::new(),
        }
    }

    /// How far the statement has come, also while it runs.
    pub fn progress(&self) -> &Arc<WriteProgress> {
        &self.progress
    }
}

/// The rows, if the ids that they state are those that they are going to have.
fn with_checked_ids(
    rows: SendableRecordBatchStream,
    name: String,
    first: u64,
) -> SendableRecordBatchStream {
    let schema = rows.schema();
    let Ok(column) = schema.index_of(VERTEX_ID) else {
        return rows;
    };
    let mut next = first;
    let rows = rows.map(move |batch| {
        let batch: RecordBatch = batch?;
        let ids = batch.column(column).as_primitive_opt::<Int64Type>();
        for (id, own) in ids.iter().flat_map(|ids| ids.iter()).zip(next..) {
            if let Some(id) = id
                && u64::try_from(id) != Ok(own)
            {
                return exec_err!(
                    "rows of {name}: {VERTEX_ID}: expected {own} or null, as ids continue those that there are, found {id}"
                );
            }
        }
        next += batch.num_rows() as u64;
        Ok(batch)
    });
    Box::pin(RecordBatchStreamAdapter::new(schema, rows))
}

#[async_trait]
impl DataSink for InsertSink {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }

    async fn write_all(
        &self,
        rows: SendableRecordBatchStream,
        context: &Arc<TaskContext>,
    ) -> Result<u64> {
        let InsertTarget {
            registered,
            name,
            vertices,
        } = &self.target;
        let Some(registered) = registered.upgrade() else {
            return exec_err!("the graph of table {name} was dropped");
        };
        let options = WriteOptions {
            parallel: context.session_config().target_partitions(),
            pool: Arc::clone(context.memory_pool()),
            progress: Arc::clone(&self.progress),
            spilling: Spilling::of_context(context, &self.metrics),
            ..WriteOptions::default()
        };
        self.progress.restart();
        let progress = Arc::clone(&self.progress);
        let schema = rows.schema();
        let counted = rows.inspect_ok(move |batch| progress.took(batch.num_rows()));
        let rows: SendableRecordBatchStream =
            Box::pin(RecordBatchStreamAdapter::new(schema, counted));
        let stores = registered.stores();
        let mut writer = GraphWriter::open_at(registered.file(), stores, options).await?;
        let written = if *vertices {
            let count = writer.count(name).await?;
            let rows = with_checked_ids(rows, name.clone(), count);
            writer.append_vertices(name, rows).await?
        } else {
            let schema = rows.schema();
            let ends = [
                schema.index_of(SOURCE_ID)?,
                schema.index_of(DESTINATION_ID)?,
            ];
            writer.append_edges(name, ends, rows).await?
        };
        if written.rows == 0 {
            return Ok(0);
        }
        writer.commit().await?;
        registered.refresh().await?;
        Ok(written.rows)
    }
}

impl DisplayAs for InsertSink {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.target.vertices {
            "vertices"
        } else {
            "edges"
        };
        write!(f, "InsertSink: {kind} {}", self.target.name)
    }
}
