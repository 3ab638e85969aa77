//! A theorem about regret, represented by a value.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use super::{Check, LossFacts, Report, Run, RunStatistics, is_vacuous};
use crate::rounding;

/// An assumption of a theorem. In addition, every theorem assumes that the losses are convex, and that
/// the constants of the set are correct.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Assumption {
    /// ‖g_t‖ ≤ G.
    Gradient(f64),
    /// The run has exactly T rounds.
    Horizon(f64),
    /// The losses are λ-strongly convex.
    StronglyConvexLosses(f64),
    /// Every decision lies in the set, up to this violation.
    Feasible(f64),
    /// The bound is about the mean over seeds. A single run can neither satisfy nor break this bound.
    InExpectation,
    /// The losses are fixed before the run and do not depend on the decisions.
    Oblivious,
    /// The losses are β-smooth, and linear if β = 0.
    Smooth(f64),
    /// Every entry of a gradient has at most the absolute value G.
    Entries {
        /// G.
        bound: f64,
        /// The largest absolute value of an entry in the run.
        largest: f64,
    },
    /// The losses are α-exp-concave. λ-strongly convex losses are α-exp-concave with α = λ/G².
    ExpConcaveLosses(f64),
}

/// A theorem about a learner's regret, for given constants: a name, a bound as a function of T, the
/// exponent of T, and the assumptions. The functions of this module return theorems. This example states
/// a new theorem:
///
/// ```
/// use extremal::theory::{Assumption, Guarantee, LossFacts, RunStatistics};
/// let mine = Guarantee::new("my theorem, 3G√T", 0.5, |t| 3.0 * 2.0 * t.sqrt())
///     .assuming([Assumption::Gradient(2.0)]);
/// assert_eq!((mine.theorem(), mine.bound(100.0)), ("my theorem, 3G√T", 60.0));
/// let run = RunStatistics::new(100, 2.5);
/// assert!(!mine.check(&run, &LossFacts::default())[0].holds);
/// ```
#[derive(Clone)]
#[must_use]
pub struct Guarantee {
    theorem: Cow<'static, str>,
    exponent: f64,
    assumptions: Vec<Assumption>,
    bound: Arc<dyn Fn(f64) -> f64 + Send + Sync>,
}

impl Guarantee {
    /// A theorem whose bound grows like T^`exponent` (0 for log T). `bound` maps T to the bound.
    pub fn new(
        theorem: impl Into<Cow<'static, str>>,
        exponent: f64,
        bound: impl Fn(f64) -> f64 + Send + Sync + 'static,
    ) -> Self {
        Self {
            theorem: theorem.into(),
            exponent,
            assumptions: Vec::new(),
            bound: Arc::new(bound),
        }
    }

    /// A theorem whose bound was computed from the sums of a run. The bound holds for the rounds of this
    /// run. An allowance for the rounding errors of the sums is added to the bound.
    pub fn of_run(theorem: impl Into<Cow<'static, str>>, exponent: f64, bound: f64) -> Self {
        let bound = move |rounds| bound * rounding::of_run(rounds);
        Self::new(theorem, exponent, bound)
    }

    /// Replaces the exponent.
    pub fn with_exponent(self, exponent: f64) -> Self {
        Self { exponent, ..self }
    }

    /// Adds assumptions.
    pub fn assuming(mut self, assumptions: impl IntoIterator<Item = Assumption>) -> Self {
        self.assumptions.extend(assumptions);
        self
    }

    /// The bound after `rounds` rounds.
    pub fn bound(&self, rounds: f64) -> f64 {
        (self.bound)(rounds)
    }

    /// The exponent a of a bound that grows like T^a. It is 0 for log T.
    pub fn exponent(&self) -> f64 {
        self.exponent
    }

    /// The theorem's name.
    pub fn theorem(&self) -> &str {
        &self.theorem
    }

    /// The theorem's assumptions.
    pub fn assumptions(&self) -> &[Assumption] {
        &self.assumptions
    }

    /// Checks each assumption against a run.
    #[must_use]
    pub fn check(&self, seen: &RunStatistics, losses: &LossFacts) -> Vec<Check> {
        let run = Run::new(*seen, *losses);
        self.assumptions.iter().map(|a| run.check(*a)).collect()
    }

    /// The bound for a run, and a check of every assumption.
    ///
    /// ```
    /// use extremal::theory::{self, LossFacts, RunStatistics, Run};
    /// let theorem = theory::ogd_convex(1.0, 2.0);
    /// let mut run = Run::new(RunStatistics::new(100, 1.0), LossFacts::default());
    /// (run.diameter, run.above_least) = (2.0, 80.0);
    /// let report = theorem.report(&run);
    /// assert_eq!((report.bound, report.vacuous, report.failed().count()), (30.0, false, 0));
    /// run.seen.largest_gradient = 1.5;
    /// assert_eq!(theorem.report(&run).failed().count(), 1);
    /// ```
    pub fn report(&self, run: &Run) -> Report {
        let bound = self.bound(run.seen.rounds as f64);
        let feasible = run.violation.map(|_| Assumption::Feasible(Run::FEASIBLE));
        let assumptions = self.assumptions.iter().copied().chain(feasible);
        Report {
            bound,
            vacuous: is_vacuous(bound, run.trivial_regret()),
            checks: assumptions.map(|a| run.check(a)).collect(),
        }
    }
}

/// The values of T at which bounds are compared and shown.
const ROUNDS: [f64; 3] = [1.0, 1e3, 1e6];

impl fmt::Debug for Guarantee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guarantee")
            .field("theorem", &self.theorem)
            .field("exponent", &self.exponent)
            .field("assumptions", &self.assumptions)
            .field("bounds", &ROUNDS.map(|t| (t, self.bound(t))))
            .finish()
    }
}

/// Equal guarantees have the same name, exponent, assumptions, and bounds at T = 1, 10³ and 10⁶.
impl PartialEq for Guarantee {
    fn eq(&self, other: &Self) -> bool {
        self.theorem == other.theorem
            && self.exponent == other.exponent
            && self.assumptions == other.assumptions
            && ROUNDS.map(|t| self.bound(t)) == ROUNDS.map(|t| other.bound(t))
    }
}
