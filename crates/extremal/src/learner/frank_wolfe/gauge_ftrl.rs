//! Gauge-FTRL: √T regret with one oracle call per round on curved sets, without T, G or tuning.
//!
//! **Problem.** Convex losses over a set whose support function h is curved. Either ½h² is L-smooth
//! (ℓ2 and ℓp balls with p ≤ 2, and every strongly convex set), or the set is an ℓp ball with p >
//! 2, where h^q is smooth.
//!
//! **Update.** Let S be the sum of the gradients, v = argmin_{x∈K} ⟨S, x⟩ and h = −⟨S, v⟩, with the
//! set's centre at 0. Then x_t = (h/√(h² + β_t²))·v. There are three choices of β. It is fixed, or
//! √(L(G² + Σ‖g‖²)), or self-balancing (the default): β_1 = 0 and β_{t+1} = β_t +
//! min((L/2)‖g_t‖²/√(h² + β_t²), w(g_t)), where w is the width of the set. For p > 2 the formulas
//! have q-th powers in place of squares.
//!
//! **Guarantee.** Regret ≤ β_T + (L/2)Σ‖g_t‖²/√(h_{t−1}² + β_t²). With β fixed at G√(LT/2), the
//! bound is G√(2LT). With the second choice it is 2√(L(G² + Σ‖g‖²)). With the third choice it is
//! 2β_{T+1}, and grows like log T if the losses drift. For p > 2 the order is T^(1−1/p). The guide
//! has the proofs.
//!
//! **Reference.** Gauge-FTRL extends Follow the Shrunken Leader (Huang et al., JMLR 2017, after
//! Abernethy et al., COLT 2008) from Euclidean balls to sets whose squared support function is
//! smooth. Strongly convex sets are among them (compare Molinaro 2020). Jiang, Mhammedi, Mohri &
//! Mokhtari (arXiv:2602.08232) use a related smoothing for operator-norm balls. Mhammedi
//! (arXiv:2205.11470) proves Õ(√T) regret with two oracle calls. As far as we know, these parts are
//! new: general strongly convex sets, the self-balancing β with its certificate of the run's
//! regret, and the extension to p > 2. The learner is follow-the-regularised-leader with the
//! regulariser −β√(1 − γ(x)²), where γ is the gauge of the set.
//!
//! ```
//! use extremal::{Gradient, Learner, LearnerSpec, SetSpec};
//! let set = "l2:dim=2".parse::<SetSpec>()?.build(None)?;
//! let mut learner = "gauge-ftrl".parse::<LearnerSpec>()?.build(&set)?;
//! for t in 0..100 {
//!     learner.decide()?;
//!     learner.observe(&Gradient::dense(&[1.0, if t % 2 == 0 { 1.0 } else { -1.0 }]))?;
//! }
//! let certified = learner.certificate().unwrap().regret;
//! assert!(certified <= learner.guarantee().unwrap().bound(100.0));
//! # Ok::<(), extremal::Error>(())
//! ```

use serde::{Deserialize, Serialize};

use crate::learner::frank_wolfe::{Facts, Rule, stored};
use crate::learner::skeleton::parameters;
use crate::learner::{Certificate, Learner, Level, MakeLearner, RunStatistics, Storage};
use crate::parameter::{choices, fields};
use crate::range::root_of_squares;
use crate::rounding::{self, UNIT, Wide};
use crate::set::{Curvature, CurvatureKind, Geometry, Set, SharedSet};
use crate::spec::{About, Described, Kind};
use crate::surrogate::{Move, Probe, Update};
use crate::theory::{self, Guarantee};
use crate::{Error, Point, Result};

const NAME: &str = "gauge-ftrl";

choices! {
    /// The choice of the regulariser's weight β.
    pub enum Balance {
        /// β balances the terms of the bound; it needs neither T nor G
        Own = "own",
        /// β is constant; this choice needs T and G
        Fixed = "fixed",
        /// β depends on the observed gradients; this choice needs G
        Adagrad = "adagrad",
    }
}

fields! {
    /// The spec of `gauge-ftrl`.
    pub struct GaugeFtrl {
        /// the choice of the regulariser's weight β
        pub balance: Balance = Balance::Own => Balance::KIND,
        /// the number of rounds T, for balance=fixed
        pub horizon: Option<u64> = None => Kind::COUNT,
        /// a bound G on the gradients' ℓ2 norm, for balance=fixed and balance=adagrad
        pub gradient_bound: Option<f64> = None => Kind::POSITIVE,
    }
}

