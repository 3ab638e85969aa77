//! Running an experiment: every cell once, over threads, the finished ones kept.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use extremal::loss::Labels;
use extremal::set::SharedSet;

use super::cell::{Cell, Clock, Outcome};
use super::prepare::{Built, Prepared};
use super::store::{Store, key};
use super::{LearnerConfig, Source};
use crate::comparator::{self, Best};
use crate::error::{Context, Result};
use crate::output::Output;
use crate::picture::{self, Drawn};
use crate::results::{self, Picture, Results, RunInfo, Status, TimingRow, file};
use crate::summary;

/// Rounds of a picture.
const PICTURE_ROUNDS: u64 = 60;
const PICTURE_SEED: u64 = 1;
/// A run is looked at from this round on, at every doubling.
const FIRST_LOOK: u64 = 16;

/// What a run of an experiment needs from outside.
pub struct Progress<'a> {
    /// The threads to use.
    pub threads: usize,
    /// The time.
    pub clock: Clock<'a>,
    /// Hears how many rounds there are to play in all, once that is known.
    pub expect: &'a (dyn Fn(u64) + Sync),
    /// Hears of rounds played.
    pub done: &'a (dyn Fn(u64) + Sync),
    /// Whether to stop: what is finished by then is kept.
    pub stopped: &'a (dyn Fn() -> bool + Sync),
}

/// Runs what is not yet there, and gathers everything. Nothing if it was stopped on the way.
///
/// `output` keeps the finished cells, so that a run that was interrupted goes on where it was. The
/// tables don't depend on the threads, nor on how often it was interrupted; times do.
pub fn compare(
    prepared: &Prepared,
    version: &str,
    command: &str,
    output: Option<&Output>,
    progress: &Progress<'_>,
) -> Result<Option<Results>> {
    let start = (progress.clock)();
    let work = Work {
        prepared,
        version,
        store: Store(output),
        progress,
        platform: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
    };
    let cells = work.cells();
    let keys = work.keys(&cells)?;
    let kept: Vec<Option<Outcome>> = work.look_up(&cells, &keys);
    if let Some(output) = output {
        // From here on the directory is this experiment's.
        output.write(file::CONFIG, &prepared.experiment.to_toml())?;
        results::write_run(output, &work.info(command, Status::Running, &cells, start))?;
    }
    let unsolved = work.unsolved(&cells, &kept);
    let timed = work.timed()?;
    let missing = cells.iter().zip(&kept).filter(|(_, kept)| kept.is_none());
    let playing: u64 = missing.map(|(cell, _)| cell.horizon).sum();
    let solving: u64 = unsolved.iter().map(|(p, _)| p.config.horizon()).sum();
    let untimed = timed.iter().filter(|t| t.seconds.is_none());
    let timing: u64 = untimed.map(|t| t.cell.horizon).sum();
    (progress.expect)(playing + solving + timing);
    let Some(best) = work.comparators(&unsolved)? else {
        return Ok(None);
    };
    let Some(outcomes) = work.play(&cells, &keys, kept, &best)? else {
        return Ok(None);
    };
    let Some(pictures) = work.pictures()? else {
        return Ok(None);
    };
    let Some(timing) = work.time(timed)? else {
        return Ok(None);
    };
    let (trace, summary, checks) = summary::gather(&cells, &outcomes);
    Ok(Some(Results {
        experiment: prepared.experiment.clone(),
        run: work.info(command, Status::Complete, &cells, start),
        trace,
        summary,
        checks,
        comparators: summary::comparators(&cells, &outcomes),
        timing,
        pictures,
    }))
}

/// The widest vectors that the processor has, of those that the library knows.
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
    store: Store<'a>,
    progress: &'a Progress<'a>,
    platform: String,
}

/// When a run is looked at: the longest on the way, and all at their end.
fn looks(horizons: &[u64], horizon: u64) -> Vec<u64> {
    let longest = horizons.last() == Some(&horizon);
    if !longest {
        return vec![horizon];
    }
    let doubling = std::iter::successors(Some(FIRST_LOOK), |t| t.checked_mul(2));
    let mut all: Vec<u64> = doubling.take_while(|t| *t < horizon).collect();
    all.push(horizon);
    all
}

