//! Sessions as model files: what is needed to go on, or only to predict.

use std::fmt::Display;
use std::path::Path;

use extremal::hindsight::Meter;
use extremal::{Point, Row};
use extremal_data::{Example, ModelFile, Section};
use serde::{Deserialize, Serialize};

use crate::config::Config;
use crate::error::{Error, Result};
use crate::plan::{DataFacts, Plan};
use crate::session::{Counters, Session, predict};

/// A model as it was saved.
pub struct Saved {
    /// What is learnt and how.
    pub plan: Plan,
    /// What was added up.
    pub counters: Counters,
    /// The dimension.
    pub dim: usize,
    /// Rounds played.
    pub rounds: u64,
    models: Models,
}

enum Models {
    /// Learners that can go on.
    Whole(Box<Session>),
    /// Weights alone.
    Weights(Vec<Weights>),
}

/// The non-zeros of a decision.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
struct Weights {
    indices: Vec<u32>,
    values: Vec<f64>,
    dim: usize,
}

impl Weights {
    fn of(decision: &dyn Point) -> Self {
        let mut weights = Self {
            dim: decision.dim(),
            ..Self::default()
        };
        decision.for_each_nonzero(&mut |i, v| {
            weights.indices.push(i as u32);
            weights.values.push(v);
        });
        weights
    }

    fn is_sound(&self) -> bool {
        self.indices.len() == self.values.len()
            && self.indices.is_sorted_by(|a, b| a < b)
            && self.indices.last().is_none_or(|i| (*i as usize) < self.dim)
            && self.values.iter().all(|v| v.is_finite())
    }
}

impl Point for Weights {
    fn dim(&self) -> usize {
        self.dim
    }

    fn dot(&self, row: &Row<'_>) -> extremal::Result<f64> {
        row.check_shape(self.dim)?;
        Ok(row
            .entries()
            .filter_map(|(i, v)| {
                let at = self.indices.binary_search(&(i as u32)).ok()?;
                Some(v * self.values[at])
            })
            .sum())
    }

    fn norm_squared(&self) -> f64 {
        self.values.iter().map(|v| v * v).sum()
    }

    fn write(&self, out: &mut [f64]) {
        out.fill(0.0);
        for (i, v) in self.indices.iter().zip(&self.values) {
            out[*i as usize] = *v;
        }
    }

    fn for_each_nonzero(&self, each: &mut dyn FnMut(usize, f64)) {
        let all = self.indices.iter().zip(&self.values);
        all.filter(|(_, v)| **v != 0.0)
            .for_each(|(i, v)| each(*i as usize, *v));
    }
}

#[derive(Serialize, Deserialize)]
struct Head {
    counters: Counters,
    dim: u64,
    rounds: u64,
    whole: bool,
}

/// Writes a session to a model file, whole or not at all. Without `resume`, only what predicting
/// needs.
pub fn save(session: &Session, path: &Path, resume: bool) -> Result<()> {
    Ok(file_of(session, resume)?.write(path)?)
}

fn file_of(session: &Session, resume: bool) -> Result<ModelFile> {
    let plan = session.plan();
    let counters = *session.counters();
    // What is said in JSON describes itself: a key that is not there gets its default.
    let mut sections = vec![
        section("config", serde_json::to_vec(&plan.config))?,
        section("data", serde_json::to_vec(&plan.data))?,
        section(
            "head",
            postcard::to_stdvec(&Head {
                counters,
                dim: session.dim() as u64,
                rounds: session.rounds(),
                whole: resume,
            }),
        )?,
    ];
    for (k, track) in session.tracks.iter().enumerate() {
        if resume {
            let library = |why| Error::Library {
                context: "saving".into(),
                why,
            };
            sections.push(Section {
                name: format!("learner.{k}"),
                bytes: track.learner.save().map_err(library)?,
            });
            sections.push(Section {
                name: format!("meter.{k}"),
                bytes: track.meter.save().map_err(library)?,
            });
        } else {
            let weights = Weights::of(track.learner.decision());
            sections.push(section(
                &format!("weights.{k}"),
                postcard::to_stdvec(&weights),
            )?);
        }
    }
    let mut about = vec![
        ("set".into(), plan.set.to_string()),
        ("loss".into(), plan.loss.to_string()),
        ("learner".into(), plan.learner.to_string()),
        ("l2".into(), format!("{:?}", plan.config.ridge())),
        ("dimension".into(), session.dim().to_string()),
        ("rounds".into(), session.rounds().to_string()),
        ("records".into(), counters.records.to_string()),
        (
            "resume".into(),
            if resume { "yes" } else { "no: weights alone" }.into(),
        ),
    ];
    if !plan.classes().is_empty() {
        about.push(("classes".into(), plan.classes().join(",")));
    }
    Ok(ModelFile { about, sections })
}

