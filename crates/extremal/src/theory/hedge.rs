//! A mixture of learners by exponential weights.

/// Regret ≤ best + GD√(2T ln N): what a mixture of N learners by exponential weights on their
/// linearised losses is held to, where `best` bounds the regret of the best of them. Their losses
/// ⟨g, x_i⟩ differ by at most GD in a round, and weights ∝ exp(−(√(2 ln N/T)/(GD))·losses) lose
/// GD√(2T ln N) at most to any one.
///
/// ```
/// use extremal::theory::{hedge, ogd_convex};
/// let alone = ogd_convex(1.0, 2.0, 100.0);
/// assert_eq!(hedge(alone, 1.0, 2.0, 1.0, 100.0), alone);
/// ```
pub fn hedge(best: f64, gradient: f64, diameter: f64, learners: f64, rounds: f64) -> f64 {
    best + gradient * diameter * (2.0 * rounds * learners.ln()).sqrt()
}
