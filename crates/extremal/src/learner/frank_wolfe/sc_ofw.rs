//! SC-OFW: online Frank-Wolfe for strongly convex losses, Algorithm 2 of Wan & Zhang.
//!
//! **Problem.** λ-strongly convex losses over any set. Neither T nor G is needed.
//!
//! **Update.** With F_t(x) = Σ_{τ≤t} (⟨g_τ, x⟩ + (λ/2)‖x − x_τ‖²): v_t ∈ argmin_{x∈K} ⟨∇F_t(x_t),
//! x⟩, σ_t = argmin_{σ∈\[0,1\]} ⟨σ(v_t − x_t), ∇F_t(x_t)⟩ + (σ²λt/2)‖v_t − x_t‖², and x_{t+1} = x_t +
//! σ_t(v_t − x_t). With `warm` = T₀, the term (λT₀/2)‖x − x₁‖² is added to F_t (Kretzu & Garber).
//! The bounds below are for T₀ = 0.
//!
//! **Cost.** In lazy storage a round costs O(non-zeros) if λ is the losses' ridge term, because the
//! change g_t − λx_t of c is then as sparse as the data. Otherwise, every few rounds the learner
//! updates all features observed so far.
//!
//! **Guarantee.** On α-strongly convex sets, regret ≤ C√(2T) + (C/2)ln T + GD with C =
//! max(4(G+λD)²/λ, 288λ/α²). On any set, regret ≤ (3√2/8)CT^(2/3) + (C/8)ln T + GD with C =
//! 16(G+λD)²/λ. In every round the learner also computes a certificate of its own regret, which is
//! often far smaller than these bounds.
//!
//! **Reference.** Wan & Zhang, *Projection-free Online Learning over Strongly Convex Sets*,
//! AAAI 2021, Algorithm 2, Theorems 2 and 3; Kretzu & Garber, AISTATS 2021 (T₀).
//!
//! ```
//! use extremal::{LearnerSpec, SetSpec};
//! let set = "l2:dim=10".parse::<SetSpec>()?.build(None)?;
//! let learner = "sc-ofw:lambda=0.1".parse::<LearnerSpec>()?.build(&set)?;
//! assert_eq!(learner.guarantee().unwrap().exponent(), 0.5);
//! # Ok::<(), extremal::Error>(())
//! ```

use serde::{Deserialize, Serialize};

use crate::learner::frank_wolfe::{Facts, Rule, stored};
use crate::learner::skeleton::parameters::need;
use crate::learner::{Certificate, Learner, Level, MakeLearner, RunStatistics, Storage};
use crate::parameter::fields;
use crate::rounding::{self, UNIT, Wide};
use crate::set::{Geometry, SharedSet};
use crate::spec::{About, Described, Kind};
use crate::surrogate::{Move, Probe, Update};
use crate::theory::{self, Guarantee};
use crate::{Point, Result};

fields! {
    /// The spec of `sc-ofw`.
    pub struct ScOfw {
        /// the losses' strong convexity λ
        pub lambda: Option<f64> = None => Kind::SIZE,
        /// the weight T₀ of an initial regulariser
        pub warm: f64 = 0.0 => Kind::CURVATURE,
        /// a bound G on the gradients' norm, used only in the theorem's bound; default: the largest
        /// norm observed
        pub gradient_bound: Option<f64> = None => Kind::GRADIENT,
        /// the first decision x₁, a point of the set; default: the set's centre
        pub start: Option<Vec<f64>> = None => Kind::POINT,
    }
}

impl Described for ScOfw {
    const ABOUT: About = About {
        summary: "online Frank-Wolfe for strongly convex losses, the paper's Algorithm 2",
        cost: "1 oracle call and O(d) per round; lazy storage (ℓ2 balls, λ from a ridge term): O(non-zeros); sparse storage (l1, simplex, k-sparse): O(non-zeros + support)",
        guarantee: "strongly convex losses: C√(2T) + (C/2)ln T + GD on strongly convex sets, (3√2/8)CT^(2/3) + (C/8)ln T + GD on any set (with different C)",
        reference: "Wan & Zhang, AAAI 2021, Theorems 2 and 3; Kretzu & Garber, AISTATS 2021",
        citations: &["WanZhang2021", "KretzuGarber2021"],
        examples: &["sc-ofw:lambda=0.1", "sc-ofw:lambda=0.1,warm=5"],
    };
}

impl ScOfw {
    /// The rule alone, to run on a [`Surrogate`](crate::surrogate::Surrogate) of your own. [`Rule`]
    /// has an example.
    pub fn rule(&self) -> Result<impl Rule + use<>> {
        self.check("sc-ofw")?;
        let why = "its surrogate is built from the losses' strong convexity";
        let lambda = need("sc-ofw", "lambda", self.lambda, why)?;
        Ok(StronglyConvexOfw {
            lambda,
            warm: self.warm,
            gradient: self.gradient_bound,
        })
    }
}

impl MakeLearner for ScOfw {
    fn make(&self, set: &SharedSet, storage: Storage) -> Result<Box<dyn Learner>> {
        stored(self, self.rule()?, set, self.start.as_deref(), storage)
    }

    fn needs_ridge(&self) -> Option<f64> {
        self.lambda
    }
}

struct StronglyConvexOfw {
    lambda: f64,
    warm: f64,
    /// G, if given.
    gradient: Option<f64>,
}

