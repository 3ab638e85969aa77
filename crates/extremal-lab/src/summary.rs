//! Runs gathered into the rows of a table: one per problem and learner, at the longest horizon.

use extremal::learner::LearnerSpec;
use extremal::theory::{Check, Guarantee};

use crate::fit::{self, mean};
use crate::problem::BASELINE;
use crate::run::{Interval, Level, Plan, Run};

/// What a theorem says about a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Bound {
    /// The regret is at most this, the mean over seeds where it depends on the run.
    Proven(f64),
    /// The same, but G·D·T is smaller.
    Vacuous(f64),
    /// Some run did not keep to the assumptions.
    NotApplicable,
    /// No theorem for this learner on this set.
    NoneProven,
}

/// One horizon of one learner, over the seeds.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// T.
    pub horizon: f64,
    /// The mean of the regrets' lower ends.
    pub mean: f64,
    /// The smallest.
    pub least: f64,
    /// The largest.
    pub most: f64,
    /// What the theorem says.
    pub bound: Bound,
    /// G·D·T, where there is a theorem.
    pub trivial: f64,
}

/// The theorem's curve where it says something: from where it falls below G·D·T.
pub fn telling_bound(points: &[Point]) -> Vec<(f64, f64)> {
    let mut curve = Vec::new();
    for (i, point) in points.iter().enumerate() {
        let Bound::Proven(bound) = point.bound else {
            continue;
        };
        if let Some(before) = i.checked_sub(1).map(|j| &points[j])
            && let Bound::Vacuous(above) = before.bound
        {
            // Both are nearly straight in log T, so that they cross where the lines do.
            let over = (above / before.trivial).ln();
            let part = over / (over - (bound / point.trivial).ln());
            let between = |a: f64, b: f64| (a.ln() + part * (b / a).ln()).exp();
            curve.push((
                between(before.horizon, point.horizon),
                between(above, bound),
            ));
        }
        curve.push((point.horizon, bound));
    }
    curve
}

/// One row of the table.
#[derive(Debug, Clone)]
pub struct Row {
    /// The learner's name.
    pub learner: &'static str,
    /// Whether it is the baseline that projects.
    pub baseline: bool,
    /// Means over seeds of the ends of the regrets.
    pub regret: Interval,
    /// The measured exponent.
    pub exponent: Option<f64>,
    /// The theorem.
    pub guarantee: Option<Guarantee>,
    /// What it says.
    pub bound: Bound,
    /// Its assumptions at the longest horizon, each as the worst run kept to it.
    pub checks: Vec<Check>,
    /// Oracle calls of one run.
    pub oracle_calls: u64,
    /// Seconds inside the learner per round.
    pub seconds_per_round: f64,
    /// The regret across horizons.
    pub points: Vec<Point>,
}

/// All rows, and what holds for all runs.
#[derive(Debug, Clone)]
pub struct Summary {
    /// For each problem of the plan its rows.
    pub rows: Vec<Vec<Row>>,
    /// Runs made.
    pub runs: usize,
    /// Rounds played.
    pub rounds: u64,
    /// The largest violation of a set by a decision.
    pub violation: f64,
    /// Runs with a theorem whose assumptions held.
    pub proven: usize,
    /// Those among them whose bound no feasible learner could exceed.
    pub vacuous: usize,
    /// Those among them whose regret exceeds the bound for certain.
    pub exceeded: usize,
    /// Runs that broke an assumption of their theorem.
    pub broken: usize,
}

impl Summary {
    /// Whether something happened that can't happen: an infeasible decision, or a regret above a
    /// proven bound.
    pub fn is_suspicious(&self) -> bool {
        !(self.violation <= 1e-9) || self.exceeded > 0
    }
}

/// Gathers the runs of a plan.
pub fn summarise(plan: &Plan, runs: &[Run]) -> Summary {
    let applying = || {
        let verdicts = runs.iter().filter_map(|r| Some((r, r.verdict.as_ref()?)));
        verdicts.filter(|(_, v)| v.applies())
    };
    let broken = runs
        .iter()
        .filter_map(|r| r.verdict.as_ref())
        .filter(|v| !v.applies_to_mean());
    let proven = applying().count();
    let rows = plan.problems.iter().enumerate().map(|(p, problem)| {
        let learners = problem.learners.iter().enumerate();
        let rows = learners.map(|(l, spec)| {
            let mine: Vec<&Run> = runs
                .iter()
                .filter(|r| r.problem == p && r.learner == l)
                .collect();
            row(spec, &problem.horizons, &mine)
        });
        rows.collect()
    });
    Summary {
        rows: rows.collect(),
        runs: runs.len(),
        rounds: runs.iter().map(|r| r.horizon).sum(),
        violation: runs
            .iter()
            .map(|r| r.violation)
            // NaN is no feasible point either
            .fold(0.0, |a, b| if b > a || b.is_nan() { b } else { a }),
        proven,
        vacuous: applying().filter(|(_, v)| v.vacuous).count(),
        exceeded: applying().filter(|(r, v)| r.regret.lower > v.bound).count(),
        broken: broken.count(),
    }
}

