//! The sink of a `COPY`: rows in, one element type of a graph out.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::array::{ArrayRef, Int64Array, RecordBatch, RecordBatchOptions};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::datasource::sink::DataSink;
use datafusion::error::Result;
use datafusion::execution::runtime_env::RuntimeEnv;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::metrics::{
    Count, ExecutionPlanMetricsSet, MetricBuilder, MetricsSet,
};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType};
use futures::StreamExt;

use super::adapt::Adapter;
use super::element::{Element, End, Ends, WhenUsed, written_type};
use crate::format::{EdgeInfo, VertexInfo};
use crate::storage::Stores;
use crate::writer::keys::KeyEnd;
use crate::writer::payload::EncodeOptions;
use crate::writer::row_filter::EdgeColumns;
use crate::writer::{GraphWriter, OnError, Spilling, WriteOptions, WriteProgress, Written};

/// Writes a vertex type or an edge triplet, and makes it visible at the end.
///
/// Up to then the graph is as it was, also if the statement fails or is cancelled.
#[derive(Debug)]
pub struct GraphArSink {
    location: String,
    element: Element,
    encode: EncodeOptions,
    adapter: Arc<Adapter>,
    runtime: Arc<RuntimeEnv>,
    on_error: OnError,
    progress: Arc<WriteProgress>,
    metrics: ExecutionPlanMetricsSet,
}

impl GraphArSink {
    pub(super) fn new(
        location: String,
        element: Element,
        encode: EncodeOptions,
        rows: &Schema,
        runtime: Arc<RuntimeEnv>,
    ) -> Self {
        let adapter = Adapter::new(rows, |column| written_type(&element, column));
        Self {
            adapter: Arc::new(adapter),
            location,
            element,
            encode,
            runtime,
            on_error: OnError::Fail,
            progress: Arc::default(),
            metrics: ExecutionPlanMetricsSet::new(),
        }
    }

    pub(super) fn with_on_error(mut self, on_error: OnError) -> Self {
        self.on_error = on_error;
        self
    }

    /// How far the statement has come, also while it runs.
    pub fn progress(&self) -> &Arc<WriteProgress> {
        &self.progress
    }

    /// The rows in the types of the format.
    fn adapted(&self, rows: SendableRecordBatchStream) -> SendableRecordBatchStream {
        let adapter = Arc::clone(&self.adapter);
        let schema = Arc::clone(adapter.schema());
        let progress = Arc::clone(&self.progress);
        let mut first = 0;
        let rows = rows.map(move |batch| {
            let batch = batch?;
            let adapted = adapter.adapt(&batch, first);
            first += batch.num_rows() as u64;
            progress.took(batch.num_rows());
            adapted
        });
        Box::pin(RecordBatchStreamAdapter::new(schema, rows))
    }

    async fn write_vertices(
        &self,
        writer: &mut GraphWriter,
        info: &VertexInfo,
        used: WhenUsed,
        rows: SendableRecordBatchStream,
    ) -> Result<Written> {
        writer.replace_vertices(&info.vertex_type, used == WhenUsed::Drop)?;
        writer.write_vertex_stream(info.clone(), rows).await
    }

    async fn write_edges(
        &self,
        writer: &mut GraphWriter,
        mut info: EdgeInfo,
        ends: &Ends,
        rows: SendableRecordBatchStream,
    ) -> Result<Written> {
        info.src_chunk_size = writer.chunk_size(&info.src_type).await?;
        info.dst_chunk_size = writer.chunk_size(&info.dst_type).await?;
        let owner = info.key();
        let schema = rows.schema();
        let mut source = None;
        if let End::Key(columns) = &ends.source {
            source = Some(
                KeyEnd::open(writer, &owner, "source", &info.src_type, columns, &schema).await?,
            );
        }
        let mut destination = None;
        if let End::Key(columns) = &ends.destination {
            let (name, vertex_type) = ("destination", &info.dst_type);
            destination = Some(match &source {
                Some(source) if info.src_type == info.dst_type => {
                    source.other(name, columns, &schema)?
                }
                _ => KeyEnd::open(writer, &owner, name, vertex_type, columns, &schema).await?,
            });
        }
        let count = schema.fields().len();
        let place = |end: &End, found: usize| match end {
            End::Id(column) => schema.index_of(column),
            End::Key(_) => Ok(found),
        };
        let positions = [
            place(&ends.source, count)?,
            place(&ends.destination, count + usize::from(source.is_some()))?,
        ];
        let key = |end: &Option<KeyEnd>| end.iter().flat_map(KeyEnd::columns).copied().collect();
        let columns = EdgeColumns {
            ids: positions,
            keys: [key(&source), key(&destination)],
            own: count,
        };
        let strict = matches!(self.on_error, OnError::Fail);
        let rows = with_ids(rows, [source, destination], strict);
        writer.write_edge_rows(info, &columns, rows).await
    }
}

