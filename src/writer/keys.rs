//! Primary keys: unique where vertices are written, and turned into internal ids where edges are.

use std::sync::{Arc, Mutex, PoisonError};

use datafusion::arrow::array::{ArrayRef, Int64Array, RecordBatch};
use datafusion::arrow::datatypes::{DataType, Schema};
use datafusion::common::ScalarValue;
use datafusion::error::Result;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::StreamExt;

use super::columns::bad_input;
use super::graph_writer::GraphWriter;
use super::stored::StoredVertices;
use super::write_options::WriteOptions;
use crate::error::{GraphArError, Result as GraphArResult};
use crate::format::{Property, VertexInfo};
use crate::graph::{ABSENT, KeyError, KeyIndex, KeyIndexBuilder};

/// Checks that the primary keys of vertices that are written are unique and not null.
pub(super) struct UniqueKeys {
    owner: String,
    /// The columns of the key; none if the type has no key.
    columns: Vec<usize>,
    seen: Arc<Mutex<Option<KeyIndexBuilder>>>,
    memory: Arc<MemoryReservation>,
}

impl UniqueKeys {
    /// The keys of rows of this schema.
    pub(super) fn try_new(
        info: &VertexInfo,
        rows: &Schema,
        options: &WriteOptions,
    ) -> Result<Self> {
        let key = info.properties().filter(|property| property.is_primary);
        let columns = key.map(|property| rows.index_of(&property.name));
        let columns = columns.collect::<Result<Vec<_>, _>>()?;
        let types = columns
            .iter()
            .map(|column| rows.field(*column).data_type().clone());
        let owner = info.vertex_type.clone();
        let seen = match columns.is_empty() {
            true => None,
            false => Some(builder(&owner, types)?),
        };
        let memory = MemoryConsumer::new("graphar keys").register(&options.pool);
        Ok(Self {
            owner,
            columns,
            seen: Arc::new(Mutex::new(seen)),
            memory: Arc::new(memory),
        })
    }

    /// The same rows, seen on their way.
    pub(super) fn watch(
        self,
        rows: SendableRecordBatchStream,
    ) -> (SendableRecordBatchStream, Self) {
        if self.columns.is_empty() {
            return (rows, self);
        }
        let (owner, columns) = (self.owner.clone(), self.columns.clone());
        let (seen, memory) = (Arc::clone(&self.seen), Arc::clone(&self.memory));
        let schema = rows.schema();
        let rows = rows.map(move |batch| {
            let batch = batch?;
            let key = project(&batch, &columns);
            let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(seen) = seen.as_mut() {
                seen.push(&key).map_err(|e| key_error(&owner, e))?;
                memory.try_resize(seen.bytes())?;
            }
            Ok(batch)
        });
        (Box::pin(RecordBatchStreamAdapter::new(schema, rows)), self)
    }

    /// Fails if two of the keys were the same, or one is that of a vertex that is there already.
    pub(super) async fn finish(self, stored: Option<&StoredVertices>) -> Result<()> {
        let seen = {
            let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
            seen.take()
        };
        let Some(seen) = seen else {
            return Ok(());
        };
        // The index is made beside what it is made from.
        self.memory.try_resize(seen.bytes() + seen.finish_bytes())?;
        let index = seen.finish().map_err(|e| key_error(&self.owner, e))?;
        let Some(stored) = stored else {
            return Ok(());
        };
        let key: Vec<&Property> = stored.info.properties().filter(|p| p.is_primary).collect();
        for chunk in 0..stored.chunks() {
            let keys = stored.properties(chunk, &key).await?;
            let found = index.ids(&keys);
            let found = found.map_err(|e| key_error(&self.owner, e))?;
            let twice = found.ids().iter().position(|id| *id != ABSENT);
            if let Some(at) = twice {
                let vertex = chunk * stored.info.chunk_size + at as u64;
                return Err(bad_input(
                    &self.owner,
                    format!("primary key of row {}", found.ids()[at]),
                    "a key that no other vertex has",
                    format!("{}, as vertex {vertex} has it", text(&keys, at)),
                )
                .into());
            }
        }
        Ok(())
    }
}

fn builder(owner: &str, types: impl Iterator<Item = DataType>) -> GraphArResult<KeyIndexBuilder> {
    let types: Vec<DataType> = types.collect();
    KeyIndexBuilder::try_new(&types).map_err(|e| key_error(owner, e))
}

pub(super) fn project(batch: &RecordBatch, columns: &[usize]) -> Vec<ArrayRef> {
    let columns = columns
        .iter()
        .map(|column| Arc::clone(batch.column(*column)));
    columns.collect()
}

pub(super) fn key_error(owner: &str, error: KeyError) -> GraphArError {
    match error {
        KeyError::Null { row } => bad_input(
            owner,
            format!("primary key of row {row}"),
            "a value",
            "null",
        ),
        KeyError::Duplicate { key, first, second } => bad_input(
            owner,
            format!("primary key of row {second}"),
            "a key that no other row has",
            format!("{key}, as in row {first}"),
        ),
        error => GraphArError::payload(format!("primary key of {owner}"), error),
    }
}

