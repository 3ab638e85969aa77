//! Cells gathered into tables.

use crate::experiment::{Cell, Outcome, Proof};
use crate::fit::{self, mean, standard_error};
use crate::results::{CheckRow, SummaryRow, TraceRow, Verdict};

/// Exponents are given to two digits.
const TOLERANCE: f64 = 0.005;
/// Why a measured exponent may be above the theorem's: a bound is an upper one for all T.
const ROOM: &str = "no contradiction, as the bound leaves room to grow faster for a while, and small steps take a while to leave the start";
/// A theorem about the mean over seeds counts as exceeded beyond so many standard errors.
const ERRORS: f64 = 3.0;

/// The tables of all cells, which come in the order of problems, learners, step sizes, horizons
/// and seeds.
pub(crate) fn gather(
    cells: &[Cell<'_>],
    outcomes: &[Outcome],
) -> (Vec<TraceRow>, Vec<SummaryRow>, Vec<CheckRow>) {
    let (mut trace, mut summary, mut checks) = (Vec::new(), Vec::new(), Vec::new());
    let all: Vec<(&Cell<'_>, &Outcome)> = cells.iter().zip(outcomes).collect();
    for (cell, outcome) in &all {
        trace.extend(outcome.looks.iter().map(|look| TraceRow {
            problem: cell.problem.name.clone(),
            learner: cell.name.into(),
            scale: cell.scale,
            horizon: cell.horizon,
            seed: cell.seed,
            round: look.round,
            loss: look.loss,
            regret_lower: look.lower,
            regret_upper: look.upper,
            level: look.level.to_string(),
            bound: look.bound,
            certificate: look.certificate,
            surrogate: look.surrogate,
            surrogate_bound: look.surrogate_bound,
            oracle_calls: look.oracle_calls,
        }));
    }
    let same = |a: &(&Cell<'_>, _), b: &(&Cell<'_>, _)| {
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

type Runs<'a> = [(&'a Cell<'a>, &'a Outcome)];

fn lower(runs: &Runs<'_>) -> Vec<f64> {
    runs.iter().map(|(_, o)| o.last().lower).collect()
}

/// The seeds of one horizon.
fn row(runs: &Runs<'_>) -> SummaryRow {
    let (cell, _) = runs[0];
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
        problem: cell.problem.name.clone(),
        learner: cell.name.into(),
        scale: cell.scale,
        horizon: cell.horizon,
        seeds: runs.len() as u64,
        regret: mean(&regrets),
        regret_error: standard_error(&regrets),
        regret_least: regrets.iter().copied().fold(f64::INFINITY, f64::min),
        regret_most: regrets.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        regret_upper: of(&|o| o.last().upper),
        level: runs
            .iter()
            .map(|(_, o)| o.last().level)
            .max()
            .map_or(String::new(), |l| l.to_string()),
        exponent: None,
        exponent_low: None,
        exponent_high: None,
        exponent_note: String::new(),
        theorem: proof.map_or(String::new(), |p| p.theorem.clone()),
        theorem_exponent: proof.map(|p| p.exponent),
        bound: (!proofs.is_empty())
            .then(|| mean(&proofs.iter().map(|p| p.bound).collect::<Vec<_>>()))
            .filter(|b| b.is_finite()),
        verdict: verdict(&regrets, &proofs),
        violation: violations.reduce(f64::max),
        oracle_calls: of(&|o| o.oracle_calls as f64) as u64,
    }
}

/// What became of a theorem. One about the mean over seeds is held against their mean, with room
/// for chance; any other against every run.
fn verdict(regrets: &[f64], proofs: &[&Proof]) -> Verdict {
    let Some(first) = proofs.first() else {
        return Verdict::NoneProven;
    };
    if !proofs.iter().all(|p| p.applies()) {
        return Verdict::NotMet;
    }
    let exceeded = if first.is_of_mean() {
        let room = ERRORS * standard_error(regrets).unwrap_or(f64::INFINITY);
        let bounds: Vec<f64> = proofs.iter().map(|p| p.bound).collect();
        mean(regrets) - room > mean(&bounds)
    } else {
        regrets.iter().zip(proofs).any(|(r, p)| *r > p.bound)
    };
    if exceeded {
        Verdict::Exceeded
    } else if proofs.iter().any(|p| p.vacuous) {
        Verdict::Vacuous
    } else {
        Verdict::Kept
    }
}

/// How the bound itself grows over the longer half of the horizons: log T has no exponent, but a
/// slope there.
fn growth(rows: &[SummaryRow]) -> Option<f64> {
    let upper = rows[rows.len() / 2..].iter();
    let points = upper.map(|r| Some(((r.horizon as f64).ln(), r.bound?.ln())));
    fit::slope(&points.collect::<Option<Vec<_>>>()?)
}

/// The exponent across horizons, or why there is none, or what to make of it.
fn fit_exponent(row: &mut SummaryRow, regrets: &[(f64, Vec<f64>)], growth: Option<f64>) {
    let fitted = match fit::exponent(regrets) {
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
        row.exponent_note = ROOM.into();
    }
}

/// For each assumption the check of a run that broke it, or else of the first run.
fn worst_checks(runs: &Runs<'_>) -> Vec<CheckRow> {
    let all: Vec<&Proof> = runs
        .iter()
        .filter_map(|(_, o)| o.verdict.as_ref())
        .collect();
    let Some(first) = all.first() else {
        return Vec::new();
    };
    let (cell, _) = runs[0];
    let worst = |i: usize| {
        let mut of_all = all.iter().filter_map(|p| p.checks.get(i));
        of_all.clone().find(|c| !c.holds).or_else(|| of_all.next())
    };
    let rows = (0..first.checks.len()).filter_map(worst);
    rows.map(|check| CheckRow {
        problem: cell.problem.name.clone(),
        learner: cell.name.into(),
        scale: cell.scale,
        horizon: cell.horizon,
        // that it speaks of the mean is no fault of a run's
        holds: check.holds || check.of_mean,
        detail: check.detail.clone(),
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Checked;

    fn proof(bound: f64, vacuous: bool, of_mean: bool, holds: bool) -> Proof {
        Proof {
            theorem: "t".into(),
            exponent: 0.5,
            bound,
            vacuous,
            checks: vec![Checked {
                of_mean,
                holds,
                detail: String::new(),
            }],
        }
    }

    #[test]
    fn every_run_is_held_against_a_bound_that_speaks_of_every_run() {
        let kept = proof(10.0, false, false, true);
        assert_eq!(verdict(&[9.0, 9.9], &[&kept, &kept]), Verdict::Kept);
        assert_eq!(verdict(&[1.0, 10.1], &[&kept, &kept]), Verdict::Exceeded);
        let vacuous = proof(10.0, true, false, true);
        assert_eq!(verdict(&[1.0, 2.0], &[&kept, &vacuous]), Verdict::Vacuous);
        assert_eq!(verdict(&[1.0], &[]), Verdict::NoneProven);
    }

    #[test]
    fn the_mean_is_held_against_a_bound_that_speaks_of_the_mean() {
        let of_mean = proof(10.0, false, true, false);
        let four = [&of_mean; 4];
        // mean 10.5, standard error 0.65: within three of them
        assert_eq!(verdict(&[9.0, 10.0, 11.0, 12.0], &four), Verdict::Kept);
        assert_eq!(verdict(&[13.0, 13.1, 13.2, 13.0], &four), Verdict::Exceeded);
    }

    #[test]
    fn a_bound_does_not_count_when_an_assumption_was_broken() {
        let broken = proof(10.0, false, false, false);
        assert_eq!(verdict(&[99.0], &[&broken]), Verdict::NotMet);
    }
}
