//! Online Newton step: logarithmic regret for exp-concave losses, log-wealth and squared ones for
//! example.
//!
//! **Problem.** α-exp-concave losses with gradients up to G, over any set: f is α-exp-concave if
//! exp(−αf) is concave. The squared loss (z − y)²/2 is with α = 1/max(z − y)², log-wealth with 1,
//! and a λ-strongly convex loss with λ/G².
//!
//! **Update.** γ = ½min{1/(4GD), α}, A_t = I/(γ²D²) + Σ_{τ≤t} g_τg_τᵀ, y = x_t − A_t⁻¹g_t/γ, and
//! x_{t+1} the nearest point of the set to y in the norm of A_t: y itself where it is inside,
//! otherwise found by projected or Frank-Wolfe steps from x_t. A_t is kept by its Cholesky factor
//! and every gradient rotated into it. A gradient beyond 100G counts as one of 100G.
//!
//! **Guarantee.** Regret ≤ (1/(2γ))·(1 + d·ln(1 + (γGD)²T/d)), for T ≥ 5 at most
//! 5(1/α + GD)·d·ln T. A projection that stops at the gap ε of ½‖x − y‖² in the norm of A adds γε
//! (proven at [`theory::ons`]), and what all of them added is part of the bound. They stop once
//! ε·γ²D², a number below 1/8 to begin with, is `tolerance`/t or less, and at a tenth of what it
//! was, or after `steps` steps.
//!
//! **Reference.** Hazan, Agarwal & Kale, Machine Learning 2007.
//!
//! ```
//! use extremal::{learner::LearnerSpec, pair::Gradient, set::SetSpec};
//! let set = "simplex:dim=2".parse::<SetSpec>()?.build(None)?;
//! let spec: LearnerSpec = "ons:exp-concavity=1,gradient-bound=3".parse()?;
//! let mut learner = spec.build(&set)?;
//! for _ in 0..200 {
//!     let mut x = [0.0; 2];
//!     learner.decide()?.write(&mut x);
//!     // the first asset gains a tenth, the second loses one
//!     let wealth = 1.1 * x[0] + 0.9 * x[1];
//!     learner.observe(&Gradient::dense(&[-1.1 / wealth, -0.9 / wealth]))?;
//! }
//! let mut x = [0.0; 2];
//! learner.decision().write(&mut x);
//! assert!(x[0] > 0.99);
//! # Ok::<(), extremal::Error>(())
//! ```

mod factor;
mod mixture;
mod nearest;

use serde::{Deserialize, Serialize};

use super::method::{Revealed, Step};
use super::staged::{Staged, staged};
use super::{Learner, MakeLearner, Seen, Storage, keys};
use crate::parameter::fields;
use crate::set::SharedSet;
use crate::spec::{Described, Entry, Kind};
use crate::theory::{self, Guarantee};
use crate::{Error, Result};
use factor::Factor;
use nearest::{Nearest, Wanted};

const NAME: &str = "ons";

/// More memory than this, in bytes, is refused.
const ROOM: usize = 1 << 31;

/// Gradients beyond this many times G count as no larger.
const BEYOND: f64 = 100.0;

fields! {
    /// Spec of `ons`.
    pub struct Ons {
        /// the losses' exp-concavity α
        pub exp_concavity: Option<f64> = None => Kind::SIZE,
        /// a bound G of the gradients' ℓ2 norm
        pub gradient_bound: Option<f64> = None => Kind::GRADIENT,
        /// factor on γ, one over the step size; above 1 nothing is proven
        pub eta_scale: f64 = 1.0 => Kind::FACTOR,
        /// what a projection may leave of its gap in round t, times t
        pub tolerance: f64 = 0.01 => Kind::POSITIVE,
        /// the most steps of a projection; what is then left counts in the bound
        pub steps: u64 = 100 => Kind::COUNT,
        /// the first decision x₁, a point of the set; its centre if left out
        pub start: Option<Vec<f64>> = None => Kind::POINT,
    }
}

impl Described for Ons {
    const ENTRY: Entry = Entry {
        name: NAME,
        summary: "online Newton step: logarithmic regret for exp-concave losses",
        parameters: Self::PARAMETERS,
        cost: "O(d²) and d² numbers; where the step leads out of the set, up to `steps` oracle calls (and projections, where the set has one) of O(d²) each",
        guarantee: "α-exp-concave losses, any set: 5(1/α + G·D)·d·ln T for T ≥ 5, plus what projections left",
        reference: "Hazan, Agarwal & Kale, Machine Learning 2007",
        citations: &["HazanAgarwalKale2007"],
        examples: &["ons:exp-concavity=0.1,gradient-bound=1"],
    };
}

