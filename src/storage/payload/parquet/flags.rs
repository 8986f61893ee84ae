//! The rows in which a BOOLEAN column is true, run by run.
//!
//! A run of equal values costs one step, whatever its length. Of values that are packed as bits, 64 are
//! one step.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use bytes::Bytes;
use datafusion::parquet::basic::{Encoding, Type as PhysicalType};
use datafusion::parquet::column::page::Page;
use datafusion::parquet::errors::Result as ParquetResult;
use datafusion::parquet::file::metadata::ColumnChunkMetaData;
use datafusion::parquet::file::serialized_reader::SerializedPageReader;
use datafusion::parquet::schema::types::SchemaDescriptor;

use super::opened::ParquetFile;
use crate::error::Result;
use crate::format::RowRanges;
use crate::storage::payload::{ChunkRequest, ColumnSource};

/// The rows of a file in which a column is true.
#[derive(Debug)]
pub struct TrueRows {
    /// The rows, counted inside the file; of row groups that hold rows of the request.
    pub rows: RowRanges,
    /// Runs, and words of packed bits, that were looked at.
    pub runs: usize,
}

impl TrueRows {
    /// Reads the only column of `request`. `None` where its pages cannot be read so, as there are nulls or
    /// anything unexpected: then [`open_chunk`](crate::storage::payload::open_chunk) reads the column, or
    /// says what is wrong with it.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub(crate) async fn read(request: &ChunkRequest) -> Result<Option<Self>> {
        let [column] = request.columns.as_slice() else {
            return Ok(None);
        };
        let file = ParquetFile::open(request, false).await?;
        let metadata = file.metadata();
        let descr = metadata.file_metadata().schema_descr();
        let Some(leaf) = leaf(descr, &column.source) else {
            return Ok(None);
        };
        let (mut places, mut parts) = (vec![], vec![]);
        let mut first = 0;
        for group in metadata.row_groups() {
            let rows = first..first + group.num_rows().unsigned_abs();
            first = rows.end;
            let wanted = match &request.picked {
                Some(picked) => !picked.within(&rows).is_empty(),
                None => request.rows.start < rows.end && rows.start < request.rows.end,
            };
            if !wanted {
                continue;
            }
            let chunk = group.column(leaf);
            let Some(place) = place(chunk) else {
                return Ok(None);
            };
            places.push(place);
            parts.push((rows, chunk));
        }
        let reader = file.reader(&request.access, &request.path);
        let bytes = reader.ranges(&places).await?;
        let mut walk = Walk::default();
        for ((rows, chunk), bytes) in parts.into_iter().zip(bytes) {
            walk.at = rows.start;
            // Third-party code that a damaged page can drive into a panic.
            let walked = catch_unwind(AssertUnwindSafe(|| walk.chunk(chunk, bytes, &rows)));
            if !matches!(walked, Ok(Ok(Some(())))) {
                return Ok(None);
            }
        }
        Ok(Some(Self {
            rows: RowRanges::from_kept(walk.ranges),
            runs: walk.steps,
        }))
    }
}

/// The leaf of a column of booleans without nesting.
fn leaf(descr: &SchemaDescriptor, source: &ColumnSource) -> Option<usize> {
    let leaf = match source {
        ColumnSource::Name(name) => descr
            .columns()
            .iter()
            .position(|leaf| leaf.path().parts() == [name.as_str()])?,
        ColumnSource::Position(at) => {
            (0..descr.num_columns()).find(|leaf| descr.get_column_root_idx(*leaf) == *at)?
        }
    };
    let column = descr.column(leaf);
    let flat = column.path().parts().len() == 1 && column.max_rep_level() == 0;
    let boolean = column.physical_type() == PhysicalType::BOOLEAN;
    (flat && boolean && column.max_def_level() <= 1).then_some(leaf)
}

