//! Learners that project: online gradient descent, dual averaging, the online Newton step.

use super::Assumption::{ExpConcaveLosses, Gradient, StronglyConvexLosses};
use super::Guarantee;

/// Regret ≤ (3/2)GD√T: online gradient descent with η = D/(G√t) (Zinkevich; Hazan's book).
pub fn ogd_convex(gradient: f64, diameter: f64) -> Guarantee {
    let bound = move |rounds: f64| 1.5 * gradient * diameter * rounds.sqrt();
    Guarantee::new("OGD, (3/2)GD√T", 0.5, bound).assuming([Gradient(gradient)])
}

/// Regret ≤ G²(1 + ln T)/(2λ): online gradient descent with η = 1/(λt).
pub fn ogd_strongly_convex(gradient: f64, lambda: f64) -> Guarantee {
    let bound =
        move |rounds: f64| gradient * gradient * (1.0 + rounds.max(1.0).ln()) / (2.0 * lambda);
    Guarantee::new("OGD, G²(1+ln T)/(2λ)", 0.0, bound)
        .assuming([Gradient(gradient), StronglyConvexLosses(lambda)])
}

/// Regret ≤ √2·D·√V, V = Σ‖g‖² of the run: online gradient descent with η_t = D/√(2V_t).
pub fn ogd_adagrad(diameter: f64, root: f64) -> Guarantee {
    let bound = std::f64::consts::SQRT_2 * diameter * root;
    Guarantee::of_run("OGD, √2·D·√(Σ‖g‖²)", 0.5, bound)
}

/// Regret ≤ (GD/2)(√N + T/√N) after T rounds with η = D/(G√N); GD√T for T = N.
///
/// Dual averaging: x_t minimises ⟨S_{t−1}, x⟩ + ‖x − x₁‖²/(2η_{t−1}) over the set, η not growing.
/// Follow-the-regularised-leader then gives regret ≤ D²/(2η_{T−1}) + Σδ_t, where δ_t is by how much
/// x_t misses the minimum once g_t is added. That is at most (η_{t−1}/2)‖g_t‖², as the regulariser
/// is 1/η_{t−1}-strongly convex, and at most ⟨g_t, x_t − y⟩ ≤ D‖g_t‖, as x_t was a minimiser before.
pub fn dual_averaging(gradient: f64, diameter: f64, horizon: f64) -> Guarantee {
    let root = horizon.sqrt();
    let bound = move |rounds: f64| 0.5 * gradient * diameter * (root + rounds / root);
    Guarantee::new("Dual averaging, GD√T", 0.5, bound).assuming([Gradient(gradient)])
}

/// Regret ≤ (3/2)GD√T with η_t = D/(G√t): D²/(2η_{T−1}) of [`dual_averaging`] is at most (GD/2)√T,
/// and (G²/2)(η₁ + Σ_{t<T} η_t) at most GD√T.
pub fn dual_averaging_anytime(gradient: f64, diameter: f64) -> Guarantee {
    let bound = move |rounds: f64| 1.5 * gradient * diameter * rounds.sqrt();
    Guarantee::new("Dual averaging, (3/2)GD√T", 0.5, bound).assuming([Gradient(gradient)])
}

/// Regret ≤ (1 + √5/2)·D·√V, V = Σ‖g‖² of the run, with η_t = D/√V_t. `root` is √V.
///
/// η_{t−1} does not know g_t, which may be larger than all before; that is where the second bound
/// of δ_t in [`dual_averaging`] comes in. With r = ‖g_t‖/√V_{t−1}, δ_t ≤ D√V_{t−1}·min(r²/2, r), and
/// min(r²/2, r) ≤ φ(√(1 + r²) − 1) for φ = (1 + √5)/2: the quotient r²/2 / (√(1 + r²) − 1) =
/// (√(1 + r²) + 1)/2 rises with r, r/(√(1 + r²) − 1) falls, and where they meet, at r = 2, both
/// are φ. So δ_t ≤ φD(√V_t − √V_{t−1}), which adds up to φD√V_T; the first part of the regret is
/// D√V_{T−1}/2.
///
/// ```
/// let bound = extremal::theory::dual_averaging_adaptive(2.0, 5.0).bound(1.0);
/// assert!((bound - (0.5 + 1.618_033_988_749_895) * 10.0).abs() < 1e-9);
/// ```
pub fn dual_averaging_adaptive(diameter: f64, root: f64) -> Guarantee {
    let bound = (1.0 + 5f64.sqrt() / 2.0) * diameter * root;
    Guarantee::of_run("Dual averaging, (1 + √5/2)·D·√(Σ‖g‖²)", 0.5, bound)
}

/// Regret ≤ (1/(2γ))·(1 + d·ln(1 + (γGD)²T/d)) + γΣε_t: the online Newton step for α-exp-concave
/// losses. `left` is γΣε_t, what inexact projections left in the rounds played; 0 if they are exact.
/// For T ≥ 5 the first part is at most 5(1/α + GD)·d·ln T (Hazan, Agarwal & Kale 2007), as
/// 1/(2γ) = max{4GD, 1/α} and γGD ≤ 1/8.
///
/// With γ ≤ ½min{1/(4GD), α}, an α-exp-concave f has f(x_t) − f(u) ≤ ⟨g_t, x_t − u⟩ −
/// (γ/2)⟨g_t, x_t − u⟩² over the set; so has a λ-strongly convex one if γ ≤ λ/‖g_t‖². From
/// y = x_t − A_t⁻¹g_t/γ, ⟨g_t, x_t − u⟩ = (1/(2γ))g_tᵀA_t⁻¹g_t + (γ/2)(‖x_t − u‖² − ‖y − u‖²) in
/// the norm of A_t, and ‖y − u‖² ≥ ‖x_{t+1} − u‖² − 2ε_t where x_{t+1} leaves the gap
/// ε_t ≥ ⟨A_t(x_{t+1} − y), x_{t+1} − u⟩. The sum over t telescopes but for
/// A_t − A_{t−1} = g_tg_tᵀ, which the square above pays for, and for A_0 = I/(γ²D²), at most
/// 1/(2γ). And Σ g_tᵀA_t⁻¹g_t ≤ ln det A_T/det A_0 ≤ d·ln(1 + (γD)²Σ‖g_t‖²/d).
pub fn ons(alpha: f64, gamma: f64, gradient: f64, diameter: f64, dim: f64, left: f64) -> Guarantee {
    let share = gamma * gradient * diameter;
    let bound = move |rounds: f64| {
        (0.5 + 0.5 * dim * (share * share * (rounds / dim)).ln_1p()) / gamma + left
    };
    Guarantee::new("ONS, (1+d·ln(1+(γGD)²T/d))/(2γ)", 0.0, bound)
        .assuming([Gradient(gradient), ExpConcaveLosses(alpha)])
}
