//! Every file and folder name rule, in one place.
//!
//! Paths are relative to the data root, with `/` between their parts, and every prefix
//! ends in `/`. Names carry no extension, whatever the file type.

use super::{AdjacentList, EdgeInfo, PropertyGroup};

/// Column of vertex chunks: the internal id. May be missing in old files.
pub const VERTEX_INDEX_COLUMN: &str = "_graphArVertexIndex";
/// Column of adj_list chunks: internal id of the source.
pub const SRC_COLUMN: &str = "_graphArSrcIndex";
/// Column of adj_list chunks: internal id of the destination.
pub const DST_COLUMN: &str = "_graphArDstIndex";
/// Column of offset chunks.
pub const OFFSET_COLUMN: &str = "_graphArOffset";

/// Joins two parts of a path with exactly one slash; an empty part adds nothing.
pub fn join_prefix(base: &str, rest: &str) -> String {
    let rest = rest.trim_start_matches('/');
    match (base.is_empty(), rest.is_empty()) {
        (true, _) => rest.to_owned(),
        (_, true) => base.to_owned(),
        _ if base.ends_with('/') => format!("{base}{rest}"),
        _ => format!("{base}/{rest}"),
    }
}

/// The prefix as written, or else the default name; with a slash at its end.
pub(super) fn folder(prefix: Option<&str>, default: &str) -> String {
    let folder = prefix.unwrap_or(default);
    if folder.is_empty() || folder.ends_with('/') {
        folder.to_owned()
    } else {
        format!("{folder}/")
    }
}

/// File names of one vertex type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VertexPaths {
    prefix: String,
}

impl VertexPaths {
    /// Names below `prefix`, which is the data root joined with the vertex prefix.
    pub fn new(prefix: impl Into<String>) -> Self {
        Self {
            prefix: prefix.into(),
        }
    }

    /// Number of vertices.
    pub fn vertex_count(&self) -> String {
        join_prefix(&self.prefix, "vertex_count")
    }

    /// Chunk of a property group.
    pub fn property_chunk(&self, group: &PropertyGroup, chunk: u64) -> String {
        join_prefix(
            &join_prefix(&self.prefix, &group.folder()),
            &format!("chunk{chunk}"),
        )
    }

    /// Label chunk.
    pub fn label_chunk(&self, chunk: u64) -> String {
        join_prefix(&self.prefix, &format!("labels/chunk{chunk}"))
    }
}

/// File names of one layout of an edge triplet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdjListPaths {
    prefix: String,
}

impl AdjListPaths {
    /// Names of `list` below `edge_prefix`, which is the data root joined with the edge prefix.
    pub fn new(edge_prefix: &str, list: &AdjacentList) -> Self {
        Self {
            prefix: join_prefix(edge_prefix, &list.folder()),
        }
    }

    /// Number of vertices on the aligned side.
    pub fn vertex_count(&self) -> String {
        join_prefix(&self.prefix, "vertex_count")
    }

    /// Number of edges of a part.
    pub fn edge_count(&self, part: u64) -> String {
        join_prefix(&self.prefix, &format!("edge_count{part}"))
    }

    /// Chunk of source and destination ids.
    pub fn adj_list_chunk(&self, part: u64, chunk: u64) -> String {
        join_prefix(&self.prefix, &format!("adj_list/part{part}/chunk{chunk}"))
    }

    /// Offset chunk of a part.
    pub fn offset_chunk(&self, part: u64) -> String {
        join_prefix(&self.prefix, &format!("offset/chunk{part}"))
    }

    /// Chunk of a property group.
    pub fn property_chunk(&self, group: &PropertyGroup, part: u64, chunk: u64) -> String {
        join_prefix(
            &join_prefix(&self.prefix, &group.folder()),
            &format!("part{part}/chunk{chunk}"),
        )
    }
}

