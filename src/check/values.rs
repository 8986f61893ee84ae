//! The values of property and label chunks: nulls, and the index column of vertices.

use std::collections::BTreeMap;

use datafusion::arrow::array::{Array, ArrayRef, AsArray};
use datafusion::arrow::datatypes::Int64Type;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::error::Result;

use super::Rule;
use super::chunks::Chunk;
use super::keys::Keys;
use super::look::{Look, Places};
use super::report::Report;
use crate::format::{PropertyGroup, VERTEX_INDEX_COLUMN};

/// Looks at the columns of a property group, or of labels.
pub(super) struct ValuesLook<'a> {
    /// Columns that may not be null, with the rule that they then break.
    required: Vec<(String, Rule)>,
    /// Collects the key, if it is one of the columns.
    pub(super) keys: Option<&'a mut Keys>,
    first: u64,
    nulls: BTreeMap<String, Places>,
    index: Places,
    /// Values and nulls of the index column: all nulls are a column that is not there.
    indexed: u64,
    unindexed: Places,
}

impl<'a> ValuesLook<'a> {
    fn new(required: Vec<(String, Rule)>) -> Self {
        Self {
            required,
            keys: None,
            first: 0,
            nulls: BTreeMap::new(),
            index: Places::default(),
            indexed: 0,
            unindexed: Places::default(),
        }
    }

    /// Looks at the properties of a group.
    pub(super) fn of_group(group: &PropertyGroup, keys: Option<&'a mut Keys>) -> Self {
        let required = group.properties.iter().filter(|p| !p.is_nullable);
        let required = required.map(|property| match property.is_primary {
            true => (property.name.clone(), Rule::NullKey),
            false => (property.name.clone(), Rule::NullValue),
        });
        Self {
            keys,
            ..Self::new(required.collect())
        }
    }

    /// Looks at labels.
    pub(super) fn of_labels(labels: &[String]) -> Self {
        let required = labels.iter().map(|label| (label.clone(), Rule::NullValue));
        Self::new(required.collect())
    }

    fn index(&mut self, row: u64, column: &ArrayRef) {
        let Some(values) = column.as_primitive_opt::<Int64Type>() else {
            return;
        };
        for (row, value) in (row..).zip(values) {
            let wanted = self.first + row;
            match value {
                Some(value) => {
                    self.indexed += 1;
                    if u64::try_from(value) != Ok(wanted) {
                        self.index.add(|| format!("{value} in row {row}"));
                    }
                }
                None => self.unindexed.add(|| format!("null in row {row}")),
            }
        }
    }
}

impl Look for ValuesLook<'_> {
    fn begin(&mut self, chunk: &Chunk) {
        self.first = chunk.first;
        self.nulls.clear();
        self.index = Places::default();
        self.indexed = 0;
        self.unindexed = Places::default();
        if let Some(keys) = &mut self.keys {
            keys.begin(chunk.first);
        }
    }

    fn batch(&mut self, row: u64, batch: &RecordBatch) -> Result<()> {
        if let Some(column) = batch.column_by_name(VERTEX_INDEX_COLUMN) {
            self.index(row, column);
        }
        for (name, _) in &self.required {
            let Some(column) = batch.column_by_name(name) else {
                continue;
            };
            if column.null_count() > 0 {
                let places = self.nulls.entry(name.clone()).or_default();
                for (at, row) in (0..column.len()).zip(row..) {
                    if column.is_null(at) {
                        places.add(|| format!("null in row {row}"));
                    }
                }
            }
        }
        match &mut self.keys {
            Some(keys) => keys.collect(batch),
            None => Ok(()),
        }
    }

    fn end(&mut self, chunk: &Chunk, report: &Report) {
        for (name, rule) in &self.required {
            if let Some(found) = self.nulls.get(name).and_then(Places::found) {
                let expected = format!("a value in each row of column '{name}'");
                report.add(&chunk.file, *rule, expected, found);
            }
        }
        let wrong = self.index.found();
        let nulls = self.unindexed.found().filter(|_| self.indexed > 0);
        for found in [wrong, nulls].into_iter().flatten() {
            let expected = format!("the number of the row, {} in the first", chunk.first);
            report.add(&chunk.file, Rule::VertexIndex, expected, found);
        }
    }
}
