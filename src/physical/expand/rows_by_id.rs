//! The rows of a table by an id.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use datafusion::arrow::datatypes::FieldRef;
use datafusion::error::Result;
use datafusion::execution::TaskContext;
use datafusion::physical_plan::{ExecutionPlan, PhysicalExpr};

use crate::config::GraphArOptions;
use crate::format::{DESTINATION_ID, RowRanges, SOURCE_ID};
use crate::physical::scan::{ScanRequest, ScanTable, Selection, scan_rows};

/// What is wanted of the rows that belong to an id: of a vertex its row, of the end of an ordered layout its edges.
#[derive(Debug, Clone)]
pub struct RowsById {
    table: Arc<ScanTable>,
    /// Columns of the table that are read, the id first.
    read: Vec<usize>,
    /// The columns wanted, by their places among those.
    wanted: Vec<usize>,
    /// The ids whose rows are wanted.
    selection: Selection,
    /// Conditions on the columns of the table that the rows have to fulfil.
    conditions: Vec<Arc<dyn PhysicalExpr>>,
}

impl RowsById {
    /// These columns of the rows that are selected and fulfil conditions; `None` if the table does not find rows by an id.
    pub fn new(
        table: Arc<ScanTable>,
        columns: &[usize],
        selection: Selection,
        conditions: Vec<Arc<dyn PhysicalExpr>>,
    ) -> Option<Self> {
        let mut read = vec![table.order()?];
        let mut wanted = vec![];
        for column in columns {
            let place = read.iter().position(|known| known == column);
            wanted.push(place.unwrap_or_else(|| {
                read.push(*column);
                read.len() - 1
            }));
        }
        Some(Self {
            table,
            read,
            wanted,
            selection,
            conditions,
        })
    }

    /// The table.
    pub fn table(&self) -> &Arc<ScanTable> {
        &self.table
    }

    /// How many ids there can be: they are below.
    pub fn ids(&self) -> u64 {
        self.table.ids()
    }

    /// About how many rows belong to an id, as far as conditions on ids tell.
    pub fn rows_of_an_id(&self) -> f64 {
        let ids = self.table.ids().max(1);
        self.selection.estimate(&self.table) as f64 / ids as f64
    }

    /// Whether there are conditions, on ids or on anything else.
    pub fn has_conditions(&self) -> bool {
        !self.conditions.is_empty() || matches!(self.selection, Selection::Ids(_))
    }

    /// Whether an id has one row at most.
    pub fn is_vertex(&self) -> bool {
        self.table.aligned.is_none()
    }

    /// The columns wanted.
    pub fn fields(&self) -> Vec<FieldRef> {
        let columns = self.wanted.iter().map(|place| self.read[*place]);
        let fields = self.table.schema.fields();
        columns.map(|column| Arc::clone(&fields[column])).collect()
    }

    /// The places of the columns wanted among those read; the id is read first.
    pub(super) fn wanted(&self) -> &[usize] {
        &self.wanted
    }

    /// Position among the columns read of the end of an edge that is not the id, if it is read.
    pub(super) fn neighbor(&self) -> Option<usize> {
        let other = self.other_end()?;
        self.read.iter().position(|column| *column == other)
    }

    /// The column of the table with the end of an edge that is not the id.
    fn other_end(&self) -> Option<usize> {
        let aligned = self.table.aligned.as_ref()?;
        let ends = [SOURCE_ID, DESTINATION_ID].into_iter();
        let mut ends = ends.filter_map(|name| self.table.schema.index_of(name).ok());
        ends.find(|column| *column != aligned.column)
    }

    /// The same with the other end of an edge among the columns read.
    pub(super) fn with_neighbor(mut self) -> Self {
        if let Some(other) = self.other_end()
            && !self.read.contains(&other)
        {
            self.read.push(other);
        }
        self
    }

    /// The number of vertices at the other end, where nothing is wanted but the ends of all edges.
    pub(super) fn only_ends(&self) -> Option<u64> {
        let aligned = self.table.aligned.as_ref()?;
        aligned.offsets.as_ref()?;
        let other = self.other_end()?;
        let mut read = self.read.iter();
        let all = read.all(|column| [aligned.column, other].contains(column));
        let mut ends = self.table.endpoints.iter();
        let count = ends.find(|end| end.column == other)?.count?;
        (all && !self.has_conditions()).then_some(count)
    }

    /// From the first id to behind the last one that can have rows.
    pub(super) fn span(&self) -> Range<u64> {
        self.selection.ids(&self.table).span().unwrap_or(0..0)
    }

    /// The plan that reads the columns, the rows of these ids or else of all; in order, partition by partition.
    ///
    /// # Errors
    /// If a column is none of the table's.
    pub(super) fn scan(
        &self,
        ids: Option<&RowRanges>,
        context: &TaskContext,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let config = context.session_config();
        let (selection, partitions) = match ids {
            Some(ids) => {
                let ids = match &self.selection {
                    Selection::All => ids.clone(),
                    Selection::Ids(own) => own.intersect(ids),
                };
                (Selection::Ids(Arc::new(ids)), 1)
            }
            None => (self.selection.clone(), config.target_partitions()),
        };
        scan_rows(ScanRequest {
            table: &self.table,
            projection: Some(&self.read),
            limit: None,
            selection,
            conditions: self.conditions.clone(),
            open: None,
            properties: vec![],
            choice: None,
            partitions,
            options: &GraphArOptions::of(config.options()),
        })
    }
}

impl fmt::Display for RowsById {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.table.name)?;
        let names = self.fields();
        let names: Vec<&str> = names.iter().map(|field| field.name().as_str()).collect();
        write!(f, ", columns=[{}]", names.join(", "))?;
        let by = match (self.only_ends(), self.neighbor()) {
            (Some(_), None) => "offsets",
            (Some(_), Some(_)) => "csr",
            (None, _) => "rows",
        };
        write!(f, ", by={by}")?;
        if let Selection::Ids(ids) = &self.selection {
            write!(f, ", ids={}", ids.count())?;
        }
        if !self.conditions.is_empty() {
            let conditions = self
                .conditions
                .iter()
                .map(|condition| condition.to_string());
            let conditions: Vec<String> = conditions.collect();
            write!(f, ", conditions=[{}]", conditions.join(" AND "))?;
        }
        Ok(())
    }
}
