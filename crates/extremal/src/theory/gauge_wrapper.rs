//! Gradient descent with a gauge in place of a projection.

/// Regret ≤ 2√2·R(1 + R/r)G√T: the gauge wrapper on a set between balls of the radii r and R around 0
/// (Mhammedi 2022, with scale-free gradient descent).
pub fn gauge_wrapper(gradient: f64, radius: f64, inner_radius: f64, rounds: f64) -> f64 {
    let slope = (1.0 + radius / inner_radius) * gradient;
    2.0 * std::f64::consts::SQRT_2 * radius * slope * rounds.sqrt()
}

as_played!(
    /// 2√2·R·√(Σ‖g̃‖²) with the surrogate gradients of the run; for the rounds played.
    GaugeWrapper {
        /// √2(c + 1/c)·R·√(Σ‖g̃‖²), c the factor on η.
        bound
    }, "gauge wrapper, 2√2·R·√(Σ‖g̃‖²)", 0.5
);
