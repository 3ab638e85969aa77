//! Loss functions of a prediction and a label.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use extremal::loss::{Labels, LossSpec, Objective};
use numpy::PyArray1;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::arrays::vector;
use crate::errors::raise;

/// A loss function of a prediction ⟨a, x⟩ and a label.
#[pyclass(frozen, module = "extremal._core", name = "Loss")]
pub struct Loss {
    spec: LossSpec,
    pub loss: Arc<dyn extremal::loss::Loss>,
}

impl Loss {
    /// Returns the given loss, or builds the loss of a given spec.
    pub fn of(given: &Bound<'_, PyAny>) -> PyResult<Py<Self>> {
        if let Ok(loss) = given.cast::<Self>() {
            return Ok(loss.clone().unbind());
        }
        match given.extract::<String>() {
            Ok(spec) => Py::new(given.py(), Self::new(&spec)?),
            Err(_) => Err(PyTypeError::new_err("loss must be a loss or its spec")),
        }
    }

    /// The loss with a ridge term (λ/2)‖x‖².
    pub fn objective(&self, l2: f64) -> PyResult<Objective> {
        Objective::new(self.loss.clone(), l2).map_err(|e| raise(&e))
    }

    /// The value or the slope at one prediction, or at each prediction of an array.
    fn each<'py>(
        &self,
        prediction: &Bound<'py, PyAny>,
        label: &Bound<'py, PyAny>,
        part: fn((f64, f64)) -> f64,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = prediction.py();
        let one = |z: f64, y: f64| {
            self.loss.check_label(y).map_err(|e| raise(&e))?;
            Ok(part(self.loss.at(z, y)))
        };
        if let (Ok(z), Ok(y)) = (prediction.extract::<f64>(), label.extract::<f64>()) {
            return Ok(one(z, y)?.into_pyobject(py)?.into_any());
        }
        let numpy = py.import("numpy")?;
        let pair = numpy.call_method1("broadcast_arrays", (prediction, label))?;
        let z = vector(&pair.get_item(0)?, "predictions")?;
        let y = vector(&pair.get_item(1)?, "labels")?;
        let pairs = z.as_slice()?.iter().zip(y.as_slice()?);
        let all: Vec<f64> = pairs.map(|(z, y)| one(*z, *y)).collect::<PyResult<_>>()?;
        Ok(PyArray1::from_slice(py, &all).into_any())
    }
}

#[pymethods]
impl Loss {
    /// Makes a loss from its spec, such as `huber:delta=1`.
    #[new]
    fn new(spec: &str) -> PyResult<Self> {
        let spec: LossSpec = spec.parse().map_err(|e| raise(&e))?;
        Ok(Self {
            loss: spec.build().map_err(|e| raise(&e))?,
            spec,
        })
    }

    /// The spec of the loss.
    #[getter]
    fn spec(&self) -> String {
        self.spec.to_string()
    }

    /// Whether the loss depends on labels.
    #[getter]
    fn needs_label(&self) -> bool {
        self.loss.labels() != Labels::None
    }

    /// Whether predictions can be converted to probabilities of the label +1.
    #[getter]
    fn gives_probabilities(&self) -> bool {
        self.loss.probability(0.0).is_some()
    }

    /// Whether the loss is never negative.
    #[getter]
    fn is_nonnegative(&self) -> bool {
        self.loss.is_nonnegative()
    }

    /// Returns the loss for a prediction and a label, or for each pair in two arrays.
    fn value<'py>(
        &self,
        prediction: &Bound<'py, PyAny>,
        label: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.each(prediction, label, |(value, _)| value)
    }

    /// Returns the derivative of the loss with respect to the prediction, or an array of derivatives.
    fn slope<'py>(
        &self,
        prediction: &Bound<'py, PyAny>,
        label: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.each(prediction, label, |(_, slope)| slope)
    }

    /// Losses with the same spec are equal.
    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other
            .cast::<Self>()
            .is_ok_and(|other| self.spec() == other.get().spec())
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.spec().hash(&mut hasher);
        hasher.finish()
    }

    fn __repr__(&self) -> String {
        format!("Loss('{}')", self.spec)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyAny>, (String,)) {
        (slf.get_type().into_any(), (slf.get().spec.to_string(),))
    }
}
