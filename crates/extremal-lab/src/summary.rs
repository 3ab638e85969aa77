//! Makes the tables of results from the outcomes of all runs.

use crate::experiment::{Outcome, Proof, Run};
use crate::exponent::{self, mean, standard_error};
use crate::results::{CheckRow, ComparatorRow, Level, SummaryRow, TraceRow, Verdict};

/// The largest rounding error of an exponent that is shown with two decimals.
const TOLERANCE: f64 = 0.005;
/// The reason why a measured exponent may be above the theorem's exponent.
const BELOW_BOUND: &str = "no contradiction: the bound holds at every T, and a regret below the bound may grow faster than the bound for a while";
/// A bound on the mean regret counts as exceeded if the measured mean is more than this many standard
/// errors above the bound.
const ERRORS: f64 = 3.0;
/// The smallest number of seeds for which a bound on the mean regret can count as kept.
const ENOUGH: usize = 30;

/// The tables of checkpoints, of results and of checked assumptions. The runs are ordered by problem,
/// learner, step size, horizon and seed.
pub(crate) fn gather(
    runs: &[Run<'_>],
    outcomes: &[Outcome],
) -> (Vec<TraceRow>, Vec<SummaryRow>, Vec<CheckRow>) {
    let (mut trace, mut summary, mut checks) = (Vec::new(), Vec::new(), Vec::new());
    let all: Vec<(&Run<'_>, &Outcome)> = runs.iter().zip(outcomes).collect();
    for (run, outcome) in &all {
        // A cached run may come from an experiment that used other names.
        trace.extend(outcome.checkpoints.iter().map(|row| TraceRow {
            problem: run.problem.name.clone(),
            learner: run.name.into(),
            scale: run.scale,
            ..row.clone()
        }));
    }
    let same = |a: &(&Run<'_>, _), b: &(&Run<'_>, _)| {
        (&a.0.problem.name, a.0.name, a.0.scale) == (&b.0.problem.name, b.0.name, b.0.scale)
    };
    for group in all.chunk_by(same) {
        let horizons: Vec<_> = group.chunk_by(|a, b| a.0.horizon == b.0.horizon).collect();
        let mut rows: Vec<SummaryRow> = horizons.iter().map(|runs| row(runs)).collect();
        let regrets: Vec<(f64, Vec<f64>)> = horizons
            .iter()
            .map(|runs| (runs[0].0.horizon as f64, lower(runs)))
            .collect();
        let growth = growth(&rows);
        if let Some(last) = rows.last_mut() {
            fit_exponent(last, &regrets, growth);
        }
        summary.append(&mut rows);
        for runs in horizons {
            checks.extend(worst_checks(runs));
        }
    }
    (trace, summary, checks)
}

/// The table of certified regret against comparators up to each norm, for the longest runs with the
/// first seed. Different runs have different radii, so that the table has no means over seeds.
pub(crate) fn comparators(runs: &[Run<'_>], outcomes: &[Outcome]) -> Vec<ComparatorRow> {
    let first = |run: &Run<'_>| {
        let config = &run.problem.config;
        run.horizon == config.horizon() && config.seeds.first() == Some(&run.seed)
    };
    let all = runs.iter().zip(outcomes).filter(|(run, _)| first(run));
    all.flat_map(|(run, outcome)| {
        let row = |&[radius, regret_upper, share_of_loss]: &[f64; 3]| ComparatorRow {
            problem: run.problem.name.clone(),
            learner: run.name.into(),
            scale: run.scale,
            horizon: run.horizon,
            seed: run.seed,
            radius,
            regret_upper,
            share_of_loss,
        };
        outcome.comparators.iter().map(row)
    })
    .collect()
}

type Runs<'a> = [(&'a Run<'a>, &'a Outcome)];

/// The lower ends of the intervals that contain the runs' regrets.
fn lower(runs: &Runs<'_>) -> Vec<f64> {
    runs.iter().map(|(_, o)| o.last().regret_lower).collect()
}

