//! Learning from a stream of examples: one pass, resumable, with its regret certified.

mod certified;
mod check;
mod classes;
mod hindsight;
mod inspect;
mod plan;
mod predict;
mod progress;
mod report;
mod run;
mod saved;
mod score;
mod session;
mod sink;
mod source;

pub use inspect::{inspect, weights};
pub use plan::{Asked, Link, Plan, Signs};
pub use predict::{PredictOptions, predict};
pub use progress::Every;
pub use run::{End, Host, LearnOptions, Progress, learn};
pub use saved::{Saved, save};
pub use session::{Counters, Proven, Round, Session};

use std::path::Path;

use extremal_data::Example;

use crate::error::{Error, Result};

fn cant_write(path: &Path, why: std::io::Error) -> Error {
    Error::WriteFile {
        path: path.into(),
        why,
    }
}

/// The library's error on an example, with its place.
fn at_line(error: extremal::Error, file: &str, example: &Example<'_>) -> Error {
    let text = match &error {
        extremal::Error::Label { label, .. } => format!("{label}"),
        extremal::Error::Index { index, .. } => format!("feature {index} (from 0)"),
        extremal::Error::Memory { .. } => {
            let last = example.indices.last().copied().unwrap_or(0);
            format!("feature {last} (from 0)")
        }
        _ => format!("{} features", example.indices.len()),
    };
    match error {
        why if why.is_numerical() => Error::Library {
            context: format!("{file}:{}", example.line),
            why,
        },
        error => Error::from(extremal_data::Error::Parse {
            file: file.into(),
            line: example.line,
            what: error.to_string(),
            text,
        }),
    }
}

/// A prediction that can be used, or an error with its place.
fn finite(prediction: f64, file: &str, example: &Example<'_>) -> Result<f64> {
    if prediction.is_finite() {
        return Ok(prediction);
    }
    Err(Error::NotFinite {
        place: format!("{file}:{}", example.line),
        what: format!("the prediction is not finite: {prediction}"),
    })
}

/// What a data file is called in messages.
fn name_of(path: Option<&Path>) -> String {
    match path {
        Some(path) => path.display().to_string(),
        None => "-".into(),
    }
}
