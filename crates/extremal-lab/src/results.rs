//! The files in an experiment's directory. They hold everything that a report shows, so that
//! `extremal report` needs no run.

use std::fs;
use std::path::Path;

use extremal::learner::Storage;
use extremal::theory;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::experiment::Experiment;
use crate::output::Output;

/// The files of an experiment's directory.
pub mod file {
    use std::path::{Path, PathBuf};

    use crate::error::{Error, Result};
    use crate::experiment::Experiment;

    /// The experiment with its defaults written out.
    pub const CONFIG: &str = "config.toml";
    /// Version, machine, inputs, status.
    pub const RUN: &str = "run.json";
    /// One row per checkpoint of a run.
    pub const TRACE: &str = "trace.csv";
    /// One row per problem, learner, scale and horizon.
    pub const SUMMARY: &str = "summary.csv";
    /// One row per assumption of a theorem.
    pub const CHECKS: &str = "checks.csv";
    /// One row per radius, of the longest runs with the first seed.
    pub const COMPARATORS: &str = "comparators.csv";
    /// Seconds, from runs with nothing else on the machine.
    pub const TIMING: &str = "timing.csv";
    /// Learners in the plane, round by round.
    pub const PICTURES: &str = "pictures.json";
    /// The page.
    pub const REPORT: &str = "report.html";

    /// The owner of a directory.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub enum Owner {
        /// No owner: no file would be overwritten.
        Nobody,
        /// This experiment.
        Same,
        /// Another experiment.
        Another,
        /// Not an experiment: this file would be overwritten.
        Else(PathBuf),
    }

    /// The owner of a directory that an experiment would write to.
    pub fn owner(directory: &Path, experiment: &Experiment) -> Result<Owner> {
        let path = directory.join(CONFIG);
        match std::fs::read_to_string(&path) {
            Ok(there) if there == experiment.to_toml() => return Ok(Owner::Same),
            Ok(there) if Experiment::parse(&there, &path).is_ok() => return Ok(Owner::Another),
            Ok(_) => return Ok(Owner::Else(path)),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {}
            Err(why) => return Err(Error::file(&path, "can't be read")(why)),
        }
        Ok(taken(directory).map_or(Owner::Nobody, Owner::Else))
    }

    /// The first file in a directory that the results would overwrite.
    pub fn taken(directory: &Path) -> Option<PathBuf> {
        let all = [
            CONFIG,
            RUN,
            TRACE,
            SUMMARY,
            CHECKS,
            COMPARATORS,
            TIMING,
            PICTURES,
            REPORT,
        ];
        let mut paths = all.iter().map(|name| directory.join(name));
        paths.find(|path| path.exists())
    }
}

/// A checkpoint of a run. The longest runs have several, the others one at the end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TraceRow {
    /// The problem's name in the experiment.
    pub problem: String,
    /// The learner's name in the experiment.
    pub learner: String,
    /// The factor on its step size.
    pub scale: f64,
    /// T.
    pub horizon: u64,
    /// The stream's seed.
    pub seed: u64,
    /// t.
    pub round: u64,
    /// Σ f_τ(x_τ) so far.
    pub loss: f64,
    /// max ‖g‖ so far.
    pub largest_gradient: f64,
    /// A lower bound on the regret so far.
    pub regret_lower: f64,
    /// An upper bound on the regret so far.
    pub regret_upper: f64,
    /// How the interval is known.
    pub level: Level,
    /// The theorem's bound after t rounds, if the theorem holds at every t.
    pub bound: Option<f64>,
    /// The bound on the regret that the learner computes itself.
    pub certificate: Option<f64>,
    /// The largest regret that any feasible learner can have: the smaller of G·D·t, with the largest
    /// gradient so far as G, and the loss minus the least possible loss.
    pub trivial: f64,
    /// The columns among `regret_upper`, `bound` and `certificate` that are vacuous, since they are at
    /// least that, separated by blanks.
    pub vacuous: String,
    /// h_t, the distance of the decision from the minimum of the surrogate, if it can be computed.
    pub surrogate: Option<f64>,
    /// The bound on h_t by the theorem's lemma.
    pub surrogate_bound: Option<f64>,
    /// Oracle calls so far.
    pub oracle_calls: u64,
    /// No comparator up to this norm has half the loss so far; `None` if this holds for no norm.
    pub halving_radius: Option<f64>,
}

