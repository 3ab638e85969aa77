//! Follow the leader.

use serde::{Deserialize, Serialize};

use super::{Assumption, Theorem};

/// Regret ≤ 8G²(1 + ln T)/(αL): linear losses over an α-strongly convex set, ‖S_t‖ ≥ L·t in every
/// round (Huang et al. 2017 with the constants of Kerdreux et al. 2021).
pub fn ftl(gradient: f64, alpha: f64, slowest: f64, rounds: f64) -> f64 {
    8.0 * gradient * (gradient / (alpha * slowest)) * (1.0 + rounds.max(1.0).ln())
}

/// Regret ≤ 2(G + λD)²(1 + ln T)/λ: λ-strongly convex losses.
pub fn ftl_strongly_convex(gradient: f64, lambda: f64, diameter: f64, rounds: f64) -> f64 {
    let slope = gradient + lambda * diameter;
    2.0 * slope * (slope / lambda) * (1.0 + rounds.max(1.0).ln())
}

/// [`ftl`], for the rounds played, whose L and G it has.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Ftl {
    /// G.
    pub gradient: f64,
    /// α.
    pub alpha: f64,
    /// L.
    pub slowest: f64,
}

impl Theorem for Ftl {
    fn name(&self) -> &'static str {
        "FTL, 8G²(1+ln T)/(αL)"
    }

    fn bound(&self, rounds: f64) -> f64 {
        ftl(self.gradient, self.alpha, self.slowest, rounds)
    }

    fn exponent(&self) -> f64 {
        0.0
    }

    fn assumptions(&self) -> Vec<Assumption> {
        vec![Assumption::Gradient(self.gradient)]
    }
}

/// [`ftl_strongly_convex`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)] // the constants are those of the function above
pub struct FtlStronglyConvex {
    pub gradient: f64,
    pub lambda: f64,
    pub diameter: f64,
}

impl Theorem for FtlStronglyConvex {
    fn name(&self) -> &'static str {
        "FTL, 2(G+λD)²(1+ln T)/λ"
    }

    fn bound(&self, rounds: f64) -> f64 {
        ftl_strongly_convex(self.gradient, self.lambda, self.diameter, rounds)
    }

    fn exponent(&self) -> f64 {
        0.0
    }

    fn assumptions(&self) -> Vec<Assumption> {
        vec![
            Assumption::Gradient(self.gradient),
            Assumption::StronglyConvexLosses(self.lambda),
        ]
    }
}
