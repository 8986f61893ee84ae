//! From the tokens of a statement to a stream of its rows.

use std::sync::Arc;

use datafusion::common::config::Dialect;
use datafusion::common::runtime::SpawnedTask;
use datafusion::common::{Result, plan_datafusion_err};
use datafusion::error::DataFusionError;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_plan::execute_stream;
use datafusion::physical_plan::stream::RecordBatchReceiverStreamBuilder;
use datafusion::prelude::SessionContext;
use datafusion::sql::parser::{DFParserBuilder, Statement};
use datafusion::sql::sqlparser::dialect::{Dialect as SqlDialect, dialect_from_str};
use datafusion::sql::sqlparser::tokenizer::TokenWithSpan;
use futures::StreamExt;

use crate::cli::progress;
use crate::sql::resolve_names;
use crate::writer::WriteProgress;

/// Batches that may wait for a slow writer.
const BATCHES_AHEAD: usize = 2;

/// The SQL dialect that the session is set to.
pub fn dialect(context: &SessionContext) -> Result<Box<dyn SqlDialect>> {
    let name: Dialect = context
        .state_ref()
        .read()
        .config_options()
        .sql_parser
        .dialect;
    dialect_from_str(name).ok_or_else(|| plan_datafusion_err!("unsupported SQL dialect '{name}'"))
}

/// A statement that was started.
pub struct Started {
    /// Its rows.
    pub rows: SendableRecordBatchStream,
    /// What it writes, if it writes graphs.
    pub writes: Vec<Arc<WriteProgress>>,
}

/// Plans a statement and starts it.
///
/// All work happens in tasks that end when the returned future or stream is dropped, so whoever
/// polls it stays free to notice an interrupt even while an operator is busy.
pub async fn start(context: &SessionContext, tokens: Vec<TokenWithSpan>) -> Result<Started> {
    let statement = parse(context, tokens)?;
    let context = context.clone();
    let planning = SpawnedTask::spawn(async move {
        let state = context.state();
        let statement = resolve_names(&state, statement).await?;
        let plan = state.statement_to_plan(statement).await?;
        let frame = context.execute_logical_plan(plan).await?;
        let task = Arc::new(frame.task_ctx());
        let plan = frame.create_physical_plan().await?;
        let writes = progress::writes(&plan);
        Ok::<_, DataFusionError>((execute_stream(plan, task)?, writes))
    });
    let (rows, writes) = planning
        .join_unwind()
        .await
        .map_err(|error| DataFusionError::ExecutionJoin(Box::new(error)))??;
    let rows = detach(rows);
    Ok(Started { rows, writes })
}

fn parse(context: &SessionContext, tokens: Vec<TokenWithSpan>) -> Result<Statement> {
    let dialect = dialect(context)?;
    let limit = context
        .state_ref()
        .read()
        .config_options()
        .sql_parser
        .recursion_limit;
    DFParserBuilder::new(tokens)
        .with_dialect(dialect.as_ref())
        .with_recursion_limit(limit.get())
        .build()?
        .parse_statements()?
        .pop_front()
        .ok_or_else(|| plan_datafusion_err!("no statement given"))
}

/// Polls `stream` in a task of its own.
fn detach(mut stream: SendableRecordBatchStream) -> SendableRecordBatchStream {
    let mut builder = RecordBatchReceiverStreamBuilder::new(stream.schema(), BATCHES_AHEAD);
    let sender = builder.tx();
    builder.spawn(async move {
        while let Some(batch) = stream.next().await {
            let failed = batch.is_err();
            if sender.send(batch).await.is_err() || failed {
                break;
            }
        }
        Ok(())
    });
    builder.build()
}
