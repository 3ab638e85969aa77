//! Whole runs without Python in between. They come back every now and then, so that signals are
//! heard and progress can be shown.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

use extremal::game::{self, Turn};
use extremal::learner::{LearnerSpec, Record};
use extremal::loss::{Evaluation, Objective};
use extremal::pair::Point;
use extremal::set::SetSpec;
use extremal::stream::{Round, StreamSpec};
use numpy::{
    PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadwriteArray2, PyUntypedArrayMethods,
};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;

use crate::errors::raise;
use crate::learner::{Held, Learner};
use crate::loss::Loss;
use crate::rows::{Audience, Each, Matrix, Rounds};

/// How long a call may take before it comes back.
const SPELL: Duration = Duration::from_millis(40);

/// How long it may be from one look at the clock to the next, roughly.
const GLANCE: Duration = Duration::from_millis(1);

/// Dimensions from which on a state is large.
const LARGE: usize = 1 << 12;

/// What is noted of a round.
pub const COLUMNS: usize = 6;

/// Where records go: a row per round, or nowhere.
struct Records<'a>(Option<&'a mut [f64]>);

impl Records<'_> {
    #[inline(always)]
    fn note(
        &mut self,
        round: usize,
        Evaluation {
            value, prediction, ..
        }: &Evaluation<'_>,
        record: &Record,
    ) {
        if let Some(all) = &mut self.0 {
            let row = &mut all[round * COLUMNS..][..COLUMNS];
            let calls = f64::from(record.oracle_calls);
            write(
                row,
                *value,
                *prediction,
                record.sigma,
                record.gap,
                record.gradient_norm,
                calls,
            );
        }
    }
}

/// Number by number, and by itself: otherwise two that were just stored are loaded as one vector, for
/// which a processor waits some twenty cycles, with records or without.
#[inline(never)]
fn write(
    row: &mut [f64],
    value: f64,
    prediction: f64,
    sigma: f64,
    gap: f64,
    norm: f64,
    calls: f64,
) {
    row.copy_from_slice(&[value, prediction, sigma, gap, norm, calls]);
}

/// Looks at the clock now and then: more seldom where rounds are short.
struct Spell {
    begun: Instant,
    /// When the clock was last looked at: how long after the beginning.
    looked: Duration,
    /// Rounds before the next look.
    rounds: usize,
}

impl Spell {
    fn begin() -> Self {
        Self {
            begun: Instant::now(),
            looked: Duration::ZERO,
            rounds: 1,
        }
    }

    /// Whether there is time for more rounds.
    fn goes_on(&mut self) -> bool {
        let now = self.begun.elapsed();
        let took = now - self.looked;
        self.looked = now;
        if took < GLANCE {
            self.rounds = (2 * self.rounds).min(256);
        } else if took > 4 * GLANCE {
            self.rounds = 1;
        }
        now <= SPELL
    }
}

/// One of examples.
struct Shown<R>(R);

impl<R: Rounds> extremal::stream::Stream for Shown<R> {
    #[inline(always)]
    fn next(&mut self, _decision: &dyn Point) -> extremal::Result<Option<Round<'_>>> {
        Ok(self.0.next())
    }

    fn row_bound(&self) -> f64 {
        f64::INFINITY
    }
}

/// One that others hold.
struct Lent<'a>(&'a mut dyn extremal::stream::Stream);

impl extremal::stream::Stream for Lent<'_> {
    fn next(&mut self, decision: &dyn Point) -> extremal::Result<Option<Round<'_>>> {
        self.0.next(decision)
    }

    fn row_bound(&self) -> f64 {
        self.0.row_bound()
    }
}

/// A learner that plays whatever it is shown.
struct Playing<'a, 'r> {
    py: Python<'a>,
    learner: &'a Learner,
    objective: &'a Objective,
    rounds: usize,
    /// The first row's number, where there are rows.
    row: Option<usize>,
    /// Whether Python's lock is given back meanwhile.
    release: bool,
    records: &'a mut Records<'r>,
    total: &'a mut f64,
}

impl Audience for Playing<'_, '_> {
    type Answer = PyResult<usize>;

    fn look(self, rounds: impl Rounds) -> PyResult<usize> {
        let held = self.learner.hold(self.py)?;
        self.play(held, Shown(rounds))
    }
}

