//! `demo`, `compare` and `report`.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use extremal_lab::experiment::{Experiment, Prepared, Progress, compare};
use extremal_lab::output::Output;
use extremal_lab::remarks::Facts;
use extremal_lab::results::Results;
use extremal_lab::results::file::{self, Owner};
use extremal_lab::{Error, demo, report, table};
use extremal_learn::Host;

use crate::terminal::Terminal;
use crate::{INTERRUPTED, NUMERICAL_FAILURE, paint, print, tell};

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What to draw besides the page.
#[derive(clap::Args)]
struct Figures {
    /// Write every figure as an SVG file too, into figures/
    #[arg(long)]
    svg: bool,
    /// Write every figure as a PNG file too, into figures/
    #[arg(long)]
    png: bool,
}

/// How to run.
#[derive(clap::Args)]
struct Running {
    /// How many runs go on at once [default: the number of processors]
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    /// Print the table alone
    #[arg(long, short)]
    quiet: bool,
}

#[derive(clap::Args)]
pub struct Demo {
    /// Where report.html and the tables go
    #[arg(long, value_name = "DIR", default_value = "extremal-demo")]
    out: PathBuf,
    /// Chooses the random streams
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Leave out the runs longer than this
    #[arg(long, value_name = "T", value_parser = clap::value_parser!(u64).range(1_000..))]
    max_rounds: Option<u64>,
    #[command(flatten)]
    running: Running,
    #[command(flatten)]
    figures: Figures,
}

#[derive(clap::Args)]
pub struct Compare {
    /// The experiment, in TOML
    #[arg(value_name = "EXPERIMENT.toml")]
    experiment: PathBuf,
    /// Where report.html and the tables go; finished runs found there are not made again
    /// [default: extremal-NAME, after the experiment's file]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Go on in a directory of an experiment that reads otherwise: runs that are the same are kept
    #[arg(long)]
    update: bool,
    /// Check the experiment, say how much there is to run, and stop
    #[arg(long)]
    check: bool,
    #[command(flatten)]
    running: Running,
    #[command(flatten)]
    figures: Figures,
}

#[derive(clap::Args)]
pub struct Report {
    /// Directories that `compare` or `demo` wrote; several make one report, in the first of them
    #[arg(value_name = "DIR", required = true)]
    directories: Vec<PathBuf>,
    /// Where report.html goes [default: the first directory]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    figures: Figures,
}

impl Running {
    fn threads(&self) -> usize {
        let all = || std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        self.threads.map_or_else(all, NonZeroUsize::get)
    }

    /// Runs an experiment with a bar on the terminal. Nothing if a signal stopped it.
    fn run(
        &self,
        prepared: &Prepared,
        command: &str,
        output: Option<&Output>,
    ) -> anyhow::Result<Option<Results>> {
        let terminal = Terminal::new(self.quiet, "{human_len} rounds")?;
        let bar = &terminal.bar;
        let progress = Progress {
            threads: self.threads(),
            clock: &|| terminal.seconds(),
            expect: &|rounds| bar.set_length(rounds),
            done: &|rounds| bar.inc(rounds),
            stopped: &|| terminal.is_stopped(),
        };
        let results = compare(prepared, VERSION, command, output, &progress);
        bar.finish_and_clear();
        Ok(results?)
    }
}

impl Figures {
    fn write(&self, all: &[Results], output: &Output) -> anyhow::Result<()> {
        if !self.svg && !self.png {
            return Ok(());
        }
        for figure in report::plots(all) {
            let name = format!("figures/{}", figure.name);
            if self.svg {
                output.write(&format!("{name}.svg"), &figure.content)?;
            }
            if self.png {
                let png = report::png(&figure.content, 1600)?;
                output.write(&format!("{name}.png"), &png)?;
            }
        }
        Ok(())
    }
}

/// Writes everything, then shows the table: whoever reads that may close the pipe early.
fn show(
    results: Results,
    output: &Output,
    running: &Running,
    figures: &Figures,
) -> anyhow::Result<ExitCode> {
    results.write(output)?;
    let all = [results];
    figures.write(&all, output)?;
    let page = output.write(file::REPORT, report::page(&all))?;
    let [results] = all;
    print(&table::render(&results, paint()))?;
    if !running.quiet {
        tell(&format!(
            "\nPlayed in {:.1} s. Report: {}",
            results.run.seconds,
            page.display()
        ));
    }
    if Facts::of(std::slice::from_ref(&results)).is_suspicious() {
        tell(
            "error: a decision left its set or a regret exceeds a proven bound, see the lines below the table",
        );
        return Ok(ExitCode::from(NUMERICAL_FAILURE));
    }
    Ok(ExitCode::SUCCESS)
}

