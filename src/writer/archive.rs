//! The writer of a whole archive.

use std::sync::Arc;

use bytes::Bytes;
use datafusion::arrow::array::{Int64Array, ListArray, RecordBatch};
use object_store::ObjectStore;
use object_store::path::Path;

use super::edge_sink::EdgeSink;
use super::output::{Output, length};
use super::vertex_sink::VertexSink;
use crate::error::{GraphArError, Result};
use crate::format::{
    AdjacentList, EdgeInfo, GraphInfo, InfoVersion, PropertyGroup, VertexInfo, validate_graph,
};

/// Writes a new archive, type by type, from rows in memory.
///
/// Vertex types come before the edge triplets that join them, since edges are checked against
/// the numbers of vertices. [`finish`](Self::finish) writes the info files; without it there
/// are chunks but no archive. Chunks are encoded one at a time, so that beside the caller's
/// rows memory holds one chunk and, for edges, 24 bytes an edge and 16 bytes a vertex.
///
/// Infos are written with their prefixes spelled out (by default `vertex/<type>/` and
/// `edge/<source>_<edge>_<destination>/`), each ending in a slash, and with version
/// `gar/v1` if they name none, as other readers of the format need it.
///
/// Everything is checked before the first file of a type is written, except for values that
/// a payload cannot hold (see [`encode`](super::payload::encode)). After an error the
/// archive lacks that type; its folders may hold files.
pub struct ArchiveWriter {
    output: Output,
    vertices: Vec<Vertices>,
    edges: Vec<Edges>,
}

/// A vertex type that is written but for its info file.
struct Vertices {
    file: String,
    text: String,
    info: VertexInfo,
    rows: usize,
}

/// An edge triplet that is written but for its info file.
struct Edges {
    file: String,
    text: String,
    key: String,
}

impl ArchiveWriter {
    /// A writer of files below `root`. Nothing is touched yet. Files of an older archive in
    /// the same place are overwritten one by one, so the folder should be empty.
    pub fn new(store: Arc<dyn ObjectStore>, root: Path) -> Self {
        Self {
            output: Output::new(store, root),
            vertices: vec![],
            edges: vec![],
        }
    }

    /// Writes a vertex type; row `r` becomes the vertex with internal id `r`.
    ///
    /// `rows` has a column of every property's name, in any order; other columns are left out.
    /// Their types are those of [`Property::arrow_type`](crate::format::Property::arrow_type),
    /// with strings in any layout. `labels` holds the names of each vertex's labels, which the
    /// info must declare; without it no label chunks are written and readers take membership
    /// for unknown.
    ///
    /// # Errors
    /// If the type was written before, the info contradicts itself, the rows do not have the
    /// declared columns, types and nullability, or the store fails.
    pub async fn write_vertices(
        &mut self,
        mut info: VertexInfo,
        rows: &RecordBatch,
        labels: Option<&ListArray>,
    ) -> Result<()> {
        let file = vertex_file(&info.vertex_type);
        check_name(&file, "type", &info.vertex_type)?;
        check_size(&file, "chunk_size", info.chunk_size)?;
        if self
            .vertices
            .iter()
            .any(|other| other.info.vertex_type == info.vertex_type)
        {
            return Err(repeated(&file, "type", &info.vertex_type));
        }
        let folder = format!("vertex/{}/", info.vertex_type);
        info.prefix = Some(spelled_out(info.prefix, folder));
        spell_out_groups(&mut info.property_groups);
        info.version.get_or_insert_with(version);
        let text = info.to_yaml()?;
        VertexInfo::from_yaml(&text, &file)?;
        let named = [(file, info)];
        check_graph(&named, &[])?;
        let [(file, info)] = named;
        let rows = VertexSink::try_new(&self.output, &file, &info, rows, labels)?
            .write(&mut self.output)
            .await?;
        self.vertices.push(Vertices {
            file,
            text,
            info,
            rows,
        });
        Ok(())
    }