/// The row of one horizon, computed from the runs of all seeds.
fn row(runs: &Runs<'_>) -> SummaryRow {
    let (run, _) = runs[0];
    let regrets = lower(runs);
    let proof = runs[0].1.verdict.as_ref();
    let proofs: Vec<&Proof> = runs
        .iter()
        .filter_map(|(_, o)| o.verdict.as_ref())
        .collect();
    let of =
        |f: &dyn Fn(&Outcome) -> f64| mean(&runs.iter().map(|(_, o)| f(o)).collect::<Vec<_>>());
    let violations = runs.iter().filter_map(|(_, o)| o.violation);
    SummaryRow {
        problem: run.problem.name.clone(),
        learner: run.name.into(),
        scale: run.scale,
        horizon: run.horizon,
        seeds: runs.len() as u64,
        regret: mean(&regrets),
        regret_error: standard_error(&regrets),
        regret_least: regrets.iter().copied().fold(f64::INFINITY, f64::min),
        regret_most: regrets.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        regret_upper: of(&|o| o.last().regret_upper),
        level: runs
            .iter()
            .map(|(_, o)| o.last().level)
            .max()
            .unwrap_or(Level::Exact),
        exponent: None,
        exponent_low: None,
        exponent_high: None,
        exponent_note: String::new(),
        theorem: proof.map_or(String::new(), |p| p.theorem.clone()),
        theorem_exponent: proof.map(|p| p.exponent),
        bound: (!proofs.is_empty())
            .then(|| mean(&proofs.iter().map(|p| p.bound).collect::<Vec<_>>()))
            .filter(|b| b.is_finite()),
        verdict: verdict(&runs.iter().map(|(_, o)| *o).collect::<Vec<_>>()),
        vacuous: vacuous(&runs.iter().map(|(_, o)| *o).collect::<Vec<_>>()),
        violation: violations.reduce(worse),
        oracle_calls: of(&|o| o.oracle_calls as f64) as u64,
        storage: run.config.storage,
    }
}

/// The names of the columns that are vacuous in at least one run.
fn vacuous(outcomes: &[&Outcome]) -> String {
    let mut proofs = outcomes.iter().filter_map(|o| o.verdict.as_ref());
    let upper = outcomes.iter().any(|o| o.last().is_upper_vacuous());
    let bound = proofs.any(|p| p.vacuous);
    let names = [("regret_upper", upper), ("bound", bound)];
    let names: Vec<&str> = names
        .iter()
        .filter(|(_, is)| *is)
        .map(|(n, _)| *n)
        .collect();
    names.join(" ")
}

/// Compares the runs with their theorem's bound. A bound on the mean over seeds is compared with the
/// mean of the runs, with an allowance for chance. Any other bound is compared with each run that meets
/// the assumptions. The comparison is made at each checkpoint for which the bound holds. The bound is
/// exceeded if it is below the regret's interval. The bound is kept if it is not below the upper end of
/// the regret's interval.
fn verdict(outcomes: &[&Outcome]) -> Verdict {
    let proven = || {
        outcomes
            .iter()
            .filter_map(|o| Some((*o, o.verdict.as_ref()?)))
    };
    let Some((_, first)) = proven().next() else {
        return Verdict::NoneProven;
    };
    let of_mean = first.of_mean;
    let exceeds = |(outcome, proof): (&Outcome, &Proof)| {
        let on_the_way = |row: &TraceRow| row.bound.is_some_and(|bound| row.regret_lower > bound);
        let at_the_end = outcome.last().regret_lower > proof.bound;
        proof.applies() && (at_the_end || outcome.checkpoints.iter().any(on_the_way))
    };
    if !of_mean && proven().any(exceeds) {
        return Verdict::Exceeded;
    }
    if proven().count() < outcomes.len() || !proven().all(|(_, p)| p.applies()) {
        return Verdict::NotMet;
    }
    let over = |of: &dyn Fn(&Outcome, &Proof) -> f64| -> Vec<f64> {
        proven()
            .map(|(outcome, proof)| of(outcome, proof))
            .collect()
    };
    let bound = mean(&over(&|_, p| p.bound));
    if of_mean {
        let regrets = over(&|o, _| o.last().regret_lower);
        let room = ERRORS * standard_error(&regrets).unwrap_or(f64::INFINITY);
        if mean(&regrets) - room > bound {
            return Verdict::Exceeded;
        }
    }
    if proven().any(|(_, p)| p.vacuous) {
        return Verdict::Vacuous;
    }
    let open = |(o, p): (&Outcome, &Proof)| {
        o.last().regret_upper > p.bound || o.checkpoints.iter().any(TraceRow::is_open)
    };
    match of_mean {
        true if outcomes.len() < ENOUGH => Verdict::FewSeeds,
        true if mean(&over(&|o, _| o.last().regret_upper)) > bound => Verdict::Undecided,
        false if proven().any(open) => Verdict::Undecided,
        _ => Verdict::Kept,
    }
}

