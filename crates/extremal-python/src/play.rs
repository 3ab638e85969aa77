//! Plays whole runs without calling Python in each round. Each call returns after a time slice, so that
//! Python can handle signals and show progress.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use extremal::game::{Game, Turn};
use extremal::loss::Objective;
use extremal::stream::Stream;
use numpy::{PyReadonlyArray1, PyReadwriteArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::errors::raise;
use crate::exclusive::Guard;
use crate::learner::{AnyLearner, Learner};
use crate::loss::Loss;
use crate::rows::{Each, Examples, Matrix};

/// The longest time between two checks for signals.
pub const SLICE: Duration = Duration::from_millis(40);

/// The approximate time between two readings of the clock.
const POLL: Duration = Duration::from_millis(1);

/// The largest dimension in which copying a learner's state is fast.
const LARGE: usize = 1 << 12;

/// The number of values that are recorded per round.
pub const COLUMNS: usize = 6;

/// The time that one call may take. If rounds are short, the clock is not read in every round.
struct TimeSlice {
    start: Instant,
    /// The number of rounds after which the clock is read again.
    next_poll: usize,
    /// The largest number of rounds between two readings. Without this limit, a few long rows after many
    /// short rows could exceed the time.
    most: usize,
}

impl TimeSlice {
    fn new(dim: usize) -> Self {
        Self {
            start: Instant::now(),
            next_poll: 1,
            most: (2_000_000 / (dim + 1)).clamp(1, 256),
        }
    }

    /// Whether time is left after this number of rounds.
    #[inline(always)]
    fn has_time(&mut self, played: usize) -> bool {
        played < self.next_poll || self.poll(played)
    }

    #[cold]
    #[inline(never)]
    fn poll(&mut self, played: usize) -> bool {
        let elapsed = self.start.elapsed();
        let rounds = played as f64 * POLL.as_secs_f64() / elapsed.as_secs_f64();
        self.next_poll = played + (rounds as usize).clamp(1, self.most);
        elapsed <= SLICE
    }
}

/// The settings of a run of a learner.
pub struct Run<'a, 'r> {
    pub py: Python<'a>,
    pub learner: &'a Learner,
    pub objective: &'a Objective,
    pub rounds: usize,
    /// The number of the first row, for error messages. `None` if rounds have no row numbers.
    pub row: Option<usize>,
    /// Whether other Python threads may run during the run.
    pub release: bool,
    /// Memory for the records of all rounds. If this memory is empty, nothing is recorded.
    pub records: &'r mut [f64],
    pub total: &'a mut f64,
}

impl Run<'_, '_> {
    /// Plays until the stream or the time slice ends, and returns the number of rounds played. If a round
    /// fails, the learner is in the state before that round.
    pub fn play(
        self,
        mut guard: Guard<'_, AnyLearner>,
        stream: &mut (impl Stream + ?Sized),
    ) -> PyResult<usize> {
        let (py, learner, objective) = (self.py, self.learner, self.objective);
        let (records, total) = (self.records, self.total);
        let mut played = 0;
        let mut slice = TimeSlice::new(guard.dim());
        let note = |turn: &Turn<'_>| {
            *total += turn.evaluation.value;
            if !records.is_empty() {
                let record = &turn.record;
                records[played * COLUMNS..][..COLUMNS].copy_from_slice(&[
                    turn.evaluation.value,
                    turn.evaluation.prediction,
                    record.sigma,
                    record.gap,
                    record.gradient_norm,
                    f64::from(record.oracle_calls),
                ]);
            }
            played += 1;
            if slice.has_time(played) {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(Ok(()))
            }
        };
        let (playing, rounds) = (&mut *guard, self.rounds as u64);
        let go = || Game::default().play_while(playing, stream, objective, rounds, note);
        let result = if self.release { py.detach(go) } else { go() };
        drop(guard);
        learner.yield_to_waiting(py);
        let Err(e) = result else {
            return Ok(played);
        };
        let error = match self.row {
            None => learner.failed(py, &e),
            Some(row) => learner.failed(py, &format!("row {}: {e}", row + played)),
        };
        // The history reads this attribute. Some exceptions do not accept new attributes.
        let _ = error.value(py).setattr("_played", played);
        Err(error)
    }
}

/// The memory of an array of records, which has one row per round. The result is empty if there is no
/// array.
pub fn records_of<'a>(
    given: &'a mut Option<PyReadwriteArray2<'_, f64>>,
    rows: usize,
) -> PyResult<&'a mut [f64]> {
    let Some(given) = given else {
        return Ok(&mut []);
    };
    if given.shape() != [rows, COLUMNS] || !given.is_c_contiguous() {
        return Err(PyValueError::new_err(format!(
            "records must have shape ({rows}, {COLUMNS})"
        )));
    }
    Ok(given.as_slice_mut()?)
}

