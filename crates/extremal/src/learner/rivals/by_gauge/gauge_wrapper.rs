//! Gauge wrapper: gradient descent in a ball around the set, with the gauge instead of a
//! projection.
//!
//! **Problem.** Convex losses over a set that contains 0 and has a cheap gauge γ with a subgradient
//! ([`Set::gauge_gradient`]). The learner needs no oracle, no projection, and neither T nor G.
//!
//! **Update.** The learner maintains a point w_t in the ball of radius R = max ‖x‖, and plays
//! x_t = w_t/max(1, γ(w_t)). If γ(w_t) ≥ 1 and ⟨g_t, w_t⟩ < 0, then g̃_t = g_t − ⟨g_t, x_t⟩s, where
//! s is a subgradient of γ at w_t. Otherwise g̃_t = g_t. Then w_{t+1} = Π(w_t − η_t g̃_t), where Π
//! projects onto the ball and η_t = √2·R/√(Σ‖g̃‖²).
//!
//! **Guarantee.** Regret ≤ 2√2·R·√(Σ‖g̃‖²), because ⟨g_t, x_t − u⟩ ≤ ⟨g̃_t, w_t − u⟩ for every
//! point u of the set. If the set contains a ball of radius r around 0, then ‖g̃‖ ≤ (1 + R/r)‖g‖,
//! and the bound is at most 2√2·R(1 + R/r)G√T.
//!
//! **Reference.** Mhammedi, *Efficient Projection-Free Online Convex Optimization with Membership
//! Oracle*, COLT 2022. The base learner is scale-free gradient descent (Orabona & Pál, 2018).
//!
//! ```
//! use extremal::{Gradient, LearnerSpec, SetSpec};
//! let set = "l1:dim=2".parse::<SetSpec>()?.build(None)?;
//! let mut learner = "gauge-wrapper".parse::<LearnerSpec>()?.build(&set)?;
//! learner.decide()?;
//! learner.observe(&Gradient::dense(&[-3.0, 0.0]))?;
//! let mut x = [0.0; 2];
//! learner.decide()?.write(&mut x);
//! assert_eq!(x, [1.0, 0.0]);
//! assert_eq!(learner.seen().oracle_calls, 0);
//! # Ok::<(), extremal::Error>(())
//! ```

use serde::{Deserialize, Serialize};

use crate::learner::skeleton::method::{Method, Round, Step, acting};
use crate::learner::skeleton::parameters;
use crate::learner::skeleton::schedule::Schedule;
use crate::learner::{Learner, MakeLearner, RunStatistics, Storage, Uses};
use crate::parameter::fields;
use crate::set::{Set, SharedSet};
use crate::spec::{About, Described, Kind};
use crate::theory::{self, Guarantee};
use crate::{Error, Result, kernel};

const NAME: &str = "gauge-wrapper";

fields! {
    /// The spec of `gauge-wrapper`.
    pub struct GaugeWrapper {
        /// a factor that multiplies the theorem's step size
        pub eta_scale: f64 = 1.0 => Kind::FACTOR,
        /// the first decision x₁, a point of the set; default: the set's centre
        pub start: Option<Vec<f64>> = None => Kind::POINT,
    }
}

impl Described for GaugeWrapper {
    const ABOUT: About = About {
        summary: "gradient descent with the set's gauge instead of a projection",
        cost: "2 values and 1 subgradient of the gauge, and O(d) per round; no oracle call, no projection",
        guarantee: "sets with 0 inside and a cheap gauge: 2√2·R·√(Σ‖g̃‖²) ≤ 2√2·R(1 + R/r)·√(Σ‖g‖²), R = max ‖x‖, r = the radius of a ball around 0 inside the set",
        reference: "Mhammedi, COLT 2022",
        citations: &["Mhammedi2022", "OrabonaPal2018"],
        examples: &["gauge-wrapper", "gauge-wrapper:eta-scale=0.3"],
    };
}

impl MakeLearner for GaugeWrapper {
    fn make(&self, set: &SharedSet, storage: Storage) -> Result<Box<dyn Learner>> {
        check_gauge(NAME, &**set)?;
        let method = GaugeDescent {
            set: set.clone(),
            radius: set.geometry().norm_bound,
            scale: self.eta_scale,
            surrogate: vec![0.0; set.dim()],
        };
        acting(self, method, set, self.start.as_deref(), storage)
    }

    fn uses(&self) -> Uses {
        Uses::Gauge
    }
}

/// Returns an error unless the set has a gauge with a subgradient.
pub(crate) fn check_gauge(owner: &'static str, set: &dyn Set) -> Result<()> {
    if set.facts().gauge {
        return Ok(());
    }
    let needs = "a set that contains 0 and has a gauge with a subgradient";
    Err(parameters::cannot_play(owner, set, needs))
}

/// Moves x to the nearest point of the ball around 0.
pub(crate) fn into_ball(x: &mut [f64], radius: f64) {
    let length = kernel::norm(x);
    if length > radius {
        x.iter_mut().for_each(|v| *v *= radius / length);
    }
}

struct GaugeDescent {
    set: SharedSet,
    /// The radius R.
    radius: f64,
    scale: f64,
    /// The vector s, which g̃ then overwrites.
    surrogate: Vec<f64>,
}

#[derive(Clone, Serialize, Deserialize)]
struct State {
    w: Vec<f64>,
    /// √(Σ‖g̃‖²).
    root: f64,
}

/// The error for a gauge that is NaN.
pub(crate) fn no_gauge() -> Error {
    Error::numerical(0, "the set's gauge of a point is NaN or infinite")
}

impl Method for GaugeDescent {
    type State = State;

    fn start(&self, x: &[f64]) -> State {
        State {
            w: x.to_vec(),
            root: 0.0,
        }
    }

    fn fits(state: &State, x: &[f64]) -> bool {
        state.w.len() == x.len()
    }

    fn round(&mut self, round: Round<'_, State>) -> Result<Step> {
        let (now, next, x, x_next) = (round.now, round.next, round.x, round.x_next);
        let (t, g) = (round.t, round.g);
        // g̃ = g − 1[γ ≥ 1, ⟨g, w⟩ < 0]⟨g, x⟩s
        let gauge = self.set.gauge_gradient(&now.w, &mut self.surrogate);
        let gauge = gauge.ok_or_else(no_gauge)?;
        let turn = if gauge >= 1.0 && kernel::dot(g, &now.w) < 0.0 {
            -kernel::dot(g, x)
        } else {
            0.0
        };
        for (s, g) in self.surrogate.iter_mut().zip(g) {
            *s = g + turn * *s;
        }
        next.root = now.root.hypot(kernel::norm(&self.surrogate));
        let factor = self.scale * std::f64::consts::SQRT_2 * self.radius;
        let eta = Schedule::Gradients.eta(factor, t, next.root);
        // w ← Π(w − ηg̃), x = w/max(1, γ(w))
        next.w.copy_from_slice(&now.w);
        kernel::axpy(-eta, &self.surrogate, &mut next.w);
        into_ball(&mut next.w, self.radius);
        x_next.copy_from_slice(&next.w);
        let gauge = self.set.gauge(x_next).ok_or_else(no_gauge)?;
        if gauge > 1.0 {
            x_next.iter_mut().for_each(|v| *v /= gauge);
        }
        Ok(Step::of(eta))
    }

    fn guarantee(&self, state: &State, _seen: &RunStatistics) -> Option<Guarantee> {
        Some(theory::gauge_wrapper(self.scale, self.radius, state.root))
    }
}
