//! A directory that results are written to. Every file appears whole or not at all.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// What the names of files end with that are being written: nobody else's do.
const BEGUN: &str = ".extremal-begun";

/// The folder of finished cells.
pub(crate) const CELLS: &str = "cells";

/// A directory that nobody else runs an experiment in. The system lets go of it when the file is
/// closed, however the program ends.
#[derive(Debug)]
pub struct Claim {
    _lock: fs::File,
}

/// A directory that is there and can be written to.
#[derive(Debug)]
pub struct Output {
    directory: PathBuf,
}

impl Output {
    /// Makes the directory if need be, and tries it at once: better to fail before the runs.
    pub fn open(directory: &Path) -> Result<Self> {
        let failed = |why| Error::Write {
            path: directory.into(),
            why,
        };
        fs::create_dir_all(directory).map_err(failed)?;
        let trial = temporary(&directory.join("trial"));
        fs::write(&trial, b"").map_err(failed)?;
        fs::remove_file(&trial).map_err(failed)?;
        Ok(Self {
            directory: directory.into(),
        })
    }

    /// Keeps other runs out of the directory for as long as the claim lives, and removes what runs
    /// that were killed had begun to write.
    pub fn claim(&self) -> Result<Claim> {
        let cells = self.directory.join(CELLS);
        let path = cells.join("lock");
        let failed = |why| Error::Write {
            path: path.clone(),
            why,
        };
        fs::create_dir_all(&cells).map_err(failed)?;
        let file = fs::File::create(&path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(fs::TryLockError::WouldBlock) => {
                return Err(Error::Usage(format!(
                    "another run goes on in {}; wait for it, or give another --out",
                    self.directory.display()
                )));
            }
            // A file system without locks: nobody is kept out.
            Err(fs::TryLockError::Error(_)) => {}
        }
        for directory in [&self.directory, &cells] {
            for entry in fs::read_dir(directory).map_err(failed)? {
                let entry = entry.map_err(failed)?;
                let name = entry.file_name();
                let regular = entry.file_type().map_err(failed)?.is_file();
                if regular && name.to_string_lossy().ends_with(BEGUN) {
                    fs::remove_file(entry.path()).map_err(failed)?;
                }
            }
        }
        Ok(Claim { _lock: file })
    }

    /// Where it is.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// A file's text, if it is there and can be read.
    pub fn read(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.directory.join(name)).ok()
    }

    /// Writes a file, in the place of one of that name.
    pub fn write(&self, name: &str, content: &str) -> Result<PathBuf> {
        self.put(name, content.as_bytes(), true)
    }

    /// The same for bytes.
    pub fn write_bytes(&self, name: &str, content: &[u8]) -> Result<PathBuf> {
        self.put(name, content, true)
    }

    /// The same for what can be made again, which need not survive a loss of power: there are
    /// thousands of them, and waiting for the disk would take longer than the runs.
    pub fn keep(&self, name: &str, content: &str) -> Result<PathBuf> {
        self.put(name, content.as_bytes(), false)
    }

    fn put(&self, name: &str, content: &[u8], durable: bool) -> Result<PathBuf> {
        let path = self.directory.join(name);
        let failed = |why| Error::Write {
            path: path.clone(),
            why,
        };
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(failed)?;
        }
        let temporary = temporary(&path);
        let write = || {
            let mut file = fs::File::create(&temporary)?;
            file.write_all(content)?;
            if durable {
                file.sync_all()?;
            }
            fs::rename(&temporary, &path)
        };
        write().map_err(|why| {
            // Nothing half-written is left behind; that it can't be removed changes nothing.
            let _ = fs::remove_file(&temporary);
            failed(why)
        })?;
        Ok(path)
    }
}

/// A name of our own beside `path`: two runs into one directory do not meet.
fn temporary(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}{BEGUN}", std::process::id()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claimed_directory_is_tidied_and_kept_from_others() {
        let base = std::env::temp_dir().join(format!("extremal-claim-{}", std::process::id()));
        let out = Output::open(&base).unwrap();
        out.keep("cells/a.json", "1").unwrap();
        for stray in [
            ".trace.csv.1.extremal-begun",
            "cells/.b.json.7.extremal-begun",
        ] {
            fs::write(base.join(stray), "half").unwrap();
        }
        fs::write(base.join(".notes.2024"), "kept").unwrap();
        fs::create_dir(base.join(".x.extremal-begun")).unwrap();
        let claim = out.claim().unwrap();
        assert!(!base.join(".trace.csv.1.extremal-begun").exists());
        assert!(!base.join("cells/.b.json.7.extremal-begun").exists());
        assert!(base.join(".notes.2024").exists() && base.join("cells/a.json").exists());
        let error = out.claim().unwrap_err().to_string();
        assert!(error.contains("another run goes on"), "{error}");
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
        // a directory stands where the file should go
        let error = out.write("figures", "x").unwrap_err().to_string();
        assert!(error.contains("figures"), "{error}");
        assert_eq!(fs::read_dir(base.join("new")).unwrap().count(), 2);
        let file = base.join("new/a.txt/below");
        assert!(
            Output::open(&file)
                .unwrap_err()
                .to_string()
                .contains("can't write")
        );
        fs::remove_dir_all(&base).unwrap();
    }
}