/// The number of rounds, and the sums for the certificate.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
struct State {
    t: u64,
    /// Σ⟨g_t, x_t⟩ − (λ/2)Σ‖x_t‖².
    played: Wide,
    /// An upper bound on the regret, without an allowance for rounding errors.
    regret: f64,
    /// An upper bound on Σ‖g_t‖.
    gradients: f64,
    /// An upper bound on Σ‖∇F_t(x_t)‖.
    steepnesses: f64,
    /// The last term of `steepnesses`.
    steepness: f64,
}

impl Rule for StronglyConvexOfw {
    type State = State;

    /// F_0(x) = (λT₀/2)‖x − x₁‖², which is 0 in the paper
    fn start(&self) -> (State, f64) {
        (State::default(), self.warm * self.lambda)
    }

    /// F_t(x) = Σ (⟨g_τ, x⟩ + (λ/2)‖x − x_τ‖²): c += g_t − λx_t, with the curvature β = λt, or
    /// λ(t + T₀)
    #[inline]
    fn absorb<'g>(&self, state: State, facts: &Facts<'_, 'g>) -> Result<(State, Update<'g>)> {
        let t = state.t + 1;
        let beta = self.lambda * (t as f64 + self.warm);
        let update = Update::new(1.0, facts.gradient, beta).with_decision(-self.lambda);
        Ok((State { t, ..state }, update))
    }

    /// σ_t = argmin over [0, 1] of ⟨σ(v_t − x_t), ∇F_t(x_t)⟩ + (σ²β/2)‖v_t − x_t‖²,
    /// x_{t+1} = x_t + σ_t(v_t − x_t). In closed form σ_t = min(1, gap/(β‖v_t − x_t‖²)) with
    /// gap = ⟨∇F_t(x_t), x_t − v_t⟩.
    #[inline]
    fn step(&self, state: State, facts: &Facts<'_, '_>, probe: &Probe) -> (State, Move) {
        let motion = Move::Towards(probe.line_search());
        (self.account(state, facts, probe), motion)
    }

    fn guarantee(&self, _: &State, seen: &RunStatistics, geometry: &Geometry) -> Option<Guarantee> {
        let gradient = self.gradient.unwrap_or(seen.largest_gradient);
        let (diameter, alpha) = (geometry.diameter, geometry.strong_convexity);
        (self.warm == 0.0).then(|| theory::sc_ofw(gradient, self.lambda, diameter, alpha))
    }

    fn certificate(
        &self,
        state: &State,
        geometry: &Geometry,
        x: &dyn Point,
    ) -> Option<Certificate> {
        // with T₀ > 0, one term of the surrogate is not part of the losses' lower bounds
        if state.t == 0 || self.warm > 0.0 {
            return None;
        }
        let rounding = self.rounding(state, geometry, x);
        Some(Certificate {
            level: Level::Quadratic,
            strong_convexity: self.lambda,
            regret: state.regret + rounding,
            rounding,
        })
    }
}

impl StronglyConvexOfw {
    /// Adds the round's terms to the certificate.
    #[inline]
    fn account(&self, mut state: State, facts: &Facts<'_, '_>, probe: &Probe) -> State {
        let Geometry {
            diameter,
            norm_bound,
            ..
        } = *facts.geometry;
        state.played.add(probe.gradient_dot);
        state.played.add(-0.5 * self.lambda * probe.norm_squared);
        // min F_t ≥ F_t(x_t) − suboptimality
        state.regret = (state.played.value() - probe.surrogate()) + probe.suboptimality();
        // the two parts of a gradient may cancel, but their rounding errors do not
        state.gradients += probe.gradient_norm + 2.0 * facts.gradient.ridge.abs() * norm_bound;
        // if the storage does not compute ‖∇F_t(x_t)‖, its bound follows from ∇F_t(x_t) =
        // Σ(g_τ + λ(x_t − x_τ))
        let most = state.gradients + probe.beta * diameter;
        state.steepness = probe.steepness.min(most);
        state.steepnesses += state.steepness;
        state
    }

    /// An upper bound on the rounding errors in the certificate. In every round c is rounded three
    /// times, with errors relative to ‖c_τ‖, ‖g_τ‖ and λ‖x_τ‖, where ‖c_τ‖ ≤ ‖∇F_τ‖ + λτ‖x_τ‖. The
    /// comparator's norm multiplies these errors. The terms of the inner products are at most
    /// ‖g_τ‖·‖x_τ‖, λ‖x_τ‖², ‖c‖·‖x‖ and ‖∇F‖·‖x‖.
    fn rounding(&self, state: &State, geometry: &Geometry, x: &dyn Point) -> f64 {
        let (t, reach) = (state.t as f64, geometry.norm_bound);
        let (dim, accuracy) = (x.dim(), x.accuracy());
        let (beta, steepness) = (self.lambda * t, state.steepness);
        let sizes =
            state.steepnesses + 0.5 * beta * (t + 1.0) * reach + state.gradients + beta * reach;
        // Some storages represent c as a sum of longer vectors, whose rounding errors are larger.
        let sizes = accuracy.dot * sizes;
        let products = rounding::of_dot(dim) * accuracy.dot.max(accuracy.norm);
        let terms = state.gradients + 4.0 * beta * reach + 4.0 * steepness;
        // ‖∇F‖²/(2β) is used only if it is below the gap, which is at most ‖∇F‖·D.
        let bent = (steepness / beta).min(2.0 * geometry.diameter);
        (1.0 + 4.0 * t * UNIT)
            * (3.0 * UNIT * sizes * reach
                + products * (terms * reach + 4.0 * steepness * bent)
                + rounding::of_oracle(dim, steepness, geometry.diameter, reach))
    }
}