    /// Writes an edge triplet in every layout that the info lists; row `r` of the properties
    /// belongs to the edge from `source[r]` to `destination[r]`, which are internal ids.
    ///
    /// Ordered layouts are sorted by their aligned end. Within a vertex, and in unordered
    /// layouts within a part, edges keep the order of the rows. `properties` is found and
    /// checked like the rows of a vertex type, and may be without columns if there are no
    /// properties.
    ///
    /// # Errors
    /// If an end's vertex type was not written, or with another chunk size than the info
    /// says; if an id is null or beyond the vertices of its type (the error names row, id and
    /// number of vertices); else as for [`write_vertices`](Self::write_vertices).
    pub async fn write_edges(
        &mut self,
        mut info: EdgeInfo,
        source: &Int64Array,
        destination: &Int64Array,
        properties: &RecordBatch,
    ) -> Result<()> {
        let file = edge_file(&info);
        self.check_edge_info(&file, &info)?;
        let vertices = (
            self.vertex_count(&file, &info.src_type, "src_chunk_size", info.src_chunk_size)?,
            self.vertex_count(&file, &info.dst_type, "dst_chunk_size", info.dst_chunk_size)?,
        );
        let folder = format!("edge/{}/", info.key());
        info.prefix = Some(spelled_out(info.prefix, folder));
        for list in &mut info.adj_lists {
            list.prefix = Some(spelled_out(list.prefix.take(), format!("{}/", list.layout)));
        }
        spell_out_groups(&mut info.property_groups);
        info.version.get_or_insert_with(version);
        let text = info.to_yaml()?;
        EdgeInfo::from_yaml(&text, &file)?;
        let named = [(file, info)];
        check_graph(&[], &named)?;
        let [(file, info)] = named;
        EdgeSink::try_new(
            &self.output,
            &file,
            &info,
            vertices,
            (source, destination),
            properties,
        )?
        .write(&mut self.output)
        .await?;
        self.edges.push(Edges {
            file,
            text,
            key: info.key(),
        });
        Ok(())
    }

    /// Writes the info files, the graph info last, and gives its path inside the store:
    /// `<root>/<graph_name>.graph.yml`.
    ///
    /// # Errors
    /// If the name is empty or holds a slash, a name cannot be written to an info file, or
    /// the store fails.
    pub async fn finish(self, graph_name: &str) -> Result<Path> {
        let graph_file = format!("{graph_name}.graph.yml");
        check_name(&graph_file, "name", graph_name)?;
        let mut graph = GraphInfo {
            name: graph_name.to_owned(),
            version: Some(version()),
            ..GraphInfo::default()
        };
        graph
            .vertices
            .extend(self.vertices.iter().map(|vertices| vertices.file.clone()));
        graph
            .edges
            .extend(self.edges.iter().map(|edges| edges.file.clone()));
        let text = graph.to_yaml()?;
        let vertices = self
            .vertices
            .into_iter()
            .map(|vertices| (vertices.file, vertices.text));
        let edges = self.edges.into_iter().map(|edges| (edges.file, edges.text));
        for (file, text) in vertices.chain(edges) {
            self.output.put(&file, Bytes::from(text)).await?;
        }
        self.output.put(&graph_file, Bytes::from(text)).await
    }

    fn check_edge_info(&self, file: &str, info: &EdgeInfo) -> Result<()> {
        check_name(file, "edge_type", &info.edge_type)?;
        check_size(file, "chunk_size", info.chunk_size)?;
        let key = info.key();
        if self.edges.iter().any(|other| other.key == key) {
            return Err(repeated(file, "src_type, edge_type, dst_type", &key));
        }
        let bad = |element: &str, expected: &str, found: String| GraphArError::Metadata {
            path: file.to_owned(),
            element: element.to_owned(),
            expected: expected.to_owned(),
            found,
        };
        if info.adj_lists.is_empty() {
            return Err(bad("adj_lists", "at least one layout", "none".to_owned()));
        }
        for (
            i,
            AdjacentList {
                layout,
                property_groups,
                ..
            },
        ) in info.adj_lists.iter().enumerate()
        {
            if info.adj_lists[..i]
                .iter()
                .any(|other| other.layout == *layout)
            {
                return Err(bad(
                    "adj_lists",
                    "every layout at most once",
                    format!("{layout} twice"),
                ));
            }
            if !property_groups.is_empty() {
                let element = format!("adj_lists[{i}].property_groups");
                return Err(bad(
                    &element,
                    "none, as they stand at the top level",
                    "some".to_owned(),
                ));
            }
        }
        Ok(())
    }

