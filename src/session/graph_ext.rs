//! Edges followed from the rows of a `DataFrame`.

use datafusion::dataframe::DataFrame;
use datafusion::error::Result;

use crate::graph::algorithms::Way;
use crate::sql::expanded;
use crate::table::Graph;

/// Questions to a graph that go on from a [`DataFrame`].
pub trait GraphExt {
    /// The rows of `input`, each once for every edge of the vertex whose internal id stands in its column `on`; behind them `neighbor_id`, the other end,
    /// and the properties of the edge. The same as the function `expand` in SQL.
    ///
    /// `edge` is the name of an edge table, or a label that only one has. Ids that are null or of no vertex have no edges. In direction
    /// [`Way::Any`] an edge from a vertex to itself comes once.
    ///
    /// # Errors
    /// If there are no such edges or no such column, the column is no integer, or a column would come twice.
    ///
    /// ```
    /// # use datafusion::prelude::SessionContext;
    /// # use datafusion_graphar::graph::algorithms::Way;
    /// # use datafusion_graphar::session::{GraphExt, SessionContextExt};
    /// # async fn example() -> datafusion::error::Result<()> {
    /// let ctx = SessionContext::new();
    /// let graph = ctx.register_graph("g", "social/social.graph.yml").await?;
    /// let josh = ctx.sql("SELECT _vertex_id AS id FROM g.person WHERE name = 'josh'").await?;
    /// let friends = graph.expand(josh, "knows", "id", Way::Any)?;
    /// # Ok(())
    /// # }
    /// ```
    fn expand(&self, input: DataFrame, edge: &str, on: &str, way: Way) -> Result<DataFrame>;
}

impl GraphExt for Graph {
    fn expand(&self, input: DataFrame, edge: &str, on: &str, way: Way) -> Result<DataFrame> {
        let (state, plan) = input.into_parts();
        let plan = expanded(self, edge, &plan, on, way)?;
        Ok(DataFrame::new(state, plan))
    }
}
