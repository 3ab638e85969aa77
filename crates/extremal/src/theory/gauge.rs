//! Learners that use the gauge of the set: Gauge-FTRL, Coin-FTRL, and gradient descent with a gauge or
//! a separation oracle in place of a projection.

use std::f64::consts::SQRT_2;

use super::Assumption::Gradient;
use super::Guarantee;

/// Gauge-FTRL with a fixed β on a set whose squared gauge is L-smooth: regret ≤ β + LG²T/(2β), which is
/// G√(2LT) for the best β = G√(LT/2).
pub fn gauge_ftrl(gradient: f64, l: f64, beta: f64) -> Guarantee {
    let bound = move |rounds| beta + 0.5 * l * gradient * (gradient / beta) * rounds;
    Guarantee::new("Gauge-FTRL, fixed β", 0.5, bound).assuming([Gradient(gradient)])
}

/// Gauge-FTRL with a fixed β on an ℓp ball of radius r with p > 2: regret ≤
/// β + 2^(2−q)(rsG)^q T/(qβ^(q−1)) with 1/p + 1/q = 1. `stretch` is s in ‖g‖_q ≤ s‖g‖₂.
pub fn gauge_ftrl_uniform(
    gradient: f64,
    stretch: f64,
    q: f64,
    radius: f64,
    beta: f64,
) -> Guarantee {
    let slope = (radius * (stretch * gradient)).powf(q);
    let bound = move |rounds| beta + (2.0 - q).exp2() * slope / (q * beta.powf(q - 1.0)) * rounds;
    Guarantee::new("Gauge-FTRL, fixed β", 1.0 / q, bound).assuming([Gradient(gradient)])
}

/// Gauge-FTRL with the last β of the run: regret ≤ 2β, which grows like T^`exponent`. `gradient` is
/// G if the proof needs a bound on the gradients.
pub fn gauge_ftrl_online(beta: f64, exponent: f64, gradient: Option<f64>) -> Guarantee {
    Guarantee::of_run("Gauge-FTRL, 2β", exponent, 2.0 * beta).assuming(gradient.map(Gradient))
}

/// Coin betting with a number in [0, 1] against the linear losses q_t: the regret against the number 1 is
/// at most (1 + ε)L + √(S ln(1 + S/K²)) with S = L(A + L) and K = εL₁√(L₁/(A + L)). Here ε is the stake,
/// L is the largest |q_t|, L₁ is the first |q_t| > 0, and A is Σ|q_t|. Since A ≤ LT, the bound is of
/// order L√(T ln(T·L/L₁)). A tiny L₁ such as 1e-90 makes the bound several times larger.
///
/// Proof. Let θ = −Σq_t. The bettor starts with the wealth εL, and ends with at least K·exp(θ²/(2S))
/// (see `learner/untuned/coin_ftrl/coin_bet.rs`, which follows Orabona & Tommasi, NeurIPS 2017).
/// The bettor's regret is therefore at most εL + θ − K·exp(θ²/(2S)). For θ ≤ B = √(S ln(1 + S/K²))
/// this expression is at most εL + B. For θ > B the expression decreases, because the slope at B is
/// 1 − √((1 + z) ln(1 + z)/z) ≤ 0 with z = S/K². A loss that exceeds all earlier losses is cut to the
/// largest earlier size. The cuts sum to at most L.
///
/// ```
/// let bound = |rounds| extremal::theory::coin_betting(0.001, 1.0, 1.0, rounds);
/// assert!(bound(1e6) < 12.0 * bound(1e4));
/// ```
pub fn coin_betting(stake: f64, first: f64, scale: f64, total: f64) -> f64 {
    if scale == 0.0 {
        return 0.0;
    }
    // ln(S/K²) is computed in parts, because S and K² may overflow or underflow
    let z =
        (scale.ln() - first.ln()) + 2.0 * ((total + scale).ln() - first.ln()) - 2.0 * stake.ln();
    let log = if z > 40.0 { z } else { z.exp().ln_1p() };
    (1.0 + stake) * scale + scale * ((1.0 + total / scale) * log).sqrt()
}

/// Coin-FTRL: regret ≤ 2β + `bets`. 2β is the bound of Gauge-FTRL with the run's β, and `bets` is the
/// bound [`coin_betting`] for the bets of the run.
pub fn coin_ftrl(beta: f64, bets: f64) -> Guarantee {
    Guarantee::of_run("Coin-FTRL, 2β and the bets", 0.5, 2.0 * beta + bets)
}

/// Unit-free: regret ≤ 2β + W + 2Δ + J + F of the run, against every point of the last ellipsoid. W
/// bounds the bets on Gauge-FTRL's weight, Δ is AdaHedge's mixability gap, J is the cost of the increases
/// of Gauge-FTRL's radius, and F is the sum of the losses from which the learner learnt nothing.
pub fn unit_free(beta: f64, bets: f64, gap: f64, jumps: f64, forgiven: f64) -> Guarantee {
    let bound = 2.0 * beta + bets + 2.0 * gap + jumps + forgiven;
    Guarantee::of_run("unit-free, 2β + W + 2Δ + J + F", 0.5, bound)
}

/// The gauge wrapper: regret ≤ √2(c + 1/c)·R·√(Σ‖g̃‖²) with the surrogate gradients g̃ of the run. c is
/// the factor on η, and `root` is √(Σ‖g̃‖²). If the set lies between balls of radii r and R around 0,
/// this is at most 2√2·R(1 + R/r)G√T for c = 1 (Mhammedi 2022, with scale-free gradient descent).
pub fn gauge_wrapper(scale: f64, radius: f64, root: f64) -> Guarantee {
    let bound = SQRT_2 * (scale + 1.0 / scale) * radius * root;
    Guarantee::of_run("gauge wrapper, 2√2·R·√(Σ‖g̃‖²)", 0.5, bound)
}

/// SO-OGD (Garber & Kretzu 2022) on a set between balls of radii r and R: on any L consecutive rounds,
/// regret ≤ 2R²/η + ηG²L/2 + δRGL. With η = r/(2G√T) and δ = 4R/(r√T) the bound for T rounds is at most
/// G(r/4 + 8R²/r)√T. T rounds need at most (R/r)² + (1 + 2RηG/(δr²) + (ηG/(δr))²)T separations.
pub fn so_ogd(eta: f64, delta: f64, gradient: f64, radius: f64) -> Guarantee {
    let per_round = gradient * (0.5 * eta * gradient + delta * radius);
    let bound = move |rounds| 2.0 * radius * (radius / eta) + per_round * rounds;
    Guarantee::new("SO-OGD, 2R²/η + ηG²T/2 + δRGT", 0.5, bound).assuming([Gradient(gradient)])
}

/// SO-OGD with the sums of the run: regret ≤ R·(√2((c + 1/c)√V + d/c) + s). Here V = Σ‖g_t‖², c is the
/// factor on η, d = Σ(δ_{t−1} − δ_t)√(Σ_{<t}‖g‖²) and s = Σδ_t‖g_t‖. `root` is √V, `drift` is d, and
/// `shrunk` is s.
pub fn so_ogd_adaptive(scale: f64, radius: f64, root: f64, drift: f64, shrunk: f64) -> Guarantee {
    let roots = (scale + 1.0 / scale) * root + drift / scale;
    let bound = radius * (SQRT_2 * roots + shrunk);
    Guarantee::of_run("SO-OGD, 2√2·R√(Σ‖g‖²) + R·Σδ‖g‖", 0.5, bound)
}
