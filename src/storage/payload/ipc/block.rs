//! The messages of an Arrow IPC file or stream, with their lengths checked.

use std::ops::Range;

use datafusion::arrow::datatypes::Schema;
use datafusion::arrow::ipc::convert::fb_to_schema;
use datafusion::arrow::ipc::{
    Block, Endianness, Message, MessageHeader, MetadataVersion, RecordBatch, Schema as IpcSchema,
    root_as_footer, root_as_message,
};

const MAGIC: &[u8] = b"ARROW1";

/// Bytes at the end of a file: the length of the footer and the magic.
const TRAILER: usize = 4 + MAGIC.len();

/// Marks the length of a message since version 0.15 of Arrow.
const CONTINUATION: [u8; 4] = [0xff; 4];

/// Longest buffer that a compressed one may claim to become. The decoder allocates what is
/// claimed before it looks at the data.
const LONGEST_BUFFER: i64 = 1 << 32;

/// What a message is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockKind {
    /// Values of a dictionary.
    Dictionary,
    /// Rows.
    Batch,
}

/// One message and its body, in the file.
#[derive(Debug, Clone, Copy)]
pub(super) struct MessageBlock {
    pub(super) kind: BlockKind,
    /// The block in the form that the decoder takes.
    pub(super) block: Block,
    /// First byte.
    pub(super) start: usize,
    /// Bytes of the message and its body.
    pub(super) length: usize,
    /// Rows of a batch.
    pub(super) rows: u64,
}

/// Schema and messages, in the order in which they are to be decoded.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) schema: Schema,
    pub(super) version: MetadataVersion,
    pub(super) blocks: Vec<MessageBlock>,
}

impl Layout {
    /// Reads the footer of a file, or the message headers of a stream.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, String> {
        if bytes.starts_with(MAGIC) {
            Self::of_file(bytes)
        } else {
            Self::of_stream(bytes)
        }
    }

    fn of_file(bytes: &[u8]) -> Result<Self, String> {
        let end = bytes.len().checked_sub(TRAILER).ok_or("a file cut short")?;
        let (length, magic) = bytes[end..].split_at(4);
        if magic != MAGIC {
            return Err("no ARROW1 at the end".to_owned());
        }
        let length = length
            .try_into()
            .map(i32::from_le_bytes)
            .map_err(|e| e.to_string())?;
        let start = usize::try_from(length)
            .ok()
            .and_then(|length| end.checked_sub(length));
        let start = start.ok_or_else(|| format!("a footer of {length} bytes"))?;
        let footer = root_as_footer(&bytes[start..end]).map_err(|e| e.to_string())?;
        let schema = schema(footer.schema().ok_or("no schema")?)?;
        let mut blocks = vec![];
        let dictionaries = footer.dictionaries().into_iter().flatten();
        let batches = footer.recordBatches().into_iter().flatten();
        let kinds = dictionaries
            .map(|b| (b, BlockKind::Dictionary))
            .chain(batches.map(|b| (b, BlockKind::Batch)));
        for (block, kind) in kinds {
            let head = usize::try_from(block.metaDataLength()).ok();
            let span = || {
                let start = usize::try_from(block.offset()).ok()?;
                let body = start.checked_add(head?)?;
                let end = body.checked_add(usize::try_from(block.bodyLength()).ok()?)?;
                (end <= bytes.len()).then_some((start..body, body..end))
            };
            let (head, body) = span().ok_or_else(|| format!("{block:?} outside the file"))?;
            let message = message(&bytes[head.clone()])?;
            blocks.extend(checked(kind, &message, bytes, head, body)?);
        }
        Ok(Self {
            schema,
            version: footer.version(),
            blocks,
        })
    }

    fn of_stream(bytes: &[u8]) -> Result<Self, String> {
        let (mut at, mut layout) = (0_usize, None::<Self>);
        while let Some(prefix) = bytes.get(at..at + 4) {
            let marked = prefix == CONTINUATION;
            let prefix = if marked {
                bytes.get(at + 4..at + 8).ok_or("a message cut short")?
            } else {
                prefix
            };
            let length = prefix
                .try_into()
                .map(u32::from_le_bytes)
                .map_err(|e| e.to_string())?;
            if length == 0 {
                break;
            }
            let head_end = usize::try_from(length)
                .ok()
                .and_then(|n| (at + if marked { 8 } else { 4 }).checked_add(n));
            let head = head_end
                .map(|end| at..end)
                .filter(|head| head.end <= bytes.len());
            let head = head.ok_or_else(|| format!("a message of {length} bytes"))?;
            let message = message(&bytes[head.clone()])?;
            let body_end = usize::try_from(message.bodyLength())
                .ok()
                .and_then(|n| head.end.checked_add(n));
            let body = body_end
                .map(|end| head.end..end)
                .filter(|body| body.end <= bytes.len());
            let body = body.ok_or_else(|| format!("a body of {} bytes", message.bodyLength()))?;
            at = body.end;
            let kind = match message.header_type() {
                MessageHeader::Schema if layout.is_none() => {
                    let schema = schema(message.header_as_schema().ok_or("no schema")?)?;
                    layout = Some(Self {
                        schema,
                        version: message.version(),
                        blocks: vec![],
                    });
                    continue;
                }
                MessageHeader::DictionaryBatch => BlockKind::Dictionary,
                MessageHeader::RecordBatch => BlockKind::Batch,
                other => return Err(format!("a message of the kind {other:?}")),
            };
            let blocks = layout
                .as_mut()
                .map(|layout| &mut layout.blocks)
                .ok_or("rows before the schema")?;
            blocks.extend(checked(kind, &message, bytes, head, body)?);
        }
        layout.ok_or_else(|| "neither a file nor a stream".to_owned())
    }
}

