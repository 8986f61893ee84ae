//! Scalar functions on what graph tables hold.

mod has_label;

pub use has_label::has_label;
