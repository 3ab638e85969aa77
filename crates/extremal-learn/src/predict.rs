//! `predict`: what a model says about examples. It never changes the model.

use std::path::{Path, PathBuf};

use extremal_data::{Example, Labels, ReadOptions, Reader};

use crate::check::{self, Use};
use crate::config::Link;
use crate::error::{Result, at_line, finite};
#[cfg(feature = "clap")]
use crate::flag;
use crate::model::Saved;
use crate::options::Input;
use crate::sink::Sink;
use crate::source::name_of;

/// What `predict` is to do.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct PredictOptions {
    /// The model
    #[cfg_attr(feature = "clap", arg(short = 'i', long, value_name = "MODEL"))]
    pub model: PathBuf,
    /// The examples.
    #[cfg_attr(feature = "clap", command(flatten))]
    pub input: Input,
    /// Where predictions go [default: standard output]
    #[cfg_attr(feature = "clap", arg(short, long, value_name = "FILE"))]
    pub predictions: Option<PathBuf>,
    /// What predictions are written as [default: as the model was made]
    #[cfg_attr(feature = "clap", arg(long, value_parser = flag::one_of::<Link>(flag::LINKS)))]
    pub link: Option<Link>,
}

/// Writes one prediction per line, as soon as there is one. Returns how many, and how many lines
/// were skipped.
pub fn predict(options: &PredictOptions) -> Result<(u64, u64)> {
    let dash = Path::new("-");
    let path = options.predictions.as_deref().unwrap_or(dash);
    let data = options.input.path();
    check::files(&[
        ("-i", Some(&options.model), Use::Read),
        ("the data", Some(data.unwrap_or(dash)), Use::Read),
        ("-p", Some(path), Use::Write),
    ])?;
    let saved = Saved::open(&options.model)?;
    let link = options.link.unwrap_or(saved.plan.link);
    let read = ReadOptions {
        labels: Labels::None,
        labels_required: false,
        ..options.input.options(saved.plan.read_options())
    };
    let file = name_of(data);
    let mut reader = Reader::open(data, &read)?;
    let mut out = Sink::create(path)?;
    let mut count = 0;
    let names = saved.plan.classes();
    let mut each = |example: &Example<'_>, out: &mut Sink| {
        let prediction = saved
            .predict(example)
            .map_err(|e| at_line(e, &file, example))?;
        let prediction = finite(prediction, &file, example)?;
        count += 1;
        match names.get(prediction as usize) {
            Some(name) => out.line(name),
            None => out.line(link.of(prediction)),
        }
    };
    loop {
        // what comes before a bad line is right, and a pipe may be silent for long
        let played = match reader.next() {
            Ok(Some(batch)) => batch
                .iter()
                .try_for_each(|example| each(&example, &mut out)),
            Ok(None) => break,
            Err(error) => return Err(error.into()),
        };
        let flushed = out.flush();
        played?;
        flushed?;
    }
    Ok((count, reader.skipped()))
}
