//! OFW: online Frank-Wolfe with a decaying step, as in Hazan's book.
//!
//! **Problem.** Convex losses over any set.
//!
//! **Update.** With η = D/(2GT^(3/4)), F_t(x) = η Σ_{τ≤t} ⟨g_τ, x⟩ + ‖x − x₁‖² and
//! σ_t = min(1, 2/√t): v_t ∈ argmin_{x∈K} ⟨∇F_t(x_t), x⟩, x_{t+1} = x_t + σ_t(v_t − x_t).
//!
//! **Guarantee.** Regret ≤ 8GDT^(3/4).
//!
//! **Reference.** Hazan & Kale, *Projection-free Online Learning*, ICML 2012; Hazan,
//! *Introduction to Online Convex Optimization*, ch. 7.
//!
//! ```
//! use extremal::{learner::LearnerSpec, set::SetSpec};
//! let set = "simplex:dim=10".parse::<SetSpec>()?.build(None)?;
//! let learner = "ofw:horizon=10000,gradient-bound=1".parse::<LearnerSpec>()?.build(&set)?;
//! let bound = learner.guarantee().unwrap().bound(10_000.0);
//! assert!((bound / (8.0 * 2f64.sqrt() * 1000.0) - 1.0).abs() < 1e-12);
//! # Ok::<(), extremal::Error>(())
//! ```

use serde::{Deserialize, Serialize};

use super::{Known, Learner, MakeLearner, Played, Rule, Seen, Storage, player};
use crate::Result;
use crate::pair::{Gradient, Motion, Pair, Update};
use crate::set::{Geometry, SharedSet};
use crate::spec::{Described, Entry};
use crate::theory::Guarantee;

/// Spec of `ofw`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Ofw(pub Known);

impl Described for Ofw {
    const ENTRY: Entry = Entry {
        name: "ofw",
        summary: "online Frank-Wolfe with decaying steps",
        parameters: Known::PARAMETERS,
        cost: "1 oracle call and O(d) per round; O(non-zeros) on ℓ2 balls in lazy storage",
        guarantee: "any set, convex losses: 8·G·D·T^(3/4)",
        reference: "Hazan & Kale, ICML 2012; Hazan's book, ch. 7",
        examples: &[
            "ofw:horizon=1000,gradient-bound=1",
            "ofw:horizon=1000,gradient-bound=1,eta-scale=10",
        ],
    };
}

impl Ofw {
    /// The rule alone, for a [`Pair`] of your own: see [`Player`](super::Player).
    pub fn rule(&self, geometry: &Geometry) -> Result<impl Rule + use<>> {
        let (horizon, bound) = self.0.horizon_and_bound("ofw")?;
        let scale = self.0.eta_scale("ofw")?;
        let diameter = geometry.diameter;
        let guarantee = (scale == 1.0).then_some(Guarantee::Ofw {
            horizon,
            gradient: bound,
            diameter,
        });
        let eta = Known::eta("ofw", scale * diameter / (2.0 * bound * horizon.powf(0.75)))?;
        Ok(OfwRule {
            eta,
            t: 0,
            guarantee,
        })
    }
}

impl MakeLearner for Ofw {
    fn make(&self, set: &SharedSet, storage: Storage) -> Result<Box<dyn Learner>> {
        let rule = self.rule(&set.geometry())?;
        player("ofw", rule, set, self.0.start.as_deref(), storage)
    }
}

#[derive(Serialize, Deserialize)]
struct OfwRule {
    eta: f64,
    t: u64,
    guarantee: Option<Guarantee>,
}

impl Rule for OfwRule {
    fn start_weight(&self) -> f64 {
        2.0
    }

    #[inline(always)]
    fn round<P: Pair>(&mut self, pair: &mut P, gradient: &Gradient<'_>) -> Result<Played> {
        // F_t(x) = η Σ ⟨g_τ, x⟩ + ‖x − x₁‖²
        let update = Update::new(self.eta, gradient, 2.0);
        let probe = pair.probe(&update)?;
        self.t += 1;
        let sigma = probe.fixed((2.0 / (self.t as f64).sqrt()).min(1.0));
        pair.commit(&update, Motion::Step(sigma));
        Ok(Played::new(sigma, &probe))
    }

    fn guarantee(&self, _seen: &Seen) -> Option<Guarantee> {
        self.guarantee
    }
}
