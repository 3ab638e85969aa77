//! Facts about all runs of an experiment, and remarks that a reader must not miss.

use indexmap::IndexMap;

use crate::format;
use crate::results::{Results, Status, SummaryRow, Verdict};
use crate::summary::worse;
use crate::view::View;

/// Violations of a set's constraints up to this size are rounding.
const FEASIBLE: f64 = 1e-9;

/// Whether a violation is more than rounding. NaN is.
pub fn is_violation(v: f64) -> bool {
    !(v <= FEASIBLE)
}

/// Counts over all runs. A case is a learner with one step size at one horizon.
#[derive(Debug, Clone, PartialEq)]
pub struct Facts {
    /// Runs made.
    pub runs: u64,
    /// Rounds played.
    pub rounds: u64,
    /// The largest violation of a set by a decision; `None` if no set reports violations.
    pub violation: Option<f64>,
    /// Cases whose bound is not vacuous, and kept.
    pub kept: usize,
    /// Cases whose bound no feasible learner could exceed.
    pub vacuous: usize,
    /// Cases whose bound lies inside the interval of the regret.
    pub undecided: usize,
    /// Cases whose regret exceeds a bound whose assumptions hold.
    pub exceeded: usize,
    /// Cases that broke an assumption.
    pub not_met: usize,
    /// Cases with too few seeds for a theorem about the mean.
    pub few_seeds: usize,
}

impl Facts {
    /// The facts of one or several experiments.
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

    /// Whether a decision was infeasible, or a regret exceeds a proven bound: a defect.
    pub fn is_suspicious(&self) -> bool {
        self.exceeded > 0 || self.is_infeasible()
    }

    /// Whether a decision was infeasible.
    pub(crate) fn is_infeasible(&self) -> bool {
        self.violation.is_some_and(is_violation)
    }

    /// The bounds that were neither kept nor exceeded: `85 vacuous, 2 undecided`.
    pub(crate) fn other_bounds(&self) -> String {
        let mut parts = vec![format!("{} vacuous", format::count(self.vacuous as u64))];
        for (n, what) in [
            (self.undecided, "undecided"),
            (self.not_met, "with an assumption not met"),
            (self.few_seeds, "on means of fewer than 30 seeds"),
        ] {
            if n > 0 {
                parts.push(format!("{} {what}", format::count(n as u64)));
            }
        }
        parts.join(", ")
    }
}

/// A sentence that a reader must not miss.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Remark {
    /// Whether it reports a defect.
    pub defect: bool,
    /// The sentence.
    pub text: String,
}

/// The remarks on one experiment, defects first.
pub(crate) fn remarks(results: &Results) -> Vec<Remark> {
    let mut defects = Vec::new();
    if results.run.status == Status::Running {
        defects.push("Runs are missing. The same command finishes the experiment.".into());
    }
    for view in View::all(results) {
        let place = |row: &SummaryRow| {
            let scale = if row.scale == view.scale(&row.learner) {
                String::new()
            } else {
                format!(" × {}", format::significant(row.scale, 2))
            };
            let horizon = format::count(row.horizon);
            format!(
                "{}{scale} on “{}” at T = {horizon}",
                row.learner, view.config.title
            )
        };
        for row in results.summary.iter().filter(|r| r.problem == view.name) {
            if let (Verdict::Exceeded, Some(bound)) = (row.verdict, row.bound) {
                defects.push(format!(
                    "The regret of {} exceeds a proven bound: {} > {}. This is a defect.",
                    place(row),
                    format::significant(row.regret, 4),
                    format::significant(bound, 4)
                ));
            }
            if let Some(violation) = row.violation.filter(|v| is_violation(*v)) {
                defects.push(format!(
                    "A decision of {} left the set by {}. This is a defect.",
                    place(row),
                    format::violation(Some(violation))
                ));
            }
        }
    }
    let remark = |defect| move |text| Remark { defect, text };
    let defects = defects.into_iter().map(remark(true));
    let others = above(results).into_iter().map(remark(false));
    defects.chain(others).collect()
}

/// The learners whose measured exponents are above their theorems', one sentence per reason.
fn above(results: &Results) -> Vec<String> {
    let mut reasons: IndexMap<&str, Vec<String>> = IndexMap::new();
    for view in View::all(results) {
        for (_, learner) in view.learners() {
            let row = view.last(learner, view.scale(learner));
            let Some(row) = row.filter(|row| row.is_above_theorem()) else {
                continue;
            };
            let theorem = row.theorem_exponent.map_or("—".into(), format::exponent);
            let room = row.bound.map_or(String::new(), |bound| {
                let times = format::significant(bound / row.regret, 2);
                format!(", bound = {times} × regret")
            });
            let exponent = format::fitted(row.exponent, row.exponent_low, row.exponent_high);
            let text = format!("{learner} on {} ({exponent} > {theorem}{room})", view.name);
            let why = row.exponent_note.as_str();
            reasons.entry(why).or_default().push(text);
        }
    }
    let sentence = |(why, who): (&str, Vec<String>)| {
        let names: Vec<&str> = who.iter().map(String::as_str).collect();
        format!(
            "Measured exponents above the theorem’s, even at the low end of the interval: {}. This is {}.",
            format::listed(&names),
            why.trim_end_matches('.')
        )
    };
    reasons.into_iter().map(sentence).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::fixture;

    #[test]
    fn an_exponent_above_its_theorem_is_named_with_its_reason() {
        let all = remarks(&fixture());
        assert_eq!(all.len(), 1);
        let text = &all[0].text;
        assert!(
            text.contains("ofw on simplex (0.84 ±0.02 > 3/4, bound = "),
            "{text}"
        );
        assert!(
            text.ends_with(" This is no contradiction, as with a drift it reflects the step size."),
            "{text}"
        );
    }

    #[test]
    fn defects_come_first_and_are_counted() {
        let mut results = fixture();
        results.summary[0].verdict = Verdict::Exceeded;
        results.summary[1].violation = Some(1e-6);
        results.summary[2].violation = Some(f64::NAN);
        results.run.status = Status::Running;
        let defects: Vec<bool> = remarks(&results).iter().map(|r| r.defect).collect();
        assert_eq!(defects, [true, true, true, true, false]);
        let facts = Facts::of(&[results]);
        assert!(facts.is_suspicious() && facts.violation.unwrap().is_nan());
    }
}
