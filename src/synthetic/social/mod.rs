//! A social network: persons who know each other, where they live, study and work, what they write and like.
//!
//! Types and properties follow the social network benchmark of the LDBC (*The LDBC Social Network Benchmark*, Erling
//! and others, SIGMOD 2015), simplified; the values are made up.
//!
//! ```text
//!                                        place: city -isPartOf-> country -isPartOf-> continent
//!                                          ^
//!        studyAt, workAt                   | isLocatedIn
//! person ----------------> organisation ---+
//!   |  ^                                   |
//!   |  +--- isLocatedIn -------------------+        person -knows- person      person -hasInterest-> tag
//!   | likes
//!   v         hasCreator
//! post -------------------> person       post -hasTag-> tag
//!   ^  replyOf
//!   +------------ comment -hasCreator-> person
//! ```

mod edges;
mod infos;
mod names;
mod vertices;

use std::sync::Arc;

use object_store::ObjectStore;
use object_store::path::Path;

use edges::Ends;

use crate::error::Result;
use crate::format::FileType;
use crate::writer::GraphWriter;

/// Size and storage of a social graph. Equal numbers of persons give equal graphs, however stored.
///
/// For `n` persons there are about `8 n` pairs that know each other, `3 n` posts, `6 n` comments and `10 n` likes. Half of the
/// pairs are neighbours in number; of the others the first hundredth of the persons has a fifth. 101 places,
/// 144 organisations and 64 tags are always there.
///
/// What may be of use in tests: `place` and `organisation` declare labels, `emails` of persons is a list, `imageFile` of
/// posts is mostly null, a post has exactly one creator, `knows` is stored once for a pair and declared undirected,
/// and no two edges of `knows`, `likes` or `hasInterest` join the same two vertices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SocialGraph {
    /// Number of persons.
    pub persons: u32,
    /// Rows of a vertex chunk, at least 1.
    pub vertex_chunk_size: u64,
    /// Rows of an edge chunk, at least 1.
    pub edge_chunk_size: u64,
    /// File type of all chunks.
    pub file_type: FileType,
}

impl SocialGraph {
    /// A graph of so many persons in Parquet, with vertex chunks of 2^16 and edge chunks of 2^20 rows.
    pub fn new(persons: u32) -> Self {
        Self {
            persons,
            vertex_chunk_size: 1 << 16,
            edge_chunk_size: 1 << 20,
            file_type: FileType::Parquet,
        }
    }

    /// Writes the graph as the archive `social` below `root`, all triplets ordered by source and by destination; gives the
    /// path of its graph info. Needs about 3 kB of memory for a person.
    ///
    /// # Errors
    /// If the store fails, or a size or the file type is not usable.
    pub async fn write(&self, store: Arc<dyn ObjectStore>, root: Path) -> Result<Path> {
        let mut writer = GraphWriter::create(store, root, "social");
        let counts = vertices::Counts::of(self.persons);
        for table in vertices::all(&counts)? {
            let info = infos::vertex(self, &table);
            let labels = table.labels.as_ref();
            writer.write_vertices(info, &table.rows, labels).await?;
        }
        for table in edges::all(&counts)? {
            let info = infos::edge(self, &table);
            let Ends {
                source,
                destination,
            } = &table.ends;
            let rows = &table.rows;
            writer.write_edges(info, source, destination, rows).await?;
        }
        writer.commit().await
    }
}

#[cfg(test)]
mod tests;
