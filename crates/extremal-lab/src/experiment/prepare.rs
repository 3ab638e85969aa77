//! An experiment with everything built that it names, so that what can't be is refused before
//! anything runs.

use std::path::Path;

use extremal::learner::{LearnerSpec, default_for};
use extremal::loss::{Labels, Objective, Scratch};
use extremal::set::{SetSpec, SharedSet};
use extremal::stream::Stream;
use extremal::theory::LossFacts;
use extremal_learn::Signs;

use super::{Experiment, LearnerConfig, ProblemConfig, ProblemLines, RowsFrom, Source};
use crate::error::{Error, Result};
use crate::results::Input;
use crate::rows::Rows;

/// Decisions are dense here, and there are several at once.
const MOST_DIMENSIONS: usize = 20_000_000;
/// How many rounds of a made-up stream are tried on the loss beforehand.
const TRIED: usize = 20;

/// An experiment that can be run.
pub struct Prepared {
    /// What was asked for.
    pub experiment: Experiment,
    /// The files and data sets read.
    pub inputs: Vec<Input>,
    /// What the user should know about how they were read.
    pub notes: Vec<String>,
    pub(crate) problems: Vec<Built>,
}

/// A problem, built.
pub(crate) struct Built {
    pub name: String,
    pub config: ProblemConfig,
    pub set: SharedSet,
    pub objective: Objective,
    rows: Option<Rows>,
    /// G; infinite where nobody knows it.
    pub gradient: f64,
    /// β, likewise.
    smoothness: f64,
}

