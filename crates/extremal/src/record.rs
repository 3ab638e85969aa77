//! The record of a round, the statistics of a run, and certificates of regret.

use serde::{Deserialize, Serialize};

/// The record of one round.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Record {
    /// The number t of the round, from 1.
    pub round: u64,
    /// The step size σ_t of a Frank-Wolfe learner. A projected learner reports its step size η_t, and
    /// `hedge` reports its largest weight.
    pub sigma: f64,
    /// The gap ⟨∇F_t(x_t), x_t − v_t⟩, where F_t is scaled as in the paper. The gap is NaN for a learner
    /// without a surrogate.
    pub gap: f64,
    /// The number of linear minimisations in this round: oracle calls and minimisations in closed form.
    /// The number is 0 for a learner without an oracle.
    pub oracle_calls: u32,
    /// ‖g_t‖.
    pub gradient_norm: f64,
    /// ⟨g_t, x_t⟩.
    pub gradient_dot: f64,
    /// ‖x_t‖².
    pub norm_squared: f64,
}

impl Record {
    /// The record of a round without a step, a surrogate or oracle calls. The arguments are t, ‖g_t‖,
    /// ⟨g_t, x_t⟩ and ‖x_t‖².
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

/// The statistics of a run that are needed to check the assumptions of a theorem.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RunStatistics {
    /// The number of rounds so far.
    pub rounds: u64,
    /// The largest ‖g_t‖ so far.
    pub largest_gradient: f64,
    /// The number of the learner's oracle calls.
    pub oracle_calls: u64,
}

impl RunStatistics {
    /// The statistics of `rounds` rounds with gradients of at most this norm.
    pub fn new(rounds: u64, largest_gradient: f64) -> Self {
        Self {
            rounds,
            largest_gradient,
            ..Self::default()
        }
    }

    pub(crate) fn note(&mut self, record: &Record) {
        self.rounds = record.round;
        self.largest_gradient = self.largest_gradient.max(record.gradient_norm);
        self.oracle_calls += u64::from(record.oracle_calls);
    }
}

/// An upper bound on the regret, with the method by which it was computed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Certificate {
    /// The kind of certificate.
    pub level: Level,
    /// The upper bound on the regret.
    pub regret: f64,
    /// The bound assumes that the losses have this strong convexity λ. It is 0 for losses that are only
    /// convex.
    pub strong_convexity: f64,
    /// The part of `regret` that allows for rounding errors. At the level [`Level::Exact`] the true
    /// regret is at least `regret` − 2·`rounding`.
    pub rounding: f64,
}

/// The kind of a certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// The bound Σ⟨g_t, x_t⟩ − min ⟨Σg_t, x⟩ for convex losses.
    Linear,
    /// A smaller bound for strongly convex losses, which uses the curvature of the losses.
    Quadratic,
    /// A bound that uses the best fixed decision. This decision was computed offline, up to a gap.
    Interval,
    /// The regret itself.
    Exact,
}

impl std::fmt::Display for Level {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.serialize(f)
    }
}
