//! Small graphs in memory: `V(n, c)` persons with `id = 1000 + index`, and edges between them.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, Int64Array, ListArray, RecordBatch, RecordBatchOptions};
use datafusion::arrow::datatypes::Schema;
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion::config::ExtensionOptions;
use datafusion::error::Result;
use datafusion::execution::SessionStateBuilder;
use datafusion::prelude::{SessionConfig, SessionContext};
use datafusion_graphar::config::GraphArOptions;
use datafusion_graphar::format::{
    AdjListType, AdjacentList, Cardinality, EdgeInfo, FileType, InfoVersion, Property,
    PropertyGroup, PropertyType, ScalarType, VertexInfo,
};
use datafusion_graphar::session::{SessionContextExt, SessionStateBuilderExt};
use datafusion_graphar::writer::GraphWriter;
use datafusion_graphar_sqllogictest::switches;
use futures::TryStreamExt;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use url::Url;

/// Where fixtures stand in their store.
pub const ROOT: &str = "data";

/// A property that may be null.
pub fn property(name: &str, scalar: ScalarType) -> Property {
    Property {
        name: name.to_owned(),
        data_type: PropertyType::Scalar(scalar),
        is_primary: false,
        is_nullable: true,
        cardinality: Cardinality::Single,
    }
}

/// A group of properties with the default prefix.
pub fn group(file_type: FileType, properties: Vec<Property>) -> PropertyGroup {
    PropertyGroup {
        prefix: None,
        file_type,
        properties,
    }
}

/// The info of `V(n, c)`, with the key in a group of its own.
pub fn person(chunk_size: u64, file_type: FileType) -> VertexInfo {
    let id = Property {
        is_primary: true,
        is_nullable: false,
        ..property("id", ScalarType::Int64)
    };
    VertexInfo {
        vertex_type: "person".to_owned(),
        chunk_size,
        prefix: None,
        property_groups: vec![group(file_type, vec![id])],
        labels: vec![],
        version: Some(InfoVersion::default()),
    }
}

/// Edges `knows` between persons, without properties.
pub fn knows(vertex_chunk: u64, edge_chunk: u64, file_type: FileType) -> EdgeInfo {
    EdgeInfo {
        src_type: "person".to_owned(),
        edge_type: "knows".to_owned(),
        dst_type: "person".to_owned(),
        chunk_size: edge_chunk,
        src_chunk_size: vertex_chunk,
        dst_chunk_size: vertex_chunk,
        directed: Some(true),
        prefix: None,
        adj_lists: vec![list(AdjListType::OrderedBySource, file_type)],
        property_groups: vec![],
        version: Some(InfoVersion::default()),
    }
}

/// An adjacency list with the default prefix.
pub fn list(layout: AdjListType, file_type: FileType) -> AdjacentList {
    AdjacentList {
        layout,
        prefix: None,
        file_type,
        property_groups: vec![],
    }
}

/// A batch of these columns.
pub fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter(columns).unwrap()
}

/// A column of integers.
pub fn ints(values: impl IntoIterator<Item = i64>) -> ArrayRef {
    Arc::new(Int64Array::from_iter_values(values))
}

/// Writes archives into a store in memory.
pub struct Fixture {
    pub store: Arc<InMemory>,
    writer: GraphWriter,
}

impl Fixture {
    pub fn new() -> Self {
        let store = Arc::new(InMemory::new());
        let writer = GraphWriter::create(Arc::<InMemory>::clone(&store), Path::from(ROOT), "g");
        Self { store, writer }
    }

    /// `V(n, c)` in this file type.
    pub async fn persons(n: i64, chunk_size: u64, file_type: FileType) -> Self {
        let rows = batch(vec![("id", ints((0..n).map(|i| 1000 + i)))]);
        Self::new()
            .vertices(person(chunk_size, file_type), &rows)
            .await
    }

    pub async fn vertices(mut self, info: VertexInfo, rows: &RecordBatch) -> Self {
        self.writer.write_vertices(info, rows, None).await.unwrap();
        self
    }

    pub async fn labelled(
        mut self,
        info: VertexInfo,
        rows: &RecordBatch,
        labels: &ListArray,
    ) -> Self {
        self.writer
            .write_vertices(info, rows, Some(labels))
            .await
            .unwrap();
        self
    }

    /// Edges with these properties; `None` where there are none.
    pub async fn edges(
        mut self,
        info: EdgeInfo,
        edges: &[(i64, i64)],
        properties: Option<RecordBatch>,
    ) -> Self {
        let source = Int64Array::from_iter_values(edges.iter().map(|e| e.0));
        let destination = Int64Array::from_iter_values(edges.iter().map(|e| e.1));
        let properties = properties.unwrap_or_else(|| {
            let options = RecordBatchOptions::new().with_row_count(Some(edges.len()));
            RecordBatch::try_new_with_options(Arc::new(Schema::empty()), vec![], &options).unwrap()
        });
        self.writer
            .write_edges(info, &source, &destination, &properties)
            .await
            .unwrap();
        self
    }

