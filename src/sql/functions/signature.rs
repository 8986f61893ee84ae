//! The functions and their arguments.

use datafusion::common::plan_err;
use datafusion::error::Result;

/// A function as it is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Signature {
    /// Its name.
    pub name: &'static str,
    /// Arguments that have to be there, then others, in the order of their positions.
    pub required: &'static [&'static str],
    /// Arguments that can be left out.
    pub optional: &'static [&'static str],
}

/// All of them.
pub const SIGNATURES: [Signature; 9] = [
    Signature {
        name: "neighbors",
        required: &["graph", "edge", "start"],
        optional: &["direction"],
    },
    Signature {
        name: "expand",
        required: &["graph", "edge", "input", "on"],
        optional: &["direction"],
    },
    Signature {
        name: "degree",
        required: &["graph", "edge"],
        optional: &["direction"],
    },
    Signature {
        name: "csr",
        required: &["graph", "edge"],
        optional: &["direction"],
    },
    Signature {
        name: "khop",
        required: &["graph", "edge", "start", "hops"],
        optional: &["direction"],
    },
    Signature {
        name: "shortest_path",
        required: &["graph", "edge", "source", "target"],
        optional: &["direction", "max_hops", "weight"],
    },
    Signature {
        name: "pagerank",
        required: &["graph", "edge"],
        optional: &["direction", "damping", "tolerance", "max_iterations"],
    },
    Signature {
        name: "wcc",
        required: &["graph", "edge"],
        optional: &[],
    },
    Signature {
        name: "triangle_count",
        required: &["graph", "edge"],
        optional: &[],
    },
];

impl Signature {
    /// The function of this name, in any case.
    pub fn of(name: &str) -> Option<Self> {
        SIGNATURES
            .into_iter()
            .find(|signature| signature.name.eq_ignore_ascii_case(name))
    }

    /// All arguments, by position.
    pub fn arguments(&self) -> impl Iterator<Item = &'static str> {
        self.required.iter().chain(self.optional).copied()
    }

    /// How it is called, for messages: `khop(graph, edge, start, hops [, direction])`.
    pub fn usage(&self) -> String {
        let required = self.required.join(", ");
        let optional: String = self
            .optional
            .iter()
            .map(|name| format!(" [, {name}]"))
            .collect();
        format!("{}({required}{optional})", self.name)
    }

    /// The argument of this name.
    ///
    /// # Errors
    /// If there is none.
    pub fn argument(&self, name: &str) -> Result<&'static str> {
        let mut known = self.arguments();
        match known.find(|known| known.eq_ignore_ascii_case(name)) {
            Some(known) => Ok(known),
            None => plan_err!(
                "{} has no argument '{name}'; it is called as {}",
                self.name,
                self.usage()
            ),
        }
    }
}
