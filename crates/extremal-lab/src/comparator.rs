//! The best fixed decision in hindsight, with a certified interval for its total loss. The stream is
//! replayed to find this decision. The rounds of the stream must therefore not depend on the learner's
//! decisions.

use extremal::hindsight::{self, Options, solve};
use extremal::stream::Stream;
use extremal_learn::Losses;
use serde::{Deserialize, Serialize};

use crate::error::{Context, Result};
use crate::experiment::{Problem, Stop, next_round};
use crate::results::Level;

/// An interval that contains the total loss of the best fixed decision.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Best {
    /// The total loss of a feasible decision.
    pub value: f64,
    /// A lower bound on the totals of all feasible decisions.
    pub floor: f64,
}

impl Best {
    /// Returns an interval that contains the regret of a learner, and the level of the interval. The
    /// learner's total loss is known up to `rounding`. `certificate` is an upper bound on the regret,
    /// computed from the gradients. `least` is the smallest total that the losses allow. If the numbers
    /// contradict each other, the error names them.
    pub fn regret(
        self,
        (total, rounding): (f64, f64),
        certificate: f64,
        least: f64,
    ) -> Result<(f64, f64, Level), String> {
        let Self { value, floor } = self;
        let (lower, upper) = (
            total - rounding - value,
            total + rounding - floor.max(least),
        );
        let (upper, level) = match certificate < upper {
            true => (certificate, Level::Certificate),
            false => (upper, Level::Interval),
        };
        let wrong = if value < least {
            format!("the best total is below {least}, the smallest total that the losses allow")
        } else if lower > total - least {
            format!("the regret {lower} is above the total loss")
        } else if lower <= upper {
            return Ok((lower, upper, level));
        } else {
            format!("the regret is at least {lower} and at most {upper}")
        };
        Err(format!(
            "{wrong} (total loss {total}, best total between {floor} and {value}, certificate {certificate})"
        ))
    }
}

/// A stream that is replayed without a learner, and the losses of the rounds replayed so far.
struct Replay<'a> {
    problem: &'a Problem,
    seed: u64,
    stream: Box<dyn Stream>,
    losses: Losses,
    played: u64,
}

impl<'a> Replay<'a> {
    fn new(problem: &'a Problem, seed: u64, losses: extremal::Result<Losses>) -> Result<Self> {
        let here = || place(problem, seed);
        Ok(Self {
            problem,
            seed,
            stream: problem.stream(seed).context(here)?,
            losses: losses.context(here)?,
            played: 0,
        })
    }

    /// Replays the stream up to this round.
    fn play_to(&mut self, round: u64, stopped: Stop<'_>) -> Result<()> {
        let here = || place(self.problem, self.seed);
        let origin = vec![0.0; self.problem.set.dim()];
        while self.played < round {
            let next = next_round(&mut *self.stream, &origin, stopped, here)?;
            let pushed = self.losses.push(next.row, next.label, next.weight);
            pushed.context(here)?;
            self.played += 1;
        }
        Ok(())
    }

    fn solve(&self, options: &Options) -> Result<hindsight::Best> {
        let found = solve(self.losses.total(), &*self.problem.set, options);
        found.context(|| place(self.problem, self.seed))
    }
}

/// The text that stands for a search for the best decision in error messages.
fn place(problem: &Problem, seed: u64) -> String {
    format!("{}, comparator, seed {seed}", problem.name)
}

/// The largest accepted width of an interval, relative to the value. For squared losses, the first
/// search uses the products of all pairs of columns, summed over the rounds. If two columns nearly
/// cancel, rounding errors make its interval too wide. A second search then uses the individual rounds.
const WIDEST: f64 = 1e-6;

