//! Gradient descent with a separation oracle.

use serde::{Deserialize, Serialize};

use super::{Assumption, Theorem};

/// Regret ≤ G(r/4 + 8R²/r)√T on every stretch of T rounds or fewer: SO-OGD with η = r/(2G√T) and
/// δ = 4R/(r√T), on a set between balls of the radii r and R (Garber & Kretzu 2022).
pub fn so_ogd(gradient: f64, radius: f64, inner_radius: f64, rounds: f64) -> f64 {
    let length = 0.25 * inner_radius + 8.0 * radius * (radius / inner_radius);
    gradient * length * rounds.sqrt()
}

/// How many separations T rounds take at most: (R/r)² + (1 + 2RηG/(δr²) + (ηG/(δr))²)T.
pub fn so_ogd_separations(
    step: f64,
    delta: f64,
    radius: f64,
    inner_radius: f64,
    rounds: f64,
) -> f64 {
    let (ratio, share) = (radius / inner_radius, step / (delta * inner_radius));
    ratio * ratio + (1.0 + 2.0 * ratio * share + share * share) * rounds
}

/// 2R²/η + ηG²L/2 + δRGL on every stretch of L rounds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SoOgd {
    /// η.
    pub eta: f64,
    /// δ.
    pub delta: f64,
    /// G.
    pub gradient: f64,
    /// R.
    pub radius: f64,
}

impl Theorem for SoOgd {
    fn name(&self) -> &'static str {
        "SO-OGD, 2R²/η + ηG²T/2 + δRGT"
    }

    fn bound(&self, rounds: f64) -> f64 {
        let Self {
            eta,
            delta,
            gradient,
            radius,
        } = *self;
        let per_round = gradient * (0.5 * eta * gradient + delta * radius);
        2.0 * radius * (radius / eta) + per_round * rounds
    }

    fn exponent(&self) -> f64 {
        0.5
    }

    fn assumptions(&self) -> Vec<Assumption> {
        vec![Assumption::Gradient(self.gradient)]
    }
}

as_played!(
    /// What follows from the rounds played, without T and G.
    SoOgdPlayed {
        /// √2·R·((c + 1/c)√(Σ‖g‖²) + Σ(δ_{t−1} − δ_t)√(Σ_{<t}‖g‖²)/c) + R·Σδ_t‖g_t‖, c the factor
    /// on η.
        bound
    }, "SO-OGD, 2√2·R√(Σ‖g‖²) + R·Σδ‖g‖", 0.5
);
