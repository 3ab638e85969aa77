//! The input of a run, and its outputs line by line.

use std::collections::VecDeque;
use std::fmt::Display;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use extremal_data::{Batch, Next, ReadOptions, Reader};

use crate::config::Link;
use crate::error::Result;
use crate::plan::Plan;
use crate::run::Host;

/// A reader that can return its first batches twice.
pub(crate) struct Source {
    pub reader: Reader,
    /// Batches that were read ahead.
    ahead: VecDeque<Batch>,
    /// The end of the stream, if it was reached while reading ahead.
    ended: Option<extremal_data::Result<()>>,
    current: Batch,
}

impl Source {
    pub fn open(path: Option<&Path>, options: &ReadOptions) -> Result<Self> {
        Ok(Self {
            reader: Reader::open(path, options)?,
            ahead: VecDeque::new(),
            ended: None,
            current: Batch::default(),
        })
    }

    /// Reads ahead until there are `count` examples or the stream ends, and returns the batches.
    /// `None` if the host stops the run.
    pub fn read_ahead(&mut self, count: usize, host: &dyn Host) -> Option<&VecDeque<Batch>> {
        let mut read = 0;
        while read < count && self.ended.is_none() {
            match self.reader.next_unless(&|| host.is_stopped()) {
                Ok(Next::Batch(batch)) => {
                    read += batch.len();
                    self.ahead.push_back(batch.clone());
                }
                Ok(Next::Stopped) => return None,
                Ok(Next::End) => self.ended = Some(Ok(())),
                Err(error) => self.ended = Some(Err(error)),
            }
        }
        Some(&self.ahead)
    }

    /// The next batch, unless the host stops the run.
    pub fn next(&mut self, host: &dyn Host) -> extremal_data::Result<Next<'_>> {
        if host.is_stopped() {
            return Ok(Next::Stopped);
        }
        if let Some(batch) = self.ahead.pop_front() {
            self.current = batch;
            return Ok(Next::Batch(&self.current));
        }
        match self.ended.take() {
            Some(ended) => ended.map(|()| Next::End),
            None => self.reader.next_unless(&|| host.is_stopped()),
        }
    }
}

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
