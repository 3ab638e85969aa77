//! The command `predict`: it writes the predictions of a model, which does not change.

use std::path::{Path, PathBuf};

use extremal_data::{Example, Labels, OnError, ReadOptions, Reader};

use crate::check;
use crate::config::Link;
use crate::error::{Error, Result, finite};
#[cfg(feature = "clap")]
use crate::flag;
use crate::model::Saved;
use crate::options::Input;
use crate::run::few_skipped;
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
    /// In place of the class, write the scores of all classes, in the order of the classes and separated
    /// by blanks. With --link logistic, the scores are probabilities whose sum is 1
    #[cfg_attr(feature = "clap", arg(long))]
    pub scores: bool,
}

/// Writes one prediction per row, as soon as the row arrives. The line of a skipped row is empty. Returns
/// the number of skipped rows.
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
    if options.scores && saved.plan.classes().is_empty() {
        return Err(Error::Usage(
            "--scores needs a model with several classes. Leave it out".into(),
        ));
    }
    let read = ReadOptions {
        labels: Labels::None,
        labels_required: false,
        frozen: true,
        ..options.input.options(saved.plan.read_options())
    };
    let file = name_of(data);
    let mut reader = Reader::open(data, &read)?;
    let mut out = Sink::create(path)?;
    let (mut rejected, mut first, mut used) = (0, String::new(), 0);
    let mut predict = |example: &Example<'_>, out: &mut Sink| {
        let line = line(&saved, options.scores, link, example, &file);
        match line {
            Ok(line) => {
                used += 1;
                out.tagged(line, example.tag)
            }
            Err(error) if read.on_error == OnError::Skip => {
                if rejected == 0 {
                    first = error.to_string();
                }
                rejected += 1;
                out.line("")
            }
            Err(error) => Err(error),
        }
    };
    while let Some(batch) = reader.next()? {
        let mut skipped = batch.skipped().iter().peekable();
        let mut write = || {
            for (k, example) in batch.iter().enumerate() {
                while skipped.next_if(|at| **at <= k).is_some() {
                    out.line("")?;
                }
                predict(&example, &mut out)?;
            }
            skipped.try_for_each(|_| out.line(""))
        };
        let written = write();
        // The predictions before an error are written, and a pipe may be silent for long.
        let flushed = out.flush();
        written.and(flushed)?;
    }
    let reason = match reader.skip_reason() {
        Some(reason) if rejected <= reader.skipped() => reason,
        _ => &first,
    };
    let skipped = reader.skipped() + rejected;
    few_skipped(&file, skipped, used, reason).map(|()| skipped)
}

/// The text of a prediction.
fn line(saved: &Saved, all: bool, link: Link, example: &Example<'_>, file: &str) -> Result<String> {
    let at_line = |why| Error::at_line(why, file, example);
    if !all {
        let prediction = saved.predict(example).map_err(at_line)?;
        let prediction = finite("prediction", prediction, file, example)?;
        return Ok(match saved.plan.classes().get(prediction as usize) {
            Some(class) => class.clone(),
            None => link.of(prediction).to_string(),
        });
    }
    let mut scores = saved.scores(example).map_err(at_line)?;
    for score in &mut scores {
        *score = link.of(finite("score", *score, file, example)?);
    }
    if link == Link::Logistic {
        let sum: f64 = scores.iter().sum();
        scores.iter_mut().for_each(|score| *score /= sum);
    }
    let texts: Vec<String> = scores.iter().map(f64::to_string).collect();
    Ok(texts.join(" "))
}
