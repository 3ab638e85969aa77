//! Weights over experts: mixtures of learners by AdaHedge, and exponentiated gradient.
//!
//! Weights w_t ∝ exp(−η_t L_{t−1}) over N experts whose losses l_t span r_t, η not growing. With
//! the mix loss m_t = −(1/η_t) ln Σ w_t exp(−η_t l_t), ⟨w_t, l_t⟩ ≤ m_t + δ_t and
//! δ_t ≤ η_t r_t²/8 (Hoeffding); as η does not grow, Σm_t ≤ ln(N)/η_T + the losses of any expert.
//! So regret ≤ ln(N)/η_T + Σ η_t r_t²/8. With experts ±τe_i, τe_i or 0, r_t ≤ 2τG where G bounds
//! the gradients' entries.

use super::Assumption::Entries;
use super::Guarantee;

/// Regret against the best of N ≤ √((4 + ln N)Σr_t²), r_t the range of the N losses in round t:
/// AdaHedge (de Rooij et al. 2014), with the constants proved in
/// [`learner::hedge`](crate::learner::of_learners::hedge). `ranges` is √(Σr_t²), at most GD√T where the N are
/// learners on one set.
///
/// ```
/// assert_eq!(extremal::theory::adahedge(1.0, 10.0), 20.0);
/// ```
pub fn adahedge(n: f64, ranges: f64) -> f64 {
    (4.0 + n.ln()).sqrt() * ranges
}

/// Regret ≤ the bound of one base and 2Δ, as the run has them. `base` is the base's bound after the
/// rounds played, `regret` is 2Δ, and the exponent is the base's, 1/2 at least.
pub fn hedge(base: f64, exponent: f64, regret: f64) -> Guarantee {
    let name = "Hedge, a base's bound + 2Δ";
    Guarantee::of_run(name, exponent.max(0.5), base + regret)
}

/// Regret ≤ τG√(ln(N)/2)·(√H/s + sT/√H) after T rounds with η = s√(2 ln(N)/H)/(τG);
/// τG√(2T ln N) for T = H and s = 1. `bound` is G, `largest` the largest entry seen, `size` is τ.
pub fn eg(
    bound: f64,
    largest: f64,
    size: f64,
    experts: f64,
    scale: f64,
    horizon: f64,
) -> Guarantee {
    let root = horizon.sqrt();
    let factor = bound * size * (0.5 * experts.ln()).sqrt();
    let regret = move |rounds: f64| factor * (root / scale + scale * (rounds / root));
    Guarantee::new("EG, τG√(2T ln N)", 0.5, regret).assuming([Entries { bound, largest }])
}

/// Regret ≤ τG√(T ln N)·(1/s + s) with η_t = s√(ln(N)/t)/(τG), as Σ 1/√t ≤ 2√T. The constants are
/// those of [`eg`].
pub fn eg_anytime(bound: f64, largest: f64, size: f64, experts: f64, scale: f64) -> Guarantee {
    let factor = bound * size * (1.0 / scale + scale);
    let regret = move |rounds: f64| factor * (rounds * experts.ln()).sqrt();
    Guarantee::new("EG, 2τG√(T ln N)", 0.5, regret).assuming([Entries { bound, largest }])
}

/// Regret ≤ (1 + 1/s)Δ with η = s·ln(N)/Δ, Δ = Σδ_t of the run: the first part of the regret is Δ/s.
/// As δ_t is at most r_t too, Δ² grows by at most (s·ln(N)/4 + 1)r_t² per round, so that
/// Δ² ≤ (1 + s·ln(N)/4)Σr_t², where √(Σr_t²) ≤ 2τG√T. With s = 1 that is [`adahedge`].
pub fn eg_adaptive(scale: f64, delta: f64) -> Guarantee {
    Guarantee::of_run("EG, 2Δ", 0.5, (1.0 + 1.0 / scale) * delta)
}
