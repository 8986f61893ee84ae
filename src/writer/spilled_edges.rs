//! Edges in files, read back group by group as far as they fit into memory.

use std::collections::VecDeque;
use std::mem;
use std::ops::Range;
use std::sync::Arc;

use datafusion::error::{DataFusionError, Result};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryPool, MemoryReservation};
use datafusion::physical_plan::SpillManager;
use datafusion::physical_plan::spill::get_record_batch_memory_size;
use futures::TryStreamExt;

use super::chunk_files::ChunkFiles;
use super::columns::Selection;
use super::edge_buffer::EdgeBuffer;
use super::edge_layout::{Edges, Triplet};
use super::edge_spill::{Group, Partition};
use super::output::length;
use crate::format::{AdjListType, AlignedBy};

/// The edges of a triplet, in files.
pub(super) struct SpilledEdges<'a> {
    pub(super) triplet: Triplet<'a>,
    pub(super) selection: Arc<Selection>,
    pub(super) manager: SpillManager,
    pub(super) pool: Arc<dyn MemoryPool>,
    /// The groups of parts for each end that orders layouts.
    pub(super) ends: Vec<(AlignedBy, Vec<Group>)>,
}

/// The groups of one layout that are still to come, and those that are done.
pub(super) struct Groups<'s, 'a> {
    spilled: &'s SpilledEdges<'a>,
    layout: AdjListType,
    waiting: VecDeque<Group>,
    done: Vec<Group>,
    /// Whether another layout needs the same groups.
    keep: bool,
}

/// A group whose edges are in memory.
pub(super) struct Loaded {
    group: Group,
    edges: Arc<Edges>,
}

impl Loaded {
    /// The parts of the edges.
    pub(super) fn parts(&self) -> Range<u64> {
        self.group.parts.clone()
    }

    /// The edges, in the order in which they came.
    pub(super) fn edges(&self) -> &Arc<Edges> {
        &self.edges
    }
}

/// Whether an error says that the memory pool has no room.
pub(super) fn is_exhausted(error: &DataFusionError) -> bool {
    matches!(error.find_root(), DataFusionError::ResourcesExhausted(_))
}

impl<'a> SpilledEdges<'a> {
    /// The groups of a layout, by its number in the info. They are taken out for it.
    pub(super) fn groups(&mut self, number: usize) -> Groups<'_, 'a> {
        let lists = &self.triplet.info.adj_lists;
        let layout = lists[number].layout;
        let end = layout.aligned_by();
        let mut later = lists[number..].iter().skip(1);
        let keep = later.any(|list| list.layout.aligned_by() == end);
        let mut ends = self.ends.iter_mut();
        let groups = ends.find(|(own, _)| *own == end);
        let groups = groups.map(|(_, groups)| mem::take(groups));
        Groups {
            layout,
            waiting: groups.unwrap_or_default().into(),
            done: vec![],
            keep,
            spilled: self,
        }
    }

    /// Keeps groups for the next layout that needs them.
    pub(super) fn put_back(&mut self, number: usize, done: Vec<Group>) {
        let end = self.triplet.info.adj_lists[number].layout.aligned_by();
        let mut ends = self.ends.iter_mut();
        if let Some((_, groups)) = ends.find(|(own, _)| *own == end) {
            *groups = done;
        }
    }

    fn reservation(&self) -> MemoryReservation {
        MemoryConsumer::new("graphar edges")
            .with_can_spill(true)
            .register(&self.pool)
    }

    /// The edges of a group; `memory` is there for them.
    async fn load(&self, group: &Group, memory: MemoryReservation) -> Result<Edges> {
        let vertices = self.triplet.vertices;
        let mut edges = EdgeBuffer::below(vertices);
        if let Some(file) = &group.file {
            let mut rows = self
                .manager
                .read_spill_as_stream_unbuffered(Arc::clone(file), None)?;
            while let Some(rows) = rows.try_next().await? {
                edges.push_spilled(&rows, vertices, &self.selection)?;
            }
        }
        Ok(edges.into_edges(Arc::clone(&self.selection), Some(memory))?)
    }

