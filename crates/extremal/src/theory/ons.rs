//! The online Newton step.
//!
//! With γ ≤ ½min{1/(4GD), α}, an α-exp-concave f has f(x_t) − f(u) ≤ ⟨g_t, x_t − u⟩ −
//! (γ/2)⟨g_t, x_t − u⟩² over the set; so has a λ-strongly convex one if γ ≤ λ/‖g_t‖². From
//! y = x_t − A_t⁻¹g_t/γ, ⟨g_t, x_t − u⟩ = (1/(2γ))g_tᵀA_t⁻¹g_t + (γ/2)(‖x_t − u‖² − ‖y − u‖²) in
//! the norm of A_t, and ‖y − u‖² ≥ ‖x_{t+1} − u‖² − 2ε_t where x_{t+1} leaves the gap
//! ε_t ≥ ⟨A_t(x_{t+1} − y), x_{t+1} − u⟩. The sum over t telescopes but for
//! A_t − A_{t−1} = g_tg_tᵀ, which the square above pays for, and for A_0 = I/(γ²D²), at most
//! 1/(2γ). And Σ g_tᵀA_t⁻¹g_t ≤ ln det A_T/det A_0 ≤ d·ln(1 + (γD)²Σ‖g_t‖²/d).

use serde::{Deserialize, Serialize};

use super::{Assumption, Theorem};

/// Regret ≤ (1/(2γ))·(1 + d·ln(1 + (γGD)²T/d)), projections being exact.
pub fn ons(gamma: f64, gradient: f64, diameter: f64, dim: f64, rounds: f64) -> f64 {
    let share = gamma * gradient * diameter;
    (0.5 + 0.5 * dim * (share * share * (rounds / dim)).ln_1p()) / gamma
}

/// Regret ≤ 5(1/α + GD)·d·ln T for T ≥ 5 (Hazan, Agarwal & Kale 2007): more than [`ons`], as
/// 1/(2γ) = max{4GD, 1/α} and γGD ≤ 1/8. GDT before.
///
/// ```
/// use extremal::theory::{ons, ons_book};
/// let (alpha, g, d) = (0.5, 2.0, 3.0); // γ = 1/48
/// for t in [5.0, 100.0, 1e6] {
///     assert!(ons(1.0 / 48.0, g, d, 4.0, t) < ons_book(alpha, g, d, 4.0, t));
/// }
/// ```
pub fn ons_book(alpha: f64, gradient: f64, diameter: f64, dim: f64, rounds: f64) -> f64 {
    if rounds < 5.0 {
        gradient * diameter * rounds
    } else {
        5.0 * (1.0 / alpha + gradient * diameter) * dim * rounds.ln()
    }
}

/// [`ons`] and what projections left; for the rounds played.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Ons {
    /// α.
    pub alpha: f64,
    /// G.
    pub gradient: f64,
    /// D.
    pub diameter: f64,
    /// γ.
    pub gamma: f64,
    /// d.
    pub dim: f64,
    /// γΣε_t.
    pub left: f64,
}

impl Theorem for Ons {
    fn name(&self) -> &'static str {
        "ONS, (1+d·ln(1+(γGD)²T/d))/(2γ)"
    }

    fn bound(&self, rounds: f64) -> f64 {
        let exact = ons(self.gamma, self.gradient, self.diameter, self.dim, rounds);
        exact + self.left
    }

    fn exponent(&self) -> f64 {
        0.0
    }

    fn assumptions(&self) -> Vec<Assumption> {
        vec![
            Assumption::Gradient(self.gradient),
            Assumption::ExpConcaveLosses(self.alpha),
        ]
    }
}
