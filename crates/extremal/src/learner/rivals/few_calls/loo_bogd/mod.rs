//! LOO-BOGD: blocked online gradient descent near the set. It needs far fewer oracle calls than
//! rounds, and its regret is small on every interval of rounds.
//!
//! **Problem.** Convex losses over any set, if oracle calls are expensive. If λ is given, the
//! losses are λ-strongly convex.
//!
//! **Update.** The learner stores a decision x and a point ỹ near x. It plays x for a block of K
//! rounds, whose gradients have the sum S. Then y = ỹ − ηS. A search then moves x and y until
//! ‖x − y‖ ≤ √(3ε). It keeps x in the set, and does not increase the distance from y to any point
//! of the set. The results are the next x and ỹ. Let R be the radius of a ball around the set's
//! centre that contains the set. With T and G, η = (R/G)T^(−3/4), ε = 60R²/√T and K = ⌈5√T⌉. If T
//! or G is unknown, η = √2·R/√(Σ‖S‖²). If T is unknown, the block that starts in round t has K =
//! ⌈√t⌉ and ε = 60R²/√t. With λ, y = ỹ − (S + λK(ỹ − x))/(λt), K = ⌈√t⌉ and ε =
//! 130(4GR²/(λt))^(2/3). The largest gradient so far replaces an unknown G.
//!
//! These constants suit long runs only. Below T ≈ 2000, the distance √(3ε) exceeds the diameter,
//! and every block ends after a single step of x. In practice `tolerance` = ε/R² = 0.05, `block` =
//! √T/2 and `eta-scale` = T^(1/4) give a regret that is several times smaller. The learner then
//! still makes only a few calls per hundred rounds.
//!
//! **Guarantee.** With T and G, on every interval of L rounds and for all values of the parameters:
//! regret ≤ 2R²/η + ηKG²L/2 + √(3ε)·GL + 2KGD. For the constants above this is at most
//! 20GR(√T + T^(3/4)). If T or G is unknown, the bound is computed from the rounds played:
//! 2√2·R·√(Σ‖S‖²) + Σ⟨S, x − ỹ⟩, plus D‖S‖ for a block that has not ended. With λ it is
//! Σ‖S + λK(ỹ − x)‖²/(2λt) + Σ(⟨S, x − ỹ⟩ − (λK/2)‖x − ỹ‖²), plus D‖S‖ for such a block.
//!
//! **Reference.** Garber & Kretzu, *New Projection-free Algorithms for Online Convex Optimization
//! with Adaptive Regret Guarantees*, COLT 2022. Their learner has a delay of one block, and with λ
//! it uses gradients at ỹ. This learner instead uses the gradients at ỹ of the losses' quadratic
//! lower bounds.
//!
//! ```
//! use extremal::{Gradient, LearnerSpec, SetSpec};
//! let set = "simplex:dim=10".parse::<SetSpec>()?.build(None)?;
//! let spec = "loo-bogd:horizon=1000,gradient-bound=1,block=16,tolerance=0.05,eta-scale=5";
//! let mut learner = spec.parse::<LearnerSpec>()?.build(&set)?;
//! for t in 0..1000 {
//!     let mut g = [0.1; 10];
//!     g[t % 7] = -0.5;
//!     learner.decide()?;
//!     learner.observe(&Gradient::dense(&g))?;
//! }
//! assert!(learner.seen().oracle_calls < 100);
//! # Ok::<(), extremal::Error>(())
//! ```

mod near_projection;

use serde::{Deserialize, Serialize};

use crate::learner::rivals::few_calls::loo_bogd::near_projection::NearProjection;
use crate::learner::skeleton::method::{Method, Round, Step, acting};
use crate::learner::skeleton::parameters;
use crate::learner::skeleton::schedule::Schedule;
use crate::learner::{Learner, MakeLearner, RunStatistics, Storage};
use crate::parameter::fields;
use crate::set::SharedSet;
use crate::spec::{About, Described, Kind};
use crate::theory::{self, Guarantee};
use crate::{Result, kernel};

const NAME: &str = "loo-bogd";

