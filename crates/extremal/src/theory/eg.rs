//! Exponentiated gradient.
//!
//! Weights w_t ∝ exp(−η_t L_{t−1}) over N experts whose losses l_t span r_t, η not growing. With
//! the mix loss m_t = −(1/η_t) ln Σ w_t exp(−η_t l_t), ⟨w_t, l_t⟩ ≤ m_t + δ_t and
//! δ_t ≤ η_t r_t²/8 (Hoeffding); as η does not grow, Σm_t ≤ ln(N)/η_T + the losses of any expert.
//! So regret ≤ ln(N)/η_T + Σ η_t r_t²/8. With experts ±τe_i, τe_i or 0, r_t ≤ 2τG where G bounds
//! the gradients' entries.

use serde::{Deserialize, Serialize};

use super::{Assumption, Theorem};

/// Regret ≤ τG√(ln(N)/2)·(√H/s + sT/√H) after T rounds with η = s√(2 ln(N)/H)/(τG);
/// τG√(2T ln N) for T = H and s = 1.
pub fn eg(entry: f64, size: f64, experts: f64, horizon: f64, scale: f64, rounds: f64) -> f64 {
    let spread = horizon.sqrt() / scale + scale * (rounds / horizon.sqrt());
    entry * size * (0.5 * experts.ln()).sqrt() * spread
}

/// Regret ≤ τG√(T ln N)·(1/s + s) with η_t = s√(ln(N)/t)/(τG), as Σ 1/√t ≤ 2√T.
pub fn eg_anytime(entry: f64, size: f64, experts: f64, scale: f64, rounds: f64) -> f64 {
    entry * size * (rounds * experts.ln()).sqrt() * (1.0 / scale + scale)
}

/// Regret ≤ (1 + 1/s)·√((1 + s·ln(N)/4)Σr_t²) with η = s·ln(N)/Δ, Δ = Σδ_t: δ_t is at most r_t
/// too, so that Δ² grows by at most (s·ln(N)/4 + 1)r_t² per round, and the first part of the
/// regret is Δ/s. `ranges` is √(Σr_t²), at most 2τG√T. With s = 1 it is
/// [`adahedge`](super::adahedge).
pub fn eg_adaptive(experts: f64, scale: f64, ranges: f64) -> f64 {
    (1.0 + 1.0 / scale) * (1.0 + 0.25 * scale * experts.ln()).sqrt() * ranges
}

/// [`eg`] where η was fixed for a horizon, [`eg_anytime`] where not.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Eg {
    /// G.
    pub entry: f64,
    /// The largest entry seen.
    pub largest: f64,
    /// τ.
    pub size: f64,
    /// N.
    pub experts: f64,
    /// H.
    pub horizon: Option<f64>,
    /// s.
    pub scale: f64,
}

impl Theorem for Eg {
    fn name(&self) -> &'static str {
        match self.horizon {
            Some(_) => "EG, τG√(2T ln N)",
            None => "EG, 2τG√(T ln N)",
        }
    }

    fn bound(&self, rounds: f64) -> f64 {
        let Self {
            entry,
            size,
            experts,
            scale,
            ..
        } = *self;
        match self.horizon {
            Some(horizon) => eg(entry, size, experts, horizon, scale, rounds),
            None => eg_anytime(entry, size, experts, scale, rounds),
        }
    }

    fn exponent(&self) -> f64 {
        0.5
    }

    fn assumptions(&self) -> Vec<Assumption> {
        vec![Assumption::Entries {
            bound: self.entry,
            largest: self.largest,
        }]
    }
}

as_played!(
    /// (1 + 1/s)Δ, as the run has it; for the rounds played. At most [`eg_adaptive`].
    EgAdaptive {
        /// The bound.
        bound
    }, "EG, 2Δ", 0.5
);
