//! Runs an experiment on several threads. Finished runs are kept in the experiment's directory, so that
//! a repeated command makes only the missing runs.

use std::collections::{BTreeSet, HashMap};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use extremal::loss::Labels;
use extremal::set::SharedSet;
use indexmap::IndexMap;
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

/// The number of rounds of a picture.
const PICTURE_ROUNDS: u64 = 60;
/// The seed of a picture's stream.
const PICTURE_SEED: u64 = 1;
/// The round of a run's first checkpoint. The number of rounds doubles from one checkpoint to the next.
const FIRST_CHECKPOINT: u64 = 16;

/// The number of threads for an experiment, and the functions with which the caller follows or stops
/// the experiment.
pub struct Progress<'a> {
    /// The number of threads.
    pub threads: usize,
    /// Returns the time in seconds.
    pub clock: Clock<'a>,
    /// A function that is called once, with the number of rounds to play.
    pub expect: &'a (dyn Fn(u64) + Sync),
    /// A function that is called after each run, with the run's number of rounds.
    pub done: &'a (dyn Fn(u64) + Sync),
    /// Returns whether to stop the experiment. Finished runs are kept.
    pub stopped: &'a (dyn Fn() -> bool + Sync),
}

impl Experiment {
    /// Runs the experiment without a directory, a clock or a way to stop it.
    pub fn play(self, threads: usize) -> Result<Results> {
        let progress = Progress {
            threads,
            clock: &|| 0.0,
            expect: &|_| {},
            done: &|_| {},
            stopped: &|| false,
        };
        let results = compare(&Prepared::new(self)?, "", "", None, &progress)?;
        Ok(results.expect("the experiment can't be stopped"))
    }
}

/// Makes all missing runs, and collects the results of all runs. Returns `None` if the caller stopped
/// the experiment.
///
/// Finished runs are kept in `output`, so that an interrupted experiment can be resumed. The number of
/// threads and interruptions affect the measured times, but not the tables.
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
        use std::arch::is_x86_feature_detected as has;
        if has!("avx512f") {
            return "avx512";
        }
        if has!("avx2") && has!("fma") {
            return "avx2";
        }
    }
    "baseline"
}

/// The inputs that all steps of an experiment share.
struct Work<'a> {
    prepared: &'a Prepared,
    version: &'a str,
    cache: Cache<'a>,
    progress: &'a Progress<'a>,
    /// The operating system and the processor's architecture.
    platform: String,
}

/// A run with the rounds of its checkpoints, and its key in the cache.
struct Planned<'a> {
    run: Run<'a>,
    checkpoints: Vec<u64>,
    key: String,
}

/// The number of rounds in all runs that have no cached result.
fn missing<T>(runs: &[Planned<'_>], kept: &[Option<T>]) -> u64 {
    let missing = runs.iter().zip(kept).filter(|(_, kept)| kept.is_none());
    missing.map(|(planned, _)| planned.run.horizon).sum()
}

/// The rounds of a run's checkpoints. A run of the longest horizon has several checkpoints. A shorter
/// run has a single checkpoint, after its last round.
fn checkpoints(problem: &Problem, horizon: u64) -> Vec<u64> {
    let longest = problem.config.horizon() == horizon;
    let doubling = std::iter::successors(Some(FIRST_CHECKPOINT), |t| t.checked_mul(2));
    let before_the_end = doubling.take_while(|t| longest && *t < horizon);
    before_the_end.chain([horizon]).collect()
}

/// The rounds after which a problem's best fixed decision is needed, in increasing order.
fn comparator_rounds(problem: &Problem) -> Vec<u64> {
    let mut all = BTreeSet::from_iter(checkpoints(problem, problem.config.horizon()));
    all.extend(&problem.config.horizons);
    all.into_iter().collect()
}

/// The best fixed decisions for each problem, seed and round.
type Solved<'a> = HashMap<(&'a str, u64), HashMap<u64, Best>>;

