//! Experiments with projection-free learners: runs for several horizons and seeds, tables, and a
//! report as an HTML page.

pub mod cite;
mod comparator;
pub mod demo;
mod error;
pub mod experiment;
pub mod exponent;
pub mod format;
pub mod list;
pub mod output;
pub mod picture;
pub mod remarks;
pub mod report;
pub mod results;
pub mod rows;
mod summary;
pub mod surrogate;
pub mod table;
mod view;

pub use error::{Error, Result};
