//! A file in memory, requests to it, and one table of every type in every payload.

use std::fmt::Write;
use std::sync::Arc;

use bytes::Bytes;
use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, Date32Array, Float32Array, Float64Array, Int32Array,
    Int64Array, Int64Builder, ListBuilder, RecordBatch, RecordBatchOptions, StringBuilder,
    StringViewArray, TimestampMillisecondArray,
};
use datafusion::arrow::compute::concat_batches;
use datafusion::arrow::datatypes::{DataType, Field, FieldRef, Schema, SchemaRef};
use datafusion::arrow::ipc::CompressionType;
use datafusion::arrow::ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use datafusion::arrow::util::display::array_value_to_string;
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::file::properties::WriterProperties;
use futures::executor::block_on;
use futures::{StreamExt, TryStreamExt};
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};

use crate::error::Result;
use crate::format::FileType;
use crate::storage::FileAccess;
use crate::storage::payload::{ChunkColumn, ChunkRequest, open_chunk};

/// A chunk file in memory.
#[derive(Clone)]
pub(super) struct File {
    pub(super) kind: FileType,
    pub(super) store: Arc<dyn ObjectStore>,
    pub(super) declared: SchemaRef,
    pub(super) rows: u64,
}

impl File {
    pub(super) fn new(
        kind: FileType,
        bytes: impl Into<Bytes>,
        declared: SchemaRef,
        rows: usize,
    ) -> Self {
        let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
        block_on(store.put(&Path::from("part0/chunk0"), bytes.into().into())).unwrap();
        Self {
            kind,
            store,
            declared,
            rows: rows as u64,
        }
    }

    /// All columns and rows, in batches as large as they may be.
    pub(super) fn request(&self) -> ChunkRequest {
        ChunkRequest {
            access: FileAccess::uncached(Arc::clone(&self.store)),
            path: Path::from("part0/chunk0"),
            columns: self
                .declared
                .fields()
                .iter()
                .map(Arc::clone)
                .map(ChunkColumn::named)
                .collect(),
            declared: Arc::clone(&self.declared),
            rows: 0..self.rows,
            picked: None,
            opened: None,
            chunk_rows: self.rows,
            batch_size: 8192,
        }
    }

    pub(super) fn read(&self) -> Result<RecordBatch> {
        read(self.kind, self.request())
    }

    /// The text of the error that reading all of it must give.
    pub(super) fn error(&self) -> String {
        self.read().unwrap_err().to_string()
    }
}

/// The rows of a request in one batch.
pub(super) fn read(kind: FileType, request: ChunkRequest) -> Result<RecordBatch> {
    let (schema, most) = (request.schema(), request.batch_size);
    block_on(async {
        let mut batches = open_chunk(kind, request).await?;
        let mut all = vec![];
        while let Some(batch) = batches.try_next().await? {
            assert!((1..=most).contains(&batch.num_rows()));
            assert_eq!(batch.schema(), schema);
            all.push(batch);
        }
        assert!(batches.next().await.is_none());
        if schema.fields().is_empty() {
            let rows = all.iter().map(RecordBatch::num_rows).sum();
            let options = RecordBatchOptions::new().with_row_count(Some(rows));
            return Ok(RecordBatch::try_new_with_options(schema, vec![], &options).unwrap());
        }
        Ok(concat_batches(&schema, &all).unwrap())
    })
}

pub(super) fn schema(fields: Vec<(&str, DataType)>) -> SchemaRef {
    let field = |(name, data_type)| FieldRef::new(Field::new(name, data_type, true));
    Arc::new(Schema::new(
        fields.into_iter().map(field).collect::<Vec<_>>(),
    ))
}

pub(super) fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    let fields = columns
        .iter()
        .map(|(name, array)| (*name, array.data_type().clone()))
        .collect();
    RecordBatch::try_new(
        schema(fields),
        columns.into_iter().map(|(_, array)| array).collect(),
    )
    .unwrap()
}

