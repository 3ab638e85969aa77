//! Local linear optimisation, with its three regularisers.
//!
//! The learner keeps near x*_{t+1}, the minimiser of F_t(x) = ⟨S_t, x⟩ + w_t‖x − x₁‖², by one
//! step per round. Let h_t = F_{t−1}(x_t) − F_{t−1}(x*_t), so that ‖x_t − x*_t‖² ≤ h_t/w_{t−1}, and
//! let the gradient of what F_t adds be at most G̃ in norm. Then ‖x*_{t+1} − x*_t‖ ≤ G̃/(2w_t), and
//! q = ‖x_t − x*_{t+1}‖ is at most r = √(h_t/w_{t−1}) + G̃/(2w_t). The oracle's p for this r is as
//! good as x*_{t+1}, and no further off than ρr; so is that for any smaller bound of q. With the step α = 1/(2ρ²), or any better one,
//! h_{t+1} ≤ (1 − α)(h_t + G̃r) + αw_t r²/2. If h_t ≤ (kG̃)²/w_{t−1} and w_t ≤ (1 + b)w_{t−1}, then
//! h_{t+1} ≤ (kG̃)²/w_t as soon as
//!
//! k²(α/2 − b − αb²/2) ≥ k(1 + b)(1 − α/2) + 1/2 − 3α/8:
//!
//! k = 4ρ² for a fixed w, k = 4.5ρ² for b ≤ α/64. The regret is at most w_T D², what
//! regularisation costs, plus Σ G²/(4w_{t−1}), what following x* does, plus Σ G·kG̃/w_{t−1}, what
//! being only near it does.

use serde::{Deserialize, Serialize};

use super::{Assumption, Theorem};

/// k + 1/4 for a fixed regulariser: w = (G/D)√(κT).
pub(crate) fn kappa(rho: f64) -> f64 {
    4.0 * rho * rho + 0.25
}

/// The same for one that grows: w_t = (√2·G/D)√(κ(t + 16κ)).
pub(crate) fn kappa_anytime(rho: f64) -> f64 {
    4.5 * rho * rho + 0.25
}

/// By how many κ the growing regulariser is ahead of the rounds.
pub(crate) const AHEAD: f64 = 16.0;

/// Regret ≤ GD√κ(√N/s + sT/√N), κ = 4ρ² + ¼, after T rounds with the regulariser
/// w = (G/D)√(κN)/s; 2GD√(κT) for T = N and s = 1.
pub fn lloo(gradient: f64, diameter: f64, rho: f64, scale: f64, horizon: f64, rounds: f64) -> f64 {
    let root = horizon.sqrt();
    gradient * diameter * kappa(rho).sqrt() * (root / scale + scale * rounds / root)
}

/// ‖x_t − x*_t‖ ≤ 4ρ²G/w, with the regulariser of [`lloo`].
pub fn lloo_lemma(diameter: f64, rho: f64, scale: f64, horizon: f64) -> f64 {
    4.0 * rho * rho * scale * diameter / (kappa(rho) * horizon).sqrt()
}

/// The same without N, with w_t = a(G/D)√(κ(t + τ)), a = √2/s, κ = 4.5ρ² + ¼, τ = 16κ:
/// regret ≤ GD√κ(a√(T + τ) + (1/a + 1/4)(2√(T + τ) − 2√τ + 1/√τ)).
///
/// w grows by less than aG/(8D) per round, so that G̃ = (1 + a/4)G, and by a factor of less than
/// 1 + 1/(2τ), with 1/(2τ) ≤ α/64.
pub fn lloo_anytime(gradient: f64, diameter: f64, rho: f64, scale: f64, rounds: f64) -> f64 {
    let kappa = kappa_anytime(rho);
    let ahead = AHEAD * kappa;
    let a = std::f64::consts::SQRT_2 / scale;
    let last = (rounds + ahead).sqrt();
    let sum = 2.0 * (last - ahead.sqrt()) + 1.0 / ahead.sqrt();
    gradient * diameter * kappa.sqrt() * (a * last + (1.0 / a + 0.25) * sum)
}

/// λ-strongly convex losses. Regret ≤ (G(G + λD)/λ)(12ρ²(1/c + ln(1 + (T − 1)/c)) + ln(1 + T/c))
/// + 8ρ²λD² with c = 16ρ².
///
/// F_t(x) = Σ(⟨g_τ, x⟩ + (λ/2)‖x − x_τ‖²) + (cλ/2)‖x − x₁‖² is strongly convex with
/// κ_t = λ(t + c), and what it adds has a gradient of G at x_t and at most G' = G + λD elsewhere.
/// As above, ‖x_t − x*_t‖ ≤ kG'/κ_{t−1} with k = 12ρ², as
/// k²(α/2 − b − αb²/2) ≥ 2k(1 + b)(1 − α/2) + 2 − 3α/2 for b = 1/c = α/8. A round costs
/// G‖x_t − x*_{t+1}‖ ≤ GG'(k/κ_{t−1} + 1/κ_t) at most.
pub fn lloo_strongly_convex(
    gradient: f64,
    lambda: f64,
    diameter: f64,
    rho: f64,
    rounds: f64,
) -> f64 {
    let square = rho * rho;
    let c = 16.0 * square;
    let before = 1.0 / c + ((rounds - 1.0).max(0.0) / c).ln_1p();
    let sum = 12.0 * square * before + (rounds / c).ln_1p();
    let slope = gradient + lambda * diameter;
    gradient * (slope / lambda) * sum + 8.0 * square * lambda * diameter * diameter
}

/// [`lloo`] where the regulariser was fixed for a horizon, [`lloo_anytime`] where not.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)] // the constants are those of the functions above
pub struct Lloo {
    pub gradient: f64,
    pub diameter: f64,
    pub rho: f64,
    pub scale: f64,
    pub horizon: Option<f64>,
}

impl Theorem for Lloo {
    fn name(&self) -> &'static str {
        match self.horizon {
            Some(_) => "LLOO, 2GD√((4ρ²+¼)T)",
            None => "LLOO, O(ρGD√T)",
        }
    }

    fn bound(&self, rounds: f64) -> f64 {
        let Self {
            gradient,
            diameter,
            rho,
            scale,
            horizon,
        } = *self;
        match horizon {
            Some(horizon) => lloo(gradient, diameter, rho, scale, horizon, rounds),
            None => lloo_anytime(gradient, diameter, rho, scale, rounds),
        }
    }

    fn exponent(&self) -> f64 {
        0.5
    }

    fn assumptions(&self) -> Vec<Assumption> {
        vec![Assumption::Gradient(self.gradient)]
    }
}

/// [`lloo_strongly_convex`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)] // the constants are those of the function above
pub struct LlooStronglyConvex {
    pub gradient: f64,
    pub lambda: f64,
    pub diameter: f64,
    pub rho: f64,
}

impl Theorem for LlooStronglyConvex {
    fn name(&self) -> &'static str {
        "LLOO, O(ρ²(G+λD)² ln T/λ)"
    }

    fn bound(&self, rounds: f64) -> f64 {
        lloo_strongly_convex(self.gradient, self.lambda, self.diameter, self.rho, rounds)
    }

    fn exponent(&self) -> f64 {
        0.0
    }

    fn assumptions(&self) -> Vec<Assumption> {
        vec![
            Assumption::Gradient(self.gradient),
            Assumption::StronglyConvexLosses(self.lambda),
        ]
    }
}
