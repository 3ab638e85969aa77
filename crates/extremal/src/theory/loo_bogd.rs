//! Blocked gradient descent near the set, by few oracle calls.

use serde::{Deserialize, Serialize};

use super::{Assumption, Theorem};

/// Regret ≤ 20GR(√T + T^(3/4)) on every stretch of T rounds or fewer: LOO-BOGD with
/// η = (R/G)T^(−3/4), ε = 60R²/√T and blocks of 5√T rounds (Garber & Kretzu 2022).
pub fn loo_bogd(gradient: f64, radius: f64, rounds: f64) -> f64 {
    20.0 * gradient * radius * (rounds.sqrt() + rounds.powf(0.75))
}

/// Regret ≤ 47.1(R²G⁴/λ)^(1/3)(T^(2/3) + 2.4) + (G²/2λ)(1 + ln T): LOO-OGD in blocks of one round
/// with ε_t = 130(4GR²/(λt))^(2/3) for λ-strongly convex losses, after Garber & Kretzu 2022. The
/// second term is what gradients taken at the decisions cost.
pub fn loo_ogd(gradient: f64, radius: f64, lambda: f64, rounds: f64) -> f64 {
    let unit = gradient * (radius * radius * gradient / lambda).cbrt();
    47.1 * unit * (rounds.powf(2.0 / 3.0) + 2.4)
        + 0.5 * gradient * (gradient / lambda) * (1.0 + rounds.max(1.0).ln())
}

/// 2R²/η + ηKG²L/2 + √(3ε)·GL + 2KGD on every stretch of L rounds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LooBogd {
    /// η.
    pub eta: f64,
    /// G.
    pub gradient: f64,
    /// R.
    pub radius: f64,
    /// D.
    pub diameter: f64,
    /// ε/R².
    pub tolerance: f64,
    /// K.
    pub block: f64,
}

impl Theorem for LooBogd {
    fn name(&self) -> &'static str {
        "LOO-BOGD, 2R²/η + ηKG²T/2 + √(3ε)GT + 2KGD"
    }

    fn bound(&self, rounds: f64) -> f64 {
        let Self {
            eta,
            gradient,
            radius,
            diameter,
            tolerance,
            block,
        } = *self;
        if diameter == 0.0 {
            return 0.0; // a single point
        }
        let start = 2.0 * radius * (radius / eta);
        let steps = 0.5 * (eta * gradient) * (block * gradient) * rounds;
        let apart = (3.0 * tolerance).sqrt() * radius * gradient * rounds;
        start + steps + apart + 2.0 * block * gradient * diameter
    }

    fn exponent(&self) -> f64 {
        0.75
    }

    fn assumptions(&self) -> Vec<Assumption> {
        vec![Assumption::Gradient(self.gradient)]
    }
}

as_played!(
    /// What follows from the rounds played, without T and G.
    LooBogdPlayed {
        /// 2√2·R·√(Σ‖S‖²) + Σ⟨S, x − ỹ⟩ over blocks, and D‖S‖ of the one that has not ended.
        bound
    }, "LOO-BOGD, 2√2·R√(Σ‖S‖²) + Σ⟨S, x−ỹ⟩", 0.75
);

/// The same for λ-strongly convex losses.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LooOgdPlayed {
    /// Σ‖S + λK(ỹ − x)‖²/(2λt) + Σ(⟨S, x − ỹ⟩ − (λK/2)‖x − ỹ‖²) over blocks, and D‖S‖ of the one
    /// that has not ended.
    pub bound: f64,
    /// λ.
    pub lambda: f64,
}

impl Theorem for LooOgdPlayed {
    fn name(&self) -> &'static str {
        "LOO-OGD, Σ‖S+λK(ỹ−x)‖²/(2λt) + Σ⟨S, x−ỹ⟩"
    }

    fn bound(&self, _rounds: f64) -> f64 {
        self.bound
    }

    fn exponent(&self) -> f64 {
        2.0 / 3.0
    }

    fn assumptions(&self) -> Vec<Assumption> {
        vec![Assumption::StronglyConvexLosses(self.lambda)]
    }
}
