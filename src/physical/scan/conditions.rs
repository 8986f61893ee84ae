//! The conditions of a scan: which become ids, which are tested on rows, and in what order.

use std::sync::Arc;

use datafusion::arrow::array::{Array, AsArray, BooleanArray, RecordBatch};
use datafusion::arrow::compute::prep_null_mask_filter;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::ScalarValue;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::error::Result;
use datafusion::logical_expr::ColumnarValue;
use datafusion::physical_expr::expressions::{Column, DynamicFilterTracking, Literal};
use datafusion::physical_expr::utils::{collect_columns, conjunction, reassign_expr_columns};
use datafusion::physical_expr::{ScalarFunctionExpr, split_conjunction};
use datafusion::physical_expr_common::physical_expr::snapshot_physical_expr;
use datafusion::physical_plan::PhysicalExpr;
use datafusion::physical_plan::joins::HashTableLookupExpr;

use super::assemble::ReadPlan;
use super::label_sets::LabelSets;
use super::prune::Pruning;
use super::{ColumnOrigin, ScanTable, Selection};
use crate::config::GraphArOptions;
use crate::format::RowRanges;
use crate::physical::ids::ids_of_physical;

/// The function that asks whether a list of labels has a label; `has_label` and others are its aliases.
const ARRAY_HAS: &str = "array_has";

/// Conditions that are tested together, and what has to be read for them.
pub(super) struct Stage {
    /// The columns of the table that are read in this stage, none that an earlier one has read.
    pub read: ReadPlan,
    /// The condition, on the columns read by now, those of this stage last.
    pub condition: Arc<dyn PhysicalExpr>,
    /// The schema of those columns.
    pub schema: SchemaRef,
    /// Which of them a later stage or the result needs, and their schema.
    pub keep: Vec<usize>,
    pub kept: SchemaRef,
    /// What the statistics of the files can say about the condition.
    pub pruning: Vec<Pruning>,
    /// The condition as sets of rows, if it is on labels alone and their columns are not needed further.
    pub labels: Option<LabelSets>,
}

/// Conditions that are tested on rows, ready to be used.
#[derive(Default)]
pub(super) struct Conditions {
    /// In the order in which they are tested.
    pub stages: Vec<Stage>,
    /// The columns of the table that the stages have read and kept for the result.
    pub columns: Vec<usize>,
    /// Whether all files that the stages read are Parquet.
    pub parquet: bool,
}

/// Conditions on columns of the same files.
struct OnRows {
    sets: Vec<usize>,
    columns: Vec<usize>,
    condition: Arc<dyn PhysicalExpr>,
}

impl Conditions {
    /// Prepares conditions on the columns of the table. `output` are the columns that the scan
    /// needs besides.
    pub fn try_new(
        table: &ScanTable,
        conditions: &[Arc<dyn PhysicalExpr>],
        output: &[usize],
        options: &GraphArOptions,
    ) -> Result<Self> {
        let mut this = Self {
            parquet: true,
            ..Self::default()
        };
        let mut on_rows: Vec<OnRows> = vec![];
        for condition in conditions {
            let condition = if options.label_pushdown {
                labels_by_column(table, Arc::clone(condition))?
            } else {
                Arc::clone(condition)
            };
            let mut columns: Vec<usize> = collect_columns(&condition)
                .iter()
                .map(Column::index)
                .collect();
            columns.sort_unstable();
            let mut sets: Vec<usize> = columns
                .iter()
                .filter_map(|column| table.file_set(*column))
                .collect();
            sets.sort_unstable();
            sets.dedup();
            match on_rows.iter_mut().find(|known| known.sets == sets) {
                Some(known) => {
                    known.columns.extend(columns);
                    known.condition = conjunction([Arc::clone(&known.condition), condition]);
                }
                None => on_rows.push(OnRows {
                    sets,
                    columns,
                    condition,
                }),
            }
        }
        // Few files before many, and numbers before texts.
        on_rows.sort_by_key(|of| {
            let width: usize = of.columns.iter().map(|column| table.width(*column)).sum();
            (of.sets.len(), width)
        });
        while !on_rows.is_empty() {
            let OnRows {
                sets,
                mut columns,
                condition,
            } = on_rows.remove(0);
            // A text file is parsed from its beginning whatever is wanted: then all at once.
            for column in output {
                let set = table.file_set(*column);
                let parsed = set.is_some_and(|set| sets.contains(&set) && !table.is_parquet(set));
                if parsed {
                    columns.push(*column);
                }
            }
            columns.sort_unstable();
            columns.dedup();
            columns.retain(|column| !this.columns.contains(column));
            let needed = |column: &usize| {
                output.contains(column)
                    || on_rows.iter().any(|later| later.columns.contains(column))
            };
            this.push_stage(table, columns, condition, &sets, options, needed)?;
        }
        Ok(this)
    }

