//! OFW: online Frank-Wolfe with a decaying step, as in Hazan's book.
//!
//! **Problem.** Convex losses over any set.
//!
//! **Update.** With η = D/(2GT^(3/4)), F_t(x) = η Σ_{τ≤t} ⟨g_τ, x⟩ + ‖x − x₁‖² and σ_t =
//! min(1, 2/√t): v_t ∈ argmin_{x∈K} ⟨∇F_t(x_t), x⟩, x_{t+1} = x_t + σ_t(v_t − x_t).
//!
//! If T is not given, F_t(x) = Σ_{τ≤t} ⟨g_τ, x⟩ + ω_t‖x − x₁‖² with ω_t = (2G/D)t^(3/4). If G is
//! not given, ω_t = (2/D)√(Σ‖g‖²)·t^(1/4). With `doubling`, F_t is the same as for known T and G.
//! The learner restarts at the current decision whenever the number of rounds reaches a power of
//! two (T unknown) or a gradient exceeds the guess of G (G unknown). The guess is then doubled
//! until it is at least the gradient's norm.
//!
//! **Guarantee.** With T and G, regret ≤ 8GDT^(3/4). With restarts, [`theory::restarted`] gives the
//! bound. No bound is proven with a growing regulariser.
//!
//! **Reference.** Hazan & Kale, *Projection-free Online Learning*, ICML 2012; Hazan,
//! *Introduction to Online Convex Optimization*, ch. 7.
//!
//! ```
//! use extremal::{LearnerSpec, SetSpec};
//! let set = "simplex:dim=10".parse::<SetSpec>()?.build(None)?;
//! let learner = "ofw:horizon=10000,gradient-bound=1".parse::<LearnerSpec>()?.build(&set)?;
//! let bound = learner.guarantee().unwrap().bound(10_000.0);
//! assert!((bound / (8.0 * 2f64.sqrt() * 1000.0) - 1.0).abs() < 1e-12);
//! # Ok::<(), extremal::Error>(())
//! ```

use crate::Result;
use crate::learner::frank_wolfe::eta::{Clock, EtaSchedule, Family, WithoutLineSearch};
use crate::learner::frank_wolfe::{Rule, stored};
use crate::learner::{Known, Learner, MakeLearner, Storage};
use crate::parameter::fields;
use crate::set::{Geometry, SharedSet};
use crate::spec::{About, Described};
use crate::theory;

fields! {
    /// The spec of `ofw`.
    pub struct Ofw(pub Known);
}

impl Described for Ofw {
    const ABOUT: About = About {
        summary: "online Frank-Wolfe with decaying steps",
        cost: "1 oracle call and O(d) per round; lazy storage (ℓ2 balls): O(non-zeros); sparse storage (l1, simplex, k-sparse): O(non-zeros + support)",
        guarantee: "any set, convex losses: 8·G·D·T^(3/4) if T and G are known. With doubling: the sum of this bound over the restarts, or twice this sum if G is unknown. Without doubling, no bound is proven unless T and G are both known",
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
    /// The rule alone, to run on a [`Surrogate`](crate::surrogate::Surrogate) of your own. [`Rule`]
    /// has an example.
    pub fn rule(&self, geometry: &Geometry) -> Result<impl Rule + use<>> {
        let eta = EtaSchedule::new("ofw", Family::Ofw, &self.0, geometry.diameter)?;
        // F_t(x) = η Σ ⟨g_τ, x⟩ + ‖x − x₁‖² and σ_t = min(1, 2/√t)
        Ok(WithoutLineSearch {
            eta,
            sigma: |clock: &Clock| (2.0 / (clock.stretch as f64).sqrt()).min(1.0),
            theorem: theory::ofw,
        })
    }
}

impl MakeLearner for Ofw {
    fn make(&self, set: &SharedSet, storage: Storage) -> Result<Box<dyn Learner>> {
        let rule = self.rule(&set.geometry())?;
        stored(self, rule, set, self.0.start.as_deref(), storage)
    }
}
