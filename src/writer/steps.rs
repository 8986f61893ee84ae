//! The steps in which an element type is written: its info, its files, and what is remembered of it.

use std::sync::Arc;

use super::chunk_files::ChunkFiles;
use super::graph_writer::{Edges, GraphWriter, Vertices};
use super::infos::{
    check_graph, check_name, check_size, edge_folders, repeated, spell_out_groups, spelled_out,
    version, vertex_folders,
};
use super::output::Output;
use super::rejects::Skipped;
use super::target::{Lock, Target, local_path};
use super::vertex_sink::VertexSink;
use super::write_options::{WriteOptions, Written};
use crate::error::{GraphArError, Result};
use crate::format::{AdjacentList, EdgeInfo, VertexInfo, VertexPaths};

impl GraphWriter {
    /// Where chunk and count files go.
    pub(super) fn data(&self) -> &Output {
        &self.data
    }

    pub(super) fn chunk_files(&self) -> ChunkFiles {
        let WriteOptions {
            encode,
            parallel,
            progress,
            ..
        } = &self.options;
        ChunkFiles::new(Arc::clone(&self.data), encode.clone(), *parallel)
            .with_progress(Arc::clone(progress))
    }

    /// A name that no other write has, where the graph may be there already.
    pub(super) fn fresh(&self, name: &str) -> String {
        match &self.target {
            Some(target) => format!("{name}-{}", target.token),
            None => name.to_owned(),
        }
    }

    /// Checks and completes the info of a vertex type. Gives the name of its file, and its text.
    pub(super) async fn begin_vertices(
        &mut self,
        mut info: VertexInfo,
    ) -> Result<(String, String, VertexInfo)> {
        let name = info.vertex_type.clone();
        let file = format!("{}.vertex.yml", self.fresh(&name));
        check_name(&file, "type", &name)?;
        check_size(&file, "chunk_size", info.chunk_size)?;
        if self.vertices.iter().any(|v| v.info.vertex_type == name) {
            return Err(repeated(&file, "type", &name));
        }
        let folder = format!("vertex/{}", self.fresh(&name));
        info.prefix.take_if(|_| self.target.is_some());
        info.prefix = Some(spelled_out(info.prefix, format!("{folder}/")));
        spell_out_groups(&mut info.property_groups);
        info.version.get_or_insert_with(version);
        let text = info.to_yaml()?;
        VertexInfo::from_yaml(&text, &file)?;
        let named = [(file, info)];
        check_graph(&named, &[])?;
        let [(file, info)] = named;
        self.folders
            .check_free(&self.data, &file, &vertex_folders(&info))?;
        self.claim(&folder).await?;
        Ok((file, text, info))
    }

    pub(super) async fn end_vertices(
        &mut self,
        file: String,
        text: String,
        info: &VertexInfo,
        sink: VertexSink<'_>,
        mut files: ChunkFiles,
    ) -> Result<Written> {
        let has_labels = sink.has_labels();
        let rows = sink.finish(&mut files).await?;
        let (count, bytes) = files.finish().await?;
        let paths = VertexPaths::new(info.prefix.as_deref().unwrap_or_default());
        self.data.put_count(&paths.vertex_count(), rows).await?;
        self.folders.take(vertex_folders(info));
        self.change
            .vertices
            .push((info.vertex_type.clone(), file.clone()));
        self.vertices.push(Vertices {
            file,
            text,
            info: info.clone(),
            rows,
            has_labels,
        });
        Ok(Written {
            rows,
            files: count,
            bytes,
            skipped: Skipped::default(),
        })
    }

    /// Checks and completes the info of an edge triplet. Gives the name of its file, its text, and the numbers of
    /// vertices of the types that it joins.
    pub(super) async fn begin_edges(
        &mut self,
        mut info: EdgeInfo,
    ) -> Result<(String, String, EdgeInfo, (u64, u64))> {
        let key = info.key();
        let file = format!("{}.edge.yml", self.fresh(&key));
        self.check_edge_info(&file, &info)?;
        let source = (&info.src_type, "src_chunk_size", info.src_chunk_size);
        let destination = (&info.dst_type, "dst_chunk_size", info.dst_chunk_size);
        let source = self.vertex_count(&file, source).await?;
        let destination = self.vertex_count(&file, destination).await?;
        let folder = format!("edge/{}", self.fresh(&key));
        info.prefix.take_if(|_| self.target.is_some());
        info.prefix = Some(spelled_out(info.prefix, format!("{folder}/")));
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
        self.folders
            .check_free(&self.data, &file, &edge_folders(&info))?;
        self.claim(&folder).await?;
        Ok((file, text, info, (source, destination)))
    }

    pub(super) async fn end_edges(
        &mut self,
        file: String,
        text: String,
        info: &EdgeInfo,
        rows: u64,
        files: ChunkFiles,
    ) -> Result<Written> {
        let (count, bytes) = files.finish().await?;
        self.written_edges(file, text, info);
        Ok(Written {
            rows,
            files: count,
            bytes,
            skipped: Skipped::default(),
        })
    }

    /// Remembers a triplet whose files are there.
    pub(super) fn written_edges(&mut self, file: String, text: String, info: &EdgeInfo) {
        self.folders.take(edge_folders(info));
        self.change.edges.push((info.key(), file.clone()));
        self.edges.push(Edges {
            file,
            text,
            key: info.key(),
        });
    }

    /// Tells other writers that the files of this folder are in use.
    pub(super) async fn claim(&mut self, folder: &str) -> Result<()> {
        if let Some(target) = &self.target {
            let place = target.root.join(&format!("{folder}.lock"));
            self.locks.extend(Lock::claim(&place).await?);
            let name = folder.rsplit('/').next().unwrap_or(folder);
            let kind = folder.split('/').next().unwrap_or_default();
            let info = target.file.parent().join(&format!("{name}.{kind}.yml"));
            let places = [target.root.join(folder), info];
            self.staged.extend(places.iter().filter_map(local_path));
        }
        Ok(())
    }

    pub(super) fn check_edge_info(&self, file: &str, info: &EdgeInfo) -> Result<()> {
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

    /// Number of vertices of a type, written before or there already, with this chunk size.
    pub(super) async fn vertex_count(
        &mut self,
        file: &str,
        end: (&String, &str, u64),
    ) -> Result<u64> {
        let (vertex_type, key, chunk_size) = end;
        let written = self.vertices.iter();
        let mut written = written.filter(|v| v.info.vertex_type == *vertex_type);
        let (known, rows) = match (written.next(), &self.target) {
            (Some(written), _) => (written.info.chunk_size, written.rows),
            (None, Some(_)) => {
                let found = self.stored(vertex_type).await?;
                self.change.needed.push(vertex_type.clone());
                (found.info.chunk_size, found.count)
            }
            (None, None) => return Err(self.unknown(vertex_type)),
        };
        // Parts of edges are vertex chunks, by number.
        if known != chunk_size {
            return Err(GraphArError::Metadata {
                path: file.to_owned(),
                element: key.to_owned(),
                expected: format!("{known}, the chunk_size of '{vertex_type}'"),
                found: chunk_size.to_string(),
            });
        }
        Ok(rows)
    }

    pub(super) fn unknown(&self, vertex_type: &str) -> GraphArError {
        let written = self.vertices.iter().map(|v| v.info.vertex_type.clone());
        let there = self.target.iter().flat_map(Target::vertex_types);
        GraphArError::UnknownElement {
            kind: "vertex type".to_owned(),
            name: vertex_type.to_owned(),
            candidates: written.chain(there).collect(),
        }
    }
}
