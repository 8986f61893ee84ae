//! What the footers of Parquet files say of the properties of a table: how many nulls there are, and the
//! least and greatest values.
//!
//! Footers are read when a statement that asks for whole columns is planned, of tables of few files only, and
//! what they say is remembered together with the states of the files. A statement that finds another
//! state reads the footers again.

use std::cmp::Ordering;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use datafusion::arrow::array::{Array, ArrayRef, BooleanArray, UInt64Array};
use datafusion::arrow::compute::cast;
use datafusion::common::stats::Precision;
use datafusion::common::{ColumnStatistics, HashMap, ScalarValue};
use futures::stream::{self, StreamExt, TryStreamExt};
use object_store::path::Path;

use super::prune::{converter, has_sound_bounds};
use super::{ColumnOrigin, FileNames, ScanTable};
use crate::error::{GraphArError, Result};
use crate::format::ChunkSlice;
use crate::storage::FileAccess;
use crate::storage::payload::{ChunkColumn, ChunkRequest, FileStamp, ParquetFile};

/// Footers that are read, or compared with the store, at the same time.
const AT_ONCE: usize = 16;

/// Statistics of columns of a table, by the columns' numbers.
pub type PropertyStatistics = Vec<(usize, ColumnStatistics)>;

/// What is remembered of the properties of a table, by file set.
#[derive(Debug, Default)]
pub struct KnownProperties(Mutex<HashMap<usize, Arc<SetStatistics>>>);

/// What the files of a set say, and the states of the files that said it.
#[derive(Debug)]
struct SetStatistics {
    files: Vec<FileStamp>,
    columns: PropertyStatistics,
}

impl KnownProperties {
    /// Statistics of those of `columns` whose Parquet files state them, if these are at most `most_files`
    /// files. They hold for all rows of the table.
    ///
    /// What cannot be read has no statistics; reading it for its rows says why.
    pub async fn of(
        &self,
        table: &ScanTable,
        columns: &[usize],
        access: &FileAccess,
        most_files: usize,
    ) -> PropertyStatistics {
        let mut sets: Vec<usize> = columns
            .iter()
            .filter_map(|column| property_set(table, *column))
            .collect();
        sets.sort_unstable();
        sets.dedup();
        if sets.is_empty() {
            return vec![];
        }
        let Some(chunks) = few_chunks(table, most_files / sets.len()) else {
            return vec![];
        };
        let mut found = vec![];
        for set in sets {
            match self.of_set(table, set, &chunks, access).await {
                Ok(statistics) => found.extend(
                    statistics
                        .columns
                        .iter()
                        .filter(|(column, _)| columns.contains(column))
                        .cloned(),
                ),
                Err(error) => log::debug!("table {}: no statistics: {error}", table.name),
            }
        }
        found
    }