impl Demo {
    pub fn run(&self) -> anyhow::Result<ExitCode> {
        let mut command = format!("extremal demo --seed {}", self.seed);
        if let Some(longest) = self.max_rounds {
            command.push_str(&format!(" --max-rounds {longest}"));
        }
        let prepared = Prepared::new(demo::experiment(self.seed, self.max_rounds)?)?;
        check_demo_directory(&self.out)?;
        let output = Output::open(&self.out)?;
        let _claim = output.claim()?;
        match self.running.run(&prepared, &command, None)? {
            Some(results) => show(results, &output, &self.running, &self.figures),
            None => {
                tell("interrupted; nothing is kept of a demo");
                Ok(ExitCode::from(INTERRUPTED))
            }
        }
    }
}

impl Compare {
    pub fn run(&self) -> anyhow::Result<ExitCode> {
        let path = &self.experiment;
        let text = std::fs::read_to_string(path).map_err(|why| Error::Read {
            path: path.clone(),
            why: why.to_string(),
        })?;
        let prepared = Prepared::new(Experiment::parse(&text, path)?)?;
        if self.check {
            let (cells, rounds) = prepared.size();
            tell(&format!(
                "{}: {cells} runs, {rounds} rounds",
                path.display()
            ));
            return Ok(ExitCode::SUCCESS);
        }
        if !self.running.quiet {
            for note in &prepared.notes {
                tell(&format!("note: {note}"));
            }
        }
        let directory = self.out.clone().unwrap_or_else(|| default_directory(path));
        check_directory(&prepared, &directory, self.update)?;
        let output = Output::open(&directory)?;
        let _claim = output.claim()?;
        let command = format!("extremal compare {}", path.display());
        match self.running.run(&prepared, &command, Some(&output))? {
            Some(results) => show(results, &output, &self.running, &self.figures),
            None => {
                tell(&format!(
                    "interrupted; the same command goes on from what is kept in {}",
                    directory.display()
                ));
                Ok(ExitCode::from(INTERRUPTED))
            }
        }
    }
}

/// The text of a file that may be missing.
fn read_if_there(path: &Path) -> anyhow::Result<Option<String>> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e).with_context(|| format!("can't read {}", path.display())),
    }
}

/// A directory of another experiment is left alone unless told otherwise, and so are files that are
/// no experiment's.
fn check_directory(prepared: &Prepared, directory: &Path, update: bool) -> anyhow::Result<()> {
    match file::owner(directory, &prepared.experiment)? {
        Owner::Else(path) => Err(in_the_way(&path)),
        Owner::Another if !update => Err(Error::Usage(format!(
            "{} holds another experiment, see {}; give another --out, or --update to run this one there and keep the runs that are the same",
            directory.display(),
            directory.join(file::CONFIG).display()
        ))
        .into()),
        _ => Ok(()),
    }
}

/// The demo writes over a demo, and over nothing else.
fn check_demo_directory(directory: &Path) -> anyhow::Result<()> {
    match read_if_there(&directory.join(file::RUN))? {
        Some(run) if run.contains("\"extremal demo ") => Ok(()),
        Some(_) => Err(Error::Usage(format!(
            "{} holds an experiment; give another --out",
            directory.display()
        ))
        .into()),
        None => check_free(directory),
    }
}

/// Nothing that would be written is there.
fn check_free(directory: &Path) -> anyhow::Result<()> {
    file::taken(directory).map_or(Ok(()), |path| Err(in_the_way(&path)))
}

fn in_the_way(path: &Path) -> anyhow::Error {
    let path = path.display();
    Error::Usage(format!("{path} would be written over; give another --out")).into()
}

/// `experiments/table1.toml` → `extremal-table1`.
fn default_directory(experiment: &Path) -> PathBuf {
    let stem = experiment.file_stem().unwrap_or_default();
    format!("extremal-{}", stem.to_string_lossy()).into()
}

impl Report {
    pub fn run(&self) -> anyhow::Result<ExitCode> {
        let all = self.directories.iter().map(|d| Results::read(d));
        let all = all.collect::<Result<Vec<Results>, Error>>()?;
        let output = Output::open(self.out.as_ref().unwrap_or(&self.directories[0]))?;
        self.figures.write(&all, &output)?;
        let page = output.write(file::REPORT, report::page(&all))?;
        tell(&format!("Report: {}", page.display()));
        Ok(ExitCode::SUCCESS)
    }
}
