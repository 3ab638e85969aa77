//! FPL: follow the perturbed leader. Every decision is the mean of several perturbed leaders.
//!
//! **Problem.** Linear or smooth losses over any set. The losses must not depend on the decisions.
//!
//! **Update.** x_{t+1} is the mean of m minimisers of ⟨S_t − v/δ, x⟩, where S_t is the sum of
//! gradients and each v is drawn uniformly from the unit ball. With T and G, δ = 2/(G√(dT));
//! otherwise δ_t = 2/√(dΣ‖g‖²). m = 1 is enough for linear losses. For β-smooth losses m =
//! 4βR√T/(G√d), where R is the largest distance of a point from the set's centre.
//!
//! **Guarantee.** For losses that are fixed in advance, the expected regret over seeds is at most
//! (3/2)RG√(dT) + GD + βR²T/m. No bound is proven for a single run.
//!
//! **Reference.** Kalai & Vempala, 2005; Hazan & Minasyan, COLT 2020.
//! [`theory::perturbed`](crate::theory::perturbed) has the proof with constants.
//!
//! ```
//! use extremal::{Gradient, LearnerSpec, SetSpec};
//! let set = "simplex:dim=3".parse::<SetSpec>()?.build(None)?;
//! let mut learner = "fpl:samples=10".parse::<LearnerSpec>()?.build(&set)?;
//! for _ in 0..1000 {
//!     learner.decide()?;
//!     learner.observe(&Gradient::dense(&[0.0, 0.0, -1.0]))?;
//! }
//! let mut x = [0.0; 3];
//! learner.decide()?.write(&mut x);
//! assert!(x[2] > 0.999);
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
    /// The spec of `fpl`.
    pub struct Fpl {
        /// the number of rounds T; without it, δ decreases
        pub horizon: Option<u64> = None => Kind::COUNT,
        /// a bound G on the gradients' ℓ2 norm; without it, δ depends on the observed gradients
        pub gradient_bound: Option<f64> = None => Kind::GRADIENT,
        /// the losses' smoothness β; default: 0, for linear losses
        pub smoothness: Option<f64> = None => Kind::CURVATURE,
        /// the number m of perturbed leaders in the mean; default: 4βR√T/(G√d) if T, G and β are
        /// given, otherwise 1
        pub samples: Option<u32> = None => Kind::COUNT,
        /// a factor that multiplies the theorem's δ; the perturbation's size is 1/δ
        pub eta_scale: f64 = 1.0 => Kind::FACTOR,
        /// the seed of the perturbations
        pub seed: u64 = 0 => Kind::WHOLE,
        /// the first decision x₁, a point of the set; default: the set's centre
        pub start: Option<Vec<f64>> = None => Kind::POINT,
    }
}

impl Described for Fpl {
    const ABOUT: About = About {
        summary: "follow the perturbed leader, averaged over several random perturbations per round",
        cost: "m oracle calls and O(md) per round",
        guarantee: "any set, oblivious losses, in expectation over seeds: (3/2)·R·G·√(dT) + G·D + β·R²·T/m, β = 0 for linear losses",
        reference: "Kalai & Vempala, 2005; Hazan & Minasyan, COLT 2020",
        citations: &["KalaiVempala2005", "HazanMinasyan2020"],
        examples: &[
            "fpl",
            "fpl:horizon=1000,gradient-bound=1,samples=5",
            "fpl:horizon=1000,gradient-bound=1,smoothness=0.1,seed=3",
        ],
    };
}

impl MakeLearner for Fpl {
    fn make(&self, set: &SharedSet, storage: Storage) -> Result<Box<dyn Learner>> {
        let constants = Constants {
            horizon: self.horizon,
            gradient: self.gradient_bound,
            smoothness: Some(self.smoothness.unwrap_or(0.0)),
            scale: self.eta_scale,
            seed: self.seed,
            ..Constants::of(set)
        };
        let (kind, start) = (EveryRound(self.samples), self.start.as_deref());
        perturbed::make(self, kind, constants, start, set, storage)
    }
}

/// The number m of samples, if it is given.
struct EveryRound(Option<u32>);

impl EveryRound {
    /// m = 4βR√T/(G√d), if these constants are known.
    fn wanted(&self, constants: &Constants) -> Option<u32> {
        let (t, g) = (constants.horizon? as f64, constants.gradient?);
        let ratio = constants.ratio(constants.smoothness?, g)?;
        let most = t.clamp(1.0, f64::from(u32::MAX));
        Some((ratio * t.sqrt()).ceil().clamp(1.0, most) as u32)
    }
}

impl perturbed::Kind for EveryRound {
    fn block(&self, constants: &Constants, _t: f64, _largest: f64) -> (u64, u32) {
        (1, self.0.or_else(|| self.wanted(constants)).unwrap_or(1))
    }

    fn exponent(&self, constants: &Constants) -> f64 {
        let enough = self.0.is_none() && self.wanted(constants).is_some();
        if constants.smoothness == Some(0.0) || enough {
            0.5
        } else {
            1.0
        }
    }
}
