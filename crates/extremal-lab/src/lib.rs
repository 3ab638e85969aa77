//! Experiments with projection-free learners: runs over horizons and seeds, tables and reports.

pub mod cite;
mod comparator;
pub mod csv;
pub mod demo;
mod error;
pub mod experiment;
pub mod fit;
pub mod format;
pub mod learn;
pub mod list;
pub mod output;
pub mod problem;
pub mod report;
pub mod results;
pub mod run;
pub mod summary;
pub mod table;

pub use error::{Error, Result};
