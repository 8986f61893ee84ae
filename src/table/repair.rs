//! Repair of edge triplets: all layouts are written anew from one whose edges are sound.
//!
//! Edges are stored once for each layout, and offsets and counts follow from them. So whatever is wrong in one layout can be made from
//! another one, and wrong offsets from the edges of their own layout. The triplet is written as by `COPY`: under fresh names, and visible
//! when the graph info is replaced at the end, so that a repair that fails leaves everything as it was.

use std::sync::Arc;

use datafusion::arrow::datatypes::Schema;
use datafusion::error::Result;
use datafusion::execution::TaskContext;
use datafusion::physical_plan::execute_stream;
use datafusion::physical_plan::metrics::ExecutionPlanMetricsSet;
use futures::TryStreamExt;

use super::Graph;
use crate::check::{Level, Rule, Violation, check};
use crate::config::GraphArOptions;
use crate::error::GraphArError;
use crate::format::{AdjListType, DESTINATION_ID, EdgeInfo, InfoKind, SOURCE_ID};
use crate::physical::scan::{ScanRequest, ScanTable, Selection, scan_rows};
use crate::storage::{Archive, InspectedArchive, Location, Placed, Stores};
use crate::writer::{GraphWriter, Spilling, WriteOptions};

/// Something that is wrong in a graph, and what is done about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repair {
    /// The file, or the folder where no single file is at fault.
    pub file: String,
    /// The rule of the check that it breaks.
    pub rule: Rule,
    /// `rebuild from <layout>`, or `none: <reason>`.
    pub action: String,
}

/// Checks the graph at `place`, and says of each violation what can be done about it; with `apply` that is done.
///
/// Reads every file once for the check, and of each triplet that is written anew one layout once more. Memory is that of the
/// check and of a `COPY` of the triplet, charged to the pool of the context.
///
/// # Errors
/// If there is no archive at `place`, the store fails, or another writer changes a triplet meanwhile. Then nothing is changed.
pub async fn repair(
    place: Location,
    apply: bool,
    stores: &Stores,
    context: &Arc<TaskContext>,
) -> Result<Vec<Repair>> {
    let found = check(
        place.clone(),
        Level::Deep,
        stores.clone(),
        context.memory_pool(),
    );
    let violations: Vec<Violation> = found.try_collect().await?;
    if violations.is_empty() {
        return Ok(vec![]);
    }
    let archive = InspectedArchive::open(&place, stores).await?;
    let plans: Vec<Plan> = archive
        .edges
        .iter()
        .map(|edge| Plan::of(edge, &archive, &violations))
        .collect();
    if apply {
        rebuild(&archive, &plans, stores, context).await?;
    }
    let repairs = violations.into_iter().map(|violation| {
        let own = plans.iter().find(|plan| plan.covers(&violation));
        let action = match own.map(|plan| &plan.source) {
            Some(Ok(layout)) => format!("rebuild from {layout}"),
            Some(Err(reason)) => format!("none: {reason}"),
            None => "none: only the files of edges can be made from others".to_owned(),
        };
        Repair {
            file: violation.file,
            rule: violation.rule,
            action,
        }
    });
    Ok(repairs.collect())
}

/// What can be done about an edge triplet.
struct Plan<'a> {
    info: &'a EdgeInfo,
    /// Its layouts and their folders.
    layouts: Vec<(AdjListType, String)>,
    /// Whether anything is wrong in it.
    broken: bool,
    /// The layout to write it from, or why it is not written.
    source: Result<AdjListType, String>,
}

/// A folder for comparison.
fn trimmed(place: &str) -> &str {
    place.trim_end_matches('/')
}