impl Playing<'_, '_> {
    /// Plays until the stream ends, or the spell; how many rounds were played.
    fn play(self, mut held: Held<'_>, stream: impl extremal::stream::Stream) -> PyResult<usize> {
        let Self {
            py,
            learner,
            objective,
            rounds,
            row,
            release,
            records,
            total,
        } = self;
        let (played, result) = {
            let playing = &mut **held.learner;
            let go = || run(playing, stream, objective, rounds, records, total);
            if release { py.detach(go) } else { go() }
        };
        drop(held);
        learner.give_way(py);
        match (result, row) {
            (Ok(()), _) => Ok(played),
            (Err(e), None) => Err(learner.failed(py, &e)),
            (Err(e), Some(row)) => Err(learner.failed(py, &format!("row {}: {e}", row + played))),
        }
    }
}

/// Plays until the stream ends, or the spell, and adds up the losses; how many rounds were played,
/// and what went wrong. A round that went wrong has changed nothing.
fn run(
    learner: &mut dyn extremal::learner::Learner,
    mut stream: impl extremal::stream::Stream,
    objective: &Objective,
    rounds: usize,
    records: &mut Records<'_>,
    total: &mut f64,
) -> (usize, extremal::Result<()>) {
    // a decision that was shown before is part of the first round
    let shown = match learner.decide() {
        Ok(_) => false,
        Err(extremal::Error::OutOfTurn(_)) => true,
        Err(e) => return (0, Err(e)),
    };
    if !shown {
        learner.withdraw();
    }
    let mut played = 0;
    let mut spell = Spell::begin();
    while played < rounds {
        let end = rounds.min(played + spell.rounds);
        let more = (end - played) as u64;
        let note = |turn: Turn<'_>| {
            *total += turn.evaluation.value;
            records.note(played, turn.evaluation, turn.record);
            played += 1;
            Ok(())
        };
        let clock = &mut || 0.0;
        let result = game::play(
            learner,
            &mut stream,
            objective,
            more,
            clock,
            None,
            None,
            note,
        );
        if let Err(e) = result {
            if !(shown && played == 0) {
                learner.withdraw();
            }
            return (played, Err(e));
        }
        if played < end || !spell.goes_on() {
            break;
        }
    }
    (played, Ok(()))
}

fn records_of<'a>(
    given: &'a mut Option<PyReadwriteArray2<'_, f64>>,
    rows: usize,
) -> PyResult<Records<'a>> {
    let Some(given) = given else {
        return Ok(Records(None));
    };
    if given.shape() != [rows, COLUMNS] || !given.is_c_contiguous() {
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
    let count = examples.len().saturating_sub(start);
    let mut records = records_of(&mut records, count)?;
    let playing = Playing {
        py,
        learner,
        objective: &loss.objective(l2)?,
        rounds: count,
        row: Some(start),
        release,
        records: &mut records,
        total: &mut 0.0,
    };
    examples.show(start, playing)
}

/// Learners play all rows; returns the total loss of all. A learner with a class is shown 1 for labels
/// of that class and −1 for others. With `undo` all are as they were if anything is raised.
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
    let examples = rows.examples()?.labelled(&y)?.weighted(&weights)?;
    let examples = examples.ordered(&order)?.with_intercept(intercept)?;
    if classes.len() != learners.len() {
        return Err(PyValueError::new_err(
            "every learner has a class of its own",
        ));
    }
    let games: Vec<_> = classes.iter().map(|c| examples.of_class(*c)).collect();
    // Others meet every entry of a row while they play it.
    if learners.iter().any(|l| l.get().is_sparse()) && !examples.are_finite() {
        return Err(PyValueError::new_err("rows contain NaN or infinity"));
    }
    let objective = loss.objective(l2)?;
    // One round is played wholly or not at all. In many dimensions a state takes longer to keep than
    // a few rows to play: where nothing can go wrong there is none to go back to, and signals wait.
    let safe = !release
        && games.iter().zip(&learners).all(|(game, learner)| {
            let set = learner.get().set.get();
            set.set.dim() > LARGE
                && set.raised.is_empty()
                && game.are_harmless(&objective, &*set.set)
        });
    let undo = undo && !safe && examples.len() * learners.len() > 1;
    let mut kept = Vec::new();
    for learner in learners.iter().filter(|_| undo) {
        let saved = learner.get().hold(py)?.learner.save();
        kept.push(saved.map_err(|e| raise(&e))?);
    }
    let mut total = 0.0;
    let mut play = || -> PyResult<()> {
        for (k, (learner, game)) in learners.iter().zip(&games).enumerate() {
            let mut played = 0;
            while played < game.len() {
                let playing = Playing {
                    py,
                    learner: learner.get(),
                    objective: &objective,
                    rounds: game.len() - played,
                    row: order.is_none().then_some(played),
                    release,
                    records: &mut Records(None),
                    total: &mut total,
                };
                played += game.show(played, playing)?;
                // once all is played a signal is Python's own to raise
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
            let loaded = learner.hold(py)?.learner.load(state);
            loaded.map_err(|e| learner.failed(py, &e))?;
        }
        return Err(error);
    }
    Ok(total)
}

