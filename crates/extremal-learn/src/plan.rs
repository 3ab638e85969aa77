//! The plan of a session: its configuration with all defaults filled in.

use extremal::learner::untuned::unit_free::UnitFree;
use extremal::learner::{LearnerSpec, Storage, default_for};
use extremal::loss::{self, LossSpec, Objective};
use extremal::set::l2::L2;
use extremal::set::{SetSpec, SharedSet};
use extremal_data::{Column, Features, Format, Labels, ReadOptions};
use serde::{Deserialize, Serialize};

use crate::config::{Config, Link};
use crate::error::{Error, Result};
use crate::signs::Signs;

/// The dimension for which a default learner is chosen, if the set grows.
const TYPICAL: usize = 1 << 10;

/// The components and settings of a session.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The complete configuration, which contains the next five fields.
    pub config: Config,
    /// The constraint set.
    pub set: SetSpec,
    /// The loss function.
    pub loss: LossSpec,
    /// The learning algorithm.
    pub learner: LearnerSpec,
    /// The storage of the decision.
    pub storage: Storage,
    /// The form of written predictions.
    pub link: Link,
    /// Facts about the examples.
    pub data: DataFacts,
}

/// Facts about the examples so far. The next examples must agree with them.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct DataFacts {
    /// The format, which determines the numbering of the features.
    pub format: Option<Format>,
    /// The columns, if the examples are a table.
    pub columns: Option<Vec<Column>>,
    /// The label that means −1.
    pub signs: Signs,
    /// The names of the features, if they have names. The model file has them in its own section.
    #[serde(skip)]
    pub features: Option<Features>,
}

impl Plan {
    /// Fills in the defaults of a configuration. The default learner is unit-free on its own set. Where
    /// another learner is asked for, the default set is an ℓ2 ball with radius `radius`.
    pub fn choose(asked: &Config, radius: f64) -> Result<Self> {
        let classes = asked.classes();
        if classes.len() == 1 {
            return Err(Error::Usage("--classes needs at least two classes".into()));
        }
        if asked.labels.is_some() && !classes.is_empty() {
            return Err(Error::Usage(
                "--labels and --classes exclude each other. Use --labels for two classes".into(),
            ));
        }
        let two_sided = asked.labels.is_some() || !classes.is_empty();
        let usual = if two_sided { "logistic" } else { "squared" };
        let loss = asked.loss.clone().map_or_else(|| usual.parse(), Ok);
        let loss: LossSpec = loss.map_err(Error::options)?;
        let objective = objective(&loss, asked.ridge())?;
        if !classes.is_empty() && objective.loss().labels() != loss::Labels::Signs {
            return Err(Error::Usage(format!(
                "--classes needs a loss for labels ±1, such as logistic or hinge, not {}",
                loss.entry().name
            )));
        }
        let learner = asked.full_learner(asked.ridge())?;
        let set = asked.set.clone().unwrap_or_else(|| {
            let is_unit_free = match &learner {
                Some(learner) => matches!(learner, LearnerSpec::UnitFree(_)),
                None => UnitFree::learns(&objective),
            };
            match is_unit_free {
                true => SetSpec::UnitFree(Default::default()),
                false => SetSpec::L2(L2 { radius, dim: None }),
            }
        });
        let start = start_set(&set)?;
        // In one dimension every set is a ball, so the learner is chosen in a higher one.
        let later = start.grown(TYPICAL).unwrap_or(start);
        let (storage, mut learner) = stored(&later, asked.storage, learner, &objective)?;
        if matches!(learner, LearnerSpec::UnitFree(_)) && !UnitFree::learns(&objective) {
            return Err(Error::Usage(
                "unit-free needs a loss of a prediction and a label that is never negative, without a ridge term (--l2). Choose another --learner".into(),
            ));
        }
        let (mut intercept, mut no_intercept) = (asked.intercept, asked.no_intercept);
        if let LearnerSpec::UnitFree(spec) = &mut learner {
            let own = spec.intercept.unwrap_or(!no_intercept);
            if own && no_intercept || !own && intercept {
                let flag = if own { "--no-intercept" } else { "--intercept" };
                return Err(Error::Usage(format!(
                    "{flag} contradicts intercept={own} in --learner. Leave out one of them"
                )));
            }
            (intercept, no_intercept) = (own, !own);
            spec.intercept = spec.intercept.or(own.then_some(true));
            spec.no_clip |= asked.no_clip;
        }
        let link = asked
            .link
            .unwrap_or(match objective.loss().probability(0.0) {
                Some(_) => Link::Logistic,
                None => Link::Identity,
            });
        let config = Config {
            set: Some(set),
            loss: Some(loss),
            learner: Some(learner),
            intercept,
            no_intercept,
            // These are part of the learner now.
            horizon: None,
            gradient_bound: None,
            eta_scale: None,
            storage: Some(storage),
            link: Some(link),
            l2: Some(asked.ridge()),
            seed: Some(asked.seed.unwrap_or(0)),
            ..asked.clone()
        };
        let plan = Self::of(config, DataFacts::default());
        let plan = plan.map_err(|key| Error::Usage(format!("no {key}")))?;
        match plan.read_options().problem() {
            Some(problem) => Err(Error::Usage(problem)),
            None => Ok(plan),
        }
    }

