//! OFW without constants.

use serde::{Deserialize, Serialize};

use super::{Assumption, Theorem};
use crate::rounding;

/// Regret ≤ (D²/2)Σμ_t + Σp_t + (F_T(x_{T+1}) − min F_T), as the run has them; for the rounds
/// played. See [`learner::ofw_free`](crate::learner::ofw_free).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct OfwFree {
    /// The sum.
    pub bound: f64,
    /// λ that the losses must have, 0 if none.
    pub lambda: f64,
    /// Whether the set is strongly convex.
    pub curved: bool,
}

impl Theorem for OfwFree {
    fn name(&self) -> &'static str {
        "OFW without constants, (D²/2)Σμ + Σp + h"
    }

    fn bound(&self, rounds: f64) -> f64 {
        self.bound * rounding::of_run(rounds)
    }

    fn exponent(&self) -> f64 {
        if self.curved { 2.0 / 3.0 } else { 0.75 }
    }

    fn assumptions(&self) -> Vec<Assumption> {
        let curved = Some(self.lambda).filter(|l| *l > 0.0);
        curved
            .map(Assumption::StronglyConvexLosses)
            .into_iter()
            .collect()
    }
}
