//! A registered graph: its archive and the tables made from it.

use std::cmp::Reverse;
use std::sync::Arc;

use datafusion::arrow::datatypes::Schema;
use datafusion::catalog::TableProvider;
use datafusion::common::HashMap;

use super::ElementTable;
use super::tables::{edge_table, vertex_table};
use crate::config::GraphArOptions;
use crate::error::{GraphArError, Result};
use crate::format::{AdjListType, EdgeRows};
use crate::graph::{Adjacency, Direction};
use crate::storage::{
    Archive, EdgeCounts, EdgeData, FileAccess, FileCache, Loaded, ReadMeter, Stores, VertexData,
};

/// Between the name of an edge table and the layout that it is to be read in.
const LAYOUT_MARK: char = '$';

/// An opened archive and its tables, as of the moment it was opened.
#[derive(Debug)]
pub struct Graph {
    archive: Archive,
    /// Vertex types, then edge triplets, by name and in the order of the graph info.
    tables: Vec<(String, Arc<ElementTable>)>,
    /// Single layouts, by the full name of the table.
    layouts: HashMap<String, Arc<ElementTable>>,
}

impl Graph {
    /// Opens the archive at `location` and makes its tables. See [`Archive::open`] for the locations
    /// there are, the cost and the errors.
    /// The scans of its tables remember what they read in `cache`, if there is one.
    pub async fn open(
        location: &str,
        stores: &Stores,
        options: &GraphArOptions,
        cache: Option<&Arc<FileCache>>,
    ) -> Result<Self> {
        Ok(Self::new(
            Archive::open(location, stores).await?,
            options,
            cache,
        ))
    }

    /// Makes the tables of an archive.
    pub fn new(archive: Archive, options: &GraphArOptions, cache: Option<&Arc<FileCache>>) -> Self {
        let mut tables: Vec<(String, Arc<ElementTable>)> = vec![];
        let mut layouts = HashMap::new();
        for vertex in &archive.vertices {
            let name = vertex.info.vertex_type.clone();
            tables.push((name, Arc::new(vertex_element(vertex, options, cache))));
        }
        for edge in &archive.edges {
            let name = edge.info.key();
            let mut made = vec![];
            for (number, list) in edge.info.adj_lists.iter().enumerate() {
                let table = Arc::new(layout_element(edge, number, options, cache));
                let full = format!("{name}{LAYOUT_MARK}{}", list.layout);
                layouts.insert(full, Arc::clone(&table));
                made.push((list.layout, table));
            }
            tables.push((name, default_layout(edge, &made)));
        }
        Self {
            archive,
            tables,
            layouts,
        }
    }

    /// The archive.
    pub fn archive(&self) -> &Archive {
        &self.archive
    }

    /// The tables of vertex types and edge triplets, in the order of the graph info.
    pub fn tables(&self) -> &[(String, Arc<ElementTable>)] {
        &self.tables
    }

    /// The table `name`: a vertex type, an edge triplet as `<source>_<edge>_<destination>`, or that with
    /// `$<layout>` behind it.
    ///
    /// # Errors
    /// If the graph info names an element of this name, but its info file is missing.
    pub fn table(&self, name: &str) -> Result<Option<Arc<ElementTable>>> {
        if let Some((_, table)) = self.tables.iter().find(|(own, _)| own == name) {
            return Ok(Some(Arc::clone(table)));
        }
        if let Some(table) = self.layouts.get(name) {
            return Ok(Some(Arc::clone(table)));
        }
        let missing = self.archive.missing.iter().find(|info| info.name == name);
        match missing {
            Some(info) => Err(info.error()),
            None => Ok(None),
        }
    }

