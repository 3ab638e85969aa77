//! Models that the command line saved.

use std::path::PathBuf;

use extremal_learn::Saved;
use numpy::PyArray1;
use pyo3::prelude::*;

use crate::errors::raise;

/// A model as `extremal learn -f` wrote it.
#[pyclass(frozen, module = "extremal._core", name = "Model")]
pub struct Model {
    /// Plain weights, so that threads may share it.
    weights: Vec<Vec<f64>>,
    /// What is learnt and how, as JSON.
    #[pyo3(get)]
    plan: String,
    /// Rounds played.
    #[pyo3(get)]
    rounds: u64,
    /// The dimension.
    #[pyo3(get)]
    dim: usize,
}

#[pymethods]
impl Model {
    /// The decisions: one, or one for each class.
    fn weights<'py>(&self, py: Python<'py>) -> Vec<Bound<'py, PyArray1<f64>>> {
        let all = self.weights.iter();
        all.map(|w| PyArray1::from_slice(py, w)).collect()
    }
}

/// Reads a model file.
#[pyfunction]
pub fn load(path: PathBuf) -> PyResult<Model> {
    let saved = Saved::open(&path).map_err(|e| raise(&e))?;
    let weights = saved.decisions().map(|decision| {
        let mut weights = vec![0.0; decision.dim()];
        decision.write(&mut weights);
        weights
    });
    Ok(Model {
        weights: weights.collect(),
        plan: serde_json::to_string(&saved.plan.config).map_err(|e| raise(&e))?,
        rounds: saved.rounds,
        dim: saved.dim,
    })
}
