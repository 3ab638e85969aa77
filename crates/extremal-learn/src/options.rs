//! What `learn` is to do; with the feature `clap`, as flags.

use std::path::{Path, PathBuf};

use extremal_data::{Format, OnError, ReadOptions};
use serde::Deserialize;

use crate::config::Config;
#[cfg(feature = "clap")]
use crate::flag;
use crate::progress::Every;

/// Where examples come from.
#[derive(Debug, Clone, Default)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct Input {
    /// The examples: a file, or - or nothing for standard input; gzip, bzip2, zstd and xz are
    /// recognised
    pub data: Option<PathBuf>,
    /// libsvm, vw, csv, tsv or jsonl [default: from the name, then from the content]
    #[cfg_attr(feature = "clap", arg(long))]
    pub format: Option<Format>,
    /// What to do about a line that can't be read
    #[cfg_attr(feature = "clap", arg(long, value_parser = flag::on_error(), default_value = "stop"))]
    pub on_error: OnError,
}

impl Input {
    /// The file, or `None` for standard input.
    pub fn path(&self) -> Option<&Path> {
        self.data.as_deref().filter(|path| path.as_os_str() != "-")
    }

    /// How to read it for a plan that wants it read like this.
    pub(crate) fn options(&self, planned: ReadOptions) -> ReadOptions {
        ReadOptions {
            format: self.format,
            on_error: self.on_error,
            ..planned
        }
    }
}

/// What `learn` is to do.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
#[cfg_attr(feature = "clap", command(next_line_help = false))]
// `--link` is shown among the reports
#[cfg_attr(feature = "clap", command(mut_arg("link", |link| link.help_heading("Reports").display_order(1))))]
pub struct LearnOptions {
    /// The stream.
    #[cfg_attr(feature = "clap", command(flatten))]
    pub input: Input,
    /// What is learnt and how.
    #[cfg_attr(feature = "clap", command(flatten))]
    pub config: Config,
    /// How many threads learn, one class or several each, besides the one that reads [default: one
    /// per core]; what is learnt does not depend on it
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..), help_heading = flag::READING))]
    pub threads: Option<u16>,
    /// How often to go through the file
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", default_value_t = 1, help_heading = flag::READING))]
    pub passes: u32,
    /// Models.
    #[cfg_attr(feature = "clap", command(flatten))]
    pub models: ModelOptions,
    /// Reports.
    #[cfg_attr(feature = "clap", command(flatten))]
    pub reports: ReportOptions,
}

/// Where models come from and go to.
#[derive(Debug, Clone, Default)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
#[cfg_attr(feature = "clap", command(next_help_heading = "Models"))]
pub struct ModelOptions {
    /// Save the model here; it can be resumed
    #[cfg_attr(feature = "clap", arg(short = 'f', long, value_name = "MODEL"))]
    pub model: Option<PathBuf>,
    /// Go on with this model
    #[cfg_attr(feature = "clap", arg(short = 'i', long, value_name = "MODEL"))]
    pub resume: Option<PathBuf>,
    /// Skip the examples that the model has consumed, after a kill for example
    #[cfg_attr(feature = "clap", arg(long = "continue"))]
    pub skip_consumed: bool,
    /// Save every N rounds
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..)))]
    pub checkpoint_every: Option<u64>,
    /// Keep only what predicting needs
    #[cfg_attr(feature = "clap", arg(long))]
    pub drop_resume_state: bool,
}

/// What a run tells, and where.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
#[cfg_attr(feature = "clap", command(next_help_heading = "Reports"))]
pub struct ReportOptions {
    /// Write the prediction made before each label was used; - is standard output
    #[cfg_attr(
        feature = "clap",
        arg(short, long, value_name = "FILE", display_order = 0)
    )]
    pub predictions: Option<PathBuf>,
    /// Score the final model on this file
    #[cfg_attr(feature = "clap", arg(long, value_name = "FILE"))]
    pub test: Option<PathBuf>,
    /// Look for the best fixed weights at the end, with a proof: one more pass over a file;
    /// examples from a pipe are kept in memory
    #[cfg_attr(feature = "clap", arg(long))]
    pub hindsight: bool,
    /// Write the certified regret against weights of any norm, as CSV
    #[cfg_attr(feature = "clap", arg(long, value_name = "FILE"))]
    pub certificate: Option<PathBuf>,
    /// Write a CSV row per report point
    #[cfg_attr(feature = "clap", arg(long, value_name = "FILE"))]
    pub trace: Option<PathBuf>,
    /// Rounds between two rows of the trace
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), requires = "trace"))]
    pub trace_every: Option<u64>,
    /// When a progress line is due: a factor (2.0) or a number of rounds (1000)
    #[cfg_attr(
        feature = "clap",
        arg(short = 'P', long, value_name = "N", default_value = "2.0")
    )]
    pub every: Every,
    /// The form of progress lines
    #[cfg_attr(feature = "clap", arg(long, value_parser = flag::one_of::<Progress>(&["table", "json"]), default_value = "table"))]
    pub progress: Progress,
    /// Print nothing but errors and the score of --test
    #[cfg_attr(feature = "clap", arg(short, long))]
    pub quiet: bool,
}

impl LearnOptions {
    /// How many threads may learn.
    pub(crate) fn threads(&self) -> usize {
        let all = || std::thread::available_parallelism().map_or(1, usize::from);
        self.threads.map_or_else(all, usize::from)
    }
}

impl ReportOptions {
    /// Whether progress is shown in this form.
    pub(crate) fn shows(&self, form: Progress) -> bool {
        !self.quiet && self.progress == form
    }
}

/// The form of progress reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Progress {
    /// For people.
    #[default]
    Table,
    /// For programs.
    Json,
}
