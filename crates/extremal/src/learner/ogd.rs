//! OGD: projected online gradient descent, the baseline that projection-free learners are held
//! against. Needs a set with a Euclidean projection.
//!
//! **Problem.** Convex, or λ-strongly convex losses.
//!
//! **Update.** x_{t+1} = Π(x_t − η_t g_t), with η_t = D/(G√t), 1/(λ(t + b)), or D/√(2Σ‖g‖²).
//!
//! **Guarantee.** Regret ≤ (3/2)GD√T, G²(1 + ln T)/(2λ) with b = 0, √2·D·√(Σ‖g‖²). With another b
//! (`offset`) or a factor on the step size (`eta-scale`) none is shown.
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

use super::iterate::{Dense, Iterate, Lazy};
use super::{
    Certificate, Learner, MakeLearner, Record, Seen, Storage, at_round, check_between, check_name,
    check_turn, decode, encode, keys, not_stored, take_turn,
};
use crate::kernel;
use crate::pair::{Gradient, Point};
use crate::range::check_step;
use crate::set::SharedSet;
use crate::spec::{Described, Entry, Parameter};
use crate::theory::{self, Guarantee};
use crate::{Error, Result};

const NAME: &str = "ogd";

/// How the step size falls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Schedule {
    /// D/(G√t).
    Convex,
    /// 1/(λ(t + b)).
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
    /// b, in rounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<f64>,
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
            Parameter {
                name: "offset",
                about: "number b of rounds in the step 1/(λ(t+b)): a larger b makes the first steps smaller",
                default: Some("0"),
                allowed: "a number ≥ 0, with schedule=strongly-convex alone",
            },
            keys::GRADIENT_BOUND,
            keys::ETA_SCALE,
            keys::START,
        ],
        cost: "1 projection and O(d) per round, no oracle call; O(non-zeros) on ℓ2 balls in lazy storage",
        guarantee: "any set with a projection: (3/2)·G·D·√T, G²(1+ln T)/(2λ) for λ-strongly convex losses, √2·D·√(Σ‖g‖²)",
        reference: "Zinkevich, ICML 2003; Hazan, Agarwal & Kale, 2007; Streeter & McMahan, 2010",
        citations: &[
            "Zinkevich2003",
            "HazanAgarwalKale2007",
            "StreeterMcMahan2010",
        ],
        examples: &[
            "ogd",
            "ogd:gradient-bound=1",
            "ogd:lambda=0.1",
            "ogd:lambda=0.1,eta-scale=2,offset=100",
        ],
    };
}

impl MakeLearner for Ogd {
    fn make(&self, set: &SharedSet, storage: Storage) -> Result<Box<dyn Learner>> {
        let state = self.state(set)?;
        let start = self.start.as_deref();
        Ok(match storage {
            Storage::Sparse => return Err(not_stored(NAME, set, storage)),
            Storage::Dense => Box::new(OgdLearner {
                state,
                x: Dense::new(NAME, set, start)?,
            }),
            Storage::Lazy => Box::new(OgdLearner {
                state,
                x: Lazy::new(NAME, set, start)?,
            }),
        })
    }
}

impl Ogd {
    fn state(&self, set: &SharedSet) -> Result<State> {
        keys::check_unneeded(NAME, None, self.gradient_bound)?;
        let lambda = self.lambda.map(|l| keys::lambda(NAME, l)).transpose()?;
        let schedule = self
            .schedule
            .unwrap_or(match (lambda, self.gradient_bound) {
                (Some(_), _) => Schedule::StronglyConvex,
                (None, Some(_)) => Schedule::Convex,
                (None, None) => Schedule::Adagrad,
            });
        let lambda_missing = Error::Missing {
            owner: NAME,
            name: "lambda",
            why: "schedule=strongly-convex has the step 1/(λ(t+b))",
        };
        let offset = self.offset.unwrap_or(0.0);
        if !(offset >= 0.0 && offset.is_finite()) {
            let allowed = "a finite number ≥ 0";
            return Err(Error::parameter(NAME, "offset", offset, allowed));
        }
        if self.offset.is_some() && schedule != Schedule::StronglyConvex {
            let allowed = "left out: only the step 1/(λ(t+b)) of schedule=strongly-convex has it";
            return Err(Error::parameter(NAME, "offset", offset, allowed));
        }
        Ok(State {
            schedule,
            offset,
            lambda: match schedule {
                Schedule::StronglyConvex => lambda.ok_or(lambda_missing)?,
                _ => 0.0,
            },
            gradient: match schedule {
                Schedule::Convex => keys::bound(NAME, self.gradient_bound)?,
                _ => 0.0,
            },
            diameter: set.geometry().diameter,
            scale: keys::eta_scale(NAME, self.eta_scale)?,
            root: 0.0,
            seen: Seen::default(),
            decided: false,
        })
    }
}

