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
    /// A stream or a model can't be read.
    #[error(transparent)]
    Data(#[from] extremal_data::Error),
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

    /// Whether nobody reads what is written any more.
    pub fn is_closed_pipe(&self) -> bool {
        matches!(self, Self::WriteFile { why, .. } if why.kind() == std::io::ErrorKind::BrokenPipe)
    }

    /// Whether the numbers broke down, rather than the input being wrong.
    pub fn is_numerical(&self) -> bool {
        matches!(
            self,
            Self::Library {
                why: extremal::Error::Numerical { .. },
                ..
            }
        )
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
