//! LOO-BOGD: blocked online gradient descent near the set, with far fewer oracle calls than
//! rounds and a regret that is small on every stretch of rounds, not only on all of them.
//!
//! **Problem.** Convex losses over any set, whose oracle is what costs; or, with λ, λ-strongly
//! convex losses.
//!
//! **Update.** x is played for a block of K rounds, S = Σ g of the block. Then y = ỹ − ηS, and
//! [`Cip`] brings x ∈ K and y within √(3ε) of each other, y coming no farther from any point of
//! the set: the next x and ỹ. With T and G, η = (R/G)T^(−3/4), ε = 60R²/√T and K = ⌈5√T⌉, R the
//! radius of a ball around the set's centre that holds it. Without one of them,
//! η = √2·R/√(Σ‖S‖²); without T, the block that starts in round t has K = ⌈√t⌉, ε = 60R²/√t. With
//! λ, y = ỹ − (S + λK(ỹ − x))/(λt), K = ⌈√t⌉, ε = 130(4GR²/(λt))^(2/3), G the largest gradient so
//! far unless given.
//!
//! These constants are for long runs: before T ≈ 2000 any two points of the set count as near,
//! and x takes but the one step that every block ends with here. In practice `tolerance` = 0.05
//! (ε/R²), `block` = √T/2 and `eta-scale` = T^(1/4) have a regret several times smaller, still
//! with a few calls in a hundred rounds.
//!
//! **Guarantee.** With T and G, on every stretch of L rounds, whatever the keys,
//! regret ≤ 2R²/η + ηKG²L/2 + √(3ε)·GL + 2KGD, for the constants above ≤ 20GR(√T + T^(3/4)). Otherwise
//! what follows from the rounds played: 2√2·R·√(Σ‖S‖²) + Σ⟨S, x − ỹ⟩, and D‖S‖ for a block that
//! has not ended; with λ, Σ‖S + λK(ỹ − x)‖²/(2λt) + Σ(⟨S, x − ỹ⟩ − (λK/2)‖x − ỹ‖²) and the same.
//!
//! **Reference.** Garber & Kretzu, *New Projection-free Algorithms for Online Convex Optimization
//! with Adaptive Regret Guarantees*, COLT 2022. Theirs waits a block before it moves, and with λ
//! takes gradients at ỹ; here they are those of the losses' quadratic minorants there.
//!
//! ```
//! use extremal::{learner::LearnerSpec, pair::Gradient, set::SetSpec};
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

use serde::{Deserialize, Serialize};

use super::cip::{Cip, or_zero};
use super::method::{Revealed, Step, first_decision};
use super::staged::{Staged, staged};
use super::{Learner, MakeLearner, Seen, Storage, keys};
use crate::parameter::fields;
use crate::set::SharedSet;
use crate::spec::{Described, Entry, Kind};
use crate::theory::{self, Guarantee};
use crate::{Error, Result, kernel};

const NAME: &str = "loo-bogd";

fields! {
    /// Spec of `loo-bogd`.
    pub struct LooBogd {
        /// the number of rounds T; left out, blocks grow and ε falls
        pub horizon: Option<u64> = None => Kind::COUNT,
        /// a bound G of the gradients' ℓ2 norm; with T it fixes η, with λ it is for ε
        pub gradient_bound: Option<f64> = None => Kind::GRADIENT,
        /// the losses' strong convexity λ; left out, losses need only be convex
        pub lambda: Option<f64> = None => Kind::SIZE,
        /// ε/R²: the decision and the point that descends are √(3ε) apart at most; 0.05 is a
        /// practical value; 60/√T if left out, with λ 130(4G/(λtR))^(2/3)
        pub tolerance: Option<f64> = None => Kind::POSITIVE,
        /// for how many rounds K a decision is played; √T/2 is a practical value; 5√T if left out,
        /// without T or with λ √t
        pub block: Option<u64> = None => Kind::COUNT,
        /// factor on the theoretical step size
        pub eta_scale: f64 = 1.0 => Kind::FACTOR,
        /// the first decision x₁, a point of the set; its centre if left out
        pub start: Option<Vec<f64>> = None => Kind::POINT,
    }
}

