//! Info files as text that every GraphAr library loads.
//!
//! The C++ library has a YAML parser of its own that knows much less than YAML: lists must be
//! indented below their key, values must not be empty, quotes have no escapes, and characters
//! must be ASCII up to `}`. What a general serializer writes it refuses, or misreads silently.
//! Spark and Java in turn refuse keys that they do not know, so optional keys stand only where
//! they say something.

#[cfg(test)]
mod tests;

use super::path::folder;
use super::yaml::metadata;
use super::{
    AdjacentList, AlignedBy, Cardinality, EdgeInfo, FileType, GraphInfo, InfoVersion, Property,
    PropertyGroup, PropertyType, VertexInfo,
};
use crate::error::Result;

/// Characters that mean something to a YAML parser in some place of a value.
const SPECIAL: &str = "\":{}[],&*#?|-<>=!%@`";

/// Plain values that a YAML parser does not take for text.
const WORDS: [&str; 13] = [
    "null", "true", "false", "yes", "no", "on", "off", "y", "n", ".nan", ".inf", "+.inf", "-.inf",
];

impl GraphInfo {
    /// The text of the graph info file.
    ///
    /// Fails where a value cannot be written so that all libraries read it back. Of Spark and
    /// Java, neither loads a graph info with `labels` or `extra_info`.
    pub fn to_yaml(&self) -> Result<String> {
        let emitter = Emitter {
            path: format!("{}.graph.yml", self.name),
        };
        let mut map = Map::default();
        if !self.name.is_empty() {
            map.put("name", emitter.text("name", &self.name)?);
        }
        emitter.prefix(&mut map, "", self.prefix.as_deref(), "")?;
        emitter.texts(&mut map, "vertices", &self.vertices)?;
        emitter.texts(&mut map, "edges", &self.edges)?;
        emitter.texts(&mut map, "labels", &self.labels)?;
        let mut pairs = vec![];
        for (index, (key, value)) in self.extra_info.iter().enumerate() {
            let element = format!("extra_info[{index}]");
            let mut pair = Map::default();
            pair.put("key", emitter.text(&format!("{element}.key"), key)?);
            if !value.is_empty() {
                pair.put("value", emitter.text(&format!("{element}.value"), value)?);
            }
            pairs.push(pair);
        }
        map.put_maps("extra_info", pairs);
        emitter.version(&mut map, self.version.as_ref())?;
        let text = map.into_text();
        Self::from_yaml(&text, &emitter.path)?;
        Ok(text)
    }
}

impl VertexInfo {
    /// The text of the vertex info file.
    ///
    /// Fails where a value cannot be written so that all libraries read it back. Spark does not
    /// load a property with another cardinality than single.
    pub fn to_yaml(&self) -> Result<String> {
        let emitter = Emitter {
            path: format!("{}.vertex.yml", self.vertex_type),
        };
        let mut map = Map::default();
        map.put("type", emitter.text("type", &self.vertex_type)?);
        map.put("chunk_size", self.chunk_size.to_string());
        emitter.prefix(&mut map, "", self.prefix.as_deref(), &self.vertex_type)?;
        emitter.groups(&mut map, "", &self.property_groups)?;
        emitter.texts(&mut map, "labels", &self.labels)?;
        emitter.version(&mut map, self.version.as_ref())?;
        let text = map.into_text();
        Self::from_yaml(&text, &emitter.path)?;
        Ok(text)
    }
}

