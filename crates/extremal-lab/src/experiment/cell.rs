//! One cell: a learner with one step size on one problem, for one horizon and one seed.

use std::ops::ControlFlow;

use extremal::game::Game;
use extremal::hindsight::Meter;
use extremal::learner::{Certificate, Learner, Record, RunStatistics, Storage};
use extremal::theory::{self, Assumption, Guarantee, LossFacts};
use extremal::{Gradient, Point};
use extremal_learn::norms;
use serde::{Deserialize, Serialize};

use super::LearnerConfig;
use super::prepare::Built;
use crate::comparator::Best;
use crate::error::{Context, Error, Result};
use crate::summary::worse;
use crate::surrogate::Follower;

/// Seconds since some moment.
pub type Clock<'a> = &'a (dyn Fn() -> f64 + Sync);

/// Oracle calls spent on a certificate for strongly convex losses.
const CERTIFICATE_STEPS: usize = 200;

/// Which cell.
#[derive(Clone, Copy)]
pub(crate) struct Cell<'a> {
    pub problem: &'a Built,
    pub name: &'a str,
    pub learner: &'a LearnerConfig,
    pub scale: f64,
    pub horizon: u64,
    pub seed: u64,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Outcome {
    pub looks: Vec<Look>,
    pub verdict: Option<Proof>,
    /// The largest violation; nothing where the set can't tell.
    pub violation: Option<f64>,
    pub oracle_calls: u64,
    /// [`norms::curve`] at the end; empty where the losses have no least, or the set is no ball.
    pub comparators: Vec<[f64; 3]>,
}

impl Outcome {
    pub fn last(&self) -> &Look {
        self.looks.last().expect("a run is looked at when it ends")
    }
}

/// A look at a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Look {
    pub round: u64,
    pub loss: f64,
    /// max ‖g‖ so far.
    pub gradient: f64,
    /// What no regret exceeds, whatever the learner does: [`theory::trivial_regret`].
    pub trivial: f64,
    pub lower: f64,
    pub upper: f64,
    pub level: Level,
    pub bound: Option<f64>,
    pub certificate: Option<f64>,
    pub surrogate: Option<f64>,
    pub surrogate_bound: Option<f64>,
    pub oracle_calls: u64,
    /// [`norms::halving`].
    pub halving: Option<f64>,
}

impl Look {
    /// The upper end of the regret, where it is not the regret itself.
    pub fn is_upper_vacuous(&self) -> bool {
        self.level != Level::Exact && theory::is_vacuous(self.upper, self.trivial)
    }

    /// Whether the upper end of the regret is above the bound on the way, where there is one that
    /// says something.
    pub fn is_open(&self) -> bool {
        let above = |bound: &f64| self.upper > *bound && !theory::is_vacuous(*bound, self.trivial);
        self.bound.as_ref().is_some_and(above)
    }

    /// The names of the columns whose numbers say nothing.
    pub fn vacuous(&self) -> String {
        let says_nothing =
            |bound: Option<f64>| bound.is_some_and(|bound| theory::is_vacuous(bound, self.trivial));
        let all = [
            ("regret_upper", self.is_upper_vacuous()),
            ("bound", says_nothing(self.bound)),
            ("certificate", says_nothing(self.certificate)),
        ];
        let names: Vec<&str> = all.iter().filter(|(_, is)| *is).map(|(n, _)| *n).collect();
        names.join(" ")
    }
}

/// How an interval of regret was come by, the tightest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Level {
    /// Linear losses: one oracle call gives the regret itself.
    Exact,
    /// A comparator, solved offline up to a gap.
    Interval,
    /// From below the comparator, from above what the gradients certify.
    Certificate,
}

impl std::fmt::Display for Level {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Exact => "exact",
            Self::Interval => "interval",
            Self::Certificate => "certificate",
        })
    }
}

/// A theorem held against a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Proof {
    pub theorem: String,
    pub exponent: f64,
    pub bound: f64,
    /// Whether the bound says nothing: [`theory::is_vacuous`].
    pub vacuous: bool,
    pub checks: Vec<Checked>,
}

/// An assumption held against a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Checked {
    /// Whether it says that the theorem speaks of the mean over seeds.
    pub of_mean: bool,
    pub holds: bool,
    pub detail: String,
}

