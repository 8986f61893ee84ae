//! Adjacency that a session remembers.

use std::sync::Arc;

use object_store::path::Path;

use super::{Csr, CsrLoad};
use crate::error::{GraphArError, Result};
use crate::graph::Adjacency;
use crate::storage::FileIdentity;

/// Adjacency in the cache, and the states of the files that it came from.
struct Known {
    number: u64,
    files: Vec<(Path, FileIdentity)>,
    csr: Arc<Csr>,
}

impl Adjacency {
    /// The adjacency that the session remembers, if its files are still in the same state, and there are still as many vertices at both
    /// ends: files are compared once for each statement, unless that is turned off.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn resident_csr(&self, others: u64) -> Result<Option<Arc<Csr>>> {
        let Some(known) = self.offsets.resident_layout::<Known>(&self.access) else {
            return Ok(None);
        };
        if known.csr.others() != others || known.csr.vertices() != self.vertices() {
            // The same edges, but counts of vertices that were replaced: an id may be none of them now.
            self.offsets.forget_layout(&self.access);
            return Ok(None);
        }
        if self.access.validate && self.access.meter.first_use(known.number) {
            for (path, identity) in &known.files {
                if !self.access.is_current(path, identity).await? {
                    self.offsets.forget_layout(&self.access);
                    return Ok(None);
                }
            }
        }
        self.access.meter.hit();
        Ok(Some(Arc::clone(&known.csr)))
    }

    /// The adjacency that the session remembers, or else [loaded](Self::load_csr) and remembered if there is room for it.
    ///
    /// # Errors
    /// As [`load_csr`](Self::load_csr).
    pub async fn csr(&self, load: CsrLoad) -> Result<Arc<Csr>> {
        if let Some(csr) = self.resident_csr(load.others).await? {
            return Ok(csr);
        }
        // Before the files are read: a change in between is then found the next time.
        let files = self.states().await?;
        let csr = Arc::new(self.load_csr(load).await?);
        if let (Some(files), Some(cache)) = (files, &self.access.cache) {
            let known = Known {
                number: cache.file_number(),
                files,
                csr: Arc::clone(&csr),
            };
            self.access.meter.first_use(known.number);
            let known = Arc::new(known);
            self.offsets.keep_layout(&self.access, &known, csr.bytes());
        }
        Ok(csr)
    }

    /// The states of the files that adjacency is made from; `None` if one is missing, as offsets may be: nothing would say when it comes.
    async fn states(&self) -> Result<Option<Vec<(Path, FileIdentity)>>> {
        let size = self.offsets.part_size.max(1);
        let mut names = vec![];
        for part in 0..self.vertices().div_ceil(size) {
            let rows = self.offsets.part_rows(part);
            if rows.is_empty() {
                continue;
            }
            names.push(self.offsets.paths.offset_chunk(part));
            let chunks = (rows.end - rows.start).div_ceil(self.offsets.chunk_size.max(1));
            names.extend((0..chunks).map(|chunk| self.chunk_path(part, chunk)));
        }
        let mut states = Vec::with_capacity(names.len());
        for name in names {
            let path = Path::parse(&name).map_err(|e| GraphArError::payload(&name, e))?;
            match self.access.head(&path).await {
                Ok(found) => states.push((path, FileIdentity::from(&found))),
                Err(GraphArError::MissingFile { .. }) => return Ok(None),
                Err(error) => return Err(error),
            }
        }
        Ok(Some(states))
    }
}
