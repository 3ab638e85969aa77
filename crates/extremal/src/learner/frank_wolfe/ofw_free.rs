//! OFW without constants: online Frank-Wolfe with line search that needs neither T nor G.
//!
//! **Problem.** Convex losses over any set. If the losses are λ-strongly convex, the learner can
//! use λ.
//!
//! **Update.** The update is that of SC-OFW, but each round t has a curvature λ_t. The surrogate is
//! F_t(x) = Σ_{τ≤t} (⟨g_τ, x⟩ + (λ_τ/2)‖x − x_τ‖²). From x_t the learner takes one Frank-Wolfe step
//! on F_t, with line search. Here λ_t = λ + μ_t and μ_1 = 0. Let p_t = F_t(x_t) − F_t(x_{t+1}) be
//! the decrease by the step, and s the factor `eta-scale`. The choice `own` sets μ_{t+1} =
//! 2p_t/(sD²). The choice `steady` sets μ_{t+1} = ‖g_t‖/(sD), as if the losses were strongly convex
//! in proportion to their slope. The guarantee holds for any μ ≥ 0.
//!
//! **Guarantee.** Write m_t = min F_t. The round's quadratic is 0 at x_t, and so Σ⟨g_t, x_t⟩ − m_T
//! = Σ_t (F_t(x_t) − F_{t−1}(x_t)) + Σ_t (m_{t−1} − m_t). The right side telescopes to Σ_t
//! p_t + (F_T(x_{T+1}) − m_T). For a fixed decision u, the μ_t-part of each round's quadratic is at
//! most μ_t·D²/2. Hence regret ≤ (D²/2)Σμ_t + Σp_t + (F_T(x_{T+1}) − m_T), which is known in every
//! round. With `own`, (D²/2)Σμ_t is 1/s times Σp_t without its last term, so that the two sums
//! balance. In units of G and D, with B = Σλ_τ, F_t(x_t) − m_t stays below 6·max(1, B)^(1/3), and
//! on strongly convex sets below a constant. Regret is therefore O(GDT^(3/4)), and O(T^(2/3)) on
//! strongly convex sets. The guide has the proof, with constants. No bound is proven for `steady`
//! alone. This choice is meant as a base of [`hedge`](crate::learner::of_learners::hedge), and it
//! is often by far the best base.
//!
//! **Reference.** This project. The step is that of Wan & Zhang, AAAI 2021. The balance follows
//! AdaHedge (de Rooij et al., JMLR 2014).
//!
//! ```
//! use extremal::{Gradient, LearnerSpec, SetSpec};
//! let set = "simplex:dim=3".parse::<SetSpec>()?.build(None)?;
//! let mut learner = "ofw-free".parse::<LearnerSpec>()?.build(&set)?;
//! for t in 0..1000 {
//!     learner.decide()?;
//!     learner.observe(&Gradient::dense(&[0.0, 1.0, if t % 2 == 0 { 1.0 } else { -1.0 }]))?;
//! }
//! assert!(learner.guarantee().unwrap().bound(1000.0) < 100.0);
//! # Ok::<(), extremal::Error>(())
//! ```

use serde::{Deserialize, Serialize};

use crate::Result;
use crate::learner::frank_wolfe::{Facts, Rule, stored};
use crate::learner::{Learner, MakeLearner, RunStatistics, Storage, not_stored};
use crate::parameter::{choices, fields};
use crate::set::{Geometry, SharedSet};
use crate::spec::{About, Described, Kind};
use crate::surrogate::{Move, Probe, Update};
use crate::theory::{self, Guarantee};

const NAME: &str = "ofw-free";

choices! {
    /// The growth of the surrogate's curvature.
    pub enum Growth {
        /// the curvature grows with the progress of the steps
        Own = "own",
        /// the curvature grows with the gradients' norms; this choice has no guarantee and is meant
        /// for bases of hedge
        Steady = "steady",
    }
}

fields! {
    /// The spec of `ofw-free`.
    pub struct OfwFree {
        /// the growth of the surrogate's curvature
        pub growth: Growth = Growth::Own => Growth::KIND,
        /// the losses' strong convexity λ; default: 0
        pub lambda: Option<f64> = None => Kind::CURVATURE,
        /// a factor that multiplies the theorem's step size
        pub eta_scale: f64 = 1.0 => Kind::FACTOR,
        /// the first decision x₁, a point of the set; default: the set's centre
        pub start: Option<Vec<f64>> = None => Kind::POINT,
    }
}

