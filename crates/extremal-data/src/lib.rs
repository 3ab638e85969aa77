//! Streams of examples from files and pipes, and model files.
//!
//! Examples come in a [`Batch`] whose memory is used again and again; every one knows the line it
//! was read from, and every error says `FILE:LINE: what is wrong: the offending text`.
//!
//! A [`Reader`] reads any of the formats: [`libsvm`], [`vw`], [`table`] (CSV and TSV) and [`jsonl`].
//! Which one it is comes from the options; otherwise from the ending of the name (`.svm`,
//! `.libsvm`, `.svmlight`, `.vw`, `.csv`, `.tsv`, `.tab`, `.jsonl`, `.ndjson`, before `.gz`,
//! `.bz2`, `.zst` or `.xz`); otherwise from the first line, if only one fits. Archives are known by
//! their first bytes, whatever their name.
//!
//! In all formats values, labels and weights are finite, weights are at least 0, indices are below
//! 2^32 − 1, and a line has at most 16 MiB. Anything else is an error, and never turned into
//! a number.

mod archive;
mod atomic;
mod batch;
mod buffer;
mod columns;
mod detect;
mod error;
mod escape;
mod hash;
pub mod jsonl;
pub mod libsvm;
pub mod model;
mod number;
mod options;
mod parse;
mod reader;
mod row;
pub mod table;
pub mod vw;

pub use atomic::check_writable;
pub use batch::{Batch, Example};
pub use columns::{Column, Holds};
pub use error::{Error, Result};
pub use model::{ModelFile, Section};
pub use options::{Format, Labels, OnError, ReadOptions};
pub use reader::{Next, Reader};
