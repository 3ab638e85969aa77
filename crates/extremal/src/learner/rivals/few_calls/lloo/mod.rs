//! LLOO: the regularised leader on polytopes, with a local oracle. With one oracle call per round
//! it has the √T and ln T regret of projected learners. Frank-Wolfe steps have T^(3/4).
//!
//! **Problem.** Convex losses over a polytope. If λ is given, the losses are λ-strongly convex.
//!
//! **Update.** F_t(x) = ⟨S_t, x⟩ + w_t‖x − x₁‖². With λ, F_t(x) = Σ(⟨g_τ, x⟩ + (λ/2)‖x − x_τ‖²) +
//! 8ρ²λ‖x − x₁‖². Let r_t be an upper bound on the distance from x_t to the minimiser of F_t: the
//! smaller of a bound from the theory and a bound from the gap. Consider the points p that result
//! from moving the share r_t/δ of x_t's mass to one vertex. p_t is the point p with the smallest
//! ⟨∇F_t(x_t), p⟩. x_{t+1} minimises F_t on the segment from x_t to p_t. With T and G, w =
//! (G/D)√((4ρ² + ¼)T). With G alone, w_t grows. Without G, w_t = √(Σ‖g‖²)/(2D), as in dual
//! averaging.
//!
//! **Guarantee.** Let ρ = D/δ, where δ is the facial distance. With T and G, regret ≤
//! 2GD√((4ρ² + ¼)T). With G alone, see [`theory::lloo_anytime`]. Without G there is no bound. With
//! λ alone, regret is O(ρ²(G + λD)² ln T/λ) (see [`theory::lloo_strongly_convex`]).
//!
//! **Reference.** Garber & Hazan, SIAM Journal on Optimization 2016. For facial distances: Peña &
//! Rodríguez, Mathematics of Operations Research 2019. [`theory::lloo`] has the proof of the
//! constants.
//!
//! ```
//! use extremal::{Gradient, LearnerSpec, SetSpec};
//! let set = "simplex:dim=8".parse::<SetSpec>()?.build(None)?;
//! let spec: LearnerSpec = "lloo:horizon=10000,gradient-bound=1".parse()?;
//! let mut learner = spec.build(&set)?;
//! // ρ² = 8/2 and D² = 2
//! let bound = learner.guarantee().unwrap().bound(1e4);
//! assert!((bound - 2.0 * (2.0 * 16.25 * 1e4_f64).sqrt()).abs() < 1e-9);
//! learner.decide()?;
//! let record = learner.observe(&Gradient::sparse(&[3], &[1.0]))?;
//! assert_eq!(record.oracle_calls, 1);
//! # Ok::<(), extremal::Error>(())
//! ```

#[doc(hidden)]
mod caratheodory;
pub mod local_oracle;
mod start;

use serde::{Deserialize, Serialize};

use crate::learner::rivals::few_calls::lloo::local_oracle::LocalOracle;
use crate::learner::rivals::few_calls::vector_surrogate::Surrogate;
use crate::learner::skeleton::method::{Method, Round, Step, acting, first_decision, parts_of};
use crate::learner::skeleton::parameters;
use crate::learner::skeleton::schedule::Schedule;
use crate::learner::{Learner, MakeLearner, RunStatistics, Storage};
use crate::parameter::fields;
use crate::set::{Atom, SharedSet};
use crate::solver::ActiveSet;
use crate::spec::{About, Described, Kind};
use crate::theory::{self, Guarantee};
use crate::{Error, Result};

const NAME: &str = "lloo";

fields! {
    /// The spec of `lloo`.
    pub struct Lloo {
        /// the number of rounds T; without T or G, the regulariser grows
        pub horizon: Option<u64> = None => Kind::COUNT,
        /// a bound G on the gradients' ℓ2 norm; without it, the regulariser grows with √(Σ‖g‖²), as
        /// in dual averaging
        pub gradient_bound: Option<f64> = None => Kind::GRADIENT,
        /// the losses' strong convexity λ, which replaces T and G; default: 0
        pub lambda: Option<f64> = None => Kind::SIZE,
        /// the factor ρ = D/(facial distance) by which the local oracle may exceed its radius;
        /// default: the value known for the set
        pub rho: Option<f64> = None => Kind::between(1.0, 1e50),
        /// a factor that multiplies the theorem's step size 1/w; not allowed with λ
        pub eta_scale: f64 = 1.0 => Kind::FACTOR,
        /// the first decision x₁, a point of the set; default: the set's centre
        pub start: Option<Vec<f64>> = None => Kind::POINT,
    }
}

