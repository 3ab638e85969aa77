//! Learners in Python. Only one thread at a time can use a learner.

use std::sync::Arc;

use extremal::learner::{LearnerSpec, Storage, default_for};
use extremal::set::SharedSet;
use extremal::set::l2::L2Ball;
use extremal::theory::{LossFacts, is_vacuous, trivial_regret};
use extremal::{Example, Row};
use numpy::{PyArray1, PyArrayMethods, PyReadwriteArray1};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::arrays::Borrowed;
use crate::errors::{raise, raise_pending};
use crate::exclusive::{Exclusive, Guard};
use crate::loss::Loss;
use crate::rows::Matrix;
use crate::set::{Set, shortened};

/// A learner of any kind.
pub type AnyLearner = dyn extremal::learner::Learner;

/// A learner on a set. In each round, `decide` returns a decision and `observe` receives the gradient.
#[pyclass(frozen, module = "extremal._core", name = "Learner")]
pub struct Learner {
    learner: Exclusive<AnyLearner>,
    spec: LearnerSpec,
    storage: Storage,
    pub set: Py<Set>,
}

/// The names of the storages, in the order of `Storage`.
const STORAGES: [(&str, Storage); 3] = [
    ("dense", Storage::Dense),
    ("lazy", Storage::Lazy),
    ("sparse", Storage::Sparse),
];

fn storage_of(name: &str) -> PyResult<Storage> {
    let found = STORAGES.iter().find(|(known, _)| *known == name);
    found.map(|(_, storage)| *storage).ok_or_else(|| {
        PyValueError::new_err(format!(
            "storage must be 'dense', 'lazy' or 'sparse', not '{name}'"
        ))
    })
}

impl Learner {
    /// Waits until no other thread uses the learner.
    pub fn lock(&self, py: Python<'_>) -> PyResult<Guard<'_, AnyLearner>> {
        let busy = "the learner is in use: its own oracle can't use the learner";
        self.learner.lock(py, busy)
    }

    /// Whether the decision is stored sparsely.
    pub fn is_sparse(&self) -> bool {
        self.storage == Storage::Sparse
    }

    /// Lets a waiting thread use the learner.
    pub fn yield_to_waiting(&self, py: Python<'_>) {
        self.learner.yield_to_waiting(py);
    }

    /// An upper bound on the regret of any decisions in the set. A set that follows the data has no
    /// diameter.
    fn trivial(&self, learner: &AnyLearner, rounds: f64, total_loss: Option<f64>) -> f64 {
        let total_loss = total_loss.unwrap_or(f64::INFINITY);
        if learner.by_example().is_some() {
            return total_loss;
        }
        let diameter = self.set.get().set.geometry().diameter;
        let gradient = learner.seen().largest_gradient;
        trivial_regret(gradient, diameter, rounds, total_loss)
    }

    /// For a learner whose set follows the data, the largest value of each feature, and the ball of the
    /// weights after multiplication by these values. None for other learners.
    pub fn in_units(&self, py: Python<'_>) -> PyResult<Option<(SharedSet, Vec<f64>)>> {
        let learner = self.lock(py)?;
        let Some(own) = learner.by_example() else {
            return Ok(None);
        };
        // The radius is 0 if all labels are 0. A ball needs a positive radius.
        let radius = own.radius().max(1e-50);
        let ball = L2Ball::new(learner.dim(), radius).map_err(|e| raise(&e))?;
        let scales = (0..learner.dim()).map(|i| match own.scale(i) {
            0.0 => 1.0,
            scale => scale,
        });
        Ok(Some((Arc::new(ball), scales.collect())))
    }

    /// The exception that the set's callback raised. If there is none, the library's error.
    pub fn failed(&self, py: Python<'_>, error: &dyn std::fmt::Display) -> PyErr {
        raise_pending(error, &self.set.bind(py).get().pending)
    }
}

#[pymethods]
impl Learner {
    /// Makes the learner of a spec on a set. `state` is the result of an earlier call of `save`.
    #[new]
    #[pyo3(signature = (spec, set, storage="dense", state=None))]
    fn new(
        py: Python<'_>,
        spec: &str,
        set: Py<Set>,
        storage: &str,
        state: Option<&[u8]>,
    ) -> PyResult<Self> {
        let spec: LearnerSpec = spec.parse().map_err(|e| raise(&e))?;
        let storage = storage_of(storage)?;
        let on = set.bind(py).get();
        let failed = |e: extremal::Error| raise_pending(&e, &on.pending);
        let mut learner = spec.build_stored(&on.set, storage).map_err(failed)?;
        if let Some(state) = state {
            learner.load(state).map_err(failed)?;
        }
        Ok(Self {
            learner: Exclusive::new(learner),
            spec,
            storage,
            set,
        })
    }

