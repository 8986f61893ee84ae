//! The shapes of info files: which keys they have, with the texts of the scalars.
//!
//! Unlike derived structs these take a key that stands twice, of which the last one counts,
//! and all keys in old and new spelling. Unknown keys are passed over.

use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// A scalar as it is written.
pub(super) struct Text(pub(super) String);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(TextVisitor)
    }
}

struct TextVisitor;

impl Visitor<'_> for TextVisitor {
    type Value = Text;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text")
    }

    fn visit_str<E>(self, text: &str) -> Result<Text, E> {
        // Block scalars end in a newline, and the C++ library writes long values as such.
        Ok(Text(text.trim_end_matches(['\n', '\r']).to_owned()))
    }
}

macro_rules! shape {
    ($name:ident { $($field:ident: $type:ty = $key:literal,)* }) => {
        #[derive(Default)]
        pub(super) struct $name {
            $(pub(super) $field: Option<$type>,)*
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Keys;

                impl<'de> Visitor<'de> for Keys {
                    type Value = $name;

                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str("keys and values")
                    }

                    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<$name, A::Error> {
                        let mut shape = $name::default();
                        while let Some(Text(key)) = map.next_key()? {
                            match key.as_str() {
                                $($key => shape.$field = map.next_value()?,)*
                                _ => {
                                    map.next_value::<IgnoredAny>()?;
                                }
                            }
                        }
                        Ok(shape)
                    }
                }

                deserializer.deserialize_map(Keys)
            }
        }
    };
}

shape!(RawGraph {
    name: Text = "name",
    prefix: Text = "prefix",
    vertices: Vec<Option<Text>> = "vertices",
    edges: Vec<Option<Text>> = "edges",
    labels: Vec<Option<Text>> = "labels",
    extra_info: RawPairs = "extra_info",
    version: Text = "version",
});

shape!(RawVertex {
    vertex_type: Text = "type",
    label: Text = "label",
    chunk_size: Text = "chunk_size",
    prefix: Text = "prefix",
    property_groups: Vec<RawGroup> = "property_groups",
    labels: Vec<Option<Text>> = "labels",
    version: Text = "version",
});

shape!(RawEdge {
    src_type: Text = "src_type",
    src_label: Text = "src_label",
    edge_type: Text = "edge_type",
    edge_label: Text = "edge_label",
    dst_type: Text = "dst_type",
    dst_label: Text = "dst_label",
    chunk_size: Text = "chunk_size",
    src_chunk_size: Text = "src_chunk_size",
    dst_chunk_size: Text = "dst_chunk_size",
    directed: Text = "directed",
    prefix: Text = "prefix",
    adj_lists: Vec<RawAdjList> = "adj_lists",
    property_groups: Vec<RawGroup> = "property_groups",
    version: Text = "version",
});

shape!(RawAdjList {
    ordered: Text = "ordered",
    aligned_by: Text = "aligned_by",
    prefix: Text = "prefix",
    file_type: Text = "file_type",
    property_groups: Vec<RawGroup> = "property_groups",
});

shape!(RawGroup {
    prefix: Text = "prefix",
    file_type: Text = "file_type",
    properties: Vec<RawProperty> = "properties",
});

shape!(RawProperty {
    name: Text = "name",
    data_type: Text = "data_type",
    is_primary: Text = "is_primary",
    is_nullable: Text = "is_nullable",
    cardinality: Text = "cardinality",
});

shape!(RawPair {
    key: Text = "key",
    value: Text = "value",
});

/// `extra_info`: a list of entries with `key` and `value`, or the pairs as one map.
#[derive(Default)]
pub(super) struct RawPairs(pub(super) Vec<(Option<Text>, Option<Text>)>);

impl<'de> Deserialize<'de> for RawPairs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PairsVisitor)
    }
}

struct PairsVisitor;

impl<'de> Visitor<'de> for PairsVisitor {
    type Value = RawPairs;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of keys and values")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<RawPairs, A::Error> {
        let mut pairs = vec![];
        while let Some(RawPair { key, value }) = list.next_element()? {
            pairs.push((key, value));
        }
        Ok(RawPairs(pairs))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RawPairs, A::Error> {
        let mut pairs = vec![];
        while let Some((key, value)) = map.next_entry()? {
            pairs.push((Some(key), value));
        }
        Ok(RawPairs(pairs))
    }
}
