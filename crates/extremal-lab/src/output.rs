//! The directory of an experiment's results. Each file of results is either complete or absent.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// The folder of the finished runs.
pub(crate) const CELLS: &str = "cells";

/// The text of errors about files that can't be written.
const UNWRITABLE: &str = "can't be written";

/// A lock on a directory, so that no other experiment runs in it. The operating system releases the
/// lock when the program ends, even after a crash.
#[derive(Debug)]
pub struct Claim {
    _lock: fs::File,
}

/// A directory to which the program can write files. [`Output::open`] checks this.
#[derive(Debug)]
pub struct Output {
    directory: PathBuf,
}

impl Output {
    /// Creates the directory if it does not exist, and checks that files can be written to it, so
    /// that an error is found before the first run.
    pub fn open(directory: &Path) -> Result<Self> {
        fs::create_dir_all(directory).map_err(Error::file(directory, UNWRITABLE))?;
        extremal_data::check_writable(&directory.join("trial")).map_err(unwritable(directory))?;
        Ok(Self {
            directory: directory.into(),
        })
    }

    /// Locks the directory until the claim is dropped.
    pub fn claim(&self) -> Result<Claim> {
        let cells = self.directory.join(CELLS);
        let path = cells.join("lock");
        fs::create_dir_all(&cells).map_err(Error::file(&path, UNWRITABLE))?;
        let file = fs::File::create(&path).map_err(Error::file(&path, UNWRITABLE))?;
        match file.try_lock() {
            Err(fs::TryLockError::WouldBlock) => Err(Error::Usage(format!(
                "another experiment is running in {}; wait until it ends, or choose a different directory with --out",
                self.directory.display()
            ))),
            // Some file systems have no locks. There, nothing keeps other experiments out.
            Ok(()) | Err(fs::TryLockError::Error(_)) => Ok(Claim { _lock: file }),
        }
    }

    /// The path of the directory.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The text of a file; `None` if it can't be read.
    pub fn read(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.directory.join(name)).ok()
    }

    /// Writes or replaces a file.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> Result<PathBuf> {
        let path = self.prepare(name)?;
        extremal_data::replace(&path, |file| file.write_all(content.as_ref()))
            .map_err(unwritable(&path))?;
        Ok(path)
    }

    /// Writes a file whose content can be computed again if the file is damaged. The file is written
    /// without a temporary file and without syncing. There may be thousands of such files, and waiting
    /// for the disk would take longer than the runs.
    pub fn cache(&self, name: &str, content: &str) -> Result<()> {
        let path = self.prepare(name)?;
        fs::write(&path, content).map_err(Error::file(&path, UNWRITABLE))
    }

    /// The path of a file. Its folder is created if it does not exist.
    fn prepare(&self, name: &str) -> Result<PathBuf> {
        let path = self.directory.join(name);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(Error::file(&path, UNWRITABLE))?;
        }
        Ok(path)
    }
}

/// Turns an error about a temporary file into an error about `path`.
fn unwritable(path: &Path) -> impl Fn(extremal_data::Error) -> Error {
    move |why| match why {
        extremal_data::Error::File { source, .. } => Error::file(path, UNWRITABLE)(source),
        why => why.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claimed_directory_is_kept_from_others() {
        let base = std::env::temp_dir().join(format!("extremal-claim-{}", std::process::id()));
        let out = Output::open(&base).unwrap();
        let claim = out.claim().unwrap();
        let error = out.claim().unwrap_err().to_string();
        assert!(error.contains("another experiment is running"), "{error}");
        drop(claim);
        out.claim().unwrap();
        fs::remove_dir_all(&base).unwrap();
    }

    #[test]
    fn files_are_replaced_whole_and_nothing_else_is_left() {
        let base = std::env::temp_dir().join(format!("extremal-output-{}", std::process::id()));
        let out = Output::open(&base.join("new")).unwrap();
        out.write("a.txt", "a long first text").unwrap();
        out.write("a.txt", "short").unwrap();
        out.write("figures/b.svg", "<svg/>").unwrap();
        assert_eq!(fs::read_to_string(base.join("new/a.txt")).unwrap(), "short");
        assert_eq!(fs::read_dir(base.join("new")).unwrap().count(), 2);
        // a killed run left its temporary file
        let stray = base.join("new/.a.txt.1-2.extremal-tmp");
        fs::write(&stray, "half").unwrap();
        out.write("a.txt", "short").unwrap();
        assert!(!stray.exists());
        // a directory stands where the file should go
        let error = out.write("figures", "x").unwrap_err().to_string();
        assert!(error.contains("figures"), "{error}");
        assert_eq!(fs::read_dir(base.join("new")).unwrap().count(), 2);
        let file = base.join("new/a.txt/below");
        assert!(
            Output::open(&file)
                .unwrap_err()
                .to_string()
                .contains("can't be written")
        );
        fs::remove_dir_all(&base).unwrap();
    }
}