impl Proof {
    /// Nothing where the bound is none.
    fn new(
        guarantee: Guarantee,
        seen: &RunStatistics,
        losses: &LossFacts,
        end: &Look,
    ) -> Option<Self> {
        let bound = guarantee.bound(end.round as f64);
        let checks = guarantee.check(seen, losses);
        bound.is_finite().then(|| Self {
            theorem: guarantee.theorem().into(),
            exponent: guarantee.exponent(),
            bound,
            vacuous: theory::is_vacuous(bound, end.trivial),
            checks: checks
                .into_iter()
                .map(|c| Checked {
                    of_mean: c.assumption == Assumption::InExpectation,
                    holds: c.holds,
                    detail: c.detail,
                })
                .collect(),
        })
    }

    /// Whether it speaks of the mean over seeds alone.
    pub fn is_of_mean(&self) -> bool {
        self.checks.iter().any(|c| c.of_mean)
    }

    /// Whether the run kept to all assumptions; only then does the bound count.
    pub fn applies(&self) -> bool {
        self.checks.iter().all(|c| c.holds || c.of_mean)
    }
}

/// A learner with a stopwatch around its updates, and somebody who follows its surrogate: the
/// stream, the meter and the checks of every decision would drown the former, and the latter must
/// see every decision before it moves.
struct Observed<'a> {
    inner: Box<dyn Learner>,
    clock: Option<Clock<'a>>,
    seconds: f64,
    follower: Option<Follower>,
}

impl Learner for Observed<'_> {
    fn decide(&mut self) -> extremal::Result<&dyn Point> {
        self.inner.decide()
    }
    fn observe(&mut self, gradient: &Gradient<'_>) -> extremal::Result<Record> {
        if let Some(follower) = &mut self.follower {
            follower.see(self.inner.decision(), gradient);
        }
        let Some(clock) = self.clock else {
            return self.inner.observe(gradient);
        };
        let start = clock();
        let record = self.inner.observe(gradient);
        self.seconds += clock() - start;
        record
    }
    fn decision(&self) -> &dyn Point {
        self.inner.decision()
    }
    fn plan(&mut self, gradient: &Gradient<'_>) -> extremal::Result<Record> {
        self.inner.plan(gradient)
    }
    fn commit(&mut self) {
        self.inner.commit();
    }
    fn discard(&mut self) {
        self.inner.discard();
    }
    fn grow(&mut self, dim: usize) -> extremal::Result<()> {
        self.inner.grow(dim)
    }
    fn reserve(&mut self, dim: usize) -> extremal::Result<()> {
        self.inner.reserve(dim)
    }
    fn guarantee(&self) -> Option<Guarantee> {
        self.inner.guarantee()
    }
    fn seen(&self) -> &RunStatistics {
        self.inner.seen()
    }
    fn certificate(&self) -> Option<Certificate> {
        self.inner.certificate()
    }
    fn save(&self) -> extremal::Result<Vec<u8>> {
        self.inner.save()
    }
    fn load(&mut self, saved: &[u8]) -> extremal::Result<()> {
        self.inner.load(saved)
    }
}

