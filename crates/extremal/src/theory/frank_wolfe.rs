//! Online Frank-Wolfe (OFW) and its variants.

use super::Assumption::{Gradient, Horizon, StronglyConvexLosses};
use super::Guarantee;

/// OFW with a known T: regret ≤ 8GDT^(3/4) (Hazan's book, ch. 7).
pub fn ofw(gradient: f64, diameter: f64, horizon: f64) -> Guarantee {
    tuned("OFW, 8GDT^(3/4)", 8.0, gradient, diameter).assuming([Horizon(horizon)])
}

/// The lemma behind [`ofw`]: F_{t−1}(x_t) − min F_{t−1} ≤ 2D²σ_t with σ_t = min(1, 2/√t).
pub fn ofw_lemma(diameter: f64, t: f64) -> f64 {
    2.0 * diameter * diameter * (2.0 / t.sqrt()).min(1.0)
}

/// OFW with tuned constants and a known T: regret ≤ (4/3^(3/4))GDT^(3/4) (Weibel et al. 2026).
pub fn ofw_weibel(gradient: f64, diameter: f64, horizon: f64) -> Guarantee {
    let (name, factor) = ("OFW tuned, (4/3^(3/4))GDT^(3/4)", 4.0 / 3f64.powf(0.75));
    tuned(name, factor, gradient, diameter).assuming([Horizon(horizon)])
}

/// OFW with tuned constants for an unknown T: regret ≤ (5/3^(3/4))GDT^(3/4) for every T (Weibel et al.
/// 2026). The guide has a proof (docs/src/proofs/ofw-weibel.md).
pub fn ofw_weibel_anytime(gradient: f64, diameter: f64) -> Guarantee {
    let name = "OFW tuned, any T, (5/3^(3/4))GDT^(3/4)";
    tuned(name, 5.0 / 3f64.powf(0.75), gradient, diameter)
}

/// A theorem with the bound `factor`·GDT^(3/4).
fn tuned(name: &'static str, factor: f64, gradient: f64, diameter: f64) -> Guarantee {
    let bound = move |rounds: f64| factor * gradient * diameter * rounds.powf(0.75);
    Guarantee::new(name, 0.75, bound).assuming([Gradient(gradient)])
}

/// The constant C = max(4D², 4096/(3α²)) of Wan & Zhang's Theorem 1.
pub fn ofw_ls_constant(diameter: f64, alpha: f64) -> f64 {
    (4.0 * diameter * diameter).max(4096.0 / (3.0 * alpha * alpha))
}

/// OFW with line search on α-strongly convex sets, with a known T: regret ≤ (11/4)G√C(T+2)^(2/3), where
/// C is [`ofw_ls_constant`] (Wan & Zhang, Theorem 1).
pub fn ofw_ls(gradient: f64, diameter: f64, alpha: f64, horizon: f64) -> Guarantee {
    let root = ofw_ls_constant(diameter, alpha).sqrt();
    let bound = move |rounds: f64| 11.0 / 4.0 * gradient * root * (rounds + 2.0).powf(2.0 / 3.0);
    Guarantee::new("Wan & Zhang, Theorem 1", 2.0 / 3.0, bound)
        .assuming([Gradient(gradient), Horizon(horizon)])
}

/// The lemma behind [`ofw_ls`]: F_{t−1}(x_t) − min F_{t−1} ≤ C(t+2)^(−2/3).
pub fn ofw_ls_lemma(diameter: f64, alpha: f64, t: f64) -> f64 {
    ofw_ls_constant(diameter, alpha) * (t + 2.0).powf(-2.0 / 3.0)
}

/// OFW without constants: regret ≤ (D²/2)Σμ_t + Σp_t + (F_T(x_{T+1}) − min F_T) of the run. `sum` is the
/// sum of these three parts. `lambda` is the strong convexity that the losses must have, which may be 0.
/// `curved` is true if the set is strongly convex. The page of
/// [`learner::ofw_free`](crate::learner::frank_wolfe::ofw_free) defines μ_t and p_t.
pub fn ofw_free(sum: f64, lambda: f64, curved: bool) -> Guarantee {
    let name = "OFW without constants, (D²/2)Σμ + Σp + h";
    let exponent = if curved { 2.0 / 3.0 } else { 0.75 };
    let ridge = (lambda > 0.0).then_some(StronglyConvexLosses(lambda));
    Guarantee::of_run(name, exponent, sum).assuming(ridge)
}

/// The lemma behind [`sc_ofw_curved`]: F_{t−1}(x_t) − min F_{t−1} ≤ C = max(4(G+λD)²/λ, 288λ/α²).
pub fn sc_ofw_constant(gradient: f64, lambda: f64, diameter: f64, alpha: f64) -> f64 {
    let slope = gradient + lambda * diameter;
    (4.0 * slope * slope / lambda).max(288.0 * lambda / (alpha * alpha))
}

/// SC-OFW for λ-strongly convex losses on α-strongly convex sets: regret ≤ C√(2T) + (C/2)ln T + GD,
/// where C is [`sc_ofw_constant`] (Wan & Zhang, Theorem 2).
pub fn sc_ofw_curved(gradient: f64, lambda: f64, diameter: f64, alpha: f64) -> Guarantee {
    let c = sc_ofw_constant(gradient, lambda, diameter, alpha);
    let bound = move |rounds: f64| {
        c * (2.0 * rounds).sqrt() + 0.5 * c * rounds.max(1.0).ln() + gradient * diameter
    };
    Guarantee::new("Wan & Zhang, Theorem 2", 0.5, bound)
        .assuming([Gradient(gradient), StronglyConvexLosses(lambda)])
}

/// The constant C = 16(G+λD)²/λ of Wan & Zhang's Theorem 3.
fn sc_ofw_general_constant(gradient: f64, lambda: f64, diameter: f64) -> f64 {
    let slope = gradient + lambda * diameter;
    16.0 * slope * slope / lambda
}

/// The lemma behind [`sc_ofw_general`] for t ≥ 2, with its C: F_{t−1}(x_t) − min F_{t−1} ≤ C(t−1)^(1/3).
pub fn sc_ofw_general_lemma(gradient: f64, lambda: f64, diameter: f64, t: f64) -> f64 {
    sc_ofw_general_constant(gradient, lambda, diameter) * (t - 1.0).cbrt()
}

/// SC-OFW for λ-strongly convex losses on any set: regret ≤ (3√2/8)CT^(2/3) + (C/8)ln T + GD with
/// C = 16(G+λD)²/λ (Wan & Zhang, Theorem 3).
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

/// The smaller of [`sc_ofw_curved`] and [`sc_ofw_general`]. Without α the result is [`sc_ofw_general`].
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

/// One Frank-Wolfe step with step size σ on each loss: the dynamic regret Σ(f_t(x_t) − min f_t) is at
/// most (M + V)/σ + σβD²T/2 for every 0 < σ ≤ 1. The function returns the smallest of these bounds. The
/// losses are β-smooth, V = Σ max|f_t − f_{t−1}|, and M ≥ f₁(x₁) − min f_T, for example 2·max|f|. The
/// bound follows Wan, Zhang & Song 2023, where σ is √((M + V)/(MT)).
pub fn dynamic_ofw(range: f64, variation: f64, smoothness: f64, diameter: f64, rounds: f64) -> f64 {
    let start = range + variation;
    let steps = 0.5 * smoothness * diameter * diameter * rounds;
    if start >= steps {
        start + steps // σ = 1
    } else {
        2.0 * (start * steps).sqrt() // σ = √(start/steps)
    }
}
