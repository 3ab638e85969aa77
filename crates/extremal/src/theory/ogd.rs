//! Online gradient descent with its three step sizes.

use serde::{Deserialize, Serialize};

use super::{Assumption, Theorem};

/// Regret ≤ (3/2)GD√T: online gradient descent with η = D/(G√t) (Zinkevich; Hazan's book).
pub fn ogd_convex(gradient: f64, diameter: f64, rounds: f64) -> f64 {
    1.5 * gradient * diameter * rounds.sqrt()
}

/// Regret ≤ G²(1 + ln T)/(2λ): online gradient descent with η = 1/(λt).
pub fn ogd_strongly_convex(gradient: f64, lambda: f64, rounds: f64) -> f64 {
    gradient * gradient * (1.0 + rounds.max(1.0).ln()) / (2.0 * lambda)
}

/// [`ogd_convex`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)] // the constants are those of the functions above
pub struct OgdConvex {
    pub gradient: f64,
    pub diameter: f64,
}

impl Theorem for OgdConvex {
    fn name(&self) -> &'static str {
        "OGD, (3/2)GD√T"
    }

    fn bound(&self, rounds: f64) -> f64 {
        ogd_convex(self.gradient, self.diameter, rounds)
    }

    fn exponent(&self) -> f64 {
        0.5
    }

    fn assumptions(&self) -> Vec<Assumption> {
        vec![Assumption::Gradient(self.gradient)]
    }
}

/// [`ogd_strongly_convex`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)] // the constants are those of the functions above
pub struct OgdStronglyConvex {
    pub gradient: f64,
    pub lambda: f64,
}

impl Theorem for OgdStronglyConvex {
    fn name(&self) -> &'static str {
        "OGD, G²(1+ln T)/(2λ)"
    }

    fn bound(&self, rounds: f64) -> f64 {
        ogd_strongly_convex(self.gradient, self.lambda, rounds)
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

as_played!(
    /// √2·D·√(Σ‖g‖²) with the gradients of the run; for the rounds played.
    OgdAdagrad {
        /// √2·D·√(Σ‖g‖²).
        bound
    }, "OGD, √2·D·√(Σ‖g‖²)", 0.5
);