/// Whether a file is a folder or in it.
fn is_in(file: &str, folder: &str) -> bool {
    let (file, folder) = (trimmed(file), trimmed(folder));
    let rest = file.strip_prefix(folder);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

impl<'a> Plan<'a> {
    fn of(
        edge: &'a Placed<EdgeInfo>,
        archive: &InspectedArchive,
        violations: &[Violation],
    ) -> Self {
        let info = &edge.info;
        let folder = |folder: &str| edge.folder.join(folder).to_string();
        let lists = info.adj_lists.iter();
        let layouts: Vec<(AdjListType, String)> = lists
            .map(|list| (list.layout, folder(&list.folder())))
            .collect();
        let mut this = Self {
            info,
            broken: false,
            source: Err("no layout of its edges is sound".to_owned()),
            layouts,
        };
        this.broken = violations.iter().any(|violation| this.covers(violation));
        let ends = [&info.src_type, &info.dst_type];
        let mut vertices = archive.vertices.iter();
        let unsound = vertices.find(|vertex| {
            let own = vertex.folder.to_string();
            ends.contains(&&vertex.info.vertex_type)
                && violations
                    .iter()
                    .any(|violation| is_in(&violation.file, &own))
        });
        let metadata =
            |violation: &&Violation| matches!(violation.rule, Rule::Metadata | Rule::MissingInfo);
        let lists = &info.adj_lists;
        if archive.kind != InfoKind::Graph {
            this.source = Err("the info of a whole graph is needed".to_owned());
        } else if let Some(wrong) = violations.iter().find(metadata) {
            this.source = Err(format!(
                "the metadata have to be sound first: {}",
                wrong.file
            ));
        } else if let Some(vertex) = unsound {
            let name = &vertex.info.vertex_type;
            this.source = Err(format!("the vertices of {name} have to be sound first"));
        } else if lists.iter().any(|list| !list.property_groups.is_empty()) {
            this.source = Err("its layouts have properties of their own".to_owned());
        } else if this.is_undecided(violations) {
            this.source =
                Err("its layouts disagree, and no majority tells which is right".to_owned());
        } else if let Some(layout) = this.sound(violations, &folder) {
            this.source = Ok(layout);
        }
        this
    }

    /// Whether something that is wrong is in this triplet.
    fn covers(&self, violation: &Violation) -> bool {
        let mut layouts = self.layouts.iter();
        layouts.any(|(_, folder)| is_in(&violation.file, folder))
    }

    /// Whether layouts hold different edges, and those that nothing else is wrong with are no majority.
    fn is_undecided(&self, violations: &[Violation]) -> bool {
        let (mut sound, mut contradicted) = (0, 0);
        for (_, folder) in &self.layouts {
            let inside = violations.iter().filter(|found| is_in(&found.file, folder));
            let (edges, others): (Vec<_>, Vec<_>) =
                inside.partition(|found| found.rule == Rule::LayoutEdges);
            match (edges.is_empty(), others.is_empty()) {
                (true, true) => sound += 1,
                (false, true) => contradicted += 1,
                _ => {}
            }
        }
        contradicted > 0 && sound <= contradicted
    }

    /// A layout whose edges can be read as they are. Of those without any violation the first; offsets are not needed to read all edges.
    fn sound(
        &self,
        violations: &[Violation],
        folder: &dyn Fn(&str) -> String,
    ) -> Option<AdjListType> {
        let lists = self.info.adj_lists.iter();
        let candidates = lists
            .zip(&self.layouts)
            .filter_map(|(list, (layout, own))| {
                let offsets = folder(&format!("{}offset", list.folder()));
                let inside = violations.iter().filter(|found| is_in(&found.file, own));
                let (in_offsets, others): (Vec<_>, Vec<_>) =
                    inside.partition(|found| is_in(&found.file, &offsets));
                others.is_empty().then_some((in_offsets.len(), *layout))
            });
        // The first of equals.
        let best = candidates.min_by_key(|(wrong, _)| *wrong);
        best.map(|(_, layout)| layout)
    }
}

/// Writes the broken triplets anew, and shows all of them at once.
async fn rebuild(
    archive: &InspectedArchive,
    plans: &[Plan<'_>],
    stores: &Stores,
    context: &Arc<TaskContext>,
) -> Result<()> {
    let wanted = plans.iter().filter(|plan| plan.broken);
    let wanted: Vec<(&EdgeInfo, AdjListType)> = wanted
        .filter_map(|plan| Some((plan.info, *plan.source.as_ref().ok()?)))
        .collect();
    if wanted.is_empty() {
        return Ok(());
    }
    let options = GraphArOptions::of(context.session_config().options());
    let opened = Archive::open_at(archive.file.clone(), stores).await?;
    let graph = Graph::new(opened, &options, None);
    let metrics = ExecutionPlanMetricsSet::new();
    let write = WriteOptions {
        parallel: context.session_config().target_partitions(),
        pool: Arc::clone(context.memory_pool()),
        spilling: Spilling::of_context(context, &metrics),
        ..WriteOptions::default()
    };
    let mut writer = GraphWriter::open_at(archive.file.clone(), stores, write).await?;
    for (info, layout) in wanted {
        let name = format!("{}${layout}", info.key());
        let Some(table) = graph.table(&name)? else {
            return Err(GraphArError::UnknownElement {
                kind: "layout".to_owned(),
                name,
                candidates: vec![],
            }
            .into());
        };
        let table: Arc<ScanTable> = match table.rows() {
            Ok(table) => Arc::clone(table),
            Err(error) => return Err(GraphArError::again(error)),
        };
        let ends = ends_of(&table.schema)?;
        // One partition, in the order of the file: edges of a vertex keep theirs.
        let plan = scan_rows(ScanRequest {
            table: &table,
            projection: None,
            limit: None,
            selection: Selection::All,
            conditions: vec![],
            open: None,
            properties: vec![],
            choice: None,
            partitions: 1,
            options: &options,
        })?;
        let rows = execute_stream(plan, Arc::clone(context))?;
        let mut info = info.clone();
        info.src_chunk_size = writer.chunk_size(&info.src_type).await?;
        info.dst_chunk_size = writer.chunk_size(&info.dst_type).await?;
        writer.write_edge_stream(info, ends, rows).await?;
    }
    writer.commit().await?;
    Ok(())
}

/// Where the ids of source and destination stand.
fn ends_of(schema: &Schema) -> Result<[usize; 2]> {
    Ok([
        schema.index_of(SOURCE_ID)?,
        schema.index_of(DESTINATION_ID)?,
    ])
}