/// Texts that a careless writer or reader changes.
pub(super) const UGLY: [Option<&str>; 14] = [
    Some("plain"),
    Some("a,b"),
    Some("\""),
    Some("say \"hi\", \"\""),
    Some("line\nbreak"),
    Some("carriage\r\nreturn"),
    Some("back\\slash\\\""),
    Some(" lead"),
    Some("trail "),
    Some(""),
    None,
    Some("NULL"),
    Some("Zoë 🦀 with more than twelve bytes"),
    Some("a|b;c\td"),
];

/// A table of every type without lists, 41 rows.
pub(super) fn scalars() -> RecordBatch {
    let rows = 0..41_i32;
    let every = |n: i32, i: i32| i % n == n - 1;
    let float = |i: i32| match i {
        3 => f32::NAN,
        5 => f32::INFINITY,
        9 => f32::NEG_INFINITY,
        _ => i as f32 / 8.0,
    };
    let big = |i: i32| {
        if i == 1 {
            i64::MAX
        } else {
            i64::from(i - 20) * 9_007_199_254_740_993 / 20
        }
    };
    let moment = |i: i32| i64::from(i - 20) * 86_400_123;
    batch(vec![
        (
            "flag",
            Arc::new(
                rows.clone()
                    .map(|i| (!every(5, i)).then_some(i % 3 == 0))
                    .collect::<BooleanArray>(),
            ),
        ),
        (
            "small",
            Arc::new(
                rows.clone()
                    .map(|i| (!every(7, i)).then_some(i * 1000 - 20))
                    .collect::<Int32Array>(),
            ),
        ),
        (
            "big",
            Arc::new(rows.clone().map(|i| Some(big(i))).collect::<Int64Array>()),
        ),
        (
            "single",
            Arc::new(
                rows.clone()
                    .map(|i| (!every(11, i)).then_some(float(i)))
                    .collect::<Float32Array>(),
            ),
        ),
        (
            "double",
            Arc::new(
                rows.clone()
                    .map(|i| Some(f64::from(i) / 3.0))
                    .collect::<Float64Array>(),
            ),
        ),
        (
            "text",
            Arc::new(
                rows.clone()
                    .map(|i| UGLY[(i % 14) as usize])
                    .collect::<StringViewArray>(),
            ),
        ),
        (
            "day",
            Arc::new(
                rows.clone()
                    .map(|i| (!every(6, i)).then_some(i * 997 - 20_000))
                    .collect::<Date32Array>(),
            ),
        ),
        (
            "at",
            Arc::new(
                rows.map(|i| (!every(4, i)).then_some(moment(i)))
                    .collect::<TimestampMillisecondArray>(),
            ),
        ),
    ])
}

/// [`scalars`] and two columns of lists, with null and empty lists and null items.
pub(super) fn everything() -> RecordBatch {
    let scalars = scalars();
    let (mut words, mut numbers) = (
        ListBuilder::new(StringBuilder::new()),
        ListBuilder::new(Int64Builder::new()),
    );
    for row in 0..scalars.num_rows() {
        for item in 0..row % 4 {
            words.values().append_option(UGLY[(row + item) % 14]);
            numbers
                .values()
                .append_option((item != 2).then_some((row * item) as i64));
        }
        words.append(row % 5 != 4);
        numbers.append(true);
    }
    let mut columns: Vec<(&str, ArrayRef)> = vec![];
    let schema = scalars.schema();
    for (field, column) in schema.fields().iter().zip(scalars.columns()) {
        columns.push((field.name(), Arc::clone(column)));
    }
    columns.push(("words", Arc::new(words.finish())));
    columns.push(("numbers", Arc::new(numbers.finish())));
    batch(columns)
}

pub(super) fn to_parquet(batch: &RecordBatch, properties: WriterProperties) -> Vec<u8> {
    let mut file = vec![];
    let mut writer = ArrowWriter::try_new(&mut file, batch.schema(), Some(properties)).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
    file
}

