//! Encodings, page skipping, old timestamps, odd schemas, and how often the store is asked.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use bytes::Bytes;
use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, BinaryArray, Int64Array, RecordBatch, StringArray, StringViewArray,
    TimestampMillisecondArray, TimestampSecondArray,
};
use datafusion::arrow::datatypes::{DataType, TimeUnit};
use datafusion::parquet::basic::{Compression, Encoding};
use datafusion::parquet::data_type::{Int96, Int96Type};
use datafusion::parquet::file::properties::WriterProperties;
use datafusion::parquet::file::writer::SerializedFileWriter;
use datafusion::parquet::schema::parser::parse_message_type;
use futures::stream::BoxStream;
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, Result as StoreResult,
};

use super::support::{File, batch, everything, read, schema, to_parquet};
use crate::format::FileType;

const MILLIS: DataType = DataType::Timestamp(TimeUnit::Millisecond, None);

fn parquet(batch: &RecordBatch, properties: WriterProperties) -> File {
    let bytes = to_parquet(batch, properties);
    File::new(FileType::Parquet, bytes, batch.schema(), batch.num_rows())
}

fn strings(count: usize) -> RecordBatch {
    let texts: StringViewArray = (0..count)
        .map(|i| Some(format!("value number {i:05}")))
        .collect();
    batch(vec![("text", Arc::new(texts))])
}

#[test]
fn a_dictionary_that_overflows_into_plain_pages_is_read() {
    let table = strings(50_000);
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(Default::default()))
        .set_dictionary_page_size_limit(2_000)
        .build();
    let begin = Instant::now();
    assert_eq!(parquet(&table, properties).read().unwrap(), table);
    assert!(begin.elapsed() < Duration::from_secs(5));
}

#[test]
fn delta_packed_jumps_are_exact_in_full_and_in_parts() {
    // 0, 2^40, 1, 2^40 + 1, 5, …, and jumps of both signs over most of the range.
    let steps = |i: i64| match i % 5 {
        0 => i,
        1 => (1 << 40) + i - 1,
        2 => i - 1,
        3 => (1 << 40) + i - 2,
        _ => i + 1,
    };
    let leaps = |i: i64| match i % 4 {
        0 => i,
        1 => (1 << 40) + i,
        2 => 1 - i,
        _ => i64::MIN / 2 + i * 3,
    };
    let column = |value: fn(i64) -> i64| (0..1000).map(value).collect::<Int64Array>();
    assert_eq!(
        column(steps).values()[..5],
        [0, 1 << 40, 1, (1 << 40) + 1, 5]
    );
    for values in [column(steps), column(leaps)] {
        delta_packed_equals_plain(&batch(vec![("v", Arc::new(values) as ArrayRef)]));
    }
}

fn delta_packed_equals_plain(table: &RecordBatch) {
    let plain = WriterProperties::builder()
        .set_dictionary_enabled(false)
        .set_encoding(Encoding::PLAIN)
        .build();
    assert_eq!(parquet(table, plain).read().unwrap(), *table);
    let properties = WriterProperties::builder()
        .set_dictionary_enabled(false)
        .set_encoding(Encoding::DELTA_BINARY_PACKED)
        .set_data_page_row_count_limit(130)
        .set_write_batch_size(10)
        .build();
    let file = parquet(table, properties);
    assert_eq!(file.read().unwrap(), *table);
    for row in (0..1000).step_by(7) {
        for end in [row + 1, (row + 300).min(1000)] {
            let mut request = file.request();
            (request.rows, request.batch_size) = (row..end, 64);
            let rows = read(file.kind, request).unwrap();
            assert_eq!(
                rows,
                table.slice(row as usize, (end - row) as usize),
                "{row}..{end}"
            );
        }
    }
}

