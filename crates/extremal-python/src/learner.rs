//! Learners. Threads take turns at each.

use extremal::learner::{LearnerSpec, Storage, default_for};
use extremal::theory::{LossFacts, is_vacuous, trivial_regret};
use numpy::{PyArray1, PyArrayMethods, PyReadwriteArray1};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::arrays::Taken;
use crate::errors::{raise, raise_or};
use crate::loss::Loss;
use crate::set::{Set, shortened};
use crate::turns::{Held, Turns};

/// A learner of any kind.
pub type AnyLearner = dyn extremal::learner::Learner;

/// A learner on a set: decide, then observe the gradient, round by round.
#[pyclass(frozen, module = "extremal._core", name = "Learner")]
pub struct Learner {
    learner: Turns<AnyLearner>,
    spec: LearnerSpec,
    storage: Storage,
    pub set: Py<Set>,
}

fn storage_of(name: &str) -> PyResult<Storage> {
    match name {
        "dense" => Ok(Storage::Dense),
        "lazy" => Ok(Storage::Lazy),
        "sparse" => Ok(Storage::Sparse),
        _ => Err(PyValueError::new_err(format!(
            "storage must be 'dense', 'lazy' or 'sparse', not '{name}'"
        ))),
    }
}

impl Learner {
    /// Waits for its turn.
    pub fn hold(&self, py: Python<'_>) -> PyResult<Held<'_, AnyLearner>> {
        let busy = "the learner is playing: its own oracle can't call it";
        self.learner.hold(py, busy)
    }

    /// Whether its decisions are stored by their non-zeros.
    pub fn is_sparse(&self) -> bool {
        self.storage == Storage::Sparse
    }

    /// Lets those have it who wait.
    pub fn give_way(&self, py: Python<'_>) {
        self.learner.give_way(py);
    }

    /// What no regret exceeds, whatever the learner does.
    fn trivial(&self, gradient: f64, rounds: f64, total_loss: Option<f64>) -> f64 {
        let diameter = self.set.get().set.geometry().diameter;
        trivial_regret(
            gradient,
            diameter,
            rounds,
            total_loss.unwrap_or(f64::INFINITY),
        )
    }

    pub fn failed(&self, py: Python<'_>, error: &dyn std::fmt::Display) -> PyErr {
        raise_or(error, &self.set.bind(py).get().raised)
    }
}

#[pymethods]
impl Learner {
    /// A learner from its spec, on a set; with `state`, as it was then.
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
        let failed = |e: extremal::Error| raise_or(&e, &on.raised);
        let mut learner = spec.build_stored(&on.set, storage).map_err(failed)?;
        if let Some(state) = state {
            learner.load(state).map_err(failed)?;
        }
        Ok(Self {
            learner: Turns::new(learner),
            spec,
            storage,
            set,
        })
    }

    /// The spec of the learner that is taken when only the set and the loss are known.
    #[staticmethod]
    #[pyo3(signature = (set, loss, l2=0.0, storage="dense"))]
    fn default_spec(set: &Set, loss: &Loss, l2: f64, storage: &str) -> PyResult<String> {
        let objective = loss.objective(l2)?;
        Ok(default_for(&*set.set, &objective, storage_of(storage)?).to_string())
    }

