//! The facts about a run, and the check of a theorem's assumptions against them.

use serde::{Deserialize, Serialize};

use super::Assumption;

/// Statistics of a run that the assumptions of a theorem are checked against.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RunStatistics {
    /// T so far.
    pub rounds: u64,
    /// max ‖g_t‖.
    pub largest_gradient: f64,
    /// Oracle calls made to play.
    pub oracle_calls: u64,
}

impl RunStatistics {
    /// So many rounds with gradients up to this norm.
    pub fn new(rounds: u64, largest_gradient: f64) -> Self {
        Self {
            rounds,
            largest_gradient,
            ..Self::default()
        }
    }
}

/// Known properties of the losses of a run. By default they are only convex.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LossFacts {
    /// Their strong convexity λ, 0 if unknown.
    pub strong_convexity: f64,
    /// A bound β of their second derivatives: 0 for linear losses, ∞ where no bound is known.
    pub smoothness: f64,
    /// Whether the losses were fixed beforehand and do not depend on the decisions.
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
    /// Losses of which only their λ is known.
    pub fn strongly_convex(lambda: f64) -> Self {
        Self {
            strong_convexity: lambda,
            ..Self::default()
        }
    }
}

/// A run as it was observed, to check a theorem against.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Run {
    /// The learner's statistics.
    pub seen: RunStatistics,
    /// The losses.
    pub losses: LossFacts,
    /// The largest violation of any decision; `None` where the set can't compute it.
    pub violation: Option<f64>,
    /// The set's ℓ2 diameter.
    pub diameter: f64,
    /// How far the total loss is above the least total that the losses allow:
    /// [`Objective::above_least`](crate::loss::Objective::above_least).
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
    /// A sentence with the figures.
    pub detail: String,
}

/// A theorem's bound for a run, and its broken assumptions.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
#[non_exhaustive]
pub struct Report {
    /// The bound for the rounds played.
    pub bound: f64,
    /// Whether the bound holds for any learner on this run: [`is_vacuous`].
    pub vacuous: bool,
    /// Each assumption, and that decisions were feasible where that is known.
    pub checks: Vec<Check>,
}

impl Report {
    /// The assumptions that the run broke. The bound holds only if the list is empty.
    pub fn failed(&self) -> impl Iterator<Item = &Check> {
        self.checks.iter().filter(|check| !check.holds)
    }
}

impl Run {
    /// Violations of a set's constraints up to this one count as feasible.
    pub(super) const FEASIBLE: f64 = 1e-9;

    /// A run on a set of unknown diameter, with losses of which no least value is known.
    pub fn new(seen: RunStatistics, losses: LossFacts) -> Self {
        Self {
            seen,
            losses,
            violation: None,
            diameter: f64::INFINITY,
            above_least: f64::INFINITY,
        }
    }

    /// The bound that holds for this run whatever the learner does.
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
                format!("losses strongly convex with {lambda} {least} λ = {l}")
            }
            Assumption::Feasible(bound) => {
                format!("largest violation {violation:e} {most} {bound:e}")
            }
            Assumption::InExpectation => {
                "the bound is for the mean over seeds, not for one run".into()
            }
            Assumption::Oblivious if holds => "losses fixed beforehand".into(),
            Assumption::Oblivious => {
                "losses may depend on decisions, and the theorem needs losses fixed beforehand"
                    .into()
            }
            Assumption::Smooth(0.0) if holds => "linear losses".into(),
            Assumption::Smooth(0.0) => {
                "losses not linear, and the theorem needs linear ones".into()
            }
            Assumption::Smooth(beta) if smoothness.is_finite() => {
                format!("losses smooth with {smoothness} {most} β = {beta}")
            }
            Assumption::Smooth(beta) => {
                format!("losses not known to be smooth, and the theorem needs β = {beta}")
            }
            Assumption::Entries { bound, largest } => {
                format!("largest entry of a gradient {largest:.6} {most} {bound:.6}")
            }
            Assumption::ExpConcaveLosses(alpha) => {
                format!("losses known to be exp-concave with {exp_concavity} {least} α = {alpha}")
            }
        };
        Check {
            assumption,
            holds,
            detail,
        }
    }
}

/// The bound that holds for the regret of any feasible decisions, whatever the learner does:
/// min(G·D·T, `above_least`), where `above_least` is the total loss less the least total that the
/// losses allow, [`Objective::above_least`](crate::loss::Objective::above_least). For several
/// learners that share the rounds, one per class for example, it is the sum of theirs.
///
/// Losses are convex, so that regret ≤ Σ⟨g_t, x_t − u⟩ ≤ G·D·T. No fixed decision has a total
/// loss below the least that the losses allow, so that regret ≤ total loss − that least.
///
/// ```
/// use extremal::theory::{is_vacuous, trivial_regret};
/// let trivial = trivial_regret(0.5, 2.0, 100.0, 60.0);
/// assert_eq!(trivial, 60.0);
/// assert!(is_vacuous(60.0, trivial) && !is_vacuous(59.9, trivial));
/// // where the losses have no least value, G·D·T is left
/// assert_eq!(trivial_regret(0.5, 2.0, 100.0, f64::INFINITY), 100.0);
/// ```
pub fn trivial_regret(gradient: f64, diameter: f64, rounds: f64, above_least: f64) -> f64 {
    (gradient * diameter * rounds).min(above_least)
}

/// Whether a bound or a certificate is vacuous: it is at least `trivial`, the
/// [`trivial_regret`] of the run, or not a number.
pub fn is_vacuous(bound: f64, trivial: f64) -> bool {
    !(bound < trivial)
}