    /// Returns a copy of the learner in a larger dimension. Its set must be able to grow.
    fn grown(&self, py: Python<'_>, dim: usize) -> PyResult<Self> {
        let on = self.set.bind(py).get();
        let set = on.grown(dim)?;
        let saved = self.lock(py)?.save().map_err(|e| raise(&e))?;
        let failed = |e: extremal::Error| raise_pending(&e, &on.pending);
        let built = self.spec.build_stored(&on.set, self.storage);
        let mut learner = built.map_err(failed)?;
        learner.load(&saved).map_err(failed)?;
        learner.grow(dim).map_err(failed)?;
        Ok(Self {
            learner: Exclusive::new(learner),
            spec: self.spec.clone(),
            storage: self.storage,
            set: Py::new(py, set)?,
        })
    }

    /// The spec of the default learner for a set and a loss.
    #[staticmethod]
    #[pyo3(signature = (set, loss, l2=0.0, storage="dense"))]
    fn default_spec(set: &Set, loss: &Loss, l2: f64, storage: &str) -> PyResult<String> {
        let objective = loss.objective(l2)?;
        Ok(default_for(&*set.set, &objective, storage_of(storage)?).to_string())
    }

    /// Returns the decision of this round, in a new array or in `out`. The decision stays the same
    /// until `observe` ends the round.
    #[pyo3(signature = (out=None))]
    fn decide<'py>(
        &self,
        py: Python<'py>,
        out: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let mut learner = self.lock(py)?;
        let dim = learner.dim();
        let out = match out {
            Some(out) => out
                .cast_into()
                .map_err(|_| PyTypeError::new_err("out must be a one-dimensional float64 array"))?,
            None => PyArray1::zeros(py, dim, false),
        };
        {
            let mut writing: PyReadwriteArray1<'py, f64> = out
                .try_readwrite()
                .map_err(|e| PyValueError::new_err(format!("out: {e}")))?;
            let slice = writing.as_slice_mut()?;
            if slice.len() != dim {
                let text = format!("out has length {}, expected {dim}", slice.len());
                return Err(PyValueError::new_err(text));
            }
            let decision = learner.decide().map_err(|e| self.failed(py, &e))?;
            decision.write(slice);
        }
        Ok(out)
    }

    /// Receives the gradient at the decision, updates the decision and ends the round. Calling `decide`
    /// first is optional. The gradient is a float64 array, a pair (indices, values), or one row of a
    /// scipy sparse matrix. Other types are converted, which makes a copy.
    fn observe(&self, py: Python<'_>, gradient: &Bound<'_, PyAny>) -> PyResult<()> {
        let borrowed = Borrowed::convert(gradient, self.set.get().set.dim())?;
        let record = self.lock(py)?.observe(&borrowed.gradient()?);
        record.map(|_| ()).map_err(|e| self.failed(py, &e))
    }

    /// Plays a round of a learner that receives examples instead of gradients, such as `unit-free`. The
    /// learner predicts for the row, then learns from the label. Returns the prediction. The row has
    /// the same form as a gradient. The loss is a spec or a Loss, and `weight` is a factor on the loss.
    /// With `intercept=true`, every row starts with a 1. If the call fails, the learner does not
    /// change.
    #[pyo3(signature = (row, label, loss, weight=1.0))]
    fn learn(
        &self,
        py: Python<'_>,
        row: &Bound<'_, PyAny>,
        label: f64,
        loss: &Bound<'_, PyAny>,
        weight: f64,
    ) -> PyResult<f64> {
        let objective = Loss::of(loss)?.get().objective(0.0)?;
        let borrowed = Borrowed::convert(row, self.set.get().set.dim())?;
        let row: Row<'_> = borrowed.gradient()?.row;
        let example = Example::new(row, label, weight, &objective).map_err(|e| raise(&e))?;
        let learnt = self.lock(py)?.learn(&example);
        let learnt = learnt.map_err(|e| self.failed(py, &e))?;
        Ok(learnt.prediction)
    }

