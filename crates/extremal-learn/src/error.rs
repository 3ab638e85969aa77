use std::path::{Path, PathBuf};

use extremal_data::Example;

/// What went wrong in a run over a stream.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The library refused, or its numbers broke down.
    #[error("{context}: {why}")]
    Library {
        /// Where.
        context: String,
        /// The library's words.
        why: extremal::Error,
    },
    /// A file can't be written.
    #[error("can't write {}: {why}", path.display())]
    Write {
        /// Which.
        path: PathBuf,
        /// The system's words.
        why: std::io::Error,
    },
    /// A stream or a model can't be read.
    #[error(transparent)]
    Data(#[from] extremal_data::Error),
    /// A number that is not finite came out.
    #[error("{place}: {what}")]
    NotFinite {
        /// The file and the line.
        place: String,
        /// Which number.
        what: String,
    },
    /// Numbers that can't all be true: a defect of the program.
    #[error("internal error: {place}: {what}. This is a defect of the program: please report it")]
    Contradiction {
        /// Where.
        place: String,
        /// Which numbers.
        what: String,
    },
    /// Something went wrong, and then something else on the way out.
    #[error("{first}\nerror: {then}")]
    Both {
        /// What ended the run.
        first: Box<Error>,
        /// What happened after.
        then: Box<Error>,
    },
    /// What was asked for contradicts itself, or can't be had.
    #[error("{0}")]
    Usage(String),
    /// What was asked for can't be had here.
    #[error("{0}")]
    Unsupported(String),
}

impl Error {
    /// Whether it is the call that is wrong, rather than the input.
    pub fn is_usage(&self) -> bool {
        match self {
            Self::Usage(_) => true,
            Self::Both { first, .. } => first.is_usage(),
            _ => false,
        }
    }

    /// Whether nobody reads what is written any more.
    pub fn is_closed_pipe(&self) -> bool {
        matches!(self, Self::Write { why, .. } if why.kind() == std::io::ErrorKind::BrokenPipe)
    }

    /// Whether the numbers broke down, rather than the input being wrong.
    pub fn is_numerical(&self) -> bool {
        match self {
            Self::Library { why, .. } => why.is_numerical(),
            Self::NotFinite { .. } | Self::Contradiction { .. } => true,
            Self::Both { first, .. } => first.is_numerical(),
            _ => false,
        }
    }

    /// This one, then another.
    pub(crate) fn then(self, then: Self) -> Self {
        Self::Both {
            first: Box::new(self),
            then: Box::new(then),
        }
    }
}

/// The result of learning.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A file that can't be written.
pub(crate) fn cant_write(path: &Path, why: std::io::Error) -> Error {
    Error::Write {
        path: path.into(),
        why,
    }
}

/// The library's error on an example, with its place.
pub(crate) fn at_line(error: extremal::Error, file: &str, example: &Example<'_>) -> Error {
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
pub(crate) fn finite(prediction: f64, file: &str, example: &Example<'_>) -> Result<f64> {
    if prediction.is_finite() {
        return Ok(prediction);
    }
    Err(Error::NotFinite {
        place: format!("{file}:{}", example.line),
        what: format!("the prediction is not finite: {prediction}"),
    })
}

/// What the library refuses of what was asked for.
pub(crate) fn usage(error: extremal::Error) -> Error {
    Error::Usage(error.to_string())
}
