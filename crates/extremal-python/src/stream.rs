//! Synthetic streams, and runs on them.

use std::sync::atomic::{AtomicBool, Ordering};

use extremal::Point;
use extremal::learner::LearnerSpec;
use extremal::set::SetSpec;
use extremal::stream::{Round, StreamSpec};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadwriteArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::errors::raise;
use crate::learner::Learner;
use crate::loss::Loss;
use crate::play::{Playing, records_of};
use crate::turns::Turns;

/// A stream of any kind.
type AnyStream = dyn extremal::stream::Stream;

const BUSY: &str = "the stream is being played: an oracle that is called meanwhile can't have it";

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

/// Rows, and labels where there are any.
type Taken<'py> = (Bound<'py, PyArray2<f64>>, Option<Bound<'py, PyArray1<f64>>>);

/// A synthetic stream, for `play(learner, stream, rounds=...)`. The same seed gives the same one.
#[pyclass(frozen, module = "extremal._core", name = "Stream")]
pub struct Stream {
    stream: Turns<AnyStream>,
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
            stream: Turns::new(stream),
            begun: AtomicBool::new(false),
            spec: parsed.to_string(),
            dim,
            seed,
        })
    }

    /// The next rounds as rows and labels (None where there are no labels), for streams that do not
    /// answer to decisions: what `play` would have met.
    fn take<'py>(&self, py: Python<'py>, rounds: usize) -> PyResult<Taken<'py>> {
        let mut stream = self.stream.hold(py, BUSY)?;
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
    let mut lent = stream.stream.hold(py, BUSY)?;
    stream.begun.store(true, Ordering::Relaxed);
    playing.play(held, Lent(&mut *lent))
}