    /// Returns the prediction that `learn` would play next for this row, with weight 1. The learner does
    /// not change. For a learner that receives gradients, the prediction is ⟨row, decision⟩.
    fn predict(&self, py: Python<'_>, row: &Bound<'_, PyAny>) -> PyResult<f64> {
        let borrowed = Borrowed::convert(row, self.set.get().set.dim())?;
        let row: Row<'_> = borrowed.gradient()?.row;
        let predicted = next(&*self.lock(py)?, &row);
        predicted.map_err(|e| self.failed(py, &e))
    }

    /// The range (low, high) that predictions are clipped to; None if predictions are not clipped.
    #[getter]
    fn range(&self, py: Python<'_>) -> PyResult<Option<(f64, f64)>> {
        Ok(self.lock(py)?.by_example().and_then(|own| own.range()))
    }

    /// The current decision.
    #[getter]
    fn decision<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let learner = self.lock(py)?;
        let mut x = vec![0.0; learner.dim()];
        learner.decision().write(&mut x);
        Ok(PyArray1::from_slice(py, &x))
    }

    /// The number of completed rounds.
    #[getter]
    fn rounds(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.lock(py)?.rounds())
    }

    /// The dimension.
    #[getter]
    fn dim(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.lock(py)?.dim())
    }

    /// The number of oracle calls so far.
    #[getter]
    fn oracle_calls(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.lock(py)?.seen().oracle_calls)
    }

    /// The largest gradient norm ‖g‖ so far.
    #[getter]
    fn largest_gradient(&self, py: Python<'_>) -> PyResult<f64> {
        Ok(self.lock(py)?.seen().largest_gradient)
    }

    /// The spec of the learner, without its state.
    #[getter]
    fn spec(&self) -> String {
        self.spec.to_string()
    }

    /// The name of the learner in the registry.
    #[getter]
    fn name(&self) -> &'static str {
        self.spec.entry().name
    }

    /// The storage of decisions: "dense", "lazy" or "sparse".
    #[getter]
    fn storage(&self) -> &'static str {
        STORAGES[self.storage as usize].0
    }

    /// The constraint set.
    #[getter]
    fn set(&self, py: Python<'_>) -> Py<Set> {
        self.set.clone_ref(py)
    }

    /// Whether the set calls a Python function.
    #[getter]
    fn has_callback(&self) -> bool {
        !self.set.get().pending.is_empty()
    }

    /// Returns the theorem that bounds the regret after the rounds played, or after `rounds` rounds.
    /// The result is a dict with the theorem, the exponent of T, the bound, whether the bound is
    /// vacuous, and the assumptions as pairs (holds, text). The result is None if the learner has no
    /// theorem. If the bound depends on the gradients of the run, the bound holds for the rounds played
    /// and ignores `rounds`.
    ///
    /// The assumptions are checked against your description of the losses. `strong_convexity` and
    /// `smoothness` are constants of the losses. The smoothness is 0 for linear losses, and None if it
    /// is unknown. Losses are `oblivious` if they are fixed beforehand. A bound is vacuous if it is at
    /// least the largest gradient norm times the set's diameter times the number of rounds. This limit
    /// does not apply to `unit-free`, because its set follows the data. If no loss is negative, pass
    /// the sum of the losses as `total_loss`. A bound of at least `total_loss` is then vacuous too.
    #[pyo3(signature = (rounds=None, strong_convexity=0.0, smoothness=None, oblivious=false, total_loss=None))]
    fn guarantee<'py>(
        &self,
        py: Python<'py>,
        rounds: Option<f64>,
        strong_convexity: f64,
        smoothness: Option<f64>,
        oblivious: bool,
        total_loss: Option<f64>,
    ) -> PyResult<Option<Bound<'py, PyDict>>> {
        let learner = self.lock(py)?;
        let Some(guarantee) = learner.guarantee() else {
            return Ok(None);
        };
        let seen = *learner.seen();
        let rounds = rounds.unwrap_or(seen.rounds as f64);
        if !(rounds >= 0.0) {
            let text = format!("rounds must be at least 0, not {rounds}");
            return Err(PyValueError::new_err(text));
        }
        let table = PyDict::new(py);
        table.set_item("theorem", guarantee.theorem())?;
        table.set_item("exponent", guarantee.exponent())?;
        let bound = guarantee.bound(rounds);
        table.set_item("bound", bound)?;
        let trivial = self.trivial(&*learner, rounds, total_loss);
        table.set_item("vacuous", is_vacuous(bound, trivial))?;
        let losses = LossFacts {
            strong_convexity,
            smoothness: smoothness.unwrap_or(f64::INFINITY),
            oblivious,
        };
        let checks = guarantee.check(&seen, &losses);
        let checks: Vec<(bool, String)> = checks.into_iter().map(|c| (c.holds, c.detail)).collect();
        table.set_item("assumptions", checks)?;
        Ok(Some(table))
    }

    /// Returns the upper bound on the regret that the learner computes. The result is a dict with the
    /// keys level, regret, vacuous and strong_convexity. The result is None if the learner computes no
    /// bound. A bound is vacuous if it is at least the largest gradient norm times the set's diameter
    /// times the number of rounds. This limit does not apply to `unit-free`, because its set follows
    /// the data. If no loss is negative, pass the sum of the losses as `total_loss`. A bound of at
    /// least `total_loss` is then vacuous too.
    #[pyo3(signature = (total_loss=None))]
    fn certificate<'py>(
        &self,
        py: Python<'py>,
        total_loss: Option<f64>,
    ) -> PyResult<Option<Bound<'py, PyDict>>> {
        let learner = self.lock(py)?;
        let Some(certificate) = learner.certificate() else {
            return Ok(None);
        };
        let table = PyDict::new(py);
        table.set_item("level", certificate.level.to_string())?;
        table.set_item("regret", certificate.regret)?;
        let trivial = self.trivial(&*learner, learner.rounds() as f64, total_loss);
        table.set_item("vacuous", is_vacuous(certificate.regret, trivial))?;
        table.set_item("strong_convexity", certificate.strong_convexity)?;
        Ok(Some(table))
    }

    /// Returns the complete state as bytes.
    fn save<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let saved = self.lock(py)?.save();
        Ok(PyBytes::new(py, &saved.map_err(|e| raise(&e))?))
    }

    /// Restores a state that `save` returned. The state must come from a learner with the same name on
    /// the same set. Parameters such as `horizon` are part of the state. If the call fails, the learner
    /// does not change.
    fn load(&self, py: Python<'_>, state: &[u8]) -> PyResult<()> {
        let loaded = self.lock(py)?.load(state);
        loaded.map_err(|e| self.failed(py, &e))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let set = self.set.bind(py).repr()?;
        let spec = shortened(&self.spec.to_string());
        Ok(format!("Learner('{spec}', {set})"))
    }

    #[allow(clippy::type_complexity)] // the form that pickle expects
    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(
        Bound<'py, PyAny>,
        (String, Py<Set>, &'static str, Bound<'py, PyBytes>),
    )> {
        let (py, this) = (slf.py(), slf.get());
        let state = this.save(py)?;
        let set = this.set.clone_ref(py);
        let arguments = (this.spec.to_string(), set, this.storage(), state);
        Ok((slf.get_type().into_any(), arguments))
    }
}

