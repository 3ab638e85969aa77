//! Outputs that are written line by line.

use std::fmt::Display;
use std::io::{BufWriter, Write};
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
        })
    }

    pub fn line(&mut self, text: impl Display) -> Result<()> {
        Ok(writeln!(self.out, "{text}").map_err(cant_write(&self.path))?)
    }

    /// Writes a prediction: the name of the class, or the value that the link gives.
    pub fn prediction(&mut self, plan: &Plan, link: Link, prediction: f64) -> Result<()> {
        match plan.classes().get(prediction as usize) {
            Some(name) => self.line(name),
            None => self.line(link.of(prediction)),
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