/// Where the pages of a column chunk stand, if there is no dictionary before them.
fn place(chunk: &ColumnChunkMetaData) -> Option<Range<u64>> {
    if chunk.dictionary_page_offset().is_some() {
        return None;
    }
    let begin = u64::try_from(chunk.data_page_offset()).ok()?;
    let length = u64::try_from(chunk.compressed_size()).ok()?;
    Some(begin..begin.checked_add(length)?)
}

/// Values in their order, as ranges of those that are true.
#[derive(Debug, Default)]
struct Walk {
    ranges: Vec<Range<u64>>,
    /// The row of the next value.
    at: u64,
    steps: usize,
}

impl Walk {
    /// All values of a column chunk, which are those of `rows`. `None` if they cannot be walked.
    fn chunk(
        &mut self,
        chunk: &ColumnChunkMetaData,
        bytes: Bytes,
        rows: &Range<u64>,
    ) -> ParquetResult<Option<()>> {
        let count = i64::try_from(rows.end - rows.start)?;
        let only = ColumnChunkMetaData::builder(chunk.column_descr_ptr())
            .set_compression(chunk.compression())
            .set_data_page_offset(0)
            .set_total_compressed_size(i64::try_from(bytes.len())?)
            .set_num_values(count)
            .build()?;
        let optional = chunk.column_descr().max_def_level() > 0;
        let total = usize::try_from(count)?;
        for page in SerializedPageReader::new(Arc::new(bytes), &only, total, None)? {
            if self.page(&page?, optional).is_none() || self.at > rows.end {
                return Ok(None);
            }
        }
        Ok((self.at == rows.end).then_some(()))
    }

    fn page(&mut self, page: &Page, optional: bool) -> Option<()> {
        let count = u64::from(page.num_values());
        let (values, encoding) = match page {
            Page::DataPage {
                buf,
                encoding,
                def_level_encoding,
                ..
            } => {
                let mut left: &[u8] = buf;
                if optional {
                    let levels = with_length(&mut left)?;
                    let all = *def_level_encoding == Encoding::RLE && all_set(levels, count)?;
                    all.then_some(())?;
                }
                (left, *encoding)
            }
            Page::DataPageV2 {
                buf,
                encoding,
                num_nulls: 0,
                def_levels_byte_len,
                rep_levels_byte_len: 0,
                ..
            } => {
                let levels = usize::try_from(*def_levels_byte_len).ok()?;
                let (levels, values) = buf.split_at_checked(levels)?;
                if optional {
                    all_set(levels, count)?.then_some(())?;
                }
                (values, *encoding)
            }
            _ => return None,
        };
        match encoding {
            Encoding::PLAIN => self.packed(values, count),
            Encoding::RLE => {
                let mut left = values;
                self.hybrid(with_length(&mut left)?, count)
            }
            _ => None,
        }
    }

    /// Values of one bit in Parquet's [hybrid of runs and packed bits].
    ///
    /// [hybrid of runs and packed bits]: https://parquet.apache.org/docs/file-format/data-pages/encodings/#RLE
    fn hybrid(&mut self, mut bytes: &[u8], count: u64) -> Option<()> {
        let mut left = count;
        while left > 0 {
            let header = number(&mut bytes)?;
            if header & 1 == 0 {
                let (&value, rest) = bytes.split_first()?;
                bytes = rest;
                let length = (header >> 1).min(left);
                (value <= 1).then_some(())?;
                self.steps += 1;
                self.extend(value == 1, length);
                left -= length;
            } else {
                // Groups of eight values, the last of which may be padded.
                let groups = header >> 1;
                let values = groups.saturating_mul(8).min(left);
                self.packed(bytes, values)?;
                let used = usize::try_from(groups).unwrap_or(usize::MAX);
                bytes = bytes.get(used..).unwrap_or_default();
                left -= values;
            }
        }
        Some(())
    }

