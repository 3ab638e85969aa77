//! Runs: every learner of every problem, from scratch for every horizon and seed, over threads.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use extremal::game;
use extremal::hindsight::Meter;
use extremal::learner::{Certificate, Learner, Record, Seen};
use extremal::pair::{Gradient, Point};
use extremal::theory::{self, Assumption, Check, Guarantee};

use crate::comparator::{self, Best};
use crate::error::{Context, Result};
use crate::problem::{Parts, Problem};

/// Seconds since some moment. The lab hands it to the game, which has none.
pub type Clock<'a> = &'a (dyn Fn() -> f64 + Sync);

/// Oracle calls spent on the certificate at the end of a run with strongly convex losses.
const CERTIFICATE_STEPS: usize = 200;

/// What is run.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The problems.
    pub problems: Vec<Problem>,
    /// Every learner meets each of these streams.
    pub seeds: Vec<u64>,
}

impl Plan {
    /// Rounds of all runs together.
    pub fn rounds(&self) -> u64 {
        let one_seed = |p: &Problem| p.horizons.iter().sum::<u64>() * p.learners.len() as u64;
        self.problems.iter().map(one_seed).sum::<u64>() * self.seeds.len() as u64
    }
}

/// How an interval of regret was come by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Linear losses: one oracle call gives the regret itself.
    Exact,
    /// A comparator, solved offline up to a Frank-Wolfe gap.
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

/// The regret lies between these two.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// At least this.
    pub lower: f64,
    /// At most this.
    pub upper: f64,
    /// How it is known.
    pub level: Level,
}

/// A theorem held against a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// The theorem.
    pub guarantee: Guarantee,
    /// Its bound for this run.
    pub bound: f64,
    /// G·D·T, which every feasible learner keeps.
    pub trivial: f64,
    /// Whether the bound exceeds that.
    pub vacuous: bool,
    /// Its assumptions, checked on the run.
    pub checks: Vec<Check>,
}

impl Verdict {
    /// Whether the run kept to all assumptions; only then does the bound count.
    pub fn applies(&self) -> bool {
        self.checks.iter().all(|c| c.holds)
    }

    /// The same for the mean over seeds, of which a theorem about the expectation speaks.
    pub fn applies_to_mean(&self) -> bool {
        let of_mean = |c: &Check| c.holds || c.assumption == Assumption::InExpectation;
        self.checks.iter().all(of_mean)
    }
}

/// One run.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// Index of the problem in the plan.
    pub problem: usize,
    /// Index of the learner in the problem.
    pub learner: usize,
    /// T.
    pub horizon: u64,
    /// The stream's seed.
    pub seed: u64,
    /// The regret.
    pub regret: Interval,
    /// The upper bound of the regret that the gradients alone certify.
    pub certificate: f64,
    /// What is proven about it, if anything is.
    pub verdict: Option<Verdict>,
    /// The largest violation of the set by a decision.
    pub violation: f64,
    /// Oracle calls made to play.
    pub oracle_calls: u64,
    /// Seconds inside the learner.
    pub seconds: f64,
}

/// A learner with a stopwatch around its updates: the stream, the meter and the checks of every
/// decision would drown them.
struct Timed<'a> {
    inner: Box<dyn Learner>,
    clock: Clock<'a>,
    seconds: f64,
}

