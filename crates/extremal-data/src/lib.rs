//! Streams of examples from files and pipes, and model files.
//!
//! Examples come in a [`Batch`] whose memory is used again and again; every one knows the line it
//! was read from, and every error says `FILE:LINE: what is wrong: the offending text`.

mod atomic;
mod batch;
mod error;
mod escape;
pub mod model;

pub use batch::{Batch, Example};
pub use error::{Error, Result};
pub use model::{ModelFile, Section};
