//! Where predictions and traces go: a file or standard output, line by line.

use std::fmt::Display;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::error::{Result, cant_write};

/// A file, or standard output for `-`.
pub(crate) struct Sink {
    path: PathBuf,
    out: BufWriter<Box<dyn Write>>,
}

impl Sink {
    pub fn create(path: &Path) -> Result<Self> {
        let out: Box<dyn Write> = if path.as_os_str() == "-" {
            Box::new(std::io::stdout())
        } else {
            Box::new(std::fs::File::create(path).map_err(|why| cant_write(path, why))?)
        };
        Ok(Self {
            path: path.into(),
            out: BufWriter::with_capacity(1 << 16, out),
        })
    }

    pub fn line(&mut self, text: impl Display) -> Result<()> {
        writeln!(self.out, "{text}").map_err(|why| cant_write(&self.path, why))
    }

    pub fn flush(&mut self) -> Result<()> {
        self.out.flush().map_err(|why| cant_write(&self.path, why))
    }
}
