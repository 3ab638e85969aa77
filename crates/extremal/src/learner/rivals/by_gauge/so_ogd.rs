//! SO-OGD: gradient descent that returns to the set with separating hyperplanes.
//!
//! **Problem.** Convex losses over a set K that contains the ball of radius r around 0 and lies in
//! the ball of radius R. The learner needs a separation oracle, which it computes from a
//! subgradient of the gauge γ ([`Set::gauge_gradient`]). It needs neither a linear oracle nor a
//! projection.
//!
//! **Update.** Let y = x_t − η g_t, projected onto the ball of radius R. While γ(y) > 1, compute a
//! subgradient s of γ at y and set y ← y − ((γ(y) − 1 + δ)/‖s‖²)s. This moves y onto a hyperplane
//! that separates the old y from (1 − δ)K. The last y is x_{t+1}. With T and G, η = r/(2G√T) and δ
//! = 4R/(r√T), but at most 1/2. If T or G is unknown, η_t = √2·R/√(Σ‖g‖²) and δ_t = min(1/2,
//! 4R/(r√t)).
//!
//! **Guarantee.** With T and G, on every interval of L rounds and for every `eta-scale`: regret ≤
//! 2R²/η + ηG²L/2 + δRGL. For the constants above this is at most G(r/4 + 8R²/r)√T if T ≥ 64R²/r².
//! The number of separations is at most (R/r)² + (1 + 2RηG/(δr²) + (ηG/(δr))²)T, about 5T/4. If T
//! or G is unknown, the bound is computed from the rounds played:
//! √2·R·(2√(Σ‖g‖²) + Σ(δ_{t−1} − δ_t)√(Σ_{<t}‖g‖²)) + R·Σδ_t‖g_t‖.
//!
//! **Reference.** Garber & Kretzu, *New Projection-free Algorithms for Online Convex Optimization
//! with Adaptive Regret Guarantees*, COLT 2022. Each step of Garber & Kretzu has length δr. Here
//! the gauge gives the distance to the hyperplane, and the steps can be longer.
//!
//! ```
//! use extremal::{LearnerSpec, SetSpec};
//! let set = "lp:p=3,dim=10".parse::<SetSpec>()?.build(None)?;
//! let learner = "so-ogd:horizon=1000,gradient-bound=1".parse::<LearnerSpec>()?.build(&set)?;
//! assert_eq!(learner.guarantee().unwrap().exponent(), 0.5);
//! # Ok::<(), extremal::Error>(())
//! ```

use serde::{Deserialize, Serialize};

use crate::learner::rivals::by_gauge::gauge_wrapper::{check_gauge, into_ball, no_gauge};
use crate::learner::skeleton::method::{Method, Round, Step, acting};
use crate::learner::skeleton::parameters;
use crate::learner::skeleton::schedule::Schedule;
use crate::learner::{Learner, MakeLearner, RunStatistics, Storage, Uses};
use crate::parameter::fields;
use crate::set::{Set, SharedSet, centre_of};
use crate::spec::{About, Described, Kind};
use crate::theory::{self, Guarantee};
use crate::{Result, kernel};

const NAME: &str = "so-ogd";

fields! {
    /// The spec of `so-ogd`.
    pub struct SoOgd {
        /// the number of rounds T; without it, the step size decreases as gradients accumulate
        pub horizon: Option<u64> = None => Kind::COUNT,
        /// a bound G on the gradients' ℓ2 norm; without it, √(Σ‖g‖²) replaces G√t
        pub gradient_bound: Option<f64> = None => Kind::GRADIENT,
        /// a factor that multiplies the theorem's step size
        pub eta_scale: f64 = 1.0 => Kind::FACTOR,
        /// the first decision x₁, a point of the set; default: the set's centre
        pub start: Option<Vec<f64>> = None => Kind::POINT,
    }
}

impl Described for SoOgd {
    const ABOUT: About = About {
        summary: "gradient descent that returns to the set with separating hyperplanes",
        cost: "O(d) and about 5/4 separation calls per round, which count as oracle calls; no linear oracle, no projection",
        guarantee: "sets with a cheap gauge, between balls of radius r and R around 0; with T and G: 2R²/η + ηG²L/2 + δRGL on every interval of L rounds, by default at most G(r/4 + 8R²/r)√T; without T or G: a bound computed from the rounds played",
        reference: "Garber & Kretzu, COLT 2022",
        citations: &["GarberKretzu2022"],
        examples: &[
            "so-ogd",
            "so-ogd:horizon=1000,gradient-bound=1",
            "so-ogd:horizon=1000,gradient-bound=1,eta-scale=4",
        ],
    };
}