    /// Writes the info files; the store then holds the archive `data/g.graph.yml`.
    pub async fn finish(self) -> Archive {
        self.writer.commit().await.unwrap();
        Archive { store: self.store }
    }
}

/// A finished archive, whose files a test may damage.
pub struct Archive {
    pub store: Arc<InMemory>,
}

impl Archive {
    pub async fn put(&self, path: &str, bytes: impl Into<Vec<u8>>) {
        let path = Path::from(format!("{ROOT}/{path}"));
        self.store.put(&path, bytes.into().into()).await.unwrap();
    }

    pub async fn get(&self, path: &str) -> Vec<u8> {
        let path = Path::from(format!("{ROOT}/{path}"));
        let got = self.store.get(&path).await.unwrap();
        got.bytes().await.unwrap().to_vec()
    }

    /// The paths of all files, as [`get`](Self::get) takes them.
    pub async fn paths(&self) -> Vec<String> {
        let root = Path::from(ROOT);
        let files: Vec<_> = self.store.list(Some(&root)).try_collect().await.unwrap();
        let paths = files.iter().map(|file| file.location.to_string());
        paths
            .map(|path| path[ROOT.len() + 1..].to_owned())
            .collect()
    }

    pub async fn delete(&self, path: &str) {
        let path = Path::from(format!("{ROOT}/{path}"));
        self.store.delete(&path).await.unwrap();
    }

    /// A session with the archive as graph `g`.
    pub async fn open(&self, how: &How) -> Result<SessionContext> {
        let ctx = how.session(Arc::<InMemory>::clone(&self.store));
        ctx.register_graph("g", &format!("memory://t/{ROOT}/g.graph.yml"))
            .await?;
        Ok(ctx)
    }

    /// A session with the archive, with the defaults.
    pub async fn session(&self) -> SessionContext {
        self.open(&How::default()).await.unwrap()
    }
}

/// How a scan runs.
#[derive(Debug, Clone)]
pub struct How {
    pub partitions: usize,
    pub batch_size: usize,
    pub options: GraphArOptions,
}

impl Default for How {
    fn default() -> Self {
        Self {
            partitions: 2,
            batch_size: 8192,
            options: GraphArOptions::default(),
        }
    }
}

impl How {
    /// Partitions of 1 and 16, batches of 1, 3 and 8192 rows, every switch on and off.
    pub fn all() -> Vec<Self> {
        let mut all = vec![];
        for partitions in [1, 16] {
            for batch_size in [1, 3, 8192] {
                for on in [true, false] {
                    all.push(Self::of(partitions, batch_size, on));
                }
            }
        }
        all
    }

    /// With every switch on, or every switch off and nothing kept in a cache.
    pub fn of(partitions: usize, batch_size: usize, on: bool) -> Self {
        let mut options = GraphArOptions::default();
        for (name, value) in switches(on) {
            options.set(&name, &value).unwrap();
        }
        options.min_partition_rows = 1;
        Self {
            partitions,
            batch_size,
            options,
        }
    }

    /// A session with this store under `memory://t`.
    pub fn session(&self, store: Arc<dyn ObjectStore>) -> SessionContext {
        let config = SessionConfig::new()
            .with_target_partitions(self.partitions)
            .with_batch_size(self.batch_size)
            .with_option_extension(self.options.clone());
        let state = SessionStateBuilder::new()
            .with_config(config)
            .with_default_features()
            .with_graphar()
            .build();
        let ctx = SessionContext::new_with_state(state);
        ctx.register_object_store(&Url::parse("memory://t").unwrap(), store);
        ctx
    }
}

/// The rows of a query, a text for each: values joined by a blank, nulls as NULL.
pub async fn try_rows(ctx: &SessionContext, sql: &str) -> Result<Vec<String>> {
    let batches = ctx.sql(sql).await?.collect().await?;
    let options = FormatOptions::new().with_null("NULL");
    let mut rows = vec![];
    for batch in batches {
        let columns: Vec<ArrayFormatter> = batch
            .columns()
            .iter()
            .map(|column| ArrayFormatter::try_new(column.as_ref(), &options).unwrap())
            .collect();
        for row in 0..batch.num_rows() {
            let values: Vec<String> = columns.iter().map(|c| c.value(row).to_string()).collect();
            rows.push(values.join(" "));
        }
    }
    Ok(rows)
}

/// The rows of a query that has to work.
pub async fn rows(ctx: &SessionContext, sql: &str) -> Vec<String> {
    match try_rows(ctx, sql).await {
        Ok(rows) => rows,
        Err(error) => panic!("{sql}: {error}"),
    }
}

/// The only value of a query that has to work.
pub async fn value(ctx: &SessionContext, sql: &str) -> String {
    let rows = rows(ctx, sql).await;
    assert_eq!(rows.len(), 1, "{sql}: {rows:?}");
    rows[0].clone()
}

/// The message of a query that has to fail.
pub async fn error(ctx: &SessionContext, sql: &str) -> String {
    match try_rows(ctx, sql).await {
        Ok(rows) => panic!("{sql} gave {rows:?}"),
        Err(error) => error.strip_backtrace(),
    }
}
