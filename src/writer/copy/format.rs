//! Graphs as a file format that `COPY` can write.

use std::collections::BTreeMap;
// The type that the engine's trait asks for.
#[allow(clippy::disallowed_types)]
use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::Session;
use datafusion::common::parsers::CompressionTypeVariant;
use datafusion::common::{GetExt, Statistics, not_impl_err, plan_err};
use datafusion::datasource::file_format::file_compression_type::FileCompressionType;
use datafusion::datasource::file_format::{FileFormat, FileFormatFactory};
use datafusion::datasource::physical_plan::{FileScanConfig, FileSinkConfig, FileSource};
use datafusion::datasource::table_schema::TableSchema;
use datafusion::error::Result;
use datafusion::physical_expr::LexRequirement;
use datafusion::physical_plan::ExecutionPlan;
use object_store::{ObjectMeta, ObjectStore};

use super::element::Element;
use super::options::Options;
use super::sink::GraphArSink;
use super::unread::Unread;
use crate::storage::Stores;
use crate::writer::write_in_order;

/// The word behind `STORED AS`, as DataFusion keeps it.
const NAME: &str = "graphar";

/// `COPY … STORED AS GRAPHAR`: writes one vertex type or edge triplet of a graph.
///
/// Registered by [`with_graphar`](crate::session::SessionStateBuilderExt::with_graphar). The target is the graph info:
/// a path or URL that ends in `.graph.yml`.
#[derive(Debug, Default)]
pub struct GraphArFormatFactory {}

impl GetExt for GraphArFormatFactory {
    fn get_ext(&self) -> String {
        NAME.to_owned()
    }
}

#[allow(clippy::disallowed_types)]
impl FileFormatFactory for GraphArFormatFactory {
    fn create(
        &self,
        _state: &dyn Session,
        options: &HashMap<String, String>,
    ) -> Result<Arc<dyn FileFormat>> {
        let options = options
            .iter()
            .map(|(key, value)| (key.clone(), value.clone()));
        Ok(Arc::new(GraphArFormat {
            options: options.collect(),
        }))
    }

    fn default(&self) -> Arc<dyn FileFormat> {
        Arc::new(GraphArFormat::default())
    }
}

/// Writes only: archives are read by `CREATE EXTERNAL TABLE`, which knows where their files are.
#[derive(Debug, Default)]
struct GraphArFormat {
    options: BTreeMap<String, String>,
}

#[async_trait]
impl FileFormat for GraphArFormat {
    fn get_ext(&self) -> String {
        NAME.to_owned()
    }

    fn get_ext_with_compression(&self, compression: &FileCompressionType) -> Result<String> {
        match compression.get_variant() {
            CompressionTypeVariant::UNCOMPRESSED => Ok(self.get_ext()),
            _ => plan_err!("files of a graph are compressed inside, by the option 'compression'"),
        }
    }

    fn compression_type(&self) -> Option<FileCompressionType> {
        None
    }

    async fn infer_schema(
        &self,
        _state: &dyn Session,
        _store: &Arc<dyn ObjectStore>,
        _objects: &[ObjectMeta],
    ) -> Result<SchemaRef> {
        not_impl_err!("listing tables of graphs; use CREATE EXTERNAL TABLE … STORED AS GRAPHAR")
    }

    async fn infer_stats(
        &self,
        _state: &dyn Session,
        _store: &Arc<dyn ObjectStore>,
        table_schema: SchemaRef,
        _object: &ObjectMeta,
    ) -> Result<Statistics> {
        Ok(Statistics::new_unknown(&table_schema))
    }

    async fn create_physical_plan(
        &self,
        _state: &dyn Session,
        _conf: FileScanConfig,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        not_impl_err!("scans of single files of a graph")
    }

    async fn create_writer_physical_plan(
        &self,
        input: Arc<dyn ExecutionPlan>,
        state: &dyn Session,
        conf: FileSinkConfig,
        _order: Option<LexRequirement>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        if !conf.table_partition_cols.is_empty() {
            return plan_err!("a graph is cut into chunks; leave PARTITIONED BY out");
        }
        let mut options = Options::try_new(&self.options)?;
        let encode = options.take_encoding()?;
        let on_error = options.take_on_error(&Stores::new(Arc::clone(state.runtime_env())))?;
        let schema = input.schema();
        let element = Element::try_new(options, &schema)?;
        let runtime = Arc::clone(state.runtime_env());
        let sink = GraphArSink::new(conf.original_url, element, encode, &schema, runtime);
        let sink = sink.with_on_error(on_error);
        write_in_order(input, Arc::new(sink))
    }

    fn file_source(&self, table_schema: TableSchema) -> Arc<dyn FileSource> {
        Arc::new(Unread::new(table_schema))
    }
}
