//! The lab's errors.

use std::io;
use std::path::{Path, PathBuf};

/// An error of an experiment or its files.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An error of the library.
    #[error("{context}: {why}")]
    Library {
        /// The run or the problem in which the error occurred.
        context: String,
        /// The library's error.
        why: extremal::Error,
    },
    /// An invalid line of an experiment's file.
    #[error("{}:{line}: {what}", path.display())]
    Experiment {
        /// The file.
        path: PathBuf,
        /// The line number, counted from 1.
        line: usize,
        /// What is wrong, and what is allowed.
        what: String,
    },
    /// An experiment without problems or learners.
    #[error("{}:1: {what}", path.display())]
    NoTable {
        /// The file.
        path: PathBuf,
        /// What is missing, and how to write it.
        what: &'static str,
    },
    /// An error in a file, or in the examples of a file.
    #[error(transparent)]
    Data(#[from] extremal_data::Error),
    /// Computed numbers contradict each other, which is a defect of the program.
    #[error("internal error: {place}: {what}. This is a defect of the program: please report it")]
    Contradiction {
        /// The run.
        place: String,
        /// The numbers that contradict each other.
        what: String,
    },
    /// An invalid call, such as contradictory arguments.
    #[error("{0}")]
    Usage(String),
    /// The caller stopped the experiment.
    #[error("stopped")]
    Stopped,
    /// A request that the program does not support.
    #[error("{0}")]
    Unsupported(String),
}

impl Error {
    /// Turns an error of the operating system into an error about a file. `what` describes the failure,
    /// such as `can't be read`.
    pub fn file(path: &Path, what: &'static str) -> impl Fn(io::Error) -> Self {
        let error = extremal_data::Error::file(path, what);
        move |why| error(why).into()
    }

    /// Whether the arguments are wrong, rather than the content of a file.
    pub fn is_usage(&self) -> bool {
        matches!(self, Self::Usage(_))
    }

    /// Whether a computation failed although the input is valid.
    pub fn is_numerical(&self) -> bool {
        match self {
            Self::Library { why, .. } => why.is_numerical(),
            Self::Contradiction { .. } => true,
            _ => false,
        }
    }
}

/// A result with this crate's [`enum@Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Adds the run or the problem to an error of the library.
pub(crate) trait Context<T> {
    fn context(self, context: impl FnOnce() -> String) -> Result<T>;
}

impl<T> Context<T> for extremal::Result<T> {
    fn context(self, context: impl FnOnce() -> String) -> Result<T> {
        self.map_err(|why| Error::Library {
            context: context(),
            why,
        })
    }
}