impl MakeLearner for SoOgd {
    fn make(&self, set: &SharedSet, storage: Storage) -> Result<Box<dyn Learner>> {
        let schedule = Schedule::of(None, self.horizon, self.gradient_bound);
        check_gauge(NAME, &**set)?;
        let inner = inner_radius(&**set)?;
        let method = SoOgdMethod {
            set: set.clone(),
            radius: set.geometry().norm_bound,
            inner,
            schedule: schedule.or_gradients(),
            scale: self.eta_scale,
            s: vec![0.0; set.dim()],
            separations: 0,
        };
        acting(self, method, set, self.start.as_deref(), storage)
    }

    fn uses(&self) -> Uses {
        Uses::Gauge
    }
}

/// The radius r of a ball around 0 in the set, computed from a ball around the centre.
fn inner_radius(set: &dyn Set) -> Result<f64> {
    let around = set.geometry().inner_radius.unwrap_or(0.0);
    let inner = around - kernel::norm(&centre_of(set));
    if inner > 0.0 {
        return Ok(inner);
    }
    let needs = "a set that contains a known ball around 0";
    Err(parameters::cannot_play(NAME, set, needs))
}

struct SoOgdMethod {
    set: SharedSet,
    /// The radius R.
    radius: f64,
    /// The radius r.
    inner: f64,
    /// The step-size schedule: either fixed, or computed from the gradients.
    schedule: Schedule,
    scale: f64,
    s: Vec<f64>,
    /// The number of gauge values computed so far. Each one counts as a call of the separation
    /// oracle.
    separations: u64,
}

#[derive(Clone, Copy, Default, Serialize, Deserialize)]
struct State {
    /// √(Σ‖g‖²).
    root: f64,
    /// δ of the last round. It is 0 before the first round.
    delta: f64,
    /// Σ(δ_{t−1} − δ_t)√(Σ_{<t}‖g‖²).
    drift: f64,
    /// Σδ_t‖g_t‖.
    shrunk: f64,
}

impl SoOgdMethod {
    /// η_t and δ_t, where `root` is √(Σ‖g‖²).
    fn pace(&self, t: f64, root: f64) -> (f64, f64) {
        let (factor, t) = match self.schedule {
            Schedule::Fixed { horizon, .. } => (0.5 * self.inner, horizon),
            _ => (std::f64::consts::SQRT_2 * self.radius, t),
        };
        let eta = self.schedule.eta(self.scale * factor, t, root);
        (eta, (4.0 * self.radius / self.inner / t.sqrt()).min(0.5))
    }

    /// Moves y into the set.
    fn come_back(&mut self, y: &mut [f64], way: f64, delta: f64) -> Result<()> {
        into_ball(y, self.radius);
        // Each step reduces the squared distance of y from every point of (1 − δ)K by at least
        // (δr)². At first the distance from y to the nearest of these points is at most far·δr.
        let far = (way.min(2.0 * self.radius) + delta * self.radius) / (delta * self.inner);
        let most = (far * far).ceil() as u32;
        let mut looks: u32 = 0;
        loop {
            let gauge = self.set.gauge_gradient(y, &mut self.s);
            let gauge = gauge.filter(|gauge| gauge.is_finite());
            let gauge = gauge.ok_or_else(no_gauge)?;
            looks = looks.saturating_add(1);
            self.separations += 1;
            if gauge <= 1.0 {
                return Ok(());
            }
            let norm = kernel::norm(&self.s);
            let step = (gauge - 1.0 + delta) / norm / norm;
            if looks > most || !step.is_finite() {
                // only rounding errors keep y outside the set
                let shrink = (1.0 - 1e-15) / gauge;
                y.iter_mut().for_each(|v| *v *= shrink);
                return Ok(());
            }
            kernel::axpy(-step, &self.s, y);
        }
    }
}

impl Method for SoOgdMethod {
    type State = State;

    fn start(&self, _x: &[f64]) -> State {
        State::default()
    }

    fn round(&mut self, round: Round<'_, State>) -> Result<Step> {
        let (now, next, x_next) = (round.now, round.next, round.x_next);
        let (t, g, norm) = (round.t, round.g, round.norm);
        let root = now.root.hypot(norm);
        let (eta, delta) = self.pace(t, root);
        let fall = (now.delta - delta).max(0.0);
        *next = State {
            root,
            delta,
            drift: now.drift + fall * now.root,
            shrunk: now.shrunk + delta * norm,
        };
        kernel::axpy(-eta, g, x_next);
        self.come_back(x_next, eta * norm, delta)?;
        Ok(Step::of(eta))
    }

    fn oracle_calls(&self) -> u64 {
        self.separations
    }

    fn guarantee(&self, state: &State, _seen: &RunStatistics) -> Option<Guarantee> {
        let (scale, radius) = (self.scale, self.radius);
        Some(match self.schedule {
            Schedule::Fixed { bound, .. } => {
                let (eta, delta) = self.pace(1.0, state.root);
                theory::so_ogd(eta, delta, bound, radius)
            }
            _ => {
                let State {
                    root,
                    drift,
                    shrunk,
                    ..
                } = *state;
                theory::so_ogd_adaptive(scale, radius, root, drift, shrunk)
            }
        })
    }
}