impl Cell<'_> {
    fn here(&self) -> String {
        let Self {
            problem,
            name,
            horizon,
            seed,
            ..
        } = self;
        format!("{}, {name}, T = {horizon}, seed {seed}", problem.name)
    }

    /// What the outcome depends on, apart from the version and the looks.
    pub fn parts(&self) -> Result<Vec<String>> {
        let Self { problem, .. } = self;
        let told = problem.told(self.learner, self.scale, self.horizon, self.seed);
        Ok(vec![
            problem.config.set.to_string(),
            problem.config.loss.to_string(),
            problem.config.l2.to_string(),
            problem.source_key(),
            told.context(|| self.here())?.to_string(),
            self.horizon.to_string(),
            self.seed.to_string(),
            format!("{:?}", self.learner.storage),
        ])
    }

    fn learner<'c>(&self, clock: Option<Clock<'c>>, follow: bool) -> Result<Observed<'c>> {
        let Self { problem, .. } = self;
        let here = || self.here();
        let told = problem.told(self.learner, self.scale, self.horizon, self.seed);
        let spec = told.context(here)?;
        let follower = if follow {
            Follower::new(&spec, &problem.set)
        } else {
            None
        };
        Ok(Observed {
            inner: spec
                .build_stored(&problem.set, self.learner.storage)
                .context(here)?,
            clock,
            seconds: 0.0,
            follower,
        })
    }

    /// Plays it, looking at the run after the given rounds, of which the last is the horizon;
    /// `best` are the best fixed decisions after each of them. Nothing if asked to stop.
    pub fn play(
        &self,
        looks: &[u64],
        best: Option<&[Best]>,
        stopped: &(dyn Fn() -> bool + Sync),
    ) -> Result<Option<Outcome>> {
        let Self { problem, .. } = self;
        let here = || self.here();
        let mut learner = self.learner(None, looks.len() > 1)?;
        let mut stream = problem.stream(self.seed).context(here)?;
        let losses = problem.losses(&*stream);
        let mut meter = Meter::of(&problem.set, &problem.objective);
        let mut violation: Option<f64> = None;
        let (mut played, mut gradient) = (0, 0.0_f64);
        let (mut total, mut rounding) = (Total::default(), 0.0);
        let mut seen = Vec::with_capacity(looks.len());
        let mut comparators = Vec::new();
        for (i, &round) in looks.iter().enumerate() {
            let mut stop = false;
            let mut game = Game::default().with_meter(&mut meter);
            if self.learner.storage == Storage::Dense {
                game = game.with_watch(&*problem.set);
            }
            let summary = game.play_while(
                &mut learner,
                &mut *stream,
                &problem.objective,
                round - played,
                |turn| {
                    gradient = gradient.max(turn.record.gradient_norm);
                    stop = stopped();
                    stop_if(stop)
                },
            );
            let summary = summary.context(here)?;
            if stop {
                return Ok(None);
            }
            if summary.rounds < round - played {
                return Err(Error::Unsupported(format!(
                    "{}: the stream ends before round {round}",
                    self.here()
                )));
            }
            played = round;
            total.add(summary.total_loss);
            rounding += summary.rounding + f64::EPSILON * summary.total_loss.abs();
            let loss = total.value();
            let new = match self.learner.storage {
                Storage::Dense => summary.largest_violation,
                // All entries in every round would cost more than the learner.
                Storage::Lazy | Storage::Sparse => {
                    let mut x = vec![0.0; problem.set.dim()];
                    learner.decision().write(&mut x);
                    problem.set.violation(&x)
                }
            };
            violation = violation.into_iter().chain(new).reduce(worse);
            let certified = meter.certificate(CERTIFICATE_STEPS).context(here)?;
            let (lower, upper, level) = match best {
                None => {
                    let lower = certified.regret - 2.0 * certified.rounding;
                    (lower, certified.regret, Level::Exact)
                }
                Some(best) => {
                    let (least, certified) = (problem.objective.least_total(), certified.regret);
                    interval((loss, rounding), best[i], certified, least).map_err(|what| {
                        Error::Contradiction {
                            place: self.here(),
                            what,
                        }
                    })?
                }
            };
            let diameter = problem.set.geometry().diameter;
            let above_least = problem.objective.above_least(loss);
            let trivial = theory::trivial_regret(gradient, diameter, round as f64, above_least);
            let lost = problem.objective.above_least(loss - rounding);
            let by_norm = meter.by_norm().filter(|_| lost > 0.0 && lost.is_finite());
            if let (true, Some(by_norm)) = (round == self.horizon, &by_norm) {
                let reach = problem.set.geometry().norm_bound;
                comparators = norms::curve(by_norm, lost, reach);
            }
            let bound = learner.guarantee().and_then(|g| {
                let later =
                    |a: &Assumption| matches!(a, Assumption::Horizon(t) if *t != round as f64);
                let fixed = g.assumptions().iter().any(later);
                (!fixed)
                    .then(|| g.bound(round as f64))
                    .filter(|b| b.is_finite())
            });
            let Observed {
                inner, follower, ..
            } = &mut learner;
            let gap = follower.as_mut().and_then(|f| f.gap(inner.decision()));
            seen.push(Look {
                round,
                loss,
                gradient,
                trivial,
                lower,
                upper,
                level,
                bound,
                certificate: learner.certificate().map(|c| c.regret),
                surrogate: gap.map(|g| g.0),
                surrogate_bound: gap.and_then(|g| g.1),
                oracle_calls: learner.seen().oracle_calls,
                halving: by_norm.and_then(|b| norms::halving(&b, lost)),
            });
        }
        let end = seen.last().expect("a run is looked at when it ends");
        let proof = |g| Proof::new(g, learner.seen(), &losses, end);
        Ok(Some(Outcome {
            verdict: learner.guarantee().and_then(proof),
            looks: seen,
            violation,
            oracle_calls: learner.seen().oracle_calls,
            comparators,
        }))
    }

    /// Plays it alone, and gives the seconds inside the learner up to each of the rounds.
    /// Nothing if asked to stop.
    pub fn time(
        &self,
        looks: &[u64],
        clock: Clock<'_>,
        stopped: &(dyn Fn() -> bool + Sync),
    ) -> Result<Option<Vec<f64>>> {
        let Self { problem, .. } = self;
        let here = || self.here();
        let mut learner = self.learner(Some(clock), false)?;
        let mut stream = problem.stream(self.seed).context(here)?;
        let mut played = 0;
        let mut seconds = Vec::with_capacity(looks.len());
        for &round in looks {
            let rounds = round - played;
            let mut stop = false;
            let played_on = Game::default().play_while(
                &mut learner,
                &mut *stream,
                &problem.objective,
                rounds,
                |_| {
                    stop = stopped();
                    stop_if(stop)
                },
            );
            played_on.context(here)?;
            if stop {
                return Ok(None);
            }
            played = round;
            seconds.push(learner.seconds);
        }
        Ok(Some(seconds))
    }
}

