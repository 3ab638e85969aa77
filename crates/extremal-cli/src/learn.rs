//! `learn`, `predict` and `inspect`: their flags, and what surrounds a run.

use std::collections::HashSet;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use anyhow::Context;
use clap::ValueEnum;
use extremal::learner::Storage;
use extremal_data::{Format, OnError};
use extremal_learn::{
    self as learn, Asked, End, Every, Host, LearnOptions, Link, PredictOptions, Progress,
};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::INTERRUPTED;

#[derive(Clone, Copy, ValueEnum)]
enum LinkFlag {
    Identity,
    Logistic,
}

impl From<LinkFlag> for Link {
    fn from(link: LinkFlag) -> Self {
        match link {
            LinkFlag::Identity => Self::Identity,
            LinkFlag::Logistic => Self::Logistic,
        }
    }
}

#[derive(Clone, Copy, ValueEnum)]
enum StorageFlag {
    Dense,
    Lazy,
    Sparse,
}

#[derive(Clone, Copy, ValueEnum)]
enum OnErrorFlag {
    Stop,
    Skip,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum ProgressFlag {
    Table,
    Json,
}

/// How a stream is read.
#[derive(clap::Args)]
struct Source {
    /// The examples: a file, or - or nothing for standard input; gzip, bzip2, zstd and xz are
    /// recognised
    data: Option<PathBuf>,
    /// libsvm, vw, csv, tsv or jsonl [default: from the name, then from the content]
    #[arg(long)]
    format: Option<Format>,
    /// What to do about a line that can't be read
    #[arg(long, value_enum, default_value = "stop")]
    on_error: OnErrorFlag,
}

impl Source {
    fn data(&self) -> Option<PathBuf> {
        self.data.clone().filter(|path| path.as_os_str() != "-")
    }

    fn on_error(&self) -> OnError {
        match self.on_error {
            OnErrorFlag::Stop => OnError::Stop,
            OnErrorFlag::Skip => OnError::Skip,
        }
    }
}

#[derive(clap::Args)]
#[command(next_line_help = false)]
pub struct Learn {
    #[command(flatten)]
    source: Source,

    /// Where decisions lie, e.g. l2:radius=10, lp:p=1.5,radius=3, l1:radius=20
    #[arg(long, value_name = "SPEC", help_heading = "What is learnt")]
    set: Option<String>,
    /// What a round costs, e.g. logistic, squared, hinge, huber:delta=1, quantile:level=0.9
    #[arg(long, value_name = "SPEC", help_heading = "What is learnt")]
    loss: Option<String>,
    /// Who plays, e.g. ofw-ls, sc-ofw:lambda=0.01, gauge-ftrl, ogd; see `extremal list`
    #[arg(long, value_name = "SPEC", help_heading = "What is learnt")]
    learner: Option<String>,
    /// T, the number of rounds, where it is known
    #[arg(long, value_name = "T", help_heading = "What is learnt")]
    horizon: Option<u64>,
    /// G, a bound on the gradients' norm, where it is known
    #[arg(long, value_name = "G", help_heading = "What is learnt")]
    gradient_bound: Option<f64>,
    /// Multiplies the step size that theory gives
    #[arg(long, value_name = "C", help_heading = "What is learnt")]
    eta_scale: Option<f64>,
    /// Adds (LAMBDA/2)|x|² to the loss
    #[arg(long, value_name = "LAMBDA", help_heading = "What is learnt")]
    l2: Option<f64>,
    /// Adds a feature that is always 1
    #[arg(long, help_heading = "What is learnt")]
    intercept: bool,
    /// The texts that stand for -1 and +1
    #[arg(long, value_name = "NEG,POS", value_parser = pair, allow_hyphen_values = true, help_heading = "What is learnt")]
    labels: Option<(String, String)>,
    /// Several classes, each against the others: their number (labels 1 to N) or their names
    #[arg(long, value_name = "N|A,B,..", value_parser = classes, allow_hyphen_values = true, help_heading = "What is learnt")]
    classes: Option<Classes>,
    /// How the decision is stored [default: the cheapest that the set allows]
    #[arg(long, value_enum, help_heading = "What is learnt")]
    storage: Option<StorageFlag>,
    /// For learners that draw at random, ospf and fpl for example
    #[arg(long, value_name = "N", help_heading = "What is learnt")]
    seed: Option<u64>,

