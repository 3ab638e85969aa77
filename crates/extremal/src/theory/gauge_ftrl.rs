//! Gauge-FTRL: with a fixed β, on smooth and on uniformly convex sets, and with its own.

use serde::{Deserialize, Serialize};

use super::{Assumption, Theorem};
use crate::rounding;

/// Regret ≤ β + LG²T/(2β): Gauge-FTRL with a fixed β; G√(2LT) at the best β = G√(LT/2).
pub fn gauge_ftrl(gradient: f64, l: f64, beta: f64, rounds: f64) -> f64 {
    beta + 0.5 * l * gradient * (gradient / beta) * rounds
}

/// Regret ≤ β + 2^(2−q)(rG)^q T/(qβ^(q−1)): Gauge-FTRL on ℓp balls with p > 2 and a fixed β.
pub fn gauge_ftrl_uniform(gradient: f64, q: f64, radius: f64, beta: f64, rounds: f64) -> f64 {
    beta + (2.0 - q).exp2() * (radius * gradient).powf(q) / (q * beta.powf(q - 1.0)) * rounds
}

/// [`gauge_ftrl`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)] // the constants are those of the functions above
pub struct GaugeFixed {
    pub gradient: f64,
    pub l: f64,
    pub beta: f64,
}

impl Theorem for GaugeFixed {
    fn name(&self) -> &'static str {
        "Gauge-FTRL, fixed β"
    }

    fn bound(&self, rounds: f64) -> f64 {
        gauge_ftrl(self.gradient, self.l, self.beta, rounds)
    }

    fn exponent(&self) -> f64 {
        0.5
    }

    fn assumptions(&self) -> Vec<Assumption> {
        vec![Assumption::Gradient(self.gradient)]
    }
}

/// [`gauge_ftrl_uniform`], with ‖g‖_q ≤ stretch·‖g‖₂.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)] // the constants are those of the functions above
pub struct GaugeUniform {
    pub gradient: f64,
    pub stretch: f64,
    pub q: f64,
    pub radius: f64,
    pub beta: f64,
}

impl Theorem for GaugeUniform {
    fn name(&self) -> &'static str {
        "Gauge-FTRL, fixed β"
    }

    fn bound(&self, rounds: f64) -> f64 {
        let gradient = self.stretch * self.gradient;
        gauge_ftrl_uniform(gradient, self.q, self.radius, self.beta, rounds)
    }

    fn exponent(&self) -> f64 {
        1.0 / self.q
    }

    fn assumptions(&self) -> Vec<Assumption> {
        vec![Assumption::Gradient(self.gradient)]
    }
}

/// 2β as the run balanced it; for the rounds played.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct GaugeOnline {
    /// 2β.
    pub bound: f64,
    /// How it grows with T.
    pub exponent: f64,
    /// G, where the proof needs it.
    pub gradient: Option<f64>,
}

impl Theorem for GaugeOnline {
    fn name(&self) -> &'static str {
        "Gauge-FTRL, 2β"
    }

    fn bound(&self, rounds: f64) -> f64 {
        self.bound * rounding::of_run(rounds)
    }

    fn exponent(&self) -> f64 {
        self.exponent
    }

    fn assumptions(&self) -> Vec<Assumption> {
        self.gradient
            .map(Assumption::Gradient)
            .into_iter()
            .collect()
    }
}
