//! The provider of a vertex type or an edge triplet.

use std::borrow::Cow;
use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::DFSchema;
use datafusion::common::not_impl_err;
use datafusion::common::tree_node::TreeNode;
use datafusion::datasource::TableType;
use datafusion::error::Result;
use datafusion::logical_expr::dml::InsertOp;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown};
use datafusion::physical_expr::create_physical_expr;
use datafusion::physical_plan::{ExecutionPlan, PhysicalExpr};

use super::insert::{InsertSink, InsertTarget};
use crate::config::GraphArOptions;
use crate::error::GraphArError;
use crate::format::RowRanges;
use crate::physical::expand::RowsById;
use crate::physical::ids::{ids_of_expr, is_id_condition};
use crate::physical::scan::{
    Bind, Bound, OpenConditions, PropertyStatistics, ScanRequest, ScanTable, Selection, scan_rows,
};
use crate::physical::walks::EdgeSource;
use crate::storage::{FileAccess, Loaded, ReadMeter};
use crate::writer::write_in_order;

/// The rows of a vertex type, or of an edge triplet.
///
/// Made from metadata and counts that are in memory already; planning a scan does no I/O.
/// A table whose files are not there, or contradict each other, has a schema all the same,
/// and reports what is wrong when it is scanned.
///
/// An edge triplet may be stored in several layouts. The table has one that is read as a rule, and others
/// that are read where a condition on the end by which they are ordered makes that cheaper.
#[derive(Debug, Clone)]
pub struct ElementTable {
    schema: SchemaRef,
    rows: Loaded<Arc<ScanTable>>,
    /// Copies of the same rows with the same columns.
    copies: Vec<Arc<ScanTable>>,
    /// What `INSERT` adds to; `None` where it cannot.
    target: Option<InsertTarget>,
}

impl ElementTable {
    /// A table that can be read.
    pub fn new(table: ScanTable) -> Self {
        Self {
            schema: Arc::clone(&table.schema),
            rows: Ok(Arc::new(table)),
            copies: vec![],
            target: None,
        }
    }

    /// A table of this schema whose every scan fails.
    pub fn unreadable(schema: SchemaRef, error: Arc<GraphArError>) -> Self {
        Self {
            schema,
            rows: Err(error),
            copies: vec![],
            target: None,
        }
    }

    /// The same with other copies of its rows; those with other columns are left out.
    pub fn with_copies(mut self, copies: Vec<Arc<ScanTable>>) -> Self {
        self.copies = copies;
        self.copies.retain(|copy| copy.schema == self.schema);
        self
    }

    /// The same with what `INSERT` adds to.
    pub fn with_target(mut self, target: InsertTarget) -> Self {
        self.target = Some(target);
        self
    }

    /// What a scan reads, or why there is nothing to read.
    pub fn rows(&self) -> &Loaded<Arc<ScanTable>> {
        &self.rows
    }

    /// About how many rows conditions leave over, as far as they are on ids, and how many rows there are; `None` if the
    /// table cannot be read.
    pub fn estimate(&self, filters: &[Expr]) -> Option<(u64, u64)> {
        let table = self.rows.as_ref().ok()?;
        let chosen = self.choose(table, filters);
        let selected = chosen.selection.estimate(chosen.table);
        Some((selected, chosen.table.rows.total()))
    }

    /// The edges, if this is an edge triplet with an ordered layout and known numbers of vertices at both ends.
    pub fn edge_source(&self) -> Option<EdgeSource> {
        EdgeSource::of(self.candidates())
    }

    /// What is wanted of the rows that belong to an id: these columns, of the rows that fulfil conditions on the table's columns. `id` is the
    /// column of the id: `_vertex_id` of vertices, of edges the end by which a layout is ordered. `None` if there is no such
    /// layout, or the table cannot be read.
    ///
    /// # Errors
    /// If there is no column of one of the names, or a condition cannot be tested.
    pub fn rows_by_id(
        &self,
        id: &str,
        columns: &[&str],
        filters: &[Expr],
        options: &GraphArOptions,
    ) -> Result<Option<RowsById>> {
        let by_id = |table: &&Arc<ScanTable>| {
            let column = table.order();
            column.is_some_and(|column| table.schema.field(column).name() == id)
        };
        let Some(table) = self.candidates().find(by_id) else {
            return Ok(None);
        };
        let chosen = match options.id_pushdown {
            true => Choice::new(table, filters),
            false => Choice::everything(table, filters),
        };
        let conditions = self.conditions(filters, &chosen.covered)?;
        let columns = columns.iter().map(|name| Ok(table.schema.index_of(name)?));
        let columns = columns.collect::<Result<Vec<_>>>()?;
        Ok(RowsById::new(
            Arc::clone(table),
            &columns,
            chosen.selection,
            conditions,
        ))
    }

