//! The files in an experiment's directory. They contain everything that a report shows, so that
//! `extremal report` repeats no run.

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

    /// The experiment with all defaults written out.
    pub const CONFIG: &str = "config.toml";
    /// The program's version, the machine, the inputs and the status.
    pub const RUN: &str = "run.json";
    /// One row per checkpoint of a run.
    pub const TRACE: &str = "trace.csv";
    /// One row per problem, learner, factor on the step size and horizon.
    pub const SUMMARY: &str = "summary.csv";
    /// One row per assumption of a theorem.
    pub const CHECKS: &str = "checks.csv";
    /// The certified regret against comparators up to each norm, for the longest runs with the first
    /// seed.
    pub const COMPARATORS: &str = "comparators.csv";
    /// Running times in seconds, from runs that were timed one after another.
    pub const TIMING: &str = "timing.csv";
    /// The rounds of learners on sets in the plane.
    pub const PICTURES: &str = "pictures.json";
    /// The report.
    pub const REPORT: &str = "report.html";

    /// The content of a directory to which an experiment would write.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub enum Owner {
        /// The directory holds no file that would be overwritten.
        Nobody,
        /// The directory holds the same experiment.
        Same,
        /// The directory holds a different experiment.
        Another,
        /// The directory holds this file, which would be overwritten although it does not belong to an
        /// experiment.
        Else(PathBuf),
    }

    /// Finds out whether a directory already belongs to an experiment.
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

/// A *checkpoint*: the state of a run after one of its rounds. A run of the longest horizon has several
/// checkpoints. A shorter run has a single checkpoint, after its last round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TraceRow {
    /// The problem's name in the experiment.
    pub problem: String,
    /// The learner's name in the experiment.
    pub learner: String,
    /// The factor on the step size.
    pub scale: f64,
    /// The number of rounds T.
    pub horizon: u64,
    /// The seed of the stream.
    pub seed: u64,
    /// The round t.
    pub round: u64,
    /// The total loss so far.
    pub loss: f64,
    /// The largest gradient norm so far.
    pub largest_gradient: f64,
    /// A lower bound on the regret so far.
    pub regret_lower: f64,
    /// An upper bound on the regret so far.
    pub regret_upper: f64,
    /// The level of the lower and the upper bound.
    pub level: Level,
    /// The theorem's bound after t rounds, if the theorem holds at every t.
    pub bound: Option<f64>,
    /// The upper bound on the regret that the learner itself computes.
    pub certificate: Option<f64>,
    /// The largest regret that any feasible learner can have. It is the smaller of G·D·t and the loss
    /// minus the least possible loss. G is the largest gradient norm so far, and D is the set's diameter.
    pub trivial: f64,
    /// The names of the vacuous columns, separated by spaces. `regret_upper`, `bound` or `certificate` is
    /// vacuous if it is at least `trivial`.
    pub vacuous: String,
    /// The surrogate gap h_t, if it can be computed: the value of the learner's surrogate at the
    /// decision, minus the surrogate's minimum over the set.
    pub surrogate: Option<f64>,
    /// The bound on h_t from the proof of the theorem.
    pub surrogate_bound: Option<f64>,
    /// The number of oracle calls so far.
    pub oracle_calls: u64,
    /// The largest norm ρ for which a proof shows that no comparator of norm at most ρ halves the loss
    /// so far. `None` if there is no such norm.
    pub halving_radius: Option<f64>,
}

impl TraceRow {
    /// Whether the upper end of the regret's interval is vacuous. An exact regret is never vacuous.
    pub(crate) fn is_upper_vacuous(&self) -> bool {
        self.level != Level::Exact && theory::is_vacuous(self.regret_upper, self.trivial)
    }

    /// Whether this round has a bound that is below the upper end of the regret's interval. Vacuous
    /// bounds do not count.
    pub(crate) fn is_open(&self) -> bool {
        let bound = self.bound.filter(|b| !theory::is_vacuous(*b, self.trivial));
        bound.is_some_and(|bound| self.regret_upper > bound)
    }

