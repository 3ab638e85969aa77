//! Hedge: a weighted mean of several learners, with weights that depend on their past losses.
//!
//! **Problem.** Convex losses, if it is unknown which learner or which step size is best.
//!
//! **Update.** Base learners play x_1, …, x_N. The decision is x = Σ w_i x_i, which lies in the set
//! because the set is convex. Let k·a + ρx be the gradient at x, where ρ belongs to a ridge term.
//! The loss of base i is φ_t(x_i) = ⟨k·a, x_i⟩ + (ρ/2)‖x_i‖², and the base receives the gradient of
//! φ_t at its own decision. A base can thus still use the curvature of the ridge term. The weights
//! are those of AdaHedge: w_i ∝ exp(−η Σφ_t(x_i)) with η = ln(N)/Δ and Δ = Σ δ_t, where δ_t is the
//! mixability gap Σ w_i φ_t(x_i) + (1/η) ln Σ w_i exp(−ηφ_t(x_i)). The weights need neither a
//! horizon nor a scale.
//!
//! **Guarantee.** Regret ≤ the bound of any base + 2Δ. Proof: by convexity, f_t(x) − f_t(u) ≤
//! φ_t(x) − φ_t(u) ≤ Σ w_i φ_t(x_i) − φ_t(u). The terms Σ w_i φ_t(x_i) add up to the mix losses
//! plus Δ. Since η decreases, the mix losses add up to at most Σφ_t(x_i) + ln(N)/η for every i, and
//! ln(N)/η ≤ Δ. Let r_t be the range of the φ_t(x_i). Since δ_t ≤ min(r_t, ηr_t²/8), Δ² grows by at
//! most (ln(N)/4 + 1)r_t² per round. Hence 2Δ ≤ √((4 + ln N)Σr_t²), and r_t ≤ GD. The λ of a base
//! must come from the ridge term, not from the loss itself.
//!
//! **Reference.** Freund & Schapire, 1997; AdaHedge: de Rooij, van Erven, Grünwald & Koolen, JMLR
//! 2014. For grids of step sizes: van Erven & Koolen, NeurIPS 2016.
//!
//! ```
//! use extremal::{Gradient, LearnerSpec, SetSpec};
//! let set = "simplex:dim=3".parse::<SetSpec>()?.build(None)?;
//! let spec: LearnerSpec = "hedge:base=(ofw-free),grid=[1,8,64]".parse()?;
//! let mut learner = spec.build(&set)?;
//! for _ in 0..100 {
//!     learner.decide()?;
//!     let record = learner.observe(&Gradient::dense(&[0.1, 0.0, 0.2]))?;
//!     assert_eq!(record.oracle_calls, 3);
//! }
//! let mut x = [0.0; 3];
//! learner.decision().write(&mut x);
//! assert!(x[1] > 0.99);
//! # Ok::<(), extremal::Error>(())
//! ```

mod mixture;
mod weights;

pub use mixture::over;

use crate::learner::skeleton::settings;
use crate::learner::{Learner, LearnerSpec, MakeLearner, Storage, Uses, not_stored};
use crate::parameter::fields;
use crate::set::SharedSet;
use crate::spec::{About, Described, Kind};
use crate::theory::{self, Assumption, Guarantee, LossFacts};
use crate::{Error, Result};

const NAME: &str = "hedge";

fields! {
    /// The spec of `hedge`.
    pub struct Hedge {
        /// a base learner, played once for each value of the grid
        pub base: Option<Box<LearnerSpec>> = None => Kind::Spec("learner"),
        /// the key of the base that the grid sets; default: eta-scale
        pub key: Option<String> = None => Kind::Text,
        /// the values of that key; default: one base with the value in its spec
        pub grid: Option<Vec<f64>> = None => Kind::POINT,
        /// further base learners, each played once
        pub bases: Option<Vec<LearnerSpec>> = None => Kind::List(&Kind::Spec("learner")),
    }
}

impl Described for Hedge {
    const ABOUT: About = About {
        summary: "a weighted mean of several learners, with AdaHedge weights from their past losses",
        cost: "the cost of the N bases (1 oracle call each for Frank-Wolfe bases) and O(Nd) per round",
        guarantee: "the bound of any base + 2Δ; Δ is computed in every round, 2Δ ≤ √((4 + ln N)Σr²), r ≤ GD",
        reference: "de Rooij, van Erven, Grünwald & Koolen, JMLR 2014",
        citations: &["DeRooijEtAl2014", "FreundSchapire1997"],
        examples: &[
            "hedge:base=(ofw-free:growth=steady),grid=[1,8],bases=[(ofw-free)]",
            "hedge:base=(ofw-ls:horizon=1000,gradient-bound=1),grid=[1,16]",
        ],
    };
}

impl Hedge {
    /// The specs of all bases.
    fn members(&self) -> Result<Vec<LearnerSpec>> {
        let mut all = Vec::new();
        match (&self.base, &self.grid) {
            (Some(base), None) if self.key.is_none() => all.push((**base).clone()),
            (Some(base), Some(grid)) => {
                let key = self.key.as_deref().unwrap_or("eta-scale");
                for value in grid {
                    all.push(base.with(key, value)?);
                }
            }
            (None, None) if self.key.is_none() => {}
            _ => {
                return Err(Error::Missing {
                    owner: NAME,
                    name: "base and grid",
                    why: "`key` and `grid` apply to `base`, and `key` needs the values in `grid`",
                });
            }
        }
        all.extend(self.bases.iter().flatten().cloned());
        if all.is_empty() {
            return Err(no_base());
        }
        Ok(all)
    }
}

impl MakeLearner for Hedge {
    fn make(&self, set: &SharedSet, storage: Storage) -> Result<Box<dyn Learner>> {
        if storage != Storage::Dense {
            return Err(not_stored(NAME, set, storage));
        }
        let members = self.members()?;
        let bases = members
            .iter()
            .map(|base| base.build_for_gradients(set, storage));
        over(settings(self, storage), set, bases.collect::<Result<_>>()?)
    }

    fn uses(&self) -> Uses {
        let bases = self.members().unwrap_or_default();
        bases.first().map_or(Uses::Oracle, LearnerSpec::uses)
    }
}

fn no_base() -> Error {
    Error::Missing {
        owner: NAME,
        name: "base",
        why: "give at least one base learner, e.g. hedge:base=(ofw-free),grid=[1,8]",
    }
}

/// The guarantee of the mixture that follows from a base's theorem. Its bound is the base's
/// bound + 2Δ. It has the assumptions that the base can't check by itself. The result is `None` if
/// the theorem assumes more about the losses than the ridge term.
fn guarantee(learner: &dyn Learner, regret: f64, ridge: f64) -> Option<Guarantee> {
    let own = learner.guarantee()?;
    let mut kept = Vec::new();
    for check in own.check(learner.seen(), &LossFacts::strongly_convex(f64::INFINITY)) {
        match check.assumption {
            // the mixture is feasible if its bases are
            Assumption::Feasible(_) => {}
            Assumption::Gradient(_) | Assumption::Entries { .. } if check.holds => {}
            Assumption::Gradient(_) | Assumption::Horizon(_) => kept.push(check.assumption),
            Assumption::StronglyConvexLosses(l) if l <= ridge * (1.0 + 1e-12) => {
                kept.push(check.assumption);
            }
            // All other assumptions may fail: the mixture reacts to the random draws of its bases,
            // and only the ridge term is known about the losses that the bases receive.
            _ => return None,
        }
    }
    let base = own.bound(learner.rounds() as f64);
    Some(theory::hedge(base, own.exponent(), regret).assuming(kept))
}
