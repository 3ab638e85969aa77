//! OGD: projected online gradient descent, the baseline that projection-free learners are held
//! against. Needs a set with a Euclidean projection.
//!
//! **Problem.** Convex, or λ-strongly convex losses.
//!
//! **Update.** x_{t+1} = Π(x_t − η_t g_t), with η_t = D/(G√t), 1/(λt), or D/√(2Σ‖g‖²).
//!
//! **Guarantee.** Regret ≤ (3/2)GD√T, G²(1 + ln T)/(2λ), √2·D·√(Σ‖g‖²).
//!
//! **Reference.** Zinkevich, ICML 2003; Hazan, Agarwal & Kale, Machine Learning 2007;
//! Streeter & McMahan, 2010 (AdaGrad-norm).
//!
//! ```
//! use extremal::{learner::LearnerSpec, set::SetSpec};
//! let set = "simplex:dim=10".parse::<SetSpec>()?.build(None)?;
//! let learner = "ogd:gradient-bound=1".parse::<LearnerSpec>()?.build(&set)?;
//! assert_eq!(learner.guarantee().unwrap().exponent(), 0.5);
//! # Ok::<(), extremal::Error>(())
//! ```

use serde::{Deserialize, Serialize};

use super::plain::Plain;
use super::{
    Certificate, Learner, MakeLearner, Record, Seen, Storage, check_name, check_turn, decode,
    encode, keys, not_stored, take_turn,
};
use crate::kernel;
use crate::pair::{DensePair, Gradient, Point};
use crate::set::{Identity, Projection, SharedSet, check_saved_point};
use crate::spec::{Described, Entry, Parameter};
use crate::theory::{self, Guarantee};
use crate::{Error, Result};

/// How the step size falls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Schedule {
    /// D/(G√t).
    Convex,
    /// 1/(λt).
    StronglyConvex,
    /// D/√(2Σ‖g‖²).
    Adagrad,
}

/// Spec of `ogd`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Ogd {
    /// How the step size falls; left out, what the other keys allow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<Schedule>,
    /// λ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lambda: Option<f64>,
    /// G.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gradient_bound: Option<f64>,
    /// Factor on η.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub eta_scale: Option<f64>,
    /// x₁.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<Vec<f64>>,
}

impl Described for Ogd {
    const ENTRY: Entry = Entry {
        name: "ogd",
        summary: "projected online gradient descent, the baseline",
        parameters: &[
            Parameter {
                name: "schedule",
                about: "how the step size falls",
                default: None,
                allowed: "convex (needs G), strongly-convex (needs λ), adagrad; what the other keys allow if left out",
            },
            keys::LAMBDA,
            keys::GRADIENT_BOUND,
            keys::ETA_SCALE,
            keys::START,
        ],
        cost: "1 projection and O(d) per round, no oracle call",
        guarantee: "any set with a projection: (3/2)·G·D·√T, G²(1+ln T)/(2λ) for λ-strongly convex losses, √2·D·√(Σ‖g‖²)",
        reference: "Zinkevich, ICML 2003; Hazan, Agarwal & Kale, 2007; Streeter & McMahan, 2010",
        examples: &["ogd", "ogd:gradient-bound=1", "ogd:lambda=0.1"],
    };
}

impl MakeLearner for Ogd {
    fn make(&self, set: &SharedSet, storage: Storage) -> Result<Box<dyn Learner>> {
        if storage != Storage::Dense {
            return Err(not_stored("ogd", set, storage));
        }
        let projection = set.projection().ok_or_else(|| {
            Error::Unsupported(format!(
                "ogd needs a projection, and set {} has none; take a projection-free learner",
                set.name()
            ))
        })?;
        keys::check_unneeded("ogd", None, self.gradient_bound)?;
        let lambda = self
            .lambda
            .map(|l| keys::positive("ogd", "lambda", l))
            .transpose()?;
        let schedule = self
            .schedule
            .unwrap_or(match (lambda, self.gradient_bound) {
                (Some(_), _) => Schedule::StronglyConvex,
                (None, Some(_)) => Schedule::Convex,
                (None, None) => Schedule::Adagrad,
            });
        // The start is checked as every learner's.
        let start = DensePair::new(set.clone(), self.start.as_deref())?;
        let lambda_missing = Error::Missing {
            owner: "ogd",
            name: "lambda",
            why: "schedule=strongly-convex has the step 1/(λt)",
        };
        let state = State {
            schedule,
            lambda: match schedule {
                Schedule::StronglyConvex => lambda.ok_or(lambda_missing)?,
                _ => 0.0,
            },
            gradient: match schedule {
                Schedule::Convex => keys::bound("ogd", self.gradient_bound)?,
                _ => 0.0,
            },
            diameter: set.geometry().diameter,
            scale: keys::positive("ogd", "eta-scale", self.eta_scale.unwrap_or(1.0))?,
            root: 0.0,
            set: Identity::of(&**set),
            x: Plain(start.decision().to_vec()),
            seen: Seen::default(),
            decided: false,
        };
        Ok(Box::new(OgdLearner {
            set: set.clone(),
            next: vec![0.0; state.x.dim()],
            state,
            projection,
        }))
    }
}

