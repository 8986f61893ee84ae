//! Scans whose conditions have parameters without a value, and how they get them.

use std::fmt;
use std::sync::Arc;

use datafusion::common::ParamValues;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::datasource::physical_plan::{FileScanConfig, FileScanConfigBuilder, FileSource};
use datafusion::datasource::source::DataSourceExec;
use datafusion::error::Result;
use datafusion::logical_expr::Expr;
use datafusion::physical_plan::{ExecutionPlan, PhysicalExpr};

use super::plan::range_groups;
use super::{GraphArSource, ScanTable, Selection};
use crate::config::GraphArOptions;

/// What a table makes of conditions that have all their values.
#[derive(Debug, Clone)]
pub struct Bound {
    /// The copy of the table to read.
    pub table: Arc<ScanTable>,
    /// The rows that conditions on ids leave over.
    pub selection: Selection,
    /// Conditions that are to be tested on rows.
    pub conditions: Vec<Arc<dyn PhysicalExpr>>,
    /// Why this copy is read.
    pub choice: Option<Arc<str>>,
}

/// Knows what conditions mean for a table.
pub trait Bind: fmt::Debug + Send + Sync {
    /// Chooses what to read for these conditions, with these switches.
    ///
    /// # Errors
    /// If a condition cannot be tested.
    fn bind(&self, filters: &[Expr], options: &GraphArOptions) -> Result<Bound>;
}

/// Conditions whose parameters have no value yet.
#[derive(Debug, Clone)]
pub struct OpenConditions {
    /// The conditions.
    pub filters: Vec<Expr>,
    /// The table.
    pub binder: Arc<dyn Bind>,
}

/// The scan with values for its parameters: only what it reads is planned anew. `None` if `plan` is no
/// scan with open parameters.
///
/// It keeps the number of partitions, which the nodes above were planned for.
///
/// # Errors
/// If a parameter has no value, or one of another type than the condition can be compared with.
pub fn bind_scan(
    plan: &Arc<dyn ExecutionPlan>,
    values: &ParamValues,
) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let Some(config) = plan
        .downcast_ref::<DataSourceExec>()
        .and_then(|exec| exec.data_source().downcast_ref::<FileScanConfig>())
    else {
        return Ok(None);
    };
    let Some(source) = config.file_source().downcast_ref::<GraphArSource>() else {
        return Ok(None);
    };
    let Some(open) = source.open_conditions() else {
        return Ok(None);
    };
    let mut filters = Vec::with_capacity(open.filters.len());
    for filter in &open.filters {
        filters.push(with_values(filter, values)?);
    }
    let bound = open.binder.bind(&filters, source.options())?;
    let groups = range_groups(&bound.table, &bound.selection, config.file_groups.len());
    let source: Arc<dyn FileSource> = Arc::new(source.bound(bound));
    let config = FileScanConfigBuilder::from(config.clone())
        .with_source(source)
        .with_file_groups(groups)
        .build();
    Ok(Some(DataSourceExec::from_data_source(config)))
}

/// The condition with constants in place of its parameters.
fn with_values(filter: &Expr, values: &ParamValues) -> Result<Expr> {
    let bound = filter.clone().transform_up(|expr| match &expr {
        Expr::Placeholder(placeholder) => {
            let value = values.get_placeholders_with_values(&placeholder.id)?;
            Ok(Transformed::yes(Expr::Literal(value.value, value.metadata)))
        }
        _ => Ok(Transformed::no(expr)),
    })?;
    Ok(bound.data)
}
