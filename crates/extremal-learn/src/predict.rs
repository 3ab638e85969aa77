//! The command `predict`: it writes the predictions of a model, which does not change.

use std::path::{Path, PathBuf};

use extremal_data::{Labels, ReadOptions, Reader};

use crate::check;
use crate::config::Link;
use crate::error::{Error, Result, finite};
#[cfg(feature = "clap")]
use crate::flag;
use crate::model::Saved;
use crate::options::Input;
use crate::stream::{Sink, name_of};

/// The options of `predict`.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct PredictOptions {
    /// The model file
    #[cfg_attr(feature = "clap", arg(short = 'i', long, value_name = "MODEL"))]
    pub model: PathBuf,
    /// The examples.
    #[cfg_attr(feature = "clap", command(flatten))]
    pub input: Input,
    /// Write the predictions to this file [default: standard output]
    #[cfg_attr(feature = "clap", arg(short, long, value_name = "FILE"))]
    pub predictions: Option<PathBuf>,
    /// Form of the predictions [default: the form that was chosen in training]
    #[cfg_attr(feature = "clap", arg(long, value_parser = flag::one_of::<Link>(flag::LINKS)))]
    pub link: Option<Link>,
}

/// Writes one prediction per line, as soon as its example arrives. Returns the number of lines that
/// were skipped.
pub fn predict(options: &PredictOptions) -> Result<u64> {
    let path = options.predictions.as_deref().unwrap_or(Path::new("-"));
    let data = options.input.path();
    let read = [
        ("-i", Some(&*options.model)),
        ("the data", Some(check::input(data))),
    ];
    check::files(&read, &[("-p", Some(check::output(path)))])?;
    let saved = Saved::open(&options.model)?;
    let link = options.link.unwrap_or(saved.plan.link);
    let read = ReadOptions {
        labels: Labels::None,
        labels_required: false,
        frozen: true,
        ..options.input.options(saved.plan.read_options())
    };
    let file = name_of(data);
    let mut reader = Reader::open(data, &read)?;
    let mut out = Sink::create(path)?;
    while let Some(batch) = reader.next()? {
        let written = batch.iter().try_for_each(|example| {
            let prediction = saved.predict(&example);
            let prediction = prediction.map_err(|e| Error::at_line(e, &file, &example))?;
            let prediction = finite("prediction", prediction, &file, &example)?;
            out.prediction(&saved.plan, link, prediction)
        });
        // The predictions before an error are written, and a pipe may be silent for long.
        let flushed = out.flush();
        written.and(flushed)?;
    }
    Ok(reader.skipped())
}
