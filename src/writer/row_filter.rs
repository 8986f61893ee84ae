//! Finds the rows that cannot be written, where they are to be left out.

use datafusion::arrow::array::{Array, AsArray, Int64Array, RecordBatch};
use datafusion::arrow::datatypes::{Int64Type, Schema};
use datafusion::error::Result;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};

use super::columns::bad_input;
use super::keys::{key_error, project, text};
use super::rejects::{Marks, Reason, Rejects};
use super::stored::StoredVertices;
use super::write_options::WriteOptions;
use crate::format::{EdgeInfo, Property, VertexInfo};
use crate::graph::KeySet;

/// Columns that may not be null, and their names.
type Required = Vec<(usize, String)>;

fn required<'a>(properties: impl Iterator<Item = &'a Property>, rows: &Schema) -> Result<Required> {
    let column = |property: &Property| Ok((rows.index_of(&property.name)?, property.name.clone()));
    properties.map(column).collect()
}

fn mark_nulls(
    batch: &RecordBatch,
    columns: &Required,
    marks: &mut Marks,
    reason: Reason,
    reason_text: impl Fn(&str) -> String,
) {
    for (column, name) in columns {
        let array = batch.column(*column);
        if array.null_count() > 0 {
            for row in (0..array.len()).filter(|row| array.is_null(*row)) {
                marks.add(row, reason, || reason_text(name));
            }
        }
    }
}

fn mark_null_properties(batch: &RecordBatch, columns: &Required, marks: &mut Marks) {
    mark_nulls(batch, columns, marks, Reason::NullProperty, |name| {
        format!("column '{name}': expected a value, since the property is not nullable, found null")
    });
}

/// The vertices of a stream that can be written.
pub(super) struct VertexFilter {
    owner: String,
    key: Required,
    required: Required,
    /// None if there is no key.
    seen: Option<KeySet>,
    /// Vertices that were there before the first row; their numbers in `seen` are below.
    stored: u64,
    memory: MemoryReservation,
    pub rejects: Rejects,
}

impl VertexFilter {
    /// Nothing if bad rows are errors. The keys of `stored` count as those of earlier rows.
    pub(super) async fn open(
        info: &VertexInfo,
        rows: &Schema,
        options: &WriteOptions,
        stored: Option<&StoredVertices>,
    ) -> Result<Option<Self>> {
        let Some(rejects) = Rejects::of(&info.vertex_type, options) else {
            return Ok(None);
        };
        let owner = info.vertex_type.clone();
        let primary: Vec<&Property> = info.properties().filter(|p| p.is_primary).collect();
        let others = info
            .properties()
            .filter(|p| !p.is_primary && !p.is_nullable);
        let mut filter = Self {
            key: required(primary.iter().copied(), rows)?,
            required: required(others, rows)?,
            seen: None,
            stored: stored.map_or(0, |stored| stored.count),
            memory: MemoryConsumer::new("graphar keys").register(&options.pool),
            rejects,
            owner,
        };
        if primary.is_empty() {
            return Ok(Some(filter));
        }
        let types: Vec<_> = primary.iter().map(|p| p.arrow_type()).collect();
        let mut seen = KeySet::try_new(&types).map_err(|e| key_error(&filter.owner, e))?;
        if let Some(stored) = stored {
            for chunk in 0..stored.chunks() {
                let keys = stored.properties(chunk, &primary).await?;
                let count = keys.first().map_or(0, |keys| keys.len());
                let first = chunk * stored.info.chunk_size;
                filter
                    .memory
                    .try_resize(seen.bytes() + seen.growth_bytes(count))?;
                let added = seen.insert(&keys, first, |_| true);
                added.map_err(|e| key_error(&filter.owner, e))?;
                filter.memory.try_resize(seen.bytes())?;
            }
        }
        filter.seen = Some(seen);
        Ok(Some(filter))
    }

