//! A DataFusion session with GraphAr, as sqllogictest sees it.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use datafusion::arrow::error::ArrowError;
use datafusion::error::DataFusionError;
use datafusion::execution::session_state::SessionStateBuilder;
use datafusion::logical_expr::LogicalPlan;
use datafusion::prelude::{SessionConfig, SessionContext};
use datafusion_graphar::session::SessionStateBuilderExt;
use sqllogictest::{AsyncDB, DBOutput};

use crate::{GraphArColumn, Places, cells};

/// Why a statement failed.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum SqlError {
    /// Planning or execution failed. The text has no backtrace and no folder of this machine.
    #[error("{message}")]
    Engine {
        /// What the engine said.
        message: String,
    },
    /// The statement needs a folder that nobody named.
    #[error("the environment variable {name} is not set")]
    UnknownVariable {
        /// The variable.
        name: String,
    },
}

/// One session.
pub struct GraphArDatabase {
    context: SessionContext,
    places: Arc<Places>,
    current: Arc<Mutex<String>>,
}

impl GraphArDatabase {
    /// A new session with the settings preset. Each statement is noted in `current` before it
    /// is run, which tells where a file hangs.
    pub fn try_new(
        places: Arc<Places>,
        settings: &[(String, String)],
        current: Arc<Mutex<String>>,
    ) -> Result<Self, SqlError> {
        let config = SessionConfig::new().with_target_partitions(4);
        let state = SessionStateBuilder::new()
            .with_config(config)
            .with_default_features()
            .with_graphar()
            .build();
        let context = SessionContext::new_with_state(state);
        for (key, value) in settings {
            // After the builder, since it is the builder that adds the options of GraphAr.
            let state = context.state_ref();
            let result = state.write().config_mut().options_mut().set(key, value);
            result.map_err(|error| engine_error(&error, &places))?;
        }
        Ok(Self {
            context,
            places,
            current,
        })
    }

    async fn output(&self, sql: &str) -> Result<DBOutput<GraphArColumn>, DataFusionError> {
        let frame = self.context.sql(sql).await?;
        let is_plan = matches!(
            frame.logical_plan(),
            LogicalPlan::Explain(_) | LogicalPlan::Analyze(_)
        );
        let types: Vec<_> = frame
            .schema()
            .fields()
            .iter()
            .map(|field| GraphArColumn::from(field.data_type()))
            .collect();
        let batches = frame.collect().await?;
        if types.is_empty() {
            return Ok(DBOutput::StatementComplete(0));
        }
        let mut rows =
            cells::rows(&batches).map_err(|error: ArrowError| DataFusionError::from(error))?;
        if is_plan {
            rows = cells::plan_rows(rows);
        }
        for cell in rows.iter_mut().flatten() {
            *cell = self.places.hide(cell);
        }
        Ok(DBOutput::Rows { types, rows })
    }
}

#[async_trait]
impl AsyncDB for GraphArDatabase {
    type Error = SqlError;
    type ColumnType = GraphArColumn;

    async fn run(&mut self, sql: &str) -> Result<DBOutput<GraphArColumn>, SqlError> {
        let sql = self.places.substitute(sql)?;
        self.current
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone_from(&sql);
        Box::pin(self.output(&sql))
            .await
            .map_err(|error| engine_error(&error, &self.places))
    }

    async fn shutdown(&mut self) {}

    fn engine_name(&self) -> &str {
        "datafusion"
    }

    async fn sleep(duration: std::time::Duration) {
        tokio::time::sleep(duration).await;
    }
}

fn engine_error(error: &DataFusionError, places: &Places) -> SqlError {
    SqlError::Engine {
        message: places.hide(error.strip_backtrace().trim_end()),
    }
}
