//! SC-OFW for strongly convex losses: Theorems 2 and 3 of Wan & Zhang.

use serde::{Deserialize, Serialize};

use super::{Assumption, Theorem};

/// F_{t−1}(x_t) − min F_{t−1} ≤ C = max(4(G+λD)²/λ, 288λ/α²): the lemma behind Theorem 2.
pub fn sc_ofw_constant(gradient: f64, lambda: f64, diameter: f64, alpha: f64) -> f64 {
    let slope = gradient + lambda * diameter;
    (4.0 * slope * slope / lambda).max(288.0 * lambda / (alpha * alpha))
}

/// Regret ≤ C√(2T) + (C/2)ln T + GD: SC-OFW on strongly convex sets (Wan & Zhang, Theorem 2).
pub fn sc_ofw_curved(gradient: f64, lambda: f64, diameter: f64, alpha: f64, rounds: f64) -> f64 {
    let c = sc_ofw_constant(gradient, lambda, diameter, alpha);
    c * (2.0 * rounds).sqrt() + 0.5 * c * rounds.max(1.0).ln() + gradient * diameter
}

/// C = 16(G+λD)²/λ of Theorem 3.
pub fn sc_ofw_general_constant(gradient: f64, lambda: f64, diameter: f64) -> f64 {
    let slope = gradient + lambda * diameter;
    16.0 * slope * slope / lambda
}

/// F_{t−1}(x_t) − min F_{t−1} ≤ C(t−1)^(1/3) for t ≥ 2: the lemma behind Theorem 3.
pub fn sc_ofw_general_lemma(gradient: f64, lambda: f64, diameter: f64, t: f64) -> f64 {
    sc_ofw_general_constant(gradient, lambda, diameter) * (t - 1.0).cbrt()
}

/// Regret ≤ (3√2/8)CT^(2/3) + (C/8)ln T + GD, C = 16(G+λD)²/λ: SC-OFW on any set (Theorem 3).
pub fn sc_ofw_general(gradient: f64, lambda: f64, diameter: f64, rounds: f64) -> f64 {
    let c = sc_ofw_general_constant(gradient, lambda, diameter);
    3.0 * 2f64.sqrt() / 8.0 * c * rounds.powf(2.0 / 3.0)
        + c * rounds.max(1.0).ln() / 8.0
        + gradient * diameter
}

/// The smaller of [`sc_ofw_curved`] and [`sc_ofw_general`]; the latter where the set has no α.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)] // the constants are those of the functions above
pub struct ScOfw {
    pub gradient: f64,
    pub lambda: f64,
    pub diameter: f64,
    pub alpha: Option<f64>,
}

impl Theorem for ScOfw {
    fn name(&self) -> &'static str {
        match self.alpha {
            Some(_) => "Wan & Zhang, Theorems 2 and 3",
            None => "Wan & Zhang, Theorem 3",
        }
    }

    fn bound(&self, rounds: f64) -> f64 {
        let Self {
            gradient,
            lambda,
            diameter,
            alpha,
        } = *self;
        let general = sc_ofw_general(gradient, lambda, diameter, rounds);
        alpha.map_or(general, |alpha| {
            sc_ofw_curved(gradient, lambda, diameter, alpha, rounds).min(general)
        })
    }

    fn exponent(&self) -> f64 {
        match self.alpha {
            Some(_) => 0.5,
            None => 2.0 / 3.0,
        }
    }

    fn assumptions(&self) -> Vec<Assumption> {
        vec![
            Assumption::Gradient(self.gradient),
            Assumption::StronglyConvexLosses(self.lambda),
        ]
    }
}