/// An end of edges that is given by primary keys.
pub(super) struct KeyEnd {
    owner: String,
    end: &'static str,
    vertex_type: String,
    index: Arc<KeyIndex>,
    columns: Vec<usize>,
    count: u64,
    memory: Arc<MemoryReservation>,
}

impl KeyEnd {
    /// Reads the keys of a vertex type. `columns` name the columns of the rows that hold them.
    ///
    /// # Errors
    /// If there is no such type, or it has no primary key or one of another number of columns, or its keys are
    /// not unique.
    pub(super) async fn open(
        writer: &GraphWriter,
        owner: &str,
        end: &'static str,
        vertex_type: &str,
        columns: &[String],
        rows: &Schema,
    ) -> Result<Self> {
        let stored = writer.stored(vertex_type).await?;
        let info = stored.info.clone();
        let key: Vec<&Property> = info.properties().filter(|p| p.is_primary).collect();
        if key.len() != columns.len() {
            let names: Vec<&str> = key.iter().map(|p| p.name.as_str()).collect();
            let expected = match names.as_slice() {
                [] => format!("vertex type '{vertex_type}' to have a primary key"),
                _ => format!(
                    "as many columns as the key of '{vertex_type}' has: {}",
                    names.join(", ")
                ),
            };
            return Err(
                bad_input(owner, format!("{end} key"), expected, columns.join(", ")).into(),
            );
        }
        let memory = MemoryConsumer::new("graphar keys").register(&writer.options().pool);
        let types = key.iter().map(|property| property.arrow_type());
        let mut builder = builder(vertex_type, types)?;
        for chunk in 0..stored.chunks() {
            let keys = stored.properties(chunk, &key).await?;
            builder.push(&keys).map_err(|e| key_error(vertex_type, e))?;
            // The index is made beside what it is made from.
            memory.try_resize(builder.bytes() + builder.finish_bytes())?;
        }
        let index = builder.finish().map_err(|e| key_error(vertex_type, e))?;
        memory.try_resize(index.bytes())?;
        Ok(Self {
            owner: owner.to_owned(),
            end,
            vertex_type: vertex_type.to_owned(),
            index: Arc::new(index),
            columns: positions(columns, rows)?,
            count: stored.count,
            memory: Arc::new(memory),
        })
    }

    /// The other end of the edges, whose vertices are of the same type.
    pub(super) fn other(
        &self,
        end: &'static str,
        columns: &[String],
        rows: &Schema,
    ) -> Result<Self> {
        Ok(Self {
            owner: self.owner.clone(),
            end,
            vertex_type: self.vertex_type.clone(),
            index: Arc::clone(&self.index),
            columns: positions(columns, rows)?,
            count: self.count,
            memory: Arc::clone(&self.memory),
        })
    }

    /// The columns that hold the key.
    pub(super) fn columns(&self) -> &[usize] {
        &self.columns
    }

    /// The internal ids of the keys in these rows; null where a key is, or where no vertex has it.
    ///
    /// # Errors
    /// If the columns do not have the types of the key.
    pub(super) fn ids_or_null(&self, rows: &RecordBatch) -> GraphArResult<Int64Array> {
        let found = self.index.ids(&project(rows, &self.columns));
        let found = found.map_err(|e| key_error(&self.owner, e))?;
        let ids = found.ids().iter();
        Ok(ids
            .map(|id| (*id != ABSENT).then(|| id.cast_signed()))
            .collect())
    }

    /// A name for the column of ids, which no property has.
    pub(super) fn name(&self) -> String {
        format!("_graphar_{}", self.end)
    }

    /// The internal ids of the keys in these rows, of which `first` is the number of the first.
    ///
    /// # Errors
    /// If a key is null, or none of the vertices has it.
    pub(super) fn ids(&self, rows: &RecordBatch, first: u64) -> GraphArResult<Int64Array> {
        let keys = project(rows, &self.columns);
        let found = self.index.ids(&keys);
        let found = found.map_err(|e| key_error(&self.owner, e))?;
        let bad = found.null_rows().chain(found.absent_rows()).min();
        if let Some(row) = bad {
            return Err(bad_input(
                &self.owner,
                format!("{} of row {}", self.end, first + row as u64),
                format!(
                    "the primary key of one of the {} vertices of '{}'",
                    self.count, self.vertex_type
                ),
                text(&keys, row),
            ));
        }
        // Ids are below the number of vertices of an archive, which fits into 63 bits.
        Ok(found
            .ids()
            .iter()
            .map(|id| id.cast_signed())
            .collect::<Vec<i64>>()
            .into())
    }
}

fn positions(columns: &[String], rows: &Schema) -> Result<Vec<usize>> {
    let positions = columns.iter().map(|column| rows.index_of(column));
    Ok(positions.collect::<Result<_, _>>()?)
}

/// A key as text.
pub(super) fn text(columns: &[ArrayRef], row: usize) -> String {
    let values = columns.iter().map(|column| {
        let value = ScalarValue::try_from_array(column, row);
        value.map_or_else(|error| error.to_string(), |value| value.to_string())
    });
    values.collect::<Vec<_>>().join(", ")
}