fn schema(schema: IpcSchema<'_>) -> Result<Schema, String> {
    if schema.endianness() != Endianness::Little {
        return Err("big-endian numbers".to_owned());
    }
    Ok(fb_to_schema(schema))
}

fn message(head: &[u8]) -> Result<Message<'_>, String> {
    let text = match head {
        [0xff, 0xff, 0xff, 0xff, _, _, _, _, text @ ..] | [_, _, _, _, text @ ..] => text,
        _ => return Err("a message cut short".to_owned()),
    };
    root_as_message(text).map_err(|e| e.to_string())
}

/// The block, if its buffers stand inside its body and do not claim to be huge.
fn checked(
    kind: BlockKind,
    message: &Message<'_>,
    bytes: &[u8],
    head: Range<usize>,
    body: Range<usize>,
) -> Result<Option<MessageBlock>, String> {
    let batch = match kind {
        BlockKind::Dictionary => message
            .header_as_dictionary_batch()
            .and_then(|batch| batch.data()),
        BlockKind::Batch => message.header_as_record_batch(),
    };
    let batch = batch.ok_or("a message without rows")?;
    buffers(&batch, &bytes[body.clone()])?;
    let rows = u64::try_from(batch.length()).map_err(|_| format!("{} rows", batch.length()))?;
    let sizes = (
        i64::try_from(head.start),
        i32::try_from(head.len()),
        i64::try_from(body.len()),
    );
    let (Ok(offset), Ok(head_length), Ok(body_length)) = sizes else {
        return Err("a message of more than 2 GiB".to_owned());
    };
    Ok(Some(MessageBlock {
        kind,
        block: Block::new(offset, head_length, body_length),
        start: head.start,
        length: body.end - head.start,
        rows: if kind == BlockKind::Batch { rows } else { 0 },
    }))
}

fn buffers(batch: &RecordBatch<'_>, body: &[u8]) -> Result<(), String> {
    for buffer in batch.buffers().into_iter().flatten() {
        let span = || {
            let start = usize::try_from(buffer.offset()).ok()?;
            body.get(start..start.checked_add(usize::try_from(buffer.length()).ok()?)?)
        };
        let data = span().ok_or_else(|| format!("{buffer:?} outside its message"))?;
        if let (Some(_), Some(length)) = (batch.compression(), data.first_chunk::<8>()) {
            let length = i64::from_le_bytes(*length);
            if length > LONGEST_BUFFER {
                return Err(format!("a buffer of {length} bytes"));
            }
        }
    }
    Ok(())
}