#[test]
fn int96_reaches_beyond_2262_and_before_1970() {
    let days_and_nanos = [
        (2_440_588_i64, 0_i64),
        (2_440_587, 86_399_999_999_999),
        (5_373_484, 1_500_000),
        (1_721_426, 0),
    ];
    let millis = [0, -1, 253_402_214_400_001, -62_135_596_800_000];
    let message = Arc::new(parse_message_type("message m { OPTIONAL INT96 at; }").unwrap());
    let mut bytes = vec![];
    let mut writer = SerializedFileWriter::new(&mut bytes, message, Arc::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    let int96 = |(day, nanos): (i64, i64)| {
        let mut value = Int96::new();
        value.set_data(nanos as u32, (nanos >> 32) as u32, day as u32);
        value
    };
    let values: Vec<_> = days_and_nanos.into_iter().map(int96).collect();
    column
        .typed::<Int96Type>()
        .write_batch(&values, Some(&[1, 1, 0, 1, 1]), None)
        .unwrap();
    column.close().unwrap();
    group.close().unwrap();
    writer.close().unwrap();
    let file = File::new(FileType::Parquet, bytes, schema(vec![("at", MILLIS)]), 5);
    let [a, b, c, d] = millis.map(Some);
    let expected = TimestampMillisecondArray::from(vec![a, b, None, c, d]);
    assert_eq!(
        file.read().unwrap().column(0).as_ref(),
        &expected as &dyn Array
    );
}

#[test]
fn seconds_that_only_the_embedded_schema_knows_are_seconds() {
    let table = batch(vec![(
        "at",
        Arc::new(TimestampSecondArray::from(vec![-1, 2])) as ArrayRef,
    )]);
    let mut file = parquet(&table, WriterProperties::default());
    file.declared = schema(vec![("at", MILLIS)]);
    let expected = TimestampMillisecondArray::from(vec![-1000, 2000]);
    assert_eq!(
        file.read().unwrap().column(0).as_ref(),
        &expected as &dyn Array
    );
}

#[test]
fn bytes_without_annotation_are_strings_if_they_are_utf8() {
    let table = batch(vec![(
        "v",
        Arc::new(BinaryArray::from(vec![Some("Zoë".as_bytes()), None])) as ArrayRef,
    )]);
    let mut file = parquet(&table, WriterProperties::default());
    file.declared = schema(vec![("v", DataType::Utf8View)]);
    assert_eq!(
        file.read().unwrap().column(0).as_string_view().value(0),
        "Zoë"
    );
    let table = batch(vec![(
        "v",
        Arc::new(BinaryArray::from(vec![b"\xff\xfe".as_slice()])) as ArrayRef,
    )]);
    let mut file = parquet(&table, WriterProperties::default());
    file.declared = schema(vec![("v", DataType::Utf8View)]);
    assert!(
        file.error().contains("column 'v', row 0"),
        "{}",
        file.error()
    );
}

#[test]
fn strings_arrive_as_views_without_a_conversion() {
    let table = batch(vec![(
        "v",
        Arc::new(StringArray::from(vec!["a", "b"])) as ArrayRef,
    )]);
    let mut file = parquet(&table, WriterProperties::default());
    file.declared = schema(vec![("v", DataType::Utf8View)]);
    assert_eq!(
        file.read().unwrap().column(0).data_type(),
        &DataType::Utf8View
    );
}

#[test]
fn a_small_file_takes_one_request_and_a_large_one_no_head() {
    let small = everything();
    let large = strings(50_000);
    let unpacked = WriterProperties::builder()
        .set_dictionary_enabled(false)
        .build();
    for (table, properties, requests) in [
        (small, WriterProperties::default(), 1),
        (large, unpacked, 2),
    ] {
        let mut file = parquet(&table, properties);
        let counting = Arc::new(Counting {
            inner: Arc::clone(&file.store),
            gets: AtomicUsize::new(0),
        });
        file.store = Arc::clone(&counting) as Arc<dyn ObjectStore>;
        assert_eq!(file.read().unwrap(), table);
        assert_eq!(counting.gets.load(Ordering::Relaxed), requests);
    }
}

/// Counts the reads of a store; a request for metadata alone is an error.
#[derive(Debug)]
struct Counting {
    inner: Arc<dyn ObjectStore>,
    gets: AtomicUsize,
}

impl fmt::Display for Counting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("counting")
    }
}

#[async_trait]
impl ObjectStore for Counting {
    async fn get_opts(&self, path: &Path, options: GetOptions) -> StoreResult<GetResult> {
        assert!(!options.head);
        self.gets.fetch_add(1, Ordering::Relaxed);
        self.inner.get_opts(path, options).await
    }

    async fn get_ranges(&self, path: &Path, ranges: &[Range<u64>]) -> StoreResult<Vec<Bytes>> {
        self.gets.fetch_add(1, Ordering::Relaxed);
        self.inner.get_ranges(path, ranges).await
    }

    async fn put_opts(
        &self,
        path: &Path,
        payload: PutPayload,
        options: PutOptions,
    ) -> StoreResult<PutResult> {
        self.inner.put_opts(path, payload, options).await
    }

    async fn put_multipart_opts(
        &self,
        path: &Path,
        options: PutMultipartOptions,
    ) -> StoreResult<Box<dyn MultipartUpload>> {
        self.inner.put_multipart_opts(path, options).await
    }

    fn delete_stream(
        &self,
        paths: BoxStream<'static, StoreResult<Path>>,
    ) -> BoxStream<'static, StoreResult<Path>> {
        self.inner.delete_stream(paths)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, StoreResult<ObjectMeta>> {
        self.inner.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> StoreResult<ListResult> {
        self.inner.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> StoreResult<()> {
        self.inner.copy_opts(from, to, options).await
    }
}
