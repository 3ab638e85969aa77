//! Online Newton step: logarithmic regret for exp-concave losses, for example log-wealth and
//! squared losses.
//!
//! **Problem.** α-exp-concave losses with gradients of norm at most G, over any set. A loss f is
//! α-exp-concave if exp(−αf) is concave. The squared loss (z − y)²/2 has α = 1/max(z − y)²,
//! log-wealth has α = 1, and a λ-strongly convex loss has α = λ/G².
//!
//! **Update.** γ = ½min{1/(4GD), α}, A_t = I/(γ²D²) + Σ_{τ≤t} g_τg_τᵀ, and y = x_t − A_t⁻¹g_t/γ.
//! x_{t+1} is the point of the set that is nearest to y in the norm of A_t. If y is in the set,
//! x_{t+1} = y. Otherwise x_{t+1} is computed with projected steps or Frank-Wolfe steps from x_t.
//! A_t is stored as its Cholesky factor, which is updated with every gradient. A gradient longer
//! than 100G is shortened to 100G.
//!
//! **Guarantee.** Regret ≤ (1/(2γ))·(1 + d·ln(1 + (γGD)²T/d)), which is at most 5(1/α + GD)·d·ln T
//! for T ≥ 5. If a projection stops at a gap ε of ½‖x − y‖² in the norm of A, the bound increases
//! by γε (proven at [`theory::ons`]). The reported bound includes the sum of these increases. The
//! number ε·γ²D² is below 1/8 at first. A projection stops when this number is at most
//! `tolerance`/t and at most a tenth of its first value, or after `steps` steps.
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
//!     // the first asset gains a tenth, the second loses a tenth
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

/// The largest memory for the matrix, in bytes.
const ROOM: usize = 1 << 31;

/// Gradients longer than this many times G are shortened.
const BEYOND: f64 = 100.0;

/// The number of atoms for which memory is reserved, on sets without a projection.
const RESERVED: u64 = 256;

fields! {
    /// The spec of `ons`.
    pub struct Ons {
        /// the losses' exp-concavity α
        pub exp_concavity: Option<f64> = None => Kind::SIZE,
        /// a bound G on the gradients' ℓ2 norm
        pub gradient_bound: Option<f64> = None => Kind::GRADIENT,
        /// a factor that multiplies γ, the inverse of the step size; no bound is proven for factors
        /// above 1
        pub eta_scale: f64 = 1.0 => Kind::FACTOR,
        /// the tolerance of a projection: it stops when its gap in round t is at most tolerance/t
        pub tolerance: f64 = 0.01 => Kind::POSITIVE,
        /// the largest number of steps of a projection; the remaining gap is added to the bound
        pub steps: u64 = 100 => Kind::COUNT,
        /// the first decision x₁, a point of the set; default: the set's centre
        pub start: Option<Vec<f64>> = None => Kind::POINT,
    }
}

impl Described for Ons {
    const ABOUT: About = About {
        summary: "online Newton step: logarithmic regret for exp-concave losses",
        cost: "O(d²) time per round and memory for d² numbers; if the step leaves the set, up to `steps` oracle calls (and as many projections, if the set has a projection) with O(d²) time for each",
        guarantee: "α-exp-concave losses, any set: 5(1/α + G·D)·d·ln T for T ≥ 5, plus the remaining gaps of the projections",
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
        parameters::need_oracle(NAME, &**set)?;
        let dim = set.dim();
        let room = dim.checked_mul(dim + 1).and_then(|n| n.checked_mul(8));
        if room.is_none_or(|bytes| bytes > ROOM) {
            return Err(Error::Unsupported(format!(
                "{NAME} stores a matrix, which needs more than 2 GB in dimension {dim}; use ogd or sc-ofw, which store only vectors"
            )));
        }
        let diameter = set.geometry().diameter;
        let gamma = self.eta_scale * (0.5 * (0.25 / (gradient * diameter)).min(alpha));
        // γD is computed from 0.25/G, because G·D could overflow or underflow
        let reach = self.eta_scale * (0.5 * (0.25 / gradient).min(alpha * diameter));
        let mut method = Newton {
            alpha,
            gradient,
            scale: self.eta_scale,
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
        // one atom for the start, and one atom per step
        method.search.warm_up(self.steps.min(RESERVED) as usize + 1);
        acting(self, method, set, self.start.as_deref(), storage)
    }
}

/// With h = γD·g and M = I + Σhhᵀ, A is M/(γD)² and y = x − D·M⁻¹h. M and M⁻¹h thus have sizes near
/// 1 for all D and G.
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
    /// The method that finds the nearest point.
    projection: solver::Method,
    search: Search,
    inspect: Inspector,
    h: Vec<f64>,
    y: Vec<f64>,
}

#[derive(Clone, Serialize, Deserialize)]
struct State {
    /// The matrix M.
    metric: Factor,
    /// The sum of the projections' remaining gaps, in the norm of M and in units of D.
    left: f64,
}

impl Newton {
    /// Moves x, the current decision, to a point of the set near y. Returns the remaining gap of
    /// ½‖x − y‖² in the norm of M, in units of D.
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
            // a projection removes nine tenths of its first gap even if the gradient is small
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
        // a gradient longer than 100G is shortened to 100G
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
        // the theorem also holds for a smaller γ, which corresponds to a smaller α or a larger G
        (self.scale <= 1.0).then(|| theory::ons(alpha, gamma, gradient, diameter, dim, left))
    }
}
