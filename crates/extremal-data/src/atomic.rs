//! Atomic replacement of a file.

use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::{Error, Result};

/// The extension of temporary files.
const SUFFIX: &str = ".extremal-tmp";

const UNWRITABLE: &str = "can't be written";

/// The longest chain of links that is followed.
const MOST_LINKS: usize = 40;

/// The number of attempts if other processes remove the temporary file.
const ATTEMPTS: usize = 5;

/// Creates or replaces a file. `write` writes the new content. The content goes to a temporary file in
/// the same folder, which is synced and then renamed. After an error the file is unchanged and the
/// temporary file is removed.
pub fn replace(path: &Path, write: impl Fn(&mut File) -> io::Result<()>) -> Result<()> {
    let (target, stem, old) = match Place::of(path)? {
        Place::Special(target) => {
            let mut file = open(path, &target)?;
            return write(&mut file).map_err(Error::file(path, UNWRITABLE));
        }
        Place::File { target, stem, old } => (target, stem, old),
    };
    for attempt in 1.. {
        let mut temporary = temporary(path, &target, &stem, old.as_ref())?;
        let written = write(&mut temporary.file).and_then(|()| temporary.file.sync_all());
        let problem = "the temporary file in the same folder can't be written";
        written.map_err(Error::file(path, problem))?;
        match temporary.rename(&target) {
            // Another process removed the file before this process locked it.
            Err(e) if e.kind() == ErrorKind::NotFound && attempt < ATTEMPTS => {}
            renamed => {
                let problem = "the temporary file in the same folder can't be renamed";
                renamed.map_err(Error::file(path, problem))?;
                break;
            }
        }
    }
    sync_folder(folder_of(&target)).map_err(Error::file(path, "the folder can't be synced"))
}

/// Checks that a file can be written to `path`, without changing the file. A call before training finds
/// an unwritable path before the first round, instead of after the last round.
pub fn check_writable(path: &Path) -> Result<()> {
    if let Place::File { target, stem, old } = Place::of(path)? {
        temporary(path, &target, &stem, old.as_ref())?;
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
        /// The prefix of the names of this file's temporary files.
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
                return Err(Error::file(path, UNWRITABLE)(error));
            }
            Ok(old) => {
                open(path, &target)?;
                if !old.is_file() {
                    return Ok(Self::Special(target));
                }
                Some(old)
            }
            Err(e) if e.kind() == ErrorKind::NotFound => None,
            Err(e) => return Err(Error::file(path, "the metadata can't be read")(e)),
        };
        let name = target.file_name().ok_or(ErrorKind::InvalidFilename.into());
        let name = name.map_err(Error::file(path, UNWRITABLE))?;
        // The name must be short enough for every file system.
        let stem: String = name.to_string_lossy().chars().take(40).collect();
        Ok(Self::File {
            stem: format!(".{stem}."),
            target,
            old,
        })
    }
}

/// Creates a temporary file in the folder of `target`, and removes the temporary files of processes that
/// have ended.
fn temporary(path: &Path, target: &Path, stem: &str, old: Option<&Metadata>) -> Result<Temporary> {
    let folder = folder_of(target);
    remove_left_over(folder, stem);
    let problem = "a temporary file in the same folder can't be created";
    Temporary::create(folder, stem, old).map_err(Error::file(path, problem))
}

fn folder_of(file: &Path) -> &Path {
    match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// The canonical path of a file, which may not exist yet.
pub fn canonical(path: &Path) -> io::Result<PathBuf> {
    let target = follow(path)?;
    let name = target.file_name().ok_or(ErrorKind::InvalidFilename)?;
    Ok(fs::canonicalize(folder_of(&target))?.join(name))
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

/// Removes temporary files of processes that have ended. The operating system has released the locks of
/// such files.
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

/// A locked temporary file. When this value is dropped, a file that was not renamed is removed.
struct Temporary {
    file: File,
    path: PathBuf,
    kept: bool,
}

impl Temporary {
    /// Creates the file. It gets the owner and the permissions of the old file if there is an old file.
    fn create(folder: &Path, stem: &str, old: Option<&Metadata>) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        if old.is_some() {
            // The new file is private until it gets the permissions of the old file.
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
                // Another process is about to remove the file as abandoned.
                Err(TryLockError::WouldBlock) => continue,
                // On a file system without locks, no process removes abandoned files.
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

/// Syncs a folder, which makes a rename in it durable.
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
