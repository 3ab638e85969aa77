//! Model files: a session that can be resumed, or a model that can only predict.

use std::path::Path;

use extremal::hindsight::Meter;
use extremal::learner::Learner;
use extremal_data::{Example, ModelFile, Section};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::baseline::Baseline;
use crate::error::{Error, Result};
use crate::plan::Plan;
use crate::session::{Counters, Session, predicted};

/// The section with the names of the features.
const FEATURES: &str = "features";

/// A saved model.
pub struct Saved {
    /// The components and settings.
    pub plan: Plan,
    /// The totals.
    pub counters: Counters,
    /// The dimension.
    pub dim: usize,
    /// Rounds played.
    pub rounds: u64,
    /// Whether the model can be resumed.
    can_resume: bool,
    state: State,
}

enum State {
    /// A session. A learner that observes examples needs all of its numbers to predict.
    Session(Box<Session>),
    /// The weights of each model.
    Weights(Vec<Weights>),
}

/// The weights of a decision that are not 0.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Weights {
    /// The increasing indices of the weights.
    pub indices: Vec<u32>,
    /// The weights at these indices.
    pub values: Vec<f64>,
    /// The dimension of the decision.
    pub dim: usize,
}

impl Weights {
    fn of(learner: &dyn Learner) -> Self {
        let decision = learner.decision();
        let (mut indices, mut values) = (Vec::new(), Vec::new());
        decision.for_each_nonzero(&mut |i, v| {
            indices.push(i as u32);
            values.push(v);
        });
        let dim = decision.dim();
        Self {
            indices,
            values,
            dim,
        }
    }

    fn is_sound(&self) -> bool {
        self.indices.len() == self.values.len()
            && self.indices.is_sorted_by(|a, b| a < b)
            && self.indices.last().is_none_or(|i| (*i as usize) < self.dim)
            && self.values.iter().all(|v| v.is_finite())
    }

    /// The prediction for an example: ⟨a, x⟩.
    fn predict(&self, example: &Example<'_>) -> f64 {
        let features = example.indices.iter().zip(example.values);
        let products = features.filter_map(|(i, v)| {
            let at = self.indices.binary_search(i).ok()?;
            Some(v * self.values[at])
        });
        products.sum()
    }
}

#[derive(Serialize, Deserialize)]
struct Head {
    counters: Counters,
    dim: u64,
    rounds: u64,
    whole: bool,
    baseline: Baseline,
}

/// Writes a session to a model file, atomically. Without `resume`, the model can predict, but not be
/// resumed.
pub fn save(session: &Session, path: &Path, resume: bool) -> Result<()> {
    let plan = &session.plan;
    let head = Head {
        counters: session.counters,
        baseline: session.baseline.clone(),
        dim: session.dim() as u64,
        rounds: session.rounds(),
        whole: resume,
    };
    // JSON tables tolerate new keys. A missing key has its default.
    let mut sections = vec![
        section("config", serde_json::to_vec(&plan.config))?,
        section("data", serde_json::to_vec(&plan.data))?,
        section("head", postcard::to_stdvec(&head))?,
    ];
    if let Some(features) = &plan.data.features {
        sections.push(section(FEATURES, postcard::to_stdvec(features))?);
    }
    if resume {
        let reports = (&session.tally, &session.written);
        sections.push(section("reports", postcard::to_stdvec(&reports))?);
    }
    for (k, model) in session.models.iter().enumerate() {
        if resume || plan.is_unit_free() {
            sections.push(section(&format!("learner.{k}"), model.learner.save())?);
            if let Some(meter) = &model.meter {
                sections.push(section(&format!("meter.{k}"), meter.save())?);
            }
        } else {
            let weights = Weights::of(&*model.learner);
            let bytes = postcard::to_stdvec(&weights);
            sections.push(section(&format!("weights.{k}"), bytes)?);
        }
    }
    let mut about = plan.config.describe();
    about.push(("dimension".into(), head.dim.to_string()));
    about.push(("rounds".into(), head.rounds.to_string()));
    about.push(("records".into(), head.counters.records.to_string()));
    let resume = if resume {
        "yes"
    } else {
        "no: predictions only"
    };
    about.push(("resume".into(), resume.into()));
    Ok(ModelFile { about, sections }.write(path)?)
}

fn section(name: &str, bytes: Result<Vec<u8>, impl std::fmt::Display>) -> Result<Section> {
    let bytes = bytes.map_err(|why| Error::content(name, why.to_string()))?;
    let name = name.into();
    Ok(Section { name, bytes })
}

/// A model file that is being read.
struct Sections<'a> {
    file: ModelFile,
    path: &'a Path,
}