impl TraceRow {
    /// Whether the upper end of the regret is vacuous. An exact regret never is.
    pub(crate) fn is_upper_vacuous(&self) -> bool {
        self.level != Level::Exact && theory::is_vacuous(self.regret_upper, self.trivial)
    }

    /// Whether the upper end of the regret is above the bound for this round, if there is one that
    /// is not vacuous.
    pub(crate) fn is_open(&self) -> bool {
        let bound = self.bound.filter(|b| !theory::is_vacuous(*b, self.trivial));
        bound.is_some_and(|bound| self.regret_upper > bound)
    }

    /// The names of the columns whose numbers are vacuous.
    pub(crate) fn vacuous_columns(&self) -> String {
        let is_vacuous = |b: Option<f64>| b.is_some_and(|b| theory::is_vacuous(b, self.trivial));
        let all = [
            ("regret_upper", self.is_upper_vacuous()),
            ("bound", is_vacuous(self.bound)),
            ("certificate", is_vacuous(self.certificate)),
        ];
        let names: Vec<&str> = all.iter().filter(|(_, is)| *is).map(|(n, _)| *n).collect();
        names.join(" ")
    }
}

/// One learner with one step size on one problem at one horizon, over the seeds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SummaryRow {
    /// The problem's name in the experiment.
    pub problem: String,
    /// The learner's name in the experiment.
    pub learner: String,
    /// The factor on its step size.
    pub scale: f64,
    /// T.
    pub horizon: u64,
    /// The number of seeds.
    pub seeds: u64,
    /// The mean of the regrets' lower ends.
    pub regret: f64,
    /// Its standard error; `None` with one seed.
    pub regret_error: Option<f64>,
    /// The least of them.
    pub regret_least: f64,
    /// The largest of them.
    pub regret_most: f64,
    /// The mean of the upper ends.
    pub regret_upper: f64,
    /// How the interval is known.
    pub level: Level,
    /// The measured exponent across horizons, at the longest one.
    pub exponent: Option<f64>,
    /// Its 95 % interval over seeds: the lower end.
    pub exponent_low: Option<f64>,
    /// The upper end.
    pub exponent_high: Option<f64>,
    /// Why there is no exponent, or why it may be above the theorem's; empty otherwise.
    pub exponent_note: String,
    /// The theorem.
    pub theorem: String,
    /// Its exponent.
    pub theorem_exponent: Option<f64>,
    /// Its bound, the mean over seeds where it depends on the run.
    pub bound: Option<f64>,
    /// The result of the comparison with it.
    pub verdict: Verdict,
    /// Those of `regret_upper` and `bound` that are vacuous in at least one run, separated by a blank;
    /// see [`TraceRow::vacuous`].
    pub vacuous: String,
    /// The largest violation of the set by a decision; `None` if the set does not report violations.
    pub violation: Option<f64>,
    /// Oracle calls of one run.
    pub oracle_calls: u64,
    /// How decisions are stored.
    #[serde(default)]
    pub storage: Storage,
}

impl SummaryRow {
    /// Whether the upper end of the regret is vacuous.
    pub fn is_upper_vacuous(&self) -> bool {
        self.vacuous.contains("regret_upper")
    }

    /// Whether the measured exponent is above the theorem's, even at the low end of its interval. Then
    /// the note has the reason.
    pub fn is_above_theorem(&self) -> bool {
        self.exponent.is_some() && !self.exponent_note.is_empty()
    }
}

/// How an interval of regret is known, the tightest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// Linear losses: one oracle call gives the regret itself.
    Exact,
    /// From the best fixed decision, computed offline up to a gap.
    Interval,
    /// The lower end from the best fixed decision, the upper end from the gradients.
    Certificate,
}

impl std::fmt::Display for Level {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.serialize(f)
    }
}

/// The result of comparing runs with a theorem's bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The upper end of the regret is below the bound.
    Kept,
    /// The bound is vacuous: see [`extremal::theory::is_vacuous`].
    Vacuous,
    /// The bound lies inside the interval of the regret.
    Undecided,
    /// The runs did not meet the assumptions.
    NotMet,
    /// The regret exceeds the bound although the assumptions hold: a defect.
    Exceeded,
    /// The bound is about the mean over seeds, and there are fewer than thirty.
    FewSeeds,
    /// No theorem for this learner on this set.
    NoneProven,
}

