//! `predict`: what a model says about examples. It never changes the model.

use std::io::Write;
use std::path::{Path, PathBuf};

use extremal_data::{Format, Labels, OnError, ReadOptions, Reader};

use super::plan::Link;
use super::saved::Saved;
use super::{at_line, cant_write, create, name_of};
use crate::error::Result;

/// What `predict` is to do.
#[derive(Debug, Clone)]
pub struct PredictOptions {
    /// The model.
    pub model: PathBuf,
    /// The examples; `None` for standard input.
    pub data: Option<PathBuf>,
    /// Their format, unless it shows.
    pub format: Option<Format>,
    /// What to do about lines that can't be read.
    pub on_error: OnError,
    /// Where predictions go; standard output if nowhere else.
    pub out: Option<PathBuf>,
    /// What they are written as, if not as the model says.
    pub link: Option<Link>,
}

/// Writes one prediction per line. Returns how many, and how many lines were skipped.
pub fn predict(options: &PredictOptions) -> Result<(u64, u64)> {
    let saved = Saved::open(&options.model)?;
    let link = options.link.unwrap_or(saved.plan.link);
    let read = ReadOptions {
        format: options.format,
        on_error: options.on_error,
        labels: Labels::None,
        labels_required: false,
        ..saved.plan.read_options()
    };
    let path = options.out.as_deref().unwrap_or(Path::new("-"));
    let mut out = create(path)?;
    let file = name_of(options.data.as_deref());
    let mut reader = Reader::open(options.data.as_deref(), &read)?;
    let mut count = 0;
    let names = &saved.plan.classes;
    loop {
        let batch = match reader.next() {
            Ok(Some(batch)) => batch,
            Ok(None) => break,
            Err(error) => {
                // what came before the bad line is right
                out.flush().map_err(|why| cant_write(path, why))?;
                return Err(error.into());
            }
        };
        for example in batch.iter() {
            let prediction = saved
                .predict(&example)
                .map_err(|e| at_line(e, &file, &example))?;
            let written = match names.get(prediction as usize) {
                Some(name) => writeln!(out, "{name}"),
                None => writeln!(out, "{}", link.of(prediction)),
            };
            written.map_err(|why| cant_write(path, why))?;
            count += 1;
        }
    }
    out.flush().map_err(|why| cant_write(path, why))?;
    Ok((count, reader.skipped()))
}