impl Prepared {
    /// Builds every set, loss, stream and learner, and reads the data; relative paths begin in the
    /// experiment's folder. Refuses what can't be played, with the line.
    pub fn new(mut experiment: Experiment) -> Result<Self> {
        let base = experiment.lines.path.parent().unwrap_or(Path::new("."));
        for config in experiment.problems.values_mut() {
            // from here on it means the same file wherever it is read from
            if let Source::Rows(source) = &mut config.stream
                && let RowsFrom::File { path, .. } = &mut source.from
                && let Ok(absolute) = std::path::absolute(base.join(&*path))
            {
                *path = absolute.display().to_string();
            }
        }
        let mut notes = Vec::new();
        let mut problems = Vec::with_capacity(experiment.problems.len());
        let mut inputs: Vec<Input> = Vec::new();
        for (i, (name, config)) in experiment.problems.iter().enumerate() {
            let lines = experiment.lines.problems.get(i).copied();
            let complain = |(part, what): (Part, String)| Error::Experiment {
                path: experiment.lines.path.clone(),
                line: lines.map_or(1, |lines| part.line(&lines)),
                what: format!("problem {name}: {what}"),
            };
            let built = Built::new(name, config).map_err(complain)?;
            built.check().map_err(complain)?;
            if let (Source::Rows(source), Some(rows)) = (&config.stream, &built.rows) {
                let input = Input {
                    name: source.from.to_string(),
                    sha256: rows.sha256().into(),
                };
                for note in rows.notes() {
                    notes.push(format!("{}: {note}", input.name));
                }
                if !inputs.contains(&input) {
                    inputs.push(input);
                }
            }
            problems.push(built);
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
}

impl Prepared {
    /// How many runs there are, and how many rounds in all.
    pub fn size(&self) -> (u64, u64) {
        let mut size = (0, 0);
        for problem in &self.problems {
            let learners = problem.config.learners.iter();
            let tries =
                learners.filter_map(|l| Some(self.experiment.learners.get(l)?.scales.len()));
            let runs = tries.sum::<usize>() as u64 * problem.config.seeds.len() as u64;
            size.0 += runs * problem.config.horizons.len() as u64;
            size.1 += runs * problem.config.horizons.iter().sum::<u64>();
        }
        size
    }
}

/// What of a problem something is wrong with.
#[derive(Clone, Copy)]
enum Part {
    Table,
    Set,
    Loss,
    Stream,
}

impl Part {
    fn line(self, lines: &ProblemLines) -> usize {
        match self {
            Self::Table => lines.table,
            Self::Set => lines.set,
            Self::Loss => lines.loss,
            Self::Stream => lines.stream,
        }
    }
}

/// Every learner must be able to play every problem that it is to play.
fn check_learners(experiment: &Experiment, problem: &Built) -> Result<()> {
    for name in &problem.config.learners {
        let (at, _, learner) = experiment
            .learners
            .get_full(name)
            .expect("the experiment was read, and names only learners that it has");
        for &scale in &learner.scales {
            for &horizon in &problem.config.horizons {
                let told = problem.told(learner, scale, horizon, 0);
                let built = told.and_then(|spec| spec.build_stored(&problem.set, learner.storage));
                if let Err(why) = built {
                    return Err(Error::Experiment {
                        path: experiment.lines.path.clone(),
                        line: experiment.lines.learners.get(at).copied().unwrap_or(1),
                        what: format!("learner {name} can't play problem {}: {why}", problem.name),
                    });
                }
            }
        }
    }
    Ok(())
}

impl Built {
    fn new(name: &str, config: &ProblemConfig) -> Result<Self, (Part, String)> {
        let at = |part: Part| move |why: extremal::Error| (part, why.to_string());
        let rows = match &config.stream {
            Source::Synthetic(_) => None,
            Source::Rows(source) => {
                let rows = source.load(Path::new(""));
                Some(rows.map_err(|why| (Part::Stream, why.to_string()))?)
            }
        };
        let dim = rows.as_ref().map(Rows::dim);
        let set = config.set.build(dim).map_err(at(Part::Set))?;
        if set.dim() > MOST_DIMENSIONS {
            let dim = set.dim();
            let what = format!(
                "dimension {dim}: learners of experiments keep every entry, and go up to {MOST_DIMENSIONS}"
            );
            return Err((
                if rows.is_some() {
                    Part::Stream
                } else {
                    Part::Set
                },
                what,
            ));
        }
        let loss = config.loss.build().map_err(at(Part::Loss))?;
        let mut built = Self {
            name: name.into(),
            config: config.clone(),
            objective: Objective::new(loss, config.l2).map_err(at(Part::Table))?,
            set,
            rows,
            gradient: f64::INFINITY,
            smoothness: f64::INFINITY,
        };
        let stream = built.stream(0).map_err(at(Part::Stream))?;
        let (row, label) = (stream.row_bound(), stream.label_bound());
        let reach = built.set.geometry().norm_bound;
        let objective = &built.objective;
        let weight = built.rows.as_ref().map_or(1.0, Rows::weight_bound);
        built.gradient = weight * objective.gradient_bound(row, label, reach);
        // weights do not shrink the ridge term
        built.smoothness = weight.max(1.0) * objective.smoothness(row);
        if let (Some(rows), SetSpec::Simplex(_)) = (&built.rows, &config.set) {
            // ⟨a, x⟩ lies between a's entries, which says more than |a||x| does: for log-wealth,
            // that it stays away from 0
            let (low, high) = rows.entry_range();
            let (low, high) = (low * reach, high * reach);
            let within = objective.gradient_bound_between(row, low, high, label, reach);
            built.gradient = built.gradient.min(weight * within);
        }
        Ok(built)
    }

    /// What would end a run is refused beforehand.
    fn check(&self) -> Result<(), (Part, String)> {
        let of_stream = |e: extremal::Error| (Part::Stream, e.to_string());
        let mut stream = match &self.rows {
            // so that an example is told by its place in the file
            Some(rows) => rows.in_order(self.set.dim()),
            None => self.stream(0),
        }
        .map_err(of_stream)?;
        if stream.is_adaptive() && !self.objective.is_linear() {
            let what = "a stream that looks at the decision has a best decision in hindsight for the linear loss alone";
            return Err((Part::Stream, what.into()));
        }
        if let Some(rows) = &self.rows {
            self.check_rows(rows)?;
        }
        let mut centre = vec![0.0; self.set.dim()];
        self.set.centre(&mut centre);
        let mut scratch = Scratch::default();
        for i in 0..self.rows.as_ref().map_or(TRIED, Rows::len) {
            let Some(round) = stream.next(&centre).map_err(of_stream)? else {
                break;
            };
            self.objective
                .evaluate_in(round.row, round.label, round.weight, &centre, &mut scratch)
                .map_err(|e| (Part::Stream, format!("example {}: {e}", i + 1)))?;
        }
        Ok(())
    }

    /// Whether the examples are enough, and have labels where the loss looks at them.
    fn check_rows(&self, rows: &Rows) -> Result<(), (Part, String)> {
        let longest = self.config.horizon();
        let refuse = |what: String| Err((Part::Stream, what));
        if (rows.len() as u64) < longest {
            return refuse(format!(
                "its data has {} examples, which is less than {longest} rounds",
                rows.len()
            ));
        }
        let loss = self.objective.loss();
        match (loss.labels(), rows.has_labels()) {
            (Labels::Any | Labels::Signs, false) => {
                return refuse(format!(
                    "{} loss needs labels, and there are none",
                    loss.name()
                ));
            }
            (Labels::None, true) => {
                return refuse(format!(
                    "{} loss has no use for labels: write labels = false, or a feature would be taken for them",
                    loss.name()
                ));
            }
            _ => {}
        }
        // ±1 and 0/1 are both understood; who has all three means something else
        let mut signs = Signs::default();
        for (i, label) in rows.labels().iter().enumerate() {
            signs = signs
                .with(&**loss, *label)
                .map_err(|e| (Part::Stream, format!("example {}: {e}", i + 1)))?;
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

    /// What theorems may take for granted of the losses of a stream of this problem.
    pub fn losses(&self, stream: &dyn Stream) -> LossFacts {
        LossFacts {
            // that of the longest row and the largest weight
            smoothness: self.smoothness,
            ..self.objective.facts(f64::INFINITY, !stream.is_adaptive())
        }
    }

    /// What the rounds depend on, for the key of a cell.
    pub fn source_key(&self) -> String {
        let hash = self.rows.as_ref().map_or("", |rows| rows.sha256());
        format!("{:?} {hash}", self.config.stream)
    }

    /// A learner of this problem, told those of T, G, λ and β that it has a key for, that are
    /// known, and that the experiment does not give itself; whoever draws at random is given the
    /// seed.
    pub fn told(
        &self,
        learner: &LearnerConfig,
        scale: f64,
        horizon: u64,
        seed: u64,
    ) -> extremal::Result<LearnerSpec> {
        self.told_about(learner, scale, horizon, seed, self.gradient)
    }

    /// The same with another G.
    pub fn told_about(
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
        let told = self.config.told;
        let mut full = spec.clone();
        for parameter in spec.entry().parameters {
            let name = parameter.name;
            if spec.value(name).is_some() {
                continue;
            }
            let value = match name {
                "horizon" if told => horizon.to_string(),
                "gradient-bound" if told && gradient.is_finite() => gradient.to_string(),
                "lambda" if lambda > 0.0 => lambda.to_string(),
                "smoothness" if told && self.smoothness.is_finite() => self.smoothness.to_string(),
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
                "{key} has no value to be scaled; give one"
            ))),
        }
    }
}
