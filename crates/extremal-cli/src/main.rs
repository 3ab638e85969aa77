//! The program `extremal`: arguments become calls to the layers below, and errors exit codes.

mod learn;

use std::io::{IsTerminal, Write};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::Context;
use clap::{CommandFactory, Parser, Subcommand, ValueEnum};
use extremal_lab::cite;
use extremal_lab::demo::{self, Options};
use extremal_lab::list::{self, Kind};
use extremal_lab::output::Output;
use extremal_lab::table::Paint;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

const BAD_INPUT: u8 = 1;
/// clap's, and ours where flags contradict a model or each other.
const BAD_USAGE: u8 = 2;
const NUMERICAL_FAILURE: u8 = 3;

/// Projection-free online learning: one linear minimisation per round.
#[derive(Parser)]
#[command(name = "extremal", version, arg_required_else_help = true)]
#[command(
    after_help = "Exit codes: 0 done, 1 bad input, 2 bad usage, 3 numerical failure, 130 interrupted with the state saved."
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Play the paper's algorithms and their rivals on built-in problems, and write a report
    Demo(Demo),
    /// Learn from a stream of examples, one round each, inside a constraint set
    Learn(Box<learn::Learn>),
    /// Write a model's predictions for examples, one per line
    Predict(learn::Predict),
    /// Show what a model file holds
    Inspect(learn::Inspect),
    /// Show everything registered: keys, cost, guarantee, reference, examples
    List {
        /// One kind only
        kind: Option<Listed>,
    },
    /// Print the papers behind a learner, as BibTeX
    Cite {
        /// One learner only
        learner: Option<String>,
    },
    /// Print the completions of a shell
    Completions {
        /// Which shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page, in roff
    Man,
}

#[derive(clap::Args)]
struct Demo {
    /// Where report.html, results.csv and figures/ go
    #[arg(long, value_name = "DIR", default_value = "extremal-demo")]
    out: PathBuf,
    /// Chooses the random streams
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Leave out the runs longer than this
    #[arg(long, value_name = "T", value_parser = clap::value_parser!(u64).range(1_000..))]
    max_rounds: Option<u64>,
    /// How many runs go on at once [default: the number of processors]
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    /// Print the table alone
    #[arg(long, short)]
    quiet: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Listed {
    Sets,
    Losses,
    Learners,
    Streams,
}

impl From<Listed> for Kind {
    fn from(listed: Listed) -> Self {
        match listed {
            Listed::Sets => Self::Sets,
            Listed::Losses => Self::Losses,
            Listed::Learners => Self::Learners,
            Listed::Streams => Self::Streams,
        }
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let result = match arguments.command {
        Command::Demo(demo) => play(&demo),
        Command::Learn(learn) => learn.run(),
        Command::Predict(predict) => predict.run(),
        Command::Inspect(inspect) => inspect.run(),
        Command::List { kind } => show(kind),
        Command::Cite { learner } => papers(learner.as_deref()),
        Command::Completions { shell } => completions(shell),
        Command::Man => manual(),
    };
    result.unwrap_or_else(|error| {
        // A reader that has seen enough (`extremal list | head`) is no failure.
        let closed = |e: &std::io::Error| e.kind() == std::io::ErrorKind::BrokenPipe;
        let lab = error.downcast_ref::<extremal_lab::Error>();
        if error.downcast_ref().is_some_and(closed)
            || lab.is_some_and(extremal_lab::Error::is_closed_pipe)
        {
            return ExitCode::SUCCESS;
        }
        tell(&format!("error: {}", in_words(&error)));
        ExitCode::from(match lab {
            Some(lab) if lab.is_numerical() => NUMERICAL_FAILURE,
            Some(lab) if lab.is_usage() => BAD_USAGE,
            _ => BAD_INPUT,
        })
    })
}

/// A line on stderr. Where that can't be written, the exit code still tells.
fn tell(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// The error and what is behind it, each thing once.
fn in_words(error: &anyhow::Error) -> String {
    let mut text = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}

fn play(arguments: &Demo) -> anyhow::Result<ExitCode> {
    let threads = match arguments.threads {
        Some(threads) => threads.get(),
        None => std::thread::available_parallelism().map_or(1, NonZeroUsize::get),
    };
    let options = Options {
        seed: arguments.seed,
        longest: arguments.max_rounds,
        threads,
        version: env!("CARGO_PKG_VERSION").into(),
    };
    let plan = demo::plan(options.seed, options.longest)?;
    let output = Output::open(&arguments.out)?;
    let progress = progress(plan.rounds(), arguments.quiet)?;
    let start = Instant::now();
    let played = demo::play(
        plan,
        &options,
        &|| start.elapsed().as_secs_f64(),
        &|rounds| progress.inc(rounds),
    );
    progress.finish_and_clear();
    let played = played?;
    // The files first: whoever reads the table may close the pipe early.
    let report = played.write(&output)?;
    print(&played.table(paint()))?;
    if !arguments.quiet {
        tell(&format!(
            "\nPlayed in {:.1} s. Report: {}",
            played.seconds(),
            report.display()
        ));
    }
    if played.summary.is_suspicious() {
        tell(
            "error: a decision left its set or a regret exceeds a proven bound, see the lines below the table",
        );
        return Ok(ExitCode::from(NUMERICAL_FAILURE));
    }
    Ok(ExitCode::SUCCESS)
}

/// A bar on stderr if that is a terminal, otherwise one that shows nothing.
fn progress(rounds: u64, quiet: bool) -> anyhow::Result<ProgressBar> {
    let style =
        ProgressStyle::with_template("{bar:40} {percent:>3} % of {human_len} rounds, {eta} left")
            .context("progress bar")?;
    let target = if quiet || !std::io::stderr().is_terminal() {
        ProgressDrawTarget::hidden()
    } else {
        ProgressDrawTarget::stderr()
    };
    Ok(ProgressBar::with_draw_target(Some(rounds), target).with_style(style))
}

fn show(kind: Option<Listed>) -> anyhow::Result<ExitCode> {
    let kinds = kind.map_or(Kind::ALL.to_vec(), |kind| vec![kind.into()]);
    print(&list::render(&kinds, paint()))?;
    Ok(ExitCode::SUCCESS)
}

fn papers(learner: Option<&str>) -> anyhow::Result<ExitCode> {
    print(&learner.map_or_else(|| Ok(cite::all()), cite::learner)?)?;
    Ok(ExitCode::SUCCESS)
}

fn completions(shell: clap_complete::Shell) -> anyhow::Result<ExitCode> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "extremal", &mut text);
    std::io::stdout().write_all(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn manual() -> anyhow::Result<ExitCode> {
    let mut text = Vec::new();
    clap_mangen::Man::new(Arguments::command()).render(&mut text)?;
    std::io::stdout().write_all(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn print(text: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// Escape codes on terminals alone, and not where NO_COLOR asks for none.
fn paint() -> Paint {
    let refused = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty())
        || std::env::var_os("TERM").is_some_and(|v| v == "dumb");
    if std::io::stdout().is_terminal() && !refused {
        Paint::Ansi
    } else {
        Paint::Plain
    }
}
