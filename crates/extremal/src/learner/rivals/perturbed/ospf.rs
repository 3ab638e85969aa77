//! OSPF: follow the perturbed leader in blocks, with about one oracle call per round on any set.
//!
//! **Problem.** Convex losses that do not depend on the decisions. The rate is better for smooth
//! losses.
//!
//! **Update.** Rounds are grouped into blocks of k rounds. After each block, the next decision is
//! the mean of k minimisers of ⟨S − v/δ, x⟩, where S is the sum of gradients and each v is drawn
//! uniformly from the unit ball. All k oracle calls take place in the last round of a block. For
//! β-smooth losses k = (4βR/(G√d))^(2/3)·T^(1/3), but at most √T; otherwise k = T^(1/3). Here R is
//! the largest distance of a point from the set's centre. If T is not given, the number of rounds
//! played replaces it. With T and G, δ = 2/(G√(dTk)); otherwise δ = 2/√(dΣ‖G_b‖²), where G_b is the
//! sum of a block's gradients.
//!
//! **Guarantee.** For losses that are fixed in advance, the expected regret over seeds is at most
//! (3/2)RG√(dTk) + kGD + min(βR²T/k, GRT/√k). This is of order T^(2/3) for smooth losses. No bound
//! is proven for a single run.
//!
//! **Reference.** Hazan & Minasyan, COLT 2020. Their δ lacks the factor k.
//! [`theory::perturbed`](crate::theory::perturbed) has the proof with constants.
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
    /// The spec of `ospf`.
    pub struct Ospf {
        /// the number of rounds T; without it, blocks grow and δ decreases
        pub horizon: Option<u64> = None => Kind::COUNT,
        /// a bound G on the gradients' ℓ2 norm; without it, δ depends on the observed gradients
        pub gradient_bound: Option<f64> = None => Kind::GRADIENT,
        /// the losses' smoothness β, which is 0 for linear losses
        pub smoothness: Option<f64> = None => Kind::CURVATURE,
        /// a factor that multiplies the theorem's δ; the perturbation's size is 1/δ
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
        cost: "1 oracle call per round on average (k calls after every k rounds), and O(d) per round and per call",
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
            seed: self.seed,
            ..Constants::of(set)
        };
        let start = self.start.as_deref();
        perturbed::make(self, Blocks, constants, start, set, storage)
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
        // In blocks longer than √T, each further round costs more regret than smoothness saves.
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