fn row(spec: &'static str, horizons: &[u64], runs: &[&Run]) -> Row {
    let at = |horizon: u64| runs.iter().filter(move |r| r.horizon == horizon).copied();
    let lower = |horizon| at(horizon).map(|r| r.regret.lower).collect::<Vec<_>>();
    let points: Vec<Point> = horizons
        .iter()
        .map(|&t| {
            let regrets = lower(t);
            Point {
                horizon: t as f64,
                mean: mean(&regrets),
                least: regrets.iter().copied().fold(f64::INFINITY, f64::min),
                most: regrets.iter().copied().fold(f64::NEG_INFINITY, f64::max),
                bound: bound(&at(t).collect::<Vec<_>>()),
                trivial: at(t)
                    .find_map(|r| Some(r.verdict.as_ref()?.trivial))
                    .unwrap_or(f64::INFINITY),
            }
        })
        .collect();
    let regrets: Vec<_> = horizons.iter().map(|&t| (t as f64, lower(t))).collect();
    let last: Vec<&Run> = at(horizons.last().copied().unwrap_or(0)).collect();
    let mean_of = |f: &dyn Fn(&Run) -> f64| mean(&last.iter().map(|r| f(r)).collect::<Vec<_>>());
    let name = spec.parse::<LearnerSpec>().map_or(spec, |s| s.entry().name);
    Row {
        learner: name,
        baseline: name == BASELINE,
        regret: Interval {
            lower: mean_of(&|r| r.regret.lower),
            upper: mean_of(&|r| r.regret.upper),
            level: loosest(last.iter().map(|r| r.regret.level)),
        },
        exponent: fit::exponent(&regrets),
        guarantee: last
            .first()
            .and_then(|r| Some(r.verdict.as_ref()?.guarantee)),
        bound: bound(&last),
        checks: worst_checks(&last),
        oracle_calls: mean_of(&|r| r.oracle_calls as f64) as u64,
        seconds_per_round: mean_of(&|r| r.seconds / r.horizon as f64),
        points,
    }
}

fn loosest(levels: impl Iterator<Item = Level>) -> Level {
    let rank = |l: &Level| match l {
        Level::Exact => 0,
        Level::Interval => 1,
        Level::Certificate => 2,
    };
    levels.max_by_key(rank).unwrap_or(Level::Exact)
}

fn bound(runs: &[&Run]) -> Bound {
    let verdicts: Vec<_> = runs.iter().filter_map(|r| r.verdict.as_ref()).collect();
    if verdicts.is_empty() {
        return Bound::NoneProven;
    }
    if !verdicts.iter().all(|v| v.applies_to_mean()) {
        return Bound::NotApplicable;
    }
    let value = mean(&verdicts.iter().map(|v| v.bound).collect::<Vec<_>>());
    if verdicts.iter().any(|v| v.vacuous) {
        Bound::Vacuous(value)
    } else {
        Bound::Proven(value)
    }
}

/// For each assumption the check of a run that broke it, or else of the first run.
fn worst_checks(runs: &[&Run]) -> Vec<Check> {
    let all: Vec<&[Check]> = runs
        .iter()
        .filter_map(|r| Some(r.verdict.as_ref()?.checks.as_slice()))
        .collect();
    let Some(first) = all.first() else {
        return Vec::new();
    };
    (0..first.len())
        .filter_map(|i| {
            let mut of_all = all.iter().filter_map(|c| c.get(i));
            of_all.clone().find(|c| !c.holds).or_else(|| of_all.next())
        })
        .cloned()
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(horizon: f64, bound: Bound) -> Point {
        Point {
            horizon,
            mean: 1.0,
            least: 1.0,
            most: 1.0,
            bound,
            trivial: horizon,
        }
    }

    #[test]
    fn a_curve_begins_where_it_meets_the_trivial_bound() {
        // 10√T meets T at T = 100
        let at = |t: f64| 10.0 * t.sqrt();
        let points = [
            point(25.0, Bound::Vacuous(at(25.0))),
            point(400.0, Bound::Proven(at(400.0))),
        ];
        let curve = telling_bound(&points);
        assert_eq!(curve.len(), 2);
        assert!((curve[0].0 - 100.0).abs() < 1e-9 && (curve[0].1 - 100.0).abs() < 1e-9);
        assert_eq!(curve[1], (400.0, 200.0));
    }

    #[test]
    fn a_vacuous_bound_has_no_curve() {
        let points = [
            point(25.0, Bound::Vacuous(50.0)),
            point(50.0, Bound::NoneProven),
        ];
        assert!(telling_bound(&points).is_empty());
    }

    fn runs() -> (Plan, Vec<Run>) {
        let mut plan = crate::demo::plan(0, Some(2_000)).unwrap();
        plan.problems.truncate(1);
        let runs = crate::run::run(&plan, 1, &|| 0.0, &|_| {}).unwrap();
        (plan, runs)
    }

    #[test]
    fn a_regret_above_a_proven_bound_is_suspicious() {
        let (plan, mut runs) = runs();
        assert!(!summarise(&plan, &runs).is_suspicious());
        let half = 0.5 * runs[3].regret.lower;
        runs[3].verdict.as_mut().unwrap().bound = half;
        let summary = summarise(&plan, &runs);
        assert_eq!(summary.exceeded, 1);
        assert!(summary.is_suspicious());
    }

    #[test]
    fn an_infeasible_decision_is_suspicious() {
        for violation in [1e-8, f64::NAN] {
            let (plan, mut runs) = runs();
            runs[0].violation = violation;
            assert!(summarise(&plan, &runs).is_suspicious());
        }
    }

    #[test]
    fn a_bound_does_not_count_when_an_assumption_was_broken() {
        let (plan, mut runs) = runs();
        let last = runs.iter().position(|r| r.horizon == 2_000).unwrap();
        runs[last].verdict.as_mut().unwrap().checks[0].holds = false;
        let summary = summarise(&plan, &runs);
        assert_eq!(summary.rows[0][0].bound, Bound::NotApplicable);
        assert_eq!(summary.broken, 1);
        assert!(!summary.rows[0][0].checks[0].holds);
    }
}