impl Described for Lloo {
    const ABOUT: About = About {
        summary: "follow the regularised leader on polytopes with a local linear oracle",
        cost: "1 oracle call per round; O(d log d) on simplices; on other polytopes O(d) for each of at most 2(d + 1) stored vertices, and O(d²) to limit their number",
        guarantee: "polytopes with known ρ: 2·G·D·√((4ρ² + ¼)T) with T and G; with G alone, the factor 2 becomes about 3.4; λ-strongly convex losses: O(ρ²(G + λD)² ln T/λ)",
        reference: "Garber & Hazan, SIAM J. Optim. 2016; Peña & Rodríguez, Math. Oper. Res. 2019",
        citations: &["GarberHazan2016", "PenaRodriguez2019"],
        examples: &[
            "lloo",
            "lloo:horizon=1000,gradient-bound=1",
            "lloo:lambda=0.1",
            "lloo:gradient-bound=1,rho=20",
        ],
    };
}

impl MakeLearner for Lloo {
    fn make(&self, set: &SharedSet, storage: Storage) -> Result<Box<dyn Learner>> {
        parameters::need_oracle(NAME, &**set)?;
        let (rho, proven) = self.rho(set)?;
        if self.lambda.is_some() && self.eta_scale != 1.0 {
            return Err(Error::Unsupported(
                "lloo with lambda has no step size: leave out eta-scale".into(),
            ));
        }
        let schedule = Schedule::of(self.lambda, self.horizon, self.gradient_bound);
        let start = self.start.as_deref();
        if start.is_some() {
            first_decision(set, start)?; // so that an invalid `start` is an error
        }
        let mut active = ActiveSet::start(set, start)?;
        let mut first = vec![0.0; set.dim()];
        active.write(&mut first);
        let local = LocalOracle::new(&**set);
        local.reserve(&mut active);
        let diameter = set.geometry().diameter;
        let method = LlooMethod {
            schedule,
            rho,
            proven,
            scale: self.eta_scale,
            diameter,
            local,
            active,
            surrogate: Surrogate::new(first.clone(), self.lambda.unwrap_or(0.0), diameter),
            way: vec![0.0; set.dim()],
        };
        acting(self, method, set, Some(&first), storage)
    }
}

impl Lloo {
    /// Returns ρ, and whether it is known to be large enough.
    fn rho(&self, set: &SharedSet) -> Result<(f64, bool)> {
        let Some(polytope) = set.polytope() else {
            return Err(parameters::cannot_play(NAME, &**set, "a polytope"));
        };
        let diameter = set.geometry().diameter;
        let known = polytope
            .facial_distance
            .map(|distance| (diameter / distance).max(1.0));
        let why = "the facial distance of this set is not known";
        let rho = parameters::need(NAME, "rho", self.rho.or(known), why)?;
        Ok((rho, known.is_some_and(|known| rho >= known)))
    }
}

struct LlooMethod {
    schedule: Schedule,
    rho: f64,
    /// Whether ρ is known to be large enough.
    proven: bool,
    scale: f64,
    diameter: f64,
    local: LocalOracle,
    /// The first decision.
    active: ActiveSet,
    surrogate: Surrogate,
    way: Vec<f64>,
}

#[derive(Clone, Serialize, Deserialize)]
struct State {
    /// S_t.
    sum: Vec<f64>,
    /// max ‖g‖.
    largest: f64,
    /// √(Σ‖g‖²).
    root: f64,
    /// x, as a mixture of vertices.
    active: ActiveSet,
}