    /// Names are hashed to 2^B places
    #[arg(long, value_name = "B", value_parser = clap::value_parser!(u32).range(1..=31), help_heading = "How examples are read")]
    bits: Option<u32>,
    /// libsvm indices start at 0
    #[arg(long, help_heading = "How examples are read")]
    zero_based: bool,
    /// The column with the label, in CSV
    #[arg(long, value_name = "NAME", help_heading = "How examples are read")]
    label: Option<String>,
    /// The column with the importance weight, in CSV
    #[arg(long, value_name = "NAME", help_heading = "How examples are read")]
    weight: Option<String>,
    /// Columns that are texts whatever they look like, in CSV
    #[arg(
        long,
        value_name = "A,B,..",
        value_delimiter = ',',
        help_heading = "How examples are read"
    )]
    categorical: Option<Vec<String>>,
    /// How many threads learn, one class or several each, besides the one that reads [default: one
    /// per core]; what is learnt does not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..), help_heading = "How examples are read")]
    threads: Option<u16>,
    /// How often to go through the file
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1,
        help_heading = "How examples are read"
    )]
    passes: u32,

    /// Save the model here; it can be resumed
    #[arg(
        short = 'f',
        long = "model",
        value_name = "MODEL",
        help_heading = "Models"
    )]
    model: Option<PathBuf>,
    /// Go on with this model
    #[arg(
        short = 'i',
        long = "resume",
        value_name = "MODEL",
        help_heading = "Models"
    )]
    resume: Option<PathBuf>,
    /// Skip the examples that the model has consumed, after a kill for example
    #[arg(long = "continue", help_heading = "Models")]
    skip_consumed: bool,
    /// Save every N rounds
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), help_heading = "Models")]
    checkpoint_every: Option<u64>,
    /// Keep only what predicting needs
    #[arg(long, help_heading = "Models")]
    drop_resume_state: bool,

    /// Write the prediction made before each label was used; - is standard output
    #[arg(
        short = 'p',
        long = "predictions",
        value_name = "FILE",
        help_heading = "Reports"
    )]
    predictions: Option<PathBuf>,
    /// What predictions are written as [default: a probability for logistic loss]
    #[arg(long, value_enum, help_heading = "Reports")]
    link: Option<LinkFlag>,
    /// Score the final model on this file
    #[arg(long, value_name = "FILE", help_heading = "Reports")]
    test: Option<PathBuf>,
    /// Look for the best fixed weights at the end, with a proof: one more pass over a file;
    /// examples from a pipe are kept in memory
    #[arg(long, help_heading = "Reports")]
    hindsight: bool,
    /// Write the certified regret against weights of any norm, as CSV
    #[arg(long, value_name = "FILE", help_heading = "Reports")]
    certificate: Option<PathBuf>,
    /// Write a CSV row per report point
    #[arg(long, value_name = "FILE", help_heading = "Reports")]
    trace: Option<PathBuf>,
    /// Rounds between two rows of the trace
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), requires = "trace", help_heading = "Reports")]
    trace_every: Option<u64>,
    /// When a progress line is due: a factor (2.0) or a number of rounds (1000)
    #[arg(
        short = 'P',
        long = "every",
        value_name = "N",
        default_value = "2.0",
        help_heading = "Reports"
    )]
    every: Every,
    /// The form of progress lines
    #[arg(long, value_enum, default_value = "table", help_heading = "Reports")]
    progress: ProgressFlag,
    /// Print nothing but errors and the score of --test
    #[arg(long, short, help_heading = "Reports")]
    quiet: bool,
}

#[derive(Clone)]
struct Classes(Vec<String>);

fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once(',') {
        Some((negative, positive)) if differ(&[negative, positive]) => {
            Ok((negative.into(), positive.into()))
        }
        _ => Err("expected two different texts, NEG,POS".into()),
    }
}

fn classes(text: &str) -> Result<Classes, String> {
    if let Ok(count) = text.parse::<u32>() {
        return match count {
            2..=100_000 => Ok(Classes((1..=count).map(|k| k.to_string()).collect())),
            _ => Err("expected between 2 and 100000 classes".into()),
        };
    }
    let names: Vec<&str> = text.split(',').collect();
    if names.len() < 2 || !differ(&names) {
        return Err("expected a number, or names that differ: A,B,C".into());
    }
    Ok(Classes(names.into_iter().map(str::to_string).collect()))
}

/// Whether no two of them mean the same label, as 1 and 1.0 do, and none is empty.
fn differ(names: &[&str]) -> bool {
    let mut seen = HashSet::new();
    names.iter().all(|name| {
        let meant = match name.parse::<f64>() {
            // -0 is 0
            Ok(number) if number.is_finite() => format!("{:?}", number + 0.0),
            _ => name.to_string(),
        };
        !name.is_empty() && seen.insert(meant)
    })
}

/// The terminal and the signals.
struct Terminal {
    start: Instant,
    stop: Arc<AtomicBool>,
    bar: ProgressBar,
}

impl Terminal {
    fn new(quiet: bool) -> anyhow::Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        for signal in signal_hook::consts::TERM_SIGNALS {
            // a second one ends it at once, as if nobody listened
            signal_hook::flag::register_conditional_default(*signal, stop.clone())
                .context("signals")?;
            signal_hook::flag::register(*signal, stop.clone()).context("signals")?;
        }
        let target = if quiet || !std::io::stderr().is_terminal() {
            ProgressDrawTarget::hidden()
        } else {
            ProgressDrawTarget::stderr()
        };
        let style =
            ProgressStyle::with_template("{bar:40} {percent:>3} % of {total_bytes}, {eta} left")
                .context("progress bar")?;
        Ok(Self {
            start: Instant::now(),
            stop,
            bar: ProgressBar::with_draw_target(None, target).with_style(style),
        })
    }
}

