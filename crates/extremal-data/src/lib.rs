//! Streams of examples from files and pipes, and model files.
//!
//! A [`Reader`] returns examples in a [`Batch`] whose memory it reuses. Every example stores its
//! line number, and every error has the form `FILE:LINE: what is wrong: the offending text`.
//!
//! The reader supports the formats [`libsvm`], [`vw`], [`table`] (CSV and TSV) and [`jsonl`]. The
//! options may name the format. If they do not, the reader uses the extension of the file's name:
//! `.svm`, `.libsvm`, `.svmlight`, `.vw`, `.csv`, `.tsv`, `.tab`, `.jsonl`, `.ndjson` or `.json`. The
//! extension of an archive may follow it: `.gz`, `.bz2`, `.zst`, `.xz` or `.zip`. If the extension is
//! unknown, the first line with more than one item decides, whatever its label and its values are. If
//! no format accepts this line, the error is that of the nearest format. The reader recognises
//! archives by their first bytes, not by their name.
//!
//! In all formats, values, labels and weights are finite, weights are at least 0, indices are below
//! 2^32 − 1, and a line has at most 16 MiB. Everything else is an error; the reader never replaces
//! invalid input by a number.

mod archive;
mod array;
mod atomic;
mod batch;
mod buffer;
mod columns;
mod dates;
mod detect;
mod error;
mod escape;
mod fields;
mod hash;
pub mod jsonl;
mod kinds;
mod labels;
pub mod libsvm;
mod missing;
pub mod model;
mod names;
mod number;
mod options;
mod parse;
mod patient;
mod reader;
mod reading;
mod records;
mod row;
pub mod table;
pub mod vw;
mod zip;

pub use atomic::{canonical, check_writable, replace};
pub use batch::{Batch, Example};
pub use columns::{Column, Holds, describe};
pub use error::{Error, Result};
pub use labels::{LabelFacts, Labels};
pub use model::{ModelFile, Section};
pub use names::Features;
pub use options::{Delimiter, Format, OnError, ReadOptions};
pub use reader::{Facts, Next, Reader};
