//! Whole runs without Python in between. They come back every now and then, so that signals are
//! heard and progress can be shown.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use extremal::loss::{Objective, Scratch};
use extremal::stream::StreamSpec;
use numpy::{PyReadonlyArray1, PyReadwriteArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::errors::raise;
use crate::learner::{Learner, whole_round};
use crate::loss::Loss;
use crate::rows::{Desk, Each, Example, Examples, Matrix};

/// How long a call may take before it comes back.
const SPELL: Duration = Duration::from_millis(40);
/// Rounds between two looks at the clock: fewer where a round takes long.
fn glance(dim: usize) -> usize {
    (100_000 / (dim + 1)).clamp(1, 32)
}

/// What is noted of a round.
pub const COLUMNS: usize = 6;

/// Where records go: a row per round, or nowhere.
struct Records<'a>(Option<&'a mut [f64]>);

impl Records<'_> {
    fn note(&mut self, k: usize, row: [f64; COLUMNS]) {
        if let Some(all) = &mut self.0 {
            all[k * COLUMNS..][..COLUMNS].copy_from_slice(&row);
        }
    }
}

/// One round: what is noted of it.
fn turn(
    learner: &mut dyn extremal::learner::Learner,
    objective: &Objective,
    (row, label, weight): Example<'_>,
    scratch: &mut Scratch,
) -> extremal::Result<[f64; COLUMNS]> {
    let evaluation = objective.evaluate_in(row, label, weight, learner.decision(), scratch)?;
    let record = whole_round(learner, &evaluation.gradient)?;
    Ok([
        evaluation.value,
        evaluation.prediction,
        record.sigma,
        record.gap,
        record.gradient_norm,
        f64::from(record.oracle_calls),
    ])
}

/// Plays examples from `start` on until the spell is over, and adds up their losses; how many were
/// played, and what went wrong.
fn run(
    learner: &mut dyn extremal::learner::Learner,
    objective: &Objective,
    examples: &Examples<'_>,
    start: usize,
    records: &mut Records<'_>,
    total: &mut f64,
) -> (usize, extremal::Result<()>) {
    let begun = Instant::now();
    let glance = glance(learner.dim());
    let (mut desk, mut scratch) = (Desk::default(), Scratch::default());
    let count = examples.len().saturating_sub(start);
    for k in 0..count {
        if k > 0 && k % glance == 0 && begun.elapsed() > SPELL {
            return (k, Ok(()));
        }
        let example = examples.get(start + k, &mut desk);
        match turn(learner, objective, example, &mut scratch) {
            Ok(row) => {
                *total += row[0];
                records.note(k, row);
            }
            Err(e) => return (k, Err(e)),
        }
    }
    (count, Ok(()))
}

/// The same on a learner that waits for its turn; Python's lock is given back if told so.
fn spell(
    py: Python<'_>,
    learner: &Learner,
    objective: &Objective,
    examples: &Examples<'_>,
    start: usize,
    release: bool,
    (records, total): (&mut Records<'_>, &mut f64),
) -> PyResult<usize> {
    let mut held = learner.hold(py)?;
    let (played, result) = {
        let playing = &mut **held.learner;
        let mut go = || run(playing, objective, examples, start, records, total);
        if release { py.detach(go) } else { go() }
    };
    drop(held);
    learner.give_way(py);
    result.map_err(|e| learner.failed(py, &e))?;
    Ok(played)
}

fn records_of<'a>(
    given: &'a mut Option<PyReadwriteArray2<'_, f64>>,
    rows: usize,
) -> PyResult<Records<'a>> {
    let Some(given) = given else {
        return Ok(Records(None));
    };
    if given.shape() != [rows, COLUMNS] {
        return Err(PyValueError::new_err(format!(
            "records must have shape ({rows}, {COLUMNS})"
        )));
    }
    Ok(Records(Some(given.as_slice_mut()?)))
}

/// Plays the rows of a matrix from `start` on. Returns how many rounds were played before it came
/// back; on an error those before it have been played. With `release` other threads run meanwhile.
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
    let examples = rows.examples()?.labelled(&y)?.weighted(&weights)?;
    let mut records = records_of(&mut records, examples.len().saturating_sub(start))?;
    let notes = (&mut records, &mut 0.0);
    let objective = loss.objective(l2)?;
    spell(py, learner, &objective, &examples, start, release, notes)
}

