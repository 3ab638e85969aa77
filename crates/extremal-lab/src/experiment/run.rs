//! One run: a learner with one step size on one problem, for one horizon and one seed.

use extremal::game;
use extremal::hindsight::Meter;
use extremal::learner::{Learner, LearnerSpec, RunStatistics, Storage};
use extremal::loss::Scratch;
use extremal::stream::{Round, Stream};
use extremal::theory::{self, Assumption, Guarantee, LossFacts};
use extremal_learn::norms;
use serde::{Deserialize, Serialize};

use super::LearnerConfig;
use super::problem::Problem;
use crate::comparator::Best;
use crate::error::{Context, Error, Result};
use crate::results::{Level, TraceRow};
use crate::summary::worse;
use crate::surrogate::Follower;

/// Seconds since a fixed moment.
pub type Clock<'a> = &'a (dyn Fn() -> f64 + Sync);

/// Oracle calls spent on a certificate for strongly convex losses.
const CERTIFICATE_STEPS: usize = 200;

/// A run to be made.
#[derive(Clone, Copy)]
pub(crate) struct Run<'a> {
    pub problem: &'a Problem,
    pub name: &'a str,
    pub learner: &'a LearnerConfig,
    pub scale: f64,
    pub horizon: u64,
    pub seed: u64,
}

/// The outcome of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Outcome {
    pub checkpoints: Vec<TraceRow>,
    pub verdict: Option<Proof>,
    /// The largest violation; `None` if the set does not report violations.
    pub violation: Option<f64>,
    pub oracle_calls: u64,
    /// [`norms::curve`] at the end; empty if the losses have no least value or the set is no ball.
    pub comparators: Vec<[f64; 3]>,
}

impl Outcome {
    pub fn last(&self) -> &TraceRow {
        let last = self.checkpoints.last();
        last.expect("a run ends at a checkpoint")
    }
}

/// A theorem's bound and assumptions, checked on a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Proof {
    pub theorem: String,
    pub exponent: f64,
    pub bound: f64,
    /// Whether the bound is vacuous: [`theory::is_vacuous`].
    pub vacuous: bool,
    /// Whether the theorem is about the mean over seeds.
    pub of_mean: bool,
    /// Whether each assumption holds, and the figures.
    pub checks: Vec<(bool, String)>,
}

impl Proof {
    /// `None` if the bound is not finite.
    fn new(
        guarantee: Guarantee,
        seen: &RunStatistics,
        losses: &LossFacts,
        end: &TraceRow,
    ) -> Option<Self> {
        let bound = guarantee.bound(end.round as f64);
        let of_mean = Assumption::InExpectation;
        let checks = guarantee.check(seen, losses).into_iter();
        bound.is_finite().then(|| Self {
            theorem: guarantee.theorem().into(),
            exponent: guarantee.exponent(),
            bound,
            vacuous: theory::is_vacuous(bound, end.trivial),
            of_mean: guarantee.assumptions().contains(&of_mean),
            // No run breaks the assumption that the theorem is about the mean.
            checks: checks
                .map(|c| (c.holds || c.assumption == of_mean, c.detail))
                .collect(),
        })
    }

    /// Whether the run met all assumptions. Otherwise the bound does not count.
    pub fn applies(&self) -> bool {
        self.checks.iter().all(|(holds, _)| *holds)
    }
}

