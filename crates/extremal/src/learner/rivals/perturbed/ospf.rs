//! OSPF: the perturbed leader in blocks, about one oracle call per round whatever the set.
//!
//! **Problem.** Convex losses, smooth ones for the better rate, that do not react to decisions.
//!
//! **Update.** Rounds are grouped in blocks of k. After each, the next decision is the mean of k
//! minimisers of ⟨S − v/δ, x⟩, S the sum of gradients and v drawn evenly from the unit ball; it
//! takes all its k oracle calls in the block's last round. k = (4βR/(G√d))^(2/3)·T^(1/3) for
//! β-smooth losses, but no more than √T, else T^(1/3), and the rounds played stand for T where it is
//! not given. δ = 2/(G√(dTk)), or, where T or G is not given, δ = 2/√(dΣ‖G_b‖²) with the sums G_b of
//! the blocks. R is the largest distance from the set's centre.
//!
//! **Guarantee.** In the mean over seeds, against losses that were fixed beforehand, regret ≤
//! (3/2)RG√(dTk) + kGD + min(βR²T/k, GRT/√k): T^(2/3) for smooth losses. One run proves nothing.
//!
//! **Reference.** Hazan & Minasyan, COLT 2020, whose δ lacks the k; the constants are proven at
//! [`theory::perturbed`](crate::theory::perturbed).
//!
//! ```
//! use extremal::{Gradient, LearnerSpec, SetSpec};
//! let set = "simplex:dim=3".parse::<SetSpec>()?.build(None)?;
//! let spec: LearnerSpec = "ospf:horizon=1000,gradient-bound=1,smoothness=1,seed=7".parse()?;
//! let mut learner = spec.build(&set)?;
//! for _ in 0..1000 {
//!     learner.decide()?;
//!     learner.observe(&Gradient::dense(&[0.0, 0.0, 1.0]))?;
//! }
//! assert!(learner.seen().oracle_calls <= 1000);
//! # Ok::<(), extremal::Error>(())
//! ```

use crate::Result;
use crate::learner::rivals::perturbed;
use crate::learner::rivals::perturbed::Constants;
use crate::learner::{Learner, MakeLearner, Storage};
use crate::parameter::fields;
use crate::set::SharedSet;
use crate::spec::{About, Described, Kind};

fields! {
    /// Spec of `ospf`.
    pub struct Ospf {
        /// the number of rounds T; without it, blocks grow and δ decreases
        pub horizon: Option<u64> = None => Kind::COUNT,
        /// a bound G on the gradients' ℓ2 norm; without it, δ follows the observed gradients
        pub gradient_bound: Option<f64> = None => Kind::GRADIENT,
        /// the losses' smoothness β, 0 for linear ones
        pub smoothness: Option<f64> = None => Kind::CURVATURE,
        /// factor on the theorem's δ, the inverse of the perturbation's size
        pub eta_scale: f64 = 1.0 => Kind::FACTOR,
        /// the seed of the perturbations
        pub seed: u64 = 0 => Kind::WHOLE,
        /// the first decision x₁, a point of the set; default: the set's centre
        pub start: Option<Vec<f64>> = None => Kind::POINT,
    }
}

impl Described for Ospf {
    const ABOUT: About = About {
        summary: "follow the perturbed leader in blocks, for smooth losses",
        cost: "1 oracle call per round on average (k calls after every k rounds) and O(d) per round and call",
        guarantee: "any set, oblivious losses, in expectation over seeds: (3/2)·R·G·√(dTk) + k·G·D + min(β·R²·T/k, G·R·T/√k)",
        reference: "Hazan & Minasyan, COLT 2020",
        citations: &["HazanMinasyan2020"],
        examples: &[
            "ospf",
            "ospf:horizon=1000,gradient-bound=1",
            "ospf:horizon=1000,gradient-bound=1,smoothness=1,seed=3",
        ],
    };
}

impl MakeLearner for Ospf {
    fn make(&self, set: &SharedSet, storage: Storage) -> Result<Box<dyn Learner>> {
        let constants = Constants {
            horizon: self.horizon,
            gradient: self.gradient_bound,
            smoothness: self.smoothness,
            scale: self.eta_scale,
            ..Constants::of(set)
        };
        let (seed, start) = (self.seed, self.start.as_deref());
        perturbed::make(self, Blocks, constants, seed, start, set, storage)
    }
}

struct Blocks;

impl perturbed::Kind for Blocks {
    fn block(&self, constants: &Constants, t: f64, largest: f64) -> (u64, u32) {
        let gradient = constants.gradient.unwrap_or(largest);
        let ratio = constants
            .smoothness
            .and_then(|beta| constants.ratio(beta, gradient))
            .unwrap_or(1.0);
        let rounds = constants.horizon.map_or(t, |t| t as f64).max(1.0);
        let length = (ratio.powf(2.0 / 3.0) * rounds.cbrt()).round();
        // Beyond √T what smoothness saves is less than what a longer block costs.
        let longest = rounds.sqrt().floor();
        let length = length.clamp(1.0, longest) as u32;
        (u64::from(length), length)
    }

    fn exponent(&self, constants: &Constants) -> f64 {
        match constants.smoothness {
            Some(0.0) => 0.5,
            Some(_) => 2.0 / 3.0,
            None => 5.0 / 6.0,
        }
    }
}
