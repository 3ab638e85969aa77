//! OFW with tuned constants: a constant step, and a bound 4.6 times better than the book's.
//!
//! **Problem.** Convex losses over any set.
//!
//! **Update.** With η = (D/2G)(3/T)^(3/4), F_t(x) = η Σ_{τ≤t} ⟨g_τ, x⟩ + ½‖x − x₁‖² (note the
//! ½) and σ = min(1, √(3/T)): v_t ∈ argmin_{x∈K} ⟨∇F_t(x_t), x⟩,
//! x_{t+1} = x_t + σ(v_t − x_t).
//!
//! If T is not given, F_t(x) = Σ_{τ≤t} ⟨g_τ, x⟩ + (ω_t/2)‖x − x₁‖² with ω_t = (2G/D)(t/3)^(3/4),
//! and σ_t = min(1, √(3/t)). If G is not given, ω_t = (2/D)√(Σ‖g‖²)·t^(1/4)/3^(3/4). With
//! `doubling`, F_t is the same as for known T and G. The learner restarts at the current decision
//! whenever the number of rounds reaches a power of two (T unknown) or a gradient exceeds the guess
//! of G (G unknown). The guess is then doubled until it is at least the gradient's norm.
//!
//! **Guarantee.** With T and G, regret ≤ (4/3^(3/4))GDT^(3/4). With G alone, regret ≤
//! (5/3^(3/4))GDT^(3/4) for every T. The guide has the proofs. With restarts, [`theory::restarted`]
//! gives the bound. Without G, a bound is proven only with restarts.
//!
//! **Reference.** Weibel, Gaillard, Koolen & Taylor, *Optimized projection-free algorithms for
//! online learning: construction and worst-case analysis*, AISTATS 2026.
//!
//! ```
//! use extremal::{LearnerSpec, SetSpec};
//! let set = "l1:dim=10".parse::<SetSpec>()?.build(None)?;
//! let learner = "ofw-weibel:horizon=10000,gradient-bound=1".parse::<LearnerSpec>()?.build(&set)?;
//! assert!(learner.guarantee().unwrap().bound(10_000.0) < 1.76 * 2.0 * 1000.0);
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
    /// The spec of `ofw-weibel`.
    pub struct OfwWeibel(pub Known);
}

impl Described for OfwWeibel {
    const ABOUT: About = About {
        summary: "online Frank-Wolfe with tuned constants and a constant step",
        cost: "1 oracle call and O(d) per round; lazy storage (ℓ2 balls): O(non-zeros); sparse storage (l1, simplex, k-sparse): O(non-zeros + support)",
        guarantee: "any set, convex losses: (4/3^(3/4))·G·D·T^(3/4) with T and G; (5/3^(3/4))·G·D·T^(3/4) with G alone; with doubling, the sum of the first bound over the restarts (twice this sum if G is unknown); if G is unknown, a bound is proven only with doubling",
        reference: "Weibel, Gaillard, Koolen & Taylor, AISTATS 2026",
        citations: &["WeibelEtAl2026"],
        examples: &[
            "ofw-weibel:horizon=1000,gradient-bound=1",
            "ofw-weibel:gradient-bound=1",
            "ofw-weibel:gradient-bound=1,doubling=true",
        ],
    };
}

impl OfwWeibel {
    /// The rule alone, to run on a [`Surrogate`](crate::surrogate::Surrogate) of your own. [`Rule`]
    /// has an example.
    pub fn rule(&self, geometry: &Geometry) -> Result<impl Rule + use<>> {
        let eta = EtaSchedule::new("ofw-weibel", Family::OfwWeibel, &self.0, geometry.diameter)?;
        // F_t(x) = η Σ ⟨g_τ, x⟩ + ½‖x − x₁‖² and σ = min(1, √(3/T))
        Ok(WithoutLineSearch {
            eta,
            sigma: |clock: &Clock| (3.0 / clock.span).sqrt().min(1.0),
            theorem: theory::ofw_weibel,
        })
    }
}

impl MakeLearner for OfwWeibel {
    fn make(&self, set: &SharedSet, storage: Storage) -> Result<Box<dyn Learner>> {
        let rule = self.rule(&set.geometry())?;
        stored(self, rule, set, self.0.start.as_deref(), storage)
    }
}