    fn push_stage(
        &mut self,
        table: &ScanTable,
        columns: Vec<usize>,
        condition: Arc<dyn PhysicalExpr>,
        sets: &[usize],
        options: &GraphArOptions,
        needed: impl Fn(&usize) -> bool,
    ) -> Result<()> {
        let read = ReadPlan::try_new(table, &columns)?;
        let earlier = self.columns.len();
        self.columns.extend(columns);
        let schema = Arc::new(table.schema_of(&self.columns)?);
        let keep: Vec<usize> = (0..self.columns.len())
            .filter(|at| needed(&self.columns[*at]))
            .collect();
        self.columns.retain(needed);
        let pruning = if options.page_pruning {
            Pruning::of(table, &condition, sets)
        } else {
            vec![]
        };
        let labels = LabelSets::of(&condition, table.schema.fields().len());
        let labels = labels.filter(|_| options.label_runs && keep.iter().all(|at| *at < earlier));
        self.stages.push(Stage {
            labels,
            read,
            condition: reassign_expr_columns(condition, &schema)?,
            kept: Arc::new(schema.project(&keep)?),
            schema,
            keep,
            pruning,
        });
        self.parquet &= sets.iter().all(|set| table.is_parquet(*set));
        Ok(())
    }

    /// Whether there is nothing to test.
    pub fn is_empty(&self) -> bool {
        self.stages.is_empty()
    }
}

/// Conditions that narrow the ids that are read.
#[derive(Default)]
pub(super) struct IdConditions {
    /// What conditions that do not change leave over; `None` if that is all.
    fixed: Option<Arc<RowRanges>>,
    /// Conditions that change while the scan runs.
    dynamic: Vec<Arc<dyn PhysicalExpr>>,
}

impl IdConditions {
    /// The ids that are left over by now; `None` if these are all.
    pub fn now(&self, table: &ScanTable) -> Option<Arc<RowRanges>> {
        let column = table.id_column().filter(|_| !self.dynamic.is_empty());
        let Some(column) = column else {
            return self.fixed.clone();
        };
        let mut ids = match &self.fixed {
            Some(fixed) => fixed.as_ref().clone(),
            None => RowRanges::all(table.ids()),
        };
        for condition in &self.dynamic {
            ids = ids.intersect(&ids_of_physical(condition, column, table.ids()).yes);
        }
        Some(Arc::new(ids))
    }
}

/// The conditions of a scan by what is done about them.
pub(super) struct SortedConditions {
    /// Those that say which ids to read.
    pub ids: IdConditions,
    /// Those to be tested on rows that do not change.
    pub fixed: Vec<Arc<dyn PhysicalExpr>>,
    /// Those that do.
    pub dynamic: Vec<Arc<dyn PhysicalExpr>>,
}

impl SortedConditions {
    /// Sorts conditions on the columns of the table.
    pub fn new(
        table: &ScanTable,
        selection: &Selection,
        conditions: &[Arc<dyn PhysicalExpr>],
        options: &GraphArOptions,
    ) -> Self {
        let mut this = Self {
            ids: IdConditions::default(),
            fixed: vec![],
            dynamic: vec![],
        };
        if let Selection::Ids(ids) = selection {
            this.ids.fixed = Some(Arc::clone(ids));
        }
        let column = table.id_column().filter(|_| options.id_pushdown);
        for condition in conditions.iter().flat_map(split_conjunction) {
            let on_ids = column.filter(|column| mentions(condition, *column));
            if DynamicFilterTracking::classify(condition).contains_dynamic_filter() {
                if on_ids.is_some() {
                    this.ids.dynamic.push(Arc::clone(condition));
                }
                this.dynamic.push(Arc::clone(condition));
                continue;
            }
            if let Some(column) = on_ids {
                let found = ids_of_physical(condition, column, table.ids());
                let before = this.ids.fixed.as_ref();
                let left = before.map_or(found.yes.clone(), |before| before.intersect(&found.yes));
                this.ids.fixed = Some(Arc::new(left));
                if found.exact && table.finds_ids() {
                    continue;
                }
            }
            this.fixed.push(Arc::clone(condition));
        }
        this
    }
}

