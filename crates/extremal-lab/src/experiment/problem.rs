//! Building everything that an experiment names, so that errors come before the first round.

use std::path::Path;
use std::sync::Arc;

use extremal::learner::{LearnerSpec, default_for};
use extremal::loss::{Labels, Objective, Scratch};
use extremal::set::{SetSpec, SharedSet};
use extremal::stream::Stream;
use extremal::theory::LossFacts;
use extremal_learn::Signs;

use super::{Experiment, LearnerConfig, ProblemConfig, Run, Source};
use crate::error::Result;
use crate::results::Input;
use crate::rows::Rows;

/// The largest dimension: several vectors with all entries are in memory at once.
const MOST_DIMENSIONS: usize = 20_000_000;
/// The number of rounds of a synthetic stream that are tried on the loss beforehand.
const TRIED: usize = 20;

/// An experiment that can be run.
pub struct Prepared {
    /// The experiment.
    pub experiment: Experiment,
    /// The files and data sets read.
    pub inputs: Vec<Input>,
    /// Notes to the user on how they were read.
    pub notes: Vec<String>,
    pub(crate) problems: Vec<Problem>,
}

/// A problem with its set, loss and data.
pub(crate) struct Problem {
    pub name: String,
    pub config: ProblemConfig,
    pub set: SharedSet,
    pub objective: Objective,
    rows: Option<Arc<Rows>>,
    /// G; infinite if unknown.
    pub gradient: f64,
    /// β; infinite if unknown.
    smoothness: f64,
}