impl Described for LooBogd {
    const ENTRY: Entry = Entry {
        name: NAME,
        summary: "gradient descent near the set, in blocks: far fewer oracle calls than rounds",
        parameters: Self::PARAMETERS,
        cost: "O(d) per round; per block of K rounds 1 oracle call or a few, ⌈27R²/ε − 2⌉ at most",
        guarantee: "any set, convex losses, on every stretch of L rounds: 2R²/η + ηKG²L/2 + √(3ε)·GL + 2KGD, by default ≤ 20GR(√T + T^(3/4)), with T and G; without, or for λ-strongly convex losses, what follows from the rounds played",
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
        let (lambda, scale) = (self.lambda, self.eta_scale);
        keys::need_oracle(NAME, &**set)?;
        let cip = Cip::new(&**set);
        let (radius, horizon) = (cip.radius(), self.horizon.map(|t| t as f64));
        let known = horizon.filter(|_| lambda.is_none());
        let pace = match (lambda, horizon, self.gradient_bound) {
            (Some(lambda), _, _) => Pace::StronglyConvex { lambda },
            (None, Some(t), Some(g)) => {
                let eta = scale * (radius / (g * t.powf(0.75)));
                Pace::Fixed { eta, gradient: g }
            }
            _ => Pace::Adaptive,
        };
        let x = first_decision(set, self.start.as_deref())?;
        let method = Descent {
            diameter: set.geometry().diameter,
            pace,
            scale,
            tolerance: self.tolerance.or(known.map(|t| 60.0 / t.sqrt())),
            block: self.block.or(known.map(|t| (5.0 * t.sqrt()).ceil() as u64)),
            gradient: self.gradient_bound,
            next: State::new(&x),
            now: State::new(&x),
            step: vec![0.0; x.len()],
            cip,
        };
        staged(self, method, set, self.start.as_deref(), storage)
    }
}

/// Where η comes from.
enum Pace {
    /// T and G are known.
    Fixed { eta: f64, gradient: f64 },
    /// √2·R/√(Σ‖S‖²).
    Adaptive,
    /// 1/(λt).
    StronglyConvex { lambda: f64 },
}

struct Descent {
    cip: Cip,
    pace: Pace,
    diameter: f64,
    scale: f64,
    /// ε/R² where it does not change.
    tolerance: Option<f64>,
    /// K where it does not change.
    block: Option<u64>,
    /// G where it is given.
    gradient: Option<f64>,
    now: State,
    next: State,
    /// S, with λ the quadratic part too.
    step: Vec<f64>,
}

#[derive(Clone, Serialize, Deserialize)]
struct State {
    /// ỹ.
    y: Vec<f64>,
    /// S so far.
    sum: Vec<f64>,
    /// Rounds of the block so far.
    filled: u64,
    /// Rounds of the block at its end.
    length: u64,
    /// √(Σ‖S‖²) over blocks.
    root: f64,
    /// Σ ‖S + λK(ỹ − x)‖²/(2λt).
    descent: f64,
    /// Σ ⟨S, x − ỹ⟩, with λ less (λK/2)‖x − ỹ‖².
    apart: f64,
    /// max ‖g‖.
    largest: f64,
}

impl State {
    fn new(x: &[f64]) -> Self {
        Self {
            y: x.to_vec(),
            sum: vec![0.0; x.len()],
            filled: 0,
            length: 0,
            root: 0.0,
            descent: 0.0,
            apart: 0.0,
            largest: 0.0,
        }
    }

    fn copy_from(&mut self, other: &Self) {
        self.y.copy_from_slice(&other.y);
        self.sum.copy_from_slice(&other.sum);
        self.filled = other.filled;
        self.length = other.length;
        self.root = other.root;
        self.descent = other.descent;
        self.apart = other.apart;
        self.largest = other.largest;
    }
}

impl Descent {
    /// ε/R² for a block that ends in round t.
    fn tolerance(&self, t: f64) -> f64 {
        self.tolerance.unwrap_or_else(|| match self.pace {
            Pace::StronglyConvex { lambda } => {
                let g = self.gradient.unwrap_or(self.next.largest);
                130.0 * (4.0 * (g / self.cip.radius() / (lambda * t))).powf(2.0 / 3.0)
            }
            _ => 60.0 / t.sqrt(),
        })
    }

