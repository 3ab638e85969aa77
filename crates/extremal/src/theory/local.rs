//! Local linear optimisation, and blocked gradient descent near the set.
//!
//! **LLOO, with its three regularisers.** Let x*_{t+1} minimise F_t(x) = ⟨S_t, x⟩ + w_t‖x − x₁‖²,
//! where S_t is the sum of the gradients. One step per round keeps the learner close to x*_{t+1}.
//! Let h_t = F_{t−1}(x_t) − F_{t−1}(x*_t), so that ‖x_t − x*_t‖² ≤ h_t/w_{t−1}. Let G̃ bound the
//! norm of the gradient of F_t − F_{t−1}. Then ‖x*_{t+1} − x*_t‖ ≤ G̃/(2w_t), and q = ‖x_t
//! − x*_{t+1}‖ is at most r = √(h_t/w_{t−1}) + G̃/(2w_t). For any bound r on q, the local oracle
//! returns a point p that is as good as x*_{t+1} and at most ρr away. With the step α = 1/(2ρ²), or
//! with a better step, h_{t+1} ≤ (1 − α)(h_t + G̃r) + αw_t r²/2. If h_t ≤ (kG̃)²/w_{t−1} and w_t
//! ≤ (1 + b)w_{t−1}, then h_{t+1} ≤ (kG̃)²/w_t holds whenever
//!
//! k²(α/2 − b − αb²/2) ≥ k(1 + b)(1 − α/2) + 1/2 − 3α/8.
//!
//! This inequality is true for k = 4ρ² if w is fixed, and for k = 4.5ρ² if b ≤ α/64. The regret is
//! at most the sum of three costs: w_T D² for the regularisation, Σ G²/(4w_{t−1}) for playing x*, and
//! Σ G·kG̃/w_{t−1} for the distance from x*.

use super::Assumption::{Gradient, StronglyConvexLosses};
use super::Guarantee;

/// κ = k + 1/4 for the fixed regulariser w = (G/D)√(κT).
pub(crate) fn kappa(rho: f64) -> f64 {
    4.0 * rho * rho + 0.25
}

/// κ = k + 1/4 for the growing regulariser w_t = (√2·G/D)√(κ(t + 16κ)).
pub(crate) fn kappa_anytime(rho: f64) -> f64 {
    4.5 * rho * rho + 0.25
}

/// The factor of κ in the growing regulariser.
pub(crate) const AHEAD: f64 = 16.0;

/// LLOO with the regulariser w = (G/D)√(κN)/s for a horizon N: regret ≤ GD√κ(√N/s + sT/√N) after T
/// rounds, with κ = 4ρ² + ¼. For T = N and s = 1 this is 2GD√(κT). ‖x_t − x*_t‖ is at most 4ρ²G/w.
pub fn lloo(gradient: f64, diameter: f64, rho: f64, scale: f64, horizon: f64) -> Guarantee {
    let (factor, root) = (gradient * diameter * kappa(rho).sqrt(), horizon.sqrt());
    let bound = move |rounds: f64| factor * (root / scale + scale * rounds / root);
    Guarantee::new("LLOO, 2GD√((4ρ²+¼)T)", 0.5, bound).assuming([Gradient(gradient)])
}

/// LLOO without a horizon, with w_t = a(G/D)√(κ(t + τ)), a = √2/s, κ = 4.5ρ² + ¼ and τ = 16κ:
/// regret ≤ GD√κ(a√(T + τ) + (1/a + 1/4)(2√(T + τ) − 2√τ + 1/√τ)).
///
/// w grows by less than aG/(8D) per round, so that G̃ = (1 + a/4)G. The factor w_t/w_{t−1} is below
/// 1 + 1/(2τ), and 1/(2τ) ≤ α/64.
pub fn lloo_anytime(gradient: f64, diameter: f64, rho: f64, scale: f64) -> Guarantee {
    let kappa = kappa_anytime(rho);
    let ahead = AHEAD * kappa;
    let a = std::f64::consts::SQRT_2 / scale;
    let bound = move |rounds: f64| {
        let last = (rounds + ahead).sqrt();
        let sum = 2.0 * (last - ahead.sqrt()) + 1.0 / ahead.sqrt();
        gradient * diameter * kappa.sqrt() * (a * last + (1.0 / a + 0.25) * sum)
    };
    Guarantee::new("LLOO, O(ρGD√T)", 0.5, bound).assuming([Gradient(gradient)])
}

