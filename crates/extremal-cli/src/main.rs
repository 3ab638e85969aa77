//! The program `extremal`. It turns arguments into calls of the libraries, and errors into exit codes.

mod experiment;
mod learn;
mod memory;
mod terminal;

use std::io::{IsTerminal, Write};
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use extremal_lab::cite;
use extremal_lab::list::{self, Kind};
use extremal_lab::table::Paint;

const BAD_INPUT: u8 = 1;
/// clap uses the same exit code for bad arguments.
const BAD_USAGE: u8 = 2;
const NUMERICAL_FAILURE: u8 = 3;
/// The exit code of a run that a signal stopped. Its finished results are kept.
const INTERRUPTED: u8 = 130;

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
    /// Run several learners on built-in problems, and write a report
    Demo(experiment::Demo),
    /// Run an experiment (learners × problems × seeds), and write tables and a report
    Compare(experiment::Compare),
    /// Rebuild the report of one or more experiments from their tables
    Report(experiment::Report),
    /// Learn from a stream of examples, one round per example, with weights inside a set
    Learn(Box<extremal_learn::LearnOptions>),
    /// Write a model's predictions for examples, one per line
    Predict(extremal_learn::PredictOptions),
    /// Describe the model in a model file
    Inspect(learn::Inspect),
    /// List all sets, losses, learners and streams, with their parameters, guarantees and references
    List {
        /// List only components of this kind
        kind: Option<Listed>,
        /// Instead of the list, print a JSON schema for the specs of sets, losses, learners and streams
        #[arg(long, conflicts_with = "kind")]
        json_schema: bool,
    },
    /// Print BibTeX records of the papers behind the learners
    Cite {
        /// Print only the records for this learner
        learner: Option<String>,
    },
    /// Print shell completions
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual pages of the program and of all commands, in roff
    Man,
}

#[derive(Clone, Copy, ValueEnum)]
enum Listed {
    Sets,
    Losses,
    Learners,
    Streams,
    Data,
}

impl From<Listed> for Kind {
    fn from(listed: Listed) -> Self {
        match listed {
            Listed::Sets => Self::Sets,
            Listed::Losses => Self::Losses,
            Listed::Learners => Self::Learners,
            Listed::Streams => Self::Streams,
            Listed::Data => Self::Data,
        }
    }
}

fn main() -> ExitCode {
    let parsed = command().try_get_matches();
    let parsed = parsed.and_then(|matches| Arguments::from_arg_matches(&matches));
    let arguments = parsed.unwrap_or_else(|error| {
        // An error in a spec needs no text from clap.
        let source = std::error::Error::source(&error);
        match source.and_then(|why| why.downcast_ref::<extremal::Error>()) {
            Some(why) => {
                tell(&format!("error: {why}"));
                std::process::exit(BAD_USAGE.into())
            }
            None => error.exit(),
        }
    });
    let result = match arguments.command {
        Command::Demo(demo) => demo.run(),
        Command::Compare(compare) => compare.run(),
        Command::Report(report) => report.run(),
        Command::Learn(options) => learn::learn(&options),
        Command::Predict(options) => learn::predict(&options),
        Command::Inspect(inspect) => inspect.run(),
        Command::List { kind, json_schema } => show(kind, json_schema),
        Command::Cite { learner } => papers(learner.as_deref()),
        Command::Completions { shell } => completions(shell),
        Command::Man => manual(),
    };
    result.unwrap_or_else(|error| {
        // A closed pipe (`extremal list | head`) is not an error.
        let closed = |e: &std::io::Error| e.kind() == std::io::ErrorKind::BrokenPipe;
        let learn = error.downcast_ref::<extremal_learn::Error>();
        let lab = error.downcast_ref::<extremal_lab::Error>();
        if error.downcast_ref().is_some_and(closed)
            || learn.is_some_and(extremal_learn::Error::is_closed_pipe)
        {
            return ExitCode::SUCCESS;
        }
        tell(&format!("error: {}", in_words(&error)));
        let (is_numerical, is_usage) = match (learn, lab) {
            (Some(learn), _) => (learn.is_numerical(), learn.is_usage()),
            (_, Some(lab)) => (lab.is_numerical(), lab.is_usage()),
            _ => (false, false),
        };
        ExitCode::from(match (is_numerical, is_usage) {
            (true, _) => NUMERICAL_FAILURE,
            (_, true) => BAD_USAGE,
            _ => BAD_INPUT,
        })
    })
}

/// Writes a line to stderr. A failure to write does not change the exit code.
fn tell(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// The text of an error and of its causes, without repetitions.
fn in_words(error: &anyhow::Error) -> String {
    let mut text = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}

fn show(kind: Option<Listed>, json_schema: bool) -> anyhow::Result<ExitCode> {
    if json_schema {
        print(&extremal::spec::schema())?;
        return Ok(ExitCode::SUCCESS);
    }
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

/// The arguments. The help is as wide as the terminal, or has 80 columns.
fn command() -> clap::Command {
    let command = Arguments::command();
    match std::io::stdout().is_terminal() {
        true => command,
        false => command.term_width(80),
    }
}

/// Prints one page for the program and one for every subcommand.
fn manual() -> anyhow::Result<ExitCode> {
    let mut text = Vec::new();
    let mut command = Arguments::command().disable_help_subcommand(true);
    command.build();
    let pages = std::iter::once(&command).chain(command.get_subcommands());
    for page in pages {
        clap_mangen::Man::new(page.clone()).render(&mut text)?;
    }
    std::io::stdout().write_all(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn print(text: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// Output to a terminal is coloured, unless NO_COLOR is set.
fn paint() -> Paint {
    let refused = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty())
        || std::env::var_os("TERM").is_some_and(|v| v == "dumb");
    if std::io::stdout().is_terminal() && !refused {
        Paint::Ansi
    } else {
        Paint::Plain
    }
}
