//! Weights over experts: mixtures of learners by AdaHedge, and exponentiated gradient.
//!
//! The weights are w_t ∝ exp(−η_t L_{t−1}) over N experts, where L is the sum of the losses l_t, and η_t
//! does not grow. Let r_t be the range of the N losses of round t, and m_t the mix loss −(1/η_t) ln Σ w_t
//! exp(−η_t l_t). Then ⟨w_t, l_t⟩ = m_t + δ_t with δ_t ≤ η_t r_t²/8 (Hoeffding). Since η does not grow,
//! Σm_t is at most ln(N)/η_T plus the total loss of any expert. Together these facts give regret ≤
//! ln(N)/η_T + Σ η_t r_t²/8. If G bounds the gradients' entries, then r_t ≤ 2τG, both for the experts
//! ±τe_i and for the experts τe_i with 0.

use super::Assumption::Entries;
use super::Guarantee;

/// AdaHedge: the regret against the best of N experts is at most √((4 + ln N)Σr_t²), where r_t is
/// the range of the N losses in round t (de Rooij et al. 2014; the constants are proved in
/// [`learner::hedge`](crate::learner::of_learners::hedge)). `ranges` is √(Σr_t²), which is at most GD√T
/// for N learners on the same set.
///
/// ```
/// assert_eq!(extremal::theory::adahedge(1.0, 10.0), 20.0);
/// ```
pub fn adahedge(n: f64, ranges: f64) -> f64 {
    (4.0 + n.ln()).sqrt() * ranges
}

/// Hedge: regret ≤ the bound of any base learner + 2Δ, with Δ = Σδ_t of the run. `base` is the base
/// learner's bound for the rounds of the run. This bound grows like T^`exponent`. `regret` is 2Δ.
pub fn hedge(base: f64, exponent: f64, regret: f64) -> Guarantee {
    let name = "Hedge, a base's bound + 2Δ";
    Guarantee::of_run(name, exponent.max(0.5), base + regret)
}

/// Exponentiated gradient with η = s√(2 ln(N)/H)/(τG) for a horizon H:
/// regret ≤ τG√(ln(N)/2)·(√H/s + sT/√H) after T rounds. For T = H and s = 1 this is τG√(2T ln N). `bound`
/// is G, `largest` is the largest entry of a gradient in the run, and `size` is τ.
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

/// Exponentiated gradient with η_t = s√(ln(N)/t)/(τG): regret ≤ τG√(T ln N)·(1/s + s), since
/// Σ 1/√t ≤ 2√T. The arguments are the same as for [`eg`].
pub fn eg_anytime(bound: f64, largest: f64, size: f64, experts: f64, scale: f64) -> Guarantee {
    let factor = bound * size * (1.0 / scale + scale);
    let regret = move |rounds: f64| factor * (rounds * experts.ln()).sqrt();
    Guarantee::new("EG, 2τG√(T ln N)", 0.5, regret).assuming([Entries { bound, largest }])
}

/// Exponentiated gradient with η = s·ln(N)/Δ, where Δ = Σδ_t of the run: regret ≤ (1 + 1/s)Δ, because
/// ln(N)/η is Δ/s. Since δ_t ≤ r_t also holds, Δ² grows by at most (s·ln(N)/4 + 1)r_t² per round. Hence
/// Δ² ≤ (1 + s·ln(N)/4)Σr_t², and √(Σr_t²) ≤ 2τG√T. For s = 1 this is the bound of [`adahedge`].
pub fn eg_adaptive(scale: f64, delta: f64) -> Guarantee {
    Guarantee::of_run("EG, 2Δ", 0.5, (1.0 + 1.0 / scale) * delta)
}
