//! Builds the sets, losses, streams and learners that an experiment names, so that all errors are
//! found before the first round.

use std::path::Path;
use std::sync::Arc;

use extremal::Point;
use extremal::learner::{LearnerSpec, default_for};
use extremal::loss::{Labels, Objective, Scratch};
use extremal::set::{SetSpec, SharedSet};
use extremal::stream::{Round, Stream};
use extremal::theory::LossFacts;
use extremal_learn::Signs;

use super::{Experiment, LearnerConfig, ProblemConfig, Run, Source, Stop};
use crate::error::{Context, Error, Result};
use crate::results::Input;
use crate::rows::Rows;

/// The largest dimension. A run keeps several dense vectors in memory.
const MOST_DIMENSIONS: usize = 20_000_000;
/// The number of rounds of a synthetic stream on which the loss is tried before the first run.
const TRIED: usize = 20;

/// An experiment that has been checked and is ready to run.
pub struct Prepared {
    /// The experiment.
    pub experiment: Experiment,
    /// The files and data sets that were read.
    pub inputs: Vec<Input>,
    /// Notes to the user on how the files were read.
    pub notes: Vec<String>,
    pub(crate) problems: Vec<Problem>,
}

/// A problem with its set, loss and data.
pub(crate) struct Problem {
    pub name: String,
    pub config: ProblemConfig,
    pub set: SharedSet,
    pub objective: Objective,
    /// The collected examples; `None` for a synthetic stream.
    rows: Option<Arc<Rows>>,
    /// G, a bound on the gradients' norms; infinite if unknown.
    pub gradient: f64,
    /// β, the smoothness of the losses; infinite if unknown.
    smoothness: f64,
}

impl Prepared {
    /// Builds every set, loss, stream and learner, and reads the data. Relative paths start from the
    /// folder of the experiment's file. An error names the line of that file.
    pub fn new(mut experiment: Experiment) -> Result<Self> {
        let base = experiment.origin.path.parent().unwrap_or(Path::new("."));
        for config in experiment.problems.values_mut() {
            if let Source::Rows(source) = &mut config.stream
                && let Some(path) = &mut source.file
                && let Ok(absolute) = std::path::absolute(base.join(&*path))
            {
                *path = absolute.display().to_string();
            }
        }
        let (mut notes, mut problems, mut inputs) = (Vec::new(), Vec::new(), Vec::new());
        for (name, config) in &experiment.problems {
            let complain = |(key, what): Complaint| {
                let what = format!("problem {name}: {what}");
                experiment.origin.error(&["problem", name, key], what)
            };
            let problem = Problem::new(name, config).map_err(complain)?;
            problem.check().map_err(complain)?;
            if let (Source::Rows(source), Some(rows)) = (&config.stream, &problem.rows) {
                let (name, sha256) = (source.to_string(), rows.sha256.clone());
                notes.extend(rows.notes.iter().map(|note| format!("{name}: {note}")));
                let input = Input { name, sha256 };
                if !inputs.contains(&input) {
                    inputs.push(input);
                }
            }
            problems.push(problem);
        }
        let prepared = Self {
            experiment,
            inputs,
            notes,
            problems,
        };
        prepared.check_learners()?;
        Ok(prepared)
    }

    /// Checks that every learner can play each of its problems.
    fn check_learners(&self) -> Result<()> {
        let first = |run: &&Run<'_>| run.seed == run.problem.config.seeds[0];
        for run in self.runs().iter().filter(first) {
            if let Err(why) = run.learner() {
                let (name, problem) = (run.name, &run.problem.name);
                let what = format!("learner {name} can't play problem {problem}: {why}");
                return Err(self.experiment.origin.error(&["learner", name], what));
            }
        }
        Ok(())
    }

    /// The number of runs, and the number of rounds in all runs together.
    pub fn size(&self) -> (u64, u64) {
        let runs = self.runs();
        (runs.len() as u64, runs.iter().map(|r| r.horizon).sum())
    }

    /// All runs, ordered by problem, then learner, step size, horizon and seed.
    pub(super) fn runs(&self) -> Vec<Run<'_>> {
        let mut runs = Vec::new();
        for problem in &self.problems {
            for (name, config) in self.learners(problem) {
                for &scale in &config.scales {
                    for &horizon in &problem.config.horizons {
                        runs.extend(problem.config.seeds.iter().map(|&seed| Run {
                            problem,
                            name,
                            config,
                            scale,
                            horizon,
                            seed,
                        }));
                    }
                }
            }
        }
        runs
    }

    /// The names and the settings of a problem's learners.
    pub(super) fn learners<'a>(
        &'a self,
        problem: &'a Problem,
    ) -> impl Iterator<Item = (&'a str, &'a LearnerConfig)> {
        let names = problem.config.learners.iter();
        names.map(|name| (name.as_str(), &self.experiment.learners[name]))
    }
}

