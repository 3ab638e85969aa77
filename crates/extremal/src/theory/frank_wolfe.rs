//! Online Frank-Wolfe: OFW and its relatives.

use super::Assumption::{Gradient, Horizon, StronglyConvexLosses};
use super::Guarantee;

/// Regret ≤ 8GDT^(3/4): OFW with T known (Hazan's book, ch. 7).
pub fn ofw(gradient: f64, diameter: f64, horizon: f64) -> Guarantee {
    tuned("OFW, 8GDT^(3/4)", 8.0, gradient, diameter).assuming([Horizon(horizon)])
}

/// F_{t−1}(x_t) − min F_{t−1} ≤ 2D²σ_t, σ_t = min(1, 2/√t): the lemma behind [`ofw`].
pub fn ofw_lemma(diameter: f64, t: f64) -> f64 {
    2.0 * diameter * diameter * (2.0 / t.sqrt()).min(1.0)
}

/// Regret ≤ (4/3^(3/4))GDT^(3/4): OFW with tuned constants and T known (Weibel et al. 2026).
pub fn ofw_weibel(gradient: f64, diameter: f64, horizon: f64) -> Guarantee {
    let (name, factor) = ("OFW tuned, (4/3^(3/4))GDT^(3/4)", 4.0 / 3f64.powf(0.75));
    tuned(name, factor, gradient, diameter).assuming([Horizon(horizon)])
}

/// Regret ≤ (5/3^(3/4))GDT^(3/4) for every T at once: the same without T (Weibel et al. 2026). The
/// guide proves it (docs/src/proofs/ofw-weibel.md).
pub fn ofw_weibel_anytime(gradient: f64, diameter: f64) -> Guarantee {
    let name = "OFW tuned, any T, (5/3^(3/4))GDT^(3/4)";
    tuned(name, 5.0 / 3f64.powf(0.75), gradient, diameter)
}

/// Regret ≤ factor·GDT^(3/4).
fn tuned(name: &'static str, factor: f64, gradient: f64, diameter: f64) -> Guarantee {
    let bound = move |rounds: f64| factor * gradient * diameter * rounds.powf(0.75);
    Guarantee::new(name, 0.75, bound).assuming([Gradient(gradient)])
}

/// C = max(4D², 4096/(3α²)) of Theorem 1.
pub fn ofw_ls_constant(diameter: f64, alpha: f64) -> f64 {
    (4.0 * diameter * diameter).max(4096.0 / (3.0 * alpha * alpha))
}

/// Regret ≤ (11/4)G√C(T+2)^(2/3), C from [`ofw_ls_constant`]: OFW with line search on α-strongly
/// convex sets, with T known (Wan & Zhang, Theorem 1).
pub fn ofw_ls(gradient: f64, diameter: f64, alpha: f64, horizon: f64) -> Guarantee {
    let root = ofw_ls_constant(diameter, alpha).sqrt();
    let bound = move |rounds: f64| 11.0 / 4.0 * gradient * root * (rounds + 2.0).powf(2.0 / 3.0);
    Guarantee::new("Wan & Zhang, Theorem 1", 2.0 / 3.0, bound)
        .assuming([Gradient(gradient), Horizon(horizon)])
}

/// F_{t−1}(x_t) − min F_{t−1} ≤ C(t+2)^(−2/3): the lemma behind Theorem 1.
pub fn ofw_ls_lemma(diameter: f64, alpha: f64, t: f64) -> f64 {
    ofw_ls_constant(diameter, alpha) * (t + 2.0).powf(-2.0 / 3.0)
}

/// Regret ≤ (D²/2)Σμ_t + Σp_t + (F_T(x_{T+1}) − min F_T), as the run has them; `sum` is the sum of
/// the three. `lambda` is the λ that the losses must have, 0 for none, and `curved` says whether
/// the set is strongly convex. See [`learner::ofw_free`](crate::learner::frank_wolfe::ofw_free).
pub fn ofw_free(sum: f64, lambda: f64, curved: bool) -> Guarantee {
    let name = "OFW without constants, (D²/2)Σμ + Σp + h";
    let exponent = if curved { 2.0 / 3.0 } else { 0.75 };
    let ridge = (lambda > 0.0).then_some(StronglyConvexLosses(lambda));
    Guarantee::of_run(name, exponent, sum).assuming(ridge)
}