impl Prepared {
    /// Builds every set, loss, stream and learner, and reads the data. Relative paths begin in the
    /// experiment's folder. An error names the line.
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
                let input = Input {
                    name: source.to_string(),
                    sha256: rows.sha256.clone(),
                };
                let of_rows = rows.notes.iter();
                notes.extend(of_rows.map(|note| format!("{}: {note}", input.name)));
                if !inputs.contains(&input) {
                    inputs.push(input);
                }
            }
            problems.push(problem);
        }
        for problem in &problems {
            check_learners(&experiment, problem)?;
        }
        Ok(Self {
            experiment,
            inputs,
            notes,
            problems,
        })
    }

    /// The number of runs, and of rounds in all runs.
    pub fn size(&self) -> (u64, u64) {
        let runs = self.runs();
        (runs.len() as u64, runs.iter().map(|r| r.horizon).sum())
    }

    /// All runs, in the order of problems, learners, step sizes, horizons and seeds.
    pub(super) fn runs(&self) -> Vec<Run<'_>> {
        let mut runs = Vec::new();
        for problem in &self.problems {
            for (name, learner) in self.learners(problem) {
                for &scale in &learner.scales {
                    for &horizon in &problem.config.horizons {
                        runs.extend(problem.config.seeds.iter().map(|&seed| Run {
                            problem,
                            name,
                            learner,
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

    /// The learners of a problem, with their names.
    pub(super) fn learners<'a>(
        &'a self,
        problem: &'a Problem,
    ) -> impl Iterator<Item = (&'a str, &'a LearnerConfig)> {
        let names = problem.config.learners.iter();
        names.map(|name| (name.as_str(), &self.experiment.learners[name]))
    }
}

/// A problem's key and what is wrong there. An empty key stands for the whole table.
type Complaint = (&'static str, String);

/// Checks that every learner can play each of its problems.
fn check_learners(experiment: &Experiment, problem: &Problem) -> Result<()> {
    for name in &problem.config.learners {
        let learner = &experiment.learners[name];
        for &scale in &learner.scales {
            for &horizon in &problem.config.horizons {
                let spec = problem.with_constants(learner, scale, horizon, 0, problem.gradient);
                let built = spec.and_then(|spec| spec.build_stored(&problem.set, learner.storage));
                if let Err(why) = built {
                    let what = format!("learner {name} can't play problem {}: {why}", problem.name);
                    return Err(experiment.origin.error(&["learner", name], what));
                }
            }
        }
    }
    Ok(())
}

impl Problem {
    fn new(name: &str, config: &ProblemConfig) -> Result<Self, Complaint> {
        let at = |key| move |why: extremal::Error| (key, why.to_string());
        let rows = match &config.stream {
            Source::Synthetic(_) => None,
            Source::Rows(source) => {
                let rows = source.load(Path::new(""));
                Some(rows.map_err(|why| ("stream", why.to_string()))?)
            }
        };
        let dim = rows.as_ref().map(|rows| rows.dim);
        let set = config.set.build(dim).map_err(at("set"))?;
        if set.dim() > MOST_DIMENSIONS {
            let dim = set.dim();
            let what = format!(
                "dimension {dim} is too large for an experiment; dimensions go up to {MOST_DIMENSIONS}"
            );
            return Err((if rows.is_some() { "stream" } else { "set" }, what));
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
        // Weights do not shrink the ridge term.
        problem.smoothness = weight.max(1.0) * objective.smoothness(row);
        if let (Some(rows), SetSpec::Simplex(_)) = (&problem.rows, &config.set) {
            // ⟨a, x⟩ lies between the entries of a, which is tighter than ‖a‖‖x‖. For log-wealth it
            // keeps away from 0.
            let (low, high) = rows.entry_range;
            let (low, high) = (low * reach, high * reach);
            let within = objective.gradient_bound_between(row, low, high, label, reach);
            problem.gradient = problem.gradient.min(weight * within);
        }
        Ok(problem)
    }

    /// Refuses what would make a run fail.
    fn check(&self) -> Result<(), Complaint> {
        let of_stream = |e: extremal::Error| ("stream", e.to_string());
        let mut stream = match &self.rows {
            // The file's order, so that errors have the number of the example.
            Some(rows) => rows.in_order(self.set.dim()),
            None => self.stream(0),
        }
        .map_err(of_stream)?;
        if stream.is_adaptive() && !self.objective.is_linear() {
            let what = "a stream that depends on the decisions has a best decision in hindsight for the linear loss alone";
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

    /// Checks that there are enough examples, and labels if the loss needs them.
    fn check_rows(&self, rows: &Rows) -> Result<(), Complaint> {
        let longest = self.config.horizon();
        let refuse = |what: String| Err(("stream", what));
        if (rows.len() as u64) < longest {
            return refuse(format!(
                "its data has {} examples, fewer than {longest} rounds",
                rows.len()
            ));
        }
        let loss = self.objective.loss();
        match (loss.labels(), rows.has_labels) {
            (Labels::Any | Labels::Signs, false) => {
                return refuse(format!(
                    "{} loss needs labels, but the data has none",
                    loss.name()
                ));
            }
            (Labels::None, true) => {
                return refuse(format!(
                    "{} loss takes no labels; write labels = false, so that no feature is read as the label",
                    loss.name()
                ));
            }
            _ => {}
        }
        // Labels are ±1 or 0/1, not a mixture.
        let mut signs = Signs::default();
        for (i, label) in rows.labels.iter().enumerate() {
            signs = signs
                .with(&**loss, *label)
                .map_err(|e| ("stream", format!("example {}: {e}", i + 1)))?;
        }
        Ok(())
    }

    /// The stream of a seed.
    pub fn stream(&self, seed: u64) -> extremal::Result<Box<dyn Stream>> {
        match (&self.config.stream, &self.rows) {
            (Source::Synthetic(spec), _) => spec.build(self.set.dim(), seed),
            (Source::Rows(_), Some(rows)) => rows.stream(seed, self.set.dim()),
            (Source::Rows(_), None) => Err(extremal::Error::Unsupported(
                "the examples were not read".into(),
            )),
        }
    }

    /// The facts that theorems may assume about the losses of a stream of this problem.
    pub fn losses(&self, stream: &dyn Stream) -> LossFacts {
        LossFacts {
            // For the longest row and the largest weight.
            smoothness: self.smoothness,
            ..self.objective.facts(f64::INFINITY, !stream.is_adaptive())
        }
    }

    /// Everything that the rounds depend on, for the key of a cached run.
    pub fn source_key(&self) -> String {
        let hash = self.rows.as_ref().map_or("", |rows| &rows.sha256);
        format!("{:?} {hash}", self.config.stream)
    }

    /// A learner's spec with those of T, G, λ and β that it has a key for, that are known, and that
    /// the experiment does not give itself. Randomised learners get the seed.
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
                "{key} has no value to scale; give one"
            ))),
        }
    }
}
