//! OFW with line search on strongly convex sets: Theorem 1 of Wan & Zhang.

use serde::{Deserialize, Serialize};

use super::{Assumption, Theorem};

/// C = max(4D², 4096/(3α²)) of Theorem 1.
pub fn ofw_ls_constant(diameter: f64, alpha: f64) -> f64 {
    (4.0 * diameter * diameter).max(4096.0 / (3.0 * alpha * alpha))
}

/// Regret ≤ (11/4)G√C(T+2)^(2/3): OFW with line search (Wan & Zhang, Theorem 1).
pub fn ofw_ls(gradient: f64, diameter: f64, alpha: f64, rounds: f64) -> f64 {
    11.0 / 4.0 * gradient * ofw_ls_constant(diameter, alpha).sqrt() * (rounds + 2.0).powf(2.0 / 3.0)
}

/// F_{t−1}(x_t) − min F_{t−1} ≤ C(t+2)^(−2/3): the lemma behind Theorem 1.
pub fn ofw_ls_lemma(diameter: f64, alpha: f64, t: f64) -> f64 {
    ofw_ls_constant(diameter, alpha) * (t + 2.0).powf(-2.0 / 3.0)
}

/// [`ofw_ls`] for T rounds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)] // the constants are those of the functions above
pub struct OfwLs {
    pub horizon: f64,
    pub gradient: f64,
    pub diameter: f64,
    pub alpha: f64,
}

impl Theorem for OfwLs {
    fn name(&self) -> &'static str {
        "Wan & Zhang, Theorem 1"
    }

    fn bound(&self, rounds: f64) -> f64 {
        ofw_ls(self.gradient, self.diameter, self.alpha, rounds)
    }

    fn exponent(&self) -> f64 {
        2.0 / 3.0
    }

    fn assumptions(&self) -> Vec<Assumption> {
        vec![
            Assumption::Gradient(self.gradient),
            Assumption::Horizon(self.horizon),
        ]
    }
}
