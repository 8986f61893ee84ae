//! What a `COPY` writes: the info of a vertex type or of an edge triplet.

use datafusion::arrow::datatypes::{DataType, Schema};
use datafusion::common::{config_err, plan_err};
use datafusion::error::Result;

use super::adapt::property_of;
use super::options::{EDGE_CHUNK_SIZE, Options, VERTEX_CHUNK_SIZE, file_type, names};
use crate::format::{
    AdjacentList, Cardinality, DESTINATION_ID, EdgeInfo, FileType, LABELS, Property, PropertyGroup,
    SOURCE_ID, VERTEX_ID, VertexInfo,
};

/// The element type that a statement writes.
#[derive(Debug, Clone)]
pub(super) enum Element {
    Vertices(VertexInfo, WhenUsed),
    Edges(EdgeInfo, Ends),
}

/// What becomes of the edges of a vertex type that is replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WhenUsed {
    /// The statement fails: their ids would mean other vertices.
    Refuse,
    /// They end to be.
    Drop,
}

/// The columns of an edge's ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ends {
    pub source: End,
    pub destination: End,
}

/// The columns of one end of an edge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum End {
    /// An internal id.
    Id(String),
    /// The values of the vertex type's primary key, column by column.
    Key(Vec<String>),
}

impl End {
    pub(super) fn columns(&self) -> &[String] {
        match self {
            Self::Id(column) => std::slice::from_ref(column),
            Self::Key(columns) => columns,
        }
    }
}

impl Element {
    /// The element that options and the columns of the rows describe.
    ///
    /// # Errors
    /// If they name no element or contradict each other, or a column's type has no property type.
    pub(super) fn try_new(mut options: Options, rows: &Schema) -> Result<Self> {
        let edge = options.take("edge");
        match (options.take("vertex"), edge) {
            (Some(vertex_type), None) => vertices(vertex_type, options, rows),
            (None, Some(edge)) => edges(&edge, options, rows),
            _ => config_err!(
                "STORED AS GRAPHAR writes one vertex type or edge triplet: name it by the option 'vertex' or 'edge'"
            ),
        }
    }
}

fn vertices(vertex_type: String, mut options: Options, rows: &Schema) -> Result<Element> {
    let key = options.take_names("key");
    let used = match options.take("edges").as_deref() {
        None | Some("refuse") => WhenUsed::Refuse,
        Some("drop") => WhenUsed::Drop,
        Some(other) => {
            return config_err!("option 'edges': expected refuse or drop, found '{other}'");
        }
    };
    let left_out = [VERTEX_ID.to_owned(), LABELS.to_owned()];
    let mut properties = properties(rows, &left_out, &mut options)?;
    for column in &key {
        let Some(property) = properties.iter_mut().find(|p| p.name == *column) else {
            return unknown_column("key", column, rows);
        };
        property.is_primary = true;
        property.is_nullable = false;
    }
    let info = VertexInfo {
        chunk_size: options
            .take_number("chunk_size")?
            .unwrap_or(VERTEX_CHUNK_SIZE),
        prefix: None,
        labels: options.take_names("labels"),
        property_groups: groups(properties, &mut options)?,
        version: None,
        vertex_type,
    };
    options.finish("a vertex type")?;
    Ok(Element::Vertices(info, used))
}

fn edges(edge: &str, mut options: Options, rows: &Schema) -> Result<Element> {
    let (src_type, edge_type, dst_type) = triplet(edge, &mut options)?;
    let ends = Ends {
        source: end("source", SOURCE_ID, &mut options, rows)?,
        destination: end("destination", DESTINATION_ID, &mut options, rows)?,
    };
    let left_out = [ends.source.columns(), ends.destination.columns()].concat();
    let properties = properties(rows, &left_out, &mut options)?;
    let directed = options.take_flag("directed")?;
    let layouts = options.take_layouts()?;
    let chunk_size = options.take_number("chunk_size")?;
    let lists = options.clone().take_file_type()?;
    let property_groups = groups(properties, &mut options)?;
    options.finish("an edge triplet")?;
    let adj_lists = layouts.into_iter().map(|layout| AdjacentList {
        layout,
        prefix: None,
        file_type: lists,
        property_groups: vec![],
    });
    let info = EdgeInfo {
        src_type,
        edge_type,
        dst_type,
        chunk_size: chunk_size.unwrap_or(EDGE_CHUNK_SIZE),
        // Those of the vertex types, once they are known.
        src_chunk_size: 0,
        dst_chunk_size: 0,
        directed: Some(directed.unwrap_or(true)),
        prefix: None,
        adj_lists: adj_lists.collect(),
        property_groups,
        version: None,
    };
    Ok(Element::Edges(info, ends))
}

/// The parts of `source-edge-destination`, or of the options of these names.
fn triplet(edge: &str, options: &mut Options) -> Result<(String, String, String)> {
    match (options.take("source"), options.take("destination")) {
        (Some(source), Some(destination)) => Ok((source, edge.to_owned(), destination)),
        (None, None) => match edge.split('-').collect::<Vec<_>>().as_slice() {
            [source, edge, destination] => Ok((
                source.trim().to_owned(),
                edge.trim().to_owned(),
                destination.trim().to_owned(),
            )),
            _ => config_err!(
                "option 'edge': expected source-edge-destination, or the options 'source' and 'destination' beside it, found '{edge}'"
            ),
        },
        _ => config_err!("the options 'source' and 'destination' go together"),
    }
}

