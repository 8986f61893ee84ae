//! CSV, read with the declared types.
//!
//! Null is nothing between two commas, `""` is the empty string: a difference that general CSV
//! readers do not make, so the text is cut up here. Comma, double quotes that are doubled
//! inside, a header line, line feed or carriage return and line feed; a backslash is an
//! ordinary character. Rows in messages count from 0 and do not count the header.

mod column;
mod record;

use bytes::{Bytes, BytesMut};
use futures::{StreamExt, stream};

use self::column::Column;
use self::record::{Cut, Span, cut};
use super::ChunkRequest;
use super::checked::{Decoded, RawStream, row_count_error};
use super::columns::ColumnSet;
use super::file::{Blocks, ChunkFile};
use super::outline::{Outline, StoredColumn};
use crate::error::{GraphArError, Result};

/// Characters of a bad value that a message shows.
const SHOWN: usize = 60;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// See [`super::checked::RawStream`].
pub(super) async fn open(request: &ChunkRequest) -> Result<RawStream> {
    let mut text = Text::open(request).await?;
    let mut spans = vec![];
    let names = match text.record(&mut spans).await? {
        Record::Found => header(request, &text, &spans)?,
        Record::End if request.chunk_rows == 0 => return Ok(stream::empty().boxed()),
        Record::End => return Err(row_count_error(request, "an empty file")),
        Record::Malformed(found) => return Err(malformed(request, "header line", found)),
    };
    let columns = ColumnSet::find(request, names.iter().map(String::as_str))?;
    let mut builders = Vec::with_capacity(columns.positions().len());
    for &position in columns.positions() {
        if let Some((field, _)) = columns.located().find(|(_, at)| *at == position) {
            let builder =
                Column::new(field.data_type()).ok_or_else(|| GraphArError::Unsupported {
                    path: request.name(),
                    feature: format!(
                        "type {} of column '{}' in CSV",
                        field.data_type(),
                        field.name()
                    ),
                    hint: ": CSV has no form for lists, use Parquet, ORC or JSON".to_owned(),
                })?;
            builders.push(builder);
        }
    }
    let reader = Reader {
        request: request.clone(),
        text,
        width: names.len(),
        columns,
        builders,
        row: 0,
        spans,
    };
    let batches = stream::try_unfold(reader, |mut reader| async move {
        Ok(reader.next().await?.map(|batch| (batch, reader)))
    });
    Ok(batches.boxed())
}

/// See [`super::outline`].
pub(super) async fn outline(request: &ChunkRequest) -> Result<Outline> {
    let mut text = Text::open(request).await?;
    let mut spans = vec![];
    // The header is a record, too.
    let (mut records, mut names) = (0_u64, vec![]);
    loop {
        match text.record(&mut spans).await? {
            Record::Found => {
                if records == 0 {
                    names = header(request, &text, &spans)?;
                }
                records += 1;
            }
            Record::End => {
                let columns = names.into_iter().map(|name| StoredColumn {
                    name,
                    data_type: None,
                });
                return Ok(Outline {
                    rows: records.saturating_sub(1),
                    columns: Some(columns.collect()),
                });
            }
            Record::Malformed(found) => {
                return Err(malformed(request, &format!("record {records}"), found));
            }
        }
    }
}

/// The column names.
fn header(request: &ChunkRequest, text: &Text, spans: &[Span]) -> Result<Vec<String>> {
    let names = spans
        .iter()
        .map(|span| String::from_utf8(span.value(&text.buffer).into_owned()));
    names
        .collect::<Result<Vec<_>, _>>()
        .map_err(|e| GraphArError::corrupt(request.name(), "header line", "UTF-8", e.to_string()))
}

fn malformed(request: &ChunkRequest, element: &str, found: &str) -> GraphArError {
    GraphArError::corrupt(
        request.name(),
        element,
        "fields with doubled and closed quotes",
        found,
    )
}

struct Reader {
    request: ChunkRequest,
    text: Text,
    /// Fields of each record.
    width: usize,
    columns: ColumnSet,
    /// One for each of the columns' positions.
    builders: Vec<Column>,
    /// Number of the next record.
    row: u64,
    spans: Vec<Span>,
}