fn section(name: &str, bytes: Result<Vec<u8>, impl Display>) -> Result<Section> {
    match bytes {
        Ok(bytes) => Ok(Section {
            name: name.into(),
            bytes,
        }),
        Err(why) => Err(Error::Unsupported(format!("{name}: {why}"))),
    }
}

impl Saved {
    /// Reads a model file.
    pub fn open(path: &Path) -> Result<Self> {
        let file = ModelFile::read(path)?;
        let name = path.display().to_string();
        let bad = |what: String| {
            Error::from(extremal_data::Error::Content {
                file: name.clone(),
                what: format!("{what}: the model does not fit this program"),
            })
        };
        let section = |wanted: &str| {
            file.section(wanted)
                .ok_or_else(|| bad(format!("no section {wanted}")))
        };
        let config: Config =
            serde_json::from_slice(section("config")?).map_err(|e| bad(format!("config: {e}")))?;
        let data: DataFacts =
            serde_json::from_slice(section("data")?).map_err(|e| bad(format!("data: {e}")))?;
        let plan = Plan::of(config, data).map_err(|key| bad(format!("config: no {key}")))?;
        let (head, rest) = postcard::take_from_bytes::<Head>(section("head")?)
            .map_err(|e| bad(format!("head: {e}")))?;
        if !rest.is_empty() {
            return Err(bad("head: bytes too many".into()));
        }
        let dim = head.dim as usize;
        let models = if head.whole {
            let mut session = Session::new(plan.clone())?;
            // Before there is room for as many as the file says.
            let saved = Meter::saved_dim(section("meter.0")?).map_err(|e| bad(e.to_string()))?;
            if saved != dim {
                return Err(bad(format!(
                    "head: dimension {dim}, where the sums of gradients have {saved}"
                )));
            }
            session.grow(dim).map_err(|e| bad(e.to_string()))?;
            for k in 0..plan.tracks() {
                let track = &mut session.tracks[k];
                let learner = section(&format!("learner.{k}"))?;
                track
                    .learner
                    .load(learner)
                    .map_err(|e| bad(e.to_string()))?;
                let meter = section(&format!("meter.{k}"))?;
                track.meter.load(meter).map_err(|e| bad(e.to_string()))?;
            }
            session.set_counters(head.counters);
            Models::Whole(Box::new(session))
        } else {
            let weights = (0..plan.tracks())
                .map(|k| {
                    let bytes = section(&format!("weights.{k}"))?;
                    match postcard::take_from_bytes::<Weights>(bytes) {
                        Ok((weights, [])) if weights.is_sound() && weights.dim == dim => {
                            Ok(weights)
                        }
                        _ => Err(bad(format!("weights.{k}"))),
                    }
                })
                .collect::<Result<Vec<_>>>()?;
            Models::Weights(weights)
        };
        Ok(Self {
            plan,
            counters: head.counters,
            dim,
            rounds: head.rounds,
            models,
        })
    }

    /// The session, to go on with it.
    pub fn resume(self, path: &Path) -> Result<Session> {
        match self.models {
            Models::Whole(session) => Ok(*session),
            Models::Weights(_) => Err(Error::from(extremal_data::Error::Content {
                file: path.display().to_string(),
                what: "it was saved with --drop-resume-state: it can predict, but not go on".into(),
            })),
        }
    }

    /// The session, where it was saved whole.
    pub fn session(&mut self) -> Option<&mut Session> {
        match &mut self.models {
            Models::Whole(session) => Some(session),
            Models::Weights(_) => None,
        }
    }

    /// The models, one or one per class.
    pub fn decisions(&self) -> Box<dyn Iterator<Item = &dyn Point> + '_> {
        match &self.models {
            Models::Whole(session) => Box::new(session.decisions()),
            Models::Weights(weights) => Box::new(weights.iter().map(|w| w as &dyn Point)),
        }
    }

    /// The prediction for an example: ⟨a, x⟩, or the class. It may not be finite where the numbers
    /// are huge.
    pub fn predict(&self, example: &Example<'_>) -> extremal::Result<f64> {
        predict(self.decisions(), self.dim, example)
    }
}
