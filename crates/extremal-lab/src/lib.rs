//! Experiments with projection-free learners: runs over horizons and seeds, tables and reports.

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