fields! {
    /// The spec of `loo-bogd`.
    pub struct LooBogd {
        /// the number of rounds T; without it, blocks grow and ε decreases
        pub horizon: Option<u64> = None => Kind::COUNT,
        /// a bound G on the gradients' ℓ2 norm; with T, η depends on G; with λ, ε depends on G
        pub gradient_bound: Option<f64> = None => Kind::GRADIENT,
        /// the losses' strong convexity λ; default: 0
        pub lambda: Option<f64> = None => Kind::SIZE,
        /// ε/R², where √(3ε) is the largest distance of the decision from ỹ; 0.05 works well in
        /// practice; default: 60/√T, or 130(4G/(λtR))^(2/3) with λ
        pub tolerance: Option<f64> = None => Kind::POSITIVE,
        /// the block length K, the number of rounds with the same decision; √T/2 works well in
        /// practice; default: 5√T, or √t without T or with λ
        pub block: Option<u64> = None => Kind::COUNT,
        /// a factor that multiplies the theorem's step size
        pub eta_scale: f64 = 1.0 => Kind::FACTOR,
        /// the first decision x₁, a point of the set; default: the set's centre
        pub start: Option<Vec<f64>> = None => Kind::POINT,
    }
}

impl Described for LooBogd {
    const ABOUT: About = About {
        summary: "gradient descent in blocks with approximate projections: far fewer oracle calls than rounds",
        cost: "O(d) per round; a few oracle calls per block of K rounds, at most ⌈27R²/ε − 2⌉",
        guarantee: "any set, convex losses; with T and G: 2R²/η + ηKG²L/2 + √(3ε)·GL + 2KGD on every interval of L rounds, by default at most 20GR(√T + T^(3/4)); without T or G, or with λ: a bound computed from the rounds played",
        reference: "Garber & Kretzu, COLT 2022",
        citations: &["GarberKretzu2022"],
        examples: &[
            "loo-bogd",
            "loo-bogd:horizon=100,gradient-bound=1",
            "loo-bogd:horizon=1000,gradient-bound=1,block=16,tolerance=0.05,eta-scale=5",
            "loo-bogd:lambda=0.1",
        ],
    };
}

impl MakeLearner for LooBogd {
    fn make(&self, set: &SharedSet, storage: Storage) -> Result<Box<dyn Learner>> {
        parameters::need_oracle(NAME, &**set)?;
        let near = NearProjection::new(&**set);
        let schedule = Schedule::of(self.lambda, self.horizon, self.gradient_bound).or_gradients();
        let factor = match schedule {
            Schedule::Fixed { horizon, .. } => near.radius() / horizon.powf(0.25),
            Schedule::Strong { .. } => 1.0,
            _ => std::f64::consts::SQRT_2 * near.radius(),
        };
        let horizon = self.horizon.map(|t| t as f64);
        let known = horizon.filter(|_| self.lambda.is_none());
        let method = Descent {
            diameter: set.geometry().diameter,
            schedule,
            factor: self.eta_scale * factor,
            scale: self.eta_scale,
            tolerance: self.tolerance.or(known.map(|t| 60.0 / t.sqrt())),
            block: self.block.or(known.map(|t| (5.0 * t.sqrt()).ceil() as u64)),
            gradient: self.gradient_bound,
            step: vec![0.0; set.dim()],
            near,
        };
        acting(self, method, set, self.start.as_deref(), storage)
    }
}

struct Descent {
    near: NearProjection,
    schedule: Schedule,
    diameter: f64,
    /// η times the divisor of the schedule.
    factor: f64,
    /// The factor `eta-scale` on η.
    scale: f64,
    /// ε/R², if it is constant.
    tolerance: Option<f64>,
    /// K, if it is constant.
    block: Option<u64>,
    /// G, if it is given.
    gradient: Option<f64>,
    /// S, plus the quadratic part if λ is given.
    step: Vec<f64>,
}

#[derive(Clone, Serialize, Deserialize)]
struct State {
    /// The point ỹ.
    y: Vec<f64>,
    /// The sum S so far.
    sum: Vec<f64>,
    played: Played,
}

#[derive(Clone, Copy, Default, Serialize, Deserialize)]
struct Played {
    /// The number of rounds of the block so far.
    filled: u64,
    /// The number of rounds of the whole block.
    length: u64,
    /// √(Σ‖S‖²) over blocks.
    root: f64,
    /// Σ ‖S + λK(ỹ − x)‖²/(2λt).
    descent: f64,
    /// Σ ⟨S, x − ỹ⟩, minus Σ (λK/2)‖x − ỹ‖² if λ is given.
    apart: f64,
    /// max ‖g‖.
    largest: f64,
}