impl EdgeInfo {
    /// The text of the edge info file.
    ///
    /// Fails where a value cannot be written so that all libraries read it back. Property groups
    /// inside a layout are kept there, though C++ passes over them and Spark does not load them.
    pub fn to_yaml(&self) -> Result<String> {
        let emitter = Emitter {
            path: format!("{}.edge.yml", self.key()),
        };
        let mut map = Map::default();
        map.put("src_type", emitter.text("src_type", &self.src_type)?);
        map.put("edge_type", emitter.text("edge_type", &self.edge_type)?);
        map.put("dst_type", emitter.text("dst_type", &self.dst_type)?);
        map.put("chunk_size", self.chunk_size.to_string());
        map.put("src_chunk_size", self.src_chunk_size.to_string());
        map.put("dst_chunk_size", self.dst_chunk_size.to_string());
        if let Some(directed) = self.directed {
            map.put("directed", directed.to_string());
        }
        emitter.prefix(&mut map, "", self.prefix.as_deref(), &self.key())?;
        let lists = self.adj_lists.iter().enumerate();
        let lists =
            lists.map(|(index, list)| emitter.adj_list(&format!("adj_lists[{index}]."), list));
        map.put_maps("adj_lists", lists.collect::<Result<_>>()?);
        emitter.groups(&mut map, "", &self.property_groups)?;
        emitter.version(&mut map, self.version.as_ref())?;
        let text = map.into_text();
        // What the reader refuses (a duplicate, a size of 0, no layout) must not be written either.
        Self::from_yaml(&text, &emitter.path)?;
        Ok(text)
    }
}

struct Emitter {
    path: String,
}

impl Emitter {
    /// A value, in quotes if it needs them.
    fn text(&self, element: &str, value: &str) -> Result<String> {
        if value.trim().is_empty() {
            return Err(metadata(
                &self.path,
                element,
                "a value that is not blank",
                format!("'{value}'"),
            ));
        }
        if let Some(c) = value
            .chars()
            .find(|c| !(' '..='}').contains(c) || matches!(c, '"' | '\'' | '\\'))
        {
            let expected = "ASCII without control characters, '~', quotes and '\\', \
                            which is all that the C++ library loads";
            return Err(metadata(
                &self.path,
                element,
                expected,
                format!("{c:?} in {value:?}"),
            ));
        }
        Ok(if needs_quotes(value) {
            format!("\"{value}\"")
        } else {
            value.to_owned()
        })
    }

    fn texts(&self, map: &mut Map, key: &'static str, values: &[String]) -> Result<()> {
        let values = values.iter().enumerate();
        let items = values.map(|(index, value)| self.text(&format!("{key}[{index}]"), value));
        map.put_scalars(key, items.collect::<Result<_>>()?);
        Ok(())
    }

    /// The prefix with a slash at its end. Without one, readers take `default` for the folder.
    fn prefix(
        &self,
        map: &mut Map,
        owner: &str,
        prefix: Option<&str>,
        default: &str,
    ) -> Result<()> {
        let element = format!("{owner}prefix");
        match prefix {
            Some(prefix) => map.put("prefix", self.text(&element, &folder(Some(prefix), ""))?),
            None if default.contains('/') => {
                let expected = format!("a prefix, because '{default}' is no folder name");
                return Err(metadata(&self.path, element, expected, "nothing"));
            }
            None => {}
        }
        Ok(())
    }

    fn version(&self, map: &mut Map, version: Option<&InfoVersion>) -> Result<()> {
        if let Some(version) = version {
            map.put("version", self.text("version", &version.to_string())?);
        }
        Ok(())
    }

    fn adj_list(&self, element: &str, list: &AdjacentList) -> Result<Map> {
        let aligned_by = match list.layout.aligned_by() {
            AlignedBy::Source => "src",
            AlignedBy::Destination => "dst",
        };
        let mut map = Map::default();
        map.put("ordered", list.layout.is_ordered().to_string());
        map.put("aligned_by", aligned_by.to_owned());
        self.prefix(
            &mut map,
            element,
            list.prefix.as_deref(),
            list.layout.name(),
        )?;
        map.put("file_type", list.file_type.to_string());
        self.groups(&mut map, element, &list.property_groups)?;
        Ok(map)
    }

    fn groups(&self, map: &mut Map, owner: &str, groups: &[PropertyGroup]) -> Result<()> {
        let groups = groups.iter().enumerate();
        let nodes = groups
            .map(|(index, group)| self.group(&format!("{owner}property_groups[{index}]."), group));
        map.put_maps("property_groups", nodes.collect::<Result<_>>()?);
        Ok(())
    }