/// Plays the rows of a matrix from row `start` on, for at most one time slice, and returns the number of
/// rounds played. If a round fails, the learner keeps the rounds before it. With `release`, other threads
/// may run at the same time.
#[pyfunction]
#[allow(clippy::too_many_arguments)] // called by Python alone
pub fn play_rows(
    py: Python<'_>,
    learner: &Learner,
    loss: &Loss,
    l2: f64,
    rows: Matrix<'_>,
    y: Each<'_>,
    weights: Each<'_>,
    start: usize,
    mut records: Option<PyReadwriteArray2<'_, f64>>,
    release: bool,
) -> PyResult<usize> {
    let examples = rows.examples()?.with(&y, &weights)?;
    let count = examples.len().saturating_sub(start);
    let run = Run {
        py,
        learner,
        objective: &loss.objective(l2)?,
        rounds: count,
        row: Some(start),
        release,
        records: records_of(&mut records, count)?,
        total: &mut 0.0,
    };
    run.play(learner.lock(py)?, &mut examples.stream(start))
}

/// Lets each learner play all rows, and returns the sum of their total losses. A learner with a class
/// gets the label 1 for rows of this class and −1 for all other rows. With `undo`, an error restores the
/// former states of all learners.
#[pyfunction]
#[allow(clippy::too_many_arguments)] // called by Python alone
pub fn fit<'py>(
    py: Python<'py>,
    learners: Vec<Bound<'py, Learner>>,
    loss: &Loss,
    l2: f64,
    rows: Matrix<'py>,
    y: Each<'py>,
    classes: Vec<Option<f64>>,
    weights: Each<'py>,
    order: Option<PyReadonlyArray1<'py, i64>>,
    intercept: bool,
    undo: bool,
    release: bool,
) -> PyResult<f64> {
    let examples = rows.examples()?.with(&y, &weights)?;
    let examples = examples.ordered(&order)?.with_intercept(intercept)?;
    if classes.len() != learners.len() {
        let text = format!("{} classes for {} learners", classes.len(), learners.len());
        return Err(PyValueError::new_err(text));
    }
    let games = classes.iter().map(|class| examples.of_class(*class));
    let games: Vec<_> = games.collect::<PyResult<_>>()?;
    // Other storages read every entry of a row, and refuse NaN themselves.
    if learners.iter().any(|l| l.get().is_sparse()) && !examples.are_finite() {
        return Err(PyValueError::new_err("rows contain NaN or infinity"));
    }
    let objective = loss.objective(l2)?;
    // In many dimensions, copying a state takes longer than playing a few rows. If no row can fail,
    // no state is copied, and signals wait until the end. A single round needs no copy either: it
    // is played completely or not at all.
    let is_safe = |(game, learner): (&Examples<'_>, &Bound<'_, Learner>)| {
        let (learner, set) = (learner.get(), learner.get().set.get());
        Ok::<_, PyErr>(
            set.set.dim() > LARGE
                && set.pending.is_empty()
                && game.are_harmless(&objective, &*set.set, &*learner.lock(py)?),
        )
    };
    let mut safe = !release;
    for pair in games.iter().zip(&learners) {
        safe = safe && is_safe(pair)?;
    }
    let undo = undo && !safe && examples.len() * learners.len() > 1;
    let mut kept = Vec::new();
    for learner in learners.iter().filter(|_| undo) {
        let saved = learner.get().lock(py)?.save();
        kept.push(saved.map_err(|e| raise(&e))?);
    }
    let mut total = 0.0;
    let mut play = || -> PyResult<()> {
        for (k, (learner, game)) in learners.iter().zip(&games).enumerate() {
            let mut played = 0;
            while played < game.len() {
                let learner = learner.get();
                let run = Run {
                    py,
                    learner,
                    objective: &objective,
                    rounds: game.len() - played,
                    row: order.is_none().then_some(played),
                    release,
                    records: &mut [],
                    total: &mut total,
                };
                played += run.play(learner.lock(py)?, &mut game.stream(played))?;
                // after the last round, Python itself handles signals
                let done = played >= game.len() && k + 1 == learners.len();
                if !safe && !done {
                    py.check_signals()?;
                }
            }
        }
        Ok(())
    };
    if let Err(error) = play() {
        for (learner, state) in learners.iter().zip(&kept) {
            let learner = learner.get();
            let loaded = learner.lock(py)?.load(state);
            loaded.map_err(|e| learner.failed(py, &e))?;
        }
        return Err(error);
    }
    Ok(total)
}
