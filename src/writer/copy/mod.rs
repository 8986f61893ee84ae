//! `COPY … TO '….graph.yml' STORED AS GRAPHAR`.

mod adapt;
mod element;
mod format;
mod options;
mod sink;
mod unread;

pub use adapt::{Adapter, property_of};
pub use format::GraphArFormatFactory;
pub use sink::GraphArSink;