/// The prediction for a row.
fn next(learner: &AnyLearner, row: &Row<'_>) -> extremal::Result<f64> {
    match learner.by_example() {
        Some(learner) => learner.predict(row),
        None => learner.decision().dot(row),
    }
}

/// The predictions for the rows of a matrix.
#[pyfunction]
pub fn predict<'py>(
    py: Python<'py>,
    learner: &Learner,
    rows: Matrix<'py>,
    intercept: bool,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let examples = rows.examples()?.with_intercept(intercept)?;
    let mut predictions = Vec::with_capacity(examples.len());
    let mut rows = examples.stream(0);
    let own = learner.lock(py)?;
    while let Some(round) = rows.next_round() {
        predictions.push(next(&*own, &round.row).map_err(|e| learner.failed(py, &e))?);
    }
    Ok(PyArray1::from_vec(py, predictions))
}

/// The spec of a learner with `intercept` set, so that rows start with an intercept or have none. It is
/// an error if the spec already sets `intercept` to the other value.
#[pyfunction]
pub fn with_intercept(spec: &str, intercept: bool) -> PyResult<String> {
    let mut spec: LearnerSpec = spec.parse().map_err(|e| raise(&e))?;
    if let LearnerSpec::UnitFree(own) = &mut spec {
        if own.intercept.is_some_and(|own| own != intercept) {
            let (ours, text) = if intercept {
                ("True", "false")
            } else {
                ("False", "true")
            };
            return Err(PyValueError::new_err(format!(
                "fit_intercept={ours} contradicts the learner's intercept={text}: change one of them"
            )));
        }
        own.intercept = own.intercept.or(intercept.then_some(true));
    }
    Ok(spec.to_string())
}