const BUSY: &str = "the stream is being played: an oracle that is called meanwhile can't have it";

/// Rows, and labels where there are any.
type Taken<'py> = (Bound<'py, PyArray2<f64>>, Option<Bound<'py, PyArray1<f64>>>);

/// A synthetic stream, for `play(learner, stream, rounds=...)`. The same seed gives the same one.
#[pyclass(frozen, module = "extremal._core", name = "Stream")]
pub struct Stream {
    stream: Mutex<Box<dyn extremal::stream::Stream>>,
    /// Who plays it.
    holder: Mutex<Option<ThreadId>>,
    begun: AtomicBool,
    /// The spec that makes it again.
    #[pyo3(get)]
    spec: String,
    /// The length of a row.
    #[pyo3(get)]
    dim: usize,
    /// What its numbers are drawn from.
    #[pyo3(get)]
    seed: u64,
    /// No row's ℓ2 norm exceeds this.
    #[pyo3(get)]
    row_bound: f64,
    /// No |label| exceeds this.
    #[pyo3(get)]
    label_bound: f64,
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
        let stream = parsed.build(dim, seed).map_err(|e| raise(&e))?;
        Ok(Self {
            row_bound: stream.row_bound(),
            label_bound: stream.label_bound(),
            stream: Mutex::new(stream),
            holder: Mutex::new(None),
            begun: AtomicBool::new(false),
            spec: parsed.to_string(),
            dim,
            seed,
        })
    }

    /// The next rounds as rows and labels (None where there are no labels), for streams that do not
    /// answer to decisions: what `play` would have met.
    fn take<'py>(&self, py: Python<'py>, rounds: usize) -> PyResult<Taken<'py>> {
        if *self.holder() == Some(std::thread::current().id()) {
            return Err(PyRuntimeError::new_err(BUSY));
        }
        let waited = self.stream.lock_py_attached(py);
        let mut stream = waited.unwrap_or_else(PoisonError::into_inner);
        if stream.is_adaptive() {
            return Err(PyValueError::new_err(format!(
                "the rounds of {} depend on the decisions: there are none without a learner",
                self.spec
            )));
        }
        self.begun.store(true, Ordering::Relaxed);
        // a decision that such a stream does not look at
        let set: SetSpec = format!("l2:dim={}", self.dim)
            .parse()
            .map_err(|e| raise(&e))?;
        let set = set.build(None).map_err(|e| raise(&e))?;
        let nobody: LearnerSpec = "gauge-ftrl".parse().map_err(|e| raise(&e))?;
        let nobody = nobody.build(&set).map_err(|e| raise(&e))?;
        let rows = PyArray2::zeros(py, [rounds, self.dim], false);
        let labels = PyArray1::zeros(py, rounds, false);
        {
            let (mut rows, mut labels) = (rows.readwrite(), labels.readwrite());
            let places = rows.as_slice_mut()?.chunks_exact_mut(self.dim);
            for (row, label) in places.zip(labels.as_slice_mut()?) {
                let round = stream.next(nobody.decision()).map_err(|e| raise(&e))?;
                let Some(round) = round.filter(|round| round.weight == 1.0) else {
                    return Err(PyValueError::new_err("the stream has ended"));
                };
                round.row.add_to(1.0, row);
                *label = round.label;
            }
        }
        Ok((rows, (self.label_bound > 0.0).then_some(labels)))
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
    fn holder(&self) -> MutexGuard<'_, Option<ThreadId>> {
        self.holder.lock().unwrap_or_else(PoisonError::into_inner)
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
    let playing = Playing {
        py,
        learner,
        objective: &loss.objective(l2)?,
        rounds,
        row: None,
        release: true,
        records: &mut records,
        total: &mut 0.0,
    };
    // the learner first, as whoever waits for it must not keep the stream from others
    let held = learner.hold(py)?;
    let me = Some(std::thread::current().id());
    if *stream.holder() == me {
        return Err(PyRuntimeError::new_err(BUSY));
    }
    let waited = stream.stream.lock_py_attached(py);
    let mut rounds = waited.unwrap_or_else(PoisonError::into_inner);
    stream.begun.store(true, Ordering::Relaxed);
    *stream.holder() = me;
    let played = playing.play(held, Lent(&mut **rounds));
    *stream.holder() = None;
    played
}
