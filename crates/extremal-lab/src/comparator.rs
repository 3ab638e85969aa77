//! The best fixed decision in hindsight, with a certificate, on streams that can be replayed.

use extremal::hindsight::{Options, QuadraticSum, Sum, Total, solve};
use extremal::pair::{Point, Row};
use extremal::stream::Round;

use crate::error::{Context, Error, Result};
use crate::problem::{Parts, Problem};

/// Statistics are as many numbers as the dimension squared; in more dimensions the rounds are kept.
const MOST_SQUARED: usize = 2_000;

/// The losses so far: as sufficient statistics where there are some, otherwise round by round.
enum Kept {
    Squares(QuadraticSum),
    Rounds(Sum),
}

impl Kept {
    fn new(parts: &Parts) -> extremal::Result<Self> {
        let (dim, objective) = (parts.set.dim(), &parts.objective);
        Ok(
            if objective.loss().name() == "squared" && dim <= MOST_SQUARED {
                Self::Squares(QuadraticSum::new(dim, objective.ridge())?)
            } else {
                Self::Rounds(Sum::new(dim, objective)?)
            },
        )
    }

    fn push(&mut self, round: &Round<'_>) -> extremal::Result<()> {
        let Round { row, label, weight } = *round;
        match self {
            Self::Squares(sum) => sum.push(row, label, weight),
            Self::Rounds(sum) => sum.push(row, label, weight),
        }
    }

    fn total(&self) -> &dyn Total {
        match self {
            Self::Squares(sum) => sum,
            Self::Rounds(sum) => sum,
        }
    }
}

/// The smallest total loss of a fixed decision lies between these two.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Best {
    /// A feasible decision has this total.
    pub value: f64,
    /// None has less than this.
    pub floor: f64,
}

/// A point for streams that do not look at it.
struct Nowhere(usize);

impl Point for Nowhere {
    fn dim(&self) -> usize {
        self.0
    }
    fn dot(&self, _row: &Row<'_>) -> extremal::Result<f64> {
        Ok(0.0)
    }
    fn norm_squared(&self) -> f64 {
        0.0
    }
    fn write(&self, out: &mut [f64]) {
        out.fill(0.0);
    }
}

/// The best fixed decision after each of the (growing) numbers of rounds.
pub(crate) fn best_fixed(
    problem: &Problem,
    parts: &Parts,
    seed: u64,
    rounds: &[u64],
) -> Result<Vec<Best>> {
    let here = || format!("{}, comparator, seed {seed}", problem.key);
    let mut stream = parts.stream(seed).context(here)?;
    if stream.is_adaptive() {
        return Err(Error::Unsupported(format!(
            "{}: a comparator is known for linear losses, and for others on a stream that can be replayed",
            problem.key
        )));
    }
    let nowhere = Nowhere(parts.set.dim());
    let mut kept = Kept::new(parts).context(here)?;
    // Each search begins where the last one ended.
    let mut options = Options {
        relative_gap: 1e-12,
        absolute_gap: 1e-6,
        ..Options::default()
    };
    let mut played = 0;
    let mut all = Vec::with_capacity(rounds.len());
    for &t in rounds {
        while played < t {
            let Some(round) = stream.next(&nowhere).context(here)? else {
                return Err(Error::Unsupported(format!(
                    "{}: the stream ends before round {t}",
                    problem.key
                )));
            };
            kept.push(&round).context(here)?;
            played += 1;
        }
        let best = solve(kept.total(), &*parts.set, &options).context(here)?;
        all.push(Best {
            value: best.value,
            floor: best.floor,
        });
        options.start = Some(best.x);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo;

    #[test]
    fn every_loss_has_a_certified_comparator() {
        let mut problem = demo::problems().remove(0);
        problem.set = "lp:p=1.5,radius=2,dim=5";
        for (loss, stream) in [("squared", "regression"), ("logistic", "classification")] {
            (problem.loss, problem.stream, problem.ridge) = (loss, stream, 0.1);
            let parts = problem.build().unwrap();
            let best = best_fixed(&problem, &parts, 3, &[50, 400]).unwrap();
            for (best, rounds) in best.iter().zip([50, 400]) {
                assert!(best.floor <= best.value, "{loss}: {best:?}");
                assert!(best.value - best.floor <= 1e-6, "{loss}: {best:?}");
                // a decision of one's own does no better than the floor
                let mut stream = parts.stream(3).unwrap();
                let mut total = 0.0;
                for _ in 0..rounds {
                    let round = stream.next(&Nowhere(5)).unwrap().unwrap();
                    let (value, _) = parts.objective.loss().at(0.0, round.label);
                    total += value;
                }
                assert!(best.floor < total, "{loss}: {best:?} {total}");
            }
            assert!(best[0].floor <= best[1].value);
        }
    }

    #[test]
    fn statistics_and_kept_rounds_have_the_same_best_decision() {
        let mut problem = demo::problems().remove(0);
        problem.set = "simplex:total=2,dim=4";
        (problem.loss, problem.stream, problem.ridge) = ("squared", "regression", 0.05);
        let parts = problem.build().unwrap();
        let best = best_fixed(&problem, &parts, 1, &[300]).unwrap()[0];
        let mut sum = Sum::new(4, &parts.objective).unwrap();
        let mut stream = parts.stream(1).unwrap();
        for _ in 0..300 {
            let round = stream.next(&Nowhere(4)).unwrap().unwrap();
            sum.push(round.row, round.label, round.weight).unwrap();
        }
        let other = solve(&sum, &*parts.set, &Options::default()).unwrap();
        assert!(other.floor <= best.value && best.floor <= other.value);
        assert!((other.value - best.value).abs() <= 1e-6 * best.value);
    }

    #[test]
    fn rounds_are_kept_where_statistics_would_take_too_much_memory() {
        let mut problem = demo::problems().remove(0);
        (problem.loss, problem.stream) = ("squared", "zipf");
        for (set, squared) in [("l2:dim=2000", true), ("l2:dim=100000", false)] {
            problem.set = set;
            let parts = problem.build().unwrap();
            let kept = Kept::new(&parts).unwrap();
            assert_eq!(matches!(kept, Kept::Squares(_)), squared, "{set}");
            if !squared {
                let best = best_fixed(&problem, &parts, 1, &[20]).unwrap()[0];
                assert!(best.floor <= best.value, "{best:?}");
            }
        }
    }

    #[test]
    fn a_stream_that_answers_has_no_comparator() {
        let mut problem = demo::problems().remove(0);
        (problem.loss, problem.stream) = ("squared", "adversary");
        let parts = problem.build().unwrap();
        let error = best_fixed(&problem, &parts, 1, &[10]).unwrap_err();
        assert!(error.to_string().contains("can be replayed"), "{error}");
    }
}
