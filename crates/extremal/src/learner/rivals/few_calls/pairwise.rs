//! Pairwise Frank-Wolfe steps on the objective F_t of the regularised leader. The set is a polytope
//! {Ax = b, l ≤ x ≤ u} whose vertices have only the entries l and u, such as a simplex or a cube. A
//! step makes two oracle calls, and no vertices are stored.
//!
//! **Problem.** Convex losses. If λ is given, the losses are λ-strongly convex.
//!
//! **Update.** F_t(x) = ⟨S_t, x⟩ + ‖x − x₁‖²/(2η_t) with the η_t of dual averaging: D/(G√T),
//! D/(G√t) or D/√(Σ‖g‖²). With λ, F_t(x) = Σ(⟨g_τ, x⟩ + (λ/2)‖x − x_τ‖²). v⁺ is the oracle's vertex
//! for ∇F_t(x). v⁻ has the largest ⟨∇F_t(x), v⟩ of all vertices that agree with x in the entries
//! where x is l or u. x moves in the direction v⁺ − v⁻ as far as F_t decreases and the bounds
//! allow.
//!
//! **Guarantee.** No bound is known. For a fixed F, the steps converge linearly.
//!
//! **Reference.** Garber & Meshi, NeurIPS 2016. Here the step also handles upper bounds.
//!
//! ```
//! use extremal::{Gradient, LearnerSpec, SetSpec};
//! let set = "capped-simplex:dim=4,total=2".parse::<SetSpec>()?.build(None)?;
//! let mut learner = "pairwise".parse::<LearnerSpec>()?.build(&set)?;
//! learner.decide()?;
//! let record = learner.observe(&Gradient::dense(&[1.0, 0.0, -1.0, 0.5]))?;
//! assert_eq!(record.oracle_calls, 2);
//! let mut x = [0.0; 4];
//! learner.decide()?.write(&mut x);
//! assert_eq!(x, [0.0, 1.0, 1.0, 0.0]);
//! # Ok::<(), extremal::Error>(())
//! ```

use serde::{Deserialize, Serialize};

use crate::learner::rivals::few_calls::vector_surrogate::Surrogate;
use crate::learner::skeleton::method::{Method, Round, Step, acting, first_decision};
use crate::learner::skeleton::parameters;
use crate::learner::skeleton::schedule::Schedule;
use crate::learner::{Learner, MakeLearner, Storage};
use crate::parameter::fields;
use crate::set::{Atom, CheckedOracle, Oracle, SharedSet};
use crate::spec::{About, Described, Kind};
use crate::{Error, Result};

const NAME: &str = "pairwise";

fields! {
    /// The spec of `pairwise`.
    pub struct Pairwise {
        /// the number of rounds T; without T or G, the step size decreases
        pub horizon: Option<u64> = None => Kind::COUNT,
        /// a bound G on the gradients' ℓ2 norm; without it, √(Σ‖g‖²) replaces G√t
        pub gradient_bound: Option<f64> = None => Kind::GRADIENT,
        /// the losses' strong convexity λ, which replaces T and G; default: 0
        pub lambda: Option<f64> = None => Kind::SIZE,
        /// the number of steps per round
        pub steps: u32 = 1 => Kind::Whole { low: 1, high: 1000 },
        /// a factor that multiplies dual averaging's step size; not allowed with λ
        pub eta_scale: f64 = 1.0 => Kind::FACTOR,
        /// the first decision x₁, a point of the set; default: the set's centre
        pub start: Option<Vec<f64>> = None => Kind::POINT,
    }
}

impl Described for Pairwise {
    const ABOUT: About = About {
        summary: "pairwise Frank-Wolfe steps towards the regularised leader, on polytopes whose vertices are at the bounds",
        cost: "2 oracle calls and O(d) per step",
        guarantee: "no bound is known",
        reference: "Garber & Meshi, NeurIPS 2016",
        citations: &["GarberMeshi2016"],
        examples: &["pairwise", "pairwise:lambda=0.1,steps=3"],
    };
}

impl MakeLearner for Pairwise {
    fn make(&self, set: &SharedSet, storage: Storage) -> Result<Box<dyn Learner>> {
        let Some((lower, upper)) = set.polytope().and_then(|p| p.corners) else {
            return Err(parameters::cannot_play(
                NAME,
                &**set,
                "a polytope given by equations and bounds on the entries, with its vertices at the bounds (simplex, capped-simplex with a whole total, hypercube, box with equal bounds for all entries)",
            ));
        };
        parameters::need_oracle(NAME, &**set)?;
        if self.lambda.is_some() && self.eta_scale != 1.0 {
            return Err(Error::Unsupported(
                "pairwise with lambda has no step size: leave out eta-scale".into(),
            ));
        }
        let schedule = Schedule::of(self.lambda, self.horizon, self.gradient_bound);
        let first = first_decision(set, self.start.as_deref())?;
        let diameter = set.geometry().diameter;
        let zeros = vec![0.0; set.dim()];
        let method = Pairs {
            schedule,
            scale: self.eta_scale,
            steps: self.steps,
            lower,
            upper,
            diameter,
            oracle: CheckedOracle::of(&**set),
            to: Atom::new(),
            from: Atom::new(),
            away: zeros.clone(),
            way: zeros,
            surrogate: Surrogate::new(first.clone(), self.lambda.unwrap_or(0.0), diameter),
        };
        acting(self, method, set, Some(&first), storage)
    }
}