impl Verdict {
    /// Whether the assumptions are met and the bound is not vacuous.
    pub fn is_informative(self) -> bool {
        matches!(self, Self::Kept | Self::Undecided | Self::Exceeded)
    }
}

/// An assumption of a theorem, checked on the runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CheckRow {
    /// The problem's name in the experiment.
    pub problem: String,
    /// The learner's name in the experiment.
    pub learner: String,
    /// The factor on its step size.
    pub scale: f64,
    /// T.
    pub horizon: u64,
    /// Whether all runs met it.
    pub holds: bool,
    /// The assumption with the figures of a run that broke it, or else of the first run.
    pub detail: String,
}

/// The certificate at the end of a run against all comparators up to a norm.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ComparatorRow {
    /// The problem's name in the experiment.
    pub problem: String,
    /// The learner's name in the experiment.
    pub learner: String,
    /// The factor on its step size.
    pub scale: f64,
    /// T.
    pub horizon: u64,
    /// The stream's seed.
    pub seed: u64,
    /// ρ.
    pub radius: f64,
    /// An upper bound on the regret against them.
    pub regret_upper: f64,
    /// That bound over the total loss.
    pub share_of_loss: f64,
}

/// Seconds inside the learner up to a round, with nothing else on the machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TimingRow {
    /// The problem's name in the experiment.
    pub problem: String,
    /// The learner's name in the experiment.
    pub learner: String,
    /// The factor on its step size.
    pub scale: f64,
    /// T.
    pub horizon: u64,
    /// The stream's seed.
    pub seed: u64,
    /// t.
    pub round: u64,
    /// Seconds so far.
    pub seconds: f64,
}

/// A learner on a problem's set in the plane.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Picture {
    /// The problem's name in the experiment.
    pub problem: String,
    /// The learner's name in the experiment.
    pub learner: String,
    /// The set that is shown, as a spec, and how it lies in the plane.
    pub set: String,
    /// The set's boundary, a closed polygon.
    pub outline: Vec<[f64; 2]>,
    /// The best fixed decision of all rounds.
    pub best: [f64; 2],
    /// The rounds.
    pub steps: Vec<Step>,
}

/// One round of a picture.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// The decision.
    pub x: [f64; 2],
    /// The gradient at it.
    pub gradient: [f64; 2],
    /// The oracle's answers in this round; empty for a learner that projects.
    pub atoms: Vec<[f64; 2]>,
    /// The regret up to and with this round.
    pub regret: f64,
}

/// The provenance of the results.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunInfo {
    /// The program's version.
    pub version: String,
    /// The command that reproduces the tables.
    pub command: String,
    /// Whether all runs are complete.
    pub status: Status,
    /// The number of runs.
    pub cells: u64,
    /// The rounds of all runs.
    pub rounds: u64,
    /// The seeds of all problems.
    pub seeds: Vec<u64>,
    /// The files and data sets read, with their SHA-256.
    pub inputs: Vec<Input>,
    /// `linux x86_64`.
    pub platform: String,
    /// The widest vector instructions that the library uses. The last digits may depend on them.
    pub features: String,
    /// Cores of the machine.
    pub cores: u64,
    /// Threads used.
    pub threads: u64,
    /// Seconds of the last call.
    pub seconds: f64,
}

/// Whether an experiment is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// Runs are missing: the experiment is running, or was interrupted.
    Running,
    /// All runs are there.
    Complete,
}

/// A file that was read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Input {
    /// Its path, or the name of an embedded data set.
    pub name: String,
    /// SHA-256, hexadecimal.
    pub sha256: String,
}

/// All results of an experiment.
#[derive(Debug, Clone)]
pub struct Results {
    /// The experiment.
    pub experiment: Experiment,
    /// The provenance.
    pub run: RunInfo,
    /// See [`file::TRACE`].
    pub trace: Vec<TraceRow>,
    /// See [`file::SUMMARY`].
    pub summary: Vec<SummaryRow>,
    /// See [`file::CHECKS`].
    pub checks: Vec<CheckRow>,
    /// See [`file::COMPARATORS`].
    pub comparators: Vec<ComparatorRow>,
    /// See [`file::TIMING`].
    pub timing: Vec<TimingRow>,
    /// See [`file::PICTURES`].
    pub pictures: Vec<Picture>,
}