/// The slope of log(bound) against log T, over the longer half of the horizons. A bound like log T has
/// the exponent 0, but grows over any finite range.
fn growth(rows: &[SummaryRow]) -> Option<f64> {
    let upper = rows[rows.len() / 2..].iter();
    let points = upper.map(|r| Some(((r.horizon as f64).ln(), r.bound?.ln())));
    exponent::slope(&points.collect::<Option<Vec<_>>>()?)
}

/// The larger of two violations, where NaN counts as the largest.
pub(crate) fn worse(a: f64, b: f64) -> f64 {
    if b > a || b.is_nan() { b } else { a }
}

/// Fits the exponent across horizons. Adds a note if the fit fails, or if the exponent is above the
/// theorem's exponent.
fn fit_exponent(row: &mut SummaryRow, regrets: &[(f64, Vec<f64>)], growth: Option<f64>) {
    let fitted = match exponent::exponent(regrets) {
        Ok(fitted) => fitted,
        Err(why) => {
            row.exponent_note = why.to_string();
            return;
        }
    };
    row.exponent = Some(fitted.value);
    row.exponent_low = fitted.interval.map(|i| i.0);
    row.exponent_high = fitted.interval.map(|i| i.1);
    let surely = row.exponent_low.unwrap_or(fitted.value);
    if let Some(theorem) = row.theorem_exponent
        && surely > theorem.max(growth.unwrap_or(0.0)) + TOLERANCE
    {
        row.exponent_note = BELOW_BOUND.into();
    }
}