    /// The conditions that are not covered, on the columns of the table.
    fn conditions(&self, filters: &[Expr], covered: &[bool]) -> Result<Vec<Arc<dyn PhysicalExpr>>> {
        if !covered.contains(&false) {
            return Ok(vec![]);
        }
        let schema = DFSchema::try_from(Arc::clone(&self.schema))?;
        let (properties, context) = Default::default();
        let left = filters
            .iter()
            .zip(covered)
            .filter(|(_, covered)| !**covered);
        left.map(|(filter, _)| create_physical_expr(filter, &schema, &properties, &context))
            .collect()
    }

    /// The number of vertices, if this is a vertex type.
    pub fn vertices(&self) -> Option<u64> {
        let table = self.rows.as_ref().ok()?;
        table.aligned.is_none().then(|| table.rows.total())
    }

    /// The copies that conditions could choose, the one that is read as a rule first.
    fn candidates(&self) -> impl Iterator<Item = &Arc<ScanTable>> {
        let first = self.rows.as_ref().ok();
        first.into_iter().chain(&self.copies)
    }

    /// The copy to read for these conditions, and what they ask of it.
    fn choose<'a>(&'a self, table: &'a Arc<ScanTable>, filters: &[Expr]) -> Choice<'a> {
        let choices = self.candidates().map(|table| Choice::new(table, filters));
        // Of equals the first, which is read as a rule.
        let best = choices.min_by_key(|choice| choice.selection.estimate(choice.table));
        best.unwrap_or_else(|| Choice::everything(table, filters))
    }
}

/// A copy of the rows, and what conditions ask of it.
struct Choice<'a> {
    table: &'a Arc<ScanTable>,
    selection: Selection,
    /// For each condition whether the selection is all that it asks for.
    covered: Vec<bool>,
}

impl<'a> Choice<'a> {
    /// All rows; every condition is left to be tested.
    fn everything(table: &'a Arc<ScanTable>, filters: &[Expr]) -> Self {
        Self {
            table,
            selection: Selection::All,
            covered: vec![false; filters.len()],
        }
    }

    /// The ids that conditions leave over, if they leave out any.
    fn new(table: &'a Arc<ScanTable>, filters: &[Expr]) -> Self {
        let mut this = Self::everything(table, filters);
        let Some(column) = table.id_column().filter(|_| table.finds_ids()) else {
            return this;
        };
        let name = table.schema.field(column).name();
        let all = RowRanges::all(table.ids());
        let mut ids = Cow::Borrowed(&all);
        for (filter, covered) in filters.iter().zip(&mut this.covered) {
            let found = ids_of_expr(filter, name, table.ids());
            *covered = found.exact;
            ids = Cow::Owned(ids.intersect(&found.yes));
        }
        if *ids != all {
            this.selection = Selection::Ids(Arc::new(ids.into_owned()));
        }
        this
    }

    /// Why this copy is read, for plans; nothing to say of vertices. `usual` is the one that is read as a rule.
    fn reason(&self, usual: &Arc<ScanTable>) -> Option<Arc<str>> {
        let aligned = self.table.aligned.as_ref()?;
        let end = self.table.schema.field(aligned.column).name();
        Some(match (&self.selection, Arc::ptr_eq(self.table, usual)) {
            (Selection::All, _) => Arc::from("default"),
            (_, true) => Arc::from(format!("default, ordered by {end}")),
            (_, false) => Arc::from(format!("chosen for its order by {end}")),
        })
    }
}

