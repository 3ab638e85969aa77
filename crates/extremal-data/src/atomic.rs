//! Atomic replacement of a file.

use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::{Error, Result};

/// The extension of temporary files.
const SUFFIX: &str = ".extremal-tmp";

/// The longest chain of links that is followed.
const MOST_LINKS: usize = 40;

/// The number of attempts if other processes remove the temporary file.
const ATTEMPTS: usize = 5;

/// Replaces a file by what `write` writes, or creates it. The content goes to a temporary file beside it, which is
/// synced and renamed. On an error the file is unchanged and the temporary file removed.
pub fn replace(path: &Path, write: impl Fn(&mut File) -> io::Result<()>) -> Result<()> {
    let place = Place::of(path)?;
    let (target, folder) = match &place {
        Place::Special(target) => {
            let mut file = open(path, target)?;
            return write(&mut file).map_err(Error::file(path, "the model can't be written"));
        }
        Place::File { target, .. } => (target, place.folder()),
    };
    for attempt in 1.. {
        let mut temporary = place.temporary(path)?;
        let written = write(&mut temporary.file).and_then(|()| temporary.file.sync_all());
        written.map_err(Error::file(
            path,
            "the temporary file beside it can't be written",
        ))?;
        match temporary.rename(target) {
            // Another process removed it between its creation and its locking.
            Err(e) if e.kind() == ErrorKind::NotFound && attempt < ATTEMPTS => {}
            renamed => {
                renamed.map_err(Error::file(
                    path,
                    "the temporary file can't be renamed to it",
                ))?;
                break;
            }
        }
    }
    sync_folder(folder).map_err(Error::file(path, "its folder can't be synced"))
}

/// Checks that a file can be written to `path`, without changing the file. Call it before training,
/// so that an unwritable path fails before the first round and not after the last.
pub fn check_writable(path: &Path) -> Result<()> {
    let place = Place::of(path)?;
    if let Place::File { .. } = place {
        place.temporary(path)?;
    }
    Ok(())
}

fn open(path: &Path, target: &Path) -> Result<File> {
    let opened = OpenOptions::new().write(true).open(target);
    opened.map_err(Error::file(path, "can't be opened for writing"))
}

/// The destination of a file.
enum Place {
    /// A pipe or a device, which is written directly.
    Special(PathBuf),
    /// A file, which may not exist yet.
    File {
        target: PathBuf,
        /// The prefix of its temporary files.
        stem: String,
        old: Option<Metadata>,
    },
}

impl Place {
    fn of(path: &Path) -> Result<Self> {
        let target = follow(path).map_err(Error::file(path, "the link can't be followed"))?;
        let old = match fs::metadata(&target) {
            Ok(old) if old.is_dir() => {
                let error = ErrorKind::IsADirectory.into();
                return Err(Error::file(path, "the model can't be written")(error));
            }
            Ok(old) => {
                open(path, &target)?;
                if !old.is_file() {
                    return Ok(Self::Special(target));
                }
                Some(old)
            }
            Err(e) if e.kind() == ErrorKind::NotFound => None,
            Err(e) => return Err(Error::file(path, "its metadata can't be read")(e)),
        };
        let name = target.file_name().ok_or(ErrorKind::InvalidFilename.into());
        let name = name.map_err(Error::file(path, "the model can't be written"))?;
        // Short enough for every file system.
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

    /// Creates a temporary file beside it, and removes those of processes that have ended.
    fn temporary(&self, path: &Path) -> Result<Temporary> {
        let (stem, old) = match self {
            Self::File { stem, old, .. } => (stem.as_str(), old.as_ref()),
            Self::Special(_) => (".", None),
        };
        remove_left_over(self.folder(), stem);
        let made = Temporary::create(self.folder(), stem, old);
        made.map_err(Error::file(
            path,
            "a temporary file beside it can't be created",
        ))
    }
}

/// The target of a chain of links, which may not exist.
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

/// Removes temporary files of processes that have ended: the lock ends with the process.
fn remove_left_over(folder: &Path, stem: &str) {
    // Failures are harmless, since no name is used twice.
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

/// A locked file that is removed when dropped, unless it was renamed.
struct Temporary {
    file: File,
    path: PathBuf,
    kept: bool,
}

impl Temporary {
    /// Creates the file, with the owner and the permissions of the old file if there is one.
    fn create(folder: &Path, stem: &str, old: Option<&Metadata>) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        if old.is_some() {
            // Private until it has the permissions of the old file.
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        }
        let process = std::process::id();
        let temporary = loop {
            // Process and time make the name unique, so that no other file is renamed by mistake.
            let now = SystemTime::now().duration_since(UNIX_EPOCH);
            let nanos = now.unwrap_or_default().as_nanos();
            let path = folder.join(format!("{stem}{process}-{nanos}{SUFFIX}"));
            let file = match options.open(&path) {
                Ok(file) => file,
                Err(e) if e.kind() == ErrorKind::AlreadyExists => continue,
                Err(e) => return Err(e),
            };
            match file.try_lock() {
                // Another process is about to remove it as abandoned.
                Err(TryLockError::WouldBlock) => continue,
                // Without locks, no process removes abandoned files.
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
                    // Only the superuser may change the owner.
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

/// Makes a rename durable.
fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(not(unix)) {
        return Ok(());
    }
    match File::open(folder)?.sync_all() {
        // Some file systems can't sync folders.
        Err(e) if matches!(e.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported) => Ok(()),
        synced => synced,
    }
}
