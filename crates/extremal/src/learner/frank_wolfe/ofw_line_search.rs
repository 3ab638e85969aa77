//! OFW with line search: Algorithm 1 of Wan & Zhang.
//!
//! **Problem.** Convex losses over any set. The guarantee is for strongly convex sets.
//!
//! **Update.** With η = D/(2G(T+2)^(2/3)) and F_t(x) = η Σ_{τ≤t} ⟨g_τ, x⟩ + ‖x − x₁‖²:
//! v_t ∈ argmin_{x∈K} ⟨∇F_t(x_t), x⟩, σ_t = argmin_{σ∈\[0,1\]} ⟨σ(v_t − x_t), ∇F_t(x_t)⟩ +
//! σ²‖v_t − x_t‖², and x_{t+1} = x_t + σ_t(v_t − x_t).
//!
//! If T is not given, F_t(x) = Σ_{τ≤t} ⟨g_τ, x⟩ + ω_t‖x − x₁‖² with ω_t = (2G/D)(t+2)^(2/3). If G
//! is not given, T is ignored and ω_t = (2/D)√(Σ‖g‖²)·t^(1/6). With `doubling`, F_t is the same as
//! for known T and G. The learner restarts at the current decision whenever the number of rounds
//! reaches a power of two (T unknown) or a gradient exceeds the guess of G (G unknown). The guess
//! is then doubled until it is at least the gradient's norm.
//!
//! **Guarantee.** With T and G, on α-strongly convex sets, regret ≤ (11/4)G√C(T+2)^(2/3) with C =
//! max(4D², 4096/(3α²)). With restarts, [`theory::restarted`] gives the bound. The algorithm does
//! not use α. No bound is proven on other sets, with a growing regulariser, or with `eta-scale` ≠
//! 1.
//!
//! **Reference.** Wan & Zhang, *Projection-free Online Learning over Strongly Convex Sets*,
//! AAAI 2021, Algorithm 1 and Theorem 1.
//!
//! ```
//! use extremal::{LearnerSpec, SetSpec};
//! let set = "lp:p=1.5,dim=10".parse::<SetSpec>()?.build(None)?;
//! let learner = "ofw-ls:horizon=1000,gradient-bound=1".parse::<LearnerSpec>()?.build(&set)?;
//! assert_eq!(learner.guarantee().unwrap().exponent(), 2.0 / 3.0);
//! # Ok::<(), extremal::Error>(())
//! ```

use crate::Result;
use crate::learner::frank_wolfe::eta::{Clock, EtaSchedule, Family};
use crate::learner::frank_wolfe::{Facts, Rule, stored};
use crate::learner::{Known, Learner, MakeLearner, RunStatistics, Storage};
use crate::parameter::fields;
use crate::set::{Geometry, SharedSet};
use crate::spec::{About, Described};
use crate::surrogate::{Move, Probe, Update};
use crate::theory::{self, Guarantee};

fields! {
    /// The spec of `ofw-ls`.
    pub struct OfwLs(pub Known);
}

impl Described for OfwLs {
    const ABOUT: About = About {
        summary: "online Frank-Wolfe with line search, the paper's Algorithm 1",
        cost: "1 oracle call and O(d) per round; lazy storage (ℓ2 balls): O(non-zeros); sparse storage (l1, simplex, k-sparse): O(non-zeros + support)",
        guarantee: "strongly convex set, convex losses: (11/4)·G·√C·(T+2)^(2/3), C = max(4D², 4096/(3α²)), with T and G; with doubling, the sum of this bound over the restarts (twice this sum if G is unknown); if T or G is unknown, a bound is proven only with doubling",
        reference: "Wan & Zhang, AAAI 2021, Theorem 1",
        citations: &["WanZhang2021"],
        examples: &[
            "ofw-ls:horizon=1000,gradient-bound=1",
            "ofw-ls:horizon=1000,gradient-bound=1,eta-scale=30",
            "ofw-ls",
            "ofw-ls:gradient-bound=1",
            "ofw-ls:horizon=1000,doubling=true",
        ],
    };
}

impl OfwLs {
    /// The rule alone, to run on a [`Surrogate`](crate::surrogate::Surrogate) of your own. [`Rule`]
    /// has an example.
    pub fn rule(&self, geometry: &Geometry) -> Result<impl Rule + use<>> {
        let eta = EtaSchedule::new("ofw-ls", Family::OfwLs, &self.0, geometry.diameter)?;
        Ok(OfwLineSearch { eta })
    }
}

impl MakeLearner for OfwLs {
    fn make(&self, set: &SharedSet, storage: Storage) -> Result<Box<dyn Learner>> {
        let rule = self.rule(&set.geometry())?;
        stored(self, rule, set, self.0.start.as_deref(), storage)
    }
}

struct OfwLineSearch {
    eta: EtaSchedule,
}

impl Rule for OfwLineSearch {
    type State = Clock;

    /// F_0(x) = ‖x − x₁‖² if T and G are known; otherwise F_0 = 0, and the regulariser grows
    fn start(&self) -> (Clock, f64) {
        self.eta.start()
    }

    /// F_t(x) = η Σ ⟨g_τ, x⟩ + ‖x − x₁‖² with η = D/(2G(T + 2)^(2/3)), so that ∇F_t(x) = c + βx:
    /// c += ηg_t, and the curvature is β = 2. `eta.rs` has the variants without T or G.
    #[inline]
    fn absorb<'g>(&self, clock: Clock, facts: &Facts<'_, 'g>) -> Result<(Clock, Update<'g>)> {
        match self.eta.known() {
            Some(eta) => Ok((clock.next(), Update::new(eta, facts.gradient, 2.0))),
            None => self.eta.absorb(clock, facts),
        }
    }

    /// σ_t = argmin over [0, 1] of ⟨σ(v_t − x_t), ∇F_t(x_t)⟩ + σ²‖v_t − x_t‖²,
    /// x_{t+1} = x_t + σ_t(v_t − x_t). In closed form σ_t = min(1, gap/(β‖v_t − x_t‖²))
    /// with gap = ⟨∇F_t(x_t), x_t − v_t⟩.
    #[inline]
    fn step(&self, clock: Clock, _: &Facts<'_, '_>, probe: &Probe) -> (Clock, Move) {
        (clock, Move::Towards(probe.line_search()))
    }

    fn guarantee(
        &self,
        clock: &Clock,
        _: &RunStatistics,
        geometry: &Geometry,
    ) -> Option<Guarantee> {
        let alpha = geometry.strong_convexity?;
        let diameter = geometry.diameter;
        self.eta.guarantee(clock, move |horizon, gradient| {
            theory::ofw_ls(gradient, diameter, alpha, horizon)
        })
    }
}