/// What a condition that changes asks for now, less what costs more to test than it saves: whether a value
/// is in the hash table of a join is asked by the join again.
pub(super) fn worth_testing(condition: &Arc<dyn PhysicalExpr>) -> Result<bool> {
    let now = snapshot_physical_expr(Arc::clone(condition))?;
    let is_true = |part: &Arc<dyn PhysicalExpr>| {
        let literal = part.downcast_ref::<Literal>();
        literal.is_some_and(|literal| *literal.value() == ScalarValue::Boolean(Some(true)))
    };
    let mut looks_up = false;
    now.apply(|part| {
        looks_up |= part.is::<HashTableLookupExpr>();
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(!looks_up && !is_true(&now))
}

fn mentions(condition: &Arc<dyn PhysicalExpr>, column: usize) -> bool {
    collect_columns(condition)
        .iter()
        .any(|found| found.index() == column)
}

/// Replaces questions about the list of labels by the columns of the labels, if nothing else
/// is asked of the list. A label that the type does not declare is false for every vertex.
fn labels_by_column(
    table: &ScanTable,
    condition: Arc<dyn PhysicalExpr>,
) -> Result<Arc<dyn PhysicalExpr>> {
    let Some((list, _, labels)) = table.label_columns() else {
        return Ok(condition);
    };
    if !mentions(&condition, list) {
        return Ok(condition);
    }
    let first = table.schema.fields().len();
    let replaced = Arc::clone(&condition).transform_down(|expr| {
        let Some(label) = asked_label(&expr, list) else {
            return Ok(Transformed::no(expr));
        };
        let found = labels
            .iter()
            .position(|column| *column.field.name() == label);
        let column: Arc<dyn PhysicalExpr> = match found {
            Some(number) => Arc::new(Column::new(&hidden_name(&label), first + number)),
            None => Arc::new(Literal::new(ScalarValue::Boolean(Some(false)))),
        };
        Ok(Transformed::yes(column))
    })?;
    let replaced = replaced.data;
    Ok(if mentions(&replaced, list) {
        condition
    } else {
        replaced
    })
}

/// The label of `has_label(list, 'label')`, if `expr` is that.
fn asked_label(expr: &Arc<dyn PhysicalExpr>, list: usize) -> Option<String> {
    let call = expr.downcast_ref::<ScalarFunctionExpr>()?;
    (call.fun().name() == ARRAY_HAS).then_some(())?;
    let [column, label] = call.args() else {
        return None;
    };
    (column.downcast_ref::<Column>()?.index() == list).then_some(())?;
    let label = label.downcast_ref::<Literal>()?.value();
    label.try_as_str()?.map(str::to_owned)
}

/// Name of the column of a label; no property can have it, as it names the list as well.
pub(super) fn hidden_name(label: &str) -> String {
    format!("_labels[{label}]")
}

/// Evaluates a condition; true where it is true, false where it is false or NULL.
pub(super) fn passing(
    condition: &Arc<dyn PhysicalExpr>,
    batch: &RecordBatch,
) -> Result<BooleanArray> {
    let mask = match condition.evaluate(batch)? {
        ColumnarValue::Array(mask) => mask,
        ColumnarValue::Scalar(value) => value.to_array_of_size(batch.num_rows())?,
    };
    let Some(mask) = mask.as_boolean_opt() else {
        // `WHERE NULL`, whose type is not boolean.
        return Ok(BooleanArray::from(vec![false; batch.num_rows()]));
    };
    Ok(if mask.null_count() > 0 {
        prep_null_mask_filter(mask)
    } else {
        mask.clone()
    })
}

impl ScanTable {
    /// The file set of a column; columns behind those of the table are those of the labels.
    pub(super) fn file_set(&self, column: usize) -> Option<usize> {
        match self.origins.get(column) {
            Some(ColumnOrigin::File(set, _) | ColumnOrigin::Labels(set, _)) => Some(*set),
            Some(_) => None,
            None => self.label_columns().map(|(_, set, _)| set),
        }
    }
}
