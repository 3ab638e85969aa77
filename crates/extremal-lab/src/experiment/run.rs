//! One run: a learner with one step size plays one problem, for one horizon and one seed.

use extremal::game;
use extremal::hindsight::Meter;
use extremal::learner::{Learner, LearnerSpec, RunStatistics, Storage};
use extremal::loss::Scratch;
use extremal::stream::{Round, Stream};
use extremal::theory::{self, Assumption, Guarantee, LossFacts};
use extremal_learn::norms;
use serde::{Deserialize, Serialize};

use super::LearnerConfig;
use super::problem::{Problem, next_round};
use crate::comparator::Best;
use crate::error::{Context, Error, Result};
use crate::results::{Level, TraceRow};
use crate::summary::worse;
use crate::surrogate::Follower;

/// A function that returns the seconds since a fixed moment.
pub type Clock<'a> = &'a (dyn Fn() -> f64 + Sync);

/// A function that returns whether to stop.
pub(crate) type Stop<'a> = &'a (dyn Fn() -> bool + Sync);

/// The largest number of oracle calls for one certificate of strongly convex losses.
const CERTIFICATE_STEPS: usize = 200;

/// The settings of a run.
#[derive(Clone, Copy)]
pub(crate) struct Run<'a> {
    pub problem: &'a Problem,
    /// The learner's name in the experiment.
    pub name: &'a str,
    pub config: &'a LearnerConfig,
    /// The factor on the learner's step size.
    pub scale: f64,
    pub horizon: u64,
    pub seed: u64,
}

/// The outcome of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Outcome {
    pub checkpoints: Vec<TraceRow>,
    /// The learner's theorem; `None` if there is no theorem for this set.
    pub verdict: Option<Proof>,
    /// The largest violation of the set; `None` if the set can't measure violations.
    pub violation: Option<f64>,
    pub oracle_calls: u64,
    /// The rows of [`norms::curve`] after the last round. Empty if the losses are unbounded below, or
    /// if the set is not a ball.
    pub comparators: Vec<[f64; 3]>,
}

impl Outcome {
    /// The checkpoint after the last round.
    pub fn last(&self) -> &TraceRow {
        let last = self.checkpoints.last();
        last.expect("a run ends at a checkpoint")
    }
}

/// A theorem's bound on the regret, and its assumptions as checked on a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Proof {
    pub theorem: String,
    pub exponent: f64,
    pub bound: f64,
    /// Whether the bound is vacuous, as [`theory::is_vacuous`] defines it.
    pub vacuous: bool,
    /// Whether the theorem bounds the mean regret over seeds, not the regret of each run.
    pub of_mean: bool,
    /// For each assumption: whether it holds, and a text with the values that were compared.
    pub checks: Vec<(bool, String)>,
}

impl Proof {
    /// The guarantee at the run's last checkpoint, `end`. `None` if the bound is not finite.
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
            // The assumption "in expectation" says that the theorem bounds a mean. No single run can
            // violate this assumption.
            checks: checks
                .map(|c| (c.holds || c.assumption == of_mean, c.detail))
                .collect(),
        })
    }

    /// Whether the run met all assumptions. Otherwise the bound proves nothing about the run.
    pub fn applies(&self) -> bool {
        self.checks.iter().all(|(holds, _)| *holds)
    }
}

