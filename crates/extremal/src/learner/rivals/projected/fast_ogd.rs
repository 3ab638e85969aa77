//! Fast OGD: gradient descent over sets {h(x) ≤ 0} with a smooth h. The projection needs a few
//! dozen values of h and one gradient, but does not return the nearest point.
//!
//! **Problem.** Convex or λ-strongly convex losses over a set with a known h: balls of the ℓp norms
//! with p ≥ 2, ellipsoids, translations and scalings of such sets, and a user's own sets.
//!
//! **Update.** x_{t+1} = Π̃(x_t − η_t g_t), where Π̃ is [`FastProjection`]. Let μ be the curvature
//! of h and κ = 1 + 2μD. With G, η_t = D/(Gκ√t); without G, η_t = D/max(√(2κΣ‖g‖²), κ·max‖g‖). With
//! λ, η_t = 1/(2μG + λt), where the largest gradient replaces G if G is not given.
//!
//! **Guarantee.** Regret ≤ (κ/2 + 1)GD√T with G, √(2κ)·D·√(Σ‖g‖²) + (κ/2)·D·max‖g‖ without G, and
//! μGD² + κG²(1 + ln T)/(2λ) with λ.
//!
//! **Reference.** Levy & Krause, AISTATS 2019. [`theory::fast_ogd`] has the proofs of the
//! constants, and of the steps without G.
//!
//! ```
//! use extremal::{Gradient, LearnerSpec, SetSpec};
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

use crate::learner::skeleton::method::{Method, Round, Step, acting, first_decision};
use crate::learner::skeleton::parameters;
use crate::learner::skeleton::schedule::Schedule;
use crate::learner::{Learner, MakeLearner, RunStatistics, Storage, Uses};
use crate::parameter::fields;
use crate::set::{FastProjection, SharedSet};
use crate::spec::{About, Described, Kind};
use crate::theory::{self, Guarantee};
use crate::{Error, Result};

const NAME: &str = "fast-ogd";

fields! {
    /// The spec of `fast-ogd`.
    pub struct FastOgd {
        /// the losses' strong convexity λ; default: 0
        pub lambda: Option<f64> = None => Kind::SIZE,
        /// a bound G on the gradients' ℓ2 norm; without it, the step size depends on the observed
        /// gradients
        pub gradient_bound: Option<f64> = None => Kind::GRADIENT,
        /// a factor that multiplies the theorem's step size
        pub eta_scale: f64 = 1.0 => Kind::FACTOR,
        /// the first decision x₁, a point of the set; default: the set's centre
        pub start: Option<Vec<f64>> = None => Kind::POINT,
    }
}

impl Described for FastOgd {
    const ABOUT: About = About {
        summary: "gradient descent on a set h(x) ≤ 0 with a fast approximate projection",
        cost: "at most 1 gradient and a few dozen values of h per round, no oracle call",
        guarantee: "sets h(x) ≤ 0 with a smooth h of curvature μ, κ = 1 + 2μD: (κ/2 + 1)·G·D·√T with G; √(2κ)·D·√(Σ‖g‖²) + (κ/2)·D·max‖g‖ without G; μ·G·D² + κ·G²(1 + ln T)/(2λ) for λ-strongly convex losses",
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
        let schedule = Schedule::of(self.lambda, None, self.gradient_bound);
        let mut start = first_decision(set, self.start.as_deref())?;
        if set.smooth().is_none() {
            let needs = "a set of the form h(x) ≤ 0 with a known smooth h";
            return Err(parameters::cannot_play(NAME, &**set, needs));
        }
        let mut projection = FastProjection::new(&**set).map_err(|e| match e {
            Error::Unsupported(why) => Error::Unsupported(format!("{NAME}: {why}")),
            other => other,
        })?;
        projection.enter(&mut start);
        let descent = Descent {
            schedule,
            bound: self.gradient_bound,
            mu: projection.curvature(),
            diameter: set.geometry().diameter,
            scale: self.eta_scale,
            projection,
            way: vec![0.0; set.dim()],
        };
        acting(self, descent, set, Some(&start), storage)
    }

    fn uses(&self) -> Uses {
        Uses::Constraint
    }
}

struct Descent {
    schedule: Schedule,
    bound: Option<f64>,
    /// The curvature μ of h.
    mu: f64,
    diameter: f64,
    scale: f64,
    projection: FastProjection,
    way: Vec<f64>,
}

/// Statistics of the gradients.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
struct State {
    /// √(Σ‖g‖²).
    root: f64,
    /// max ‖g‖.
    largest: f64,
}

impl Descent {
    /// η_t, before the step is shortened to 1/(2μ).
    fn eta(&self, t: f64, seen: &State) -> f64 {
        let kappa = theory::fast_ogd_kappa(self.mu, self.diameter);
        let eta = match self.schedule {
            Schedule::Strong { lambda } => {
                1.0 / (2.0 * self.mu * self.bound.unwrap_or(seen.largest) + lambda * t)
            }
            Schedule::Gradients => {
                self.diameter / ((2.0 * kappa).sqrt() * seen.root).max(kappa * seen.largest)
            }
            known => known.eta(self.diameter / kappa, t, seen.root),
        };
        self.scale * eta
    }
}

impl Method for Descent {
    type State = State;

    fn start(&self, _x: &[f64]) -> State {
        State::default()
    }

    fn round(&mut self, round: Round<'_, State>) -> Result<Step> {
        let (now, next, x_next) = (round.now, round.next, round.x_next);
        let (t, g, norm) = (round.t, round.g, round.norm);
        *next = State {
            root: now.root.hypot(norm),
            largest: now.largest.max(norm),
        };
        if norm == 0.0 {
            return Ok(Step::of(0.0));
        }
        let eta = self.eta(t, next).min(0.5 / self.mu / norm);
        for (way, g) in self.way.iter_mut().zip(g) {
            *way = -eta * g;
        }
        self.projection.step(x_next, &self.way);
        Ok(Step::of(eta))
    }

    fn guarantee(&self, state: &State, _seen: &RunStatistics) -> Option<Guarantee> {
        let Self { mu, diameter, .. } = *self;
        let State { root, largest } = *state;
        (self.scale == 1.0).then(|| match (self.schedule, self.bound) {
            (Schedule::Strong { lambda }, bound) => {
                let gradient = bound.unwrap_or(largest);
                theory::fast_ogd_strongly_convex(gradient, lambda, diameter, mu)
            }
            (_, Some(gradient)) => theory::fast_ogd(gradient, diameter, mu),
            (_, None) => theory::fast_ogd_adaptive(diameter, mu, root, largest),
        })
    }
}
