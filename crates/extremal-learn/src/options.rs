//! The options of `learn`. With the feature `clap` they are flags.

use std::path::{Path, PathBuf};

use extremal_data::{Format, OnError, ReadOptions};
use serde::Deserialize;

use crate::config::Config;
#[cfg(feature = "clap")]
use crate::flag;
use crate::progress::Every;

/// Options for the input.
#[derive(Debug, Clone, Default)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct Input {
    /// File with the examples, plain or compressed by gzip, bzip2, zstd, xz or zip [default: standard
    /// input]
    pub data: Option<PathBuf>,
    /// Format of the data: libsvm, vw, csv, tsv or jsonl [default: detected from the name, then from
    /// the content]
    #[cfg_attr(feature = "clap", arg(long))]
    pub format: Option<Format>,
    /// What to do with invalid lines: stop at the first invalid line, or skip and count all of them
    #[cfg_attr(feature = "clap", arg(long, value_parser = flag::one_of::<OnError>(&["stop", "skip"]), default_value = "stop"))]
    pub on_error: OnError,
}

impl Input {
    /// The file, or `None` for standard input.
    pub fn path(&self) -> Option<&Path> {
        self.data.as_deref().filter(|path| path.as_os_str() != "-")
    }

    /// The options of the reader, from the options of the plan.
    pub(crate) fn options(&self, planned: ReadOptions) -> ReadOptions {
        ReadOptions {
            format: self.format,
            on_error: self.on_error,
            labels_may_miss: true,
            ..planned
        }
    }
}

/// The options of `learn`.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
#[cfg_attr(feature = "clap", command(next_line_help = false))]
// `--link` belongs to the predictions.
#[cfg_attr(feature = "clap", command(mut_arg("link", |link| link.help_heading("Reports").display_order(1))))]
pub struct LearnOptions {
    /// Options for the input.
    #[cfg_attr(feature = "clap", command(flatten))]
    pub input: Input,
    /// The components and settings.
    #[cfg_attr(feature = "clap", command(flatten))]
    pub config: Config,
    /// Number of threads among which the classes are divided. One more thread reads the data. The
    /// result does not depend on the number of threads [default: one thread per core]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..), help_heading = flag::READING))]
    pub threads: Option<u16>,
    /// Limit on the program's memory, for example 4G or 500M. If a stream needs more memory, the
    /// program saves the model and stops with an error [default: on Linux, half of the machine's
    /// memory]
    #[cfg_attr(feature = "clap", arg(long, value_name = "SIZE", help_heading = flag::READING))]
    pub max_memory: Option<Bytes>,
    /// Number of passes over the file
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..), help_heading = flag::READING))]
    pub passes: u32,
    /// Model files.
    #[cfg_attr(feature = "clap", command(flatten))]
    pub models: ModelOptions,
    /// Reports.
    #[cfg_attr(feature = "clap", command(flatten))]
    pub reports: ReportOptions,
}

/// The program, its threads and its buffers take some memory themselves.
const LEAST_MEMORY: u64 = 100 << 20;

/// A number of bytes. The program has to impose it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bytes(pub u64);

impl std::str::FromStr for Bytes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
        let unit = match text[digits.len()..].to_ascii_uppercase().as_str() {
            "" => Some(1),
            "K" | "KB" => Some(1 << 10),
            "M" | "MB" => Some(1 << 20),
            "G" | "GB" => Some(1 << 30),
            _ => None,
        };
        let bytes = unit.and_then(|unit: u64| digits.parse::<u64>().ok()?.checked_mul(unit));
        let bytes = bytes.ok_or("expected a whole number with K, M or G, such as 4G")?;
        match bytes < LEAST_MEMORY {
            true => Err("it must be at least 100M".into()),
            false => Ok(Self(bytes)),
        }
    }
}

/// Options for model files.
#[derive(Debug, Clone, Default)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
#[cfg_attr(feature = "clap", command(next_help_heading = "Model files"))]
pub struct ModelOptions {
    /// Save the model to this file
    #[cfg_attr(feature = "clap", arg(short = 'f', long, value_name = "MODEL"))]
    pub model: Option<PathBuf>,
    /// Continue training the model in this file
    #[cfg_attr(feature = "clap", arg(short = 'i', long, value_name = "MODEL"))]
    pub resume: Option<PathBuf>,
    /// Skip the examples that the resumed model has already consumed, for example after a crash
    #[cfg_attr(feature = "clap", arg(long = "continue"))]
    pub skip_consumed: bool,
    /// Save the model every N rounds
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..)))]
    pub checkpoint_every: Option<u64>,
    /// Save only the state that predictions need, so the model can't be resumed. This makes the model
    /// file smaller, except for the learner unit-free
    #[cfg_attr(feature = "clap", arg(long))]
    pub drop_resume_state: bool,
}

/// Options for reports.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
#[cfg_attr(feature = "clap", command(next_help_heading = "Reports"))]
pub struct ReportOptions {
    /// Write a prediction for each example to this file. Each prediction is made before the example's
    /// label is used. The name - means standard output
    #[cfg_attr(
        feature = "clap",
        arg(short, long, value_name = "FILE", display_order = 0)
    )]
    pub predictions: Option<PathBuf>,
    /// Score the final model on this file
    #[cfg_attr(feature = "clap", arg(long, value_name = "FILE"))]
    pub test: Option<PathBuf>,
    /// At the end, compute the best fixed weights, with a certificate. To do so, the program reads a
    /// file once more, and keeps all examples from a pipe in memory
    #[cfg_attr(feature = "clap", arg(long))]
    pub hindsight: bool,
    /// Write a CSV file with the certified regret for each norm of the comparator
    #[cfg_attr(feature = "clap", arg(long, value_name = "FILE"))]
    pub certificate: Option<PathBuf>,
    /// Write a CSV file with one row per report
    #[cfg_attr(feature = "clap", arg(long, value_name = "FILE"))]
    pub trace: Option<PathBuf>,
    /// Number of rounds from one row of the trace to the next
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), requires = "trace"))]
    pub trace_every: Option<u64>,
    /// If N is a whole number (1000), report every N rounds. If N has a decimal point (2.0), the
    /// number of rounds grows by the factor N from one report to the next
    #[cfg_attr(
        feature = "clap",
        arg(short = 'P', long, value_name = "N", default_value = "2.0")
    )]
    pub every: Every,
    /// Format of the progress reports
    #[cfg_attr(feature = "clap", arg(long, value_parser = flag::one_of::<Progress>(&["table", "json"]), default_value = "table"))]
    pub progress: Progress,
    /// Print only errors and the score of --test
    #[cfg_attr(feature = "clap", arg(short, long))]
    pub quiet: bool,
}

impl LearnOptions {
    /// The number of worker threads.
    pub(crate) fn threads(&self) -> usize {
        let all = || std::thread::available_parallelism().map_or(1, usize::from);
        self.threads.map_or_else(all, usize::from)
    }
}

impl ReportOptions {
    /// Whether reports have this format.
    pub(crate) fn shows(&self, form: Progress) -> bool {
        !self.quiet && self.progress == form
    }
}

/// The format of progress reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Progress {
    /// A table for people.
    #[default]
    Table,
    /// JSON lines for programs.
    Json,
}
