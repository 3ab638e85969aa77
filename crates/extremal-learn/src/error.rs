//! Errors of a run over a stream.

use extremal_data::Example;

/// An error of a run over a stream.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The library returned an error.
    #[error("{place}: {why}")]
    Library {
        /// The computation, or the file and the line.
        place: String,
        /// The library's error.
        why: extremal::Error,
    },
    /// A file can't be read or written, or its content is invalid.
    #[error(transparent)]
    Data(#[from] extremal_data::Error),
    /// A number is not finite, or two numbers contradict each other.
    #[error("{place}: {what}")]
    Numerical {
        /// The computation, or the file and the line.
        place: String,
        /// The number and what is wrong with it.
        what: String,
    },
    /// A second error occurred while the run was ending because of the first.
    #[error("{first}\nerror: {then}")]
    Both {
        /// The error that ended the run.
        first: Box<Error>,
        /// The second error.
        then: Box<Error>,
    },
    /// The options contradict each other or the model.
    #[error("{0}")]
    Usage(String),
}

/// A result with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// The error that ended the run.
    fn first(&self) -> &Self {
        match self {
            Self::Both { first, .. } => first.first(),
            other => other,
        }
    }

    /// Whether the options are wrong, not the input.
    pub fn is_usage(&self) -> bool {
        matches!(self.first(), Self::Usage(_))
    }

    /// Whether the reader of an output has closed the pipe.
    pub fn is_closed_pipe(&self) -> bool {
        let broken = std::io::ErrorKind::BrokenPipe;
        matches!(self, Self::Data(extremal_data::Error::File { source, .. }) if source.kind() == broken)
    }

    /// Whether a computation failed, not the input.
    pub fn is_numerical(&self) -> bool {
        match self.first() {
            Self::Library { why, .. } => why.is_numerical(),
            other => matches!(other, Self::Numerical { .. }),
        }
    }

    /// A function that adds the place to an error of the library.
    pub(crate) fn library(place: &str) -> impl Fn(extremal::Error) -> Self {
        move |why| Self::Library {
            place: place.into(),
            why,
        }
    }

    /// An error about the content of a file.
    pub(crate) fn content(file: &str, what: impl Into<String>) -> Self {
        extremal_data::Error::content(file, what).into()
    }

    /// The error if a component in the options can't be built.
    pub(crate) fn options(why: extremal::Error) -> Self {
        Self::Usage(why.to_string())
    }

    /// Adds the file and the line to an error about an example.
    pub(crate) fn at_line(why: extremal::Error, file: &str, example: &Example<'_>) -> Self {
        if why.is_numerical() {
            return Self::library(&format!("{file}:{}", example.line))(why);
        }
        let last = example.indices.last().copied().unwrap_or(0);
        let text = match &why {
            extremal::Error::Label { label, .. } => label.to_string(),
            extremal::Error::Index { index, .. } => format!("feature {index} (from 0)"),
            extremal::Error::Memory { .. } => format!("feature {last} (from 0)"),
            _ => format!("{} features", example.indices.len()),
        };
        let what = match &why {
            extremal::Error::Memory { .. } => {
                format!("{why}. Use --max-memory to allow more, or --bits to hash the features")
            }
            _ => why.to_string(),
        };
        Self::from(extremal_data::Error::Parse {
            file: file.into(),
            line: example.line,
            what,
            text,
        })
    }
}

/// Checks that a prediction or its loss is finite.
pub(crate) fn finite(name: &str, value: f64, file: &str, example: &Example<'_>) -> Result<f64> {
    if value.is_finite() {
        return Ok(value);
    }
    Err(Error::Numerical {
        place: format!("{file}:{}", example.line),
        what: format!("the {name} is not finite: {value}"),
    })
}
