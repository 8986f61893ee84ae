//! Suites that compare GraphAr's testing data with reference values read by other software.
//!
//! The reference values are one JSON object; its keys are the paths of the `*.graph.yml` files
//! below the data's root. [`suite`] turns one of them into a suite, in which every number comes
//! from the reference values and none from our own engine.

mod edge;
mod model;
mod property;
#[cfg(test)]
mod tests;
mod text;
mod vertex;

use std::collections::BTreeMap;

pub use model::{Edge, Graph, Vertex};

use text::Suite;

/// Reference values that a suite cannot be written from.
#[derive(Debug, thiserror::Error)]
#[error("{element}: {problem}")]
pub struct SuiteError {
    element: String,
    problem: String,
}

impl SuiteError {
    fn new(element: &str, problem: String) -> Self {
        Self {
            element: element.to_owned(),
            problem,
        }
    }
}

/// Reads the reference values of all graphs.
pub fn parse(json: &str) -> Result<BTreeMap<String, Graph>, serde_json::Error> {
    serde_json::from_str(json)
}

/// The file name of the suite for the graph at this path.
pub fn file_name(path: &str) -> String {
    let path = path.strip_suffix(".graph.yml").unwrap_or(path);
    format!("{}.slt", path.replace('/', "-"))
}

/// The suite for the graph at this path.
pub fn suite(path: &str, graph: &Graph) -> Result<String, SuiteError> {
    let mut suite = Suite::default();
    suite.comment(&format!(
        "{path} of GraphAr's testing data against reference values.\n\
         Written by upstream-suites; do not edit."
    ));
    suite.statement(&format!(
        "CREATE EXTERNAL TABLE g STORED AS GRAPHAR\nLOCATION '${{GAR_TEST_DATA}}/{path}'"
    ));
    suite.comment("The listing has one row for each vertex type and each edge triplet.");
    let elements = graph.vertices.len() + graph.edges.len();
    suite.query("I", "SELECT count(*) FROM g", &[vec![elements.to_string()]]);
    for (name, vertex) in &graph.vertices {
        vertex::write(&mut suite, name, vertex)?;
    }
    for edge in graph.edges.values() {
        edge::write(&mut suite, edge)?;
    }
    suite.statement("DROP TABLE g");
    Ok(suite.finish())
}
