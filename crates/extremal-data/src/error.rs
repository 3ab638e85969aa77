//! Errors about files.

use std::path::PathBuf;

/// An error about a file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A line is invalid.
    #[error("{file}:{line}: {what}: {text}")]
    Parse {
        /// The name of the file as given by the user, `-` for standard input.
        file: String,
        /// The number of the line, from 1.
        line: u64,
        /// The problem.
        what: String,
        /// The offending text.
        text: String,
    },
    /// A file can't be opened, read or written.
    #[error("{}: {what}: {source}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The operation that failed.
        what: &'static str,
        /// The reason.
        source: std::io::Error,
    },
    /// The content of a file is invalid.
    #[error("{file}: {what}")]
    Content {
        /// The name of the file as given by the user.
        file: String,
        /// The problem, and how to solve it.
        what: String,
    },
}

impl Error {
    /// Turns an error of the operating system into an [`Error::File`].
    pub fn file(
        path: impl Into<PathBuf> + Clone,
        what: &'static str,
    ) -> impl Fn(std::io::Error) -> Error {
        move |source| Error::File {
            path: path.clone().into(),
            what,
            source,
        }
    }

    /// An [`Error::Content`].
    pub fn content(file: &str, what: impl Into<String>) -> Error {
        Error::Content {
            file: file.into(),
            what: what.into(),
        }
    }
}

/// A result with this crate's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;
