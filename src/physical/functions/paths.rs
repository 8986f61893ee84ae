//! `shortest_path`: paths between all pairs of sources and targets.
//!
//! Without weights: from both ends for few targets and adjacency of both directions, else one search from each source. With weights: one
//! search from each source. A path's edges are rows of the edge table.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, Float64Array, Int64Array, ListArray, RecordBatch};
use datafusion::arrow::buffer::OffsetBuffer;
use datafusion::arrow::datatypes::{DataType, Field, SchemaRef};
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::memory_pool::MemoryReservation;
use futures::{StreamExt, stream};

use super::run::{Rows, Run};
use super::weights::weights;
use crate::graph::algorithms::{
    Bidirectional, CheapestPaths, PathEdge, ShortestTree, VertexSet, Way, Ways,
};
use crate::graph::{RowLists, Stop};

/// Targets for each of which a search of its own costs less than one for all of them.
const FEW_TARGETS: usize = 4;

/// Ids in the lists of a batch, but for those of its last row.
const BATCH_IDS: usize = 1 << 16;

/// How paths are found.
#[derive(Debug)]
enum Finder {
    Pairs(Bidirectional, Ways),
    Tree(ShortestTree, Ways),
    Cheapest {
        search: CheapestPaths,
        lists: Vec<RowLists>,
        weights: Vec<f64>,
        /// Targets that the current source reaches, and the numbers of the paths.
        found: Vec<(u32, usize)>,
    },
}

/// A search through all pairs.
#[derive(Debug)]
struct Search {
    finder: Finder,
    way: Way,
    /// The lists by which rows of edges are found, and their end.
    rows: (RowLists, usize),
    sources: Vec<u32>,
    targets: Vec<u32>,
    wanted: VertexSet,
    most: Option<u64>,
    /// The next pair.
    source: usize,
    target: usize,
    /// Whether the tree of the source is there.
    grown: bool,
    size: usize,
    schema: SchemaRef,
}

/// Rows that are put together.
#[derive(Debug, Default)]
struct Paths {
    sources: Vec<i64>,
    targets: Vec<i64>,
    costs: Vec<f64>,
    vertices: Vec<i64>,
    vertex_counts: Vec<usize>,
    edges: Vec<i64>,
    edge_counts: Vec<usize>,
}

pub(super) async fn shortest_path(
    run: Run,
    most: Option<u64>,
    weight: Option<usize>,
) -> Result<Rows> {
    let count = run.vertices(0)?;
    let (sources, targets) = (run.ids(0, count).await?, run.ids(1, count).await?);
    if sources.is_empty() || targets.is_empty() {
        // Without pairs nothing has to be read.
        return Ok(stream::empty().boxed());
    }
    let end = run.call.edges.default_end().unwrap_or(0);
    let rows = run.row_lists(end).await?;
    let finder = finder(&run, &rows, end, weight, targets.len()).await?;
    run.grow(VertexSet::bytes(count))?;
    let mut wanted = VertexSet::new(count);
    for target in &targets {
        wanted.insert(*target as usize);
    }
    let search = Search {
        finder,
        way: run.call.way,
        rows: (rows, end),
        sources,
        targets,
        wanted,
        most,
        source: 0,
        target: 0,
        grown: false,
        size: run.batch_size(),
        schema: Arc::clone(&run.schema),
    };
    let batches = stream::try_unfold((run, search), |(run, mut search)| async move {
        let memory = run.memory();
        let filled = run.blocking(move |stop| {
            let batch = search.batch(&memory, stop)?;
            Ok::<_, DataFusionError>((search, batch))
        });
        let (search, batch) = filled.await?;
        Ok(batch.map(|batch| (batch, (run, search))))
    });
    Ok(batches.boxed())
}

async fn finder(
    run: &Run,
    rows: &RowLists,
    end: usize,
    weight: Option<usize>,
    targets: usize,
) -> Result<Finder> {
    let (count, way) = (run.vertices(0)?, run.call.way);
    if let Some(column) = weight {
        let weights = weights(run, column, rows, end).await?;
        let mut lists = vec![];
        for own in way.ends() {
            lists.push(match *own == end {
                true => rows.clone(),
                false => run.row_lists(*own).await?,
            });
        }
        run.grow(CheapestPaths::bytes(count))?;
        let (search, found) = (CheapestPaths::new(count), vec![]);
        return Ok(Finder::Cheapest {
            search,
            lists,
            weights,
            found,
        });
    }
    let mut ways = Ways::default();
    for own in way.ends() {
        ways.forward.push(run.lists(*own).await?);
    }
    let back = way.back().ends();
    let stored = back.iter().all(|own| run.source().has_lists_of(*own));
    if targets <= FEW_TARGETS && (stored || way == Way::Any) {
        ways.backward = match way {
            Way::Any => ways.forward.clone(),
            _ => vec![run.lists(back[0]).await?],
        };
        run.grow(Bidirectional::bytes(count))?;
        return Ok(Finder::Pairs(Bidirectional::new(count), ways));
    }
    run.grow(ShortestTree::bytes(count))?;
    Ok(Finder::Tree(ShortestTree::new(count), ways))
}

