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
//! use extremal::{Gradient, LearnerSpec, SetSpec};
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

use serde::{Deserialize, Serialize};

use crate::kernel::{Factor, axpy};
use crate::learner::skeleton::method::{Method, Round, Step, acting, parts_of};
use crate::learner::skeleton::parameters;
use crate::learner::{Learner, MakeLearner, RunStatistics, Storage};
use crate::parameter::fields;
use crate::set::{Inspector, SharedSet, inspector_of};
use crate::solver::{self, Distance, Search, Task};
use crate::spec::{About, Described, Kind};
use crate::theory::{self, Guarantee};
use crate::{Error, Result};

const NAME: &str = "ons";

/// More memory than this, in bytes, is refused.
const ROOM: usize = 1 << 31;

/// Gradients beyond this many times G count as no larger.
const BEYOND: f64 = 100.0;

/// Memory for so many atoms is reserved, on sets without a projection.
const RESERVED: u64 = 256;

fields! {
    /// Spec of `ons`.
    pub struct Ons {
        /// the losses' exp-concavity α
        pub exp_concavity: Option<f64> = None => Kind::SIZE,
        /// a bound G on the gradients' ℓ2 norm
        pub gradient_bound: Option<f64> = None => Kind::GRADIENT,
        /// factor on γ, the inverse of the step size; no bound is proven for factors above 1
        pub eta_scale: f64 = 1.0 => Kind::FACTOR,
        /// the tolerance of a projection: its gap in round t is at most tolerance/t
        pub tolerance: f64 = 0.01 => Kind::POSITIVE,
        /// the largest number of steps of a projection; the gap that remains is added to the bound
        pub steps: u64 = 100 => Kind::COUNT,
        /// the first decision x₁, a point of the set; default: the set's centre
        pub start: Option<Vec<f64>> = None => Kind::POINT,
    }
}

impl Described for Ons {
    const ABOUT: About = About {
        summary: "online Newton step: logarithmic regret for exp-concave losses",
        cost: "O(d²) time per round and d² numbers of memory; if the step leaves the set, up to `steps` oracle calls (and projections, if the set has one) of O(d²) each",
        guarantee: "α-exp-concave losses, any set: 5(1/α + G·D)·d·ln T for T ≥ 5, plus the gaps that the projections left",
        reference: "Hazan, Agarwal & Kale, Machine Learning 2007",
        citations: &["HazanAgarwalKale2007"],
        examples: &["ons:exp-concavity=0.1,gradient-bound=1"],
    };
}

impl MakeLearner for Ons {
    fn make(&self, set: &SharedSet, storage: Storage) -> Result<Box<dyn Learner>> {
        let why = "its step size depends on the losses' exp-concavity";
        let alpha = parameters::need(NAME, "exp-concavity", self.exp_concavity, why)?;
        let gradient = parameters::bound(NAME, self.gradient_bound)?;
        let scale = self.eta_scale;
        parameters::need_oracle(NAME, &**set)?;
        let dim = set.dim();
        let room = dim.checked_mul(dim + 1).and_then(|n| n.checked_mul(8));
        if room.is_none_or(|bytes| bytes > ROOM) {
            return Err(Error::Unsupported(format!(
                "{NAME} stores a matrix, which takes more than 2 GB in dimension {dim}; ogd and sc-ofw store only vectors"
            )));
        }
        let diameter = set.geometry().diameter;
        let gamma = scale * (0.5 * (0.25 / (gradient * diameter)).min(alpha));
        // γD from the quotient without D, which may be as large or small as a number
        let reach = scale * (0.5 * (0.25 / gradient).min(alpha * diameter));
        let mut method = Newton {
            alpha,
            gradient,
            scale,
            tolerance: self.tolerance,
            steps: self.steps,
            gamma,
            reach,
            diameter,
            projection: match set.projection() {
                Some(_) => solver::Method::Spectral,
                None => solver::Method::Pairwise,
            },
            search: Search::new(&**set, dim),
            inspect: inspector_of(set),
            h: vec![0.0; dim],
            y: vec![0.0; dim],
        };
        // the start, and one atom per step
        method.search.warm_up(self.steps.min(RESERVED) as usize + 1);
        acting(self, method, set, self.start.as_deref(), storage)
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
    /// How the nearest point is found.
    projection: solver::Method,
    search: Search,
    inspect: Inspector,
    h: Vec<f64>,
    y: Vec<f64>,
}

#[derive(Clone, Serialize, Deserialize)]
struct State {
    /// M.
    metric: Factor,
    /// The sum of the gaps that projections left, in the norm of M and measured in D.
    left: f64,
}

impl Newton {
    /// x, the decision played, becomes a point of the set near y; returns the gap that is left of
    /// ½‖x − y‖² in the norm of M, measured in D.
    fn project(&mut self, metric: &Factor, t: f64, x: &mut [f64]) -> Result<f64> {
        if (self.inspect)(&self.y).is_some_and(|v| v <= 0.0) {
            x.copy_from_slice(&self.y);
            return Ok(0.0);
        }
        let distance = Distance {
            target: &self.y,
            factor: Some(metric),
            unit: self.diameter,
        };
        let task = Task {
            gap: self.tolerance / t,
            // however small the gradient, most of what it asks for is done
            first_gap: 0.1,
            ..Task::new(&distance, self.steps)
        };
        self.search.restart(x);
        self.search.descend(self.projection, &task, x)?;
        x.copy_from_slice(&self.search.nearest);
        Ok(self.search.least_gap.max(0.0))
    }
}

impl Method for Newton {
    type State = State;

    fn start(&self, x: &[f64]) -> State {
        State {
            metric: Factor::identity(x.len()),
            left: 0.0,
        }
    }

    fn fits(state: &State, x: &[f64]) -> bool {
        let parts = parts_of::<(usize, Vec<f64>)>(&state.metric);
        parts.is_ok_and(|(dim, rows)| dim == x.len() && rows.len() == Factor::len(dim))
    }

    fn round(&mut self, round: Round<'_, State>) -> Result<Step> {
        let (now, next, x, x_next) = (round.now, round.next, round.x, round.x_next);
        let (t, g, norm) = (round.t, round.g, round.norm);
        // a gradient that breaks the bound is a direction of length 100G
        let most = BEYOND * self.gradient;
        for (h, g) in self.h.iter_mut().zip(g) {
            *h = self.reach * if norm > most { (g / norm) * most } else { *g };
        }
        next.metric.copy_from(&now.metric);
        next.left = now.left;
        if self.diameter > 0.0 && self.h.iter().any(|h| *h != 0.0) {
            self.y.copy_from_slice(&self.h);
            next.metric.absorb(&mut self.y);
            // y = x − D·M⁻¹h
            next.metric.solve(&mut self.h);
            self.y.copy_from_slice(x);
            axpy(-self.diameter, &self.h, &mut self.y);
            next.left += self.project(&next.metric, t, x_next)?;
        }
        Ok(Step::of(1.0 / self.gamma))
    }

    fn oracle_calls(&self) -> u64 {
        self.search.oracle_calls()
    }

    fn guarantee(&self, state: &State, _seen: &RunStatistics) -> Option<Guarantee> {
        let Self {
            alpha,
            gamma,
            gradient,
            diameter,
            ..
        } = *self;
        let (dim, left) = (self.h.len() as f64, state.left / gamma);
        // a smaller γ is one that a smaller α or a larger G would have
        (self.scale <= 1.0).then(|| theory::ons(alpha, gamma, gradient, diameter, dim, left))
    }
}
