//! Model files that the program `extremal learn` writes.

use std::path::PathBuf;

use extremal_learn::Saved;
use numpy::PyArray1;
use pyo3::prelude::*;

use crate::errors::raise;

/// A model that `extremal learn -f` wrote.
#[pyclass(frozen, module = "extremal._core", name = "Model")]
pub struct Model {
    /// The decisions as dense vectors.
    weights: Vec<Vec<f64>>,
    /// The range that predictions are clipped to: (low, high), or None.
    #[pyo3(get)]
    range: Option<(f64, f64)>,
    /// The configuration as JSON: set, loss, learner and the other settings.
    #[pyo3(get)]
    plan: String,
    /// The number of rounds played.
    #[pyo3(get)]
    rounds: u64,
    /// The dimension.
    #[pyo3(get)]
    dim: usize,
}

#[pymethods]
impl Model {
    /// The decisions as arrays: one array, or one array per class.
    fn weights<'py>(&self, py: Python<'py>) -> Vec<Bound<'py, PyArray1<f64>>> {
        let all = self.weights.iter();
        all.map(|w| PyArray1::from_slice(py, w)).collect()
    }
}

/// Reads a model file.
#[pyfunction]
pub fn load(path: PathBuf) -> PyResult<Model> {
    let saved = Saved::open(&path).map_err(|e| raise(&e))?;
    let weights = saved.weights();
    let range = weights.first().and_then(|sparse| sparse.range);
    let weights = weights.into_iter().map(|sparse| {
        let mut weights = vec![0.0; sparse.dim];
        for (i, v) in sparse.indices.iter().zip(&sparse.values) {
            weights[*i as usize] = *v;
        }
        weights
    });
    Ok(Model {
        weights: weights.collect(),
        range,
        plan: serde_json::to_string(&saved.plan.config).map_err(|e| raise(&e))?,
        rounds: saved.rounds,
        dim: saved.dim,
    })
}