    /// The first `count` bits, lowest bit first.
    fn packed(&mut self, bytes: &[u8], count: u64) -> Option<()> {
        let used = usize::try_from(count.div_ceil(8)).ok()?;
        let mut left = count;
        for word in bytes.get(..used)?.chunks(8) {
            let mut eight = [0; 8];
            eight[..word.len()].copy_from_slice(word);
            let mut bits = u64::from_le_bytes(eight);
            let mut here = left.min(64);
            left -= here;
            self.steps += 1;
            while here > 0 {
                let value = bits & 1 == 1;
                let same = if value {
                    bits.trailing_ones()
                } else {
                    bits.trailing_zeros()
                };
                let length = u64::from(same).min(here);
                self.extend(value, length);
                bits = bits.checked_shr(same).unwrap_or(0);
                here -= length;
            }
        }
        Some(())
    }

    fn extend(&mut self, value: bool, length: u64) {
        let end = self.at.saturating_add(length);
        if value && length > 0 {
            match self.ranges.last_mut() {
                Some(last) if last.end == self.at => last.end = end,
                _ => self.ranges.push(self.at..end),
            }
        }
        self.at = end;
    }
}

/// Whether all of the levels are 1; `None` if they are broken.
fn all_set(levels: &[u8], count: u64) -> Option<bool> {
    let mut walk = Walk::default();
    walk.hybrid(levels, count)?;
    Some(match walk.ranges.as_slice() {
        [all] => *all == (0..count),
        _ => count == 0,
    })
}

/// The bytes whose length stands before them.
fn with_length<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
    let (found, rest) = rest.split_at_checked(length)?;
    *bytes = rest;
    Some(found)
}

/// An unsigned number of seven bits a byte.
fn number(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..63).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7F) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
#[allow(clippy::single_range_in_vec_init)] // A column that is true in one range.
mod tests {
    use super::*;

    fn hybrid(bytes: &[u8], count: u64) -> Option<(Vec<Range<u64>>, usize)> {
        let mut walk = Walk::default();
        walk.hybrid(bytes, count)?;
        assert_eq!(walk.at, count);
        Some((walk.ranges, walk.steps))
    }

    #[test]
    fn runs_and_packed_bits_are_walked() {
        // 1000 times true.
        assert_eq!(hybrid(&[0xD0, 0x0F, 1], 1000), Some((vec![0..1000], 1)));
        // 3 times false, then eight bits, of which five count.
        let mixed = [0x06, 0, 0x03, 0b1111_0110];
        assert_eq!(hybrid(&mixed, 8), Some((vec![4..6, 7..8], 2)));
        // Runs that touch are one range.
        assert_eq!(hybrid(&[0x04, 1, 0x06, 1], 5), Some((vec![0..5], 2)));
        assert_eq!(hybrid(&[], 0), Some((vec![], 0)));
    }

    #[test]
    fn broken_values_are_not_walked() {
        assert!(hybrid(&[], 1).is_none());
        assert!(hybrid(&[0x04], 2).is_none());
        assert!(hybrid(&[0x04, 2], 2).is_none());
        assert!(hybrid(&[0x05, 0xFF], 9).is_none());
        assert!(hybrid(&[0xFF; 12], 9).is_none());
        assert!(hybrid(&[0x02, 1], 2).is_none());
        assert!(with_length(&mut [5, 0, 0, 0, 1].as_slice()).is_none());
        let mut walk = Walk::default();
        assert!(walk.packed(&[0xFF], 9).is_none());
    }

    #[test]
    fn words_of_bits_are_one_step_each() {
        let mut bytes = vec![0xFF; 16];
        bytes.extend([0x00, 0x80]);
        let mut walk = Walk::default();
        walk.packed(&bytes, 143).unwrap();
        assert_eq!((walk.ranges, walk.steps, walk.at), (vec![0..128], 3, 143));
        let mut walk = Walk::default();
        walk.packed(&bytes, 144).unwrap();
        assert_eq!(walk.ranges, [0..128, 143..144]);
    }

    #[test]
    fn levels_are_looked_at() {
        assert_eq!(all_set(&[0x14, 1], 10), Some(true));
        assert_eq!(all_set(&[0x12, 1, 0x02, 0], 10), Some(false));
        assert_eq!(all_set(&[0x12, 1], 10), None);
        assert_eq!(all_set(&[], 0), Some(true));
    }
}
