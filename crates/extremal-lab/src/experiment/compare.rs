//! Running an experiment: every run once, over threads, with finished runs kept.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use extremal::loss::Labels;
use extremal::set::SharedSet;
use serde::{Serialize, de::DeserializeOwned};

use super::cache::{Cache, key};
use super::problem::{Prepared, Problem};
use super::run::{Clock, Outcome, Run};
use super::{Experiment, LearnerConfig, Source};
use crate::comparator::{self, Best};
use crate::error::{Context, Error, Result};
use crate::output::Output;
use crate::picture;
use crate::results::{self, Picture, Results, RunInfo, Status, TimingRow, file};
use crate::summary;

/// Rounds of a picture.
const PICTURE_ROUNDS: u64 = 60;
const PICTURE_SEED: u64 = 1;
/// The first checkpoint of a run. The others follow at every doubling.
const FIRST_CHECKPOINT: u64 = 16;

/// The caller's side of a run of an experiment.
pub struct Progress<'a> {
    /// The number of threads.
    pub threads: usize,
    /// The time.
    pub clock: Clock<'a>,
    /// Called with the number of rounds to play, once it is known.
    pub expect: &'a (dyn Fn(u64) + Sync),
    /// Called with numbers of rounds that were played.
    pub done: &'a (dyn Fn(u64) + Sync),
    /// Whether to stop. Finished runs are kept.
    pub stopped: &'a (dyn Fn() -> bool + Sync),
}

impl Experiment {
    /// Runs the experiment in memory: no clock, no directory, no stop.
    pub fn play(self, threads: usize) -> Result<Results> {
        let progress = Progress {
            threads,
            clock: &|| 0.0,
            expect: &|_| {},
            done: &|_| {},
            stopped: &|| false,
        };
        let results = compare(&Prepared::new(self)?, "", "", None, &progress)?;
        Ok(results.expect("nothing stops it"))
    }
}

/// Makes the runs that are missing, and gathers all results. `None` if it was stopped.
///
/// `output` keeps finished runs, so that an interrupted experiment resumes. The tables depend neither
/// on the number of threads nor on interruptions; times do.
pub fn compare(
    prepared: &Prepared,
    version: &str,
    command: &str,
    output: Option<&Output>,
    progress: &Progress<'_>,
) -> Result<Option<Results>> {
    let work = Work {
        prepared,
        version,
        cache: Cache(output),
        progress,
        platform: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
    };
    match work.run(command) {
        Err(Error::Stopped) => Ok(None),
        results => results.map(Some),
    }
}

/// The widest vector instructions of the processor that the library uses.
fn features() -> &'static str {
    #[cfg(target_arch = "x86_64")]
    {
        if std::arch::is_x86_feature_detected!("avx512f") {
            return "avx512";
        }
        if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma")
        {
            return "avx2";
        }
    }
    "baseline"
}

struct Work<'a> {
    prepared: &'a Prepared,
    version: &'a str,
    cache: Cache<'a>,
    progress: &'a Progress<'a>,
    platform: String,
}

/// A run with its checkpoints, and its key in the cache.
struct Planned<'a> {
    run: Run<'a>,
    checkpoints: Vec<u64>,
    key: String,
}

/// The rounds of the runs that have no result yet.
fn missing<T>(runs: &[Planned<'_>], kept: &[Option<T>]) -> u64 {
    let missing = runs.iter().zip(kept).filter(|(_, kept)| kept.is_none());
    missing.map(|(planned, _)| planned.run.horizon).sum()
}

/// The checkpoints of a run: of the longest also on the way, of the others at the end.
fn checkpoints(problem: &Problem, horizon: u64) -> Vec<u64> {
    let longest = problem.config.horizon() == horizon;
    let doubling = std::iter::successors(Some(FIRST_CHECKPOINT), |t| t.checked_mul(2));
    let on_the_way = doubling.take_while(|t| longest && *t < horizon);
    on_the_way.chain([horizon]).collect()
}

/// The rounds at which a problem's best fixed decision is needed, increasing.
fn comparator_rounds(problem: &Problem) -> Vec<u64> {
    let mut all = checkpoints(problem, problem.config.horizon());
    all.extend(&problem.config.horizons);
    all.sort_unstable();
    all.dedup();
    all
}

/// The best fixed decisions of a problem and a seed, by round.
type Solved<'a> = HashMap<(&'a str, u64), HashMap<u64, Best>>;