    fn group(&self, element: &str, group: &PropertyGroup) -> Result<Map> {
        let mut map = Map::default();
        let names: Vec<&str> = group
            .properties
            .iter()
            .map(|property| property.name.as_str())
            .collect();
        self.prefix(&mut map, element, group.prefix.as_deref(), &names.join("_"))?;
        map.put("file_type", group.file_type.to_string());
        let mut properties = vec![];
        for (index, property) in group.properties.iter().enumerate() {
            let element = format!("{element}properties[{index}].");
            properties.push(self.property(&element, property, group.file_type)?);
        }
        if properties.is_empty() {
            let element = format!("{element}properties");
            return Err(metadata(
                &self.path,
                element,
                "at least one property",
                "nothing",
            ));
        }
        map.put_maps("properties", properties);
        Ok(map)
    }

    fn property(&self, element: &str, property: &Property, file_type: FileType) -> Result<Map> {
        let is_list = matches!(property.data_type, PropertyType::List(_));
        let is_single = property.cardinality == Cardinality::Single;
        if file_type == FileType::Csv && (is_list || !is_single) {
            let element = format!(
                "{element}{}",
                if is_list { "data_type" } else { "cardinality" }
            );
            return Err(metadata(
                &self.path,
                element,
                "a single value, which is all that CSV holds",
                "a list",
            ));
        }
        let mut map = Map::default();
        map.put(
            "name",
            self.text(&format!("{element}name"), &property.name)?,
        );
        map.put(
            "data_type",
            self.text(
                &format!("{element}data_type"),
                &property.data_type.to_string(),
            )?,
        );
        map.put("is_primary", property.is_primary.to_string());
        // Upstream readers disagree about a nullable primary key.
        map.put(
            "is_nullable",
            (property.is_nullable && !property.is_primary).to_string(),
        );
        if !is_single {
            map.put("cardinality", property.cardinality.name().to_owned());
        }
        Ok(map)
    }
}

/// Whether some YAML parser takes the plain value for something else than its text.
fn needs_quotes(value: &str) -> bool {
    value.contains(|c| SPECIAL.contains(c))
        || value.starts_with([' ', '+', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9'])
        || value.ends_with(' ')
        || value.parse::<f64>().is_ok()
        || WORDS.iter().any(|word| value.eq_ignore_ascii_case(word))
}

/// Keys and values in the order of the file.
#[derive(Default)]
struct Map(Vec<(&'static str, Value)>);

enum Value {
    /// A scalar as it stands in the file, with its quotes.
    Scalar(String),
    Scalars(Vec<String>),
    Maps(Vec<Map>),
}

impl Map {
    fn put(&mut self, key: &'static str, scalar: String) {
        self.0.push((key, Value::Scalar(scalar)));
    }

    // An empty list has no notation that the C++ library reads, so the key is left out.

    fn put_scalars(&mut self, key: &'static str, items: Vec<String>) {
        if !items.is_empty() {
            self.0.push((key, Value::Scalars(items)));
        }
    }

    fn put_maps(&mut self, key: &'static str, items: Vec<Self>) {
        if !items.is_empty() {
            self.0.push((key, Value::Maps(items)));
        }
    }

    fn into_text(self) -> String {
        let mut out = String::new();
        self.write(&mut out, 0, "");
        out
    }

    /// Writes the keys at column `indent`; `mark` stands before the first one.
    fn write(&self, out: &mut String, indent: usize, mark: &str) {
        for (index, (key, value)) in self.0.iter().enumerate() {
            let mark = if index == 0 { mark } else { "" };
            let blanks = " ".repeat(indent - mark.len());
            match value {
                Value::Scalar(scalar) => out.push_str(&format!("{blanks}{mark}{key}: {scalar}\n")),
                Value::Scalars(items) => {
                    out.push_str(&format!("{blanks}{mark}{key}:\n"));
                    let blanks = " ".repeat(indent + 2);
                    items
                        .iter()
                        .for_each(|item| out.push_str(&format!("{blanks}- {item}\n")));
                }
                Value::Maps(items) => {
                    out.push_str(&format!("{blanks}{mark}{key}:\n"));
                    items
                        .iter()
                        .for_each(|item| item.write(out, indent + 4, "- "));
                }
            }
        }
    }
}
