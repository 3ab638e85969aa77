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
