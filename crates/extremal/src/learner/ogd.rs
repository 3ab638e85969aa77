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

use super::projected::{Descent, projected};
use super::{Learner, MakeLearner, Seen, Storage, keys};
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
        let descent = self.descent(set.geometry().diameter)?;
        projected(self, descent, set, self.start.as_deref(), storage)
    }
}

impl Ogd {
    fn descent(&self, diameter: f64) -> Result<GradientDescent> {
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
        Ok(GradientDescent {
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
            diameter,
            scale: keys::eta_scale(NAME, self.eta_scale)?,
        })
    }
}

struct GradientDescent {
    schedule: Schedule,
    offset: f64,
    lambda: f64,
    gradient: f64,
    diameter: f64,
    scale: f64,
}

impl Descent for GradientDescent {
    /// Σ‖g‖².
    type State = f64;

    const FOLLOWS_SUM: bool = false;

    fn eta(&self, squares: f64, round: u64, norm: f64) -> (f64, f64) {
        let (t, squares) = (round as f64, squares + norm * norm);
        let eta = match self.schedule {
            Schedule::Convex => self.diameter / (self.gradient * t.sqrt()),
            Schedule::StronglyConvex => 1.0 / (self.lambda * (t + self.offset)),
            Schedule::Adagrad => self.diameter / (2.0 * squares).sqrt(),
        };
        // no gradient so far
        let eta = if eta.is_finite() { eta } else { 0.0 };
        (squares, self.scale * eta)
    }

    fn guarantee(&self, squares: &f64, seen: &Seen) -> Option<Guarantee> {
        (self.scale == 1.0 && self.offset == 0.0).then_some(match self.schedule {
            Schedule::Convex => Guarantee::from(theory::OgdConvex {
                gradient: self.gradient,
                diameter: self.diameter,
            }),
            Schedule::StronglyConvex => Guarantee::from(theory::OgdStronglyConvex {
                gradient: seen.largest_gradient,
                lambda: self.lambda,
            }),
            Schedule::Adagrad => Guarantee::from(theory::OgdAdagrad {
                bound: (2.0 * squares).sqrt() * self.diameter,
            }),
        })
    }
}
