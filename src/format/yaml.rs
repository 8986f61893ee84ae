//! Info files from their text.
//!
//! Every scalar is taken as the text in the file, whatever type YAML would give it: a vertex
//! type may be named `1e3`, and a chunk size may stand in quotes. The shapes of the files are in
//! [`raw`]; here their texts become values, and what cannot be is reported with its place.

mod raw;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;

use super::{
    AdjListType, AdjacentList, AlignedBy, Cardinality, EdgeInfo, FileType, GraphInfo, InfoVersion,
    Property, PropertyGroup, PropertyType, ScalarType, VertexInfo,
};
use crate::error::{GraphArError, Result};
use raw::{RawAdjList, RawEdge, RawGraph, RawGroup, RawProperty, RawVertex, Text};

/// More than any info file has of lists and maps in brackets. The time that the YAML parser takes
/// grows with the square of their depth, so a file of a megabyte could keep it busy for hours.
const MAX_FLOWS: usize = 10_000;

impl GraphInfo {
    /// Reads the text of a graph info; `path` is its file, for messages.
    pub fn from_yaml(text: &str, path: &str) -> Result<Self> {
        let raw: RawGraph = parse(text, path)?;
        let mut reader = Reader::new(path);
        let version = reader.version(raw.version)?;
        let mut extra_info = vec![];
        for (index, (key, value)) in raw.extra_info.unwrap_or_default().0.into_iter().enumerate() {
            let key = reader.name(&format!("extra_info[{index}].key"), [key])?;
            extra_info.push((key, value.map(|value| value.0).unwrap_or_default()));
        }
        Ok(Self {
            name: present(raw.name).unwrap_or_default(),
            prefix: present(raw.prefix),
            vertices: reader.names("vertices", raw.vertices)?,
            edges: reader.names("edges", raw.edges)?,
            labels: reader.names("labels", raw.labels)?,
            extra_info,
            version,
        })
    }
}

impl VertexInfo {
    /// Reads the text of a vertex info; `path` is its file, for messages.
    pub fn from_yaml(text: &str, path: &str) -> Result<Self> {
        let raw: RawVertex = parse(text, path)?;
        let mut reader = Reader::new(path);
        let version = reader.version(raw.version)?;
        Ok(Self {
            vertex_type: reader.name("type", [raw.vertex_type, raw.label])?,
            chunk_size: reader.size("chunk_size", raw.chunk_size)?,
            prefix: present(raw.prefix),
            property_groups: reader.groups("", raw.property_groups, Owner::Vertex)?,
            labels: reader.names("labels", raw.labels)?,
            version,
        })
    }
}

impl EdgeInfo {
    /// Reads the text of an edge info; `path` is its file, for messages.
    pub fn from_yaml(text: &str, path: &str) -> Result<Self> {
        let raw: RawEdge = parse(text, path)?;
        let mut reader = Reader::new(path);
        let version = reader.version(raw.version)?;
        Ok(Self {
            src_type: reader.name("src_type", [raw.src_type, raw.src_label])?,
            edge_type: reader.name("edge_type", [raw.edge_type, raw.edge_label])?,
            dst_type: reader.name("dst_type", [raw.dst_type, raw.dst_label])?,
            chunk_size: reader.size("chunk_size", raw.chunk_size)?,
            src_chunk_size: reader.size("src_chunk_size", raw.src_chunk_size)?,
            dst_chunk_size: reader.size("dst_chunk_size", raw.dst_chunk_size)?,
            directed: present(raw.directed).map(|text| is_true(&text)),
            prefix: present(raw.prefix),
            adj_lists: reader.adj_lists(raw.adj_lists)?,
            property_groups: reader.groups("", raw.property_groups, Owner::Edge)?,
            version,
        })
    }
}

/// An error about `element` of the info file `path`.
pub(super) fn metadata(
    path: &str,
    element: impl Into<String>,
    expected: impl Into<String>,
    found: impl Into<String>,
) -> GraphArError {
    GraphArError::Metadata {
        path: path.to_owned(),
        element: element.into(),
        expected: expected.into(),
        found: found.into(),
    }
}