impl Run<'_> {
    /// The name of the run in errors.
    fn place(&self) -> String {
        let Self {
            problem,
            name,
            horizon,
            seed,
            ..
        } = self;
        format!("{}, {name}, T = {horizon}, seed {seed}", problem.name)
    }

    /// Everything that the outcome depends on, apart from the version and the checkpoints.
    pub fn parts(&self) -> Result<Vec<String>> {
        let config = &self.problem.config;
        Ok(vec![
            config.set.to_string(),
            config.loss.to_string(),
            config.l2.to_string(),
            self.problem.source_key(),
            self.spec()?.to_string(),
            self.horizon.to_string(),
            self.seed.to_string(),
            format!("{:?}", self.learner.storage),
        ])
    }

    fn spec(&self) -> Result<LearnerSpec> {
        let Self { problem, .. } = self;
        problem
            .with_constants(
                self.learner,
                self.scale,
                self.horizon,
                self.seed,
                problem.gradient,
            )
            .context(|| self.place())
    }

    fn start(&self, spec: &LearnerSpec) -> Result<(Box<dyn Learner>, Box<dyn Stream>)> {
        let Self { problem, .. } = self;
        let here = || self.place();
        let learner = spec.build_stored(&problem.set, self.learner.storage);
        let stream = problem.stream(self.seed).context(here)?;
        Ok((learner.context(here)?, stream))
    }

    fn stream_ended(&self) -> Error {
        Error::Unsupported(format!(
            "{}: the stream ends before round {}",
            self.place(),
            self.horizon
        ))
    }

    /// Plays the run with checkpoints after the given rounds, of which the last is the horizon.
    /// `best` has the best fixed decision at each of them.
    pub fn play(
        &self,
        checkpoints: &[u64],
        best: Option<&[Best]>,
        stopped: &(dyn Fn() -> bool + Sync),
    ) -> Result<Outcome> {
        let Problem { set, objective, .. } = self.problem;
        let here = || self.place();
        let spec = self.spec()?;
        let (mut learner, mut stream) = self.start(&spec)?;
        // Writing out all entries in every round would cost more than a learner in other storage.
        let dense = self.learner.storage == Storage::Dense;
        let follow = dense && checkpoints.len() > 1;
        let mut follower = follow.then(|| Follower::new(&spec, set)).flatten();
        let losses = self.problem.losses(&*stream);
        let mut meter = Meter::of(set, objective);
        let mut inspector = set.inspector();
        let mut inspect = |x: &[f64]| match &mut inspector {
            Some(inspect) => inspect(x),
            None => set.violation(x),
        };
        let (mut violation, mut x) = (None, vec![0.0; set.dim()]);
        let (mut scratch, mut gradient) = (Scratch::default(), 0.0_f64);
        let (mut total, mut rounding) = (Total::default(), 0.0);
        let mut reached = Vec::with_capacity(checkpoints.len());
        let mut comparators = Vec::new();
        for (i, &round) in checkpoints.iter().enumerate() {
            for _ in reached.last().map_or(0, |row: &TraceRow| row.round)..round {
                if stopped() {
                    return Err(Error::Stopped);
                }
                let decision = learner.decide().context(here)?;
                if dense {
                    decision.write(&mut x);
                    violation = violation.into_iter().chain(inspect(&x)).reduce(worse);
                }
                let given = stream.next(decision).context(here)?;
                let given = given.ok_or_else(|| self.stream_ended())?;
                let turn = game::round(
                    &mut *learner,
                    objective,
                    given,
                    Some(&mut meter),
                    &mut scratch,
                );
                let turn = turn.context(here)?;
                if let Some(follower) = &mut follower {
                    follower.see(&x, &turn.evaluation.gradient);
                }
                gradient = gradient.max(turn.record.gradient_norm);
                total.add(turn.evaluation.value);
                rounding += turn.rounding;
            }
            if !dense {
                learner.decision().write(&mut x);
                violation = violation.into_iter().chain(inspect(&x)).reduce(worse);
            }
            let loss = total.value();
            let rounding = rounding + 2.0 * f64::EPSILON * loss.abs();
            let certified = meter.certificate(CERTIFICATE_STEPS).context(here)?;
            let (lower, upper, level) = match best {
                None => {
                    let lower = certified.regret - 2.0 * certified.rounding;
                    (lower, certified.regret, Level::Exact)
                }
                Some(best) => {
                    let (least, certified) = (objective.least_total(), certified.regret);
                    let found = interval((loss, rounding), best[i], certified, least);
                    found.map_err(|what| Error::Contradiction {
                        place: self.place(),
                        what,
                    })?
                }
            };
            let above_least = objective.above_least(loss);
            let diameter = set.geometry().diameter;
            let lost = objective.above_least(loss - rounding);
            let by_norm = meter.by_norm().filter(|_| lost > 0.0 && lost.is_finite());
            if let (true, Some(by_norm)) = (round == self.horizon, &by_norm) {
                comparators = norms::curve(by_norm, lost, set.geometry().norm_bound);
            }
            let gap = follower.as_mut().and_then(|f| f.gap(learner.decision()));
            let mut row = TraceRow {
                problem: self.problem.name.clone(),
                learner: self.name.into(),
                scale: self.scale,
                horizon: self.horizon,
                seed: self.seed,
                round,
                loss,
                largest_gradient: gradient,
                regret_lower: lower,
                regret_upper: upper,
                level,
                bound: learner.guarantee().and_then(|g| bound_at(&g, round as f64)),
                certificate: learner.certificate().map(|c| c.regret),
                trivial: theory::trivial_regret(gradient, diameter, round as f64, above_least),
                vacuous: String::new(),
                surrogate: gap.map(|g| g.0),
                surrogate_bound: gap.and_then(|g| g.1),
                oracle_calls: learner.seen().oracle_calls,
                halving_radius: by_norm.and_then(|b| norms::halving(&b, lost)),
            };
            row.vacuous = row.vacuous_columns();
            reached.push(row);
        }
        let end = reached.last().expect("a run ends at a checkpoint");
        let proof = |g| Proof::new(g, learner.seen(), &losses, end);
        Ok(Outcome {
            verdict: learner.guarantee().and_then(proof),
            checkpoints: reached,
            violation,
            oracle_calls: learner.seen().oracle_calls,
            comparators,
        })
    }

    /// Plays the run by itself, and returns the seconds inside the learner up to each checkpoint.
    pub fn time(
        &self,
        checkpoints: &[u64],
        clock: Clock<'_>,
        stopped: &(dyn Fn() -> bool + Sync),
    ) -> Result<Vec<f64>> {
        let here = || self.place();
        let (mut learner, mut stream) = self.start(&self.spec()?)?;
        let objective = &self.problem.objective;
        let (mut scratch, mut seconds) = (Scratch::default(), 0.0);
        let mut times = Vec::with_capacity(checkpoints.len());
        for round in 1..=self.horizon {
            if stopped() {
                return Err(Error::Stopped);
            }
            let decision = learner.decide().context(here)?;
            let given = stream.next(decision).context(here)?;
            let Round { row, label, weight } = given.ok_or_else(|| self.stream_ended())?;
            let evaluation = objective.evaluate_in(row, label, weight, decision, &mut scratch);
            let gradient = evaluation.context(here)?.gradient;
            let start = clock();
            learner.observe(&gradient).context(here)?;
            seconds += clock() - start;
            if checkpoints.contains(&round) {
                times.push(seconds);
            }
        }
        Ok(times)
    }
}

/// The theorem's bound after a round; `None` if it holds at another horizon alone, or is not finite.
fn bound_at(theorem: &Guarantee, round: f64) -> Option<f64> {
    let other = |a: &Assumption| matches!(a, Assumption::Horizon(t) if *t != round);
    let fixed = theorem.assumptions().iter().any(other);
    let bound = (!fixed).then(|| theorem.bound(round));
    bound.filter(|bound| bound.is_finite())
}

/// A compensated sum (Neumaier 1974).
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

/// The interval of the regret, from a total loss that is known up to `rounding`, the comparator and
/// the certificate of the gradients. `least` is the least total that the losses allow. Numbers that
/// contradict each other are an error.
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