struct Pairs {
    schedule: Schedule,
    scale: f64,
    steps: u32,
    lower: f64,
    upper: f64,
    diameter: f64,
    oracle: CheckedOracle,
    /// v⁺ and v⁻.
    to: Atom,
    from: Atom,
    /// The direction that the oracle minimises to find v⁻.
    away: Vec<f64>,
    /// v⁺ − v⁻.
    way: Vec<f64>,
    surrogate: Surrogate,
}

#[derive(Clone, Serialize, Deserialize)]
struct State {
    /// S_t.
    sum: Vec<f64>,
    /// √(Σ‖g‖²).
    root: f64,
}

impl Pairs {
    /// Makes one step from x, where ∇F_t(x) is already computed. Returns the gap before the step,
    /// and the step size.
    fn step(&mut self, x: &mut [f64]) -> Result<(f64, f64)> {
        let Self {
            lower,
            upper,
            surrogate,
            ..
        } = self;
        let direction = surrogate.direction();
        let found = self.oracle.minimise(direction, &mut self.to)?;
        let above = surrogate.above(x, found.value);
        self.oracle.check_gap(above + found.slack(), direction)?;
        let gap = surrogate.gap(above);
        // Entries at a bound must not change. The other entries are at most 1 each, and can't
        // outweigh `never`.
        let never = 2.0 * x.len() as f64 + 2.0;
        for ((away, d), x) in self.away.iter_mut().zip(direction).zip(&*x) {
            *away = if *x <= *lower {
                never
            } else if *x >= *upper {
                -never
            } else {
                -d
            };
        }
        self.oracle.minimise(&self.away, &mut self.from)?;
        self.to.write(&mut self.way);
        self.from.add_to(-1.0, &mut self.way);
        // the largest step that the bounds allow
        let mut most = 1.0_f64;
        for (way, x) in self.way.iter().zip(&*x) {
            if *way < 0.0 {
                most = most.min((x - *lower) / -way);
            } else if *way > 0.0 {
                most = most.min((*upper - x) / way);
            }
        }
        let sigma = surrogate.line_search(&self.way, most.max(0.0));
        if sigma > 0.0 {
            for (way, x) in self.way.iter().zip(x) {
                if *way == 0.0 {
                    continue;
                }
                // the entry that limits the step ends exactly at its bound
                let room = if *way < 0.0 { *lower - *x } else { *upper - *x };
                let stops = sigma >= room / way;
                let moved = (*x + sigma * way).clamp(*lower, *upper);
                *x = match (stops, *way < 0.0) {
                    (true, true) => *lower,
                    (true, false) => *upper,
                    _ => moved,
                };
            }
        }
        Ok((gap, sigma))
    }
}

impl Method for Pairs {
    type State = State;

    fn start(&self, x: &[f64]) -> State {
        State {
            sum: vec![0.0; x.len()],
            root: 0.0,
        }
    }

    fn fits(state: &State, x: &[f64]) -> bool {
        state.sum.len() == x.len()
    }

    fn round(&mut self, round: Round<'_, State>) -> Result<Step> {
        let (now, next, x, x_next) = (round.now, round.next, round.x, round.x_next);
        let (t, g, norm) = (round.t, round.g, round.norm);
        next.root = now.root.hypot(norm);
        // D/η_t, or λtD if λ is given
        let scale = self.schedule.scale(t, next.root);
        let stiffness = match self.schedule {
            Schedule::Strong { .. } => scale * self.diameter,
            _ => scale / self.scale,
        };
        let mut steep = (self.surrogate).absorb(&now.sum, &mut next.sum, g, x, stiffness);
        let mut played = Step {
            sigma: 0.0,
            gap: 0.0,
        };
        if !(self.diameter > 0.0) {
            return Ok(played);
        }
        for step in 0..self.steps {
            if step > 0 {
                steep = self.surrogate.turn(&next.sum, x_next);
            }
            if !steep {
                break;
            }
            let (gap, sigma) = self.step(x_next)?;
            if step == 0 {
                played.gap = gap;
            }
            played.sigma = played.sigma.max(sigma);
            if sigma == 0.0 {
                break;
            }
        }
        Ok(played)
    }

    fn oracle_calls(&self) -> u64 {
        self.oracle.calls()
    }
}
