//! Parameters that several learners share, and errors about them.

use crate::parameter::fields;
use crate::set::{Answers, Set};
use crate::spec::Kind;
use crate::{Error, Result};

fields! {
    /// The constants of a learner with theoretical step sizes.
    pub struct Known {
        /// the number of rounds T; without it, the regulariser grows
        pub horizon: Option<u64> = None => Kind::COUNT,
        /// a bound G on the gradients' ℓ2 norm; without it, √(Σ‖g‖²) replaces G√t and T is not used
        pub gradient_bound: Option<f64> = None => Kind::GRADIENT,
        /// a factor that multiplies the theorem's step size
        pub eta_scale: f64 = 1.0 => Kind::FACTOR,
        /// whether an unknown T or G is estimated by doubling, with restarts at the current
        /// decision; must be false if T and G are given
        pub doubling: bool = false => Kind::Flag,
        /// the first decision x₁, a point of the set; default: the set's centre
        pub start: Option<Vec<f64>> = None => Kind::POINT,
    }
}

/// Returns the value of a parameter that must be given.
pub(crate) fn need<T>(
    owner: &'static str,
    name: &'static str,
    value: Option<T>,
    why: &'static str,
) -> Result<T> {
    value.ok_or(Error::Missing { owner, name, why })
}

/// Returns G, which must be given.
pub(crate) fn bound(owner: &'static str, bound: Option<f64>) -> Result<f64> {
    let why = "its step size depends on the gradients' norm";
    need(owner, "gradient-bound", bound, why)
}

/// The error for a learner that lacks the property `needs`. The message names learners that support the set.
pub(crate) fn cannot_play(learner: &'static str, set: &dyn Set, needs: &'static str) -> Error {
    let mut instead = Vec::new();
    if set.facts().oracle == Answers::Missing {
        instead.push("gauge-wrapper");
    } else {
        instead.extend(set.curvature().map(|_| "gauge-ftrl"));
        let faces = set.polytope().and_then(|p| p.facial_distance);
        instead.extend(faces.map(|_| "lloo"));
        instead.extend(["ofw-ls", "ofw-free", "loo-bogd"]);
    }
    instead.extend(set.projection().map(|_| "ogd"));
    instead.retain(|other| *other != learner);
    Error::CannotPlay {
        learner,
        set: set.name().into(),
        needs,
        instead,
    }
}

/// Returns an error unless the set has a linear oracle.
pub(crate) fn need_oracle(learner: &'static str, set: &dyn Set) -> Result<()> {
    match set.facts().oracle {
        Answers::Missing => Err(cannot_play(learner, set, "a linear oracle")),
        Answers::Checked | Answers::Trusted => Ok(()),
    }
}