/// A key of a problem's table, and an error to report for this key. An empty key stands for the whole
/// table.
type Complaint = (&'static str, String);

/// The next round of a stream. It is an error if the stream has ended, or if the caller stops the
/// experiment. `here` describes the run in error messages.
pub(crate) fn next_round<'s>(
    stream: &'s mut dyn Stream,
    decision: &dyn Point,
    stopped: Stop<'_>,
    here: impl Fn() -> String,
) -> Result<Round<'s>> {
    if stopped() {
        return Err(Error::Stopped);
    }
    let round = stream.next(decision).context(&here)?;
    let ended = || Error::Unsupported(format!("{}: the stream has too few rounds", here()));
    round.ok_or_else(ended)
}

/// Explains how to write the flags in a message of the reader.
fn as_keys(message: &str) -> String {
    match message.contains(" --") {
        true => {
            format!("{message} (in an experiment, --flag VALUE is flag = \"VALUE\" in the stream)")
        }
        false => message.into(),
    }
}

impl Problem {
    fn new(name: &str, config: &ProblemConfig) -> Result<Self, Complaint> {
        let at = |key| move |why: extremal::Error| (key, why.to_string());
        let rows = match &config.stream {
            Source::Synthetic(_) => None,
            Source::Rows(source) => {
                let rows = source.load(Path::new(""));
                Some(rows.map_err(|why| ("stream", as_keys(&why.to_string())))?)
            }
        };
        let dim = rows.as_ref().map(|rows| rows.dim);
        let set = config.set.build(dim).map_err(at("set"))?;
        if set.dim() > MOST_DIMENSIONS {
            let key = if rows.is_some() { "stream" } else { "set" };
            let dim = set.dim();
            let what =
                format!("dimension {dim} is too large; dimensions go up to {MOST_DIMENSIONS}");
            return Err((key, what));
        }
        let loss = config.loss.build().map_err(at("loss"))?;
        let mut problem = Self {
            name: name.into(),
            config: config.clone(),
            objective: Objective::new(loss, config.l2).map_err(at(""))?,
            set,
            rows,
            gradient: f64::INFINITY,
            smoothness: f64::INFINITY,
        };
        let stream = problem.stream(0).map_err(at("stream"))?;
        let (row, label) = (stream.row_bound(), stream.label_bound());
        let reach = problem.set.geometry().norm_bound;
        let objective = &problem.objective;
        let weight = problem.rows.as_ref().map_or(1.0, |rows| rows.weight_bound);
        problem.gradient = weight * objective.gradient_bound(row, label, reach);
        // Weights do not multiply the ridge term.
        problem.smoothness = weight.max(1.0) * objective.smoothness(row);
        if let (Some(rows), SetSpec::Simplex(_)) = (&problem.rows, &config.set) {
            // ⟨a, x⟩ lies between the smallest and the largest entry of a, times the total of x. These
            // limits are tighter than ‖a‖‖x‖, and for log-wealth they exclude 0.
            let (low, high) = rows.entry_range;
            let (low, high) = (low * reach, high * reach);
            let within = objective.gradient_bound_between(row, low, high, label, reach);
            problem.gradient = problem.gradient.min(weight * within);
        }
        Ok(problem)
    }

    /// Tries the loss on the stream, so that an unsuitable stream is refused before the first run.
    fn check(&self) -> Result<(), Complaint> {
        let of_stream = |e: extremal::Error| ("stream", e.to_string());
        let mut stream = match &self.rows {
            // The file's order is needed, so that an error gives the example's number in the file.
            Some(rows) => rows.in_order(self.set.dim()),
            None => self.stream(0),
        }
        .map_err(of_stream)?;
        if stream.is_adaptive() && !self.objective.is_linear() {
            let what = "this stream depends on the decisions, and can be used with the linear loss alone; \
                        choose loss = \"linear\" or another stream";
            return Err(("stream", what.into()));
        }
        if let Some(rows) = &self.rows {
            self.check_rows(rows)?;
        }
        let mut centre = vec![0.0; self.set.dim()];
        self.set.centre(&mut centre);
        let mut scratch = Scratch::default();
        for i in 0..self.rows.as_ref().map_or(TRIED, |rows| rows.len()) {
            let Some(round) = stream.next(&centre).map_err(of_stream)? else {
                break;
            };
            self.objective
                .evaluate_in(round.row, round.label, round.weight, &centre, &mut scratch)
                .map_err(|e| ("stream", format!("example {}: {e}", i + 1)))?;
        }
        Ok(())
    }