impl Described for GaugeFtrl {
    const ABOUT: About = About {
        summary: "follow the regularised leader with the set's squared gauge as regulariser: √T regret with one oracle call per round",
        cost: "1 oracle call and O(d) per round; lazy storage (ℓ2 balls): O(non-zeros)",
        guarantee: "curved set, convex losses: 2β with the last β (own), G√(2LT) (fixed), 2√(L(G² + Σ‖g‖²)) (adagrad); ℓp with p > 2: T^(1−1/p)",
        reference: "this project; extends Follow the Shrunken Leader (Huang et al., JMLR 2017, after Abernethy et al., COLT 2008) from ℓ2 balls to sets with a smooth squared support function (compare Molinaro 2020); related: Jiang et al., arXiv:2602.08232, and Mhammedi, arXiv:2205.11470",
        citations: &[
            "Extremal",
            "HuangEtAl2017",
            "AbernethyEtAl2008",
            "Molinaro2020",
            "JiangEtAl2026",
            "Mhammedi2022Curvature",
        ],
        examples: &[
            "gauge-ftrl",
            "gauge-ftrl:balance=fixed,horizon=1000,gradient-bound=1",
            "gauge-ftrl:balance=adagrad,gradient-bound=1",
        ],
    };
}

impl MakeLearner for GaugeFtrl {
    fn make(&self, set: &SharedSet, storage: Storage) -> Result<Box<dyn Learner>> {
        let needs = "a curved set (l2, lp, or one with a strong-convexity constant)";
        let curvature = set.curvature();
        let curvature = curvature.ok_or_else(|| parameters::cannot_play(NAME, &**set, needs))?;
        // For p > 2 the curvature measures gradients in a norm that exceeds the ℓ2 norm.
        let norm = curvature.gradient_norm;
        let stretch = (set.dim() as f64).powf((1.0 / norm - 0.5).max(0.0));
        let (q, radius) = match curvature.kind {
            CurvatureKind::Smooth { l } => (2.0, l.sqrt()),
            CurvatureKind::Uniform { q, radius } => (q, radius),
        };
        let share = (2.0 - q).exp2() / q;
        let (beta, bound) = match self.balance {
            Balance::Own => (0.0, 0.0),
            Balance::Fixed => {
                let why = "its step size depends on the number of rounds";
                let horizon = parameters::need(NAME, "horizon", self.horizon, why)?;
                let bound = parameters::bound(NAME, self.gradient_bound)?;
                let rounds = ((q - 1.0) * share * horizon as f64).powf(1.0 / q);
                (radius * stretch * bound * rounds, bound)
            }
            Balance::Adagrad if q == 2.0 => {
                let bound = parameters::bound(NAME, self.gradient_bound)?;
                (radius * bound, bound)
            }
            Balance::Adagrad => {
                let needs = "p ≤ 2 for balance=adagrad; use balance=own for p > 2";
                return Err(parameters::cannot_play(NAME, &**set, needs));
            }
        };
        let rule = GaugeRule {
            curvature,
            q,
            radius,
            share,
            balance: self.balance,
            bound,
            stretch,
            beta,
        };
        stored(self, rule, set, None, storage)
    }
}

struct GaugeRule {
    curvature: Curvature,
    /// The power q for which h^q is smooth. It is 2 on curved sets.
    q: f64,
    /// √L on curved sets, and the ball's radius if q < 2.
    radius: f64,
    /// 2^(2−q)/q, which is ½ on curved sets.
    share: f64,
    balance: Balance,
    /// G.
    bound: f64,
    /// The largest ratio N(g)/‖g‖, where N is the norm in which the curvature measures gradients.
    stretch: f64,
    /// The first β.
    beta: f64,
}

#[derive(Clone, Copy, Default, Serialize, Deserialize)]
struct State {
    t: u64,
    /// β of the next round.
    beta: f64,
    /// h after t rounds.
    h: f64,
    /// √(G² + ΣN(g)²), which `adagrad` uses. N is as for `stretch`.
    root: f64,
    /// Σ⟨g_t, x_t⟩, and the minimum of ⟨S, x⟩ over the set.
    played: Wide,
    low: f64,
    /// Three numbers: Σ‖g_t‖, an upper bound on Σ‖S_t‖, and the last term of this bound.
    gradients: f64,
    sums: f64,
    sum: f64,
}

impl GaugeRule {
    /// The potential Ψ = (h^q + β^q)^(1/q), with q = 2 on curved sets.
    fn potential(&self, h: f64, beta: f64) -> f64 {
        let (q, top) = (self.q, h.max(beta));
        if q == 2.0 {
            root_of_squares(h, beta)
        } else if top == 0.0 {
            0.0
        } else {
            top * ((h / top).powf(q) + (beta / top).powf(q)).powf(1.0 / q)
        }
    }

    /// a^(q−1), which is a on curved sets.
    fn power(&self, a: f64) -> f64 {
        if self.q == 2.0 {
            a
        } else {
            a.powf(self.q - 1.0)
        }
    }