    /// Ends a block in round t: the next x and ỹ. Returns η.
    fn end_block(&mut self, t: f64, x: &mut [f64]) -> Result<f64> {
        let next = &mut self.next;
        let apart = {
            let away = x.iter().zip(&next.y).map(|(x, y)| x - y);
            self.step.iter_mut().zip(away).for_each(|(s, a)| *s = a);
            kernel::norm(&self.step)
        };
        next.apart += kernel::dot(&next.sum, &self.step);
        let weight = match self.pace {
            Pace::StronglyConvex { lambda } => lambda * next.filled as f64,
            _ => 0.0,
        };
        next.apart -= 0.5 * (weight * apart) * apart;
        for (step, sum) in self.step.iter_mut().zip(&next.sum) {
            *step = sum - weight * *step;
        }
        let length = kernel::norm(&self.step);
        next.root = next.root.hypot(length);
        let radius = self.cip.radius();
        let eta = match self.pace {
            Pace::Fixed { eta, .. } => eta,
            Pace::Adaptive => self.scale * (std::f64::consts::SQRT_2 * radius / next.root),
            Pace::StronglyConvex { lambda } => {
                next.descent += 0.5 * length * (length / (lambda * t));
                self.scale / (lambda * t)
            }
        };
        let eta = or_zero(eta);
        kernel::axpy(-eta, &self.step, &mut next.y);
        let tolerance = self.tolerance(t);
        self.cip.bring(x, &mut self.next.y, tolerance, true)?;
        self.next.sum.fill(0.0);
        self.next.filled = 0;
        Ok(eta)
    }
}

impl Staged for Descent {
    type State = State;

    fn plan(&mut self, revealed: &Revealed<'_>, next: &mut [f64]) -> Result<Step> {
        let t = revealed.round as f64;
        self.next.copy_from(&self.now);
        let state = &mut self.next;
        if state.filled == 0 {
            state.length = self.block.unwrap_or(t.sqrt().ceil() as u64);
        }
        kernel::axpy(1.0, revealed.g, &mut state.sum);
        state.filled += 1;
        state.largest = state.largest.max(revealed.norm);
        let sigma = if state.filled >= state.length {
            self.end_block(t, next)?
        } else {
            0.0
        };
        Ok(Step {
            sigma,
            gap: f64::NAN,
        })
    }

    fn oracle_calls(&self) -> u64 {
        self.cip.oracle_calls()
    }

    fn commit(&mut self) {
        std::mem::swap(&mut self.now, &mut self.next);
    }

    fn state(&self) -> State {
        self.now.clone()
    }

    fn restore(&mut self, state: State) -> Result<()> {
        let dim = self.step.len();
        let sound = |v: &[f64]| v.len() == dim && kernel::find_not_finite(v).is_none();
        let numbers = [state.root, state.descent, state.largest];
        let fits = sound(&state.y)
            && sound(&state.sum)
            && numbers.iter().all(|v| *v >= 0.0 && v.is_finite())
            && state.apart.is_finite()
            && (state.filled == 0 || state.filled < state.length);
        if !fits {
            return Err(Error::State("its block of rounds is none".into()));
        }
        self.now = state;
        Ok(())
    }

    fn guarantee(&self, _seen: &Seen) -> Option<Guarantee> {
        let (radius, now) = (self.cip.radius(), &self.now);
        // A block that has not ended: ⟨S, x − u⟩ ≤ D‖S‖.
        let open = self.diameter * kernel::norm(&now.sum);
        match self.pace {
            Pace::Fixed { eta, gradient } => {
                let (tolerance, block) = (self.tolerance?, self.block? as f64);
                let diameter = self.diameter;
                Some(theory::loo_bogd(
                    eta, gradient, radius, diameter, tolerance, block,
                ))
            }
            Pace::Adaptive => {
                let apart = now.apart + open;
                Some(theory::loo_bogd_adaptive(
                    self.scale, radius, now.root, apart,
                ))
            }
            Pace::StronglyConvex { lambda } => {
                let sum = now.descent + now.apart + open;
                (self.scale == 1.0).then(|| theory::loo_ogd(sum, lambda))
            }
        }
    }
}