impl Results {
    /// Reads a directory.
    pub fn read(directory: &Path) -> Result<Self> {
        let config = directory.join(file::CONFIG);
        let text = read(&config)?;
        let run: RunInfo = json(directory, file::RUN)?;
        if run.status == Status::Running {
            return Err(Error::Unsupported(format!(
                "{} is not complete. This command finishes it: {}",
                directory.display(),
                run.command
            )));
        }
        Ok(Self {
            experiment: Experiment::parse(&text, &config)?,
            run,
            trace: table(directory, file::TRACE)?,
            summary: table(directory, file::SUMMARY)?,
            checks: table(directory, file::CHECKS)?,
            // Earlier versions did not write this file.
            comparators: match directory.join(file::COMPARATORS).exists() {
                true => table(directory, file::COMPARATORS)?,
                false => Vec::new(),
            },
            timing: table(directory, file::TIMING)?,
            pictures: json(directory, file::PICTURES)?,
        })
    }

    /// Writes all but the page.
    pub fn write(&self, output: &Output) -> Result<()> {
        output.write(file::CONFIG, self.experiment.to_toml())?;
        output.write(file::TRACE, rows(&self.trace, TRACE))?;
        output.write(file::SUMMARY, rows(&self.summary, SUMMARY))?;
        output.write(file::CHECKS, rows(&self.checks, CHECKS))?;
        output.write(file::COMPARATORS, rows(&self.comparators, COMPARATORS))?;
        output.write(file::TIMING, rows(&self.timing, TIMING))?;
        output.write(file::PICTURES, to_json(&self.pictures, false))?;
        // Last, so that a complete status means that all files are complete.
        write_run(output, &self.run)
    }
}

/// Writes the provenance.
pub(crate) fn write_run(output: &Output, run: &RunInfo) -> Result<()> {
    output.write(file::RUN, to_json(run, true))?;
    Ok(())
}

const TRACE: &str = "problem,learner,scale,horizon,seed,round,loss,largest_gradient,regret_lower,regret_upper,level,bound,certificate,trivial,vacuous,surrogate,surrogate_bound,oracle_calls,halving_radius";
const SUMMARY: &str = "problem,learner,scale,horizon,seeds,regret,regret_error,regret_least,regret_most,regret_upper,level,exponent,exponent_low,exponent_high,exponent_note,theorem,theorem_exponent,bound,verdict,vacuous,violation,oracle_calls,storage";
const CHECKS: &str = "problem,learner,scale,horizon,holds,detail";
const COMPARATORS: &str = "problem,learner,scale,horizon,seed,radius,regret_upper,share_of_loss";
const TIMING: &str = "problem,learner,scale,horizon,seed,round,seconds";

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).map_err(Error::file(path, "can't be read"))
}

/// The error of a file whose content does not have the expected form.
fn damaged(path: &Path, why: impl std::fmt::Display) -> Error {
    let what = format!("damaged, or from another version: {why}. Run the experiment again");
    extremal_data::Error::content(&path.display().to_string(), what).into()
}

fn json<T: DeserializeOwned>(directory: &Path, name: &str) -> Result<T> {
    let path = directory.join(name);
    let value = serde_json::from_str(&read(&path)?);
    value.map_err(|why| damaged(&path, why))
}

fn table<T: DeserializeOwned>(directory: &Path, name: &str) -> Result<Vec<T>> {
    let path = directory.join(name);
    let text = read(&path)?;
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let rows = reader.deserialize().collect::<Result<Vec<T>, _>>();
    rows.map_err(|why| damaged(&path, why))
}

/// A table's text. Numbers are written so that reading them gives the same bits.
fn rows<T: Serialize>(rows: &[T], header: &str) -> String {
    let mut out = csv::WriterBuilder::new()
        .has_headers(false)
        .from_writer(format!("{header}\n").into_bytes());
    for row in rows {
        out.serialize(row).expect("a row can be written");
    }
    let bytes = out.into_inner().expect("memory takes all of it");
    String::from_utf8(bytes).expect("rows are made of text")
}

fn to_json<T: Serialize>(value: &T, pretty: bool) -> String {
    let text = if pretty {
        serde_json::to_string_pretty(value)
    } else {
        serde_json::to_string(value)
    };
    let mut text = text.expect("plain numbers and text have a JSON form");
    text.push('\n');
    text
}

/// A small experiment with made-up numbers, for the tests of tables and pages: two problems, four
/// learners, one of them over a grid of step sizes.
#[cfg(test)]
pub(crate) fn fixture() -> Results {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/results");
    Results::read(&directory).expect("the fixture is complete")
}