    /// Number of vertices of a type written before, with this chunk size.
    fn vertex_count(
        &self,
        file: &str,
        vertex_type: &str,
        key: &str,
        chunk_size: u64,
    ) -> Result<usize> {
        let Some(Vertices { info, rows, .. }) = self
            .vertices
            .iter()
            .find(|vertices| vertices.info.vertex_type == vertex_type)
        else {
            return Err(GraphArError::UnknownElement {
                kind: "vertex type".to_owned(),
                name: vertex_type.to_owned(),
                candidates: self
                    .vertices
                    .iter()
                    .map(|vertices| vertices.info.vertex_type.clone())
                    .collect(),
            });
        };
        // Parts of edges are vertex chunks, by number.
        if info.chunk_size != chunk_size {
            return Err(GraphArError::Metadata {
                path: file.to_owned(),
                element: key.to_owned(),
                expected: format!("{}, the chunk_size of '{vertex_type}'", info.chunk_size),
                found: chunk_size.to_string(),
            });
        }
        Ok(*rows)
    }
}

/// The first thing that keeps a graph with these infos from being opened. Whether the infos
/// fit each other was checked against what is written.
fn check_graph(vertices: &[(String, VertexInfo)], edges: &[(String, EdgeInfo)]) -> Result<()> {
    let problems = validate_graph("", &GraphInfo::default(), vertices, edges);
    match problems.into_iter().find(|problem| problem.fatal) {
        Some(problem) => Err(problem.error),
        None => Ok(()),
    }
}

fn vertex_file(vertex_type: &str) -> String {
    format!("{vertex_type}.vertex.yml")
}

fn edge_file(info: &EdgeInfo) -> String {
    format!("{}.edge.yml", info.key())
}

fn version() -> InfoVersion {
    InfoVersion::default()
}

/// The prefix to write: an empty one would have to be left out of the info file, where it
/// means the default, and some readers do not supply a slash at the end.
fn spelled_out(prefix: Option<String>, default: String) -> String {
    match prefix {
        Some(prefix) if prefix.ends_with('/') => prefix,
        Some(prefix) if !prefix.is_empty() => format!("{prefix}/"),
        _ => default,
    }
}

fn spell_out_groups(groups: &mut [PropertyGroup]) {
    for group in groups {
        group.prefix.take_if(|prefix| prefix.is_empty());
        group.prefix = Some(group.folder()).filter(|folder| !folder.is_empty());
    }
}

fn check_name(file: &str, element: &str, name: &str) -> Result<()> {
    if name.is_empty() || name.contains('/') {
        return Err(GraphArError::Metadata {
            path: file.to_owned(),
            element: element.to_owned(),
            expected: "a name, without a slash".to_owned(),
            found: format!("'{name}'"),
        });
    }
    Ok(())
}

fn check_size(file: &str, element: &str, size: u64) -> Result<()> {
    if length(size) == 0 {
        return Err(GraphArError::Metadata {
            path: file.to_owned(),
            element: element.to_owned(),
            expected: "at least 1".to_owned(),
            found: size.to_string(),
        });
    }
    Ok(())
}

fn repeated(file: &str, element: &str, name: &str) -> GraphArError {
    GraphArError::Metadata {
        path: file.to_owned(),
        element: element.to_owned(),
        expected: "a name that is not written yet".to_owned(),
        found: format!("'{name}' a second time"),
    }
}