fn end(name: &str, usual: &str, options: &mut Options, rows: &Schema) -> Result<End> {
    let id = options.take(&format!("{name}_id"));
    let key = options.take_names(&format!("{name}_key"));
    let end = match (id, key.is_empty()) {
        (Some(id), true) => End::Id(id),
        (None, false) => End::Key(key),
        (None, true) if rows.index_of(usual).is_ok() => End::Id(usual.to_owned()),
        (None, true) => {
            return plan_err!(
                "which column holds the {name}? Name it by '{name}_key' (values of the primary key) or \
                 '{name}_id' (internal ids), or call it {usual}"
            );
        }
        (Some(_), false) => {
            return config_err!("the options '{name}_id' and '{name}_key' exclude each other");
        }
    };
    for column in end.columns() {
        let option = match end {
            End::Id(_) => format!("{name}_id"),
            End::Key(_) => format!("{name}_key"),
        };
        if rows.index_of(column).is_err() {
            return unknown_column(&option, column, rows);
        }
    }
    Ok(end)
}

/// A property for each column that is not left out.
fn properties(rows: &Schema, left_out: &[String], options: &mut Options) -> Result<Vec<Property>> {
    let not_null = options.take_names("not_null");
    let sets = options.take_names("set");
    let mut properties = vec![];
    for field in rows.fields() {
        if left_out.contains(field.name()) {
            continue;
        }
        // That a query gives no nulls now does not mean that none may be added.
        properties.push(Property {
            is_nullable: true,
            ..property_of(field)?
        });
    }
    for column in &not_null {
        match properties.iter_mut().find(|p| p.name == *column) {
            Some(property) => property.is_nullable = false,
            None => return unknown_column("not_null", column, rows),
        }
    }
    for column in &sets {
        match properties.iter_mut().find(|p| p.name == *column) {
            Some(property) if property.cardinality == Cardinality::List => {
                property.cardinality = Cardinality::Set;
            }
            Some(_) => return config_err!("option 'set': column '{column}' has no lists"),
            None => return unknown_column("set", column, rows),
        }
    }
    Ok(properties)
}

/// Groups as the option says: `a, b; c as csv` makes two. Columns that it does not name make one of their own,
/// as do all without it.
fn groups(properties: Vec<Property>, options: &mut Options) -> Result<Vec<PropertyGroup>> {
    let usual = options.take_file_type()?;
    let mut left: Vec<Option<Property>> = properties.into_iter().map(Some).collect();
    let mut groups = vec![];
    let text = options.take("groups").unwrap_or_default();
    for group in text.split(';').filter(|group| !group.trim().is_empty()) {
        let (columns, payload) = match group.rsplit_once(" as ") {
            Some((columns, payload)) => (columns, file_type("groups", payload)?),
            None => (group, usual),
        };
        let mut properties = vec![];
        for name in names(columns) {
            let found = left
                .iter_mut()
                .find(|slot| slot.as_ref().is_some_and(|p| p.name == name));
            match found.and_then(Option::take) {
                Some(property) => properties.push(property),
                None => {
                    return config_err!(
                        "option 'groups': '{name}' is no column for a property, or stands there twice"
                    );
                }
            }
        }
        groups.push(group_of(properties, payload));
    }
    let rest: Vec<Property> = left.into_iter().flatten().collect();
    if !rest.is_empty() {
        groups.push(group_of(rest, usual));
    }
    Ok(groups)
}

/// Longest name of a folder that is made of the names of properties.
const MAX_FOLDER: usize = 100;

fn group_of(properties: Vec<Property>, file_type: FileType) -> PropertyGroup {
    let group = PropertyGroup {
        prefix: None,
        file_type,
        properties,
    };
    // By the format a group's folder is named after all of its properties, which file systems set a limit to.
    let folder = group.folder();
    let first = group.properties.first().map(|p| p.name.clone());
    let prefix = match first {
        Some(first) if folder.len() > MAX_FOLDER => Some(format!(
            "{}_and_{}_more/",
            first.chars().take(MAX_FOLDER / 4).collect::<String>(),
            group.properties.len() - 1
        )),
        _ => None,
    };
    PropertyGroup { prefix, ..group }
}

fn unknown_column<T>(option: &str, column: &str, rows: &Schema) -> Result<T> {
    let names: Vec<&str> = rows.fields().iter().map(|f| f.name().as_str()).collect();
    plan_err!(
        "option '{option}': the rows have no column '{column}'; they have {}",
        names.join(", ")
    )
}

/// The Arrow type in which a column is written, by the element's properties.
pub(super) fn written_type(element: &Element, column: &str) -> Option<DataType> {
    match element {
        Element::Vertices(info, _) => type_of(info.properties(), column),
        Element::Edges(info, ends) => type_of(info.properties(), column).or_else(|| {
            let ids = [&ends.source, &ends.destination];
            let is_id = |end: &&End| matches!(end, End::Id(id) if id == column);
            ids.iter().any(is_id).then_some(DataType::Int64)
        }),
    }
}

fn type_of<'a>(
    mut properties: impl Iterator<Item = &'a Property>,
    column: &str,
) -> Option<DataType> {
    let property = properties.find(|property| property.name == column)?;
    Some(property.arrow_type())
}