    /// Makes a plan from a complete configuration. The error is the key that is missing.
    pub(crate) fn of(config: Config, data: DataFacts) -> Result<Self, &'static str> {
        Ok(Self {
            set: config.set.clone().ok_or("set")?,
            loss: config.loss.clone().ok_or("loss")?,
            learner: config.learner.clone().ok_or("learner")?,
            storage: config.storage.ok_or("storage")?,
            link: config.link.ok_or("link")?,
            config,
            data,
        })
    }

    /// The options of the reader.
    pub fn read_options(&self) -> ReadOptions {
        let (config, data) = (&self.config, &self.data);
        let labels = match &config.labels {
            Some((negative, positive)) => Labels::Pair {
                negative: negative.clone(),
                positive: positive.clone(),
            },
            None if config.classes().is_empty() => Labels::Number,
            None => Labels::Names(config.classes().to_vec()),
        };
        ReadOptions {
            // Feature 7 of a model is feature 7 of a libsvm file, also if the model was trained on
            // another format.
            zero_based: config.reading.zero_based
                || matches!(data.format, Some(Format::Vw | Format::Jsonl)),
            labels,
            intercept: config.intercept,
            learnt_from: data.format,
            columns: data.columns.clone(),
            features: data.features.clone(),
            ..config.reading.options()
        }
    }

    /// The loss with its ridge term.
    pub fn objective(&self) -> Result<Objective> {
        objective(&self.loss, self.config.ridge())
    }

    /// A note for the user if lazy storage is slow because the loss has no ridge term.
    pub fn cost_note(&self) -> Option<String> {
        let lambda = self.learner.needs_ridge()?;
        let curved = self.objective().ok()?.strong_convexity();
        (self.storage == Storage::Lazy && lambda != curved).then(|| {
            format!(
                "{} is slow on losses without the ridge term λ = {lambda}: every few rounds visit all features seen so far. Use --l2 {lambda}",
                self.learner
            )
        })
    }

    /// The name of feature `i` in the data. Without names, it is the feature's number. Numbers start
    /// at 1 in libsvm files and at 0 elsewhere. The intercept is feature 0.
    pub fn feature(&self, i: usize) -> String {
        if let Some(name) = self.data.features.as_ref().and_then(|names| names.name(i)) {
            return name;
        }
        let libsvm = self.data.format == Some(Format::Libsvm);
        let first = usize::from(libsvm && !self.config.reading.zero_based);
        match (self.config.intercept, i) {
            (true, 0) => "intercept".into(),
            (true, i) => (i - 1 + first).to_string(),
            (false, i) => (i + first).to_string(),
        }
    }

    /// The classes. The list is empty for a single model.
    pub fn classes(&self) -> &[String] {
        self.config.classes()
    }

    /// Whether the set follows the data.
    pub fn is_unit_free(&self) -> bool {
        matches!(self.learner, LearnerSpec::UnitFree(_))
    }

    /// The number of models.
    pub fn models(&self) -> usize {
        self.classes().len().max(1)
    }

    /// Whether each model has labels ±1.
    pub fn takes_signs(&self) -> bool {
        let loss = self.loss.build();
        loss.is_ok_and(|loss| loss.labels() == loss::Labels::Signs)
    }
}

fn objective(loss: &LossSpec, ridge: f64) -> Result<Objective> {
    Objective::new(loss.build().map_err(Error::options)?, ridge).map_err(Error::options)
}

/// The set in its initial dimension. A set that grows begins with dimension 1.
pub(crate) fn start_set(spec: &SetSpec) -> Result<SharedSet> {
    match spec.build(None) {
        Ok(set) => Ok(set),
        Err(extremal::Error::Missing { name: "dim", .. }) => {
            let set = spec.build(Some(1)).map_err(Error::options)?;
            if set.grown(1).is_some() {
                return Ok(set);
            }
            Err(Error::Usage(format!(
                "set {spec} can't grow with the features. Give its dimension, dim=N"
            )))
        }
        Err(error) => Err(Error::options(error)),
    }
}

/// Chooses the cheapest storage that the learner supports. Without a learner, it chooses the default
/// learner for this storage.
fn stored(
    set: &SharedSet,
    asked: Option<Storage>,
    learner: Option<LearnerSpec>,
    objective: &Objective,
) -> Result<(Storage, LearnerSpec)> {
    let all = [Storage::Lazy, Storage::Sparse, Storage::Dense];
    let tried = all.into_iter().filter(|s| asked.is_none_or(|a| a == *s));
    let mut why = None;
    for storage in tried {
        let spec = learner
            .clone()
            .unwrap_or_else(|| default_for(&**set, objective, storage));
        match spec.build_stored(set, storage) {
            Ok(_) => return Ok((storage, spec)),
            Err(error) => why = Some(error),
        }
    }
    // Dense storage is the last one and supports every set, so its error is the learner's own.
    match why {
        Some(error) => Err(Error::options(error)),
        None => Err(Error::Usage("no storage supports the learner".into())),
    }
}
