//! One edge triplet: the counts, edges, offsets and properties of each of its layouts.

use datafusion::error::Result;

use super::chunks::{Find, MOST_MISSING, Series, Walked};
use super::counts::{self, Count};
use super::edge_look::{EdgeLook, Part};
use super::layouts::{self, Checksum, LayoutEdges};
use super::offsets::{self, Offsets};
use super::shape::settle;
use super::values::ValuesLook;
use super::{Context, Rule};
use crate::format::{AdjListPaths, AdjacentList, AlignedBy, EdgeInfo, chunk_count};
use crate::storage::{Placed, adj_list_schema, edge_group_schema};

/// Numbers of sources and destinations, where they are known.
pub(super) type Ends = (Option<u64>, Option<u64>);

/// Checks an edge triplet.
pub(super) async fn check_edges(
    context: &Context,
    edge: &Placed<EdgeInfo>,
    ends: Ends,
) -> Result<()> {
    let mut found = vec![];
    for list in &edge.info.adj_lists {
        let layout = Layout {
            context,
            edge,
            list,
            paths: AdjListPaths::new(edge.folder.path(), list),
            ends,
        };
        found.push(Box::pin(layout.check()).await?);
    }
    layouts::compare(context, &found);
    Ok(())
}

struct Layout<'a> {
    context: &'a Context,
    edge: &'a Placed<EdgeInfo>,
    list: &'a AdjacentList,
    paths: AdjListPaths,
    ends: Ends,
}

/// The edges of a layout, added up part by part.
#[derive(Default)]
struct Sum {
    total: u64,
    edges: Checksum,
    /// Whether all edges are counted.
    counted: bool,
    /// Whether all of them can be edges.
    sound: bool,
}