/// Learners play all rows, each with its own labels; returns the total loss of all. With `undo`
/// all are as they were if anything is raised.
#[pyfunction]
#[allow(clippy::too_many_arguments)] // called by Python alone
pub fn fit<'py>(
    py: Python<'py>,
    learners: Vec<Bound<'py, Learner>>,
    loss: &Loss,
    l2: f64,
    rows: Matrix<'py>,
    targets: Vec<Each<'py>>,
    weights: Each<'py>,
    order: Option<PyReadonlyArray1<'py, i64>>,
    intercept: bool,
    undo: bool,
    release: bool,
) -> PyResult<f64> {
    let examples = rows.examples()?.weighted(&weights)?.ordered(&order)?;
    let examples = examples.with_intercept(intercept)?;
    let games: Vec<_> = targets
        .iter()
        .map(|y| examples.labelled(y))
        .collect::<PyResult<_>>()?;
    if games.len() != learners.len() {
        return Err(PyValueError::new_err("every learner has labels of its own"));
    }
    if !examples.looks_finite() {
        return Err(PyValueError::new_err("rows contain NaN or infinity"));
    }
    let objective = loss.objective(l2)?;
    // one round is played wholly or not at all
    let undo = undo && examples.len() * learners.len() > 1;
    let mut kept = Vec::new();
    for learner in learners.iter().filter(|_| undo) {
        let saved = learner.get().hold(py)?.learner.save();
        kept.push(saved.map_err(|e| raise(&e))?);
    }
    let mut total = 0.0;
    let mut play = || -> PyResult<()> {
        for (learner, game) in learners.iter().zip(&games) {
            let mut played = 0;
            while played < game.len() {
                let notes = (&mut Records(None), &mut total);
                played += spell(py, learner.get(), &objective, game, played, release, notes)?;
                py.check_signals()?;
            }
        }
        Ok(())
    };
    if let Err(error) = play() {
        for (learner, state) in learners.iter().zip(&kept) {
            let learner = learner.get();
            let loaded = learner.hold(py)?.learner.load(state);
            loaded.map_err(|e| learner.failed(py, &e))?;
        }
        return Err(error);
    }
    Ok(total)
}

/// A synthetic stream, for `play(learner, stream, rounds=...)`. The same seed gives the same one.
#[pyclass(frozen, module = "extremal._core", name = "Stream")]
pub struct Stream {
    stream: Mutex<Box<dyn extremal::stream::Stream>>,
    begun: AtomicBool,
    spec: String,
    dim: usize,
    seed: u64,
}

#[pymethods]
impl Stream {
    /// A stream from its spec, in a dimension, from a seed.
    #[new]
    #[pyo3(signature = (spec, dim, seed=None))]
    fn new(spec: &str, dim: usize, seed: Option<Bound<'_, PyAny>>) -> PyResult<Self> {
        let parsed: StreamSpec = spec.parse().map_err(|e| raise(&e))?;
        let seed: u64 = match seed {
            None => 0,
            Some(seed) => seed.extract().map_err(|_| {
                PyValueError::new_err(format!(
                    "seed must be a whole number from 0 to 2^64 - 1, not {seed}"
                ))
            })?,
        };
        Ok(Self {
            stream: Mutex::new(parsed.build(dim, seed).map_err(|e| raise(&e))?),
            begun: AtomicBool::new(false),
            spec: parsed.to_string(),
            dim,
            seed,
        })
    }

    /// No row's ℓ2 norm exceeds this.
    #[getter]
    fn row_bound(&self) -> f64 {
        self.lock().row_bound()
    }

    /// No |label| exceeds this.
    #[getter]
    fn label_bound(&self) -> f64 {
        self.lock().label_bound()
    }

    fn __repr__(&self) -> String {
        let Self {
            spec, dim, seed, ..
        } = self;
        format!("Stream('{spec}', dim={dim}, seed={seed})")
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, (String, usize, u64))> {
        let this = slf.get();
        if this.begun.load(Ordering::Relaxed) {
            return Err(PyValueError::new_err(
                "a stream that has begun can't be pickled or copied: make it anew from its seed",
            ));
        }
        let arguments = (this.spec.clone(), this.dim, this.seed);
        Ok((slf.get_type().into_any(), arguments))
    }
}

impl Stream {
    fn lock(&self) -> std::sync::MutexGuard<'_, Box<dyn extremal::stream::Stream>> {
        self.stream.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Plays rounds of a stream: as many as `records` has rows, or `rounds`. Returns how many were
/// played before it came back; fewer than one if the stream has ended.
#[pyfunction]
#[pyo3(signature = (learner, stream, loss, l2, rounds, records))]
pub fn play_stream(
    py: Python<'_>,
    learner: &Learner,
    stream: &Stream,
    loss: &Loss,
    l2: f64,
    rounds: usize,
    mut records: Option<PyReadwriteArray2<'_, f64>>,
) -> PyResult<usize> {
    let mut records = records_of(&mut records, rounds)?;
    let objective = loss.objective(l2)?;
    let mut held = learner.hold(py)?;
    let (played, result) = {
        let playing = &mut **held.learner;
        py.detach(|| {
            stream.begun.store(true, Ordering::Relaxed);
            let mut stream = stream.lock();
            let start = Instant::now();
            let glance = glance(playing.dim());
            let mut scratch = Scratch::default();
            for k in 0..rounds {
                if k > 0 && k % glance == 0 && start.elapsed() > SPELL {
                    return (k, Ok(()));
                }
                let round = match stream.next(playing.decision()) {
                    Ok(Some(round)) => round,
                    Ok(None) => return (k, Ok(())),
                    Err(e) => return (k, Err(e)),
                };
                let example = (round.row, round.label, round.weight);
                match turn(playing, &objective, example, &mut scratch) {
                    Ok(row) => records.note(k, row),
                    Err(e) => return (k, Err(e)),
                }
            }
            (rounds, Ok(()))
        })
    };
    drop(held);
    learner.give_way(py);
    result.map_err(|e| learner.failed(py, &e))?;
    Ok(played)
}