impl Described for OfwFree {
    const ABOUT: About = About {
        summary: "online Frank-Wolfe with line search that needs neither T nor G",
        cost: "1 oracle call and O(d) per round; sparse storage (l1, simplex, k-sparse): O(non-zeros + support)",
        guarantee: "any set, convex losses: a bound computed in every round, O(GDT^(3/4)), and O(T^(2/3)) on strongly convex sets",
        reference: "this project; the step: Wan & Zhang, AAAI 2021",
        citations: &["Extremal", "WanZhang2021", "DeRooijEtAl2014"],
        examples: &["ofw-free", "ofw-free:eta-scale=4", "ofw-free:growth=steady"],
    };
}

impl OfwFree {
    /// The rule alone, to run on a [`Surrogate`](crate::surrogate::Surrogate) of your own. [`Rule`]
    /// has an example.
    pub fn rule(&self) -> Result<impl Rule + use<>> {
        self.check(NAME)?;
        Ok(FreeRule {
            growth: self.growth,
            lambda: self.lambda.unwrap_or(0.0),
            scale: self.eta_scale,
        })
    }
}

impl MakeLearner for OfwFree {
    fn make(&self, set: &SharedSet, storage: Storage) -> Result<Box<dyn Learner>> {
        // The curvature is not that of a ridge term, so lazy storage would cost O(d) every few
        // rounds.
        if storage == Storage::Lazy {
            return Err(not_stored(NAME, set, storage));
        }
        stored(self, self.rule()?, set, self.start.as_deref(), storage)
    }
}

struct FreeRule {
    growth: Growth,
    lambda: f64,
    scale: f64,
}

#[derive(Clone, Copy, Default, Serialize, Deserialize)]
struct State {
    /// Σλ_τ.
    beta: f64,
    /// μ of the next round.
    mu: f64,
    /// (D²/2)Σμ_τ.
    guessed: f64,
    /// Σp_τ.
    gained: f64,
    /// An upper bound on F_t(x_{t+1}) − min F_t.
    left: f64,
}

impl Rule for FreeRule {
    type State = State;

    fn start(&self) -> (State, f64) {
        (State::default(), 0.0)
    }

    /// F_t(x) = Σ (⟨g_τ, x⟩ + (λ_τ/2)‖x − x_τ‖²): c += g_t − λ_t x_t, curvature Σλ_τ
    #[inline]
    fn absorb<'g>(&self, mut state: State, facts: &Facts<'_, 'g>) -> Result<(State, Update<'g>)> {
        let lambda = self.lambda + state.mu;
        state.beta += lambda;
        let diameter = facts.geometry.diameter;
        state.guessed += 0.5 * diameter * (diameter * state.mu);
        let update = Update::new(1.0, facts.gradient, state.beta).with_decision(-lambda);
        Ok((state, update))
    }

    /// x_{t+1} = x_t + σ_t(v_t − x_t) with σ_t by line search, and μ_{t+1} from the decrease p_t
    #[inline]
    fn step(&self, mut state: State, facts: &Facts<'_, '_>, probe: &Probe) -> (State, Move) {
        let sigma = probe.line_search();
        // p_t = σ·gap − (σ²β/2)‖v_t − x_t‖², and σβ‖v_t − x_t‖² is the gap if σ < 1
        let gain = if sigma < 1.0 {
            0.5 * sigma * probe.gap
        } else {
            probe.gap - 0.5 * probe.beta * probe.distance_squared
        };
        state.gained += gain;
        state.left = (probe.suboptimality() - gain).max(0.0);
        let diameter = facts.geometry.diameter;
        let amount = match self.growth {
            Growth::Own => 2.0 * gain / diameter,
            Growth::Steady => probe.gradient_norm,
        };
        // a set with a single point needs no curvature
        state.mu = if diameter > 0.0 {
            amount / diameter / self.scale
        } else {
            0.0
        };
        (state, Move::Towards(sigma))
    }

    fn guarantee(
        &self,
        state: &State,
        _: &RunStatistics,
        geometry: &Geometry,
    ) -> Option<Guarantee> {
        let sum = state.guessed + state.gained + state.left;
        let curved = geometry.strong_convexity.is_some();
        (self.growth == Growth::Own).then(|| theory::ofw_free(sum, self.lambda, curved))
    }
}
