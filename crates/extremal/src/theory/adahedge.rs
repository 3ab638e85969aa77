//! A mixture of learners by AdaHedge.

use serde::{Deserialize, Serialize};

use super::{Assumption, Theorem};

/// Regret against the best of N ≤ √((4 + ln N)Σr_t²), r_t the range of the N losses in round t:
/// AdaHedge (de Rooij et al. 2014), with the constants proved in
/// [`learner::hedge`](crate::learner::hedge). `ranges` is √(Σr_t²), at most GD√T where the N are
/// learners on one set.
///
/// ```
/// assert_eq!(extremal::theory::adahedge(1.0, 10.0), 20.0);
/// ```
pub fn adahedge(n: f64, ranges: f64) -> f64 {
    (4.0 + n.ln()).sqrt() * ranges
}

/// The bound of one base and 2Δ, as the run has them; for the rounds played.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct AdaHedge {
    /// The sum of both.
    pub bound: f64,
    /// The base's exponent, 1/2 at least.
    pub exponent: f64,
    /// λ that the base's theorem asks of the losses' ridge term, 0 if none.
    pub lambda: f64,
    /// G that the base's theorem asked for and its gradients exceeded.
    pub gradient: Option<f64>,
    /// T that the base's theorem asks for.
    pub horizon: Option<f64>,
}

impl Theorem for AdaHedge {
    fn name(&self) -> &'static str {
        "Hedge, a base's bound + 2Δ"
    }

    fn bound(&self, _rounds: f64) -> f64 {
        self.bound
    }

    fn exponent(&self) -> f64 {
        self.exponent
    }

    fn assumptions(&self) -> Vec<Assumption> {
        let curved = Some(self.lambda).filter(|l| *l > 0.0);
        let gradient = self.gradient.map(Assumption::Gradient).into_iter();
        let horizon = self.horizon.map(Assumption::Horizon);
        let curved = curved.map(Assumption::StronglyConvexLosses);
        gradient.chain(horizon).chain(curved).collect()
    }
}