    /// The same edges in more files, of fewer parts each.
    async fn split(&self, end: AlignedBy, group: Group) -> Result<Vec<Group>> {
        let vertices = self.triplet.vertices;
        let mut partition = Partition::new(self.triplet, end, group.parts);
        if let Some(file) = group.file {
            let memory = self.reservation();
            let mut edges = EdgeBuffer::below(vertices);
            let mut rows = self.manager.read_spill_as_stream_unbuffered(file, None)?;
            while let Some(rows) = rows.try_next().await? {
                let ids = rows.num_rows() * edges.bytes_per_edge();
                let bytes = ids + get_record_batch_memory_size(&rows);
                if memory.try_grow(bytes).is_err() {
                    // What is in memory makes room; a single batch has to fit in any case.
                    if !edges.is_empty() {
                        partition.add(&self.manager, &edges.rows()).await?;
                        edges = EdgeBuffer::below(vertices);
                    }
                    memory.free();
                    let _ = memory.try_grow(bytes);
                }
                edges.push_spilled(&rows, vertices, &self.selection)?;
            }
            partition.add(&self.manager, &edges.rows()).await?;
        }
        partition.finish()
    }
}

impl Groups<'_, '_> {
    /// The next parts whose edges fit into memory. Groups that do not are split.
    ///
    /// # Errors
    /// If the edges of a single part do not fit, or a file cannot be read or written.
    pub(super) async fn next(&mut self, files: &mut ChunkFiles) -> Result<Option<Loaded>> {
        let end = self.layout.aligned_by();
        while let Some(group) = self.waiting.pop_front() {
            let vertices = self.spilled.triplet.vertices_of(end, &group.parts);
            let starts = match self.layout.is_ordered() {
                // Where each vertex's edges begin, and where the next one goes.
                true => length(vertices.end - vertices.start).saturating_mul(2 * size_of::<u32>()),
                false => 0,
            };
            let own = EdgeBuffer::below(self.spilled.triplet.vertices).bytes_per_edge();
            let own = length(group.rows).saturating_mul(own);
            // Once as they are read, once in one batch.
            let kept = group.bytes.saturating_add(own).saturating_add(starts);
            let needed = kept.saturating_add(group.bytes);
            let memory = self.spilled.reservation();
            let mut lent = memory.try_grow(needed);
            if lent.is_err() {
                // Chunks of earlier parts that are being encoded still take memory.
                files.drain().await?;
                lent = memory.try_grow(needed);
            }
            match lent {
                Ok(()) => {
                    let edges = self.spilled.load(&group, memory).await?;
                    edges.shrink_memory(kept);
                    let edges = Arc::new(edges);
                    return Ok(Some(Loaded { group, edges }));
                }
                Err(error) => self.refuse(group, needed, &error).await?,
            }
        }
        Ok(None)
    }

    /// Splits a group that does not fit into memory together with what else it needs, `bytes` in all.
    ///
    /// # Errors
    /// If it is a single part.
    pub(super) async fn split(
        &mut self,
        group: Loaded,
        bytes: usize,
        error: &DataFusionError,
    ) -> Result<()> {
        let Loaded { group, edges } = group;
        drop(edges);
        self.refuse(group, bytes, error).await
    }

    async fn refuse(&mut self, group: Group, needed: usize, error: &DataFusionError) -> Result<()> {
        let Range { start, end } = group.parts;
        if end - start <= 1 {
            return Err(DataFusionError::ResourcesExhausted(format!(
                "{}: layout {}: part {start} is written as a whole, for which its {} edges need {needed} bytes \
                 of memory; use smaller vertex chunks or raise the limit: {error}",
                self.spilled.triplet.info.key(),
                self.layout,
                group.rows,
            )));
        }
        let end = self.layout.aligned_by();
        for group in self.spilled.split(end, group).await?.into_iter().rev() {
            self.waiting.push_front(group);
        }
        Ok(())
    }

    /// Says that a group's files are written.
    pub(super) fn written(&mut self, group: Loaded) {
        if self.keep {
            self.done.push(group.group);
        }
    }

    /// The groups for the next layout.
    pub(super) fn finish(self) -> Vec<Group> {
        self.done
    }
}
