//! Streams of examples from files and pipes, and model files.
//!
//! Examples come in a [`Batch`] whose memory is used again and again; every one knows the line it
//! was read from, and every error says `FILE:LINE: what is wrong: the offending text`.
//!
//! A [`Reader`] reads any of the formats: [`libsvm`], [`vw`], [`table`] (CSV and TSV) and [`jsonl`],
//! packed or not.

mod archive;
mod batch;
mod buffer;
mod detect;
mod error;
mod hash;
mod json;
pub mod jsonl;
pub mod libsvm;
mod number;
mod options;
mod parse;
mod reader;
mod row;
pub mod table;
pub mod vw;

pub use batch::{Batch, Example};
pub use error::{Error, Result};
pub use options::{Format, Labels, OnError, ReadOptions};
pub use reader::Reader;
