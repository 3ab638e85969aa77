//! What can be told to be wrong before the first round.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::options::LearnOptions;

/// More links in a row lead nowhere.
const MOST_LINKS: usize = 40;

/// Whether a file is read or written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use {
    Read,
    Write,
}

/// Refuses flags that don't go together, and files that would be in each other's way.
pub(crate) fn options(options: &LearnOptions) -> Result<()> {
    let refuse = |text: &str| Err(Error::Usage(text.into()));
    if options.passes == 0 {
        return refuse("--passes must be at least 1");
    }
    let data = options.input.path();
    if options.reports.hindsight && options.models.skip_consumed && options.passes > 1 {
        return refuse("--hindsight with --continue needs --passes 1");
    }
    if options.passes > 1 {
        let Some(path) = data else {
            return refuse("standard input can be read once: --passes needs a file");
        };
        if !can_be_read_again(data) {
            return Err(Error::Usage(format!(
                "{} is no regular file and can be read once: --passes needs one",
                path.display()
            )));
        }
    }
    if options.models.skip_consumed && options.models.resume.is_none() {
        return refuse("--continue skips what a model has consumed: name it with -i");
    }
    if options.models.checkpoint_every.is_some() && options.models.model.is_none() {
        return refuse("--checkpoint-every needs a model to save: -f MODEL");
    }
    if options.models.checkpoint_every.is_some() && options.models.drop_resume_state {
        return refuse(
            "a checkpoint without resume state can't be gone on with: leave out one of --checkpoint-every and --drop-resume-state",
        );
    }
    files(&[
        ("the data", Some(data.unwrap_or(Path::new("-"))), Use::Read),
        ("-i", options.models.resume.as_deref(), Use::Read),
        ("--test", options.reports.test.as_deref(), Use::Read),
        ("-f", options.models.model.as_deref(), Use::Write),
        ("-p", options.reports.predictions.as_deref(), Use::Write),
        ("--trace", options.reports.trace.as_deref(), Use::Write),
        (
            "--certificate",
            options.reports.certificate.as_deref(),
            Use::Write,
        ),
    ])?;
    match &options.reports.test {
        Some(path) => test(path, data),
        None => Ok(()),
    }
}

/// Whether the stream is a file that can be opened once more; one that is not there is an error
/// later on.
pub(crate) fn can_be_read_again(data: Option<&Path>) -> bool {
    data.is_some_and(|path| fs::metadata(path).map_or(true, |about| about.is_file()))
}

/// A test file must be there before the first round, and not be the stream itself.
fn test(path: &Path, data: Option<&Path>) -> Result<()> {
    let is_stdin = |path: &Path| is_dash(path) || path == Path::new("/dev/stdin");
    if is_stdin(path) && data.is_none_or(is_stdin) {
        return Err(Error::Usage(
            "standard input can be read once: --test needs a file of its own".into(),
        ));
    }
    if is_dash(path) {
        return Ok(());
    }
    // A pipe is not opened: who writes to it would see it closed again.
    let there = fs::metadata(path).and_then(|about| match about.is_file() {
        true => fs::File::open(path).map(drop),
        false if about.is_dir() => Err(std::io::ErrorKind::IsADirectory.into()),
        false => Ok(()),
    });
    there.map_err(|source| {
        Error::from(extremal_data::Error::File {
            path: path.into(),
            what: "can't be opened",
            source,
        })
    })
}

/// A file by the flag that names it, and what it is for.
pub(crate) type Named<'a> = (&'a str, Option<&'a Path>, Use);

/// Refuses a file that is written to and named twice, also where standard input or output is one.
/// A model may take the place of the one that it goes on from.
pub(crate) fn files(named: &[Named<'_>]) -> Result<()> {
    for (k, later) in named.iter().enumerate() {
        for earlier in &named[..k] {
            let ((flag, Some(path), _), (other, Some(first), _)) = (later, earlier) else {
                continue;
            };
            if (later.2, earlier.2) == (Use::Read, Use::Read) || (*other, *flag) == ("-i", "-f") {
                continue;
            }
            let (to, from) = (standard(later), standard(earlier));
            if to.is_some() && to == from {
                return Err(Error::Usage(format!(
                    "{other} and {flag} can't both go to standard output"
                )));
            }
            if same(from.unwrap_or(first), to.unwrap_or(path)) {
                let shown = if to.is_some() { first } else { path };
                return Err(Error::Usage(format!(
                    "{other} and {flag} name the same file, {}: one would destroy the other",
                    shown.display()
                )));
            }
        }
    }
    Ok(())
}

fn is_dash(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Standard input or output, where that is meant. A model always has a name.
fn standard((flag, path, usage): &Named<'_>) -> Option<&'static Path> {
    path.filter(|path| is_dash(path) && !["-f", "-i"].contains(flag))?;
    Some(Path::new(match usage {
        Use::Read => "/dev/stdin",
        Use::Write => "/dev/stdout",
    }))
}

/// Whether two paths lead to one file, there or not. Devices hold nothing that could be destroyed.
fn same(a: &Path, b: &Path) -> bool {
    match (fs::metadata(a), fs::metadata(b)) {
        #[cfg(unix)]
        (Ok(one), Ok(other)) => {
            use std::os::unix::fs::{FileTypeExt, MetadataExt};
            let kind = one.file_type();
            if kind.is_file() {
                (one.dev(), one.ino()) == (other.dev(), other.ino())
            } else {
                a == b && !kind.is_char_device()
            }
        }
        _ => match (place(a, MOST_LINKS), place(b, MOST_LINKS)) {
            (Some(a), Some(b)) => a == b,
            _ => a == b,
        },
    }
}

/// Where a file is, or will be.
fn place(path: &Path, links: usize) -> Option<PathBuf> {
    if let Ok(path) = fs::canonicalize(path) {
        return Some(path);
    }
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    match fs::read_link(path) {
        // it leads to a file that is not there yet
        Ok(target) if links > 0 => place(&folder.join(target), links - 1),
        _ => Some(fs::canonicalize(folder).ok()?.join(path.file_name()?)),
    }
}
