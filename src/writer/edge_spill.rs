//! Edges on their way into files, one for each group of parts.

use std::ops::Range;
use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::error::Result;
use datafusion::execution::SpillFile;
use datafusion::execution::memory_pool::MemoryPool;
use datafusion::physical_plan::SpillManager;
use tokio::task::yield_now;

use super::columns::Selection;
use super::edge_buffer::{EdgeRows, spill_schema};
use super::edge_layout::Triplet;
use super::edge_order::EdgeOrder;
use super::output::length;
use super::spilled_edges::SpilledEdges;
use super::spilling::Spilling;
use crate::format::{AdjListType, AlignedBy};

/// Most files that are written at once for one end of the edges.
const MAX_GROUPS: u64 = 64;

/// Rows of a batch in a file.
const BATCH_ROWS: usize = 8192;

/// Neighbouring parts, and the file of their edges in the order in which they came; none without edges.
pub(super) struct Group {
    pub(super) parts: Range<u64>,
    pub(super) file: Option<Arc<dyn SpillFile>>,
    pub(super) rows: u64,
    /// What they take in memory.
    pub(super) bytes: usize,
}

/// Some parts of the layouts that one end orders, as groups whose files are written.
pub(super) struct Partition<'a> {
    triplet: Triplet<'a>,
    end: AlignedBy,
    parts: Range<u64>,
    /// Parts of a group.
    width: u64,
    groups: Vec<Growing>,
}

/// Adds rows to a file and gives their bytes in memory, or ends it and gives the file: DataFusion's type for a file
/// that is written has no public name.
type Append =
    Box<dyn FnMut(Option<&RecordBatch>) -> Result<(usize, Option<Arc<dyn SpillFile>>)> + Send>;

fn begin(manager: &SpillManager) -> Result<Append> {
    let mut file = manager.create_in_progress_file("graphar edges")?;
    Ok(Box::new(move |rows| match rows {
        Some(rows) => Ok((file.append_batch(rows)?, None)),
        None => Ok((0, file.finish()?)),
    }))
}

#[derive(Default)]
struct Growing {
    file: Option<Append>,
    rows: u64,
    bytes: usize,
}

impl<'a> Partition<'a> {
    pub(super) fn new(triplet: Triplet<'a>, end: AlignedBy, parts: Range<u64>) -> Self {
        let count = parts.end - parts.start;
        let width = count.div_ceil(MAX_GROUPS).max(1);
        let groups = (0..count.div_ceil(width)).map(|_| Growing::default());
        Self {
            triplet,
            end,
            parts,
            width,
            groups: groups.collect(),
        }
    }

    /// Adds edges of these parts.
    pub(super) async fn add(&mut self, manager: &SpillManager, edges: &EdgeRows<'_>) -> Result<()> {
        // A group is to an order what a part is.
        let layout = match self.end {
            AlignedBy::Source => AdjListType::UnorderedBySource,
            AlignedBy::Destination => AdjListType::UnorderedByDest,
        };
        let vertices = self.triplet.vertices_of(self.end, &self.parts);
        let vertices = length(vertices.start)..length(vertices.end);
        let width = self.triplet.part_size(self.end).saturating_mul(self.width);
        let (file, ids) = (self.triplet.info_file, edges.end(self.end));
        let order = EdgeOrder::try_new(file, layout, ids, vertices, length(width))?;
        for (number, group) in self.groups.iter_mut().enumerate() {
            let places = order.part(number);
            for start in places.clone().step_by(BATCH_ROWS) {
                let places = start..start.saturating_add(BATCH_ROWS).min(places.end);
                let rows = edges.take(manager.schema(), &order, places)?;
                group.append(manager, &rows)?;
                // Writing blocks: others have their turn, and a statement that is cancelled ends here.
                yield_now().await;
            }
        }
        Ok(())
    }

    /// The groups, in the order of their parts.
    pub(super) fn finish(self) -> Result<Vec<Group>> {
        let Self {
            parts,
            width,
            groups,
            ..
        } = self;
        let mut first = parts.start;
        let finished = groups.into_iter().map(|group| {
            let start = first;
            first = first.saturating_add(width).min(parts.end);
            let file = match group.file {
                Some(mut file) => file(None)?.1,
                None => None,
            };
            Ok(Group {
                parts: start..first,
                file,
                rows: group.rows,
                bytes: group.bytes,
            })
        });
        finished.collect()
    }
}

impl Growing {
    fn append(&mut self, manager: &SpillManager, rows: &RecordBatch) -> Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(begin(manager)?),
        };
        self.bytes += file(Some(rows))?.0;
        self.rows += rows.num_rows() as u64;
        Ok(())
    }
}

/// All edges of a triplet on their way into files, once for each end that orders layouts.
pub(super) struct EdgeSpill<'a> {
    triplet: Triplet<'a>,
    selection: Arc<Selection>,
    manager: SpillManager,
    pool: Arc<dyn MemoryPool>,
    ends: Vec<Partition<'a>>,
}

impl<'a> EdgeSpill<'a> {
    pub(super) fn new(
        triplet: Triplet<'a>,
        selection: &Arc<Selection>,
        spilling: &Spilling,
        pool: &Arc<dyn MemoryPool>,
    ) -> Self {
        let ends = [AlignedBy::Source, AlignedBy::Destination];
        let lists = &triplet.info.adj_lists;
        let used = |end: &AlignedBy| lists.iter().any(|l| l.layout.aligned_by() == *end);
        let ends = ends.into_iter().filter(used);
        Self {
            triplet,
            selection: Arc::clone(selection),
            manager: spilling.manager(spill_schema(selection.schema())),
            pool: Arc::clone(pool),
            ends: ends
                .map(|end| Partition::new(triplet, end, 0..triplet.parts(end)))
                .collect(),
        }
    }

    /// Adds edges, behind those before.
    pub(super) async fn add(&mut self, edges: &EdgeRows<'_>) -> Result<()> {
        for partition in &mut self.ends {
            partition.add(&self.manager, edges).await?;
        }
        Ok(())
    }

    /// The files.
    pub(super) fn finish(self) -> Result<SpilledEdges<'a>> {
        let ends = self.ends.into_iter().map(|partition| {
            let end = partition.end;
            Ok((end, partition.finish()?))
        });
        Ok(SpilledEdges {
            ends: ends.collect::<Result<_>>()?,
            triplet: self.triplet,
            selection: self.selection,
            manager: self.manager,
            pool: self.pool,
        })
    }
}
