//! Counts over all runs of an experiment, and remarks that a reader of the results must not miss.

use indexmap::IndexMap;

use crate::format;
use crate::results::{Results, Status, SummaryRow, Verdict};
use crate::summary::worse;
use crate::view::View;

/// The largest violation of a set's constraints that rounding errors explain.
const FEASIBLE: f64 = 1e-9;

/// Whether a violation is larger than rounding errors explain. NaN counts as larger.
pub fn is_violation(v: f64) -> bool {
    !(v <= FEASIBLE)
}

/// Counts over all runs. A case consists of all runs of one learner with one step size on one problem
/// and at one horizon.
#[derive(Debug, Clone, PartialEq)]
pub struct Facts {
    /// The number of runs.
    pub runs: u64,
    /// The number of rounds in all runs.
    pub rounds: u64,
    /// The largest violation of a set by a decision. `None` if no set can measure violations.
    pub violation: Option<f64>,
    /// The number of cases whose regret is at most the bound, without the cases whose bound is vacuous.
    pub kept: usize,
    /// The number of cases with a vacuous bound, which no feasible learner can exceed.
    pub vacuous: usize,
    /// The number of cases whose bound lies inside the interval that contains the regret.
    pub undecided: usize,
    /// The number of cases whose regret exceeds the bound although the theorem's assumptions hold.
    pub exceeded: usize,
    /// The number of cases that violate an assumption of their theorem.
    pub not_met: usize,
    /// The number of cases with fewer seeds than a theorem about the mean needs.
    pub few_seeds: usize,
}

impl Facts {
    /// The counts over one or several experiments.
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

    /// Whether the results show a defect: an infeasible decision, or a regret above a proven bound.
    pub fn is_suspicious(&self) -> bool {
        self.exceeded > 0 || self.is_infeasible()
    }

    /// Whether a decision was infeasible.
    pub(crate) fn is_infeasible(&self) -> bool {
        self.violation.is_some_and(is_violation)
    }

    /// The numbers of bounds that are neither kept nor exceeded, such as `85 vacuous, 2 undecided`.
    pub(crate) fn other_bounds(&self) -> String {
        let mut parts = vec![format!("{} vacuous", format::count(self.vacuous as u64))];
        for (n, what) in [
            (self.undecided, "undecided"),
            (self.not_met, "with an unmet assumption"),
            (self.few_seeds, "on a mean over fewer than 30 seeds"),
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
    /// Whether the remark reports a defect.
    pub defect: bool,
    /// The remark as a sentence.
    pub text: String,
}

/// The remarks on one experiment, defects first.
pub(crate) fn remarks(results: &Results) -> Vec<Remark> {
    let mut defects = Vec::new();
    if results.run.status == Status::Running {
        defects.push("Some runs are missing. Repeat the command to finish the experiment.".into());
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
                    "The regret of {} exceeds a proven bound: {} > {}. This is a defect of the program.",
                    place(row),
                    format::significant(row.regret, 4),
                    format::significant(bound, 4)
                ));
            }
            if let Some(violation) = row.violation.filter(|v| is_violation(*v)) {
                defects.push(format!(
                    "A decision of {} violates the set by {}. This is a defect of the program.",
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

/// Sentences that name the learners whose measured exponent is above the exponent of their theorem.
/// There is one sentence per reason.
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
            "In these cases, the whole interval of the measured exponent is above the theorem’s exponent: {}. The difference is {}.",
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
            text.ends_with(
                " The difference is no contradiction, as with a drift it reflects the step size."
            ),
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