    /// The names of the vacuous columns, separated by spaces.
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

/// The results of one learner with one step size on one problem and at one horizon, over all seeds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SummaryRow {
    /// The problem's name in the experiment.
    pub problem: String,
    /// The learner's name in the experiment.
    pub learner: String,
    /// The factor on the step size.
    pub scale: f64,
    /// The number of rounds T.
    pub horizon: u64,
    /// The number of seeds.
    pub seeds: u64,
    /// The mean regret over the seeds, computed from the lower ends of the runs' intervals.
    pub regret: f64,
    /// The standard error of the mean regret. `None` with one seed.
    pub regret_error: Option<f64>,
    /// The smallest regret over the seeds, computed from the lower ends of the runs' intervals.
    pub regret_least: f64,
    /// The largest regret over the seeds, computed from the lower ends of the runs' intervals.
    pub regret_most: f64,
    /// The mean of the upper ends of the runs' intervals.
    pub regret_upper: f64,
    /// The level of the intervals. If the runs have different levels, this is the least precise one.
    pub level: Level,
    /// The measured exponent across horizons. Only the row of the longest horizon has an exponent.
    pub exponent: Option<f64>,
    /// The lower end of the exponent's 95 % interval over seeds.
    pub exponent_low: Option<f64>,
    /// The upper end of the exponent's 95 % interval over seeds.
    pub exponent_high: Option<f64>,
    /// The reason why the exponent is missing, or why it may be above the theorem's exponent. Empty
    /// otherwise.
    pub exponent_note: String,
    /// The name of the theorem. Empty if there is none.
    pub theorem: String,
    /// The exponent of T in the theorem's bound.
    pub theorem_exponent: Option<f64>,
    /// The theorem's bound. If the bound depends on the run, this is the mean of the bounds over the
    /// seeds.
    pub bound: Option<f64>,
    /// The result of comparing the regret with the bound.
    pub verdict: Verdict,
    /// The columns that are vacuous in at least one run, separated by a space: `regret_upper`, `bound`
    /// or both. [`TraceRow::vacuous`] defines the term.
    pub vacuous: String,
    /// The largest violation of the set by a decision. `None` if the set can't measure violations.
    pub violation: Option<f64>,
    /// The mean number of oracle calls of a run.
    pub oracle_calls: u64,
    /// How decisions are stored.
    #[serde(default)]
    pub storage: Storage,
}

impl SummaryRow {
    /// Whether the upper end of the regret's interval is vacuous.
    pub fn is_upper_vacuous(&self) -> bool {
        self.vacuous.contains("regret_upper")
    }

    /// Whether the whole interval of the measured exponent is above the theorem's exponent. If so,
    /// `exponent_note` gives the reason.
    pub fn is_above_theorem(&self) -> bool {
        self.exponent.is_some() && !self.exponent_note.is_empty()
    }
}

/// How an interval that contains the regret was computed. The most precise way comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// The losses are linear, so that one oracle call gives the regret itself.
    Exact,
    /// Both ends of the interval follow from the best fixed decision, which is computed offline up to a
    /// proven gap.
    Interval,
    /// The lower end of the interval follows from the best fixed decision, and the upper end follows
    /// from the gradients.
    Certificate,
}

impl std::fmt::Display for Level {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.serialize(f)
    }
}

/// The result of comparing the regret of runs with a theorem's bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The upper end of the regret's interval is not above the bound.
    Kept,
    /// The bound is vacuous, as [`extremal::theory::is_vacuous`] defines it.
    Vacuous,
    /// The bound lies inside the interval that contains the regret.
    Undecided,
    /// A run does not meet the assumptions of the theorem.
    NotMet,
    /// The regret exceeds the bound although the assumptions hold, which is a defect.
    Exceeded,
    /// The theorem bounds the mean over seeds, and there are fewer than thirty seeds.
    FewSeeds,
    /// There is no theorem for this learner on this set.
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
    /// The factor on the step size.
    pub scale: f64,
    /// The number of rounds T.
    pub horizon: u64,
    /// Whether all runs met the assumption.
    pub holds: bool,
    /// The assumption in words, with the values of a run. This is the first run that violates the
    /// assumption. If no run violates it, the values come from the first run.
    pub detail: String,
}

/// An upper bound on the regret of a run against all comparators up to a norm.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ComparatorRow {
    /// The problem's name in the experiment.
    pub problem: String,
    /// The learner's name in the experiment.
    pub learner: String,
    /// The factor on the step size.
    pub scale: f64,
    /// The number of rounds T.
    pub horizon: u64,
    /// The seed of the stream.
    pub seed: u64,
    /// The largest norm ρ of the comparators.
    pub radius: f64,
    /// The upper bound on the regret.
    pub regret_upper: f64,
    /// The upper bound divided by the total loss.
    pub share_of_loss: f64,
}

/// The running time of a learner up to a round, without the time for losses and gradients.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TimingRow {
    /// The problem's name in the experiment.
    pub problem: String,
    /// The learner's name in the experiment.
    pub learner: String,
    /// The factor on the step size.
    pub scale: f64,
    /// The number of rounds T.
    pub horizon: u64,
    /// The seed of the stream.
    pub seed: u64,
    /// The round t.
    pub round: u64,
    /// The running time so far in seconds.
    pub seconds: f64,
}

