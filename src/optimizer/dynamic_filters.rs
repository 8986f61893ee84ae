//! Filters that joins and sorts find while they run, where they can be handed down safely.

use std::sync::Arc;

use datafusion::common::HashSet;
use datafusion::config::ConfigOptions;
use datafusion::error::Result;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;

/// DataFusion's rule that hands such filters down to scans, without them where a column could be taken for another.
///
/// On its way down a filter is fitted to the schema of each node by the names of its columns (DataFusion 55.2, `FilterRemapper` of
/// `physical-plan/src/filter_pushdown.rs`). Where a node has two columns of one name, as the `_src_id` of two edge tables that are joined, the
/// first is taken, and rows are lost. So plans with such nodes get none of these filters.
#[derive(Debug)]
pub struct NamedDynamicFilters {
    rule: Arc<dyn PhysicalOptimizerRule + Send + Sync>,
}

impl NamedDynamicFilters {
    /// The name of DataFusion's rule.
    const WRAPPED: &'static str = "FilterPushdown(Post)";

    /// The rules with this one in place of the one that it wraps.
    pub fn guard(
        rules: Vec<Arc<dyn PhysicalOptimizerRule + Send + Sync>>,
    ) -> Vec<Arc<dyn PhysicalOptimizerRule + Send + Sync>> {
        let guarded = rules.into_iter().map(|rule| {
            if rule.name() == Self::WRAPPED {
                Arc::new(Self { rule }) as Arc<dyn PhysicalOptimizerRule + Send + Sync>
            } else {
                rule
            }
        });
        guarded.collect()
    }
}

/// Whether a node of the plan has two columns of one name.
fn repeats_names(plan: &Arc<dyn ExecutionPlan>) -> bool {
    let schema = plan.schema();
    let mut names = HashSet::with_capacity(schema.fields().len());
    let repeats = schema
        .fields()
        .iter()
        .any(|field| !names.insert(field.name().as_str()));
    repeats || plan.children().into_iter().any(repeats_names)
}

impl PhysicalOptimizerRule for NamedDynamicFilters {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        config: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        if !repeats_names(&plan) {
            return self.rule.optimize(plan, config);
        }
        let mut config = config.clone();
        let optimizer = &mut config.optimizer;
        optimizer.enable_join_dynamic_filter_pushdown = false;
        optimizer.enable_topk_dynamic_filter_pushdown = false;
        optimizer.enable_aggregate_dynamic_filter_pushdown = false;
        self.rule.optimize(plan, &config)
    }

    fn name(&self) -> &str {
        self.rule.name()
    }

    fn schema_check(&self) -> bool {
        self.rule.schema_check()
    }
}
