//! From ids to the rows that belong to them.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use datafusion::common::{DFSchema, DFSchemaRef, HashMap, JoinType, plan_err};
use datafusion::error::Result;
use datafusion::logical_expr::{Expr, LogicalPlan, UserDefinedLogicalNodeCore};

use crate::physical::expand::{ExpandExec, Follow, RowsById};

/// Joins its input with the rows that belong to an id of it; planned as
/// [`ExpandExec`](crate::physical::expand::ExpandExec), which says what comes out.
#[derive(Debug, Clone)]
pub struct Expand {
    input: LogicalPlan,
    rows: Arc<RowsById>,
    follow: Follow,
    projection: Vec<usize>,
    /// Names of the columns of the rows in the output.
    names: Vec<String>,
    schema: DFSchemaRef,
}

impl Expand {
    /// A node whose output is some columns of the input, by number, and behind these in the numbering the columns of the rows, which get
    /// the names `names` and no qualifier.
    ///
    /// # Errors
    /// If a column is not there, or a name comes twice.
    pub fn try_new(
        input: LogicalPlan,
        rows: Arc<RowsById>,
        follow: Follow,
        projection: Vec<usize>,
        names: Vec<String>,
    ) -> Result<Self> {
        let fields = ExpandExec::fields(input.schema().as_arrow(), &rows, follow.join);
        let own = input.schema().fields().len();
        let mut columns = vec![];
        for column in &projection {
            let Some(field) = fields.get(*column) else {
                return plan_err!("Expand: column {column} of {}", fields.len());
            };
            let (qualifier, field) = match column.checked_sub(own) {
                None => (
                    input.schema().qualified_field(*column).0.cloned(),
                    Arc::clone(field),
                ),
                Some(place) => {
                    let Some(name) = names.get(place) else {
                        return plan_err!("Expand: {} names, none for {field}", names.len());
                    };
                    (None, Arc::new(field.as_ref().clone().with_name(name)))
                }
            };
            columns.push((qualifier, field));
        }
        let metadata = HashMap::new().into_iter().collect();
        let schema = Arc::new(DFSchema::new_with_metadata(columns, metadata)?);
        Ok(Self {
            input,
            rows,
            follow,
            projection,
            names,
            schema,
        })
    }

    /// What the ids lead to.
    pub fn rows(&self) -> &Arc<RowsById> {
        &self.rows
    }

    /// How they are followed.
    pub fn follow(&self) -> Follow {
        self.follow
    }

    /// Columns of the output by number: those of the input first, then those of the rows.
    pub fn projection(&self) -> &[usize] {
        &self.projection
    }

    /// What tells nodes apart.
    fn key(&self) -> (String, Follow, &[usize], &[String], &LogicalPlan) {
        (
            self.rows.to_string(),
            self.follow,
            &self.projection,
            &self.names,
            &self.input,
        )
    }
}

impl PartialEq for Expand {
    fn eq(&self, other: &Self) -> bool {
        // Equal tables may be of different graphs.
        Arc::ptr_eq(&self.rows, &other.rows) && self.key() == other.key()
    }
}

impl Eq for Expand {}

impl Hash for Expand {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

impl PartialOrd for Expand {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        let order = self.key().partial_cmp(&other.key());
        order.filter(|order| *order != Ordering::Equal || self == other)
    }
}

impl UserDefinedLogicalNodeCore for Expand {
    fn name(&self) -> &'static str {
        "Expand"
    }

    fn inputs(&self) -> Vec<&LogicalPlan> {
        vec![&self.input]
    }

    fn schema(&self) -> &DFSchemaRef {
        &self.schema
    }

    fn expressions(&self) -> Vec<Expr> {
        vec![]
    }

    fn fmt_for_explain(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |column: usize| self.input.schema().qualified_field(column).1.name();
        write!(f, "Expand: {}", name(self.follow.key))?;
        if let Some(target) = self.follow.target {
            write!(f, " to {}", name(target))?;
        }
        write!(f, " in {}", self.rows)?;
        match self.follow.join {
            JoinType::Inner => Ok(()),
            join => write!(f, ", join={join}"),
        }
    }

    fn with_exprs_and_inputs(
        &self,
        exprs: Vec<Expr>,
        mut inputs: Vec<LogicalPlan>,
    ) -> Result<Self> {
        match (inputs.pop(), inputs.is_empty() && exprs.is_empty()) {
            (Some(input), true) => Self::try_new(
                input,
                Arc::clone(&self.rows),
                self.follow,
                self.projection.clone(),
                self.names.clone(),
            ),
            _ => plan_err!("Expand: expected one input and no expressions"),
        }
    }

    /// All columns of the input: the numbers of ids and of the output's columns stay true.
    fn necessary_children_exprs(&self, _output_columns: &[usize]) -> Option<Vec<Vec<usize>>> {
        Some(vec![(0..self.input.schema().fields().len()).collect()])
    }
}