impl Sections<'_> {
    fn error(&self, what: impl std::fmt::Display) -> Error {
        let what = format!("{what}: this program can't use the model");
        Error::content(&self.path.display().to_string(), what)
    }

    fn get(&self, name: &str) -> Result<&[u8]> {
        let missing = || self.error(format_args!("section {name} is missing"));
        self.file.section(name).ok_or_else(missing)
    }

    fn json<T: DeserializeOwned>(&self, name: &str) -> Result<T> {
        let read = serde_json::from_slice(self.get(name)?);
        read.map_err(|why| self.error(format_args!("{name}: {why}")))
    }

    fn binary<T: DeserializeOwned>(&self, name: &str) -> Result<T> {
        match postcard::take_from_bytes(self.get(name)?) {
            Ok((value, [])) => Ok(value),
            Ok(_) => Err(self.error(format_args!("section {name} is too long"))),
            Err(why) => Err(self.error(format_args!("{name}: {why}"))),
        }
    }

    /// Restores the session, with the dimension in the head.
    fn session(&self, plan: &Plan, head: &Head) -> Result<Session> {
        let mut session = Session::new(plan.clone())?;
        // Checked before memory is reserved for a dimension that may be wrong.
        let saved = match session.models[0].meter {
            Some(_) => Meter::saved_dim(self.get("meter.0")?).map_err(|why| self.error(why))?,
            None => head.dim as usize,
        };
        if saved as u64 != head.dim {
            return Err(self.error(format_args!(
                "head: dimension {}, but the gradient sums have {saved}",
                head.dim
            )));
        }
        session.grow(saved).map_err(|why| self.error(why))?;
        for (k, model) in session.models.iter_mut().enumerate() {
            let mut loaded = model.learner.load(self.get(&format!("learner.{k}"))?);
            if let Some(meter) = &mut model.meter {
                loaded = loaded.and(meter.load(self.get(&format!("meter.{k}"))?));
            }
            loaded.map_err(|why| self.error(why))?;
        }
        session.counters = head.counters;
        session.baseline = head.baseline.clone();
        // Older models have no such section.
        if self.file.section("reports").is_some() {
            (session.tally, session.written) = self.binary("reports")?;
        }
        Ok(session)
    }

    fn weights(&self, k: usize, dim: u64) -> Result<Weights> {
        let weights: Weights = self.binary(&format!("weights.{k}"))?;
        match weights.is_sound() && weights.dim as u64 == dim {
            true => Ok(weights),
            false => Err(self.error(format_args!("section weights.{k} is damaged"))),
        }
    }
}

impl Saved {
    /// Reads a model file.
    pub fn open(path: &Path) -> Result<Self> {
        let file = ModelFile::read(path)?;
        let sections = Sections { file, path };
        let mut plan = Plan::of(sections.json("config")?, sections.json("data")?)
            .map_err(|key| sections.error(format_args!("config: {key} is missing")))?;
        if sections.file.section(FEATURES).is_some() {
            plan.data.features = Some(sections.binary(FEATURES)?);
        }
        let head: Head = sections.binary("head")?;
        let state = if head.whole || plan.is_unit_free() {
            State::Session(Box::new(sections.session(&plan, &head)?))
        } else {
            let all = (0..plan.models()).map(|k| sections.weights(k, head.dim));
            State::Weights(all.collect::<Result<_>>()?)
        };
        Ok(Self {
            plan,
            counters: head.counters,
            dim: head.dim as usize,
            rounds: head.rounds,
            can_resume: head.whole,
            state,
        })
    }

    /// Returns the session, so that it can be resumed. A model with only weights is an error.
    pub fn resume(self, path: &Path) -> Result<Session> {
        match self.state {
            State::Session(session) if self.can_resume => Ok(*session),
            _ => Err(Error::content(
                &path.display().to_string(),
                "the model was saved with --drop-resume-state: it can predict, but not be resumed",
            )),
        }
    }

    /// The session, if the model can be resumed.
    pub fn session(&mut self) -> Option<&mut Session> {
        match &mut self.state {
            State::Session(session) if self.can_resume => Some(session),
            _ => None,
        }
    }

    /// The weights of each model. The predictions of a learner that observes examples are not exactly
    /// linear: its weights are those of the mixture of its members before clipping.
    pub fn weights(&self) -> Vec<Weights> {
        match &self.state {
            State::Session(session) => session
                .models
                .iter()
                .map(|m| Weights::of(&*m.learner))
                .collect(),
            State::Weights(weights) => weights.clone(),
        }
    }

    /// The score of an example in each model. It may be NaN or infinite.
    pub fn scores(&self, example: &Example<'_>) -> extremal::Result<Vec<f64>> {
        match &self.state {
            State::Session(session) => session.scores(example).collect(),
            State::Weights(weights) => Ok(weights.iter().map(|w| w.predict(example)).collect()),
        }
    }

    /// The prediction for an example: its score, or the index of the class with the largest score. It
    /// may be NaN or infinite.
    pub fn predict(&self, example: &Example<'_>) -> extremal::Result<f64> {
        match &self.state {
            State::Session(session) => session.predict(example),
            State::Weights(weights) => predicted(weights.iter().map(|w| Ok(w.predict(example)))),
        }
    }
}
