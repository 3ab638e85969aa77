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
    /// A file can't be written.
    #[error("can't write {}: {why}", path.display())]
    WriteFile {
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
        /// Which run.
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
    /// The experiment asks for what can't be had.
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
        matches!(self, Self::WriteFile { why, .. } if why.kind() == std::io::ErrorKind::BrokenPipe)
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
