//! The record of a round, and certificates of regret.

use serde::{Deserialize, Serialize};

use crate::theory::RunStatistics;

/// The record of one round.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Record {
    /// t, from 1.
    pub round: u64,
    /// The step σ_t of a Frank-Wolfe learner. A projected learner reports its step size η_t, and
    /// `hedge` its largest weight.
    pub sigma: f64,
    /// ⟨∇F_t(x_t), x_t − v_t⟩ in the paper's scaling; NaN for learners without a surrogate.
    pub gap: f64,
    /// The number of linear minimisations in this round: oracle calls, counted at the oracle, and
    /// closed-form minimisations of a storage. 0 for learners without an oracle.
    pub oracle_calls: u32,
    /// ‖g_t‖.
    pub gradient_norm: f64,
    /// ⟨g_t, x_t⟩.
    pub gradient_dot: f64,
    /// ‖x_t‖².
    pub norm_squared: f64,
}

impl Record {
    /// The record of round t, played with x_t and g_t, without a step, a surrogate or oracle calls.
    pub fn new(round: u64, gradient_norm: f64, gradient_dot: f64, norm_squared: f64) -> Self {
        Self {
            round,
            sigma: 0.0,
            gap: f64::NAN,
            oracle_calls: 0,
            gradient_norm,
            gradient_dot,
            norm_squared,
        }
    }
}

impl RunStatistics {
    pub(crate) fn note(&mut self, record: &Record) {
        self.rounds = record.round;
        self.largest_gradient = self.largest_gradient.max(record.gradient_norm);
        self.oracle_calls += u64::from(record.oracle_calls);
    }
}

/// An upper bound on the regret, and how it was computed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Certificate {
    /// The kind of certificate.
    pub level: Level,
    /// The upper bound on the regret, for convex losses with the strong convexity below.
    pub regret: f64,
    /// The strong convexity λ that the bound assumes; 0 if the losses need only be convex. The bound
    /// does not hold for losses that are less strongly convex.
    pub strong_convexity: f64,
    /// The part of `regret` that allows for rounding errors. At the level [`Level::Exact`] the
    /// regret is no less than `regret` − 2·`rounding`.
    pub rounding: f64,
}

/// Kinds of certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// Σ⟨g_t, x_t⟩ − min ⟨Σg_t, x⟩, for convex losses.
    Linear,
    /// Like `Linear`, with the curvature of strongly convex losses.
    Quadratic,
    /// From the best fixed decision, computed offline up to a gap.
    Interval,
    /// The regret itself.
    Exact,
}

impl std::fmt::Display for Level {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.serialize(f)
    }
}
