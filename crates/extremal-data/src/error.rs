//! What can be wrong with a file.

use std::path::PathBuf;

/// What can be wrong with a file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A line that can't be read.
    #[error("{file}:{line}: {what}: {text}")]
    Parse {
        /// The file as the user named it, `-` for standard input.
        file: String,
        /// From 1.
        line: u64,
        /// What is wrong.
        what: String,
        /// The offending text.
        text: String,
    },
    /// A file that can't be opened, read or written.
    #[error("{}: {what}: {source}", .path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// What was being done.
        what: &'static str,
        /// Why not.
        source: std::io::Error,
    },
    /// A file whose content is not what it should be.
    #[error("{file}: {what}")]
    Content {
        /// The file as the user named it.
        file: String,
        /// What is wrong, and what to do.
        what: String,
    },
}

/// With this crate's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;