impl<'a> Work<'a> {
    /// Makes the missing runs in three steps: comparators, then runs and pictures, then times.
    fn run(&self, command: &str) -> Result<Results> {
        let start = (self.progress.clock)();
        let all = self.prepared.runs();
        let runs = self.plan("cell", all.clone())?;
        let kept = runs.iter();
        let kept = kept.map(|run| self.kept(run, |o: &Outcome| o.checkpoints.len()));
        let kept: Vec<Option<Outcome>> = kept.collect();
        if let Some(output) = self.cache.0 {
            // These files mark the directory as this experiment's.
            output.write(file::CONFIG, self.prepared.experiment.to_toml())?;
            results::write_run(output, &self.info(command, Status::Running, &all, start))?;
        }
        let unsolved = self.unsolved(&runs, &kept);
        let timed = self.timed(&all)?;
        let times = timed.iter().map(|run| self.kept(run, Vec::len));
        let times: Vec<Option<Vec<f64>>> = times.collect();
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

    /// The provenance of the results. `start` is the time when the experiment started.
    fn info(&self, command: &str, status: Status, runs: &[Run<'a>], start: f64) -> RunInfo {
        let problems = self.prepared.experiment.problems.values();
        let seeds: BTreeSet<u64> = problems.flat_map(|p| &p.seeds).copied().collect();
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        RunInfo {
            version: self.version.into(),
            command: command.into(),
            status,
            cells: runs.len() as u64,
            rounds: runs.iter().map(|r| r.horizon).sum(),
            seeds: seeds.into_iter().collect(),
            inputs: self.prepared.inputs.clone(),
            platform: self.platform.clone(),
            features: features().into(),
            cores: cores as u64,
            threads: self.progress.threads as u64,
            seconds: (self.progress.clock)() - start,
        }
    }

    /// The key of a result in the cache. It is computed from everything that the result depends on.
    fn key(&self, kind: &str, rounds: &[u64], parts: &[String]) -> String {
        let rounds = format!("{rounds:?}");
        let mut all = vec![kind, self.version, &self.platform, features(), &rounds];
        all.extend(parts.iter().map(String::as_str));
        key(&all)
    }

    /// The runs with their checkpoints and keys. The kind distinguishes different results of the same
    /// run.
    fn plan(&self, kind: &str, runs: Vec<Run<'a>>) -> Result<Vec<Planned<'a>>> {
        let plan = |run: Run<'a>| {
            let checkpoints = checkpoints(run.problem, run.horizon);
            let key = self.key(kind, &checkpoints, &run.key_parts()?);
            Ok(Planned {
                run,
                checkpoints,
                key,
            })
        };
        runs.into_iter().map(plan).collect()
    }

    /// The cached result of a run, if it has an entry for each checkpoint.
    fn kept<T: DeserializeOwned>(
        &self,
        planned: &Planned<'a>,
        entries: impl Fn(&T) -> usize,
    ) -> Option<T> {
        let found = self.cache.get(&planned.key);
        found.filter(|found| entries(found) == planned.checkpoints.len())
    }

    /// Stores a result in the cache, and reports its rounds as played.
    fn keep<T: Serialize>(&self, key: &str, rounds: u64, value: T) -> Result<T> {
        self.cache.put(key, &value)?;
        (self.progress.done)(rounds);
        Ok(value)
    }

    /// The problems and seeds for which a missing run needs the best fixed decision. Runs with linear
    /// losses do not need the best fixed decision.
    fn unsolved(&self, runs: &[Planned<'a>], kept: &[Option<Outcome>]) -> Vec<(&'a Problem, u64)> {
        let missing = runs.iter().zip(kept).filter(|(_, kept)| kept.is_none());
        let missing = missing.map(|(planned, _)| (planned.run.problem, planned.run.seed));
        let needed = missing.filter(|(problem, _)| !problem.objective.is_linear());
        let by_name = needed.map(|(p, seed)| ((p.name.as_str(), seed), (p, seed)));
        by_name.collect::<IndexMap<_, _>>().into_values().collect()
    }

    /// Finds the best fixed decisions, which all learners of a problem share.
    fn comparators(&self, needed: &[(&'a Problem, u64)]) -> Result<Solved<'a>> {
        let solved = self.in_parallel(needed, |&(problem, seed)| {
            let rounds = comparator_rounds(problem);
            let config = &problem.config;
            let mut parts = problem.key_parts();
            parts.push(seed.to_string());
            let key = self.key("best", &rounds, &parts);
            let kept: Option<Vec<Best>> = self.cache.get(&key);
            let best = match kept.filter(|best| best.len() == rounds.len()) {
                Some(best) => best,
                None => comparator::best_fixed(problem, seed, &rounds, self.progress.stopped)?,
            };
            let best = self.keep(&key, config.horizon(), best)?;
            let by_round = rounds.into_iter().zip(best).collect();
            Ok(((problem.name.as_str(), seed), by_round))
        })?;
        Ok(HashMap::from_iter(solved))
    }

    /// Plays the runs that have no cached outcome, and returns the outcomes of all runs.
    fn play(
        &self,
        runs: &[Planned<'a>],
        mut kept: Vec<Option<Outcome>>,
        solved: &Solved<'a>,
    ) -> Result<Vec<Outcome>> {
        let mut missing: Vec<usize> = (0..runs.len()).filter(|i| kept[*i].is_none()).collect();
        // The longest runs start first, so that all threads finish at about the same time.
        missing.sort_by_key(|i| std::cmp::Reverse(runs[*i].run.horizon));
        let played = self.in_parallel(&missing, |&i| {
            let (run, rounds) = (&runs[i].run, &runs[i].checkpoints);
            let best = solved.get(&(run.problem.name.as_str(), run.seed));
            let best = best.map(|best| rounds.iter().map(|t| best[t]).collect::<Vec<Best>>());
            let outcome = run.play(rounds, best.as_deref(), self.progress.stopped)?;
            Ok((i, self.keep(&runs[i].key, run.horizon, outcome)?))
        })?;
        for (i, outcome) in played {
            kept[i] = Some(outcome);
        }
        Ok(kept.into_iter().flatten().collect())
    }

    /// Draws every learner of every problem whose set can be drawn in the plane.
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

    /// The runs to time: the runs of the longest horizon that have the first seed and the theorem's
    /// step size.
    fn timed(&self, all: &[Run<'a>]) -> Result<Vec<Planned<'a>>> {
        let is_timed = |run: &&Run<'a>| {
            self.prepared.experiment.timing
                && run.horizon == run.problem.config.horizon()
                && run.seed == run.problem.config.seeds[0]
                && run.scale == run.config.plain_scale()
        };
        self.plan("time", all.iter().filter(is_timed).copied().collect())
    }

    /// Times the runs one after another, so that no other run disturbs the measurement.
    fn time(&self, timed: &[Planned<'a>], kept: Vec<Option<Vec<f64>>>) -> Result<Vec<TimingRow>> {
        let mut rows = Vec::new();
        for (planned, kept) in timed.iter().zip(kept) {
            let (run, checkpoints) = (&planned.run, &planned.checkpoints);
            let seconds = match kept {
                Some(seconds) => seconds,
                None => {
                    let Progress { clock, stopped, .. } = *self.progress;
                    let seconds = run.time(checkpoints, clock, stopped)?;
                    self.keep(&planned.key, run.horizon, seconds)?
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

    /// Applies `f` to the items on several threads. Returns the results in the order of the items, or
    /// the error of the first item that failed.
    fn in_parallel<T: Sync, U: Send + Sync>(
        &self,
        items: &[T],
        f: impl Fn(&T) -> Result<U> + Sync,
    ) -> Result<Vec<U>> {
        let next = AtomicUsize::new(0);
        let failed = AtomicBool::new(false);
        let results: Vec<OnceLock<Result<U>>> = items.iter().map(|_| OnceLock::new()).collect();
        let work = || {
            while !failed.load(Ordering::Relaxed) && !(self.progress.stopped)() {
                let i = next.fetch_add(1, Ordering::Relaxed);
                let Some(item) = items.get(i) else {
                    break;
                };
                let result = results[i].get_or_init(|| f(item));
                failed.fetch_or(result.is_err(), Ordering::Relaxed);
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..self.progress.threads.max(1) {
                scope.spawn(work);
            }
        });
        let results = results.into_iter().filter_map(OnceLock::into_inner);
        let results = results.collect::<Result<Vec<U>>>()?;
        let complete = results.len() == items.len();
        complete.then_some(results).ok_or(Error::Stopped)
    }
}

/// Draws a learner on a problem's set in the plane. Collected examples have too many dimensions for the
/// plane. A synthetic stream with the same kind of labels replaces them.
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
            (stream, format!("; the stream {like} replaces the data"))
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