impl EdgeInfo {
    /// The folder that holds the triplet where its info does not name one.
    pub fn default_folder(&self) -> String {
        folder(None, &self.key())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{
        AdjListType, Cardinality, FileType, Property, PropertyType, ScalarType, VertexInfo,
    };

    fn group(prefix: Option<&str>, names: &[&str]) -> PropertyGroup {
        let property = |name: &&str| Property {
            name: (*name).to_owned(),
            data_type: PropertyType::Scalar(ScalarType::String),
            is_primary: false,
            is_nullable: true,
            cardinality: Cardinality::Single,
        };
        PropertyGroup {
            prefix: prefix.map(str::to_owned),
            file_type: FileType::Parquet,
            properties: names.iter().map(property).collect(),
        }
    }

    fn list(layout: AdjListType, prefix: Option<&str>) -> AdjacentList {
        let prefix = prefix.map(str::to_owned);
        AdjacentList {
            layout,
            prefix,
            file_type: FileType::Parquet,
            property_groups: vec![],
        }
    }

    #[test]
    fn parts_are_joined_with_one_slash() {
        for (base, rest, joined) in [
            ("", "a", "a"),
            ("", "/a/", "a/"),
            ("a", "", "a"),
            ("a/", "", "a/"),
            ("a", "b", "a/b"),
            ("a/", "b", "a/b"),
            ("a/", "/b/", "a/b/"),
            ("s3://b/x", "y", "s3://b/x/y"),
        ] {
            assert_eq!(join_prefix(base, rest), joined);
        }
    }

    #[test]
    fn prefixes_get_their_missing_slash_and_their_default() {
        assert_eq!(folder(Some("edge/a"), "x"), "edge/a/");
        assert_eq!(folder(Some("edge/a/"), "x"), "edge/a/");
        assert_eq!(folder(None, "x"), "x/");
        assert_eq!(folder(None, ""), "");
    }

    #[test]
    fn vertex_files_have_the_names_that_other_writers_give_them() {
        let person = VertexPaths::new("ldbc_sample/parquet/vertex/person/");
        assert_eq!(
            person.vertex_count(),
            "ldbc_sample/parquet/vertex/person/vertex_count"
        );
        assert_eq!(
            person.property_chunk(&group(None, &["firstName", "lastName", "gender"]), 9),
            "ldbc_sample/parquet/vertex/person/firstName_lastName_gender/chunk9"
        );
        assert_eq!(
            VertexPaths::new("nebula/vertex/player/")
                .property_chunk(&group(None, &["_vertexId", "name", "age"]), 0),
            "nebula/vertex/player/_vertexId_name_age/chunk0"
        );
        assert_eq!(
            VertexPaths::new("ldbc/parquet/vertex/person")
                .property_chunk(&group(Some("emails"), &["e"]), 1),
            "ldbc/parquet/vertex/person/emails/chunk1"
        );
        assert_eq!(
            VertexPaths::new("ldbc/parquet/vertex/organisation/").label_chunk(1),
            "ldbc/parquet/vertex/organisation/labels/chunk1"
        );
    }

    #[test]
    fn edge_files_have_the_names_that_other_writers_give_them() {
        let knows = "ldbc_sample/parquet/edge/person_knows_person/";
        let by_dest = AdjListPaths::new(knows, &list(AdjListType::OrderedByDest, None));
        assert_eq!(
            by_dest.vertex_count(),
            format!("{knows}ordered_by_dest/vertex_count")
        );
        assert_eq!(
            by_dest.property_chunk(&group(None, &["creationDate-timestamp"]), 0, 0),
            format!("{knows}ordered_by_dest/creationDate-timestamp/part0/chunk0")
        );
        let unordered = AdjListPaths::new(knows, &list(AdjListType::UnorderedBySource, None));
        assert_eq!(
            unordered.adj_list_chunk(2, 1),
            format!("{knows}unordered_by_source/adj_list/part2/chunk1")
        );
        let acted_in = AdjListPaths::new(
            "neo4j/edge/Person_ACTED_IN_Movie",
            &list(AdjListType::OrderedBySource, None),
        );
        assert_eq!(
            acted_in.edge_count(1),
            "neo4j/edge/Person_ACTED_IN_Movie/ordered_by_source/edge_count1"
        );
        let created = AdjListPaths::new(
            "modern_graph/edge/person_created_software/",
            &list(AdjListType::OrderedBySource, Some("ordered_by_source")),
        );
        assert_eq!(
            created.offset_chunk(1),
            "modern_graph/edge/person_created_software/ordered_by_source/offset/chunk1"
        );
    }

    #[test]
    fn default_folders_are_named_after_the_element() {
        let edge = EdgeInfo::from_yaml(
            "{src_type: a, edge_type: to, dst_type: b, chunk_size: 1, src_chunk_size: 1, dst_chunk_size: 1, \
             adj_lists: [{aligned_by: src, file_type: csv}]}",
            "e",
        );
        assert_eq!(edge.unwrap().default_folder(), "a_to_b/");
        let vertex = VertexInfo::from_yaml("{type: a, chunk_size: 1}", "v").unwrap();
        assert_eq!(vertex.prefix, None);
    }
}
