//! Counting walks without enumerating them.
//!
//! A pattern is a tree: its vertices are *places*, which the edges of edge triplets join. The number of its matches is found with
//! one number for each vertex of a place, from the leaves to the root:
//!
//! ```text
//! pattern   (a)-[e]->(b)-[f]->(c)                     matches: one row for every walk
//! weight    c: 1 for each vertex
//!           b: w(b) = Σ w(c) over f: b -> c           here the out-degree: offsets alone
//!           a: w(a) = Σ w(b) over e: a -> b           one pass over the adjacency of e
//! count     Σ w(a)                                    O(V + E), however many walks there are
//! ```
//!
//! Conditions on a place multiply its weights by 0 or, where a relation holds an id several times, by how often. This is the
//! message passing of acyclic joins (Yannakakis, VLDB 1981) with counts for messages.

mod exec;
mod pattern;
mod run;
mod source;
mod weights;

pub use exec::CountWalksExec;
pub use pattern::{How, PatternEdge, Place, Seed, Step, WalkOutput, WalkPattern};
pub use source::EdgeSource;
