//! OFW: online Frank-Wolfe with a decaying step, as in Hazan's book.
//!
//! **Problem.** Convex losses over any set.
//!
//! **Update.** With η = D/(2GT^(3/4)), F_t(x) = η Σ_{τ≤t} ⟨g_τ, x⟩ + ‖x − x₁‖² and
//! σ_t = min(1, 2/√t): v_t ∈ argmin_{x∈K} ⟨∇F_t(x_t), x⟩, x_{t+1} = x_t + σ_t(v_t − x_t).
//!
//! Without T, F_t(x) = Σ_{τ≤t} ⟨g_τ, x⟩ + ω_t‖x − x₁‖² with ω_t = (2G/D)t^(3/4); without G,
//! ω_t = (2/D)√(Σ‖g‖²)·t^(1/4). Or, with `doubling`, the first F starts anew when the rounds have
//! doubled, or a gradient has outgrown a guess of G, which is doubled.
//!
//! **Guarantee.** Regret ≤ 8GDT^(3/4) with T and G; with restarts, what [`theory::Doubled`] says;
//! none is proven for a regulariser that grows.
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

use super::weights::{Family, Weights};
use super::{Known, Learner, MakeLearner, Played, Rule, Seen, Storage, player};
use crate::Result;
use crate::pair::{Gradient, Motion, Pair};
use crate::set::{Geometry, SharedSet};
use crate::spec::{Described, Entry};
use crate::theory::{self, Guarantee, Restarted};

/// Spec of `ofw`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Ofw(pub Known);

impl Described for Ofw {
    const ENTRY: Entry = Entry {
        name: "ofw",
        summary: "online Frank-Wolfe with decaying steps",
        parameters: Known::PARAMETERS,
        cost: "1 oracle call and O(d) per round; O(non-zeros) on ℓ2 balls in lazy storage, and the support more on l1, simplex and k-sparse in sparse storage",
        guarantee: "any set, convex losses: 8·G·D·T^(3/4) with T and G; its sum over restarts with doubling (twice that if G is unknown); none proven if the regulariser grows (T unknown) or adapts (G unknown)",
        reference: "Hazan & Kale, ICML 2012; Hazan's book, ch. 7",
        citations: &["HazanKale2012", "Hazan2016"],
        examples: &[
            "ofw:horizon=1000,gradient-bound=1",
            "ofw:horizon=1000,gradient-bound=1,eta-scale=10",
            "ofw",
            "ofw:doubling=true",
        ],
    };
}

impl Ofw {
    /// The rule alone, for a [`Pair`] of your own: see [`Player`](super::Player).
    pub fn rule(&self, geometry: &Geometry) -> Result<impl Rule + use<>> {
        let diameter = geometry.diameter;
        let theorem = |horizon, gradient| {
            Some(Restarted::Ofw(theory::Ofw {
                horizon,
                gradient,
                diameter,
            }))
        };
        let weights = Weights::new("ofw", Family::Ofw, &self.0, diameter, theorem)?;
        Ok(OfwRule { weights })
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
    weights: Weights,
}

impl Rule for OfwRule {
    fn start_weight(&self) -> f64 {
        self.weights.start_weight()
    }

    #[inline(always)]
    fn round<P: Pair>(&mut self, pair: &mut P, gradient: &Gradient<'_>) -> Result<Played> {
        // F_t(x) = η Σ ⟨g_τ, x⟩ + ‖x − x₁‖²
        let turn = self.weights.turn(pair, gradient)?;
        let update = turn.update(gradient);
        let probe = pair.probe(&update)?;
        let sigma = probe.fixed((2.0 / turn.t.sqrt()).min(1.0));
        pair.commit(&update, Motion::Step(sigma));
        self.weights.keep(&turn);
        Ok(Played::new(sigma, &probe))
    }

    fn guarantee(&self, _seen: &Seen) -> Option<Guarantee> {
        self.weights.guarantee()
    }
}