/// LLOO for λ-strongly convex losses: regret ≤
/// (G(G + λD)/λ)(12ρ²(1/c + ln(1 + (T − 1)/c)) + ln(1 + T/c)) + 8ρ²λD² with c = 16ρ².
///
/// F_t(x) = Σ(⟨g_τ, x⟩ + (λ/2)‖x − x_τ‖²) + (cλ/2)‖x − x₁‖² is κ_t-strongly convex with
/// κ_t = λ(t + c). The gradient of F_t − F_{t−1} has norm at most G at x_t, and at most G' = G + λD
/// elsewhere. As in the proof at the top of this file, ‖x_t − x*_t‖ ≤ kG'/κ_{t−1} with k = 12ρ², because
/// k²(α/2 − b − αb²/2) ≥ 2k(1 + b)(1 − α/2) + 2 − 3α/2 for b = 1/c = α/8. A round costs at most
/// G‖x_t − x*_{t+1}‖ ≤ GG'(k/κ_{t−1} + 1/κ_t).
pub fn lloo_strongly_convex(gradient: f64, lambda: f64, diameter: f64, rho: f64) -> Guarantee {
    let square = rho * rho;
    let c = 16.0 * square;
    let slope = gradient + lambda * diameter;
    let bound = move |rounds: f64| {
        let before = 1.0 / c + ((rounds - 1.0).max(0.0) / c).ln_1p();
        let sum = 12.0 * square * before + (rounds / c).ln_1p();
        gradient * (slope / lambda) * sum + 8.0 * square * lambda * diameter * diameter
    };
    Guarantee::new("LLOO, O(ρ²(G+λD)² ln T/λ)", 0.0, bound)
        .assuming([Gradient(gradient), StronglyConvexLosses(lambda)])
}

/// LOO-BOGD in blocks of K rounds (Garber & Kretzu 2022): on any L consecutive rounds, regret ≤
/// 2R²/η + ηKG²L/2 + √(3ε)·GL + 2KGD. `tolerance` is ε/R². With η = (R/G)T^(−3/4), ε = 60R²/√T and
/// K = 5√T the bound for T rounds is at most 20GR(√T + T^(3/4)).
pub fn loo_bogd(
    eta: f64,
    gradient: f64,
    radius: f64,
    diameter: f64,
    tolerance: f64,
    block: f64,
) -> Guarantee {
    let bound = move |rounds: f64| {
        if diameter == 0.0 {
            return 0.0; // a single point
        }
        let start = 2.0 * radius * (radius / eta);
        let steps = 0.5 * (eta * gradient) * (block * gradient) * rounds;
        let apart = (3.0 * tolerance).sqrt() * radius * gradient * rounds;
        start + steps + apart + 2.0 * block * gradient * diameter
    };
    Guarantee::new("LOO-BOGD, 2R²/η + ηKG²T/2 + √(3ε)GT + 2KGD", 0.75, bound)
        .assuming([Gradient(gradient)])
}

/// LOO-BOGD with the sums of the run: regret ≤ √2(c + 1/c)·R·√(Σ‖S‖²) + Σ⟨S, x − ỹ⟩ + D‖S'‖. The sums are
/// over the blocks that have ended, S is the sum of a block's gradients, and S' is S for the block that
/// has not ended. c is the factor on η, `root` is √(Σ‖S‖²), and `apart` is the sum of the other terms.
pub fn loo_bogd_adaptive(scale: f64, radius: f64, root: f64, apart: f64) -> Guarantee {
    let bound = std::f64::consts::SQRT_2 * (scale + 1.0 / scale) * radius * root + apart;
    let name = "LOO-BOGD, 2√2·R√(Σ‖S‖²) + Σ⟨S, x−ỹ⟩";
    Guarantee::of_run(name, 0.75, bound.max(0.0))
}

/// LOO-BOGD for λ-strongly convex losses, with S and S' as in [`loo_bogd_adaptive`]:
/// regret ≤ `sum` = Σ‖S + λK(ỹ − x)‖²/(2λt) + Σ(⟨S, x − ỹ⟩ − (λK/2)‖x − ỹ‖²) + D‖S'‖.
/// For blocks of one round with ε_t = 130(4GR²/(λt))^(2/3) `sum` is at most
/// 47.1(R²G⁴/λ)^(1/3)(T^(2/3) + 2.4) + (G²/2λ)(1 + ln T). The bound follows Garber & Kretzu 2022, except
/// for the second sum. This sum is the cost of gradients at x instead of ỹ.
pub fn loo_ogd(sum: f64, lambda: f64) -> Guarantee {
    let name = "LOO-OGD, Σ‖S+λK(ỹ−x)‖²/(2λt) + Σ⟨S, x−ỹ⟩";
    Guarantee::of_run(name, 2.0 / 3.0, sum.max(0.0)).assuming([StronglyConvexLosses(lambda)])
}