/// Reads the top level of an info file.
pub(super) fn parse<T: DeserializeOwned>(text: &str, path: &str) -> Result<T> {
    let flows = text
        .bytes()
        .filter(|byte| matches!(byte, b'[' | b'{'))
        .count();
    if flows > MAX_FLOWS {
        return Err(metadata(
            path,
            "document",
            format!("at most {MAX_FLOWS} times '[' or '{{'"),
            flows.to_string(),
        ));
    }
    let parsed = serde_yaml::from_str::<Option<T>>(text.trim_start_matches('\u{feff}'));
    let document = parsed.map_err(|error| {
        let message = error.to_string();
        // serde_yaml gives the place of a wrong shape only inside its message.
        let shape = message
            .split_once("invalid type: ")
            .and_then(|(place, rest)| {
                Some((
                    place.trim_end_matches(": "),
                    rest.split_once(", expected ")?,
                ))
            });
        match shape {
            Some((place, (found, expected))) => {
                let place = if place.is_empty() { "document" } else { place };
                metadata(path, place, expected, found)
            }
            None => metadata(path, "document", "YAML", message),
        }
    })?;
    // Every key of a graph info may be absent, but an empty file is one that lost its content.
    document.ok_or_else(|| metadata(path, "document", "keys and values", "nothing"))
}

/// The text, unless the key is absent, bare, empty or blank, which all mean the same.
fn present(text: Option<Text>) -> Option<String> {
    text.map(|text| text.0)
        .filter(|text| !text.trim().is_empty())
}

/// What the C++ library takes for true; it takes everything else for false.
fn is_true(text: &str) -> bool {
    ["true", "yes", "1"]
        .iter()
        .any(|word| text.eq_ignore_ascii_case(word))
}

fn one_of<const N: usize>(names: [&str; N]) -> String {
    format!("one of {}", names.join(", "))
}

#[derive(Clone, Copy, PartialEq)]
enum Owner {
    Vertex,
    Edge,
}

struct Reader<'a> {
    path: &'a str,
    user_types: Vec<String>,
}

impl<'a> Reader<'a> {
    fn new(path: &'a str) -> Self {
        Self {
            path,
            user_types: vec![],
        }
    }

    fn error(
        &self,
        element: impl Into<String>,
        expected: impl Into<String>,
        found: &str,
    ) -> GraphArError {
        metadata(self.path, element, expected, format!("'{found}'"))
    }

    fn absent(&self, element: impl Into<String>, expected: impl Into<String>) -> GraphArError {
        metadata(self.path, element, expected, "nothing")
    }

    fn version(&mut self, text: Option<Text>) -> Result<Option<InfoVersion>> {
        let Some(text) = present(text) else {
            return Ok(None);
        };
        let expected = InfoVersion::default().to_string();
        let version = InfoVersion::parse(&text)
            .filter(|version| version.number == InfoVersion::SUPPORTED)
            .ok_or_else(|| self.error("version", expected, &text))?;
        self.user_types.clone_from(&version.user_types);
        Ok(Some(version))
    }

    /// The first text that is there, of the current key and then of old ones.
    fn name<const N: usize>(&self, element: &str, texts: [Option<Text>; N]) -> Result<String> {
        texts
            .into_iter()
            .find_map(present)
            .ok_or_else(|| self.absent(element, "a name"))
    }

    fn names(&self, element: &str, texts: Option<Vec<Option<Text>>>) -> Result<Vec<String>> {
        let texts = texts.unwrap_or_default().into_iter().enumerate();
        texts
            .map(|(index, text)| self.name(&format!("{element}[{index}]"), [text]))
            .collect()
    }

    fn size(&self, element: &str, text: Option<Text>) -> Result<u64> {
        let expected = format!("an integer from 1 to {}", i64::MAX);
        let Some(text) = present(text) else {
            return Err(self.absent(element, expected));
        };
        text.trim()
            .parse::<i64>()
            .ok()
            .and_then(|size| u64::try_from(size).ok())
            .filter(|size| *size > 0)
            .ok_or_else(|| self.error(element, expected, &text))
    }

    fn file_type(&self, element: &str, text: Option<Text>) -> Result<FileType> {
        let element = format!("{element}.file_type");
        let expected = || one_of(FileType::ALL.map(FileType::name));
        let Some(text) = present(text) else {
            return Err(self.absent(element, expected()));
        };
        FileType::from_name(&text).ok_or_else(|| self.error(element, expected(), &text))
    }

    fn groups(
        &self,
        owner: &str,
        raw: Option<Vec<RawGroup>>,
        kind: Owner,
    ) -> Result<Vec<PropertyGroup>> {
        let mut groups = vec![];
        let mut places: BTreeMap<String, String> = BTreeMap::new();
        for (index, raw) in raw.unwrap_or_default().into_iter().enumerate() {
            let element = format!("{owner}property_groups[{index}]");
            let raw_properties = raw.properties.unwrap_or_default();
            // A group without columns has no files.
            if raw_properties.is_empty() {
                continue;
            }
            let mut properties = Vec::with_capacity(raw_properties.len());
            for (index, raw) in raw_properties.into_iter().enumerate() {
                let element = format!("{element}.properties[{index}]");
                let property = self.property(&element, raw, kind)?;
                if let Some(first) = places.get(&property.name) {
                    let expected = format!("a name that differs from the one of {first}");
                    return Err(self.error(format!("{element}.name"), expected, &property.name));
                }
                places.insert(property.name.clone(), element);
                properties.push(property);
            }
            let file_type = self.file_type(&element, raw.file_type)?;
            groups.push(PropertyGroup {
                prefix: present(raw.prefix),
                file_type,
                properties,
            });
        }
        Ok(groups)
    }

