//! Replacing a file, whole or not at all.

use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::{Error, Result};

/// How temporary files end.
const SUFFIX: &str = ".extremal-tmp";

/// More links in a row lead nowhere.
const MOST_LINKS: usize = 40;

/// So often is begun anew where another process took away the temporary file.
const ATTEMPTS: usize = 5;

/// Puts what `write` writes in place of a file: into a temporary file beside it, synced, renamed.
/// On an error the file is as it was, and the temporary one gone.
pub(crate) fn replace(path: &Path, write: impl Fn(&mut File) -> io::Result<()>) -> Result<()> {
    let place = Place::of(path)?;
    let (target, folder) = match &place {
        Place::Special(target) => {
            let mut file = open(path, target)?;
            return write(&mut file).map_err(failed(path, "writing the model"));
        }
        Place::File { target, .. } => (target, place.folder()),
    };
    for attempt in 1.. {
        let mut temporary = place.temporary(path)?;
        let written = write(&mut temporary.file).and_then(|()| temporary.file.sync_all());
        written.map_err(failed(
            path,
            "writing the model to a temporary file beside it",
        ))?;
        match temporary.rename(target) {
            // Removed as a left-over between its making and its locking.
            Err(e) if e.kind() == ErrorKind::NotFound && attempt < ATTEMPTS => {}
            renamed => {
                renamed.map_err(failed(path, "renaming the temporary file to it"))?;
                break;
            }
        }
    }
    sync_folder(folder).map_err(failed(path, "syncing its folder"))
}

/// Errors where a model could not be written, and changes nothing: better before the first round
/// than after the last.
pub fn check_writable(path: &Path) -> Result<()> {
    let place = Place::of(path)?;
    if let Place::File { .. } = place {
        place.temporary(path)?;
    }
    Ok(())
}

fn failed(path: &Path, what: &'static str) -> impl Fn(io::Error) -> Error {
    move |source| Error::File {
        path: path.into(),
        what,
        source,
    }
}

fn open(path: &Path, target: &Path) -> Result<File> {
    let opened = OpenOptions::new().write(true).open(target);
    opened.map_err(failed(path, "opening it for writing"))
}

/// Where a file goes.
enum Place {
    /// A pipe or a device: written to as it is.
    Special(PathBuf),
    /// A file, there or not.
    File {
        target: PathBuf,
        /// How its temporary files begin.
        stem: String,
        old: Option<Metadata>,
    },
}

impl Place {
    fn of(path: &Path) -> Result<Self> {
        let target = follow(path).map_err(failed(path, "following the link"))?;
        let old = match fs::metadata(&target) {
            Ok(old) if old.is_dir() => {
                let error = ErrorKind::IsADirectory.into();
                return Err(failed(path, "writing the model")(error));
            }
            Ok(old) => {
                open(path, &target)?;
                if !old.is_file() {
                    return Ok(Self::Special(target));
                }
                Some(old)
            }
            Err(e) if e.kind() == ErrorKind::NotFound => None,
            Err(e) => return Err(failed(path, "looking for it")(e)),
        };
        let name = target.file_name().ok_or(ErrorKind::InvalidFilename.into());
        let name = name.map_err(failed(path, "writing the model"))?;
        // short enough for any file system
        let stem: String = name.to_string_lossy().chars().take(40).collect();
        Ok(Self::File {
            stem: format!(".{stem}."),
            target,
            old,
        })
    }

    fn folder(&self) -> &Path {
        let (Self::Special(target) | Self::File { target, .. }) = self;
        match target.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        }
    }

    /// A file beside it. Those that others left are removed.
    fn temporary(&self, path: &Path) -> Result<Temporary> {
        let (stem, old) = match self {
            Self::File { stem, old, .. } => (stem.as_str(), old.as_ref()),
            Self::Special(_) => (".", None),
        };
        remove_left_over(self.folder(), stem);
        let made = Temporary::create(self.folder(), stem, old);
        made.map_err(failed(path, "making a temporary file beside it"))
    }
}

/// The file behind a link, which need not exist.
fn follow(path: &Path) -> io::Result<PathBuf> {
    let mut target = path.to_path_buf();
    for _ in 0..MOST_LINKS {
        match fs::symlink_metadata(&target) {
            Ok(found) if found.is_symlink() => {
                let next = fs::read_link(&target)?;
                target.pop();
                target.push(next);
            }
            _ => return Ok(target),
        }
    }
    Err(io::Error::other("too many links in a row"))
}

/// Removes temporary files of processes that are no more: a lock dies with its process.
fn remove_left_over(folder: &Path, stem: &str) {
    // Whatever goes wrong here disturbs nobody: the names are never used again.
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with(stem) && name.ends_with(SUFFIX) {
            let file = OpenOptions::new().write(true).open(entry.path());
            if file.is_ok_and(|file| file.try_lock().is_ok()) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

/// A locked file that is removed unless it has been renamed.
struct Temporary {
    file: File,
    path: PathBuf,
    kept: bool,
}

impl Temporary {
    /// With the owner and the permissions of an old file, where there is one.
    fn create(folder: &Path, stem: &str, old: Option<&Metadata>) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        if old.is_some() {
            // nobody else's until it has the old file's permissions
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        }
        let process = std::process::id();
        let temporary = loop {
            // With both, no name comes twice; otherwise a file could be renamed for another.
            let now = SystemTime::now().duration_since(UNIX_EPOCH);
            let nanos = now.unwrap_or_default().as_nanos();
            let path = folder.join(format!("{stem}{process}-{nanos}{SUFFIX}"));
            let file = match options.open(&path) {
                Ok(file) => file,
                Err(e) if e.kind() == ErrorKind::AlreadyExists => continue,
                Err(e) => return Err(e),
            };
            match file.try_lock() {
                // Another process takes it for a left-over, and removes it.
                Err(TryLockError::WouldBlock) => continue,
                // Where there are no locks, nobody removes left-overs.
                Ok(()) | Err(TryLockError::Error(_)) => {
                    break Self {
                        file,
                        path,
                        kept: false,
                    };
                }
            }
        };
        if let Some(old) = old {
            #[cfg(unix)]
            {
                use std::os::unix::fs::{MetadataExt, fchown};
                let mine = temporary.file.metadata()?;
                if (mine.uid(), mine.gid()) != (old.uid(), old.gid()) {
                    // Only the superuser may give files away.
                    let _ = fchown(&temporary.file, Some(old.uid()), Some(old.gid()));
                }
            }
            temporary.file.set_permissions(old.permissions())?;
        }
        Ok(temporary)
    }

    fn rename(mut self, target: &Path) -> io::Result<()> {
        fs::rename(&self.path, target)?;
        self.kept = true;
        Ok(())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.kept {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Makes a renaming last.
fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(not(unix)) {
        return Ok(());
    }
    match File::open(folder)?.sync_all() {
        // some file systems have nothing to sync there
        Err(e) if matches!(e.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported) => Ok(()),
        synced => synced,
    }
}
