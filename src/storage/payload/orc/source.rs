//! Bytes for the ORC decoder: few requests, and nothing that it could choke on.

use std::io;

use bytes::Bytes;
use futures::FutureExt;
use futures::future::BoxFuture;
use orc_rust::reader::AsyncChunkReader;

use super::super::ChunkRequest;
use super::super::file::ChunkFile;
use super::tail::{Tail, check_types};
use crate::error::{GraphArError, Result};

/// Bytes of one request. The decoder asks for one stream of one column after the other, and
/// these stand side by side.
const WINDOW: u64 = 1024 * 1024;

/// The file as the decoder sees it.
pub(super) struct Source {
    file: ChunkFile,
    tail: Tail,
    /// Where the stripes end.
    stripes_end: u64,
    /// The bytes fetched last and where they begin.
    window: (u64, Bytes),
}

impl Source {
    /// Reads and checks what stands behind the stripes.
    pub(super) async fn open(request: &ChunkRequest, file: ChunkFile) -> Result<Self> {
        let corrupt =
            |found: String| GraphArError::corrupt(request.name(), "footer", "an ORC footer", found);
        let last = file
            .range(file.size() - file.tail_len() as u64..file.size())
            .await?;
        let tail = Tail::read(&last).map_err(corrupt)?;
        let start = tail.start(file.size());
        let stripes_end =
            start.ok_or_else(|| corrupt(format!("{tail:?} in {} bytes", file.size())))?;
        let footer = stripes_end + tail.metadata;
        let statistics = file.range(stripes_end..footer).await?;
        let footer = file.range(footer..footer + tail.footer).await?;
        tail.check_blocks(&statistics)
            .and_then(|()| tail.check_blocks(&footer))
            .map_err(corrupt)?;
        check_types(&tail, footer).map_err(corrupt)?;
        Ok(Self {
            file,
            tail,
            stripes_end,
            window: (0, Bytes::new()),
        })
    }

    async fn bytes(&mut self, offset: u64, length: u64) -> io::Result<Bytes> {
        let end = offset
            .checked_add(length)
            .filter(|end| *end <= self.file.size());
        let end = end.ok_or_else(|| {
            io::Error::new(io::ErrorKind::UnexpectedEof, "a range outside the file")
        })?;
        if end > self.stripes_end {
            return self.file.range(offset..end).await.map_err(io::Error::other);
        }
        let bytes = match self.windowed(offset, length) {
            Some(bytes) => bytes,
            None => {
                let window = end.max(offset.saturating_add(WINDOW).min(self.stripes_end));
                let fetched = self
                    .file
                    .range(offset..window)
                    .await
                    .map_err(io::Error::other)?;
                self.window = (offset, fetched);
                self.windowed(offset, length).unwrap_or_default()
            }
        };
        self.tail
            .check_blocks(&bytes)
            .map_err(|found| io::Error::new(io::ErrorKind::InvalidData, found))?;
        Ok(bytes)
    }

    fn windowed(&self, offset: u64, length: u64) -> Option<Bytes> {
        let (start, bytes) = &self.window;
        let from = usize::try_from(offset.checked_sub(*start)?).ok()?;
        let to = from.checked_add(usize::try_from(length).ok()?)?;
        (to <= bytes.len()).then(|| bytes.slice(from..to))
    }
}

impl AsyncChunkReader for Source {
    fn len(&mut self) -> BoxFuture<'_, io::Result<u64>> {
        let size = self.file.size();
        async move { Ok(size) }.boxed()
    }

    fn get_bytes(
        &mut self,
        offset_from_start: u64,
        length: u64,
    ) -> BoxFuture<'_, io::Result<Bytes>> {
        self.bytes(offset_from_start, length).boxed()
    }
}
