//! Looking for whatever is wrong in an archive.
//!
//! [`check`] goes through all files that the metadata and counts call for, and gives a [`Violation`] for each
//! place where a file contradicts the format, the metadata, or another file. It stops at none of them: a file that is
//! missing or broken is a violation itself, and what depends on it is left out.
//!
//! A [`Level::Shallow`] check reads info files, count files, and of every chunk file what its footer says. A
//! [`Level::Deep`] check also reads every value once, and the keys twice if some look like duplicates; text is read
//! once more for the number of its rows.
//!
//! What the readers of the format put up with is no violation: offset chunks that are padded or have 32 bits, other
//! integer widths and units of time than declared, a missing index column, declared labels without label files.
//!
//! In memory are the rows of a few batches, the files of one chunk at a time as far as its payload needs that, eight bytes for each
//! vertex of a part while its offsets are compared, and eight for each vertex of a type while its keys are. The two
//! are charged to the memory pool.

mod chunks;
mod counts;
mod edge_look;
mod edges;
mod infos;
mod keys;
mod layouts;
mod look;
mod offsets;
mod report;
mod rule;
mod shape;
mod values;
mod vertices;

use std::sync::Arc;

use datafusion::error::Result;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryPool, MemoryReservation};
use futures::stream::BoxStream;
use futures::{FutureExt, StreamExt, future, stream};

pub use self::report::Violation;
pub use self::rule::Rule;

use self::report::Report;
use crate::error::GraphArError;
use crate::storage::{InspectedArchive, Location, Stores};

/// How much a check reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Level {
    /// Info files, count files, and which chunk files there are with how many rows, by their footers. Text
    /// has none, so of text files only that they are there.
    Shallow,
    /// All of it.
    #[default]
    Deep,
}

impl Level {
    /// The level of this name, `shallow` or `deep`, in any case.
    pub fn from_name(name: &str) -> Option<Self> {
        match name.to_ascii_lowercase().as_str() {
            "shallow" => Some(Self::Shallow),
            "deep" => Some(Self::Deep),
            _ => None,
        }
    }
}

/// Violations, as they are found.
pub type Violations = BoxStream<'static, Result<Violation>>;

/// What a check needs everywhere.
struct Context {
    report: Report,
    level: Level,
    pool: Arc<dyn MemoryPool>,
}

impl Context {
    fn is_deep(&self) -> bool {
        self.level == Level::Deep
    }

    /// Memory for something that grows with the number of vertices.
    fn reservation(&self) -> MemoryReservation {
        MemoryConsumer::new("graph_check").register(&self.pool)
    }
}

/// Checks the archive at `place`: a graph info, a folder with one graph info in it, or the info of a single type.
///
/// The stream does the work as it is polled, and ends it when it is dropped.
///
/// # Errors
/// If there is no archive at `place`, or the memory pool has no room. Whatever is wrong inside of the archive is no
/// error.
pub fn check(
    place: Location,
    level: Level,
    stores: Stores,
    pool: &Arc<dyn MemoryPool>,
) -> Violations {
    let (report, violations) = Report::new();
    let context = Context {
        report,
        level,
        pool: Arc::clone(pool),
    };
    let run = async move { run(&context, &place, &stores).await }.boxed();
    let run = stream::once(run).filter_map(|end| future::ready(end.err().map(Err)));
    stream::select(violations.map(Ok), run).boxed()
}

async fn run(context: &Context, place: &Location, stores: &Stores) -> Result<()> {
    let archive = match InspectedArchive::open(place, stores).await {
        Ok(archive) => archive,
        Err(error @ (GraphArError::Metadata { .. } | GraphArError::CorruptFile { .. })) => {
            context.report.error(place, &error);
            return Ok(());
        }
        Err(error) => return Err(error.into()),
    };
    infos::check_infos(context, &archive);
    let mut counts = vec![];
    for vertex in &archive.vertices {
        let count = vertices::check_vertices(context, vertex).boxed().await?;
        counts.push((vertex.info.vertex_type.as_str(), count));
    }
    let count_of = |name: &str| {
        let found = counts.iter().find(|(own, _)| *own == name);
        found.and_then(|(_, count)| *count)
    };
    for edge in &archive.edges {
        let counts = (count_of(&edge.info.src_type), count_of(&edge.info.dst_type));
        edges::check_edges(context, edge, counts).boxed().await?;
    }
    Ok(())
}
