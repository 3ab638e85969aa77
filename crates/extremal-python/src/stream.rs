//! Synthetic streams, and runs that play them.

use std::sync::atomic::{AtomicBool, Ordering};

use extremal::stream::StreamSpec;
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadwriteArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::errors::raise;
use crate::exclusive::Exclusive;
use crate::learner::Learner;
use crate::loss::Loss;
use crate::play::{Run, records_of};

/// A stream of any kind.
type AnyStream = dyn extremal::stream::Stream;

const BUSY: &str =
    "the stream is in use: the oracle of a set can't use the stream that the learner plays";

/// Rows, and their labels if the stream has labels.
type Taken<'py> = (Bound<'py, PyArray2<f64>>, Option<Bound<'py, PyArray1<f64>>>);

/// A synthetic stream, for `play(learner, stream, rounds=...)`. The seed determines the stream.
#[pyclass(frozen, module = "extremal._core", name = "Stream")]
pub struct Stream {
    stream: Exclusive<AnyStream>,
    begun: AtomicBool,
    /// The spec of the stream.
    #[pyo3(get)]
    spec: String,
    /// The length of a row.
    #[pyo3(get)]
    dim: usize,
    /// The seed of the random numbers.
    #[pyo3(get)]
    seed: u64,
    /// An upper bound on the rows' ℓ2 norms.
    #[pyo3(get)]
    row_bound: f64,
    /// An upper bound on the labels' absolute values.
    #[pyo3(get)]
    label_bound: f64,
}

#[pymethods]
impl Stream {
    /// Makes a stream from its spec, its dimension and a seed.
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
            stream: Exclusive::new(stream),
            begun: AtomicBool::new(false),
            spec: parsed.to_string(),
            dim,
            seed,
        })
    }

    /// Returns the next rounds as rows and labels, as `play` would play them. The labels are None if
    /// the stream has no labels. A stream whose rounds depend on the decisions raises an error.
    fn take<'py>(&self, py: Python<'py>, rounds: usize) -> PyResult<Taken<'py>> {
        let mut stream = self.stream.lock(py, BUSY)?;
        if stream.is_adaptive() {
            return Err(PyValueError::new_err(format!(
                "the rounds of the stream {} depend on the learner's decisions; use play instead of take",
                self.spec
            )));
        }
        self.begun.store(true, Ordering::Relaxed);
        let origin = vec![0.0; self.dim]; // this stream ignores the decision
        let rows = PyArray2::zeros(py, [rounds, self.dim], false);
        let labels = PyArray1::zeros(py, rounds, false);
        {
            let (mut rows, mut labels) = (rows.readwrite(), labels.readwrite());
            let places = rows.as_slice_mut()?.chunks_exact_mut(self.dim);
            for (row, label) in places.zip(labels.as_slice_mut()?) {
                let round = stream.next(&origin).map_err(|e| raise(&e))?;
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
                "a stream that was played can't be pickled or copied; make a new stream from the seed",
            ));
        }
        let arguments = (this.spec.clone(), this.dim, this.seed);
        Ok((slf.get_type().into_any(), arguments))
    }
}

/// Plays up to `rounds` rounds of a stream, for at most one time slice. Returns the number of rounds
/// played, which is 0 if the stream has ended.
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
    let run = Run {
        py,
        learner,
        objective: &loss.objective(l2)?,
        rounds,
        row: None,
        release: true,
        records: records_of(&mut records, rounds)?,
        total: &mut 0.0,
    };
    // The learner is locked first, because a thread that waits for the learner must not hold the
    // stream.
    let guard = learner.lock(py)?;
    let mut playing = stream.stream.lock(py, BUSY)?;
    stream.begun.store(true, Ordering::Relaxed);
    run.play(guard, &mut *playing)
}
