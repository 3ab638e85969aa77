//! Learners with a projection: online gradient descent, dual averaging, the online Newton step.

use super::Assumption::{ExpConcaveLosses, Gradient, StronglyConvexLosses};
use super::Guarantee;

/// Online gradient descent with η_t = D/(G√t): regret ≤ (3/2)GD√T (Zinkevich; Hazan's book).
pub fn ogd_convex(gradient: f64, diameter: f64) -> Guarantee {
    let bound = move |rounds: f64| 1.5 * gradient * diameter * rounds.sqrt();
    Guarantee::new("OGD, (3/2)GD√T", 0.5, bound).assuming([Gradient(gradient)])
}

/// Online gradient descent with η_t = 1/(λt): regret ≤ G²(1 + ln T)/(2λ).
pub fn ogd_strongly_convex(gradient: f64, lambda: f64) -> Guarantee {
    let bound =
        move |rounds: f64| gradient * gradient * (1.0 + rounds.max(1.0).ln()) / (2.0 * lambda);
    Guarantee::new("OGD, G²(1+ln T)/(2λ)", 0.0, bound)
        .assuming([Gradient(gradient), StronglyConvexLosses(lambda)])
}

/// Online gradient descent with η_t = D/√(2V_t): regret ≤ √2·D·√V, where V is the run's Σ‖g_t‖² and V_t
/// is the sum of its first t terms. `root` is √V.
pub fn ogd_adagrad(diameter: f64, root: f64) -> Guarantee {
    let bound = std::f64::consts::SQRT_2 * diameter * root;
    Guarantee::of_run("OGD, √2·D·√(Σ‖g‖²)", 0.5, bound)
}

/// Dual averaging with η = D/(G√N) for a horizon N: regret ≤ (GD/2)(√N + T/√N), or GD√T for T = N.
///
/// Proof. x_t minimises ⟨S_{t−1}, x⟩ + ‖x − x₁‖²/(2η_{t−1}) over the set, where S is the sum of the
/// gradients and η does not grow. By the analysis of follow-the-regularised-leader, regret is at most
/// D²/(2η_{T−1}) + Σδ_t, where δ_t is the suboptimality of x_t after g_t is added to the objective. The
/// regulariser is 1/η_{t−1}-strongly convex, so that δ_t ≤ (η_{t−1}/2)‖g_t‖². Also, x_t minimised
/// the previous objective, so that δ_t ≤ ⟨g_t, x_t − y⟩ ≤ D‖g_t‖ for the new minimiser y.
pub fn dual_averaging(gradient: f64, diameter: f64, horizon: f64) -> Guarantee {
    let root = horizon.sqrt();
    let bound = move |rounds: f64| 0.5 * gradient * diameter * (root + rounds / root);
    Guarantee::new("Dual averaging, GD√T", 0.5, bound).assuming([Gradient(gradient)])
}

/// Dual averaging with η_t = D/(G√t): regret ≤ (3/2)GD√T. In the proof of [`dual_averaging`],
/// D²/(2η_{T−1}) ≤ (GD/2)√T and (G²/2)(η₁ + Σ_{t<T} η_t) ≤ GD√T.
pub fn dual_averaging_anytime(gradient: f64, diameter: f64) -> Guarantee {
    let bound = move |rounds: f64| 1.5 * gradient * diameter * rounds.sqrt();
    Guarantee::new("Dual averaging, (3/2)GD√T", 0.5, bound).assuming([Gradient(gradient)])
}

/// Dual averaging with η_t = D/√V_t: regret ≤ (1 + √5/2)·D·√V, where V is the run's Σ‖g_t‖² and V_t is
/// the sum of its first t terms. `root` is √V.
///
/// Proof. η_{t−1} does not depend on g_t, which may be larger than all gradients before. The proof
/// therefore needs both bounds on δ_t from [`dual_averaging`]. With r = ‖g_t‖/√V_{t−1} the two bounds are
/// δ_t ≤ D√V_{t−1}·min(r²/2, r), and min(r²/2, r) ≤ φ(√(1 + r²) − 1) for φ = (1 + √5)/2. To see this,
/// divide both terms by √(1 + r²) − 1: the first quotient rises with r, and the second quotient falls. At
/// r = 2 both quotients are φ. Hence δ_t ≤ φD(√V_t − √V_{t−1}), and these terms sum to φD√V_T. The first
/// part of the regret bound is D√V_{T−1}/2.
///
/// ```
/// let bound = extremal::theory::dual_averaging_adaptive(2.0, 5.0).bound(1.0);
/// assert!((bound - (0.5 + 1.618_033_988_749_895) * 10.0).abs() < 1e-9);
/// ```
pub fn dual_averaging_adaptive(diameter: f64, root: f64) -> Guarantee {
    let bound = (1.0 + 5f64.sqrt() / 2.0) * diameter * root;
    Guarantee::of_run("Dual averaging, (1 + √5/2)·D·√(Σ‖g‖²)", 0.5, bound)
}

/// The online Newton step for α-exp-concave losses: regret ≤ (1/(2γ))·(1 + d·ln(1 + (γGD)²T/d)) + γΣε_t.
/// `left` is γΣε_t, where the ε_t are the gaps of inexact projections. `left` is 0 if the projections are
/// exact. For T ≥ 5 the first part of the bound is at most 5(1/α + GD)·d·ln T (Hazan, Agarwal & Kale
/// 2007), since 1/(2γ) = max{4GD, 1/α} and γGD ≤ 1/8.
///
/// Proof. With γ ≤ ½min{1/(4GD), α}, an α-exp-concave f has
/// f(x_t) − f(u) ≤ ⟨g_t, x_t − u⟩ − (γ/2)⟨g_t, x_t − u⟩² over the set. A λ-strongly convex
/// f has this property too if γ ≤ λ/‖g_t‖². Let y = x_t − A_t⁻¹g_t/γ. In the norm of A_t,
/// ⟨g_t, x_t − u⟩ = (1/(2γ))g_tᵀA_t⁻¹g_t + (γ/2)(‖x_t − u‖² − ‖y − u‖²). If x_{t+1} has the
/// gap ε_t ≥ ⟨A_t(x_{t+1} − y), x_{t+1} − u⟩, then ‖y − u‖² ≥ ‖x_{t+1} − u‖² − 2ε_t. The sum
/// over t telescopes except for two terms. The term of A_t − A_{t−1} = g_tg_tᵀ cancels with
/// the term −(γ/2)⟨g_t, x_t − u⟩², and the term of A_0 = I/(γ²D²) is at most 1/(2γ). Finally
/// Σ g_tᵀA_t⁻¹g_t ≤ ln(det A_T/det A_0) ≤ d·ln(1 + (γD)²Σ‖g_t‖²/d).
pub fn ons(alpha: f64, gamma: f64, gradient: f64, diameter: f64, dim: f64, left: f64) -> Guarantee {
    let share = gamma * gradient * diameter;
    let bound = move |rounds: f64| {
        (0.5 + 0.5 * dim * (share * share * (rounds / dim)).ln_1p()) / gamma + left
    };
    Guarantee::new("ONS, (1+d·ln(1+(γGD)²T/d))/(2γ)", 0.0, bound)
        .assuming([Gradient(gradient), ExpConcaveLosses(alpha)])
}