/// The best fixed decision after each of these numbers of rounds. The numbers must increase.
pub(crate) fn best_fixed(
    problem: &Problem,
    seed: u64,
    rounds: &[u64],
    stopped: Stop<'_>,
) -> Result<Vec<Best>> {
    let (dim, objective) = (problem.set.dim(), &problem.objective);
    let mut replay = Replay::new(problem, seed, Losses::new(dim, objective))?;
    let mut options = Options {
        relative_gap: 1e-12,
        absolute_gap: 1e-6,
        ..Options::default()
    };
    let mut all = Vec::with_capacity(rounds.len());
    for &t in rounds {
        replay.play_to(t, stopped)?;
        let mut best = replay.solve(&options)?;
        let wide = best.gap() > options.absolute_gap.max(WIDEST * best.value.abs());
        if wide && replay.losses.are_squares() {
            replay = Replay::new(problem, seed, Losses::rows(dim, objective))?;
            replay.play_to(t, stopped)?;
            let other = replay.solve(&options)?;
            // Both intervals contain the best total, so that the larger floor is valid.
            let floor = best.floor.max(other.floor);
            if other.value <= best.value {
                best = other;
            }
            best.floor = floor;
        }
        let (value, floor) = (best.value, best.floor);
        all.push(Best { value, floor });
        // The next search starts from this decision.
        options.start = Some(best.x);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use extremal::hindsight::Sum;

    /// A problem with these specs and the learner ogd.
    fn problem(set: &str, loss: &str, l2: f64, stream: &str) -> Result<Problem> {
        let text = format!(
            "rounds = 10\n[problem.p]\nset = '{set}'\nloss = '{loss}'\nl2 = {l2:?}\nstream = '{stream}'\n[learner.ogd]\nname = 'ogd'\n"
        );
        let experiment = crate::experiment::Experiment::parse(&text, "test.toml".as_ref())?;
        let mut prepared = crate::experiment::Prepared::new(experiment)?;
        Ok(prepared.problems.remove(0))
    }

    fn found(problem: &Problem, seed: u64, rounds: &[u64]) -> Vec<Best> {
        best_fixed(problem, seed, rounds, &|| false).unwrap()
    }

    #[test]
    fn numbers_that_contradict_each_other_are_an_error() {
        let best = |value, floor| Best { value, floor };
        let ok =
            |total, best: Best, certificate, least| best.regret((total, 0.0), certificate, least);
        assert_eq!(
            ok(10.0, best(3.0, 2.5), 100.0, 0.0),
            Ok((7.0, 7.5, Level::Interval))
        );
        assert_eq!(
            ok(10.0, best(3.0, 2.5), 7.2, 0.0),
            Ok((7.0, 7.2, Level::Certificate))
        );
        // a floor below the smallest total that the losses allow is ignored
        assert_eq!(
            ok(10.0, best(3.0, -1.0), 100.0, 0.0),
            Ok((7.0, 10.0, Level::Interval))
        );
        assert_eq!(
            ok(-3.0, best(-5.0, -5.5), 100.0, f64::NEG_INFINITY),
            Ok((2.0, 2.5, Level::Interval))
        );
        for (total, best, certificate, words) in [
            (
                10.0,
                best(3.0, 2.5),
                7.0 - 1e-12,
                "at least 7 and at most 6.99",
            ),
            (10.0, best(3.0, 4.0), 100.0, "at least 7 and at most 6 "),
            // the learner's total loss is 10, but its regret would be 12
            (10.0, best(-2.0, -3.0), 100.0, "below 0"),
            (10.0, best(f64::NAN, 2.0), 100.0, "at least NaN"),
        ] {
            let error = ok(total, best, certificate, 0.0).unwrap_err();
            assert!(error.contains(words), "{error}");
            assert!(
                error.contains("total loss 10, best total between"),
                "{error}"
            );
        }
    }

    #[test]
    fn every_loss_has_a_certified_comparator() {
        for (loss, stream) in [("squared", "regression"), ("logistic", "classification")] {
            let problem = problem("lp:p=1.5,radius=2,dim=5", loss, 0.1, stream).unwrap();
            let best = found(&problem, 3, &[50, 400]);
            for (best, rounds) in best.iter().zip([50, 400]) {
                assert!(best.floor <= best.value, "{loss}: {best:?}");
                assert!(best.value - best.floor <= 1e-6, "{loss}: {best:?}");
                // the total loss of the decision 0 is above the floor
                let mut stream = problem.stream(3).unwrap();
                let mut total = 0.0;
                for _ in 0..rounds {
                    let round = stream.next(&[0.0; 5]).unwrap().unwrap();
                    let (value, _) = problem.objective.loss().at(0.0, round.label);
                    total += value;
                }
                assert!(best.floor < total, "{loss}: {best:?} {total}");
            }
            assert!(best[0].floor <= best[1].value);
        }
    }

    #[test]
    fn statistics_and_kept_rounds_have_the_same_best_decision() {
        let problem = problem("simplex:total=2,dim=4", "squared", 0.05, "regression").unwrap();
        let best = found(&problem, 1, &[300])[0];
        let mut sum = Sum::new(4, &problem.objective).unwrap();
        let mut stream = problem.stream(1).unwrap();
        for _ in 0..300 {
            let round = stream.next(&[0.0; 4]).unwrap().unwrap();
            sum.push(round.row, round.label, round.weight).unwrap();
        }
        let other = solve(&sum, &*problem.set, &Options::default()).unwrap();
        assert!(other.floor <= best.value && best.floor <= other.value);
        assert!((other.value - best.value).abs() <= 1e-6 * best.value);
    }

    #[test]
    fn rounds_are_kept_where_statistics_lose_their_digits() {
        // a file with two columns that nearly cancel
        let mut table = "a,b,y\n".to_string();
        for t in 0..300 {
            let noise = |k: f64| (k * f64::from(t + 1)).sin();
            let common = 1e7 * (1.25 + 0.25 * noise(0.7));
            let (a, b) = (common + noise(1.3), common + noise(2.9));
            table += &format!("{a:?},{b:?},{:?}\n", 3.0 * (a - b) + 0.3 * noise(5.1));
        }
        let name = format!("extremal-collinear-{}.csv", std::process::id());
        let file = std::env::temp_dir().join(name);
        std::fs::write(&file, table).unwrap();
        let stream = format!("file = '{}'", file.display());
        let text = format!(
            "rounds = 300\n[problem.p]\nset = 'hull:points=[[10,-10],[-10,10]]'\nloss = 'squared'\nstream = {{ {stream}, label = 'y' }}\n[learner.ogd]\nname = 'ofw-free'\n"
        );
        let experiment = crate::experiment::Experiment::parse(&text, "test.toml".as_ref()).unwrap();
        let mut prepared = crate::experiment::Prepared::new(experiment).unwrap();
        let problem = prepared.problems.remove(0);
        // the interval from the statistics alone is wide
        let losses = Losses::new(problem.set.dim(), &problem.objective);
        let mut replay = Replay::new(&problem, 0, losses).unwrap();
        assert!(replay.losses.are_squares());
        replay.play_to(300, &|| false).unwrap();
        let wide = replay.solve(&Options::default()).unwrap();
        assert!(wide.gap() > 1.0, "{wide:?}");
        let best = found(&problem, 0, &[100, 300]);
        std::fs::remove_file(&file).unwrap();
        for best in &best {
            assert!(
                best.floor > 0.0 && best.value - best.floor < 1e-3 * best.value,
                "{best:?}"
            );
        }
        assert!(wide.floor <= best[1].value && best[1].floor <= wide.value);
    }

    #[test]
    fn rounds_are_kept_where_statistics_would_take_too_much_memory() {
        for (set, squared) in [("l2:dim=2000", true), ("l2:dim=100000", false)] {
            let problem = problem(set, "squared", 0.0, "zipf").unwrap();
            let kept = Losses::new(problem.set.dim(), &problem.objective).unwrap();
            assert_eq!(kept.are_squares(), squared, "{set}");
            if !squared {
                let best = found(&problem, 1, &[20])[0];
                assert!(best.floor <= best.value, "{best:?}");
            }
        }
    }

    #[test]
    fn a_stream_that_answers_has_no_comparator() {
        let error = problem("l2:dim=5", "squared", 0.0, "adversary")
            .err()
            .unwrap();
        assert!(error.to_string().contains("linear loss alone"), "{error}");
    }
}