#[derive(Serialize, Deserialize)]
struct State {
    schedule: Schedule,
    lambda: f64,
    gradient: f64,
    diameter: f64,
    scale: f64,
    /// √(Σ‖g‖²), without forming a square: gradients of 1e±170 have none.
    root: f64,
    /// x may be feasible in no other set.
    set: Identity,
    x: Plain,
    seen: Seen,
    decided: bool,
}

struct OgdLearner {
    set: SharedSet,
    state: State,
    next: Vec<f64>,
    projection: Box<dyn Projection>,
}

impl Learner for OgdLearner {
    fn dim(&self) -> usize {
        self.state.x.dim()
    }

    fn decide(&mut self) -> Result<&dyn Point> {
        take_turn(&mut self.state.decided)?;
        Ok(&self.state.x)
    }

    fn observe(&mut self, gradient: &Gradient<'_>) -> Result<Record> {
        let State {
            schedule,
            lambda,
            gradient: bound,
            diameter,
            scale,
            root,
            x: Plain(x),
            seen,
            decided,
            ..
        } = &mut self.state;
        check_turn(*decided)?;
        gradient.check(x.len())?;
        let xx = kernel::dot(x, x);
        let ax = gradient.row.dot(x);
        let norm = gradient.norm_from(kernel::norm(gradient.row.values()), ax, xx);
        if !(norm.is_finite() && ax.is_finite()) {
            return Err(Error::Numerical {
                round: seen.rounds + 1,
                what: "a gradient overflowed".into(),
            });
        }
        let t = (seen.rounds + 1) as f64;
        let eta = match schedule {
            Schedule::Convex => *diameter / (*bound * t.sqrt()),
            Schedule::StronglyConvex => 1.0 / (*lambda * t),
            Schedule::Adagrad => *diameter / (std::f64::consts::SQRT_2 * root.hypot(norm)),
        };
        let eta = if eta.is_finite() { *scale * eta } else { 0.0 };
        // x_{t+1} = Π(x_t − η_t g_t)
        let keep = 1.0 - eta * gradient.ridge;
        for (next, x) in self.next.iter_mut().zip(x.iter()) {
            *next = keep * x;
        }
        gradient.row.add_to(-eta * gradient.scale, &mut self.next);
        self.projection.project(&mut self.next)?;

        *root = root.hypot(norm);
        std::mem::swap(x, &mut self.next);
        let record = Record {
            round: seen.rounds + 1,
            sigma: eta,
            gap: f64::NAN,
            oracle_calls: 0,
            gradient_norm: norm,
            gradient_dot: gradient.scale * ax + gradient.ridge * xx,
            norm_squared: xx,
        };
        seen.note(&record);
        *decided = false;
        Ok(record)
    }

    fn decision(&self) -> &dyn Point {
        &self.state.x
    }

    fn rounds(&self) -> u64 {
        self.state.seen.rounds
    }

    fn guarantee(&self) -> Option<Guarantee> {
        let State {
            schedule,
            lambda,
            gradient,
            diameter,
            scale,
            root,
            seen,
            ..
        } = &self.state;
        (*scale == 1.0).then_some(match schedule {
            Schedule::Convex => Guarantee::from(theory::OgdConvex {
                gradient: *gradient,
                diameter: *diameter,
            }),
            Schedule::StronglyConvex => Guarantee::from(theory::OgdStronglyConvex {
                gradient: seen.largest_gradient,
                lambda: *lambda,
            }),
            Schedule::Adagrad => Guarantee::from(theory::OgdAdagrad {
                bound: std::f64::consts::SQRT_2 * root * diameter,
            }),
        })
    }

    fn seen(&self) -> &Seen {
        &self.state.seen
    }

    fn certificate(&self) -> Option<Certificate> {
        None
    }

    fn save(&self) -> Result<Vec<u8>> {
        encode(&("ogd", &self.state, self.projection.save()))
    }

    fn load(&mut self, saved: &[u8]) -> Result<()> {
        let (name, state, projection): (String, State, Vec<f64>) = decode(saved)?;
        check_name("ogd", &name)?;
        state.set.check(&*self.set)?;
        check_saved_point(&*self.set, &state.x.0)?;
        self.projection.load(&projection)?;
        self.state = state;
        Ok(())
    }
}