#[derive(Serialize, Deserialize)]
struct State {
    schedule: Schedule,
    offset: f64,
    lambda: f64,
    gradient: f64,
    diameter: f64,
    scale: f64,
    /// √(Σ‖g‖²).
    root: f64,
    seen: Seen,
    decided: bool,
}

impl State {
    /// η_t, given √(Σ‖g‖²) with this round's gradient.
    fn eta(&self, root: f64) -> f64 {
        let t = (self.seen.rounds + 1) as f64;
        let eta = match self.schedule {
            Schedule::Convex => self.diameter / (self.gradient * t.sqrt()),
            Schedule::StronglyConvex => 1.0 / (self.lambda * (t + self.offset)),
            Schedule::Adagrad => self.diameter / (std::f64::consts::SQRT_2 * root),
        };
        if eta.is_finite() {
            self.scale * eta
        } else {
            0.0
        }
    }
}

struct OgdLearner<X> {
    state: State,
    x: X,
}

impl<X: Iterate> Learner for OgdLearner<X> {
    fn dim(&self) -> usize {
        self.x.dim()
    }

    fn decide(&mut self) -> Result<&dyn Point> {
        take_turn(&mut self.state.decided)?;
        Ok(&self.x)
    }

    fn observe(&mut self, gradient: &Gradient<'_>) -> Result<Record> {
        let Self { state, x } = self;
        check_turn(state.decided)?;
        let round = state.seen.rounds + 1;
        let ax = x.dot(&gradient.row)?;
        let row_norm = kernel::norm(gradient.row.values());
        let xx = x.norm_squared();
        let gradient = &gradient.admit(row_norm, xx)?;
        let norm = gradient.norm_from(row_norm, ax, xx);
        let root = (state.root * state.root + norm * norm).sqrt();
        let eta = state.eta(root);
        check_step(eta * gradient.size(row_norm, xx))?;
        // x_{t+1} = Π(x_t − η_t g_t)
        let (keep, k) = (1.0 - eta * gradient.ridge, -eta * gradient.scale);
        x.descend(keep, k, &gradient.row, row_norm)
            .map_err(|e| at_round(e, round))?;

        state.root = root;
        let record = Record {
            round,
            sigma: eta,
            gap: f64::NAN,
            oracle_calls: 0,
            gradient_norm: norm,
            gradient_dot: gradient.scale * ax + gradient.ridge * xx,
            norm_squared: xx,
        };
        state.seen.note(&record);
        state.decided = false;
        Ok(record)
    }

    fn withdraw(&mut self) {
        self.state.decided = false;
    }

    fn decision(&self) -> &dyn Point {
        &self.x
    }

    fn rounds(&self) -> u64 {
        self.state.seen.rounds
    }

    fn guarantee(&self) -> Option<Guarantee> {
        let State {
            schedule,
            offset,
            lambda,
            gradient,
            diameter,
            scale,
            root,
            seen,
            ..
        } = &self.state;
        (*scale == 1.0 && *offset == 0.0).then_some(match schedule {
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
        encode(&(NAME, X::STORAGE, &self.state, self.x.save()))
    }

    fn load(&mut self, saved: &[u8]) -> Result<()> {
        let (name, storage, state, x): (String, String, State, X::Saved) = decode(saved)?;
        check_name(NAME, &name)?;
        check_name(X::STORAGE, &storage)?;
        self.x.load(x)?;
        self.state = state;
        Ok(())
    }

    fn grow(&mut self, dim: usize) -> Result<()> {
        if dim == self.dim() {
            return Ok(());
        }
        check_between(self.state.decided)?;
        self.x.grow(dim)
    }

    fn reserve(&mut self, dim: usize) -> Result<()> {
        self.x.reserve(dim)
    }
}
