//! Losses of a prediction and a label.

use std::sync::Arc;

use extremal::loss::{LossSpec, Objective};
use pyo3::prelude::*;

use crate::errors::raise;

/// A loss of a prediction ⟨a, x⟩ and a label.
#[pyclass(frozen, module = "extremal._core", name = "Loss")]
pub struct Loss {
    spec: LossSpec,
    pub loss: Arc<dyn extremal::loss::Loss>,
}

impl Loss {
    pub fn objective(&self, l2: f64) -> PyResult<Objective> {
        Objective::new(self.loss.clone(), l2).map_err(|e| raise(&e))
    }
}

#[pymethods]
impl Loss {
    /// A loss from its spec, `huber:delta=1`.
    #[new]
    fn new(spec: &str) -> PyResult<Self> {
        let spec: LossSpec = spec.parse().map_err(|e| raise(&e))?;
        Ok(Self {
            loss: spec.build().map_err(|e| raise(&e))?,
            spec,
        })
    }

    /// The spec that makes it again.
    #[getter]
    fn spec(&self) -> String {
        self.spec.to_string()
    }

    /// Whether labels mean anything to it.
    #[getter]
    fn needs_label(&self) -> bool {
        self.loss.needs_label()
    }

    /// Its value at a prediction and a label.
    fn value(&self, prediction: f64, label: f64) -> PyResult<f64> {
        self.loss.check_label(label).map_err(|e| raise(&e))?;
        Ok(self.loss.at(prediction, label).0)
    }

    /// Its derivative in the prediction.
    fn slope(&self, prediction: f64, label: f64) -> PyResult<f64> {
        self.loss.check_label(label).map_err(|e| raise(&e))?;
        Ok(self.loss.at(prediction, label).1)
    }

    fn __repr__(&self) -> String {
        format!("Loss('{}')", self.spec)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyAny>, (String,)) {
        (slf.get_type().into_any(), (slf.get().spec.to_string(),))
    }
}