impl Descent {
    /// ε/R² for a block that ends in round t.
    fn tolerance(&self, t: f64, largest: f64) -> f64 {
        self.tolerance.unwrap_or_else(|| match self.schedule {
            Schedule::Strong { lambda } => {
                let g = self.gradient.unwrap_or(largest);
                130.0 * (4.0 * (g / self.near.radius() / (lambda * t))).powf(2.0 / 3.0)
            }
            _ => 60.0 / t.sqrt(),
        })
    }

    /// Ends a block in round t: computes the next x and ỹ. Returns η.
    fn end_block(&mut self, t: f64, next: &mut State, x: &mut [f64]) -> Result<f64> {
        for ((step, x), y) in self.step.iter_mut().zip(&*x).zip(&next.y) {
            *step = x - y;
        }
        let apart = kernel::norm(&self.step);
        let played = &mut next.played;
        let weight = match self.schedule {
            Schedule::Strong { lambda } => lambda * played.filled as f64,
            _ => 0.0,
        };
        played.apart += kernel::dot(&next.sum, &self.step) - 0.5 * (weight * apart) * apart;
        for (step, sum) in self.step.iter_mut().zip(&next.sum) {
            *step = sum - weight * *step;
        }
        let length = kernel::norm(&self.step);
        played.root = played.root.hypot(length);
        if let Schedule::Strong { lambda } = self.schedule {
            played.descent += 0.5 * length * (length / (lambda * t));
        }
        let eta = self.schedule.eta(self.factor, t, played.root);
        let tolerance = self.tolerance(t, played.largest);
        kernel::axpy(-eta, &self.step, &mut next.y);
        self.near.approach(x, &mut next.y, tolerance)?;
        next.sum.fill(0.0);
        next.played.filled = 0;
        Ok(eta)
    }
}

impl Method for Descent {
    type State = State;

    fn start(&self, x: &[f64]) -> State {
        State {
            y: x.to_vec(),
            sum: vec![0.0; x.len()],
            played: Played::default(),
        }
    }

    fn fits(state: &State, x: &[f64]) -> bool {
        [&state.y, &state.sum].iter().all(|v| v.len() == x.len())
    }

    fn round(&mut self, round: Round<'_, State>) -> Result<Step> {
        let (now, next, x_next) = (round.now, round.next, round.x_next);
        let (t, g, norm) = (round.t, round.g, round.norm);
        next.y.copy_from_slice(&now.y);
        for ((next, sum), g) in next.sum.iter_mut().zip(&now.sum).zip(g) {
            *next = sum + g;
        }
        next.played = now.played;
        let played = &mut next.played;
        if played.filled == 0 {
            played.length = self.block.unwrap_or(t.sqrt().ceil() as u64);
        }
        played.filled += 1;
        played.largest = played.largest.max(norm);
        if played.filled < played.length {
            return Ok(Step::of(0.0));
        }
        Ok(Step::of(self.end_block(t, next, x_next)?))
    }

    fn oracle_calls(&self) -> u64 {
        self.near.oracle_calls()
    }

    fn guarantee(&self, state: &State, _seen: &RunStatistics) -> Option<Guarantee> {
        let (radius, now) = (self.near.radius(), &state.played);
        // For a block that has not ended, ⟨S, x − u⟩ ≤ D‖S‖.
        let open = self.diameter * kernel::norm(&state.sum);
        match self.schedule {
            Schedule::Fixed { bound, .. } => {
                let (tolerance, block) = (self.tolerance?, self.block? as f64);
                let (eta, diameter) = (self.schedule.eta(self.factor, 1.0, 0.0), self.diameter);
                Some(theory::loo_bogd(
                    eta, bound, radius, diameter, tolerance, block,
                ))
            }
            Schedule::Rounds { .. } | Schedule::Gradients => {
                let apart = now.apart + open;
                Some(theory::loo_bogd_adaptive(
                    self.scale, radius, now.root, apart,
                ))
            }
            Schedule::Strong { lambda } => {
                let sum = now.descent + now.apart + open;
                (self.scale == 1.0).then(|| theory::loo_ogd(sum, lambda))
            }
        }
    }
}