impl Search {
    /// The next rows; `None` if there are none left.
    fn batch(&mut self, memory: &MemoryReservation, stop: &Stop) -> Result<Option<RecordBatch>> {
        let mut paths = Paths::default();
        while paths.sources.len() < self.size && paths.vertices.len() < BATCH_IDS {
            let Some(source) = self.sources.get(self.source).copied() else {
                break;
            };
            if !self.grown {
                self.grow(source, memory, stop)?;
                self.grown = true;
            }
            let pair = self.targets.get(self.target).copied();
            let Some(target) = pair else {
                self.source += 1;
                (self.target, self.grown) = (0, false);
                continue;
            };
            self.target += 1;
            self.add(source, target, &mut paths, stop)?;
        }
        if paths.sources.is_empty() {
            return Ok(None);
        }
        paths.batch(&self.schema).map(Some)
    }

    /// Searches for all targets of a source, if they are searched together.
    fn grow(&mut self, source: u32, memory: &MemoryReservation, stop: &Stop) -> Result<()> {
        let targets = (&self.wanted, self.targets.len());
        let most = self.most.unwrap_or(u64::MAX);
        match &mut self.finder {
            Finder::Pairs(..) => {}
            Finder::Tree(tree, ways) => tree.grow(source, targets, most, &ways.forward, stop)?,
            Finder::Cheapest {
                search,
                lists,
                weights,
                found,
            } => {
                // No path of least cost has a vertex twice.
                let most = self.most.and_then(|most| u32::try_from(most).ok());
                let edges = PathEdge { lists, weights };
                *found = search.search(source, targets, most, edges, memory, stop)?;
                found.sort_unstable();
            }
        }
        Ok(())
    }

    /// Adds the path between a pair, if there is one.
    fn add(&mut self, source: u32, target: u32, paths: &mut Paths, stop: &Stop) -> Result<()> {
        let most = self.most.unwrap_or(u64::MAX);
        let path = match &mut self.finder {
            Finder::Pairs(search, ways) => search.path((source, target), most, ways, stop)?,
            Finder::Tree(tree, _) => tree.path(target),
            Finder::Cheapest { search, found, .. } => {
                if let Ok(at) = found.binary_search_by_key(&target, |(target, _)| *target) {
                    let path = search.path(found[at].1);
                    paths.costs.push(path.cost);
                    paths.add(source, target, &path.vertices, path.rows.into_iter());
                }
                return Ok(());
            }
        };
        if let Some(path) = path {
            stop.check()?;
            let rows = path.windows(2).map(|step| self.row(step[0], step[1]));
            paths.add(source, target, &path, rows);
        }
        Ok(())
    }

    /// The first row of an edge that a step can take.
    fn row(&self, from: u32, to: u32) -> u64 {
        let (lists, end) = &self.rows;
        let row = |source: u32, destination: u32| {
            let (own, other) = match end {
                0 => (source, destination),
                _ => (destination, source),
            };
            lists.row_to(u64::from(own), u64::from(other))
        };
        let out = (self.way != Way::In).then(|| row(from, to)).flatten();
        let back = (self.way != Way::Out).then(|| row(to, from)).flatten();
        let rows = out.into_iter().chain(back);
        rows.min().unwrap_or(u64::MAX)
    }
}

impl Paths {
    fn add(
        &mut self,
        source: u32,
        target: u32,
        vertices: &[u32],
        rows: impl ExactSizeIterator<Item = u64>,
    ) {
        self.sources.push(i64::from(source));
        self.targets.push(i64::from(target));
        self.vertex_counts.push(vertices.len());
        self.vertices
            .extend(vertices.iter().map(|id| i64::from(*id)));
        self.edge_counts.push(rows.len());
        // Rows are in memory, so there are fewer than 2^63.
        self.edges
            .extend(rows.map(|row| i64::try_from(row).unwrap_or(i64::MAX)));
    }

    fn batch(self, schema: &SchemaRef) -> Result<RecordBatch> {
        let length: ArrayRef = if self.costs.is_empty() {
            let lengths = self.edge_counts.iter();
            let lengths = lengths.map(|count| i64::try_from(*count).unwrap_or(i64::MAX));
            Arc::new(Int64Array::from_iter_values(lengths))
        } else {
            Arc::new(Float64Array::from(self.costs))
        };
        let columns: Vec<ArrayRef> = vec![
            Arc::new(Int64Array::from(self.sources)),
            Arc::new(Int64Array::from(self.targets)),
            length,
            lists(self.vertices, self.vertex_counts)?,
            lists(self.edges, self.edge_counts)?,
        ];
        Ok(RecordBatch::try_new(Arc::clone(schema), columns)?)
    }
}

fn lists(ids: Vec<i64>, counts: Vec<usize>) -> Result<ArrayRef> {
    let field = Arc::new(Field::new_list_field(DataType::Int64, false));
    let offsets = OffsetBuffer::from_lengths(counts);
    let ids = Arc::new(Int64Array::from(ids));
    Ok(Arc::new(ListArray::try_new(field, offsets, ids, None)?))
}