    async fn of_set(
        &self,
        table: &ScanTable,
        set: usize,
        chunks: &[ChunkSlice],
        access: &FileAccess,
    ) -> Result<Arc<SetStatistics>> {
        let known = self.lock().get(&set).map(Arc::clone);
        if let Some(known) = known {
            if !access.validate || known.is_current(access).await? {
                return Ok(known);
            }
            self.lock().remove(&set);
        }
        let statistics = Arc::new(SetStatistics::read(table, set, chunks, access).await?);
        self.lock().insert(set, Arc::clone(&statistics));
        Ok(statistics)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<usize, Arc<SetStatistics>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The file set of a column, if that is a property in Parquet files. Ids have bounds of their own.
fn property_set(table: &ScanTable, column: usize) -> Option<usize> {
    let Some(ColumnOrigin::File(set, _)) = table.origins.get(column) else {
        return None;
    };
    let ids = matches!(table.files.get(*set)?.names, FileNames::AdjList(_));
    (table.is_parquet(*set) && !ids).then_some(*set)
}

/// The chunks of the table, if there are any, and no more than `most`.
fn few_chunks(table: &ScanTable, most: usize) -> Option<Vec<ChunkSlice>> {
    let mut left = 0..table.rows.total();
    let mut chunks = vec![];
    while let Some(slice) = table.rows.first_slice(&left) {
        if chunks.len() == most {
            return None;
        }
        left.start += slice.rows.end - slice.rows.start;
        chunks.push(slice);
    }
    (!chunks.is_empty()).then_some(chunks)
}

impl SetStatistics {
    async fn read(
        table: &ScanTable,
        set: usize,
        chunks: &[ChunkSlice],
        access: &FileAccess,
    ) -> Result<Self> {
        let mut merged: Vec<(usize, &ChunkColumn, Merged)> = table
            .origins
            .iter()
            .enumerate()
            .filter_map(|(number, origin)| match origin {
                ColumnOrigin::File(of, column) if *of == set => {
                    Some((number, column, Merged::default()))
                }
                _ => None,
            })
            .collect();
        let requests = chunks.iter().map(|slice| {
            let files = &table.files[set];
            let path = files.names.path(slice);
            let path = Path::parse(&path).map_err(|e| GraphArError::payload(path, e))?;
            Ok(ChunkRequest {
                access: access.clone(),
                path,
                columns: vec![],
                declared: Arc::clone(&files.declared),
                rows: 0..slice.chunk_rows,
                picked: None,
                opened: None,
                chunk_rows: slice.chunk_rows,
                batch_size: 0,
            })
        });
        let mut opened = stream::iter(requests.collect::<Vec<_>>())
            .map(|request: Result<ChunkRequest>| async move {
                let request = request?;
                let file = ParquetFile::open(&request, false).await?;
                Ok::<_, GraphArError>((request.path, file))
            })
            .buffered(AT_ONCE);
        let mut files = Vec::with_capacity(chunks.len());
        while let Some((path, file)) = opened.try_next().await? {
            for (_, column, merged) in &mut merged {
                merged.add(&file, column);
            }
            files.push(file.stamp(&path));
        }
        let columns = merged.into_iter();
        let columns = columns.map(|(number, _, merged)| (number, merged.finish()));
        Ok(Self {
            files,
            columns: columns.collect(),
        })
    }

    /// Whether every file is still in the state that was read.
    async fn is_current(&self, access: &FileAccess) -> Result<bool> {
        let checks = stream::iter(self.files.clone());
        let mut checks = checks
            .map(|file| async move { file.is_current(access).await })
            .buffered(AT_ONCE);
        while let Some(current) = checks.try_next().await? {
            if !current {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// One bound of a column over the row groups read so far.
#[derive(Debug, Default)]
enum Bound {
    /// No value yet.
    #[default]
    None,
    /// A value, and whether a row has it.
    Of(ScalarValue, bool),
    /// A row group does not say.
    Unknown,
}

impl Bound {
    /// Takes in the bound of another row group; `wins` is how a value compares that replaces the one before.
    fn add(&mut self, value: ScalarValue, exact: bool, wins: Ordering) {
        *self = match mem::replace(self, Self::Unknown) {
            Self::Unknown => Self::Unknown,
            Self::None => Self::Of(value, exact),
            Self::Of(known, known_exact) => match value.partial_cmp(&known) {
                Some(order) if order == wins => Self::Of(value, exact),
                // Some row has the value, and none one beyond it.
                Some(Ordering::Equal) => Self::Of(known, known_exact || exact),
                Some(_) => Self::Of(known, known_exact),
                None => Self::Unknown,
            },
        };
    }

    fn finish(self) -> Precision<ScalarValue> {
        match self {
            Self::Of(value, true) => Precision::Exact(value),
            Self::Of(value, false) => Precision::Inexact(value),
            Self::None | Self::Unknown => Precision::Absent,
        }
    }
}

/// The statistics of a column over the files read so far.
#[derive(Debug)]
struct Merged {
    /// `None` if a row group does not say.
    nulls: Option<u64>,
    least: Bound,
    most: Bound,
}

impl Default for Merged {
    fn default() -> Self {
        Self {
            nulls: Some(0),
            least: Bound::None,
            most: Bound::None,
        }
    }
}

/// What the row groups of a file say of a column, in its declared type.
struct Stated {
    nulls: Option<UInt64Array>,
    bounds: Option<Bounds>,
}

struct Bounds {
    least: ArrayRef,
    most: ArrayRef,
    /// Whether a row has the bound.
    exact: (BooleanArray, BooleanArray),
}

impl Merged {
    fn add(&mut self, file: &ParquetFile, column: &ChunkColumn) {
        let groups = file.metadata().row_groups();
        let name = column.field.name();
        if file.arrow_schema().field_with_name(name).is_err() {
            // A file without the column has nulls.
            let rows = file.metadata().file_metadata().num_rows().unsigned_abs();
            self.nulls = self.nulls.and_then(|nulls| nulls.checked_add(rows));
            return;
        }
        let stated = Stated::of(file, column).unwrap_or(Stated {
            nulls: None,
            bounds: None,
        });
        for (number, group) in groups.iter().enumerate() {
            let rows = group.num_rows().unsigned_abs();
            let nulls = stated.nulls.as_ref();
            let nulls = nulls.filter(|nulls| nulls.is_valid(number));
            let nulls = nulls.map(|nulls| nulls.value(number));
            let sum = |(before, more): (u64, u64)| before.checked_add(more);
            self.nulls = self.nulls.zip(nulls).and_then(sum);
            if nulls == Some(rows) {
                continue;
            }
            let bounds = stated.bounds.as_ref();
            let bounds = bounds.and_then(|bounds| bounds.at(number));
            let Some(((least, least_exact), (most, most_exact))) = bounds else {
                (self.least, self.most) = (Bound::Unknown, Bound::Unknown);
                continue;
            };
            self.least.add(least, least_exact, Ordering::Less);
            self.most.add(most, most_exact, Ordering::Greater);
        }
    }

    fn finish(self) -> ColumnStatistics {
        let nulls = self.nulls.and_then(|nulls| usize::try_from(nulls).ok());
        ColumnStatistics {
            null_count: nulls.map_or(Precision::Absent, Precision::Exact),
            min_value: self.least.finish(),
            max_value: self.most.finish(),
            ..ColumnStatistics::new_unknown()
        }
    }
}

impl Stated {
    /// `None` where the file's type is not the declared one, nor one that is merely widened to it.
    fn of(file: &ParquetFile, column: &ChunkColumn) -> Option<Self> {
        let declared = column.field.data_type();
        let converter = converter(file, column)?;
        let leaf = converter.parquet_column_index()?;
        let metadata = file.metadata();
        // Nulls of a list are not the nulls that its leaf counts.
        let descr = metadata.file_metadata().schema_descr().column(leaf);
        if descr.max_rep_level() > 0 || descr.path().parts().len() != 1 {
            return None;
        }
        let stored = converter.arrow_field();
        let floats = stored.data_type().is_floating() && declared.is_floating();
        let sound = has_sound_bounds(metadata, leaf, stored, &column.field);
        if !sound && !floats {
            return None;
        }
        let groups = metadata.row_groups();
        let bounds = || {
            let least = cast(&converter.row_group_mins(groups).ok()?, declared).ok()?;
            let most = cast(&converter.row_group_maxes(groups).ok()?, declared).ok()?;
            let count = groups.len();
            let exact = if stored.data_type().is_string() {
                (
                    converter.row_group_is_min_value_exact(groups).ok()?,
                    converter.row_group_is_max_value_exact(groups).ok()?,
                )
            } else {
                let exact = BooleanArray::from(vec![true; count]);
                (exact.clone(), exact)
            };
            let complete = least.len() == count && most.len() == count;
            complete.then_some(Bounds { least, most, exact })
        };
        // Writers leave NaN out of bounds, which is greater than every number.
        let bounds = if floats { None } else { bounds() };
        Some(Self {
            nulls: converter.row_group_null_counts(groups).ok(),
            bounds,
        })
    }
}

impl Bounds {
    /// The bounds of a row group, each with whether a row has it.
    fn at(&self, number: usize) -> Option<((ScalarValue, bool), (ScalarValue, bool))> {
        let value = |array: &ArrayRef| {
            let value = ScalarValue::try_from_array(array, number).ok()?;
            (!value.is_null()).then_some(value)
        };
        let exact = |flags: &BooleanArray| flags.is_valid(number) && flags.value(number);
        let least = (value(&self.least)?, exact(&self.exact.0));
        let most = (value(&self.most)?, exact(&self.exact.1));
        Some((least, most))
    }
}
