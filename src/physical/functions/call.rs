//! What a table function is asked.

use std::fmt;
use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field};

use super::FunctionEdges;
use crate::graph::algorithms::Way;

/// A table function, and the arguments that only it has.
#[derive(Debug, Clone, PartialEq)]
pub enum Function {
    /// Number of edges of each vertex.
    Degree,
    /// Where the edges of each vertex are in the adjacency, which is put into the session's cache.
    Csr,
    /// Vertices within so many steps.
    Khop {
        /// Most steps.
        hops: u64,
    },
    /// Shortest paths, or cheapest where there is a weight.
    ShortestPath {
        /// Most edges of a path.
        max_hops: Option<u64>,
        /// Column of the edge table that is the weight.
        weight: Option<usize>,
    },
    /// Ranks by the ranks of those before.
    PageRank {
        /// How much of a rank comes from others.
        damping: f64,
        /// Ranks that change by less than this, together, are done.
        tolerance: f64,
        /// Most iterations.
        max_iterations: u64,
    },
    /// Weakly connected components.
    Wcc,
    /// Triangles through each vertex.
    TriangleCount,
}

impl Function {
    /// Its name in SQL.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Degree => "degree",
            Self::Csr => "csr",
            Self::Khop { .. } => "khop",
            Self::ShortestPath { .. } => "shortest_path",
            Self::PageRank { .. } => "pagerank",
            Self::Wcc => "wcc",
            Self::TriangleCount => "triangle_count",
        }
    }

    /// The columns of its rows.
    pub fn fields(&self) -> Vec<Field> {
        let id = |name: &str| Field::new(name, DataType::Int64, false);
        let float = |name: &str| Field::new(name, DataType::Float64, false);
        let ids = |name: &str| {
            let item = Field::new_list_field(DataType::Int64, false);
            Field::new(name, DataType::List(Arc::new(item)), false)
        };
        match self {
            Self::Degree => vec![id("vertex_id"), id("degree")],
            Self::Csr => vec![id("vertex_id"), id("offset"), id("degree")],
            Self::Khop { .. } => vec![id("start_id"), id("vertex_id"), id("distance")],
            Self::ShortestPath { weight, .. } => vec![
                id("source_id"),
                id("target_id"),
                match weight {
                    Some(_) => float("cost"),
                    None => id("length"),
                },
                ids("vertex_ids"),
                ids("edge_ids"),
            ],
            Self::PageRank { .. } => vec![id("vertex_id"), float("score")],
            Self::Wcc => vec![id("vertex_id"), id("component")],
            Self::TriangleCount => vec![id("vertex_id"), id("triangles")],
        }
    }

    /// How many relations of ids it takes.
    pub fn inputs(&self) -> usize {
        match self {
            Self::Khop { .. } => 1,
            Self::ShortestPath { .. } => 2,
            _ => 0,
        }
    }
}

/// A function over the edges of a triplet.
#[derive(Debug, Clone)]
pub struct FunctionCall {
    /// The function.
    pub function: Function,
    /// The edges.
    pub edges: Arc<FunctionEdges>,
    /// How they are followed.
    pub way: Way,
}

impl fmt::Display for FunctionCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.edges.source().name();
        write!(f, "{} over {name}", self.function.name())?;
        if !matches!(self.function, Function::Wcc | Function::TriangleCount) {
            write!(f, ", direction={}", self.way.name())?;
        }
        match &self.function {
            Function::Khop { hops } => write!(f, ", hops={hops}"),
            Function::ShortestPath { max_hops, weight } => {
                if let Some(most) = max_hops {
                    write!(f, ", max_hops={most}")?;
                }
                match weight {
                    Some(column) => write!(f, ", weight={}", self.edges.column_name(*column)),
                    None => Ok(()),
                }
            }
            Function::PageRank {
                damping,
                tolerance,
                max_iterations,
            } => write!(
                f,
                ", damping={damping}, tolerance={tolerance:e}, max_iterations={max_iterations}"
            ),
            _ => Ok(()),
        }
    }
}