impl Learner for Timed<'_> {
    fn dim(&self) -> usize {
        self.inner.dim()
    }
    fn decide(&mut self) -> extremal::Result<&dyn Point> {
        self.inner.decide()
    }
    fn observe(&mut self, gradient: &Gradient<'_>) -> extremal::Result<Record> {
        let start = (self.clock)();
        let record = self.inner.observe(gradient);
        self.seconds += (self.clock)() - start;
        record
    }
    fn decision(&self) -> &dyn Point {
        self.inner.decision()
    }
    fn rounds(&self) -> u64 {
        self.inner.rounds()
    }
    fn guarantee(&self) -> Option<Guarantee> {
        self.inner.guarantee()
    }
    fn seen(&self) -> &Seen {
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

/// A run to be made.
#[derive(Clone, Copy)]
struct Cell {
    problem: usize,
    learner: usize,
    horizon: usize,
    seed: usize,
}

/// Makes all runs of a plan on this many threads. The result is in the order of problems,
/// learners, horizons and seeds, and apart from the times does not depend on the threads.
/// `done` hears of the rounds played as runs end.
pub fn run(
    plan: &Plan,
    threads: usize,
    clock: Clock<'_>,
    done: &(dyn Fn(u64) + Sync),
) -> Result<Vec<Run>> {
    let parts = plan
        .problems
        .iter()
        .map(Problem::build)
        .collect::<Result<Vec<_>>>()?;

    // The comparators first: all learners of a problem are held against the same ones.
    let needed: Vec<(usize, usize)> = (0..plan.problems.len())
        .filter(|p| !parts[*p].objective.is_linear())
        .flat_map(|p| (0..plan.seeds.len()).map(move |s| (p, s)))
        .collect();
    let solved = in_parallel(threads, needed.len(), |i| {
        let (p, s) = needed[i];
        let problem = &plan.problems[p];
        comparator::best_fixed(problem, &parts[p], plan.seeds[s], &problem.horizons)
    })?;
    let best = |cell: &Cell| {
        let at = needed.binary_search(&(cell.problem, cell.seed)).ok()?;
        Some(solved[at][cell.horizon])
    };

    let mut cells = Vec::new();
    for (p, problem) in plan.problems.iter().enumerate() {
        for learner in 0..problem.learners.len() {
            for horizon in 0..problem.horizons.len() {
                cells.extend((0..plan.seeds.len()).map(|seed| Cell {
                    problem: p,
                    learner,
                    horizon,
                    seed,
                }));
            }
        }
    }
    // The longest first, so that no thread is left with one at the end.
    let length = |i: &usize| plan.problems[cells[*i].problem].horizons[cells[*i].horizon];
    let mut order: Vec<usize> = (0..cells.len()).collect();
    order.sort_by_key(|i| std::cmp::Reverse(length(i)));
    let mut runs = in_parallel(threads, order.len(), |k| {
        let cell = &cells[order[k]];
        let run = play(plan, &parts[cell.problem], cell, best(cell), clock)?;
        done(run.horizon);
        Ok((order[k], run))
    })?;
    runs.sort_by_key(|(i, _)| *i);
    Ok(runs.into_iter().map(|(_, run)| run).collect())
}

fn play(
    plan: &Plan,
    parts: &Parts,
    cell: &Cell,
    best: Option<Best>,
    clock: Clock<'_>,
) -> Result<Run> {
    let problem = &plan.problems[cell.problem];
    let name = problem.learners[cell.learner];
    let horizon = problem.horizons[cell.horizon];
    let seed = plan.seeds[cell.seed];
    let here = || format!("{}, {name}, T = {horizon}, seed {seed}", problem.key);

    let Parts {
        set,
        objective,
        gradient,
        ..
    } = parts;
    let spec = problem.told(name, horizon, *gradient).context(here)?;
    let mut learner = Timed {
        inner: spec.build(set).context(here)?,
        clock,
        seconds: 0.0,
    };
    let mut stream = parts.stream(seed).context(here)?;
    let mut meter = Meter::of(set, objective);
    let summary = game::play(
        &mut learner,
        &mut *stream,
        objective,
        horizon,
        &mut || 0.0, // the learner's own time is what is wanted
        Some(&mut meter),
        Some(&**set),
        |_| Ok(()),
    )
    .context(here)?;
    let certificate = meter.certificate(CERTIFICATE_STEPS).context(here)?.regret;
    let regret = match best {
        None => Interval {
            lower: certificate,
            upper: certificate,
            level: Level::Exact,
        },
        Some(best) => interval(summary.total_loss, best, certificate),
    };
    let t = horizon as f64;
    let verdict = learner.guarantee().map(|guarantee| {
        let bound = guarantee.bound(t);
        let diameter = set.geometry().diameter;
        Verdict {
            guarantee,
            bound,
            trivial: gradient * diameter * t,
            vacuous: theory::is_vacuous(bound, *gradient, diameter, t),
            checks: guarantee.check(learner.seen(), objective.strong_convexity()),
        }
    });
    Ok(Run {
        problem: cell.problem,
        learner: cell.learner,
        horizon,
        seed,
        regret,
        certificate,
        verdict,
        violation: summary.largest_violation.unwrap_or(f64::NAN),
        oracle_calls: learner.seen().oracle_calls,
        seconds: learner.seconds,
    })
}

/// The regret of a total loss, from the comparator and from the gradients' certificate.
pub(crate) fn interval(total: f64, best: Best, certificate: f64) -> Interval {
    let upper = total - best.floor;
    let (upper, level) = if certificate < upper {
        (certificate, Level::Certificate)
    } else {
        (upper, Level::Interval)
    };
    let lower = total - best.value;
    Interval {
        lower,
        upper: upper.max(lower),
        level,
    }
}

/// f(0), f(1), …, over threads; the first error in that order among those met.
fn in_parallel<T: Send>(
    threads: usize,
    count: usize,
    f: impl Fn(usize) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let next = AtomicUsize::new(0);
    let failed = AtomicBool::new(false);
    let work = || {
        let mut mine = Vec::new();
        while !failed.load(Ordering::Relaxed) {
            let i = next.fetch_add(1, Ordering::Relaxed);
            if i >= count {
                break;
            }
            let result = f(i);
            if result.is_err() {
                failed.store(true, Ordering::Relaxed);
            }
            mine.push((i, result));
        }
        mine
    };
    let mut all = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads.max(1)).map(|_| scope.spawn(work)).collect();
        let mut all = Vec::with_capacity(count);
        for worker in workers {
            match worker.join() {
                Ok(mine) => all.extend(mine),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        all
    });
    all.sort_by_key(|(i, _)| *i);
    all.into_iter().map(|(_, result)| result).collect()
}

