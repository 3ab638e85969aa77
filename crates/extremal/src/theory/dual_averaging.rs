//! Dual averaging with its three step sizes.
//!
//! x_t minimises ⟨S_{t−1}, x⟩ + ‖x − x₁‖²/(2η_{t−1}) over the set, η not growing. Follow-the-
//! regularised-leader then gives regret ≤ D²/(2η_{T−1}) + Σδ_t, where δ_t is by how much x_t
//! misses the minimum once g_t is added. That is at most (η_{t−1}/2)‖g_t‖², as the regulariser is
//! 1/η_{t−1}-strongly convex, and at most ⟨g_t, x_t − y⟩ ≤ D‖g_t‖, as x_t was a minimiser before.

use serde::{Deserialize, Serialize};

use super::{Assumption, Theorem};

/// Regret ≤ (GD/2)(√N + T/√N) after T rounds with η = D/(G√N); GD√T for T = N.
pub fn dual_averaging(gradient: f64, diameter: f64, horizon: f64, rounds: f64) -> f64 {
    0.5 * gradient * diameter * (horizon.sqrt() + rounds / horizon.sqrt())
}

/// Regret ≤ (3/2)GD√T with η_t = D/(G√t): D²/(2η_{T−1}) is at most (GD/2)√T, and
/// (G²/2)(η₁ + Σ_{t<T} η_t) at most GD√T.
pub fn dual_averaging_anytime(gradient: f64, diameter: f64, rounds: f64) -> f64 {
    1.5 * gradient * diameter * rounds.sqrt()
}

/// Regret ≤ (1 + √5/2)·D·√V, V = Σ‖g‖², with η_t = D/√V_t.
///
/// η_{t−1} does not know g_t, which may be larger than all before; that is where the second bound
/// of δ_t comes in. With r = ‖g_t‖/√V_{t−1}, δ_t ≤ D√V_{t−1}·min(r²/2, r), and
/// min(r²/2, r) ≤ φ(√(1 + r²) − 1) for φ = (1 + √5)/2: the quotient r²/2 / (√(1 + r²) − 1) =
/// (√(1 + r²) + 1)/2 rises with r, r/(√(1 + r²) − 1) falls, and where they meet, at r = 2, both
/// are φ. So δ_t ≤ φD(√V_t − √V_{t−1}), which adds up to φD√V_T; the first part of the regret is
/// D√V_{T−1}/2.
///
/// ```
/// let bound = extremal::theory::dual_averaging_adaptive(2.0, 5.0);
/// assert!((bound - (0.5 + 1.618_033_988_749_895) * 10.0).abs() < 1e-12);
/// ```
pub fn dual_averaging_adaptive(diameter: f64, root: f64) -> f64 {
    (1.0 + 5f64.sqrt() / 2.0) * diameter * root
}

/// [`dual_averaging`] where η was fixed for a horizon, [`dual_averaging_anytime`] where not.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)] // the constants are those of the functions above
pub struct DualAveraging {
    pub gradient: f64,
    pub diameter: f64,
    pub horizon: Option<f64>,
}

impl Theorem for DualAveraging {
    fn name(&self) -> &'static str {
        match self.horizon {
            Some(_) => "Dual averaging, GD√T",
            None => "Dual averaging, (3/2)GD√T",
        }
    }

    fn bound(&self, rounds: f64) -> f64 {
        match self.horizon {
            Some(horizon) => dual_averaging(self.gradient, self.diameter, horizon, rounds),
            None => dual_averaging_anytime(self.gradient, self.diameter, rounds),
        }
    }

    fn exponent(&self) -> f64 {
        0.5
    }

    fn assumptions(&self) -> Vec<Assumption> {
        vec![Assumption::Gradient(self.gradient)]
    }
}

as_played!(
    /// [`dual_averaging_adaptive`] with the gradients of the run; for the rounds played.
    DualAveragingAdaptive {
        /// (1 + √5/2)·D·√(Σ‖g‖²).
        bound
    }, "Dual averaging, (1 + √5/2)·D·√(Σ‖g‖²)", 0.5
);