/// Adds a column of internal ids for each end that is given by a key. A key that no vertex has is an error if
/// `strict`, and else gives null.
fn with_ids(
    rows: SendableRecordBatchStream,
    ends: [Option<KeyEnd>; 2],
    strict: bool,
) -> SendableRecordBatchStream {
    let mut fields: Vec<_> = rows.schema().fields().iter().cloned().collect();
    for end in ends.iter().flatten() {
        fields.push(Arc::new(Field::new(end.name(), DataType::Int64, !strict)));
    }
    let schema: SchemaRef = Arc::new(Schema::new(fields));
    let own = Arc::clone(&schema);
    let mut first = 0;
    let rows = rows.map(move |batch| {
        let batch = batch?;
        let mut columns: Vec<ArrayRef> = batch.columns().to_vec();
        for end in ends.iter().flatten() {
            let ids: Int64Array = match strict {
                true => end.ids(&batch, first)?,
                false => end.ids_or_null(&batch)?,
            };
            columns.push(Arc::new(ids));
        }
        first += batch.num_rows() as u64;
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        Ok(RecordBatch::try_new_with_options(
            Arc::clone(&own),
            columns,
            &options,
        )?)
    });
    Box::pin(RecordBatchStreamAdapter::new(schema, rows))
}

#[async_trait]
impl DataSink for GraphArSink {
    fn schema(&self) -> &SchemaRef {
        self.adapter.schema()
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }

    async fn write_all(
        &self,
        rows: SendableRecordBatchStream,
        context: &Arc<TaskContext>,
    ) -> Result<u64> {
        let options = WriteOptions {
            encode: self.encode.clone(),
            parallel: context.session_config().target_partitions(),
            pool: Arc::clone(context.memory_pool()),
            spilling: Spilling::of_context(context, &self.metrics),
            on_error: self.on_error.clone(),
            progress: Arc::clone(&self.progress),
        };
        self.progress.restart();
        let stores = Stores::new(Arc::clone(&self.runtime));
        let mut writer = GraphWriter::open(&self.location, &stores, options).await?;
        let rows = self.adapted(rows);
        let written = match &self.element {
            Element::Vertices(info, used) => {
                self.write_vertices(&mut writer, info, *used, rows).await?
            }
            Element::Edges(info, ends) => {
                self.write_edges(&mut writer, info.clone(), ends, rows)
                    .await?
            }
        };
        writer.commit().await?;
        let count = |name: &'static str, value: u64| {
            let count: Count = MetricBuilder::new(&self.metrics).global_counter(name);
            count.add(usize::try_from(value).unwrap_or(usize::MAX));
        };
        count("rows_written", written.rows);
        count("rows_skipped", written.skipped.rows());
        count("files_written", written.files);
        count("bytes_written", written.bytes);
        Ok(written.rows)
    }
}

impl DisplayAs for GraphArSink {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.element {
            Element::Vertices(info, _) => {
                write!(f, "GraphArSink: vertices {}", info.vertex_type)
            }
            Element::Edges(info, _) => write!(f, "GraphArSink: edges {}", info.key()),
        }?;
        write!(f, ", {}", self.location)?;
        match self.on_error {
            OnError::Fail => Ok(()),
            OnError::Skip | OnError::Reject(_) => write!(f, ", on_error={}", self.on_error),
        }
    }
}