    fn property(&self, element: &str, raw: RawProperty, kind: Owner) -> Result<Property> {
        let name = self.name(&format!("{element}.name"), [raw.name])?;
        let data_type = self.data_type(&format!("{element}.data_type"), &name, raw.data_type)?;
        let is_primary = present(raw.is_primary).is_some_and(|text| is_true(&text));
        // Some writers declare nullable keys; no library has ever stored a null in one.
        let is_nullable = !is_primary && present(raw.is_nullable).is_none_or(|text| is_true(&text));
        let cardinality =
            self.cardinality(&format!("{element}.cardinality"), raw.cardinality, kind)?;
        Ok(Property {
            name,
            data_type,
            is_primary,
            is_nullable,
            cardinality,
        })
    }

    fn data_type(&self, element: &str, property: &str, text: Option<Text>) -> Result<PropertyType> {
        let expected = || {
            format!(
                "a type for property '{property}', {} or list<...> of them",
                one_of(ScalarType::ALL.map(ScalarType::name))
            )
        };
        let Some(text) = present(text) else {
            return Err(self.absent(element, expected()));
        };
        PropertyType::from_name(&text).ok_or_else(|| {
            if self.user_types.contains(&text) {
                let found =
                    format!("'{text}', which 'version' declares without saying how it is stored");
                metadata(self.path, element, expected(), found)
            } else {
                self.error(element, expected(), &text)
            }
        })
    }

    fn cardinality(&self, element: &str, text: Option<Text>, kind: Owner) -> Result<Cardinality> {
        let Some(text) = present(text) else {
            return Ok(Cardinality::default());
        };
        let cardinality = Cardinality::from_name(&text).ok_or_else(|| {
            self.error(
                element,
                one_of(Cardinality::ALL.map(Cardinality::name)),
                &text,
            )
        })?;
        if kind == Owner::Edge && cardinality != Cardinality::Single {
            return Err(self.error(
                element,
                "single, the only cardinality of edge properties",
                &text,
            ));
        }
        Ok(cardinality)
    }

    fn adj_lists(&self, raw: Option<Vec<RawAdjList>>) -> Result<Vec<AdjacentList>> {
        let mut lists: Vec<AdjacentList> = vec![];
        for (index, raw) in raw.unwrap_or_default().into_iter().enumerate() {
            let element = format!("adj_lists[{index}]");
            let prefix = present(raw.prefix);
            let ordered = present(raw.ordered).is_some_and(|text| is_true(&text));
            let aligned_by =
                self.aligned_by(&element, raw.aligned_by, ordered, prefix.as_deref())?;
            let layout = AdjListType::new(ordered, aligned_by);
            if let Some(first) = lists.iter().position(|list| list.layout == layout) {
                let expected = format!("a layout that differs from the one of adj_lists[{first}]");
                return Err(self.error(element, expected, layout.name()));
            }
            let file_type = self.file_type(&element, raw.file_type)?;
            let property_groups =
                self.groups(&format!("{element}."), raw.property_groups, Owner::Edge)?;
            lists.push(AdjacentList {
                layout,
                prefix,
                file_type,
                property_groups,
            });
        }
        if lists.is_empty() {
            return Err(self.absent("adj_lists", "at least one layout"));
        }
        Ok(lists)
    }

    /// The aligned end. Where the key is absent or says something else, the C++ library takes
    /// the destination, Spark the source or the destination, and the Java library fails. A guess
    /// would swap the ends of all edges, so only a prefix that is a layout's own name may decide.
    fn aligned_by(
        &self,
        element: &str,
        text: Option<Text>,
        ordered: bool,
        prefix: Option<&str>,
    ) -> Result<AlignedBy> {
        let text = present(text);
        match text.as_deref() {
            Some("src") => return Ok(AlignedBy::Source),
            Some("dst") => return Ok(AlignedBy::Destination),
            _ => {}
        }
        let named = prefix
            .and_then(|prefix| AdjListType::from_name(prefix.trim_end_matches('/')))
            .filter(|layout| layout.is_ordered() == ordered);
        if let Some(layout) = named {
            return Ok(layout.aligned_by());
        }
        let element = format!("{element}.aligned_by");
        Err(match text {
            Some(text) => self.error(element, "src or dst", &text),
            None => self.absent(element, "src or dst"),
        })
    }
}