#[async_trait]
impl TableProvider for ElementTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    /// Conditions on ids are fulfilled by every row that comes out, also where a parameter is still
    /// open. All others are offered again when the physical plan is made.
    fn supports_filters_pushdown(
        &self,
        filters: &[&Expr],
    ) -> Result<Vec<TableProviderFilterPushDown>> {
        let on_ids = |filter: &&Expr| {
            self.candidates().any(|table| {
                let column = table.id_column().filter(|_| table.finds_ids());
                column.is_some_and(|id| is_id_condition(filter, table.schema.field(id).name()))
            })
        };
        let answers = filters.iter().map(|filter| match on_ids(filter) {
            true => TableProviderFilterPushDown::Exact,
            false => TableProviderFilterPushDown::Unsupported,
        });
        Ok(answers.collect())
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let table = match &self.rows {
            Ok(table) => table,
            Err(error) => return Err(GraphArError::again(error)),
        };
        let options = GraphArOptions::of(state.config_options());
        let mut open = None;
        let bound = if has_placeholder(filters)? {
            // The values come when the plan is bound; until then any row may be asked for.
            open = Some(OpenConditions {
                filters: filters.to_vec(),
                binder: Arc::new(self.clone()),
            });
            Bound {
                table: Arc::clone(table),
                selection: Selection::All,
                conditions: vec![],
                choice: None,
            }
        } else {
            self.bind(filters, &options)?
        };
        let whole = open.is_none() && limit.is_none();
        let properties = match &bound.selection {
            Selection::All if whole => {
                properties_of(&bound.table, projection, state, &options).await
            }
            _ => vec![],
        };
        scan_rows(ScanRequest {
            table: &bound.table,
            projection,
            limit,
            properties,
            selection: bound.selection,
            conditions: bound.conditions,
            open,
            choice: bound.choice,
            partitions: state.config().target_partitions(),
            options: &options,
        })
    }

    /// `INSERT` appends. Columns that are left out are null; the ids of vertices come by themselves.
    async fn insert_into(
        &self,
        _state: &dyn Session,
        input: Arc<dyn ExecutionPlan>,
        op: InsertOp,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        if op != InsertOp::Append {
            return not_impl_err!("{op} of graph elements; COPY replaces an element type");
        }
        let Some(target) = &self.target else {
            return not_impl_err!(
                "INSERT into this table; insert into the vertex type or edge triplet of a graph"
            );
        };
        if let Err(error) = &self.rows {
            return Err(GraphArError::again(error));
        }
        let sink = InsertSink::new(target.clone(), &self.schema);
        write_in_order(input, Arc::new(sink))
    }
}

impl Bind for ElementTable {
    fn bind(&self, filters: &[Expr], options: &GraphArOptions) -> Result<Bound> {
        let table = match &self.rows {
            Ok(table) => table,
            Err(error) => return Err(GraphArError::again(error)),
        };
        let (chosen, reason) = if options.id_pushdown {
            let chosen = self.choose(table, filters);
            let reason = chosen.reason(table);
            (chosen, reason)
        } else {
            (Choice::everything(table, filters), None)
        };
        let conditions = self.conditions(filters, &chosen.covered)?;
        Ok(Bound {
            table: Arc::clone(chosen.table),
            selection: chosen.selection,
            conditions,
            choice: reason,
        })
    }
}

/// What is known of the properties that a scan of all rows gives.
async fn properties_of(
    table: &ScanTable,
    projection: Option<&Vec<usize>>,
    state: &dyn Session,
    options: &GraphArOptions,
) -> PropertyStatistics {
    let limited = options.max_requests > 0 || options.max_bytes > 0;
    let (true, Some(cache)) = (options.collect_statistics && !limited, &table.cache) else {
        return vec![];
    };
    let Ok(store) = state.runtime_env().object_store(&table.store_url) else {
        return vec![];
    };
    let access = FileAccess {
        validate: options.validate_cached_files,
        ..FileAccess::new(
            store,
            table.store_url.as_str(),
            Some(Arc::clone(cache)),
            ReadMeter::default(),
        )
    };
    let all: Vec<usize>;
    let columns = match projection {
        Some(columns) => columns,
        None => {
            all = (0..table.schema.fields().len()).collect();
            &all
        }
    };
    let known = &table.properties;
    known
        .of(table, columns, &access, options.statistics_chunks)
        .await
}

fn has_placeholder(filters: &[Expr]) -> Result<bool> {
    for filter in filters {
        if filter.exists(|expr| Ok(matches!(expr, Expr::Placeholder(_))))? {
            return Ok(true);
        }
    }
    Ok(false)
}
