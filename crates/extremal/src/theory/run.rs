//! The facts about a run, and the check whether these facts satisfy a theorem's assumptions.

use super::{Assumption, RunStatistics};

/// Known properties of the losses of a run. The default states only that the losses are convex.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LossFacts {
    /// The strong convexity λ, or 0 if no λ > 0 is known.
    pub strong_convexity: f64,
    /// A bound β on the second derivatives. It is 0 for linear losses, and ∞ if no bound is known.
    pub smoothness: f64,
    /// Whether the losses were fixed before the run and do not depend on the decisions.
    pub oblivious: bool,
}

impl Default for LossFacts {
    fn default() -> Self {
        Self {
            strong_convexity: 0.0,
            smoothness: f64::INFINITY,
            oblivious: false,
        }
    }
}

impl LossFacts {
    /// Losses with this λ and without other known properties.
    pub fn strongly_convex(lambda: f64) -> Self {
        Self {
            strong_convexity: lambda,
            ..Self::default()
        }
    }
}

/// The facts about a run that are needed to check a theorem.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Run {
    /// The learner's statistics.
    pub seen: RunStatistics,
    /// The known properties of the losses.
    pub losses: LossFacts,
    /// The largest violation of any decision. It is `None` if the set can't compute violations.
    pub violation: Option<f64>,
    /// The set's ℓ2 diameter.
    pub diameter: f64,
    /// The total loss minus the smallest total loss that is possible for any decision
    /// ([`Objective::above_least`](crate::loss::Objective::above_least)).
    pub above_least: f64,
}

/// Whether a run satisfied an assumption.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Check {
    /// The assumption.
    pub assumption: Assumption,
    /// Whether the assumption holds.
    pub holds: bool,
    /// A sentence that gives the numbers.
    pub detail: String,
}

/// A theorem's bound for a run, and a check of each assumption.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
#[non_exhaustive]
pub struct Report {
    /// The bound for the rounds played.
    pub bound: f64,
    /// Whether the bound is vacuous, because it holds for every learner ([`is_vacuous`]).
    pub vacuous: bool,
    /// The checks of all assumptions, and of feasibility if violations are known.
    pub checks: Vec<Check>,
}

impl Report {
    /// The assumptions that the run broke. The bound is proven only if this list is empty.
    pub fn failed(&self) -> impl Iterator<Item = &Check> {
        self.checks.iter().filter(|check| !check.holds)
    }
}

impl Run {
    /// The largest violation with which a decision is treated as feasible.
    pub(super) const FEASIBLE: f64 = 1e-9;

    /// A run on a set of unknown diameter, with losses whose smallest value is unknown.
    pub fn new(seen: RunStatistics, losses: LossFacts) -> Self {
        Self {
            seen,
            losses,
            violation: None,
            diameter: f64::INFINITY,
            above_least: f64::INFINITY,
        }
    }

    /// The bound on the regret that holds for every learner on this run.
    pub fn trivial_regret(&self) -> f64 {
        let (gradient, rounds) = (self.seen.largest_gradient, self.seen.rounds as f64);
        trivial_regret(gradient, self.diameter, rounds, self.above_least)
    }

    /// Checks one assumption, up to rounding.
    pub(super) fn check(&self, assumption: Assumption) -> Check {
        let at_most = |found: f64, bound: f64| found <= bound * (1.0 + 1e-12);
        let at_least = |found: f64, bound: f64| found >= bound * (1.0 - 1e-12);
        let (rounds, largest) = (self.seen.rounds, self.seen.largest_gradient);
        let (lambda, smoothness) = (self.losses.strong_convexity, self.losses.smoothness);
        let exp_concavity = lambda / largest / largest;
        let violation = self.violation.unwrap_or(f64::NAN);
        let holds = match assumption {
            Assumption::Gradient(g) => at_most(largest, g),
            Assumption::Horizon(t) => rounds as f64 == t,
            Assumption::StronglyConvexLosses(l) => at_least(lambda, l),
            Assumption::Feasible(most) => at_most(violation, most),
            Assumption::InExpectation => false,
            Assumption::Oblivious => self.losses.oblivious,
            Assumption::Smooth(beta) => smoothness.is_finite() && at_most(smoothness, beta),
            Assumption::Entries { bound, largest } => at_most(largest, bound),
            Assumption::ExpConcaveLosses(alpha) => at_least(exp_concavity, alpha),
        };
        let (most, least) = if holds { ("≤", "≥") } else { (">", "<") };
        let detail = match assumption {
            Assumption::Gradient(g) => format!("largest gradient {largest:.6} {most} G = {g:.6}"),
            Assumption::Horizon(t) => format!("{rounds} rounds were played, but T = {t}"),
            Assumption::StronglyConvexLosses(l) => {
                format!("strong convexity of the losses {lambda} {least} λ = {l}")
            }
            Assumption::Feasible(bound) => {
                format!("largest violation {violation:e} {most} {bound:e}")
            }
            Assumption::InExpectation => {
                "the bound is for the mean over seeds, not for one run".into()
            }
            Assumption::Oblivious if holds => "the losses are fixed before the run".into(),
            Assumption::Oblivious => {
                "the losses may depend on the decisions, but the theorem needs losses that are fixed before the run"
                    .into()
            }
            Assumption::Smooth(0.0) if holds => "the losses are linear".into(),
            Assumption::Smooth(0.0) => {
                "the losses are not linear, but the theorem needs linear losses".into()
            }
            Assumption::Smooth(beta) if smoothness.is_finite() => {
                format!("smoothness of the losses {smoothness} {most} β = {beta}")
            }
            Assumption::Smooth(beta) => {
                format!("the losses are not known to be smooth, but the theorem needs β = {beta}")
            }
            Assumption::Entries { bound, largest } => {
                format!("largest entry of a gradient {largest:.6} {most} {bound:.6}")
            }
            Assumption::ExpConcaveLosses(alpha) => {
                format!("known exp-concavity of the losses {exp_concavity} {least} α = {alpha}")
            }
        };
        Check {
            assumption,
            holds,
            detail,
        }
    }
}

/// The bound min(G·D·T, `above_least`) on the regret, which holds for every learner with feasible
/// decisions. `above_least` is the total loss minus the smallest total loss that is possible for any
/// decision ([`Objective::above_least`](crate::loss::Objective::above_least)). For several learners
/// that share the rounds, for example one per class, add their `above_least`.
///
/// The losses are convex, so that regret ≤ Σ⟨g_t, x_t − u⟩ ≤ G·D·T. No fixed decision has a total loss
/// below the smallest possible total loss, so that regret ≤ `above_least`.
///
/// ```
/// use extremal::theory::{is_vacuous, trivial_regret};
/// let trivial = trivial_regret(0.5, 2.0, 100.0, 60.0);
/// assert_eq!(trivial, 60.0);
/// assert!(is_vacuous(60.0, trivial) && !is_vacuous(59.9, trivial));
/// // without a lower bound on the losses, the bound is G·D·T
/// assert_eq!(trivial_regret(0.5, 2.0, 100.0, f64::INFINITY), 100.0);
/// ```
pub fn trivial_regret(gradient: f64, diameter: f64, rounds: f64, above_least: f64) -> f64 {
    (gradient * diameter * rounds).min(above_least)
}

/// Whether a bound or a certificate is vacuous: NaN, or at least the [`trivial_regret`] of the run.
pub fn is_vacuous(bound: f64, trivial: f64) -> bool {
    !(bound < trivial)
}