impl Run<'_> {
    /// The description of the run in error messages.
    fn place(&self) -> String {
        let (problem, name) = (&self.problem.name, self.name);
        format!(
            "{problem}, {name}, T = {}, seed {}",
            self.horizon, self.seed
        )
    }

    /// All settings that the outcome depends on, except for the program's version and the checkpoints.
    pub fn key_parts(&self) -> Result<Vec<String>> {
        let mut parts = self.problem.key_parts();
        parts.push(self.spec().context(|| self.place())?.to_string());
        parts.extend([self.horizon, self.seed].map(|number| number.to_string()));
        parts.push(format!("{:?}", self.config.storage));
        Ok(parts)
    }

    /// The learner's spec, with the constants that the learner knows.
    fn spec(&self) -> extremal::Result<LearnerSpec> {
        let (config, gradient) = (self.config, self.problem.gradient);
        self.problem
            .with_constants(config, self.scale, self.horizon, self.seed, gradient)
    }

    /// The learner before its first round.
    pub fn learner(&self) -> extremal::Result<Box<dyn Learner>> {
        let spec = self.spec()?;
        let learner = spec.build_stored(&self.problem.set, self.config.storage)?;
        match learner.by_example() {
            None => Ok(learner),
            Some(_) => Err(extremal::Error::Unsupported(format!(
                "{spec} plays in a set that follows the data, but an experiment measures regret on a fixed set. Choose a learner such as coin-ftrl on a set such as l2, or run {spec} with `extremal learn`"
            ))),
        }
    }

    /// The learner and the stream before the first round.
    fn start(&self) -> Result<(Box<dyn Learner>, Box<dyn Stream>)> {
        let here = || self.place();
        let stream = self.problem.stream(self.seed).context(here)?;
        Ok((self.learner().context(here)?, stream))
    }

    /// Plays the run and records a checkpoint after each given round. The last given round is the
    /// horizon. `best` holds the best fixed decision at each checkpoint. For linear losses, `best` is
    /// `None`, because the certificate is the regret itself.
    pub fn play(
        &self,
        checkpoints: &[u64],
        best: Option<&[Best]>,
        stopped: Stop<'_>,
    ) -> Result<Outcome> {
        let Problem { set, objective, .. } = self.problem;
        let here = || self.place();
        let spec = self.spec().context(here)?;
        let (mut learner, mut stream) = self.start()?;
        // In lazy or sparse storage, writing all entries would cost more than the round itself.
        let dense = self.config.storage == Storage::Dense;
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
                let decision = learner.decide().context(here)?;
                if dense {
                    decision.write(&mut x);
                    violation = violation.into_iter().chain(inspect(&x)).reduce(worse);
                }
                let round = next_round(&mut *stream, decision, stopped, here)?;
                let meter = Some(&mut meter);
                let turn = game::round(&mut *learner, objective, round, meter, &mut scratch);
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
                    let least = objective.least_total();
                    let regret = best[i].regret((loss, rounding), certified.regret, least);
                    let place = self.place();
                    regret.map_err(|what| Error::Contradiction { place, what })?
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

    /// Plays the run without measuring its regret. Returns the seconds spent inside the learner up to
    /// each checkpoint.
    pub fn time(
        &self,
        checkpoints: &[u64],
        clock: Clock<'_>,
        stopped: Stop<'_>,
    ) -> Result<Vec<f64>> {
        let here = || self.place();
        let (mut learner, mut stream) = self.start()?;
        let objective = &self.problem.objective;
        let (mut scratch, mut seconds) = (Scratch::default(), 0.0);
        let mut times = Vec::with_capacity(checkpoints.len());
        for round in 1..=self.horizon {
            let decision = learner.decide().context(here)?;
            let Round { row, label, weight } = next_round(&mut *stream, decision, stopped, here)?;
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

/// The theorem's bound after a round. `None` if the bound is not finite, or if the bound holds only at
/// a fixed horizon and not at this round.
fn bound_at(theorem: &Guarantee, round: f64) -> Option<f64> {
    let other = |a: &Assumption| matches!(a, Assumption::Horizon(t) if *t != round);
    let fixed = theorem.assumptions().iter().any(other);
    let bound = (!fixed).then(|| theorem.bound(round));
    bound.filter(|bound| bound.is_finite())
}

/// A sum that also adds up the rounding errors of its additions. Knuth's formula gives each rounding
/// error exactly.
#[derive(Default)]
struct Total {
    sum: f64,
    /// The sum of the rounding errors.
    lost: f64,
}

impl Total {
    fn add(&mut self, value: f64) {
        let sum = self.sum + value;
        let added = sum - self.sum;
        self.lost += (self.sum - (sum - added)) + (value - added);
        self.sum = sum;
    }

    fn value(&self) -> f64 {
        self.sum + self.lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_total_keeps_what_rounding_would_lose() {
        let mut total = Total::default();
        for value in [1.0, 1e16, 1.0, -1e16, 1.0] {
            total.add(value);
        }
        assert_eq!(total.value(), 3.0);
    }
}