/// F_{t−1}(x_t) − min F_{t−1} ≤ C = max(4(G+λD)²/λ, 288λ/α²): the lemma behind Theorem 2.
pub fn sc_ofw_constant(gradient: f64, lambda: f64, diameter: f64, alpha: f64) -> f64 {
    let slope = gradient + lambda * diameter;
    (4.0 * slope * slope / lambda).max(288.0 * lambda / (alpha * alpha))
}

/// Regret ≤ C√(2T) + (C/2)ln T + GD, C from [`sc_ofw_constant`]: SC-OFW for λ-strongly convex losses
/// on α-strongly convex sets (Wan & Zhang, Theorem 2).
pub fn sc_ofw_curved(gradient: f64, lambda: f64, diameter: f64, alpha: f64) -> Guarantee {
    let c = sc_ofw_constant(gradient, lambda, diameter, alpha);
    let bound = move |rounds: f64| {
        c * (2.0 * rounds).sqrt() + 0.5 * c * rounds.max(1.0).ln() + gradient * diameter
    };
    Guarantee::new("Wan & Zhang, Theorem 2", 0.5, bound)
        .assuming([Gradient(gradient), StronglyConvexLosses(lambda)])
}

/// C = 16(G+λD)²/λ of Theorem 3.
fn sc_ofw_general_constant(gradient: f64, lambda: f64, diameter: f64) -> f64 {
    let slope = gradient + lambda * diameter;
    16.0 * slope * slope / lambda
}

/// F_{t−1}(x_t) − min F_{t−1} ≤ C(t−1)^(1/3) for t ≥ 2, C = 16(G+λD)²/λ: the lemma behind Theorem 3.
pub fn sc_ofw_general_lemma(gradient: f64, lambda: f64, diameter: f64, t: f64) -> f64 {
    sc_ofw_general_constant(gradient, lambda, diameter) * (t - 1.0).cbrt()
}

/// Regret ≤ (3√2/8)CT^(2/3) + (C/8)ln T + GD, C = 16(G+λD)²/λ: SC-OFW for λ-strongly convex losses
/// on any set (Wan & Zhang, Theorem 3).
pub fn sc_ofw_general(gradient: f64, lambda: f64, diameter: f64) -> Guarantee {
    let c = sc_ofw_general_constant(gradient, lambda, diameter);
    let bound = move |rounds: f64| {
        3.0 * 2f64.sqrt() / 8.0 * c * rounds.powf(2.0 / 3.0)
            + c * rounds.max(1.0).ln() / 8.0
            + gradient * diameter
    };
    Guarantee::new("Wan & Zhang, Theorem 3", 2.0 / 3.0, bound)
        .assuming([Gradient(gradient), StronglyConvexLosses(lambda)])
}

/// The smaller of [`sc_ofw_curved`] and [`sc_ofw_general`]; the latter where the set has no α.
pub fn sc_ofw(gradient: f64, lambda: f64, diameter: f64, alpha: Option<f64>) -> Guarantee {
    let general = sc_ofw_general(gradient, lambda, diameter);
    let Some(alpha) = alpha else {
        return general;
    };
    let curved = sc_ofw_curved(gradient, lambda, diameter, alpha);
    let assumptions = curved.assumptions().to_vec();
    let bound = move |rounds| curved.bound(rounds).min(general.bound(rounds));
    Guarantee::new("Wan & Zhang, Theorems 2 and 3", 0.5, bound).assuming(assumptions)
}

/// Σ(f_t(x_t) − min f_t) ≤ (M + V)/σ + σβD²T/2 for every 0 < σ ≤ 1, and the least of these: dynamic
/// regret of a Frank-Wolfe step on each loss. The losses are β-smooth, V = Σ max|f_t − f_{t−1}|,
/// and M ≥ f₁(x₁) − min f_T, as 2·max|f| is (after Wan, Zhang & Song 2023, whose σ is
/// √((M + V)/(MT))).
pub fn dynamic_ofw(range: f64, variation: f64, smoothness: f64, diameter: f64, rounds: f64) -> f64 {
    let start = range + variation;
    let steps = 0.5 * smoothness * diameter * diameter * rounds;
    if start >= steps {
        start + steps // σ = 1
    } else {
        2.0 * (start * steps).sqrt() // σ = √(start/steps)
    }
}
