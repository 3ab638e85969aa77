use std::path::PathBuf;

/// An error of an experiment or its files.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An error of the library.
    #[error("{context}: {why}")]
    Library {
        /// The run.
        context: String,
        /// The library's error.
        why: extremal::Error,
    },
    /// A file or directory that can't be written.
    #[error("can't write {}: {why}; give a directory that can be written to", path.display())]
    Write {
        /// The path.
        path: PathBuf,
        /// The system's error.
        why: std::io::Error,
    },
    /// An invalid line of an experiment's file.
    #[error("{}:{line}: {what}", path.display())]
    Experiment {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
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
    /// A file of an experiment that can't be read.
    #[error("can't read {}: {why}", path.display())]
    Read {
        /// The path.
        path: PathBuf,
        /// The reason.
        why: String,
    },
    /// An error in the examples.
    #[error(transparent)]
    Data(#[from] extremal_data::Error),
    /// Numbers that contradict each other: a defect of the program.
    #[error("internal error: {place}: {what}. This is a defect of the program: please report it")]
    Contradiction {
        /// The run.
        place: String,
        /// The numbers.
        what: String,
    },
    /// An invalid call, such as contradictory arguments.
    #[error("{0}")]
    Usage(String),
    /// The caller stopped the experiment.
    #[error("stopped")]
    Stopped,
    /// Something that the program can't do.
    #[error("{0}")]
    Unsupported(String),
}

impl Error {
    /// Whether the call is wrong, rather than the input.
    pub fn is_usage(&self) -> bool {
        matches!(self, Self::Usage(_))
    }

    /// Whether the computation failed, rather than the input being wrong.
    pub fn is_numerical(&self) -> bool {
        match self {
            Self::Library { why, .. } => why.is_numerical(),
            Self::Contradiction { .. } => true,
            _ => false,
        }
    }
}

/// The lab's result.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Adds the place to a library error.
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