    /// The decision of this round: a new array, or `out` filled and returned. It stays the same
    /// until `observe` ends the round.
    #[pyo3(signature = (out=None))]
    fn decide<'py>(
        &self,
        py: Python<'py>,
        out: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let mut held = self.hold(py)?;
        let dim = held.dim();
        let out = match out {
            Some(out) => out.cast_into().map_err(|_| {
                PyTypeError::new_err("out must be a float64 array of one dimension")
            })?,
            None => PyArray1::zeros(py, dim, false),
        };
        {
            let mut writing: PyReadwriteArray1<'py, f64> = out
                .try_readwrite()
                .map_err(|e| PyValueError::new_err(format!("out: {e}")))?;
            let slice = writing.as_slice_mut()?;
            if slice.len() != dim {
                return Err(PyValueError::new_err(format!(
                    "out has length {}, the decision {dim}",
                    slice.len()
                )));
            }
            let decision = held.decide().map_err(|e| self.failed(py, &e))?;
            decision.write(slice);
        }
        Ok(out)
    }

    /// Takes the gradient at the decision, and ends the round. `decide` need not be called before.
    /// A gradient is a float64 array, a pair (indices, values), or one row of
    /// a scipy sparse matrix; anything else is copied.
    fn observe(&self, py: Python<'_>, gradient: &Bound<'_, PyAny>) -> PyResult<()> {
        let taken = Taken::any(gradient, self.set.get().set.dim())?;
        let gradient = taken.gradient()?;
        let mut held = self.hold(py)?;
        let record = held.observe(&gradient);
        drop(held);
        record.map(|_| ()).map_err(|e| self.failed(py, &e))
    }

    /// The present decision.
    #[getter]
    fn decision<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let held = self.hold(py)?;
        let mut x = vec![0.0; held.dim()];
        held.decision().write(&mut x);
        Ok(PyArray1::from_slice(py, &x))
    }

    /// Rounds ended so far.
    #[getter]
    fn rounds(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.hold(py)?.rounds())
    }

    /// The dimension.
    #[getter]
    fn dim(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.hold(py)?.dim())
    }

    /// Oracle calls made to play.
    #[getter]
    fn oracle_calls(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.hold(py)?.seen().oracle_calls)
    }

    /// The largest ‖g‖ seen.
    #[getter]
    fn largest_gradient(&self, py: Python<'_>) -> PyResult<f64> {
        Ok(self.hold(py)?.seen().largest_gradient)
    }

    /// The spec that makes it again, without what it has learnt.
    #[getter]
    fn spec(&self) -> String {
        self.spec.to_string()
    }

    /// Its registered name.
    #[getter]
    fn name(&self) -> &'static str {
        self.spec.entry().name
    }

    /// How its decisions are stored.
    #[getter]
    fn storage(&self) -> &'static str {
        match self.storage {
            Storage::Dense => "dense",
            Storage::Lazy => "lazy",
            Storage::Sparse => "sparse",
        }
    }

    /// The set.
    #[getter]
    fn set(&self, py: Python<'_>) -> Py<Set> {
        self.set.clone_ref(py)
    }

    /// Whether its set asks a Python function.
    #[getter]
    fn has_callback(&self) -> bool {
        !self.set.get().raised.is_empty()
    }

    /// What is proven about the regret after the rounds played (or as many as said), with its
    /// assumptions as far as they can be checked; None where nothing is. A dict: theorem, exponent
    /// of T, bound, vacuous, and assumptions as pairs (holds, text). A learner that knows its bound
    /// only from what it has seen gives that of the rounds played, whatever `rounds` says.
    ///
    /// Assumptions are checked against what is said of the losses: their `strong_convexity`, their
    /// `smoothness` (0 for linear losses, None where it is not known), and whether they are
    /// `oblivious`, that is, fixed beforehand. A bound is vacuous if it is at least the largest
    /// gradient seen times the set's diameter times the rounds, or at least `total_loss`, the total of
    /// the losses, where that is given and no loss is below 0.
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
        let held = self.hold(py)?;
        let Some(guarantee) = held.guarantee() else {
            return Ok(None);
        };
        let seen = *held.seen();
        let rounds = rounds.unwrap_or(seen.rounds as f64);
        if !(rounds >= 0.0) {
            return Err(PyValueError::new_err(format!(
                "{rounds} rounds can't be played"
            )));
        }
        let table = PyDict::new(py);
        table.set_item("theorem", guarantee.theorem())?;
        table.set_item("exponent", guarantee.exponent())?;
        let bound = guarantee.bound(rounds);
        table.set_item("bound", bound)?;
        let trivial = self.trivial(seen.largest_gradient, rounds, total_loss);
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

    /// An upper bound of the regret that the learner knows by itself; None where it knows none. A
    /// dict: level, regret, vacuous, strong_convexity. It is vacuous if it is at least the largest
    /// gradient seen times the set's diameter times the rounds, or at least `total_loss`, the total of
    /// the losses, where that is given and no loss is below 0.
    #[pyo3(signature = (total_loss=None))]
    fn certificate<'py>(
        &self,
        py: Python<'py>,
        total_loss: Option<f64>,
    ) -> PyResult<Option<Bound<'py, PyDict>>> {
        let held = self.hold(py)?;
        let Some(certificate) = held.certificate() else {
            return Ok(None);
        };
        let table = PyDict::new(py);
        table.set_item("level", certificate.level.to_string())?;
        table.set_item("regret", certificate.regret)?;
        let seen = held.seen();
        let trivial = self.trivial(seen.largest_gradient, seen.rounds as f64, total_loss);
        table.set_item("vacuous", is_vacuous(certificate.regret, trivial))?;
        table.set_item("strong_convexity", certificate.strong_convexity)?;
        Ok(Some(table))
    }

    /// The whole state, as bytes.
    fn save<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let saved = self.hold(py)?.save();
        Ok(PyBytes::new(py, &saved.map_err(|e| raise(&e))?))
    }

    /// Takes back what `save` gave, of a learner of this name on this set; the values of its keys, of
    /// a horizon for example, come with it. On an error nothing has changed.
    fn load(&self, py: Python<'_>, state: &[u8]) -> PyResult<()> {
        let loaded = self.hold(py)?.load(state);
        loaded.map_err(|e| self.failed(py, &e))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let set = self.set.bind(py).repr()?;
        let spec = shortened(&self.spec.to_string());
        Ok(format!("Learner('{spec}', {set})"))
    }

    #[allow(clippy::type_complexity)] // what pickle wants
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