    /// The increase of β for a gradient of norm `n`, where `potential` is Ψ before the gradient.
    fn growth(&self, n: f64, potential: f64) -> f64 {
        if n == 0.0 {
            return 0.0;
        }
        let pull = self.radius * n;
        let unbalanced = self.share * pull * self.power(pull / potential);
        // this term is ∞ if the potential is 0, and the other term is then the minimum
        f64::min(unbalanced, self.curvature.width * n)
    }
}

impl Rule for GaugeRule {
    type State = State;

    fn start(&self) -> (State, f64) {
        let state = State {
            beta: self.beta,
            root: self.bound,
            ..State::default()
        };
        (state, 0.0)
    }

    /// S += g_t
    #[inline]
    fn absorb<'g>(&self, state: State, facts: &Facts<'_, 'g>) -> Result<(State, Update<'g>)> {
        Ok((state, Update::new(1.0, facts.gradient, 0.0)))
    }

    /// v = argmin ⟨S, x⟩, h = −⟨S, v⟩ with the centre at 0, the next β, x_{t+1} = (h/Ψ)^(q−1)·v
    #[inline(always)] // the state is large and must not be copied
    fn step(&self, mut state: State, facts: &Facts<'_, '_>, probe: &Probe) -> (State, Move) {
        let n = match self.curvature.gradient_norm {
            2.0 => probe.gradient_norm,
            q => facts.norm_in(q),
        };
        match self.balance {
            Balance::Own => state.beta += self.growth(n, self.potential(state.h, state.beta)),
            Balance::Adagrad => {
                state.root = root_of_squares(state.root, n);
                state.beta = self.radius * state.root;
            }
            Balance::Fixed => {}
        }
        state.h = probe.support.max(0.0);
        let s = if state.h > 0.0 {
            self.power(state.h / self.potential(state.h, state.beta))
        } else {
            0.0
        };
        (account(state, facts, probe), Move::ToAtom(s))
    }

    fn check_grown(&self, set: &dyn Set) -> Result<()> {
        if set.curvature() == Some(self.curvature) {
            return Ok(());
        }
        Err(Error::Unsupported(format!(
            "{NAME} can't add features: set {} has less curvature in a higher dimension",
            set.name()
        )))
    }

    fn guarantee(&self, state: &State, _: &RunStatistics, _: &Geometry) -> Option<Guarantee> {
        Some(match (self.balance, self.curvature.kind) {
            (Balance::Fixed, CurvatureKind::Smooth { l }) => {
                theory::gauge_ftrl(self.bound, l, state.beta)
            }
            (Balance::Fixed, CurvatureKind::Uniform { q, radius }) => {
                theory::gauge_ftrl_uniform(self.bound, self.stretch, q, radius, state.beta)
            }
            (balance, _) => {
                // the proof for `adagrad` adds G to the observed gradients
                let gradient = (balance == Balance::Adagrad).then_some(self.bound);
                theory::gauge_ftrl_online(state.beta, 1.0 / self.q, gradient)
            }
        })
    }

    fn certificate(
        &self,
        state: &State,
        geometry: &Geometry,
        x: &dyn Point,
    ) -> Option<Certificate> {
        if state.t == 0 {
            return None;
        }
        // Every round rounds S twice, with errors relative to ‖S_t‖ and ‖g_t‖. The terms of
        // ⟨g_t, x_t⟩ and min ⟨S, x⟩ are rounded, too.
        let (dim, reach) = (x.dim(), geometry.norm_bound);
        let products = rounding::of_dot(dim) * x.accuracy().dot;
        let rounding = (1.0 + 4.0 * state.t as f64 * UNIT)
            * (2.0 * UNIT * (state.sums + state.gradients) * reach
                + products * (state.gradients + 2.0 * state.sum) * reach
                + rounding::of_oracle(dim, state.sum, geometry.diameter, reach));
        Some(Certificate {
            level: Level::Linear,
            strong_convexity: 0.0,
            regret: state.played.value() - state.low + rounding,
            rounding,
        })
    }
}

/// Adds the round's terms to the certificate.
#[inline]
fn account(mut state: State, facts: &Facts<'_, '_>, probe: &Probe) -> State {
    state.t += 1;
    state.played.add(probe.gradient_dot);
    state.low = probe.slope - probe.gap - probe.slack;
    // the two parts of a gradient may cancel, but their rounding errors do not
    state.gradients +=
        probe.gradient_norm + 2.0 * facts.gradient.ridge.abs() * facts.geometry.norm_bound;
    // the direction is S itself
    state.sum = probe.steepness.min(state.gradients);
    state.sums += state.sum;
    state
}