impl Reader {
    async fn next(&mut self) -> Result<Option<Decoded>> {
        let wanted = self.request.rows.clone();
        let mut rows = 0;
        while rows < self.request.batch_size.max(1) && self.row < wanted.end {
            // Awaiting is not free, and there is a record in the buffer nearly always.
            let record = match self.text.buffered(&mut self.spans) {
                Some(record) => record,
                None => self.text.record(&mut self.spans).await?,
            };
            match record {
                Record::Found => {}
                Record::End => return Err(row_count_error(&self.request, self.row.to_string())),
                Record::Malformed(found) => {
                    return Err(malformed(
                        &self.request,
                        &format!("row {}", self.row),
                        found,
                    ));
                }
            }
            if self.spans.len() != self.width {
                let (expected, found) = (
                    format!("{} fields", self.width),
                    self.spans.len().to_string(),
                );
                return Err(GraphArError::corrupt(
                    self.request.name(),
                    format!("row {}", self.row),
                    expected,
                    found,
                ));
            }
            if self.row >= wanted.start {
                self.append()?;
                rows += 1;
            }
            self.row += 1;
        }
        if rows > 0 {
            let arrays: Vec<_> = self.builders.iter_mut().map(Column::finish).collect();
            return Ok(Some(self.columns.arrange(&arrays, rows)));
        }
        if wanted.end == self.request.chunk_rows && !self.text.at_end().await? {
            return Err(row_count_error(
                &self.request,
                format!("more than {}", wanted.end),
            ));
        }
        Ok(None)
    }

    fn append(&mut self) -> Result<()> {
        for (builder, &position) in self.builders.iter_mut().zip(self.columns.positions()) {
            let span = self.spans[position];
            if !builder.append(span, &self.text.buffer) {
                let value = span.value(&self.text.buffer);
                let value = String::from_utf8_lossy(&value);
                let name = self
                    .columns
                    .located()
                    .find(|(_, at)| *at == position)
                    .map(|(field, _)| field.name());
                return Err(GraphArError::corrupt(
                    self.request.name(),
                    format!(
                        "column '{}', row {}",
                        name.map_or("", String::as_str),
                        self.row
                    ),
                    builder.type_name(),
                    shown(&value),
                ));
            }
        }
        Ok(())
    }
}

/// The value in quotes, shortened.
fn shown(value: &str) -> String {
    let mut shown: String = value.chars().take(SHOWN).collect();
    if shown.len() < value.len() {
        shown.push('…');
    }
    format!("{shown:?}")
}

enum Record {
    Found,
    End,
    Malformed(&'static str),
}

/// The text that is not used up yet.
struct Text {
    blocks: Blocks,
    buffer: Bytes,
    /// Where the next record begins.
    next: usize,
    /// Whether the buffer reaches to the end of the file.
    last: bool,
}

impl Text {
    async fn open(request: &ChunkRequest) -> Result<Self> {
        let blocks = Blocks::new(ChunkFile::open(request).await?);
        let mut text = Self {
            blocks,
            buffer: Bytes::new(),
            next: 0,
            last: false,
        };
        text.more().await?;
        if text.buffer.starts_with(BYTE_ORDER_MARK) {
            text.next = BYTE_ORDER_MARK.len();
        }
        Ok(text)
    }

    /// The next record, whose spans are positions in the buffer.
    async fn record(&mut self, spans: &mut Vec<Span>) -> Result<Record> {
        loop {
            if let Some(record) = self.buffered(spans) {
                return Ok(record);
            }
            self.more().await?;
        }
    }

    /// The next record, if the buffer has it to its end.
    fn buffered(&mut self, spans: &mut Vec<Span>) -> Option<Record> {
        if self.next == self.buffer.len() {
            // A line break at the end of the file does not begin another record.
            return self.last.then_some(Record::End);
        }
        match cut(&self.buffer, self.next, self.last, spans) {
            Cut::Record { next } => {
                self.next = next;
                Some(Record::Found)
            }
            Cut::Incomplete => None,
            Cut::Malformed(found) => Some(Record::Malformed(found)),
        }
    }

    async fn at_end(&mut self) -> Result<bool> {
        while self.next == self.buffer.len() && !self.last {
            self.more().await?;
        }
        Ok(self.next == self.buffer.len())
    }

    /// Reads on. As much again as there is already, so that a long record is not cut up
    /// again and again.
    async fn more(&mut self) -> Result<()> {
        let rest = self.buffer.slice(self.next..);
        match self.blocks.next(rest.len()).await? {
            None => self.last = true,
            Some(block) if rest.is_empty() => (self.buffer, self.next) = (block, 0),
            Some(block) => {
                let mut joined = BytesMut::with_capacity(rest.len() + block.len());
                joined.extend_from_slice(&rest);
                joined.extend_from_slice(&block);
                (self.buffer, self.next) = (joined.freeze(), 0);
            }
        }
        Ok(())
    }
}
