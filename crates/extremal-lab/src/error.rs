use std::path::PathBuf;

/// What went wrong in an experiment.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The library refused, or its numbers broke down.
    #[error("{context}: {source}")]
    Library {
        /// Which run.
        context: String,
        /// The library's words.
        source: extremal::Error,
    },
    /// A file or directory can't be written.
    #[error("can't write {}: {source}; choose another directory with --out", path.display())]
    Write {
        /// Which.
        path: PathBuf,
        /// The system's words.
        source: std::io::Error,
    },
    /// The experiment asks for what can't be had.
    #[error("{0}")]
    Unsupported(String),
}

impl Error {
    /// Whether the numbers broke down, rather than the input being wrong.
    pub fn is_numerical(&self) -> bool {
        matches!(
            self,
            Self::Library {
                source: extremal::Error::Numerical { .. },
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
        self.map_err(|source| Error::Library {
            context: context(),
            source,
        })
    }
}