    /// Checks that there are enough examples, and that they have labels exactly if the loss uses them.
    fn check_rows(&self, rows: &Rows) -> Result<(), Complaint> {
        let longest = self.config.horizon();
        let refuse = |what: String| Err(("stream", what));
        let examples = rows.len();
        if (examples as u64) < longest {
            return refuse(format!(
                "the data has only {examples} examples for {longest} rounds; choose at most {examples} rounds"
            ));
        }
        let loss = self.objective.loss();
        let name = loss.name();
        match (loss.labels(), rows.has_labels) {
            (Labels::Any | Labels::Signs, false) => {
                return refuse(format!("{name} loss needs labels, but the data has none"));
            }
            (Labels::None, true) => {
                return refuse(format!(
                    "{name} loss uses no labels; write labels = false, so that every column is a feature"
                ));
            }
            _ => {}
        }
        // Labels must be ±1 or 0/1, not a mixture of both.
        let mut signs = Signs::default();
        for (i, label) in rows.labels.iter().enumerate() {
            signs = signs
                .with(&**loss, *label)
                .map_err(|e| ("stream", format!("example {}: {e}", i + 1)))?;
        }
        Ok(())
    }

    /// The stream for a seed. The same seed gives the same rounds.
    pub fn stream(&self, seed: u64) -> extremal::Result<Box<dyn Stream>> {
        match (&self.config.stream, &self.rows) {
            (Source::Synthetic(spec), _) => spec.build(self.set.dim(), seed),
            (Source::Rows(_), Some(rows)) => rows.stream(seed, self.set.dim()),
            (Source::Rows(_), None) => Err(extremal::Error::Unsupported(
                "the examples have not been read".into(),
            )),
        }
    }

    /// The properties of the losses that theorems may assume.
    pub fn losses(&self, stream: &dyn Stream) -> LossFacts {
        LossFacts {
            // The smoothness for the longest row and the largest weight.
            smoothness: self.smoothness,
            ..self.objective.facts(f64::INFINITY, !stream.is_adaptive())
        }
    }

    /// Texts for the keys of cached results. The texts determine the set and the losses of every seed.
    pub fn key_parts(&self) -> Vec<String> {
        let config = &self.config;
        let hash = self.rows.as_ref().map_or("", |rows| &rows.sha256);
        vec![
            config.set.to_string(),
            config.loss.to_string(),
            config.l2.to_string(),
            format!("{:?} {hash}", config.stream),
        ]
    }

    /// A learner's spec with its constants filled in. Each of the constants T, G, λ and β is filled in
    /// if it is known, if the learner has a key for it, and if the experiment's file does not set this
    /// key. A randomised learner gets the seed.
    pub fn with_constants(
        &self,
        learner: &LearnerConfig,
        scale: f64,
        horizon: u64,
        seed: u64,
        gradient: f64,
    ) -> extremal::Result<LearnerSpec> {
        let Some(spec) = &learner.spec else {
            return Ok(default_for(&*self.set, &self.objective, learner.storage));
        };
        let lambda = self.objective.strong_convexity();
        let known = self.config.constants_are_known();
        let mut full = spec.clone();
        for parameter in spec.entry().parameters {
            let name = parameter.name;
            if spec.value(name).is_some() {
                continue;
            }
            let value = match name {
                "horizon" if known => horizon.to_string(),
                "gradient-bound" if known && gradient.is_finite() => gradient.to_string(),
                "lambda" if lambda > 0.0 => lambda.to_string(),
                "smoothness" if known && self.smoothness.is_finite() => self.smoothness.to_string(),
                "seed" => seed.to_string(),
                _ => continue,
            };
            full = full.with(name, value)?;
        }
        let Some(key) = learner.tune.as_ref().filter(|_| scale != 1.0) else {
            return Ok(full);
        };
        let parameter = spec.entry().parameters.iter().find(|p| p.name == key);
        let base = full.value(key).or(parameter.and_then(|p| p.default()));
        match base.and_then(|base| base.parse::<f64>().ok()) {
            Some(base) => full.with(key, base * scale),
            None => Err(extremal::Error::Unsupported(format!(
                "{key} has no value to scale; write {key} = …"
            ))),
        }
    }
}
