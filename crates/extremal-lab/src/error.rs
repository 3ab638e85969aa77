use std::path::PathBuf;

/// What went wrong in an experiment.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The library refused, or its numbers broke down.
    #[error("{context}: {why}")]
    Library {
        /// Which run.
        context: String,
        /// The library's words.
        why: extremal::Error,
    },
    /// A file or directory can't be written.
    #[error("can't write {}: {why}; give a directory that can be written to", path.display())]
    Write {
        /// Which.
        path: PathBuf,
        /// The system's words.
        why: std::io::Error,
    },
    /// An experiment says what can't be.
    #[error("{}:{line}: {what}", path.display())]
    Experiment {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong, and what is allowed.
        what: String,
    },
    /// An experiment has no problem, or no learner.
    #[error("{}:1: {what}", path.display())]
    NoTable {
        /// The file.
        path: PathBuf,
        /// What is missing, and how to write it.
        what: &'static str,
    },
    /// A file of an experiment can't be read.
    #[error("can't read {}: {why}", path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// Examples can't be read.
    #[error(transparent)]
    Data(#[from] extremal_data::Error),
    /// Numbers that can't all be true: a defect of the program.
    #[error("internal error: {place}: {what}. This is a defect of the program: please report it")]
    Contradiction {
        /// Which run.
        place: String,
        /// Which numbers.
        what: String,
    },
    /// What was asked for contradicts itself, or can't be had.
    #[error("{0}")]
    Usage(String),
    /// The experiment asks for what can't be had.
    #[error("{0}")]
    Unsupported(String),
}

impl Error {
    /// Whether it is the call that is wrong, rather than the input.
    pub fn is_usage(&self) -> bool {
        matches!(self, Self::Usage(_))
    }

    /// Whether the numbers broke down, rather than the input being wrong.
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

/// Says where a library error happened.
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
