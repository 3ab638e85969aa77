//! Whole runs without Python in between. They come back every now and then, so that signals are
//! heard and progress can be shown.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use extremal::loss::{Objective, Scratch};
use extremal::pair::Row;
use extremal::stream::StreamSpec;
use numpy::{PyReadonlyArray1, PyReadonlyArray2, PyReadwriteArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::errors::raise;
use crate::learner::Learner;
use crate::loss::Loss;

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
    (row, label, weight): (Row<'_>, f64, f64),
    scratch: &mut Scratch,
) -> extremal::Result<[f64; COLUMNS]> {
    let evaluation = objective.evaluate_in(row, label, weight, learner.decision(), scratch)?;
    match learner.decide() {
        // a turn that an earlier error left open goes on: its decision is still the same
        Ok(_) | Err(extremal::Error::OutOfTurn(_)) => {}
        Err(e) => return Err(e),
    }
    let record = learner.observe(&evaluation.gradient)?;
    Ok([
        evaluation.value,
        evaluation.prediction,
        record.sigma,
        record.gap,
        record.gradient_norm,
        f64::from(record.oracle_calls),
    ])
}

/// Plays rounds `0..count` until the spell is over; how many were played, and what went wrong.
fn run<'r>(
    learner: &mut dyn extremal::learner::Learner,
    objective: &Objective,
    count: usize,
    records: &mut Records<'_>,
    example: impl Fn(usize) -> (Row<'r>, f64, f64),
) -> (usize, extremal::Result<()>) {
    let start = Instant::now();
    let glance = glance(learner.dim());
    let mut scratch = Scratch::default();
    for k in 0..count {
        if k > 0 && k % glance == 0 && start.elapsed() > SPELL {
            return (k, Ok(()));
        }
        match turn(learner, objective, example(k), &mut scratch) {
            Ok(row) => records.note(k, row),
            Err(e) => return (k, Err(e)),
        }
    }
    (count, Ok(()))
}

/// Labels or weights: one for each row, or `otherwise` for all.
pub fn each<'a>(
    given: &'a Option<PyReadonlyArray1<'_, f64>>,
    rows: usize,
    what: &str,
) -> PyResult<Option<&'a [f64]>> {
    let Some(given) = given else {
        return Ok(None);
    };
    let slice = given.as_slice()?;
    if slice.len() != rows {
        return Err(PyValueError::new_err(format!(
            "{} {what} for {rows} rows",
            slice.len()
        )));
    }
    Ok(Some(slice))
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

/// Plays the rows of a dense matrix from `start` on. Returns how many rounds were played before
/// it came back; on an error those before it have been played.
#[pyfunction]
#[pyo3(signature = (learner, loss, l2, x, y, weights, start, records))]
#[allow(clippy::too_many_arguments)] // called by Python alone
pub fn play_dense(
    py: Python<'_>,
    learner: &Learner,
    loss: &Loss,
    l2: f64,
    x: PyReadonlyArray2<'_, f64>,
    y: Option<PyReadonlyArray1<'_, f64>>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    start: usize,
    mut records: Option<PyReadwriteArray2<'_, f64>>,
) -> PyResult<usize> {
    let (rows, dim) = (x.shape()[0], x.shape()[1]);
    let matrix = x.as_slice()?;
    let labels = each(&y, rows, "labels")?;
    let weights = each(&weights, rows, "weights")?;
    let count = rows.saturating_sub(start);
    let mut records = records_of(&mut records, count)?;
    let objective = loss.objective(l2)?;
    let mut held = learner.hold(py)?;
    let (played, result) = {
        let playing = &mut **held.learner;
        py.detach(|| {
            run(playing, &objective, count, &mut records, |k| {
                let i = start + k;
                (
                    Row::Dense(&matrix[i * dim..][..dim]),
                    labels.map_or(0.0, |y| y[i]),
                    weights.map_or(1.0, |w| w[i]),
                )
            })
        })
    };
    drop(held);
    result.map_err(|e| learner.failed(py, &e))?;
    Ok(played)
}

/// The same for the rows of a CSR matrix.
#[pyfunction]
#[pyo3(signature = (learner, loss, l2, indptr, indices, values, y, weights, start, records))]
#[allow(clippy::too_many_arguments)] // called by Python alone
pub fn play_sparse(
    py: Python<'_>,
    learner: &Learner,
    loss: &Loss,
    l2: f64,
    indptr: PyReadonlyArray1<'_, i64>,
    indices: PyReadonlyArray1<'_, u32>,
    values: PyReadonlyArray1<'_, f64>,
    y: Option<PyReadonlyArray1<'_, f64>>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    start: usize,
    mut records: Option<PyReadwriteArray2<'_, f64>>,
) -> PyResult<usize> {
    let (ends, indices, values) = (indptr.as_slice()?, indices.as_slice()?, values.as_slice()?);
    check_csr(ends, indices.len(), values.len())?;
    let rows = ends.len() - 1;
    let labels = each(&y, rows, "labels")?;
    let weights = each(&weights, rows, "weights")?;
    let count = rows.saturating_sub(start);
    let mut records = records_of(&mut records, count)?;
    let objective = loss.objective(l2)?;
    let mut held = learner.hold(py)?;
    let (played, result) = {
        let playing = &mut **held.learner;
        py.detach(|| {
            run(playing, &objective, count, &mut records, |k| {
                let i = start + k;
                let row = ends[i] as usize..ends[i + 1] as usize;
                (
                    Row::Sparse {
                        indices: &indices[row.clone()],
                        values: &values[row],
                    },
                    labels.map_or(0.0, |y| y[i]),
                    weights.map_or(1.0, |w| w[i]),
                )
            })
        })
    };
    drop(held);
    result.map_err(|e| learner.failed(py, &e))?;
    Ok(played)
}

/// Whether these can be the ends of a CSR matrix's rows.
pub fn check_csr(ends: &[i64], indices: usize, values: usize) -> PyResult<()> {
    let growing = ends.is_sorted() && ends.first() == Some(&0);
    let last = ends.last().copied().unwrap_or(-1);
    if growing && indices == values && last >= 0 && last as usize == values {
        return Ok(());
    }
    Err(PyValueError::new_err(
        "indptr, indices and data are no CSR matrix: indptr grows from 0 to the number of entries",
    ))
}

/// A synthetic stream.
#[pyclass(frozen, module = "extremal._core", name = "Stream")]
pub struct Stream {
    stream: Mutex<Box<dyn extremal::stream::Stream>>,
    text: String,
}

#[pymethods]
impl Stream {
    /// A stream from its spec, in a dimension, from a seed.
    #[new]
    #[pyo3(signature = (spec, dim, seed=0))]
    fn new(spec: &str, dim: usize, seed: u64) -> PyResult<Self> {
        let parsed: StreamSpec = spec.parse().map_err(|e| raise(&e))?;
        Ok(Self {
            stream: Mutex::new(parsed.build(dim, seed).map_err(|e| raise(&e))?),
            text: format!("Stream('{parsed}', dim={dim}, seed={seed})"),
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

    fn __repr__(&self) -> &str {
        &self.text
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
    result.map_err(|e| learner.failed(py, &e))?;
    Ok(played)
}