impl MakeLearner for Ons {
    fn make(&self, set: &SharedSet, storage: Storage) -> Result<Box<dyn Learner>> {
        let missing = Error::Missing {
            owner: NAME,
            name: "exp-concavity",
            why: "its step size depends on the losses' exp-concavity",
        };
        let alpha = self.exp_concavity.ok_or(missing)?;
        let gradient = keys::bound(NAME, self.gradient_bound)?;
        let scale = self.eta_scale;
        keys::need_oracle(NAME, &**set)?;
        let dim = set.dim();
        let room = dim
            .checked_mul(dim + 1)
            .and_then(|n| n.checked_add(Nearest::room(&**set)))
            .and_then(|n| n.checked_mul(8));
        if room.is_none_or(|bytes| bytes > ROOM) {
            return Err(Error::Unsupported(format!(
                "{NAME} keeps a matrix, which in dimension {dim} takes more than 2 GB; ogd and sc-ofw keep vectors only"
            )));
        }
        let diameter = set.geometry().diameter;
        let gamma = scale * (0.5 * (0.25 / (gradient * diameter)).min(alpha));
        // γD from the quotient without D, which may be as large or small as a number
        let reach = scale * (0.5 * (0.25 / gradient).min(alpha * diameter));
        let method = Newton {
            alpha,
            gradient,
            scale,
            tolerance: self.tolerance,
            steps: self.steps,
            gamma,
            reach,
            diameter,
            metric: Factor::identity(dim),
            next_metric: Factor::identity(dim),
            left: 0.0,
            next_left: 0.0,
            nearest: Nearest::new(set),
            h: vec![0.0; dim],
            way: vec![0.0; dim],
        };
        staged(self, method, set, self.start.as_deref(), storage)
    }
}

/// With h = γD·g, A is M/(γD)² for M = I + Σhhᵀ, and y = x − D·M⁻¹h: numbers near 1, whatever D
/// and G are.
struct Newton {
    alpha: f64,
    gradient: f64,
    scale: f64,
    tolerance: f64,
    steps: u64,
    gamma: f64,
    /// γD.
    reach: f64,
    diameter: f64,
    /// M.
    metric: Factor,
    next_metric: Factor,
    /// The sum of the gaps that projections left, in the norm of M and measured in D.
    left: f64,
    next_left: f64,
    nearest: Nearest,
    h: Vec<f64>,
    way: Vec<f64>,
}

#[derive(Serialize, Deserialize)]
struct State {
    metric: Vec<f64>,
    left: f64,
}

impl Staged for Newton {
    type State = State;

    fn plan(&mut self, revealed: &Revealed<'_>, next: &mut [f64]) -> Result<Step> {
        // a gradient that breaks the bound is a direction of length 100G
        let most = BEYOND * self.gradient;
        let norm = revealed.norm;
        for (h, g) in self.h.iter_mut().zip(revealed.g) {
            *h = self.reach * if norm > most { (g / norm) * most } else { *g };
        }
        self.next_metric.copy_from(&self.metric);
        self.way.copy_from_slice(&self.h);
        self.next_metric.absorb(&mut self.way);
        self.way.copy_from_slice(&self.h);
        self.next_metric.solve(&mut self.way);
        let wanted = Wanted {
            metric: &self.next_metric,
            h: &self.h,
            way: &self.way,
            gap: self.tolerance / revealed.round as f64,
            steps: self.steps,
        };
        let still = self.diameter == 0.0 || self.h.iter().all(|h| *h == 0.0);
        let gap = if still {
            0.0
        } else {
            self.nearest.find(&wanted, next)?
        };
        self.next_left = self.left + gap;
        Ok(Step {
            sigma: 1.0 / self.gamma,
            gap: f64::NAN,
        })
    }

    fn oracle_calls(&self) -> u64 {
        self.nearest.oracle_calls()
    }

    fn commit(&mut self) {
        std::mem::swap(&mut self.metric, &mut self.next_metric);
        self.left = self.next_left;
    }

    fn state(&self) -> State {
        State {
            metric: self.metric.numbers().to_vec(),
            left: self.left,
        }
    }

    fn restore(&mut self, state: State) -> Result<()> {
        let metric = Factor::checked(self.h.len(), state.metric);
        let (Some(metric), true) = (metric, state.left >= 0.0 && state.left.is_finite()) else {
            return Err(Error::State("its matrix is none".into()));
        };
        self.metric = metric;
        self.left = state.left;
        Ok(())
    }

    fn guarantee(&self, _seen: &Seen) -> Option<Guarantee> {
        let Self {
            alpha,
            gamma,
            gradient,
            diameter,
            ..
        } = *self;
        let (dim, left) = (self.h.len() as f64, self.left / gamma);
        // a smaller γ is one that a smaller α or a larger G would have
        (self.scale <= 1.0).then(|| theory::ons(alpha, gamma, gradient, diameter, dim, left))
    }
}
