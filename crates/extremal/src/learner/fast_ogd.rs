//! Fast OGD: gradient descent over sets {h(x) ≤ 0} of a smooth h, with a projection that asks for
//! a few dozen values of h and one gradient instead of the nearest point.
//!
//! **Problem.** Convex, or λ-strongly convex losses over a set that knows its h: balls of the ℓp
//! norms with p ≥ 2, ellipsoids, these moved and scaled, and a user's own.
//!
//! **Update.** x_{t+1} = Π̃(x_t − η_t g_t), Π̃ being [`FastProjection`], with μ the curvature of h,
//! κ = 1 + 2μD and η_t = D/(Gκ√t) where G is given, η_t = D/max(√(2κΣ‖g‖²), κ·max‖g‖) without,
//! and η_t = 1/(2μG + λt) with λ, where the largest gradient stands for G if it is left out.
//!
//! **Guarantee.** Regret ≤ (κ/2 + 1)GD√T, √(2κ)·D·√(Σ‖g‖²) + (κ/2)·D·max‖g‖, and with λ
//! μGD² + κG²(1 + ln T)/(2λ).
//!
//! **Reference.** Levy & Krause, AISTATS 2019; the constants, and the steps without G, are proven
//! at [`theory::fast_ogd`].
//!
//! ```
//! use extremal::{learner::LearnerSpec, pair::Gradient, set::SetSpec};
//! let set = "lp:p=4,dim=2".parse::<SetSpec>()?.build(None)?;
//! let mut learner = "fast-ogd".parse::<LearnerSpec>()?.build(&set)?;
//! for _ in 0..1000 {
//!     learner.decide()?;
//!     learner.observe(&Gradient::dense(&[0.0, 1.0]))?;
//! }
//! let mut x = [0.0; 2];
//! learner.decide()?.write(&mut x);
//! assert!(x[1] < -0.999 && set.violation(&x) == Some(0.0));
//! # Ok::<(), extremal::Error>(())
//! ```

use serde::{Deserialize, Serialize};

use super::method::{Revealed, Step, first_decision};
use super::staged::{Staged, staged};
use super::{Learner, MakeLearner, Seen, Storage, keys};
use crate::set::{FastProjection, SharedSet};
use crate::spec::{Described, Entry, Parameter};
use crate::theory::{self, Guarantee};
use crate::{Error, Result};

const NAME: &str = "fast-ogd";

/// Spec of `fast-ogd`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct FastOgd {
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

impl Described for FastOgd {
    const ENTRY: Entry = Entry {
        name: NAME,
        summary: "gradient descent over h(x) ≤ 0 by a fast, approximate projection",
        parameters: &[
            Parameter {
                about: "the losses' strong convexity λ; left out, losses count as convex",
                ..keys::LAMBDA
            },
            Parameter {
                about: "a bound G of the gradients' ℓ2 norm; left out, the step follows the gradients seen",
                ..keys::GRADIENT_BOUND
            },
            keys::ETA_SCALE,
            keys::START,
        ],
        cost: "at most 1 gradient and a few dozen values of h per round, no oracle call",
        guarantee: "sets h(x) ≤ 0 with a smooth h of curvature μ, κ = 1 + 2μD: (κ/2 + 1)·G·D·√T with G, √(2κ)·D·√(Σ‖g‖²) + (κ/2)·D·max‖g‖ without, μ·G·D² + κ·G²(1 + ln T)/(2λ) for λ-strongly convex losses",
        reference: "Levy & Krause, AISTATS 2019",
        citations: &["LevyKrause2019"],
        examples: &[
            "fast-ogd",
            "fast-ogd:gradient-bound=1",
            "fast-ogd:lambda=0.1",
        ],
    };
}