    /// Look-ups of neighbours along the edge triplet `name`, written as its table's name.
    ///
    /// # Errors
    /// If there is no such triplet, it has no data, or no layout is ordered by the end that the
    /// direction starts from.
    pub fn adjacency(&self, name: &str, direction: Direction) -> Result<Adjacency> {
        let edges = &self.archive.edges;
        let Some(edge) = edges.iter().find(|edge| edge.info.key() == name) else {
            return Err(GraphArError::UnknownElement {
                kind: "edge triplet".to_owned(),
                name: name.to_owned(),
                candidates: edges.iter().map(|edge| edge.info.key()).collect(),
            });
        };
        let layout = AdjListType::new(true, direction.from());
        let table = self.layouts.get(&format!("{name}{LAYOUT_MARK}{layout}"));
        let Some(table) = table else {
            let stored = edge
                .info
                .adj_lists
                .iter()
                .map(|list| list.layout.to_string());
            return Err(GraphArError::UnknownElement {
                kind: format!("layout of {name}"),
                name: layout.to_string(),
                candidates: stored.collect(),
            });
        };
        let table = match table.rows() {
            Ok(table) => table,
            Err(error) => return Err(GraphArError::Shared(Arc::clone(error))),
        };
        let aligned = table.aligned.as_ref();
        let Some(offsets) = aligned.and_then(|aligned| aligned.offsets.clone()) else {
            return Err(GraphArError::NoData {
                element: format!("{name} ({layout})"),
                path: edge.folder.to_string(),
            });
        };
        let store = Arc::clone(edge.folder.store());
        let url = edge.folder.store_url().as_str();
        let access = FileAccess::new(store, url, table.cache.clone(), ReadMeter::default());
        Ok(Adjacency::new(offsets, access))
    }

    /// Whether [`table`](Self::table) has an answer for `name`, be it an error.
    pub fn knows(&self, name: &str) -> bool {
        self.table(name).map_or(true, |table| table.is_some())
    }
}

fn vertex_element(
    vertex: &VertexData,
    options: &GraphArOptions,
    cache: Option<&Arc<FileCache>>,
) -> ElementTable {
    match &vertex.count {
        Ok(count) => ElementTable::new(vertex_table(vertex, *count, options, cache)),
        Err(error) => {
            let schema = vertex_table(vertex, 0, options, None).schema;
            ElementTable::unreadable(schema, Arc::clone(error))
        }
    }
}

fn layout_element(
    edge: &EdgeData,
    number: usize,
    options: &GraphArOptions,
    cache: Option<&Arc<FileCache>>,
) -> ElementTable {
    match &edge.layouts[number] {
        Ok(counts) => ElementTable::new(edge_table(edge, number, counts, options, cache)),
        Err(error) => {
            let none = EdgeCounts {
                aligned: 0,
                rows: EdgeRows::empty(),
            };
            let schema = edge_table(edge, number, &none, options, None).schema;
            ElementTable::unreadable(schema, Arc::clone(error))
        }
    }
}

/// The layout that stands for the triplet: of those that can be read, one with all properties,
/// in the order of [`AdjListType::ALL`]. Layouts are copies, so they must have equally many edges.
fn default_layout(
    edge: &EdgeData,
    layouts: &[(AdjListType, Arc<ElementTable>)],
) -> Arc<ElementTable> {
    let rank = |(layout, table): &&(AdjListType, Arc<ElementTable>)| {
        let groups = edge.info.property_groups_of(*layout);
        let properties: usize = groups.iter().map(|group| group.properties.len()).sum();
        let preferred = AdjListType::ALL.iter().position(|l| l == layout);
        (table.rows().is_err(), Reverse(properties), preferred)
    };
    let Some((_, table)) = layouts.iter().min_by_key(rank) else {
        // The format reader refuses a triplet without layouts.
        let schema = Arc::new(Schema::empty());
        let error = GraphArError::NoData {
            element: edge.info.key(),
            path: edge.folder.to_string(),
        };
        return Arc::new(ElementTable::unreadable(schema, Arc::new(error)));
    };
    match contradiction(edge) {
        Some(error) if table.rows().is_ok() => {
            Arc::new(ElementTable::unreadable(table.schema(), Arc::new(error)))
        }
        _ => {
            let copies = layouts
                .iter()
                .filter_map(|(_, copy)| copy.rows().as_ref().ok());
            let others = copies.filter(|copy| {
                table
                    .rows()
                    .as_ref()
                    .is_ok_and(|own| !Arc::ptr_eq(own, copy))
            });
            let others = others.cloned().collect();
            Arc::new(ElementTable::clone(table).with_copies(others))
        }
    }
}

/// Two layouts with different numbers of edges.
fn contradiction(edge: &EdgeData) -> Option<GraphArError> {
    let mut counted = edge.info.adj_lists.iter().zip(&edge.layouts).filter_map(
        |(list, counts): (_, &Loaded<EdgeCounts>)| Some((list, counts.as_ref().ok()?.rows.total())),
    );
    let (first, total) = counted.next()?;
    let (other, found) = counted.find(|(_, other)| *other != total)?;
    let path = edge.folder.join(&other.folder());
    Some(GraphArError::corrupt(
        format!("{path}/edge_count*"),
        format!("edges of {} in {}", edge.info.key(), other.layout),
        format!("{total} as in {}", first.layout),
        found.to_string(),
    ))
}
