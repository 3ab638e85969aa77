//! The rows that tables and reports lead with: every learner of every problem at the longest
//! horizon.

use crate::experiment::{LearnerConfig, ProblemConfig};
use crate::results::{Results, SummaryRow, Verdict};
use crate::summary::worse;

/// The largest violation of a set's constraints that counts as none.
const FEASIBLE: f64 = 1e-9;

/// Whether a violation is more than rounding. NaN is.
pub fn is_violation(v: f64) -> bool {
    !(v <= FEASIBLE)
}

/// A problem and its rows.
pub struct Headline<'a> {
    /// Its name.
    pub name: &'a str,
    /// What it is.
    pub problem: &'a ProblemConfig,
    /// Its learners, in the experiment's order.
    pub rows: Vec<HeadRow<'a>>,
}

/// A learner on a problem.
pub struct HeadRow<'a> {
    /// Its name in the experiment.
    pub name: &'a str,
    /// Who it is.
    pub learner: &'a LearnerConfig,
    /// With theory's step size, or else with the first that was tried.
    pub plain: &'a SummaryRow,
    /// With the step size that did best, where several were tried.
    pub best: Option<Best<'a>>,
    /// Seconds inside the learner per round, where they were measured.
    pub seconds: Option<f64>,
}

/// The best of a grid, chosen in hindsight.
pub struct Best<'a> {
    /// Its row.
    pub row: &'a SummaryRow,
    /// Whether it is the smallest or the largest that was tried: a wider grid might do better.
    pub at_edge: bool,
}

/// The rows of all problems.
pub fn headlines(results: &Results) -> Vec<Headline<'_>> {
    let problems = results.experiment.problems.iter();
    problems
        .map(|(name, problem)| headline(results, name, problem))
        .collect()
}

fn headline<'a>(results: &'a Results, name: &'a str, problem: &'a ProblemConfig) -> Headline<'a> {
    let rows = problem.learners.iter().filter_map(|learner| {
        let config = results.experiment.learners.get(learner)?;
        let longest = |r: &&SummaryRow| {
            r.problem == name && r.learner == *learner && r.horizon == problem.horizon()
        };
        let mine: Vec<&SummaryRow> = results.summary.iter().filter(longest).collect();
        let plain = mine.iter().find(|r| r.scale == 1.0).or(mine.first())?;
        let best = mine.iter().min_by(|a, b| a.regret.total_cmp(&b.regret));
        let best = best.filter(|_| mine.len() > 1).map(|row| Best {
            row,
            at_edge: mine.iter().all(|r| r.scale <= row.scale)
                || mine.iter().all(|r| r.scale >= row.scale),
        });
        let timed = results.timing.iter();
        let timed = timed.filter(|r| r.problem == name && r.learner == *learner);
        let seconds = timed.max_by_key(|r| r.round);
        Some(HeadRow {
            name: learner,
            learner: config,
            plain,
            best,
            seconds: seconds.map(|r| r.seconds / r.round as f64),
        })
    });
    Headline {
        name,
        problem,
        rows: rows.collect(),
    }
}

/// What holds for all runs of an experiment.
#[derive(Debug, Clone, PartialEq)]
pub struct Facts {
    /// Runs made.
    pub runs: u64,
    /// Rounds played.
    pub rounds: u64,
    /// The largest violation of a set by a decision; nothing where no set can tell.
    pub violation: Option<f64>,
    /// Cases (a learner, a step size, a horizon) with a bound that says something, and kept.
    pub kept: usize,
    /// Cases whose bound no feasible learner could exceed.
    pub vacuous: usize,
    /// Cases whose bound lies between the ends of the regret.
    pub undecided: usize,
    /// Cases whose regret exceeds a bound whose assumptions hold.
    pub exceeded: usize,
    /// Cases that broke an assumption.
    pub not_met: usize,
    /// Cases with too few seeds for a theorem about the mean.
    pub few_seeds: usize,
}

impl Facts {
    /// Those of one experiment, or of several.
    pub fn of(all: &[Results]) -> Self {
        let rows = || all.iter().flat_map(|r| &r.summary);
        let count = |v: Verdict| rows().filter(|r| r.verdict == v).count();
        Self {
            runs: all.iter().map(|r| r.run.cells).sum(),
            rounds: all.iter().map(|r| r.run.rounds).sum(),
            violation: rows().filter_map(|r| r.violation).reduce(worse),
            kept: count(Verdict::Kept),
            vacuous: count(Verdict::Vacuous),
            undecided: count(Verdict::Undecided),
            exceeded: count(Verdict::Exceeded),
            not_met: count(Verdict::NotMet),
            few_seeds: count(Verdict::FewSeeds),
        }
    }

    /// Whether something happened that can't happen: an infeasible decision, or a regret above a
    /// proven bound.
    pub fn is_suspicious(&self) -> bool {
        self.exceeded > 0 || self.violation.is_some_and(is_violation)
    }
}
