//! The postscript of an ORC file, and the frames of its compressed parts.
//!
//! The decoder allocates what these say before it looks at the data, and a failed allocation
//! cannot be caught. So they are read here first.

use std::io::Read;

use bytes::Bytes;
use orc_rust::compression::Decompressor;
use orc_rust::reader::metadata::read_metadata;

use super::proto::{Fields, Value, varint};

/// Longest block that a block header can describe; no writer goes beyond.
const LONGEST_BLOCK: u64 = 1 << 23;

const SNAPPY: u64 = 2;

/// Most levels of types inside types.
const DEEPEST: usize = 16;

/// What the postscript says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tail {
    /// Bytes of the footer.
    pub(super) footer: u64,
    /// Bytes of the statistics before it.
    pub(super) metadata: u64,
    /// Bytes of the postscript and its length.
    pub(super) postscript: u64,
    /// Compression kind, by its number in the format.
    compression: u64,
    /// Most bytes of a block, uncompressed.
    block_size: u64,
}

impl Tail {
    /// Reads the postscript out of the last bytes of a file.
    pub(super) fn read(last_bytes: &[u8]) -> Result<Self, String> {
        let (&length, before) = last_bytes.split_last().ok_or("an empty file")?;
        let start = before
            .len()
            .checked_sub(usize::from(length))
            .ok_or("a file cut short")?;
        let postscript = u64::from(length) + 1;
        let mut tail = Self {
            footer: 0,
            metadata: 0,
            postscript,
            compression: 0,
            block_size: 1 << 18,
        };
        let mut magic = false;
        for field in Fields(&before[start..]) {
            match field? {
                (1, Value::Number(value)) => tail.footer = value,
                (2, Value::Number(value)) => tail.compression = value,
                (3, Value::Number(value)) => tail.block_size = value,
                (5, Value::Number(value)) => tail.metadata = value,
                (8000, Value::Bytes(bytes)) => magic = bytes == b"ORC",
                _ => {}
            }
        }
        if !magic {
            return Err("no ORC in the postscript".to_owned());
        }
        if tail.block_size > LONGEST_BLOCK {
            return Err(format!("compression blocks of {} bytes", tail.block_size));
        }
        Ok(tail)
    }

    /// First byte of footer and statistics in a file of this size.
    pub(super) fn start(&self, size: u64) -> Option<u64> {
        size.checked_sub(self.postscript)?
            .checked_sub(self.footer)?
            .checked_sub(self.metadata)
    }

    /// Checks the headers of all blocks of a stream.
    pub(super) fn check_blocks(&self, mut stream: &[u8]) -> Result<(), String> {
        if self.compression == 0 {
            return Ok(());
        }
        while let Some((header, rest)) = stream.split_first_chunk::<3>() {
            let header = u32::from_le_bytes([header[0], header[1], header[2], 0]);
            let length = usize::try_from(header >> 1).map_err(|e| e.to_string())?;
            let (mut block, rest) = rest
                .split_at_checked(length)
                .ok_or("a compressed block cut short")?;
            if header & 1 == 0 && self.compression == SNAPPY {
                let claimed = varint(&mut block)?;
                if claimed > self.block_size {
                    return Err(format!("a compressed block of {claimed} bytes"));
                }
            }
            stream = rest;
        }
        if stream.is_empty() {
            Ok(())
        } else {
            Err("a block header cut short".to_owned())
        }
    }
}

/// Checks that the types in the footer are a tree, and not a deep one: the decoder follows
/// them without looking where it has been.
pub(super) fn check_types(tail: &Tail, footer: Bytes) -> Result<(), String> {
    let footer = tail.decompress(footer)?;
    let mut depths: Vec<Option<usize>> = vec![Some(0)];
    let mut types = 0;
    for field in Fields(&footer) {
        let (4, Value::Bytes(kind)) = field? else {
            continue;
        };
        let depth = depths
            .get(types)
            .copied()
            .flatten()
            .ok_or("a type that belongs to none")?;
        for field in Fields(kind) {
            let children = match field? {
                (2, Value::Number(child)) => vec![child],
                (2, Value::Bytes(mut packed)) => {
                    let mut children = vec![];
                    while !packed.is_empty() {
                        children.push(varint(&mut packed)?);
                    }
                    children
                }
                _ => continue,
            };
            for child in children {
                // Types are numbered from the top down, and each has one parent: so the next
                // child is always the next number that is free.
                let child = usize::try_from(child).map_err(|e| e.to_string())?;
                if child <= types || depth == DEEPEST || child > footer.len() {
                    return Err(format!("type {child} inside type {types} at level {depth}"));
                }
                if depths.len() <= child {
                    depths.resize(child + 1, None);
                }
                if depths[child].replace(depth + 1).is_some() {
                    return Err(format!("type {child} inside two others"));
                }
            }
        }
        types += 1;
    }
    if types < depths.len() {
        Err("types that are not there".to_owned())
    } else {
        Ok(())
    }
}

impl Tail {
    /// Undoes the compression of a part of the file whose blocks were checked.
    fn decompress(&self, part: Bytes) -> Result<Vec<u8>, String> {
        // The library makes its decompressor from a file's metadata and not otherwise. This is
        // the shortest file of the same compression: a footer of one type without children.
        let footer: &[u8] = &[0x22, 0x02, 0x08, 0x0c];
        let mut file = vec![];
        if self.compression != 0 {
            let header = u32::try_from(footer.len() << 1 | 1).map_err(|e| e.to_string())?;
            file.extend_from_slice(&header.to_le_bytes()[..3]);
        }
        file.extend_from_slice(footer);
        let length = u8::try_from(file.len()).map_err(|e| e.to_string())?;
        let kind = u8::try_from(self.compression)
            .ok()
            .filter(|kind| *kind < 0x80)
            .ok_or("an unknown compression")?;
        let mut postscript = vec![0x08, length, 0x10, kind, 0x28, 0x00, 0x18];
        let mut rest = self.block_size;
        while rest >= 0x80 {
            postscript.push(u8::try_from(rest & 0x7f).map_err(|e| e.to_string())? | 0x80);
            rest >>= 7;
        }
        postscript.push(u8::try_from(rest).map_err(|e| e.to_string())?);
        file.extend_from_slice(&postscript);
        file.push(u8::try_from(postscript.len()).map_err(|e| e.to_string())?);
        let compression = read_metadata(&mut Bytes::from(file))
            .map_err(|e| e.to_string())?
            .compression();
        let mut text = vec![];
        Decompressor::new(part, compression, vec![])
            .read_to_end(&mut text)
            .map_err(|e| e.to_string())?;
        Ok(text)
    }
}