/// One check per assumption. Each check comes from the first run that violates the assumption, or from
/// the first run if no run violates it.
fn worst_checks(runs: &Runs<'_>) -> Vec<CheckRow> {
    let all: Vec<&Proof> = runs
        .iter()
        .filter_map(|(_, o)| o.verdict.as_ref())
        .collect();
    let Some(first) = all.first() else {
        return Vec::new();
    };
    let (run, _) = runs[0];
    let worst = |i: usize| {
        let mut of_all = all.iter().filter_map(|p| p.checks.get(i));
        of_all.clone().find(|c| !c.0).or_else(|| of_all.next())
    };
    let rows = (0..first.checks.len()).filter_map(worst);
    rows.map(|(holds, detail)| CheckRow {
        problem: run.problem.name.clone(),
        learner: run.name.into(),
        scale: run.scale,
        horizon: run.horizon,
        holds: *holds,
        detail: detail.clone(),
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proof(bound: f64, vacuous: bool, of_mean: bool, holds: bool) -> Proof {
        Proof {
            theorem: "t".into(),
            exponent: 0.5,
            bound,
            vacuous,
            of_mean,
            checks: vec![(holds || of_mean, String::new())],
        }
    }

    fn outcome(lower: f64, proof: Option<Proof>) -> Outcome {
        let row = TraceRow {
            regret_lower: lower,
            regret_upper: lower,
            level: Level::Exact,
            bound: None,
            certificate: None,
            trivial: f64::INFINITY,
            ..crate::results::fixture().trace.remove(0)
        };
        Outcome {
            checkpoints: vec![row],
            verdict: proof,
            violation: None,
            oracle_calls: 1,
            comparators: Vec::new(),
        }
    }

    fn of(regrets: &[f64], proof: &Proof) -> Verdict {
        let all: Vec<Outcome> = regrets
            .iter()
            .map(|r| outcome(*r, Some(proof.clone())))
            .collect();
        verdict(&all.iter().collect::<Vec<_>>())
    }

    #[test]
    fn every_run_is_held_against_a_bound_that_speaks_of_every_run() {
        let kept = proof(10.0, false, false, true);
        assert_eq!(of(&[9.0, 9.9], &kept), Verdict::Kept);
        assert_eq!(of(&[1.0, 10.1], &kept), Verdict::Exceeded);
        assert_eq!(
            of(&[1.0, 2.0], &proof(10.0, true, false, true)),
            Verdict::Vacuous
        );
        assert_eq!(verdict(&[&outcome(1.0, None)]), Verdict::NoneProven);
        // the bound is kept only if the upper end is not above it
        let between = |upper: f64, early: Option<f64>| {
            let mut run = outcome(9.0, Some(kept.clone()));
            run.checkpoints[0].regret_upper = upper;
            run.checkpoints.insert(0, run.checkpoints[0].clone());
            run.checkpoints[0].bound = early;
            verdict(&[&run])
        };
        assert_eq!(between(10.0, None), Verdict::Kept);
        assert_eq!(between(10.1, None), Verdict::Undecided);
        assert_eq!(between(10.0, Some(9.5)), Verdict::Undecided);
        assert_eq!(between(10.0, Some(8.5)), Verdict::Exceeded);
        // an earlier checkpoint counts too, if the bound holds at every round
        let mut early = outcome(1.0, Some(kept));
        early.checkpoints.insert(0, early.checkpoints[0].clone());
        early.checkpoints[0].bound = Some(0.5);
        assert_eq!(verdict(&[&early]), Verdict::Exceeded);
    }

    #[test]
    fn the_mean_is_held_against_a_bound_that_speaks_of_the_mean() {
        let of_mean = proof(10.0, false, true, false);
        // The mean 10.5 is less than three standard errors (0.65 each) above the bound.
        assert_eq!(of(&[9.0, 10.0, 11.0, 12.0], &of_mean), Verdict::FewSeeds);
        assert_eq!(of(&[13.0, 13.1, 13.2, 13.0], &of_mean), Verdict::Exceeded);
        assert_eq!(of(&[5.0], &of_mean), Verdict::FewSeeds);
        // a bound is vacuous with any number of seeds
        let empty = proof(10.0, true, true, false);
        assert_eq!(of(&[5.0], &empty), Verdict::Vacuous);
        let thirty: Vec<f64> = (0..30).map(|i| 8.0 + 0.1 * f64::from(i)).collect();
        assert_eq!(of(&thirty, &of_mean), Verdict::Kept);
        let above: Vec<f64> = thirty.iter().map(|r| r + 0.6).collect();
        assert_eq!(of(&above, &of_mean), Verdict::Undecided);
    }

    #[test]
    fn a_broken_assumption_does_not_hide_another_run() {
        let broken = proof(10.0, false, false, false);
        assert_eq!(of(&[99.0], &broken), Verdict::NotMet);
        let kept = proof(10.0, false, false, true);
        let both = [
            outcome(99.0, Some(broken)),
            outcome(11.0, Some(kept.clone())),
        ];
        assert_eq!(verdict(&[&both[0], &both[1]]), Verdict::Exceeded);
        let one = [outcome(1.0, Some(kept)), outcome(1.0, None)];
        assert_eq!(verdict(&[&one[0], &one[1]]), Verdict::NotMet);
    }

    #[test]
    fn numbers_that_say_nothing_are_named() {
        let mut run = outcome(1.0, Some(proof(10.0, false, false, true)));
        assert_eq!(vacuous(&[&run]), "");
        let end = &mut run.checkpoints[0];
        (end.regret_upper, end.trivial, end.level) = (5.0, 5.0, Level::Certificate);
        (end.bound, end.certificate) = (Some(4.9), Some(5.1));
        assert_eq!(end.vacuous_columns(), "regret_upper certificate");
        assert_eq!(vacuous(&[&run]), "regret_upper");
        // an exact regret is never vacuous
        run.checkpoints[0].level = Level::Exact;
        run.checkpoints[0].bound = Some(f64::NAN);
        assert_eq!(run.checkpoints[0].vacuous_columns(), "bound certificate");
        let empty = outcome(1.0, Some(proof(10.0, true, false, true)));
        assert_eq!(vacuous(&[&run, &empty]), "bound");
    }

    #[test]
    fn the_worst_violation_is_no_number() {
        assert_eq!([0.0, 2.0, 1.0].into_iter().reduce(worse), Some(2.0));
        assert!(
            [0.0, f64::NAN, 1.0]
                .into_iter()
                .reduce(worse)
                .unwrap()
                .is_nan()
        );
    }
}
