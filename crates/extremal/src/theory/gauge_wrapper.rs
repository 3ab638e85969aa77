//! Gradient descent with a gauge in place of a projection.

use serde::{Deserialize, Serialize};

use super::{Assumption, Theorem};

/// Regret ≤ 2√2·R(1 + R/r)G√T: gauge-OGD on a set between balls of the radii r and R around 0
/// (Mhammedi 2022, with scale-free gradient descent).
pub fn gauge_wrapper(gradient: f64, radius: f64, inner_radius: f64, rounds: f64) -> f64 {
    let slope = (1.0 + radius / inner_radius) * gradient;
    2.0 * std::f64::consts::SQRT_2 * radius * slope * rounds.sqrt()
}

/// 2√2·R·√(Σ‖g̃‖²) with the surrogate gradients of the run; for the rounds played.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct GaugeWrapper {
    /// √2(c + 1/c)·R·√(Σ‖g̃‖²), c the factor on η.
    pub bound: f64,
}

impl Theorem for GaugeWrapper {
    fn name(&self) -> &'static str {
        "gauge-OGD, 2√2·R·√(Σ‖g̃‖²)"
    }

    fn bound(&self, _rounds: f64) -> f64 {
        self.bound
    }

    fn exponent(&self) -> f64 {
        0.5
    }

    fn assumptions(&self) -> Vec<Assumption> {
        vec![]
    }
}