fn stop_if(stop: bool) -> ControlFlow<extremal::Result<()>> {
    if stop {
        ControlFlow::Break(Ok(()))
    } else {
        ControlFlow::Continue(())
    }
}

/// A sum that keeps what rounding would lose (Neumaier 1974).
#[derive(Default)]
struct Total {
    sum: f64,
    lost: f64,
}

impl Total {
    fn add(&mut self, value: f64) {
        let sum = self.sum + value;
        self.lost += if self.sum.abs() >= value.abs() {
            (self.sum - sum) + value
        } else {
            (value - sum) + self.sum
        };
        self.sum = sum;
    }

    fn value(&self) -> f64 {
        self.sum + self.lost
    }
}

/// The regret of a total loss, which is known up to `rounding`, from the comparator and from the
/// gradients' certificate; `least` is the least total that the losses allow. Numbers that contradict
/// each other are an error.
fn interval(
    (total, rounding): (f64, f64),
    best: Best,
    certificate: f64,
    least: f64,
) -> Result<(f64, f64, Level), String> {
    let upper = total + rounding - best.floor.max(least);
    let lower = total - rounding - best.value;
    let (upper, level) = if certificate < upper {
        (certificate, Level::Certificate)
    } else {
        (upper, Level::Interval)
    };
    let wrong = if best.value < least {
        format!("the best total is below {least}, the least that the losses allow")
    } else if lower > total - least {
        format!("the regret {lower} is above the total loss")
    } else if lower <= upper {
        return Ok((lower, upper, level));
    } else {
        format!("the regret is at least {lower} and at most {upper}")
    };
    let Best { value, floor } = best;
    Err(format!(
        "{wrong} (total loss {total}, best total between {floor} and {value}, certificate {certificate})"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_contradict_each_other_are_an_error() {
        let best = |value, floor| Best { value, floor };
        let ok = |total, best, certificate, least| interval((total, 0.0), best, certificate, least);
        assert_eq!(
            ok(10.0, best(3.0, 2.5), 100.0, 0.0),
            Ok((7.0, 7.5, Level::Interval))
        );
        assert_eq!(
            ok(10.0, best(3.0, 2.5), 7.2, 0.0),
            Ok((7.0, 7.2, Level::Certificate))
        );
        // no total is below the least that the losses allow, whatever the search found
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
            // a regret of 12 for a learner that lost 10 in all
            (10.0, best(-2.0, -3.0), 100.0, "below 0"),
            (10.0, best(f64::NAN, 2.0), 100.0, "at least NaN"),
        ] {
            let error = interval((total, 0.0), best, certificate, 0.0).unwrap_err();
            assert!(error.contains(words), "{error}");
            assert!(
                error.contains("total loss 10, best total between"),
                "{error}"
            );
        }
    }

    #[test]
    fn a_contradiction_names_the_run_and_ends_the_program_with_code_3() {
        let error = Error::Contradiction {
            place: "ball, ogd, T = 100, seed 1".into(),
            what: "the regret is at least 5 and at most 4".into(),
        };
        assert!(error.is_numerical());
        let text = error.to_string();
        assert!(text.starts_with("internal error: ball, ogd, T = 100, seed 1: the regret is"));
    }

    #[test]
    fn a_total_keeps_what_rounding_would_lose() {
        let mut total = Total::default();
        for value in [1.0, 1e16, 1.0, -1e16, 1.0] {
            total.add(value);
        }
        assert_eq!(total.value(), 3.0);
    }
}
