//! Outputs that are written line by line.

use std::fmt::{Display, Write as _};
use std::io::{BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::config::Link;
use crate::error::Result;
use crate::plan::Plan;

/// The name of a data file in messages.
pub(crate) fn name_of(path: Option<&Path>) -> String {
    path.map_or("-".into(), |path| path.display().to_string())
}

/// An output: a file, or standard output for `-`.
pub(crate) struct Sink {
    path: PathBuf,
    out: BufWriter<Box<dyn Write>>,
    line: String,
    /// The length of the file, together with the part that was kept.
    pub length: u64,
}

impl Sink {
    pub fn create(path: &Path) -> Result<Self> {
        let out: Box<dyn Write> = if path.as_os_str() == "-" {
            Box::new(std::io::stdout())
        } else {
            Box::new(std::fs::File::create(path).map_err(cant_write(path))?)
        };
        Ok(Self {
            path: path.into(),
            out: BufWriter::with_capacity(1 << 16, out),
            line: String::new(),
            length: 0,
        })
    }

    /// Opens the file of an earlier run, to append to its first `kept` bytes. A file that does not
    /// exist is created.
    pub fn append(path: &Path, kept: u64) -> Result<Self> {
        let is_file = |about: &std::fs::Metadata| about.is_file();
        let length = match std::fs::metadata(path).ok().filter(is_file) {
            Some(about) if path.as_os_str() != "-" => about.len(),
            _ => return Self::create(path),
        };
        if length < kept {
            let name = path.display().to_string();
            let what = format!(
                "the file has {length} bytes, but the run that saved the model had written {kept}. Choose another file to write only the rest"
            );
            return Err(extremal_data::Error::content(&name, what).into());
        }
        let open = || {
            let mut file = std::fs::OpenOptions::new().write(true).open(path)?;
            file.set_len(kept)?;
            file.seek(SeekFrom::End(0))?;
            Ok(file)
        };
        let out: Box<dyn Write> = Box::new(open().map_err(cant_write(path))?);
        Ok(Self {
            path: path.into(),
            out: BufWriter::with_capacity(1 << 16, out),
            line: String::new(),
            length: kept,
        })
    }

    pub fn line(&mut self, text: impl Display) -> Result<()> {
        self.tagged(text, "")
    }

    /// Writes a line with a tag at its end.
    pub fn tagged(&mut self, text: impl Display, tag: &str) -> Result<()> {
        self.line.clear();
        let blank = if tag.is_empty() { "" } else { " " };
        // This can't fail: the text is in memory.
        let _ = writeln!(self.line, "{text}{blank}{tag}");
        let written = self.out.write_all(self.line.as_bytes());
        self.length += self.line.len() as u64;
        Ok(written.map_err(cant_write(&self.path))?)
    }

    /// Writes a prediction: the name of the class, or the value that the link gives.
    pub fn prediction(&mut self, plan: &Plan, link: Link, value: f64, tag: &str) -> Result<()> {
        match plan.classes().get(value as usize) {
            Some(name) => self.tagged(name, tag),
            None => self.tagged(link.of(value), tag),
        }
    }

    pub fn flush(&mut self) -> Result<()> {
        Ok(self.out.flush().map_err(cant_write(&self.path))?)
    }
}

/// Turns an error of the operating system into one about an output.
pub(crate) fn cant_write(path: &Path) -> impl Fn(std::io::Error) -> extremal_data::Error {
    extremal_data::Error::file(path.to_path_buf(), "can't be written")
}