/// The rounds after which a problem's best fixed decision is needed, growing.
fn comparator_rounds(problem: &Built) -> Vec<u64> {
    let horizons = &problem.config.horizons;
    let mut all = looks(horizons, problem.config.horizon());
    all.extend(horizons);
    all.sort_unstable();
    all.dedup();
    all
}

/// A cell that reports seconds, and those up to each look if they are known.
struct Timed<'a> {
    cell: Cell<'a>,
    looks: Vec<u64>,
    key: String,
    seconds: Option<Vec<f64>>,
}

/// The best fixed decisions of a problem and a seed.
struct Solved<'a> {
    problem: &'a str,
    seed: u64,
    rounds: Vec<u64>,
    best: Vec<Best>,
}

impl Solved<'_> {
    fn at(&self, looks: &[u64]) -> Vec<Best> {
        let find = |t: &u64| {
            let at = self.rounds.binary_search(t);
            self.best[at.expect("it was solved for every look")]
        };
        looks.iter().map(find).collect()
    }
}

impl<'a> Work<'a> {
    /// All cells, in the order of problems, learners, step sizes, horizons and seeds.
    fn cells(&self) -> Vec<Cell<'a>> {
        let mut cells = Vec::new();
        for problem in &self.prepared.problems {
            for (name, learner) in players(self.prepared, problem) {
                for &scale in &learner.scales {
                    for &horizon in &problem.config.horizons {
                        cells.extend(problem.config.seeds.iter().map(|&seed| Cell {
                            problem,
                            name,
                            learner,
                            scale,
                            horizon,
                            seed,
                        }));
                    }
                }
            }
        }
        cells
    }

    fn info(&self, command: &str, status: Status, cells: &[Cell<'a>], start: f64) -> RunInfo {
        let problems = self.prepared.experiment.problems.values();
        let mut seeds: Vec<u64> = problems.flat_map(|p| p.seeds.iter().copied()).collect();
        seeds.sort_unstable();
        seeds.dedup();
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        RunInfo {
            version: self.version.into(),
            command: command.into(),
            status,
            cells: cells.len() as u64,
            rounds: cells.iter().map(|c| c.horizon).sum(),
            seeds,
            inputs: self.prepared.inputs.clone(),
            platform: self.platform.clone(),
            features: features().into(),
            cores: cores as u64,
            threads: self.progress.threads as u64,
            seconds: (self.progress.clock)() - start,
        }
    }

    fn key(&self, kind: &str, looks: &[u64], parts: &[String]) -> String {
        let looks = format!("{looks:?}");
        let mut all = vec![kind, self.version, &self.platform, features(), &looks];
        all.extend(parts.iter().map(String::as_str));
        key(&all)
    }

    fn keys(&self, cells: &[Cell<'a>]) -> Result<Vec<String>> {
        let one = |cell: &Cell<'a>| {
            let looks = looks(&cell.problem.config.horizons, cell.horizon);
            Ok(self.key("cell", &looks, &cell.parts()?))
        };
        cells.iter().map(one).collect()
    }

    /// What is kept of each cell: an outcome that was looked at otherwise is none of ours.
    fn look_up(&self, cells: &[Cell<'a>], keys: &[String]) -> Vec<Option<Outcome>> {
        let one = |(cell, key): (&Cell<'a>, &String)| {
            let looks = looks(&cell.problem.config.horizons, cell.horizon);
            let outcome: Outcome = self.store.get(key)?;
            let seen = outcome.looks.iter().map(|look| look.round);
            seen.eq(looks).then_some(outcome)
        };
        cells.iter().zip(keys).map(one).collect()
    }

    /// The problems and seeds with a cell that is missing and needs a comparator.
    fn unsolved(&self, cells: &[Cell<'a>], kept: &[Option<Outcome>]) -> Vec<(&'a Built, u64)> {
        let mut all: Vec<(&Built, u64)> = Vec::new();
        for (cell, kept) in cells.iter().zip(kept) {
            let there = |(p, s): &(&Built, u64)| p.name == cell.problem.name && *s == cell.seed;
            let wanted = kept.is_none() && !cell.problem.objective.is_linear();
            if wanted && !all.iter().any(there) {
                all.push((cell.problem, cell.seed));
            }
        }
        all
    }

    /// The comparators first: all learners of a problem are held against the same ones.
    fn comparators(&self, needed: &[(&'a Built, u64)]) -> Result<Option<Vec<Solved<'a>>>> {
        self.in_parallel(needed, |&(problem, seed)| {
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
            let kept: Option<Vec<Best>> = self.store.get(&key);
            let best = match kept.filter(|best| best.len() == rounds.len()) {
                Some(best) => best,
                None => {
                    let best =
                        comparator::best_fixed(problem, seed, &rounds, self.progress.stopped)?;
                    let Some(best) = best else {
                        return Ok(None);
                    };
                    self.store.put(&key, &best)?;
                    best
                }
            };
            (self.progress.done)(problem.config.horizon());
            Ok(Some(Solved {
                problem: &problem.name,
                seed,
                rounds,
                best,
            }))
        })
    }

    fn play(
        &self,
        cells: &[Cell<'a>],
        keys: &[String],
        mut kept: Vec<Option<Outcome>>,
        solved: &[Solved<'a>],
    ) -> Result<Option<Vec<Outcome>>> {
        let mut missing: Vec<usize> = (0..cells.len()).filter(|i| kept[*i].is_none()).collect();
        // The longest first, so that no thread is left with one at the end.
        missing.sort_by_key(|i| std::cmp::Reverse(cells[*i].horizon));
        let played = self.in_parallel(&missing, |&i| {
            let cell = &cells[i];
            let looks = looks(&cell.problem.config.horizons, cell.horizon);
            let mine = |s: &&Solved<'_>| s.problem == cell.problem.name && s.seed == cell.seed;
            let best = solved.iter().find(mine).map(|s| s.at(&looks));
            let outcome = cell.play(&looks, best.as_deref(), self.progress.stopped)?;
            let Some(outcome) = outcome else {
                return Ok(None);
            };
            self.store.put(&keys[i], &outcome)?;
            (self.progress.done)(cell.horizon);
            Ok(Some((i, outcome)))
        })?;
        let Some(played) = played else {
            return Ok(None);
        };
        for (i, outcome) in played {
            kept[i] = Some(outcome);
        }
        Ok(kept.into_iter().collect())
    }

    /// Every learner of every problem whose set can be drawn, in the plane.
    fn pictures(&self) -> Result<Option<Vec<Picture>>> {
        if !self.prepared.experiment.pictures {
            return Ok(Some(Vec::new()));
        }
        let problems = self.prepared.problems.iter();
        let all: Vec<_> = problems
            .flat_map(|p| players(self.prepared, p).map(move |(name, l)| (p, name, l)))
            .collect();
        let drawn = self.in_parallel(&all, |(problem, name, learner)| {
            let drawn = picture(problem, learner)?;
            Ok(Some(drawn.map(|drawn| Picture {
                problem: problem.name.clone(),
                learner: (*name).into(),
                set: drawn.set,
                outline: drawn.outline,
                best: drawn.best,
                steps: drawn.steps,
            })))
        })?;
        Ok(drawn.map(|drawn| drawn.into_iter().flatten().collect()))
    }

    /// The cells that report seconds: the longest, with the first seed and theory's step size.
    fn timed(&self) -> Result<Vec<Timed<'a>>> {
        if !self.prepared.experiment.timing {
            return Ok(Vec::new());
        }
        let mut cells = self.cells();
        cells.retain(|c| {
            c.horizon == c.problem.config.horizon()
                && c.seed == c.problem.config.seeds[0]
                && c.scale == c.learner.plain_scale()
        });
        let one = |cell: Cell<'a>| {
            let looks = looks(&cell.problem.config.horizons, cell.horizon);
            let key = self.key("time", &looks, &cell.parts()?);
            Ok(Timed {
                seconds: self
                    .store
                    .get(&key)
                    .filter(|s: &Vec<f64>| s.len() == looks.len()),
                cell,
                looks,
                key,
            })
        };
        cells.into_iter().map(one).collect()
    }

    /// Times them one after another, with nothing beside them.
    fn time(&self, timed: Vec<Timed<'a>>) -> Result<Option<Vec<TimingRow>>> {
        let mut rows = Vec::new();
        for Timed {
            cell,
            looks,
            key,
            seconds,
        } in timed
        {
            let seconds = match seconds {
                Some(seconds) => seconds,
                None if (self.progress.stopped)() => return Ok(None),
                None => {
                    let seconds = cell.time(&looks, self.progress.clock, self.progress.stopped)?;
                    let Some(seconds) = seconds else {
                        return Ok(None);
                    };
                    self.store.put(&key, &seconds)?;
                    (self.progress.done)(cell.horizon);
                    seconds
                }
            };
            rows.extend(
                looks
                    .iter()
                    .zip(seconds)
                    .map(|(&round, seconds)| TimingRow {
                        problem: cell.problem.name.clone(),
                        learner: cell.name.into(),
                        scale: cell.scale,
                        horizon: cell.horizon,
                        seed: cell.seed,
                        round,
                        seconds,
                    }),
            );
        }
        Ok(Some(rows))
    }

    /// f of each, over threads, in the order given; the first error in that order among those
    /// met. Nothing if one of them came to nothing, or was not begun because it was to stop.
    fn in_parallel<T: Sync, U: Send>(
        &self,
        items: &[T],
        f: impl Fn(&T) -> Result<Option<U>> + Sync,
    ) -> Result<Option<Vec<U>>> {
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
                all.lock()
                    .unwrap_or_else(std::sync::PoisonError::into_inner)
                    .push((i, result));
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..self.progress.threads.max(1) {
                scope.spawn(work);
            }
        });
        let mut all = all
            .into_inner()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        all.sort_by_key(|(i, _)| *i);
        let count = all.len();
        let results = all.into_iter().map(|(_, result)| result);
        let results = results.collect::<Result<Option<Vec<U>>>>()?;
        Ok(results.filter(|_| count == items.len()))
    }
}

/// A learner on a problem's set in the plane. Examples that were collected have no planar form: a
/// made-up stream of the same kind stands for them.
fn picture(problem: &Built, learner: &LearnerConfig) -> Result<Option<Drawn>> {
    let config = &problem.config;
    let stream = match &config.stream {
        Source::Synthetic(spec) => spec.clone(),
        Source::Rows(_) => {
            let loss = problem.objective.loss();
            let like = match loss.labels() {
                Labels::Signs => "classification",
                _ if loss.is_linear() => "drift",
                _ => "regression",
            };
            like.parse().context(|| problem.name.clone())?
        }
    };
    let scale = learner.plain_scale();
    let build = |set: &SharedSet, gradient: f64, rounds: u64| {
        let told = problem.told_about(learner, scale, rounds, PICTURE_SEED, gradient);
        told?.build(set)
    };
    let drawn = picture::draw(
        &config.set,
        &problem.objective,
        &stream,
        &build,
        PICTURE_ROUNDS,
        PICTURE_SEED,
    )?;
    Ok(drawn.map(|mut drawn| {
        if let Source::Rows(_) = &config.stream {
            drawn
                .set
                .push_str(&format!("; rounds of {stream} stand for the data"));
        }
        drawn
    }))
}

/// The learners of a problem, with their names.
fn players<'a>(
    prepared: &'a Prepared,
    problem: &'a Built,
) -> impl Iterator<Item = (&'a str, &'a LearnerConfig)> {
    let learners = &prepared.experiment.learners;
    let names = problem.config.learners.iter();
    names.filter_map(|name| Some((name.as_str(), learners.get(name)?)))
}