/// The rounds of a learner on a problem's set in the plane.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Picture {
    /// The problem's name in the experiment.
    pub problem: String,
    /// The learner's name in the experiment.
    pub learner: String,
    /// The spec of the set in the picture, with a note if the set lies in a plane of ℝ³.
    pub set: String,
    /// The set's boundary, as the points of a closed polygon.
    pub outline: Vec<[f64; 2]>,
    /// The best fixed decision for all rounds.
    pub best: [f64; 2],
    /// The rounds of the picture.
    pub steps: Vec<Step>,
}

/// One round of a picture.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// The decision.
    pub x: [f64; 2],
    /// The gradient at the decision.
    pub gradient: [f64; 2],
    /// The points that the oracle returned in this round. Empty for a learner that projects.
    pub atoms: Vec<[f64; 2]>,
    /// The regret after this round.
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
    /// The number of rounds in all runs.
    pub rounds: u64,
    /// The seeds of all problems.
    pub seeds: Vec<u64>,
    /// The files and data sets that were read.
    pub inputs: Vec<Input>,
    /// The operating system and the processor's architecture, such as `linux x86_64`.
    pub platform: String,
    /// The widest vector instructions that the library uses. The last digits of results may depend on
    /// them.
    pub features: String,
    /// The number of the machine's cores.
    pub cores: u64,
    /// The number of threads that were used.
    pub threads: u64,
    /// The running time of the last command in seconds.
    pub seconds: f64,
}

/// Whether an experiment is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// The experiment is running, or was interrupted.
    Running,
    /// All runs are finished.
    Complete,
}

/// A file that was read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Input {
    /// The path of the file, or the name of an embedded data set.
    pub name: String,
    /// The SHA-256 of the content, in hexadecimal.
    pub sha256: String,
}

/// All results of an experiment.
#[derive(Debug, Clone)]
pub struct Results {
    /// The experiment.
    pub experiment: Experiment,
    /// The provenance.
    pub run: RunInfo,
    /// The checkpoints of all runs ([`file::TRACE`]).
    pub trace: Vec<TraceRow>,
    /// The results of each learner over its seeds ([`file::SUMMARY`]).
    pub summary: Vec<SummaryRow>,
    /// The checked assumptions of theorems ([`file::CHECKS`]).
    pub checks: Vec<CheckRow>,
    /// The certified regret against comparators up to each norm ([`file::COMPARATORS`]).
    pub comparators: Vec<ComparatorRow>,
    /// The running times ([`file::TIMING`]).
    pub timing: Vec<TimingRow>,
    /// The pictures in the plane ([`file::PICTURES`]).
    pub pictures: Vec<Picture>,
}

impl Results {
    /// Reads the results in a directory.
    pub fn read(directory: &Path) -> Result<Self> {
        let config = directory.join(file::CONFIG);
        let text = read(&config)?;
        let run: RunInfo = json(directory, file::RUN)?;
        if run.status == Status::Running {
            return Err(Error::Unsupported(format!(
                "the experiment in {} is not complete. To finish it, run: {}",
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
            // Earlier versions of the program did not write this file.
            comparators: match directory.join(file::COMPARATORS).exists() {
                true => table(directory, file::COMPARATORS)?,
                false => Vec::new(),
            },
            timing: table(directory, file::TIMING)?,
            pictures: json(directory, file::PICTURES)?,
        })
    }

    /// Writes all files except the report.
    pub fn write(&self, output: &Output) -> Result<()> {
        output.write(file::CONFIG, self.experiment.to_toml())?;
        output.write(file::TRACE, rows(&self.trace, TRACE))?;
        output.write(file::SUMMARY, rows(&self.summary, SUMMARY))?;
        output.write(file::CHECKS, rows(&self.checks, CHECKS))?;
        output.write(file::COMPARATORS, rows(&self.comparators, COMPARATORS))?;
        output.write(file::TIMING, rows(&self.timing, TIMING))?;
        output.write(file::PICTURES, to_json(&self.pictures, false))?;
        // This file is written last: if its status is complete, all other files are complete too.
        write_run(output, &self.run)
    }
}

/// Writes the provenance of the results.
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
    let what = format!(
        "the file is damaged, or a different version of the program wrote it: {why}. Run the experiment again"
    );
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

/// The rows of a table as CSV. Reading a number back gives the same bits.
fn rows<T: Serialize>(rows: &[T], header: &str) -> String {
    let mut out = csv::WriterBuilder::new()
        .has_headers(false)
        .from_writer(format!("{header}\n").into_bytes());
    for row in rows {
        out.serialize(row).expect("a row can be written");
    }
    let bytes = out.into_inner().expect("writing to memory can't fail");
    String::from_utf8(bytes).expect("the rows are valid text")
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

/// A small experiment with made-up numbers, for the tests of tables and pages. It has two problems and
/// four learners. One learner has several step sizes.
#[cfg(test)]
pub(crate) fn fixture() -> Results {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/results");
    Results::read(&directory).expect("the fixture is complete")
}
