//! The commands `demo`, `compare` and `report`.

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

/// Options for figures.
#[derive(clap::Args)]
struct Figures {
    /// Also write every figure as an SVG file, into figures/
    #[arg(long)]
    svg: bool,
    /// Also write every figure as a PNG file, into figures/
    #[arg(long)]
    png: bool,
}

/// Options of the commands that run experiments.
#[derive(clap::Args)]
struct Running {
    /// Number of parallel runs [default: the number of processors]
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    /// Print only the table
    #[arg(long, short)]
    quiet: bool,
}

#[derive(clap::Args)]
pub struct Demo {
    /// Directory for report.html and the tables
    #[arg(long, value_name = "DIR", default_value = "extremal-demo")]
    out: PathBuf,
    /// Seed of the random streams
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Leave out all runs with more than T rounds
    #[arg(long, value_name = "T", value_parser = clap::value_parser!(u64).range(1_000..))]
    max_rounds: Option<u64>,
    #[command(flatten)]
    running: Running,
    #[command(flatten)]
    figures: Figures,
}

#[derive(clap::Args)]
pub struct Compare {
    /// The experiment file
    #[arg(value_name = "EXPERIMENT.toml")]
    experiment: PathBuf,
    /// Directory for report.html and the tables. A run whose results are already in the directory is
    /// not repeated [default: extremal-NAME for NAME.toml]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Write into a directory that holds a different experiment. Finished runs that belong to both
    /// experiments are reused
    #[arg(long)]
    update: bool,
    /// Check the experiment file and print the number of runs, but run nothing
    #[arg(long)]
    check: bool,
    #[command(flatten)]
    running: Running,
    #[command(flatten)]
    figures: Figures,
}

#[derive(clap::Args)]
pub struct Report {
    /// Output directories of `compare` or `demo`. The report covers all of them
    #[arg(value_name = "DIR", required = true)]
    directories: Vec<PathBuf>,
    /// Directory for report.html [default: the first directory]
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

    /// Runs an experiment with a progress bar. Returns `None` if a signal stops the experiment.
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

/// Writes all files, then prints the table. The table is printed last, because the reader of stdout may
/// close the pipe.
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
            "\nFinished in {:.1} s. Report: {}",
            results.run.seconds,
            page.display()
        ));
    }
    if Facts::of(std::slice::from_ref(&results)).is_suspicious() {
        tell(
            "error: a decision is outside its set, or a regret exceeds a proven bound. See the lines below the table",
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
                tell("interrupted; an interrupted demo saves no results");
                Ok(ExitCode::from(INTERRUPTED))
            }
        }
    }
}

impl Compare {
    pub fn run(&self) -> anyhow::Result<ExitCode> {
        let path = &self.experiment;
        let text = std::fs::read_to_string(path);
        let text = text.map_err(Error::file(path, "can't be read"))?;
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
                    "interrupted; repeat the command to continue from the results in {}",
                    directory.display()
                ));
                Ok(ExitCode::from(INTERRUPTED))
            }
        }
    }
}

/// The text of a file, if it exists.
fn read_if_there(path: &Path) -> anyhow::Result<Option<String>> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e).with_context(|| format!("can't read {}", path.display())),
    }
}

/// Checks that no foreign file in the directory would be overwritten. Without `update`, the directory
/// must not hold a different experiment.
fn check_directory(prepared: &Prepared, directory: &Path, update: bool) -> anyhow::Result<()> {
    match file::owner(directory, &prepared.experiment)? {
        Owner::Else(path) => Err(in_the_way(&path)),
        Owner::Another if !update => Err(Error::Usage(format!(
            "{} holds a different experiment, see {}. Choose an empty directory with --out, or use --update to reuse the runs that belong to both experiments",
            directory.display(),
            directory.join(file::CONFIG).display()
        ))
        .into()),
        _ => Ok(()),
    }
}

/// Checks that the directory holds nothing but an earlier demo.
fn check_demo_directory(directory: &Path) -> anyhow::Result<()> {
    match read_if_there(&directory.join(file::RUN))? {
        Some(run) if run.contains("\"extremal demo ") => Ok(()),
        Some(_) => Err(Error::Usage(format!(
            "{} holds an experiment, which the demo would overwrite. Choose a different directory with --out",
            directory.display()
        ))
        .into()),
        None => check_free(directory),
    }
}

/// Checks that no file would be overwritten.
fn check_free(directory: &Path) -> anyhow::Result<()> {
    file::taken(directory).map_or(Ok(()), |path| Err(in_the_way(&path)))
}

fn in_the_way(path: &Path) -> anyhow::Error {
    let path = path.display();
    Error::Usage(format!(
        "{path} would be overwritten. Choose a different directory with --out"
    ))
    .into()
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
