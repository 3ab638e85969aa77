//! Checks of the options before the first round.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::options::LearnOptions;

/// The longest chain of links that is followed.
const MOST_LINKS: usize = 40;

/// Whether a file is read or written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use {
    Read,
    Write,
}

/// Checks that the options do not contradict each other, and that every output has its own file.
pub(crate) fn options(options: &LearnOptions) -> Result<()> {
    let (reports, models) = (&options.reports, &options.models);
    let data = options.input.path();
    if reports.hindsight && models.skip_consumed && options.passes > 1 {
        let text = "--hindsight with --continue needs --passes 1";
        return Err(Error::Usage(text.into()));
    }
    if options.passes > 1 && !is_rereadable(data) {
        let name = data.map_or("standard input".into(), |path| path.display().to_string());
        return Err(Error::Usage(format!(
            "--passes needs a regular file, but {name} can be read only once"
        )));
    }
    let stdin = Path::new("-");
    files(&[
        ("the data", Some(data.unwrap_or(stdin)), Use::Read),
        ("-i", models.resume.as_deref(), Use::Read),
        ("--test", reports.test.as_deref(), Use::Read),
        ("-f", models.model.as_deref(), Use::Write),
        ("-p", reports.predictions.as_deref(), Use::Write),
        ("--trace", reports.trace.as_deref(), Use::Write),
        ("--certificate", reports.certificate.as_deref(), Use::Write),
    ])?;
    match &reports.test {
        Some(path) => test(path, data),
        None => Ok(()),
    }
}

/// Whether the stream is a file that can be opened again. A missing file is an error later.
pub(crate) fn is_rereadable(data: Option<&Path>) -> bool {
    data.is_some_and(|path| fs::metadata(path).map_or(true, |about| about.is_file()))
}

/// Checks that the test file exists and is not the stream.
fn test(path: &Path, data: Option<&Path>) -> Result<()> {
    let is_stdin = |path: &Path| is_dash(path) || path == Path::new("/dev/stdin");
    if is_stdin(path) && data.is_none_or(is_stdin) {
        return Err(Error::Usage(
            "--test and the data can't both be standard input".into(),
        ));
    }
    if is_dash(path) {
        return Ok(());
    }
    // A pipe is not opened, since its writer would then see it closed.
    let opened = fs::metadata(path).and_then(|about| match about.is_file() {
        true => fs::File::open(path).map(drop),
        false if about.is_dir() => Err(std::io::ErrorKind::IsADirectory.into()),
        false => Ok(()),
    });
    Ok(opened.map_err(extremal_data::Error::file(path, "can't be opened"))?)
}

/// A file, with its flag and its use.
pub(crate) type Named<'a> = (&'a str, Option<&'a Path>, Use);

/// Checks that no file is both an output and something else, also through standard input or output.
/// Only a model may replace the one that it resumes.
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
                    "{other} and {flag} can't both be standard output"
                )));
            }
            if same(from.unwrap_or(first), to.unwrap_or(path)) {
                let shown = if to.is_some() { first } else { path };
                return Err(Error::Usage(format!(
                    "{other} and {flag} name the same file, {}, which would be overwritten",
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

/// The device of `-`. The name of a model is always a path.
fn standard((flag, path, usage): &Named<'_>) -> Option<&'static Path> {
    path.filter(|path| is_dash(path) && !["-f", "-i"].contains(flag))?;
    Some(Path::new(match usage {
        Use::Read => "/dev/stdin",
        Use::Write => "/dev/stdout",
    }))
}

/// Whether two paths lead to the same file, which may not exist yet. Character devices have no content.
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

/// The canonical path of a file, which may not exist yet.
fn place(path: &Path, links: usize) -> Option<PathBuf> {
    if let Ok(path) = fs::canonicalize(path) {
        return Some(path);
    }
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    match fs::read_link(path) {
        // The target does not exist yet.
        Ok(target) if links > 0 => place(&folder.join(target), links - 1),
        _ => Some(fs::canonicalize(folder).ok()?.join(path.file_name()?)),
    }
}
