//! Dynamic regret of a Frank-Wolfe step on each loss.

/// Σ(f_t(x_t) − min f_t) ≤ (M + V)/σ + σβD²T/2 for every 0 < σ ≤ 1, and the least of these:
/// β-smooth losses, V = Σ max|f_t − f_{t−1}|, M ≥ f₁(x₁) − min f_T, as 2·max|f| is (after Wan, Zhang
/// & Song 2023, whose σ is √((M + V)/(MT))).
pub fn dynamic_ofw(range: f64, variation: f64, smoothness: f64, diameter: f64, rounds: f64) -> f64 {
    let start = range + variation;
    let steps = 0.5 * smoothness * diameter * diameter * rounds;
    if start >= steps {
        start + steps // σ = 1
    } else {
        2.0 * (start * steps).sqrt() // σ = √(start/steps)
    }
}