impl Layout<'_> {
    fn part_size(&self) -> u64 {
        self.edge.info.part_size(self.list.layout).max(1)
    }

    async fn check(&self) -> Result<LayoutEdges> {
        let mut sum = Sum {
            counted: true,
            sound: true,
            ..Sum::default()
        };
        match self.aligned().await {
            Some(aligned) => self.parts(aligned, &mut sum).await?,
            None => sum.counted = false,
        }
        let deep = self.context.is_deep();
        Ok(LayoutEdges {
            layout: self.list.layout,
            folder: self.edge.folder.join(&self.list.folder()),
            total: sum.counted.then_some(sum.total),
            edges: (deep && sum.counted && sum.sound).then_some(sum.edges),
        })
    }

    /// The number of vertices of the aligned type. `None` if it is not known, or there is no layout.
    async fn aligned(&self) -> Option<u64> {
        let (context, info, folder) = (self.context, &self.edge.info, &self.edge.folder);
        let (vertex_type, expected) = match self.list.layout.aligned_by() {
            AlignedBy::Source => (&info.src_type, self.ends.0),
            AlignedBy::Destination => (&info.dst_type, self.ends.1),
        };
        let file = folder.with_path(&self.paths.vertex_count());
        match counts::read(context, &file).await {
            Count::Read(count) => {
                if let Some(expected) = expected.filter(|expected| *expected != count) {
                    let expected = format!("{expected}, the vertices of type {vertex_type}");
                    let report = &context.report;
                    report.add(&file, Rule::AlignedCount, expected, count.to_string());
                }
                Some(expected.unwrap_or(count))
            }
            Count::Missing => {
                let others = [
                    self.paths.edge_count(0),
                    self.paths.adj_list_chunk(0, 0),
                    self.paths.offset_chunk(0),
                ];
                for other in others {
                    if counts::is_there(context, &folder.with_path(&other)).await {
                        let what = format!("the number of vertices of type {vertex_type}");
                        counts::missing(context, &file, &what);
                        return expected;
                    }
                }
                let expected = format!("the files of {} ({})", info.key(), self.list.layout);
                let report = &context.report;
                report.add(&file, Rule::NoData, expected, "no such file");
                None
            }
            Count::Broken => expected,
        }
    }

    async fn parts(&self, aligned: u64, sum: &mut Sum) -> Result<()> {
        let size = self.part_size();
        let (parts, mut missing) = (chunk_count(aligned, size), 0);
        for part in 0..parts {
            let begin = part * size;
            let vertices = begin..begin.saturating_add(size).min(aligned);
            let file = self.edge.folder.with_path(&self.paths.edge_count(part));
            let count = match counts::read(self.context, &file).await {
                Count::Read(count) => Some(count),
                Count::Missing => {
                    missing += 1;
                    let behind = parts - 1 - part;
                    let stop = missing == MOST_MISSING && behind > 0;
                    let what = format!("the number of edges of part {part} of {parts}");
                    if stop {
                        let found = format!(
                            "no such file; the {behind} parts behind it were not looked at"
                        );
                        let report = &self.context.report;
                        report.add(&file, Rule::MissingFile, what, found);
                        sum.counted = false;
                        return Ok(());
                    }
                    counts::missing(self.context, &file, &what);
                    self.count_part(part).await
                }
                Count::Broken => self.count_part(part).await,
            };
            let Some(count) = count else {
                sum.counted = false;
                continue;
            };
            missing = 0;
            self.part(part, vertices, count, sum).await?;
        }
        Ok(())
    }

    async fn count_part(&self, part: u64) -> Option<u64> {
        counts::count_chunks(self.context, &self.adj_list(part, 0)).await
    }

    async fn part(
        &self,
        part: u64,
        vertices: std::ops::Range<u64>,
        count: u64,
        sum: &mut Sum,
    ) -> Result<()> {
        let (context, layout) = (self.context, self.list.layout);
        let mut known: Option<Offsets> = None;
        if layout.is_ordered() {
            let place = (&self.edge.folder, part);
            let size = vertices.end - vertices.start;
            known = offsets::read(context, &self.paths, self.list.file_type, place, size).await?;
        }
        let degrees = known
            .as_mut()
            .map(|known| std::mem::take(&mut known.degrees));
        let first = vertices.start;
        let counts = self.ends;
        let mut look = EdgeLook::new(
            Part {
                layout,
                vertices,
                counts,
            },
            degrees,
        );
        let adj_list = self.adj_list(part, count);
        let walked = adj_list.walk(context, &mut look).await?;
        let Walked {
            rows,
            counted,
            read,
            ..
        } = walked;
        if let (Some(known), Some(left)) = (known, &look.degrees)
            && counted
            && read
            && !look.stray
        {
            known.compare(context, left, rows, first);
        }
        sum.total = sum.total.saturating_add(rows);
        sum.edges.merge(&look.sum);
        // What has been reported then says more than that the layouts differ.
        sum.counted &= counted;
        sum.sound &= read && !look.unsound;
        let mut walks = vec![walked];
        for group in self.edge.info.property_groups_of(layout) {
            let series = Series {
                folder: &self.edge.folder,
                file_type: group.file_type,
                declared: edge_group_schema(group),
                find: Find::Name,
                rows: count,
                chunk_size: self.edge.info.chunk_size,
                counted_in: format!("edge_count{part}"),
                path: Box::new(move |chunk| self.paths.property_chunk(group, part, chunk)),
            };
            let mut look = ValuesLook::of_group(group, None);
            walks.push(series.walk(context, &mut look).await?);
        }
        let file = self.edge.folder.with_path(&self.paths.edge_count(part));
        settle(context, &file, count, walks);
        Ok(())
    }

    fn adj_list(&self, part: u64, rows: u64) -> Series<'_> {
        Series {
            folder: &self.edge.folder,
            file_type: self.list.file_type,
            declared: adj_list_schema(),
            find: Find::Name,
            rows,
            chunk_size: self.edge.info.chunk_size,
            counted_in: format!("edge_count{part}"),
            path: Box::new(move |chunk| self.paths.adj_list_chunk(part, chunk)),
        }
    }
}