    /// The rows of a batch that can be written.
    pub(super) async fn apply(&mut self, batch: RecordBatch) -> Result<RecordBatch> {
        let mut marks = self.rejects.marks();
        let owner = &self.owner;
        mark_nulls(&batch, &self.key, &mut marks, Reason::NullKey, |name| {
            format!("primary key of {owner}: expected a value, found null in column '{name}'")
        });
        // Rows that are left out do not take a key from those behind them.
        mark_null_properties(&batch, &self.required, &mut marks);
        if let Some(seen) = &mut self.seen {
            let columns: Vec<usize> = self.key.iter().map(|(column, _)| *column).collect();
            let keys = project(&batch, &columns);
            self.memory
                .try_resize(seen.bytes() + seen.growth_bytes(batch.num_rows()))?;
            let first = self.stored + self.rejects.next_row();
            let repeated = seen.insert(&keys, first, |row| !marks.has(row));
            for (row, before) in repeated.map_err(|e| key_error(owner, e))? {
                marks.add(row, Reason::RepeatedKey, || {
                    let other = match before.checked_sub(self.stored) {
                        Some(before) => format!("row {before}"),
                        None => format!("vertex {before}"),
                    };
                    let key = text(&keys, row);
                    format!(
                        "primary key of {owner}: expected a key that no other vertex has, found {key}, as {other} has it"
                    )
                });
            }
            self.memory.try_resize(seen.bytes())?;
        }
        let shown = batch.num_columns();
        self.rejects.keep(batch, shown, marks).await
    }
}

/// The columns of edges that say what they join.
pub(super) struct EdgeColumns {
    /// Internal ids of source and destination.
    pub ids: [usize; 2],
    /// The columns of the keys that the ids were made of; none where the ids were given.
    pub keys: [Vec<usize>; 2],
    /// How many columns the rows had at first.
    pub own: usize,
}

impl EdgeColumns {
    /// Ids that were given, in rows of this schema.
    pub(super) fn ids(ids: [usize; 2], rows: &Schema) -> Self {
        Self {
            ids,
            keys: [vec![], vec![]],
            own: rows.fields().len(),
        }
    }

    /// The ids of one end.
    pub(super) fn end<'a>(
        &self,
        owner: &str,
        end: usize,
        rows: &'a RecordBatch,
    ) -> Result<&'a Int64Array> {
        let column = rows.column(self.ids[end]);
        let ids = column.as_primitive_opt::<Int64Type>();
        Ok(ids.ok_or_else(|| {
            let found = column.data_type().to_string();
            bad_input(owner, "ends", "64-bit integers", found)
        })?)
    }
}

/// The edges of a stream that can be written.
pub(super) struct EdgeFilter {
    owner: String,
    /// Name, vertex type and number of vertices of each end.
    ends: [(&'static str, String, u64); 2],
    required: Required,
    pub rejects: Rejects,
}

impl EdgeFilter {
    /// Nothing if bad rows are errors.
    pub(super) fn open(
        info: &EdgeInfo,
        rows: &Schema,
        vertices: (u64, u64),
        options: &WriteOptions,
    ) -> Result<Option<Self>> {
        let owner = info.key();
        let Some(rejects) = Rejects::of(&owner, options) else {
            return Ok(None);
        };
        Ok(Some(Self {
            ends: [
                ("source", info.src_type.clone(), vertices.0),
                ("destination", info.dst_type.clone(), vertices.1),
            ],
            required: required(
                info.properties().filter(|p| p.is_primary || !p.is_nullable),
                rows,
            )?,
            rejects,
            owner,
        }))
    }

    /// The rows of a batch that can be written.
    pub(super) async fn apply(
        &mut self,
        batch: RecordBatch,
        columns: &EdgeColumns,
    ) -> Result<RecordBatch> {
        let mut marks = self.rejects.marks();
        for (number, (end, vertex_type, count)) in self.ends.iter().enumerate() {
            let ids = columns.end(&self.owner, number, &batch)?;
            let keys = project(&batch, &columns.keys[number]);
            let is_vertex = |id: i64| u64::try_from(id).is_ok_and(|id| id < *count);
            let bad = |row: &usize| ids.is_null(*row) || !is_vertex(ids.value(*row));
            for row in (0..ids.len()).filter(bad) {
                let is_null = match keys.is_empty() {
                    true => ids.is_null(row),
                    false => keys.iter().any(|key| key.is_null(row)),
                };
                let reason = match is_null {
                    true => Reason::NullEnd,
                    false => Reason::MissingEnd,
                };
                marks.add(row, reason, || {
                    let (what, found) = match keys.is_empty() {
                        true if is_null => ("an internal id", "null".to_owned()),
                        true => ("an internal id", ids.value(row).to_string()),
                        false => ("the primary key", text(&keys, row)),
                    };
                    format!(
                        "{end} of {}: expected {what} of one of the {count} vertices of '{vertex_type}', found {found}",
                        self.owner
                    )
                });
            }
        }
        mark_null_properties(&batch, &self.required, &mut marks);
        self.rejects.keep(batch, columns.own, marks).await
    }
}