impl MakeLearner for FastOgd {
    fn make(&self, set: &SharedSet, storage: Storage) -> Result<Box<dyn Learner>> {
        keys::check_unneeded(NAME, None, self.gradient_bound)?;
        let lambda = self.lambda.map(|l| keys::lambda(NAME, l)).transpose()?;
        let scale = keys::eta_scale(NAME, self.eta_scale)?;
        let mut start = first_decision(set, self.start.as_deref())?;
        if set.smooth().is_none() {
            return Err(keys::cannot_play(
                NAME,
                &**set,
                "a set given as h(x) ≤ 0 with a smooth h",
            ));
        }
        let mut projection = FastProjection::new(&**set).map_err(|e| match e {
            Error::Unsupported(why) => Error::Unsupported(format!("{NAME}: {why}")),
            other => other,
        })?;
        projection.enter(&mut start);
        let descent = Descent {
            steps: Steps {
                lambda,
                bound: self.gradient_bound,
                mu: projection.curvature(),
                diameter: set.geometry().diameter,
                scale,
            },
            projection,
            way: vec![0.0; set.dim()],
            state: State::default(),
            next: State::default(),
        };
        staged(self, descent, set, Some(&start), storage)
    }
}

/// What the step sizes follow from.
struct Steps {
    lambda: Option<f64>,
    bound: Option<f64>,
    mu: f64,
    diameter: f64,
    scale: f64,
}

/// What was seen of the gradients.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
struct State {
    /// √(Σ‖g‖²).
    root: f64,
    /// max ‖g‖.
    largest: f64,
}

impl Steps {
    /// ‖η_t g_t‖, before it is shortened to 1/(2μ).
    fn length(&self, t: f64, norm: f64, seen: &State) -> f64 {
        let kappa = theory::fast_ogd_kappa(self.mu, self.diameter);
        let length = match (self.lambda, self.bound) {
            (Some(lambda), bound) => {
                let bound = bound.unwrap_or(seen.largest);
                // 1/(2μG/‖g‖ + λt/‖g‖), as the norm's inverse may be no number
                1.0 / (2.0 * self.mu * (bound / norm) + lambda * t / norm)
            }
            (None, Some(bound)) => self.diameter * (norm / bound) / (kappa * t.sqrt()),
            (None, None) => {
                let most = ((2.0 * kappa).sqrt() * seen.root).max(kappa * seen.largest);
                self.diameter * (norm / most)
            }
        };
        self.scale * length
    }
}

struct Descent {
    steps: Steps,
    projection: FastProjection,
    way: Vec<f64>,
    state: State,
    next: State,
}

impl Staged for Descent {
    type State = State;

    fn plan(&mut self, revealed: &Revealed<'_>, next: &mut [f64]) -> Result<Step> {
        let Revealed { round, g, norm } = *revealed;
        self.next = State {
            root: self.state.root.hypot(norm),
            largest: self.state.largest.max(norm),
        };
        let mut sigma = 0.0;
        if norm > 0.0 {
            let longest = 0.5 / self.projection.curvature();
            let length = self.steps.length(round as f64, norm, &self.next);
            let length = length.min(longest);
            for (way, g) in self.way.iter_mut().zip(g) {
                *way = -length * (g / norm);
            }
            self.projection.step(next, &self.way);
            sigma = length / norm;
        }
        Ok(Step {
            sigma,
            gap: f64::NAN,
        })
    }

    fn commit(&mut self) {
        self.state = self.next;
    }

    fn state(&self) -> State {
        self.state
    }

    fn restore(&mut self, state: State) -> Result<()> {
        let fits = |v: f64| v >= 0.0 && v.is_finite();
        if !(fits(state.root) && fits(state.largest)) {
            return Err(Error::State("its norms of gradients are none".into()));
        }
        self.state = state;
        Ok(())
    }

    fn guarantee(&self, _seen: &Seen) -> Option<Guarantee> {
        let Steps {
            lambda,
            bound,
            mu,
            diameter,
            scale,
        } = self.steps;
        let State { root, largest } = self.state;
        (scale == 1.0).then(|| match (lambda, bound) {
            (Some(lambda), bound) => theory::FastOgdStronglyConvex {
                gradient: bound.unwrap_or(largest),
                lambda,
                mu,
                diameter,
            }
            .into(),
            (None, Some(gradient)) => theory::FastOgd {
                gradient,
                mu,
                diameter,
            }
            .into(),
            (None, None) => theory::FastOgdAdaptive {
                bound: theory::fast_ogd_adaptive(diameter, mu, root, largest),
            }
            .into(),
        })
    }
}
