//! [Apache GraphAr](https://graphar.apache.org) graph archives as tables of
//! [Apache DataFusion](https://datafusion.apache.org).
//!
//! ```
//! use std::sync::Arc;
//!
//! use datafusion::prelude::SessionContext;
//! use datafusion_graphar::sample::write_sample;
//! use datafusion_graphar::session::SessionContextExt;
//! use object_store::memory::InMemory;
//! use object_store::path::Path;
//!
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // The built-in sample, in memory; a path such as "data/social.graph.yml" does as well.
//! let store = Arc::new(InMemory::new());
//! write_sample(Arc::<InMemory>::clone(&store), Path::from("modern")).await?;
//! let ctx = SessionContext::new();
//! ctx.register_object_store(&url::Url::parse("memory://sample")?, store);
//!
//! ctx.register_graph("g", "memory://sample/modern/modern.graph.yml").await?;
//! let rows = ctx.sql("SELECT name FROM g.person WHERE age > 30").await?.count().await?;
//! assert_eq!(rows, 2);
//! # Ok(())
//! # }
//! ```
//!
//! * [`session`] holds the two traits that most programs need.
//! * [`table`] has the providers, [`physical`] the scan, [`storage`] and [`format`](mod@format) what is below them.
//! * [`check`] looks for what is wrong in an archive.
//! * [`graph`] answers questions about single vertices below SQL, and holds adjacency in memory.
//! * [`optimizer`], [`logical`] and [`planner`] turn joins along edges into operators of their own.
//! * [`writer`] writes archives from rows in memory.

pub mod check;
#[cfg(feature = "cli")]
pub mod cli;
pub mod config;
pub mod error;
pub mod format;
pub mod graph;
pub mod logical;
pub mod optimizer;
pub mod physical;
pub mod planner;
pub mod sample;
pub mod session;
pub mod sql;
pub mod storage;
pub mod synthetic;
pub mod table;
pub mod writer;