impl<'a> Work<'a> {
    fn run(&self, command: &str) -> Result<Results> {
        let start = (self.progress.clock)();
        let all = self.prepared.runs();
        let runs = self.plan("cell", all.clone())?;
        let kept: Vec<Option<Outcome>> = runs
            .iter()
            .map(|run| self.kept(run, |o: &Outcome| o.checkpoints.len()))
            .collect();
        if let Some(output) = self.cache.0 {
            // From here on the directory belongs to this experiment.
            output.write(file::CONFIG, self.prepared.experiment.to_toml())?;
            results::write_run(output, &self.info(command, Status::Running, &all, start))?;
        }
        let unsolved = self.unsolved(&runs, &kept);
        let timed = self.timed(&all)?;
        let times: Vec<Option<Vec<f64>>> =
            timed.iter().map(|run| self.kept(run, Vec::len)).collect();
        let solving: u64 = unsolved.iter().map(|(p, _)| p.config.horizon()).sum();
        (self.progress.expect)(solving + missing(&runs, &kept) + missing(&timed, &times));
        let best = self.comparators(&unsolved)?;
        let outcomes = self.play(&runs, kept, &best)?;
        let pictures = self.pictures()?;
        let timing = self.time(&timed, times)?;
        let (trace, summary, checks) = summary::gather(&all, &outcomes);
        Ok(Results {
            experiment: self.prepared.experiment.clone(),
            run: self.info(command, Status::Complete, &all, start),
            trace,
            summary,
            checks,
            comparators: summary::comparators(&all, &outcomes),
            timing,
            pictures,
        })
    }