/// An Arrow IPC file (or stream) in batches of `rows` rows.
pub(super) fn to_ipc(
    batch: &RecordBatch,
    rows: usize,
    stream: bool,
    codec: Option<CompressionType>,
) -> Vec<u8> {
    let options = IpcWriteOptions::default()
        .try_with_compression(codec)
        .unwrap();
    let schema = batch.schema();
    let parts = (0..batch.num_rows()).step_by(rows);
    let parts = parts.map(|first| batch.slice(first, rows.min(batch.num_rows() - first)));
    let mut file = vec![];
    if stream {
        let mut writer = StreamWriter::try_new_with_options(&mut file, &schema, options).unwrap();
        parts.for_each(|part| writer.write(&part).unwrap());
        writer.finish().unwrap();
    } else {
        let mut writer = FileWriter::try_new_with_options(&mut file, &schema, options).unwrap();
        parts.for_each(|part| writer.write(&part).unwrap());
        writer.finish().unwrap();
    }
    file
}

#[cfg(feature = "orc")]
pub(super) fn to_orc(batch: &RecordBatch, rows_of_stripe: usize) -> Vec<u8> {
    use datafusion::arrow::compute::cast;

    let columns = batch
        .schema_ref()
        .fields()
        .iter()
        .zip(batch.columns())
        .map(|(field, column)| {
            let plain = match column.data_type() {
                DataType::Utf8View => cast(column, &DataType::Utf8).unwrap(),
                _ => Arc::clone(column),
            };
            (field.name().clone(), plain)
        });
    let columns: Vec<_> = columns.collect();
    let plain = self::batch(
        columns
            .iter()
            .map(|(name, column)| (name.as_str(), Arc::clone(column)))
            .collect(),
    );
    let mut file = vec![];
    let mut writer = orc_rust::ArrowWriterBuilder::new(&mut file, plain.schema())
        .try_build()
        .unwrap();
    for first in (0..plain.num_rows()).step_by(rows_of_stripe) {
        writer
            .write(&plain.slice(first, rows_of_stripe.min(plain.num_rows() - first)))
            .unwrap();
        writer.flush_stripe().unwrap();
    }
    writer.close().unwrap();
    file
}

/// As the C++ library writes it: names and strings quoted, the rest bare.
pub(super) fn to_csv(batch: &RecordBatch, line_break: &str) -> String {
    let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
    let names: Vec<_> = batch
        .schema_ref()
        .fields()
        .iter()
        .map(|field| quoted(field.name()))
        .collect();
    let mut text = names.join(",") + line_break;
    for row in 0..batch.num_rows() {
        let fields = batch
            .columns()
            .iter()
            .map(|column| match column.as_string_view_opt() {
                _ if column.is_null(row) => String::new(),
                Some(strings) => quoted(strings.value(row)),
                None => array_value_to_string(column, row).unwrap(),
            });
        text += &fields.collect::<Vec<_>>().join(",");
        text += line_break;
    }
    text
}

/// As Spark writes it: nulls are left out.
pub(super) fn to_json(batch: &RecordBatch) -> String {
    let mut text = String::new();
    for row in 0..batch.num_rows() {
        let fields = batch.schema_ref().fields().iter().zip(batch.columns());
        let pairs = fields.filter(|(_, column)| column.is_valid(row));
        let pairs =
            pairs.map(|(field, column)| format!("{:?}:{}", field.name(), json_value(column, row)));
        writeln!(text, "{{{}}}", pairs.collect::<Vec<_>>().join(",")).unwrap();
    }
    text
}

fn json_value(column: &ArrayRef, row: usize) -> String {
    if column.is_null(row) {
        return "null".to_owned();
    }
    match column.data_type() {
        DataType::Utf8View => json_string(column.as_string_view().value(row)),
        DataType::Utf8 => json_string(column.as_string::<i32>().value(row)),
        DataType::List(_) => {
            let items = column.as_list::<i32>().value(row);
            let items: Vec<_> = (0..items.len())
                .map(|item| json_value(&items, item))
                .collect();
            format!("[{}]", items.join(", "))
        }
        _ => {
            let text = array_value_to_string(column, row).unwrap();
            let bare =
                text.parse::<f64>().is_ok_and(f64::is_finite) || text == "true" || text == "false";
            if bare { text } else { json_string(&text) }
        }
    }
}

fn json_string(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            control if control < ' ' => write!(quoted, "\\u{:04x}", control as u32).unwrap(),
            other => quoted.push(other),
        }
    }
    quoted + "\""
}
