//! The best fixed decision in hindsight, with a certificate, on streams that can be replayed.

use extremal::hindsight::{Options, solve};
use extremal::stream::{Round, Stream};
use extremal_learn::Losses;
use serde::{Deserialize, Serialize};

use crate::error::{Context, Error, Result};
use crate::experiment::Problem;

/// An interval that contains the least total loss of a fixed decision.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Best {
    /// The total of a feasible decision.
    pub value: f64,
    /// A lower bound on all totals.
    pub floor: f64,
}

/// A stream that is replayed without a learner, and the losses of its rounds so far.
struct Replay {
    stream: Box<dyn Stream>,
    kept: Losses,
    played: u64,
}

impl Replay {
    fn new(problem: &Problem, seed: u64, kept: Losses) -> extremal::Result<Self> {
        Ok(Self {
            stream: problem.stream(seed)?,
            kept,
            played: 0,
        })
    }

    /// Replays rounds up to this one.
    fn play_to(
        &mut self,
        round: u64,
        problem: &Problem,
        seed: u64,
        stopped: &(dyn Fn() -> bool + Sync),
    ) -> Result<()> {
        let here = || place(problem, seed);
        let nowhere = vec![0.0; problem.set.dim()];
        while self.played < round {
            if stopped() {
                return Err(Error::Stopped);
            }
            let Some(next) = self.stream.next(&nowhere).context(here)? else {
                return Err(Error::Unsupported(format!(
                    "{}: the stream ends before round {round}",
                    problem.name
                )));
            };
            let Round { row, label, weight } = next;
            self.kept.push(row, label, weight).context(here)?;
            self.played += 1;
        }
        Ok(())
    }
}

fn place(problem: &Problem, seed: u64) -> String {
    format!("{}, comparator, seed {seed}", problem.name)
}

/// If an interval from statistics is wider than this, relative to the value, the statistics have lost
/// their digits to columns that cancel. Then the rounds are kept instead.
const LOST: f64 = 1e-6;

/// The best fixed decision after each of the increasing numbers of rounds.
pub(crate) fn best_fixed(
    problem: &Problem,
    seed: u64,
    rounds: &[u64],
    stopped: &(dyn Fn() -> bool + Sync),
) -> Result<Vec<Best>> {
    let here = || place(problem, seed);
    let (dim, objective) = (problem.set.dim(), &problem.objective);
    let kept = Losses::new(dim, objective).context(here)?;
    let mut replay = Replay::new(problem, seed, kept).context(here)?;
    // Each search starts where the last one ended.
    let mut options = Options {
        relative_gap: 1e-12,
        absolute_gap: 1e-6,
        ..Options::default()
    };
    let mut all = Vec::with_capacity(rounds.len());
    for &t in rounds {
        replay.play_to(t, problem, seed, stopped)?;
        let mut best = solve(replay.kept.total(), &*problem.set, &options).context(here)?;
        let wide = best.gap() > options.absolute_gap.max(LOST * best.value.abs());
        if wide && replay.kept.are_squares() {
            let kept = Losses::rows(dim, objective).context(here)?;
            replay = Replay::new(problem, seed, kept).context(here)?;
            replay.play_to(t, problem, seed, stopped)?;
            let other = solve(replay.kept.total(), &*problem.set, &options).context(here)?;
            // Both intervals are valid.
            let floor = best.floor.max(other.floor);
            best = if other.value <= best.value {
                other
            } else {
                best
            };
            best.floor = floor;
        }
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
    use extremal::hindsight::Sum;

    /// A problem of these specs, which ogd plays.
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
    fn every_loss_has_a_certified_comparator() {
        for (loss, stream) in [("squared", "regression"), ("logistic", "classification")] {
            let problem = problem("lp:p=1.5,radius=2,dim=5", loss, 0.1, stream).unwrap();
            let best = found(&problem, 3, &[50, 400]);
            for (best, rounds) in best.iter().zip([50, 400]) {
                assert!(best.floor <= best.value, "{loss}: {best:?}");
                assert!(best.value - best.floor <= 1e-6, "{loss}: {best:?}");
                // a decision of one's own does no better than the floor
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
        // two columns that nearly cancel, as a file would have them
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
        // the statistics alone know nothing
        let kept = Losses::new(problem.set.dim(), &problem.objective).unwrap();
        assert!(kept.are_squares());
        let mut replay = Replay::new(&problem, 0, kept).unwrap();
        replay.play_to(300, &problem, 0, &|| false).unwrap();
        let wide = solve(replay.kept.total(), &*problem.set, &Options::default()).unwrap();
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