impl LlooMethod {
    /// Returns K_t, which is D times the second derivative of F_t, and r_t/D.
    fn shape(&self, t: f64, state: &State) -> (f64, f64) {
        let square = self.rho * self.rho;
        match self.schedule {
            // w = (G/D)√(κT)
            Schedule::Fixed { bound, horizon } => {
                let w = bound * (theory::kappa(self.rho) * horizon).sqrt() / self.scale;
                (2.0 * w, (4.0 * square + 0.5) * (bound / w))
            }
            // w_t = (√2·G/D)√(κ(t + 16κ))
            Schedule::Rounds { bound } => {
                let kappa = theory::kappa_anytime(self.rho);
                let a = std::f64::consts::SQRT_2 / self.scale;
                let w = |t: f64| a * bound * (kappa * (t + theory::AHEAD * kappa)).sqrt();
                let slope = (1.0 + 0.25 * a) * bound;
                let r = 4.5 * square * (slope / w(t - 1.0)) + 0.5 * (slope / w(t));
                (2.0 * w(t), r)
            }
            // w_t = √(Σ‖g‖²)/(2D)
            Schedule::Gradients => (state.root / self.scale, 1.0),
            // F_t is λ(t + 16ρ²)-strongly convex
            Schedule::Strong { lambda } => {
                let kappa = |t: f64| lambda * (t + 16.0 * square);
                let slope = state.largest / self.diameter + lambda;
                let r = 12.0 * square * (slope / kappa(t - 1.0)) + slope / kappa(t);
                (kappa(t) * self.diameter, r)
            }
        }
    }
}

impl Method for LlooMethod {
    type State = State;

    fn start(&self, x: &[f64]) -> State {
        State {
            sum: vec![0.0; x.len()],
            largest: 0.0,
            root: 0.0,
            active: self.active.clone(),
        }
    }

    fn fits(state: &State, x: &[f64]) -> bool {
        let parts = parts_of::<(usize, Vec<Atom>, Vec<f64>)>(&state.active);
        let fit = parts.is_ok_and(|(dim, atoms, weights)| {
            let all_fit = atoms.iter().all(|atom| atom.fits(dim));
            dim == x.len() && atoms.len() == weights.len() && all_fit
        });
        fit && state.sum.len() == x.len()
    }

    fn round(&mut self, round: Round<'_, State>) -> Result<Step> {
        let (now, next, x, x_next) = (round.now, round.next, round.x, round.x_next);
        let (t, g, norm) = (round.t, round.g, round.norm);
        next.active.clone_from(&now.active);
        next.largest = now.largest.max(norm);
        next.root = now.root.hypot(norm);
        let (stiffness, reach) = self.shape(t, next);
        let (surrogate, local, way) = (&mut self.surrogate, &mut self.local, &mut self.way);
        let steep = surrogate.absorb(&now.sum, &mut next.sum, g, x, stiffness);
        let mut step = Step {
            sigma: 0.0,
            gap: 0.0,
        };
        if !steep || !(self.diameter > 0.0) {
            return Ok(step); // x minimises F_t
        }
        let c = surrogate.direction();
        let found = local.find(c)?;
        let above = surrogate.above(x, found.value);
        local.check_gap(above + found.slack(), c)?;
        // r/δ
        let share = self.rho * reach.min(surrogate.distance(above + found.slack()));
        local.withdraw_mass(&now.active, c, share, way);
        step.gap = surrogate.gap(above);
        step.sigma = surrogate.line_search(way, 1.0);
        if step.sigma > 0.0 {
            local.step(&mut next.active, step.sigma);
            next.active.write(x_next);
        }
        Ok(step)
    }

    fn oracle_calls(&self) -> u64 {
        self.local.oracle_calls()
    }

    fn guarantee(&self, _state: &State, seen: &RunStatistics) -> Option<Guarantee> {
        if !self.proven {
            return None;
        }
        let Self {
            rho,
            scale,
            diameter,
            ..
        } = *self;
        match self.schedule {
            Schedule::Fixed { bound, horizon } => {
                Some(theory::lloo(bound, diameter, rho, scale, horizon))
            }
            Schedule::Rounds { bound } => Some(theory::lloo_anytime(bound, diameter, rho, scale)),
            Schedule::Gradients => None,
            Schedule::Strong { lambda } => {
                let gradient = seen.largest_gradient;
                Some(theory::lloo_strongly_convex(
                    gradient, lambda, diameter, rho,
                ))
            }
        }
    }
}