/// One learner's run as it goes: what it knows of its regret, and what the regret is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TracePoint {
    /// t.
    pub round: u64,
    /// The regret so far.
    pub regret: Interval,
    /// What the learner certifies by itself, from gradients alone.
    pub own: f64,
    /// What linear certificates would say.
    pub linear: f64,
}

/// Follows a learner of a problem, looking on at growing rounds.
pub fn trace(problem: &Problem, name: &str, seed: u64, rounds: &[u64]) -> Result<Vec<TracePoint>> {
    let here = || format!("{}, {name}, trace, seed {seed}", problem.key);
    let parts = problem.build()?;
    let horizon = rounds.last().copied().unwrap_or(0);
    let best = comparator::best_fixed(problem, &parts, seed, rounds)?;
    let spec = problem.told(name, horizon, parts.gradient).context(here)?;
    let mut learner = spec.build(&parts.set).context(here)?;
    let mut stream = parts.stream(seed).context(here)?;
    let mut linear = Meter::new(&parts.set, 0.0, false);
    let (mut played, mut total) = (0, 0.0);
    let mut points = Vec::with_capacity(rounds.len());
    for (&t, best) in rounds.iter().zip(best) {
        let summary = game::play(
            &mut *learner,
            &mut *stream,
            &parts.objective,
            t - played,
            &mut || 0.0,
            Some(&mut linear),
            None,
            |_| Ok(()),
        )
        .context(here)?;
        played = t;
        total += summary.total_loss;
        let own = learner.certificate().map_or(f64::NAN, |c| c.regret);
        points.push(TracePoint {
            round: t,
            regret: interval(total, best, f64::INFINITY),
            own,
            linear: linear.certificate(1).context(here)?.regret,
        });
    }
    Ok(points)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo;

    fn tiny() -> Plan {
        demo::plan(3, Some(2_000)).unwrap()
    }

    fn runs(threads: usize) -> Vec<Run> {
        run(&tiny(), threads, &|| 0.0, &|_| {}).unwrap()
    }

    #[test]
    fn results_do_not_depend_on_the_number_of_threads() {
        let one = runs(1);
        assert!(one.len() > 100);
        assert_eq!(one, runs(2));
        assert_eq!(one, runs(5));
    }

    #[test]
    fn every_interval_is_one_and_linear_losses_have_exact_regret() {
        let plan = tiny();
        for run in runs(2) {
            let Interval {
                lower,
                upper,
                level,
            } = run.regret;
            assert!(lower <= upper, "{run:?}");
            // what the gradients certify can't be below the regret
            assert!(
                run.certificate >= lower - 1e-9 * lower.abs().max(1.0),
                "{run:?}"
            );
            if plan.problems[run.problem].loss == "linear" {
                assert_eq!((level, upper), (Level::Exact, lower));
            } else {
                assert!(level != Level::Exact && upper - lower < 1e-5, "{run:?}");
            }
        }
    }

    #[test]
    fn every_run_is_feasible_and_keeps_its_theorem() {
        for run in runs(2) {
            assert!(run.violation <= 1e-9, "{run:?}");
            if let Some(verdict) = &run.verdict {
                assert!(verdict.applies_to_mean(), "{run:?}");
                assert!(
                    !verdict.applies() || run.regret.upper <= verdict.bound,
                    "{run:?}"
                );
            }
        }
    }

    #[test]
    fn an_interval_takes_the_smaller_upper_end() {
        let best = Best {
            value: 3.0,
            floor: 2.5,
        };
        let by_gap = interval(10.0, best, 9.0);
        assert_eq!((by_gap.lower, by_gap.upper), (7.0, 7.5));
        assert_eq!(by_gap.level, Level::Interval);
        let by_certificate = interval(10.0, best, 7.2);
        assert_eq!(by_certificate.upper, 7.2);
        assert_eq!(by_certificate.level, Level::Certificate);
    }

    #[test]
    fn an_error_names_its_run() {
        let mut plan = tiny();
        plan.problems[0].learners = vec!["sc-ofw"];
        let error = run(&plan, 2, &|| 0.0, &|_| {}).unwrap_err().to_string();
        assert!(
            error.contains("sc-ofw, T = 2000") && error.contains("lambda"),
            "{error}"
        );
    }

    #[test]
    fn a_learners_own_certificate_is_never_below_its_regret() {
        let plan = tiny();
        let ridge = plan.problems.iter().find(|p| p.ridge > 0.0).unwrap();
        for point in trace(ridge, "sc-ofw", 0, &[10, 100, 1000]).unwrap() {
            assert!(
                point.own >= point.regret.lower && point.linear >= point.own,
                "{point:?}"
            );
        }
    }
}