    fn info(&self, command: &str, status: Status, runs: &[Run<'a>], start: f64) -> RunInfo {
        let problems = self.prepared.experiment.problems.values();
        let mut seeds: Vec<u64> = problems.flat_map(|p| p.seeds.iter().copied()).collect();
        seeds.sort_unstable();
        seeds.dedup();
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        RunInfo {
            version: self.version.into(),
            command: command.into(),
            status,
            cells: runs.len() as u64,
            rounds: runs.iter().map(|r| r.horizon).sum(),
            seeds,
            inputs: self.prepared.inputs.clone(),
            platform: self.platform.clone(),
            features: features().into(),
            cores: cores as u64,
            threads: self.progress.threads as u64,
            seconds: (self.progress.clock)() - start,
        }
    }

    fn key(&self, kind: &str, rounds: &[u64], parts: &[String]) -> String {
        let rounds = format!("{rounds:?}");
        let mut all = vec![kind, self.version, &self.platform, features(), &rounds];
        all.extend(parts.iter().map(String::as_str));
        key(&all)
    }

    fn plan(&self, kind: &str, runs: Vec<Run<'a>>) -> Result<Vec<Planned<'a>>> {
        let one = |run: Run<'a>| {
            let checkpoints = checkpoints(run.problem, run.horizon);
            let key = self.key(kind, &checkpoints, &run.parts()?);
            Ok(Planned {
                run,
                checkpoints,
                key,
            })
        };
        runs.into_iter().map(one).collect()
    }

    /// The result of an earlier call, if it has an entry for each checkpoint.
    fn kept<T: DeserializeOwned>(
        &self,
        planned: &Planned<'a>,
        entries: impl Fn(&T) -> usize,
    ) -> Option<T> {
        let found = self.cache.get(&planned.key);
        found.filter(|found| entries(found) == planned.checkpoints.len())
    }

    /// Keeps a result and reports its rounds.
    fn keep<T: Serialize>(&self, key: &str, rounds: u64, value: T) -> Result<T> {
        self.cache.put(key, &value)?;
        (self.progress.done)(rounds);
        Ok(value)
    }

    /// The problems and seeds with a missing run that needs a comparator.
    fn unsolved(&self, runs: &[Planned<'a>], kept: &[Option<Outcome>]) -> Vec<(&'a Problem, u64)> {
        let mut all: Vec<(&Problem, u64)> = Vec::new();
        for (Planned { run, .. }, kept) in runs.iter().zip(kept) {
            let is_known = |(p, s): &(&Problem, u64)| p.name == run.problem.name && *s == run.seed;
            let is_needed = kept.is_none() && !run.problem.objective.is_linear();
            if is_needed && !all.iter().any(is_known) {
                all.push((run.problem, run.seed));
            }
        }
        all
    }

    /// The comparators, which all learners of a problem share.
    fn comparators(&self, needed: &[(&'a Problem, u64)]) -> Result<Solved<'a>> {
        let solved = self.in_parallel(needed, |&(problem, seed)| {
            let rounds = comparator_rounds(problem);
            let config = &problem.config;
            let parts = [
                config.set.to_string(),
                config.loss.to_string(),
                config.l2.to_string(),
                problem.source_key(),
                seed.to_string(),
            ];
            let key = self.key("best", &rounds, &parts);
            let kept: Option<Vec<Best>> = self.cache.get(&key);
            let best = match kept.filter(|best| best.len() == rounds.len()) {
                Some(best) => {
                    (self.progress.done)(config.horizon());
                    best
                }
                None => {
                    let stopped = self.progress.stopped;
                    let best = comparator::best_fixed(problem, seed, &rounds, stopped)?;
                    self.keep(&key, config.horizon(), best)?
                }
            };
            let by_round = rounds.into_iter().zip(best).collect();
            Ok(((problem.name.as_str(), seed), by_round))
        })?;
        Ok(HashMap::from_iter(solved))
    }

    fn play(
        &self,
        runs: &[Planned<'a>],
        mut kept: Vec<Option<Outcome>>,
        solved: &Solved<'a>,
    ) -> Result<Vec<Outcome>> {
        let mut missing: Vec<usize> = (0..runs.len()).filter(|i| kept[*i].is_none()).collect();
        // The longest first, so that at the end no thread waits long for another.
        missing.sort_by_key(|i| std::cmp::Reverse(runs[*i].run.horizon));
        let played = self.in_parallel(&missing, |&i| {
            let Planned {
                run,
                checkpoints,
                key,
            } = &runs[i];
            let best = solved.get(&(run.problem.name.as_str(), run.seed));
            let best: Option<Vec<Best>> =
                best.map(|best| checkpoints.iter().map(|t| best[t]).collect());
            let outcome = run.play(checkpoints, best.as_deref(), self.progress.stopped)?;
            Ok((i, self.keep(key, run.horizon, outcome)?))
        })?;
        for (i, outcome) in played {
            kept[i] = Some(outcome);
        }
        Ok(kept.into_iter().flatten().collect())
    }

    /// Every learner of every problem whose set can be drawn, in the plane.
    fn pictures(&self) -> Result<Vec<Picture>> {
        if !self.prepared.experiment.pictures {
            return Ok(Vec::new());
        }
        let problems = self.prepared.problems.iter();
        let all: Vec<_> = problems
            .flat_map(|p| self.prepared.learners(p).map(move |(name, l)| (p, name, l)))
            .collect();
        let drawn = self.in_parallel(&all, |(problem, name, learner)| {
            picture(problem, name, learner)
        })?;
        Ok(drawn.into_iter().flatten().collect())
    }

    /// The runs that are timed: the longest, with the first seed and theory's step size.
    fn timed(&self, all: &[Run<'a>]) -> Result<Vec<Planned<'a>>> {
        let is_timed = |run: &&Run<'a>| {
            self.prepared.experiment.timing
                && run.horizon == run.problem.config.horizon()
                && run.seed == run.problem.config.seeds[0]
                && run.scale == run.learner.plain_scale()
        };
        self.plan("time", all.iter().filter(is_timed).copied().collect())
    }

    /// Times runs one after another, with nothing beside them.
    fn time(&self, timed: &[Planned<'a>], kept: Vec<Option<Vec<f64>>>) -> Result<Vec<TimingRow>> {
        let mut rows = Vec::new();
        for (planned, kept) in timed.iter().zip(kept) {
            let Planned {
                run,
                checkpoints,
                key,
            } = planned;
            let seconds = match kept {
                Some(seconds) => seconds,
                None => {
                    let Progress { clock, stopped, .. } = *self.progress;
                    let seconds = run.time(checkpoints, clock, stopped)?;
                    self.keep(key, run.horizon, seconds)?
                }
            };
            let row = |(&round, seconds): (&u64, f64)| TimingRow {
                problem: run.problem.name.clone(),
                learner: run.name.into(),
                scale: run.scale,
                horizon: run.horizon,
                seed: run.seed,
                round,
                seconds,
            };
            rows.extend(checkpoints.iter().zip(seconds).map(row));
        }
        Ok(rows)
    }

    /// Maps the items over threads and returns the results in their order, or the first error in
    /// that order.
    fn in_parallel<T: Sync, U: Send>(
        &self,
        items: &[T],
        f: impl Fn(&T) -> Result<U> + Sync,
    ) -> Result<Vec<U>> {
        let next = AtomicUsize::new(0);
        let failed = AtomicBool::new(false);
        let all = Mutex::new(Vec::with_capacity(items.len()));
        let work = || {
            while !failed.load(Ordering::Relaxed) && !(self.progress.stopped)() {
                let i = next.fetch_add(1, Ordering::Relaxed);
                let Some(item) = items.get(i) else {
                    break;
                };
                let result = f(item);
                if result.is_err() {
                    failed.store(true, Ordering::Relaxed);
                }
                let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
                all.push((i, result));
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..self.progress.threads.max(1) {
                scope.spawn(work);
            }
        });
        let mut all = all.into_inner().unwrap_or_else(PoisonError::into_inner);
        all.sort_by_key(|(i, _)| *i);
        let results = all.into_iter().map(|(_, result)| result);
        let results = results.collect::<Result<Vec<U>>>()?;
        match results.len() == items.len() {
            true => Ok(results),
            false => Err(Error::Stopped),
        }
    }
}

/// A learner on a problem's set in the plane. Collected examples have no planar form: a synthetic
/// stream of the same kind replaces them.
fn picture(problem: &Problem, name: &str, learner: &LearnerConfig) -> Result<Option<Picture>> {
    let config = &problem.config;
    let (stream, note) = match &config.stream {
        Source::Synthetic(spec) => (spec.clone(), String::new()),
        Source::Rows(_) => {
            let loss = problem.objective.loss();
            let like = match loss.labels() {
                Labels::Signs => "classification",
                _ if loss.is_linear() => "drift",
                _ => "regression",
            };
            let stream = like.parse().context(|| problem.name.clone())?;
            (stream, format!("; rounds of {like} stand for the data"))
        }
    };
    let scale = learner.plain_scale();
    let build = |set: &SharedSet, gradient: f64, rounds: u64| {
        problem
            .with_constants(learner, scale, rounds, PICTURE_SEED, gradient)?
            .build(set)
    };
    let drawn = picture::draw(
        &config.set,
        &problem.objective,
        &stream,
        &build,
        PICTURE_ROUNDS,
        PICTURE_SEED,
    )?;
    Ok(drawn.map(|drawn| Picture {
        problem: problem.name.clone(),
        learner: name.into(),
        set: drawn.set + &note,
        ..drawn
    }))
}
