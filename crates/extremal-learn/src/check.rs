//! Checks of the options before the first round.

use std::fs;
use std::path::Path;

use crate::error::{Error, Result};
use crate::options::LearnOptions;

/// The names of standard input and standard output as files.
const STDIN: &str = "/dev/stdin";
const STDOUT: &str = "/dev/stdout";

/// Checks that the options do not contradict each other, and that every output has its own file.
pub(crate) fn options(options: &LearnOptions) -> Result<()> {
    let (reports, models) = (&options.reports, &options.models);
    let saves = models.checkpoint_every.is_some();
    for (is_wrong, text) in [
        (
            models.skip_consumed && models.resume.is_none(),
            "--continue needs a model to resume. Add -i MODEL",
        ),
        (
            saves && models.model.is_none(),
            "--checkpoint-every needs a file for the model. Add -f MODEL",
        ),
        (
            saves && models.drop_resume_state,
            "--checkpoint-every saves models that can be resumed. Leave out --drop-resume-state",
        ),
        (
            reports.hindsight && models.skip_consumed && options.passes > 1,
            "--hindsight with --continue needs --passes 1",
        ),
    ] {
        if is_wrong {
            return Err(Error::Usage(text.into()));
        }
    }
    let data = options.input.path();
    if options.passes > 1 && !is_rereadable(data) {
        let name = data.map_or("standard input".into(), |path| path.display().to_string());
        return Err(Error::Usage(format!(
            "--passes needs a regular file, but {name} can be read only once"
        )));
    }
    let data = input(data);
    let test = reports.test.as_deref().map(|path| input(Some(path)));
    let read = [
        ("the data", Some(data)),
        ("-i", models.resume.as_deref()),
        ("--test", test),
    ];
    let written = [
        ("-f", models.model.as_deref()),
        ("-p", reports.predictions.as_deref().map(output)),
        ("--trace", reports.trace.as_deref().map(output)),
        ("--certificate", reports.certificate.as_deref().map(output)),
    ];
    files(&read, &written)?;
    match test {
        Some(test) if test == Path::new(STDIN) && test == data => Err(Error::Usage(
            "--test and the data can't both be standard input".into(),
        )),
        Some(test) if test != Path::new(STDIN) => can_be_opened(test),
        _ => Ok(()),
    }
}

/// The file that an input is read from.
pub(crate) fn input(path: Option<&Path>) -> &Path {
    let is_file = |path: &&Path| path.as_os_str() != "-";
    path.filter(is_file).unwrap_or(Path::new(STDIN))
}

/// The file that an output is written to.
pub(crate) fn output(path: &Path) -> &Path {
    let is_stdout = path.as_os_str() == "-";
    if is_stdout { Path::new(STDOUT) } else { path }
}

/// Whether the stream is a file that can be opened again. A missing file counts as one, since its
/// error follows later.
pub(crate) fn is_rereadable(data: Option<&Path>) -> bool {
    data.is_some_and(|path| fs::metadata(path).map_or(true, |about| about.is_file()))
}

/// Checks that a file can be opened.
fn can_be_opened(path: &Path) -> Result<()> {
    // A pipe is not opened, since its writer would then see it closed.
    let opened = fs::metadata(path).and_then(|about| match about.is_file() {
        true => fs::File::open(path).map(drop),
        false if about.is_dir() => Err(std::io::ErrorKind::IsADirectory.into()),
        false => Ok(()),
    });
    Ok(opened.map_err(extremal_data::Error::file(path, "can't be opened"))?)
}

/// A flag and its file.
pub(crate) type Named<'a> = (&'a str, Option<&'a Path>);

/// Checks that no output overwrites another file. Only a model may replace the model that it
/// resumes.
pub(crate) fn files(read: &[Named<'_>], written: &[Named<'_>]) -> Result<()> {
    for (k, &(flag, path)) in written.iter().enumerate() {
        for &(other, earlier) in read.iter().chain(&written[..k]) {
            let (Some(path), Some(earlier)) = (path, earlier) else {
                continue;
            };
            let is_stdout = path == Path::new(STDOUT);
            if is_stdout && earlier == path {
                let text = format!("{other} and {flag} can't both be standard output");
                return Err(Error::Usage(text));
            }
            if (other, flag) != ("-i", "-f") && same(earlier, path) {
                let shown = if is_stdout { earlier } else { path };
                return Err(Error::Usage(format!(
                    "{other} and {flag} name the same file, {}, which would be overwritten",
                    shown.display()
                )));
            }
        }
    }
    Ok(())
}

/// Whether two paths lead to the same file, which may not exist yet. A character device has no
/// content and is never the same file.
fn same(a: &Path, b: &Path) -> bool {
    #[cfg(unix)]
    if let (Ok(one), Ok(other)) = (fs::metadata(a), fs::metadata(b)) {
        use std::os::unix::fs::{FileTypeExt, MetadataExt};
        let kind = one.file_type();
        return match kind.is_file() {
            true => (one.dev(), one.ino()) == (other.dev(), other.ino()),
            false => a == b && !kind.is_char_device(),
        };
    }
    let canonical = |path: &Path| extremal_data::canonical(path).unwrap_or(path.to_path_buf());
    canonical(a) == canonical(b)
}
