//! Whole runs without Python in between. They come back every now and then, so that signals are
//! heard and progress can be shown.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use extremal::Point;
use extremal::game::{Game, Turn};
use extremal::learner::Record;
use extremal::loss::{Evaluation, Objective};
use extremal::stream::Round;
use numpy::{PyReadonlyArray1, PyReadwriteArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::errors::raise;
use crate::learner::{AnyLearner, Learner};
use crate::loss::Loss;
use crate::rows::{Audience, Each, Matrix, Rounds};
use crate::turns::Held;

/// How long a call may take before it comes back.
const SPELL: Duration = Duration::from_millis(40);

/// How long it takes from one look at the clock to the next, roughly, while rounds are alike.
const GLANCE: Duration = Duration::from_millis(1);

/// Dimensions from which on a state is large.
const LARGE: usize = 1 << 12;

/// What is noted of a round.
pub const COLUMNS: usize = 6;

/// Where records go: a row per round, or nowhere.
pub struct Records<'a>(Option<&'a mut [f64]>);

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
            row.copy_from_slice(&[
                *value,
                *prediction,
                record.sigma,
                record.gap,
                record.gradient_norm,
                calls,
            ]);
        }
    }
}

/// How long a call has taken. It looks at the clock now and then: more seldom where rounds are short.
struct Spell {
    begun: Instant,
    /// When the clock was last looked at: how long after the beginning.
    looked: Duration,
    /// Rounds between two looks.
    glance: usize,
    /// No more than these, as a row may be as long as the dimension after many that were not.
    most: usize,
    /// Rounds before the next look.
    left: usize,
}

impl Spell {
    fn new(dim: usize) -> Self {
        Self {
            begun: Instant::now(),
            looked: Duration::ZERO,
            glance: 1,
            most: (2_000_000 / (dim + 1)).clamp(1, 256),
            left: 1,
        }
    }

    /// Counts a round: whether there is time for another.
    #[inline(always)]
    fn goes_on(&mut self) -> bool {
        self.left -= 1;
        self.left > 0 || self.look()
    }

    /// Looks at the clock: whether there is time left.
    #[cold]
    #[inline(never)]
    fn look(&mut self) -> bool {
        let now = self.begun.elapsed();
        let took = now - self.looked;
        self.looked = now;
        if took < GLANCE {
            self.glance = (2 * self.glance).min(self.most);
        } else if took > 4 * GLANCE {
            self.glance = 1;
        }
        self.left = self.glance;
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

/// A learner that plays whatever it is shown.
pub struct Playing<'a, 'r> {
    pub py: Python<'a>,
    pub learner: &'a Learner,
    pub objective: &'a Objective,
    pub rounds: usize,
    /// The first row's number, where there are rows.
    pub row: Option<usize>,
    /// Whether Python's lock is given back meanwhile.
    pub release: bool,
    pub records: &'a mut Records<'r>,
    pub total: &'a mut f64,
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
    pub fn play(
        self,
        mut held: Held<'_, AnyLearner>,
        stream: impl extremal::stream::Stream,
    ) -> PyResult<usize> {
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
            let playing = &mut *held;
            let go = || run(playing, stream, objective, rounds, records, total);
            if release { py.detach(go) } else { go() }
        };
        drop(held);
        learner.give_way(py);
        let Err(e) = result else {
            return Ok(played);
        };
        let error = match row {
            None => learner.failed(py, &e),
            Some(row) => learner.failed(py, &format!("row {}: {e}", row + played)),
        };
        // for the history of the rounds before; an exception of a user's own may have no room for it
        let _ = error.value(py).setattr("_played", played);
        Err(error)
    }
}

/// Plays until the stream ends, or the spell, and adds up the losses; how many rounds were played,
/// and what went wrong. A round that went wrong has changed nothing.
fn run(
    learner: &mut AnyLearner,
    mut stream: impl extremal::stream::Stream,
    objective: &Objective,
    rounds: usize,
    records: &mut Records<'_>,
    total: &mut f64,
) -> (usize, extremal::Result<()>) {
    let mut played = 0;
    let mut spell = Spell::new(learner.dim());
    let note = |turn: &Turn<'_>| {
        *total += turn.evaluation.value;
        records.note(played, &turn.evaluation, &turn.record);
        played += 1;
        if spell.goes_on() {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(Ok(()))
        }
    };
    let rounds = rounds as u64;
    let result = Game::default().play_while(learner, &mut stream, objective, rounds, note);
    (played, result.map(|_| ()))
}

/// Records into an array with a row for every round, or none.
pub fn records_of<'a>(
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
    let games = classes.iter().map(|class| examples.of_class(*class));
    let games: Vec<_> = games.collect::<PyResult<_>>()?;
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
        let saved = learner.get().hold(py)?.save();
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
            let loaded = learner.hold(py)?.load(state);
            loaded.map_err(|e| learner.failed(py, &e))?;
        }
        return Err(error);
    }
    Ok(total)
}