impl Host for Terminal {
    fn say(&mut self, text: &str) {
        self.bar.suspend(|| {
            // Nobody may read it; the run goes on.
            let _ = std::io::stderr().write_all(text.as_bytes());
        });
    }

    fn seconds(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn progress(&mut self, done: u64, of: Option<u64>) {
        if let Some(of) = of {
            self.bar.set_length(of);
            self.bar.set_position(done);
        }
    }
}

impl Learn {
    pub fn run(&self) -> anyhow::Result<ExitCode> {
        let options = LearnOptions {
            data: self.source.data(),
            format: self.source.format,
            on_error: self.source.on_error(),
            passes: self.passes,
            resume: self.resume.clone(),
            skip_consumed: self.skip_consumed,
            model: self.model.clone(),
            drop_resume_state: self.drop_resume_state,
            checkpoint_every: self.checkpoint_every,
            predictions: self.predictions.clone(),
            hindsight: self.hindsight,
            certificate: self.certificate.clone(),
            test: self.test.clone(),
            trace: self.trace.clone(),
            trace_every: self.trace_every,
            every: self.every,
            threads: match self.threads {
                Some(threads) => threads.into(),
                None => std::thread::available_parallelism().map_or(1, usize::from),
            },
            progress: match (self.quiet, self.progress) {
                (true, _) => Progress::Quiet,
                (false, ProgressFlag::Json) => Progress::Json,
                (false, ProgressFlag::Table) => Progress::Table,
            },
            asked: Asked {
                set: self.set.clone(),
                loss: self.loss.clone(),
                learner: self.learner.clone(),
                horizon: self.horizon,
                gradient_bound: self.gradient_bound,
                eta_scale: self.eta_scale,
                ridge: self.l2,
                storage: self.storage.map(|storage| match storage {
                    StorageFlag::Dense => Storage::Dense,
                    StorageFlag::Lazy => Storage::Lazy,
                    StorageFlag::Sparse => Storage::Sparse,
                }),
                link: self.link.map(Link::from),
                labels: self.labels.clone(),
                classes: self.classes.clone().map(|classes| classes.0),
                bits: self.bits,
                intercept: self.intercept,
                zero_based: self.zero_based,
                label_column: self.label.clone(),
                weight_column: self.weight.clone(),
                categorical: self.categorical.clone(),
                seed: self.seed,
            },
        };
        let mut terminal = Terminal::new(self.quiet || self.progress == ProgressFlag::Json)?;
        let end = learn::learn(&options, &mut terminal);
        terminal.bar.finish_and_clear();
        let end = end?;
        if end == End::Done {
            return Ok(ExitCode::SUCCESS);
        }
        crate::tell(&match (&self.model, end) {
            (_, End::Unstarted) => {
                "interrupted before the first round; nothing was learnt, and nothing saved".into()
            }
            (Some(path), _) => format!("interrupted; what was learnt is in {}", path.display()),
            (None, _) => "interrupted; nothing was saved, as there is no -f".into(),
        });
        Ok(ExitCode::from(INTERRUPTED))
    }
}

#[derive(clap::Args)]
pub struct Predict {
    /// The model
    #[arg(short = 'i', long = "model", value_name = "MODEL")]
    model: PathBuf,
    #[command(flatten)]
    source: Source,
    /// Where predictions go [default: standard output]
    #[arg(short = 'p', long = "predictions", value_name = "FILE")]
    predictions: Option<PathBuf>,
    /// What predictions are written as [default: as the model was made]
    #[arg(long, value_enum)]
    link: Option<LinkFlag>,
}

impl Predict {
    pub fn run(&self) -> anyhow::Result<ExitCode> {
        let (_, skipped) = learn::predict(&PredictOptions {
            model: self.model.clone(),
            data: self.source.data(),
            format: self.source.format,
            on_error: self.source.on_error(),
            out: self.predictions.clone(),
            link: self.link.map(Link::from),
        })?;
        if skipped > 0 {
            crate::tell(&format!("skipped {skipped} lines"));
        }
        Ok(ExitCode::SUCCESS)
    }
}

#[derive(clap::Args)]
pub struct Inspect {
    /// The model
    model: PathBuf,
    /// The weights that are not 0, one per line
    #[arg(long)]
    weights: bool,
}

impl Inspect {
    pub fn run(&self) -> anyhow::Result<ExitCode> {
        let mut out = std::io::stdout().lock();
        if self.weights {
            let mut out = std::io::BufWriter::new(out);
            learn::weights(&self.model, &mut |line| out.write_all(line.as_bytes()))?;
            out.flush()?;
        } else {
            out.write_all(learn::inspect(&self.model)?.as_bytes())?;
        }
        Ok(ExitCode::SUCCESS)
    }
}
