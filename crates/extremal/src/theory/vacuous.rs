//! Bounds and certificates that say nothing.

/// What holds for the regret of any feasible decisions, whatever the learner does.
///
/// Losses are convex, so that regret ≤ Σ⟨g_t, x_t − u⟩ ≤ G·D·T; and no fixed decision has a total
/// loss below the least that the losses allow, so that regret ≤ total loss − that least.
///
/// ```
/// use extremal::theory::{Trivial, is_vacuous};
/// let run = Trivial { gradient: 0.5, diameter: 2.0, rounds: 100.0, above_least: 60.0 };
/// assert_eq!(run.regret(), 60.0);
/// assert!(is_vacuous(60.0, run.regret()) && !is_vacuous(59.9, run.regret()));
/// // where the losses have no least value, G·D·T is left
/// let linear = Trivial { above_least: f64::INFINITY, ..run };
/// assert_eq!(linear.regret(), 100.0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trivial {
    /// G, the largest ‖g_t‖ that was met.
    pub gradient: f64,
    /// D, the set's ℓ2 diameter.
    pub diameter: f64,
    /// T.
    pub rounds: f64,
    /// The total loss less the least total that the losses allow:
    /// [`Objective::above_least`](crate::loss::Objective::above_least).
    pub above_least: f64,
}

impl Trivial {
    /// min(G·D·T, total loss − least total). For several learners that share the rounds, one per
    /// class for example, the sum of theirs.
    pub fn regret(&self) -> f64 {
        (self.gradient * self.diameter * self.rounds).min(self.above_least)
    }
}

/// Whether a bound or a certificate says nothing: it is at least `trivial`, the
/// [`Trivial::regret`] of the run, or not a number.
pub fn is_vacuous(bound: f64, trivial: f64) -> bool {
    !(bound < trivial)
}
